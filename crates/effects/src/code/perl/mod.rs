//! Perl, by its tokens: text filters of one line.

mod tokens;

use std::sync::LazyLock;

use super::light::{Deed, List, Token, Words, scan};
use super::{Finding, Reading};

static WORDS: LazyLock<Words> = LazyLock::new(|| Words::new(&LIST));

const LIST: List = List {
    deeds: &[
        (Deed::Shell, "system exec readpipe"),
        (Deed::Delete, "unlink rmdir"),
        (Deed::Tree, "rmtree remove_tree File.Path.rmtree File.Path.remove_tree"),
        (Deed::Write, "mkdir make_path mkpath truncate"),
        (Deed::Move, "rename move File.Copy.move"),
        (Deed::Copy, "copy File.Copy.copy"),
        (Deed::Read, "glob opendir stat lstat readlink"),
        (Deed::Connect, "get getstore LWP.Simple.get"),
        (Deed::System, "kill"),
        (
            Deed::Runs,
            "require fork syscall sysopen socket connect bind dbmopen symlink link chroot chdir chmod chown utime fcntl \
             ioctl sub_name goto local_eval tie bless can UNIVERSAL CORE",
        ),
    ],
    plain: "print printf say if unless else elsif while until for foreach next last redo my our local and or not return undef \
        defined length uc lc ucfirst lcfirst substr index rindex sprintf join split sort reverse keys values each exists delete \
        push pop shift unshift splice grep map wantarray chomp chop chr ord hex oct abs int sqrt sin cos exp log rand srand time \
        localtime gmtime scalar pos quotemeta lt gt le ge eq ne cmp x STDIN STDOUT STDERR BEGIN END sub do eval die warn exit sum \
        max min first uniq sum0 any all none shuffle floor ceil fmod pow strftime Dumper decode_json encode_json pack unpack \
        binmode eof close ref open sleep xor List.Util.sum List.Util.max List.Util.min POSIX.floor POSIX.ceil POSIX.strftime \
        Data.Dumper.Dumper tr lines",
    members: "",
    modules: "strict warnings utf8 feature integer bigint List.Util Data.Dumper JSON.PP POSIX Time.Local Time.Piece Time.HiRes \
        Scalar.Util Text.Wrap MIME.Base64 Digest.MD5 Digest.SHA open.std",
    defining: &["sub"],
    joining: &["if", "unless", "and", "or", "for", "foreach", "while", "until"],
    dots: &["->", "::"],
};

/// Reads a program.
pub(super) fn read(text: &str, reading: &mut Reading) {
    let mut all = Vec::new();
    if !tokens::tokens(text, &mut all, 0) {
        reading.incomplete();
    }
    let all = without_modules(all, reading);
    scan(&all, &WORDS, reading);
    for (at, token) in all.iter().enumerate() {
        let next = all.get(at + 1);
        match token {
            // Of a text or a file these make code; of a block they only run it.
            Token::Word(word)
                if (word == "eval" || word == "do") && !matches!(next, Some(Token::Op("{"))) =>
            {
                reading.runs_unknown();
            }
            Token::Word(word) if word == "open" => open(all.get(at + 1..).unwrap_or_default(), reading),
            Token::Variable(name) => variable(name, &all, at, reading),
            // `$f->(…)`, `&$f`, `\&f`
            Token::Op("->") if matches!(next, Some(Token::Op("(") | Token::Variable(_))) => {
                reading.incomplete()
            }
            _ => {}
        }
    }
}

fn variable(name: &str, all: &[Token], at: usize, reading: &mut Reading) {
    let bare = name.trim_start_matches(['$', '@', '%', '#']);
    match bare {
        // What is opened, loaded or called next.
        "ARGV" | "INC" | "SIG" | "^I" | "^P" | "^H" | "^M" => reading.incomplete(),
        "ENV" => {
            let one = name == "$ENV"
                && matches!(all.get(at + 1), Some(Token::Op("{")))
                && matches!(all.get(at + 2), Some(Token::Plain | Token::Text(_)))
                && matches!(all.get(at + 3), Some(Token::Op("}")));
            if !one {
                reading.found(Finding::Read("/proc/self/environ".to_owned()));
            }
            if !one || matches!(all.get(at + 4), Some(Token::Op("=" | ".=" | "||="))) {
                reading.incomplete();
            }
        }
        _ if bare.contains("::") || name.contains(':') => reading.incomplete(),
        _ => {}
    }
}

/// Takes `use …;` away: only listed modules are harmless.
fn without_modules(all: Vec<Token>, reading: &mut Reading) -> Vec<Token> {
    let mut kept = Vec::with_capacity(all.len());
    let mut at = 0;
    while let Some(token) = all.get(at) {
        if !matches!(token, Token::Word(word) if word == "use" || word == "no") {
            kept.push(token.clone());
            at += 1;
            continue;
        }
        at += 1;
        let mut name = String::new();
        loop {
            match all.get(at) {
                Some(Token::Word(word)) if name.is_empty() || name.ends_with('.') => name.push_str(word),
                Some(Token::Op("::")) => name.push('.'),
                _ => break,
            }
            at += 1;
        }
        // `use 5.010;`
        let version = name.is_empty() && matches!(all.get(at), Some(Token::Plain));
        if !version && !WORDS.is_module(&name) {
            reading.runs_unknown();
        }
    }
    kept
}

/// `open(my $f, "<", "x")`, `open F, ">x"`, `open(F, "ls|")`.
fn open(rest: &[Token], reading: &mut Reading) {
    let mut texts = Vec::new();
    let mut commas = 0;
    for token in rest.iter().take(16) {
        match token {
            Token::Op(";" | ")") => break,
            Token::Op(",") => commas += 1,
            Token::Text(text) if commas > 0 => texts.push(text.as_str()),
            Token::Op("(") => {}
            Token::Word(_) | Token::Variable(_) if commas == 0 => {}
            Token::Word(word) if matches!(word.as_str(), "or" | "and" | "if") => break,
            Token::Op("||") => break,
            _ => {
                reading.runs_unknown();
                return;
            }
        }
    }
    match texts.as_slice() {
        _ if texts.len() != commas => reading.runs_unknown(),
        [one] => {
            let one = one.trim();
            if let Some(command) = one.strip_prefix('|').or_else(|| one.strip_suffix('|')) {
                reading.found(Finding::RunShell(command.trim().to_owned()));
            } else if let Some(path) = one.strip_prefix("+<").or_else(|| one.strip_prefix('>')) {
                reading.found(Finding::Write(path.trim_start_matches('>').trim().to_owned()));
            } else {
                reading.found(Finding::Read(one.trim_start_matches('<').trim().to_owned()));
            }
        }
        [mode, command] if mode.contains('|') => reading.found(Finding::RunShell((*command).to_owned())),
        [mode, words @ ..] if mode.contains('|') => {
            reading.found(Finding::RunArgv(words.iter().map(|word| (*word).to_owned()).collect()));
        }
        [mode, path] if mode.contains(['>', '+']) => reading.found(Finding::Write((*path).to_owned())),
        [mode, path] if mode.starts_with('<') => reading.found(Finding::Read((*path).to_owned())),
        _ => reading.incomplete(),
    }
}
