//! Ruby, by its tokens.

use std::sync::LazyLock;

use super::Reading;
use super::cursor::Cursor;
use super::light::{Deed, List, Token, Words, after_value, operator, scan};

static WORDS: LazyLock<Words> = LazyLock::new(|| Words::new(&LIST));

const LIST: List = List {
    deeds: &[
        (
            Deed::Shell,
            "system exec spawn IO.popen Open3.capture2 Open3.capture2e Open3.capture3 Open3.popen3 Kernel.system Kernel.exec Process.spawn",
        ),
        (
            Deed::Read,
            "File.read File.readlines File.foreach File.exist? File.file? File.directory? File.size File.stat File.mtime \
             IO.read IO.readlines Dir.entries Dir.children Dir.glob Dir.each_child YAML.load_file JSON.load_file CSV.read \
             File.binread",
        ),
        (
            Deed::Write,
            "File.write IO.write Dir.mkdir FileUtils.mkdir_p FileUtils.mkdir FileUtils.touch File.binwrite",
        ),
        (
            Deed::Delete,
            "File.delete File.unlink Dir.rmdir Dir.delete Dir.unlink FileUtils.rm FileUtils.rm_f FileUtils.rmdir",
        ),
        (
            Deed::Tree,
            "FileUtils.rm_rf FileUtils.rm_r FileUtils.remove_dir FileUtils.rmtree FileUtils.remove_entry",
        ),
        (Deed::Copy, "FileUtils.cp FileUtils.cp_r FileUtils.copy FileUtils.install"),
        (Deed::Move, "FileUtils.mv FileUtils.move File.rename"),
        (Deed::Open, "File.open open File.new"),
        (
            Deed::Connect,
            "URI.open Net.HTTP.get Net.HTTP.get_response Net.HTTP.post Net.HTTP.start TCPSocket.new TCPSocket.open Socket.tcp",
        ),
        (Deed::System, "Process.kill"),
        (Deed::Load, "require require_relative load"),
        (
            Deed::Runs,
            "eval instance_eval class_eval instance_exec send public_send __send__ method binding fork syscall const_get \
             define_method Object Kernel ObjectSpace Marshal.load TOPLEVEL_BINDING test autoload trap at_exit Fiddle",
        ),
    ],
    plain: "puts print p pp printf sprintf format gets rand srand sleep exit RUBY_VERSION RUBY_PLATFORM RUBY_ENGINE \
        RUBY_PATCHLEVEL if unless else elsif end while until for in do then case when break next return and or not def true \
        false nil loop begin rescue ensure yield lambda proc Integer Float String Array JSON.parse JSON.pretty_generate \
        JSON.generate JSON.dump Time.now Date.today Date.parse Time.at Time.parse Math.sqrt Math::PI Math.PI Random.rand \
        STDIN.read STDIN.each_line STDIN.gets STDOUT.puts STDERR.puts STDOUT.print STDOUT.sync $stdin.read Set.new Hash.new \
        Array.new Digest.SHA256.hexdigest Digest.MD5.hexdigest Base64.encode64 Base64.decode64 Base64.strict_encode64 \
        SecureRandom.hex SecureRandom.uuid YAML.load YAML.dump CSV.parse Comparable Gem.VERSION Etc.nprocessors Dir.pwd ENV \
        ARGV StandardError ArgumentError raise",
    members: "map each select reject reduce inject sum min max sort sort_by group_by count size length first last take drop \
        join split strip chomp upcase downcase capitalize reverse gsub sub scan match match? include? start_with? end_with? \
        to_s to_i to_f to_a to_h to_sym to_json keys values key? each_with_index each_with_object each_line each_char chars \
        bytes lines zip flatten uniq compact any? all? none? find detect index rindex push pop shift unshift insert merge \
        fetch dig slice times upto downto step abs floor ceil round even? odd? zero? nil? empty? is_a? class name inspect \
        format ljust rjust center tr delete squeeze ord chr hex oct succ strftime year month day hour min sec utc iso8601 \
        read gets puts print flush close partition each_slice each_cons tally filter_map flat_map max_by min_by sum product \
        combination permutation freeze dup values_at sample shuffle rotate transpose lazy force with_index each_key \
        each_value transform_values encode force_encoding unpack pack crypt between? clamp digits pred fdiv divmod",
    modules: "json set date time yaml csv digest base64 securerandom pp bigdecimal benchmark fileutils erb shellwords matrix \
        prime ostruct tempfile uri English etc",
    defining: &["def", "for"],
    joining: &["if", "unless", "and", "or", "do", "end", "then", "while", "until", "rescue"],
    dots: &[".", "::"],
};
/// Words after which a value starts.
const BEFORE_VALUE: &[&str] = &[
    "puts", "print", "p", "if", "unless", "while", "until", "and", "or", "not", "return", "when", "in",
    "then", "do", "else", "elsif", "pp",
];

/// Reads a program.
pub(super) fn read(text: &str, reading: &mut Reading) {
    let mut tokens = Vec::new();
    if !tokenize(text, &mut tokens, 0) {
        reading.incomplete();
    }
    scan(&tokens, &WORDS, reading);
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1);
        match token {
            // The list of files that are read next, and the environment, may only be asked for one thing.
            Token::Word(word) if word == "ARGV" && !matches!(next, Some(Token::Op("[" | "."))) => {
                reading.incomplete()
            }
            Token::Word(word) if word == "ENV" => {
                let one = matches!(next, Some(Token::Op("[")))
                    && matches!(tokens.get(at + 2), Some(Token::Text(_)))
                    && !matches!(tokens.get(at + 4), Some(Token::Op("=" | "||=" | "<<" | "+=")));
                if !one {
                    reading.found(super::Finding::Read("/proc/self/environ".to_owned()));
                    reading.incomplete();
                }
            }
            // Brackets after a dot call what is there.
            Token::Op("." | "&" | "\\" | "@" | "$") if matches!(next, Some(Token::Op("(" | "."))) => {
                reading.incomplete();
            }
            Token::Variable(name) if matches!(next, Some(Token::Op("=" | "<<"))) && name.starts_with('$') => {
                // `$stdout`, `$:`, `$0`: what others go by.
                reading.incomplete();
            }
            _ => {}
        }
    }
}

/// False if the text is not understood.
fn tokenize(text: &str, found: &mut Vec<Token>, depth: usize) -> bool {
    if depth > 3 {
        return false;
    }
    let mut cursor = Cursor::new(text);
    while let Some(c) = cursor.peek() {
        match c {
            '\n' => {
                cursor.skip(1);
                if cursor.at("=begin") || cursor.at("__END__") {
                    return false;
                }
                found.push(Token::Line);
            }
            _ if c.is_ascii_whitespace() => cursor.skip(1),
            '#' => {
                cursor.take_while(|c| c != '\n');
            }
            '\'' | '"' | '`' => {
                if string(&mut cursor, found, depth).is_none() {
                    return false;
                }
            }
            '/' if !after_value(found, BEFORE_VALUE) => {
                cursor.skip(1);
                loop {
                    match cursor.bump() {
                        None | Some('\n') => return false,
                        Some('\\') => cursor.skip(1),
                        Some('#') if cursor.peek() == Some('{') => return false,
                        Some('/') => break,
                        Some(_) => {}
                    }
                }
                cursor.take_while(|c| c.is_ascii_alphabetic());
                found.push(Token::Plain);
            }
            // `puts /x/`: to Ruby this depends on the spaces and on what `puts` is.
            '/' if matches!(found.last(), Some(Token::Word(_))) && cursor.ahead(1) != Some(' ') => {
                return false;
            }
            '%' if !after_value(found, BEFORE_VALUE) => return false,
            '%' if matches!(found.last(), Some(Token::Word(_))) && cursor.ahead(1) != Some(' ') => {
                return false;
            }
            '<' if cursor.at("<<")
                && cursor.ahead(2).is_some_and(|c| c.is_ascii_alphabetic() || "~-\"'`_".contains(c)) =>
            {
                return false;
            }
            '?' if !after_value(found, BEFORE_VALUE) => return false,
            ':' if cursor.ahead(1).is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
                && !cursor.at("::") =>
            {
                cursor.skip(1);
                let symbol = cursor.word();
                // `&:name` calls the method of that name.
                let listed = WORDS.is_member(&symbol);
                if matches!(found.last(), Some(Token::Op("&"))) && !listed {
                    return false;
                }
                found.push(Token::Plain);
            }
            ':' if matches!(cursor.ahead(1), Some('"' | '\'')) => return false,
            '$' | '@' => {
                cursor.skip(1);
                cursor.eat('@');
                let name = cursor.word();
                if name.is_empty() && !cursor.peek().is_some_and(|c| "_~&1234567890,;/".contains(c)) {
                    return false;
                }
                if name.is_empty() {
                    cursor.skip(1);
                }
                found.push(Token::Variable(format!("{c}{name}")));
            }
            _ if c.is_ascii_digit() => {
                cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
                if cursor.peek() == Some('.') && cursor.ahead(1).is_some_and(|c| c.is_ascii_digit()) {
                    cursor.skip(1);
                    cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
                }
                found.push(Token::Plain);
            }
            _ if c.is_ascii_alphabetic() || c == '_' => {
                let mut word = cursor.word();
                if matches!(cursor.peek(), Some('?' | '!')) && cursor.ahead(1) != Some('=') {
                    word.extend(cursor.bump());
                }
                // `{a: 1}`
                if cursor.peek() == Some(':') && cursor.ahead(1) == Some(' ') {
                    cursor.skip(1);
                    found.push(Token::Plain);
                } else {
                    found.push(Token::Word(word));
                }
            }
            _ => match operator(&cursor) {
                Some(operator) => {
                    cursor.skip(operator.len());
                    found.push(Token::Op(operator));
                }
                None => return false,
            },
        }
    }
    true
}

fn string(cursor: &mut Cursor, found: &mut Vec<Token>, depth: usize) -> Option<()> {
    let quote = cursor.bump()?;
    let mut text = String::new();
    let mut constant = true;
    let mut holes: Vec<String> = Vec::new();
    loop {
        let c = cursor.bump()?;
        match c {
            _ if c == quote => break,
            '\\' => match (quote, cursor.bump()?) {
                (_, '\\') => text.push('\\'),
                (_, c) if c == quote => text.push(c),
                ('\'', c) => {
                    text.push('\\');
                    text.push(c);
                }
                (_, 'n') => text.push('\n'),
                (_, 't') => text.push('\t'),
                (_, 'e') => text.push('\x1b'),
                _ => constant = false,
            },
            '#' if quote != '\'' && cursor.eat('{') => {
                constant = false;
                let mut open = 1usize;
                let mut code = String::new();
                loop {
                    let c = cursor.bump()?;
                    match c {
                        '{' => open += 1,
                        '}' => open -= 1,
                        // Strings inside could hold a brace.
                        '\'' | '"' | '`' | '/' | '%' => {
                            let rest: String = std::iter::once(c)
                                .chain(std::iter::from_fn(|| {
                                    if cursor.peek() == Some(c) { None } else { cursor.bump() }
                                }))
                                .collect();
                            if c == '/' || c == '%' || c == quote || rest.contains(['\\', '#', '\n']) {
                                return None;
                            }
                            code.push_str(&rest);
                            code.push(cursor.bump()?);
                            continue;
                        }
                        _ => {}
                    }
                    if open == 0 {
                        break;
                    }
                    code.push(c);
                }
                holes.push(code);
            }
            '#' if quote != '\'' && matches!(cursor.peek(), Some('$' | '@')) => constant = false,
            _ => text.push(c),
        }
    }
    found.push(match (quote, constant) {
        ('`', true) => Token::Command(Some(text)),
        ('`', false) => Token::Command(None),
        (_, true) => Token::Text(text),
        (_, false) => Token::Mixed,
    });
    for code in holes {
        found.push(Token::Op("+"));
        found.push(Token::Op("("));
        if !tokenize(&code, found, depth + 1) {
            return None;
        }
        found.push(Token::Op(")"));
    }
    Some(())
}
