//! Reads a profile as macOS does, as far as our profiles go: the last rule that matches decides.

/// A form of the language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    Word(String),
    Text(String),
    List(Vec<Form>),
}

/// A profile that was read.
#[derive(Debug)]
pub(crate) struct Profile(Vec<Form>);

impl Profile {
    /// Reads a whole text; anything that is not a list of well-formed lists is a failure.
    pub(crate) fn read(text: &str) -> Profile {
        let mut letters = text.chars().peekable();
        let mut open: Vec<Vec<Form>> = vec![Vec::new()];
        while let Some(letter) = letters.next() {
            match letter {
                '(' => open.push(Vec::new()),
                ')' => {
                    let list = open.pop().unwrap();
                    open.last_mut().expect("a parenthesis that closes nothing").push(Form::List(list));
                }
                '"' => {
                    let mut text = String::new();
                    loop {
                        match letters.next().expect("a string without an end") {
                            '"' => break,
                            '\\' => text.push(letters.next().unwrap()),
                            letter => text.push(letter),
                        }
                    }
                    open.last_mut().unwrap().push(Form::Text(text));
                }
                letter if letter.is_whitespace() => {}
                letter => {
                    let mut word = String::from(letter);
                    while let Some(letter) =
                        letters.next_if(|next| !next.is_whitespace() && !"()\"".contains(*next))
                    {
                        word.push(letter);
                    }
                    open.last_mut().unwrap().push(Form::Word(word));
                }
            }
        }
        assert_eq!(open.len(), 1, "a parenthesis stays open");
        Profile(open.pop().unwrap())
    }

    /// Whether an operation on a path is allowed; for sockets, on the one at this path.
    pub(crate) fn allows(&self, operation: &str, path: &str) -> bool {
        let mut allowed = None;
        for rule in &self.0 {
            let Form::List(parts) = rule else { panic!("{rule:?} stands alone") };
            let action = match parts.first() {
                Some(Form::Word(word)) if word == "allow" => true,
                Some(Form::Word(word)) if word == "deny" => false,
                _ => continue,
            };
            let mut named = false;
            let mut filters = 0;
            let mut matched = false;
            for part in &parts[1..] {
                match part {
                    Form::Word(word) => {
                        named |= word == "default"
                            || word == operation
                            || word.strip_suffix('*').is_some_and(|start| operation.starts_with(start));
                    }
                    filter => {
                        filters += 1;
                        matched |= matches(filter, operation, path);
                    }
                }
            }
            if named && (filters == 0 || matched) {
                allowed = Some(action);
            }
        }
        allowed.expect("no default")
    }
}

fn matches(filter: &Form, operation: &str, path: &str) -> bool {
    let Form::List(parts) = filter else { panic!("{filter:?} is no filter") };
    let parts: Vec<&Form> = parts.iter().collect();
    let word = |form: &Form| match form {
        Form::Word(word) => word.clone(),
        _ => String::new(),
    };
    match (word(parts[0]).as_str(), &parts[1..]) {
        ("literal", [Form::Text(text)]) => !operation.starts_with("network") && path == text,
        ("subpath", [Form::Text(text)]) => !operation.starts_with("network") && below(path, text),
        ("regex", [Form::Text(text)]) => !operation.starts_with("network") && Expression::whole(text, path),
        ("remote" | "local", [kind, inner]) if word(kind) == "unix-socket" => {
            operation.starts_with("network") && matches(inner, "socket", path)
        }
        ("remote" | "local", [kind, Form::Text(address)]) if word(kind) == "ip" => {
            address == path || address == "*:*" && path.contains(':')
        }
        ("global-name", [Form::Text(name)]) => operation == "mach-lookup" && name == path,
        ("sysctl-name", [Form::Text(name)]) => operation == "sysctl-read" && name == path,
        ("sysctl-name-prefix", [Form::Text(name)]) => {
            operation == "sysctl-read" && path.starts_with(name.as_str())
        }
        ("ipc-posix-name" | "ipc-posix-name-prefix" | "target" | "socket-domain", _) => false,
        _ => panic!("{filter:?} is not known"),
    }
}

fn below(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) || root == "/"
}

/// The regular expressions that our profiles use: letters, escapes, one class, groups of choices, `.`, `*`, `+`, `?`.
struct Expression;

impl Expression {
    fn whole(text: &str, path: &str) -> bool {
        let text =
            text.strip_prefix('^').and_then(|text| text.strip_suffix('$')).expect("an anchored expression");
        let text: Vec<char> = text.chars().collect();
        let path: Vec<char> = path.chars().collect();
        Expression::ends(&text, &path, &[0]).contains(&path.len())
    }

    /// Where a match of the text can end that starts at one of these places.
    fn ends(text: &[char], path: &[char], starts: &[usize]) -> Vec<usize> {
        let mut depth = 0;
        let mut choices = vec![0];
        let mut escaped = false;
        for (at, letter) in text.iter().enumerate() {
            match letter {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '(' => depth += 1,
                ')' => depth -= 1,
                '|' if depth == 0 => choices.extend([at, at + 1]),
                _ => {}
            }
        }
        choices.push(text.len());
        let mut ends: Vec<usize> = choices
            .chunks(2)
            .flat_map(|choice| Expression::sequence(&text[choice[0]..choice[1]], path, starts))
            .collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    fn sequence(text: &[char], path: &[char], starts: &[usize]) -> Vec<usize> {
        let mut now = starts.to_vec();
        let mut at = 0;
        while at < text.len() {
            let length = Expression::atom(&text[at..]);
            let atom = &text[at..at + length];
            at += length;
            let once = |starts: &[usize]| match atom {
                ['(', inner @ .., ')'] => Expression::ends(inner, path, starts),
                _ => starts
                    .iter()
                    .filter(|start| path.get(**start).is_some_and(|letter| Expression::letter(atom, *letter)))
                    .map(|start| start + 1)
                    .collect(),
            };
            let repeat = text.get(at).copied().filter(|letter| "*+?".contains(*letter));
            at += usize::from(repeat.is_some());
            let mut reached = if repeat == Some('+') { Vec::new() } else { now.clone() };
            match repeat {
                None => reached = once(&now),
                Some('?') => reached.extend(once(&now)),
                Some(_) => {
                    let mut next = once(&now);
                    while !next.is_empty() {
                        reached.extend(&next);
                        next = once(&next);
                    }
                }
            }
            now = reached;
        }
        now
    }

    /// The length of the first atom.
    fn atom(text: &[char]) -> usize {
        match text[0] {
            '\\' => 2,
            '[' => text.iter().position(|letter| *letter == ']').unwrap() + 1,
            '(' => {
                let mut depth = 0;
                let mut escaped = false;
                for (at, letter) in text.iter().enumerate() {
                    match letter {
                        _ if escaped => escaped = false,
                        '\\' => escaped = true,
                        '(' => depth += 1,
                        ')' => depth -= 1,
                        _ => {}
                    }
                    if depth == 0 {
                        return at + 1;
                    }
                }
                panic!("a group without an end")
            }
            _ => 1,
        }
    }

    fn letter(atom: &[char], letter: char) -> bool {
        match atom {
            ['.'] => true,
            ['\\', escaped] => *escaped == letter,
            ['[', first, '-', last, ']'] => (*first..=*last).contains(&letter),
            [plain] => *plain == letter,
            _ => panic!("{atom:?} is not known"),
        }
    }
}
