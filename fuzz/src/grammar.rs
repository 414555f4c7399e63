//! Shell text out of arbitrary bytes: each byte is a choice, so that mutated bytes are mutated programs. What comes out
//! is mostly, not always, a program that a shell would take.

/// Bytes of text after which nothing new is begun.
const ENOUGH: usize = 8 * 1024;
/// How deep constructs are put into each other.
const DEPTH: usize = 12;

/// The program that these choices make.
pub(crate) fn text(choices: &[u8]) -> String {
    let mut writer = Writer { choices, text: String::new(), documents: Vec::new() };
    while !writer.choices.is_empty() && writer.text.len() < ENOUGH {
        writer.list(DEPTH);
        writer.end_line();
    }
    writer.text
}

struct Writer<'a> {
    choices: &'a [u8],
    text: String,
    /// Here-documents whose operator stands in the line: the delimiter, and whether expansions are alive in the body.
    documents: Vec<(&'static str, bool)>,
}

impl Writer<'_> {
    /// A number below `limit`; 0, which is always the simplest choice, where there are no choices left.
    fn below(&mut self, limit: usize) -> usize {
        let Some((first, rest)) = self.choices.split_first() else { return 0 };
        self.choices = rest;
        usize::from(*first) % limit
    }

    fn one_of(&mut self, table: &[&'static str]) -> &'static str {
        let at = self.below(table.len());
        table.get(at).copied().unwrap_or_default()
    }

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn put_one_of(&mut self, table: &[&'static str]) {
        let chosen = self.one_of(table);
        self.put(chosen);
    }

    /// Whether there is room for something that holds others.
    fn deeper(&self, depth: usize) -> bool {
        depth > 0 && self.text.len() < ENOUGH && !self.choices.is_empty()
    }

    fn list(&mut self, depth: usize) {
        for _ in 0..=self.below(3) {
            self.pipeline(depth);
            match self.below(8) {
                0 | 1 => self.put("; "),
                2 => self.put(" && "),
                3 => self.put(" || "),
                4 => self.put(" & "),
                5 => self.end_line(),
                6 => {
                    self.put(" # ");
                    self.put_one_of(LITERALS);
                    self.end_line();
                }
                _ => self.put(";"),
            }
        }
        self.simple(depth);
        if !self.documents.is_empty() {
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        self.put("\n");
        for (delimiter, alive) in std::mem::take(&mut self.documents) {
            for _ in 0..self.below(3) {
                if alive {
                    self.parts(2, true);
                } else {
                    self.put_one_of(LITERALS);
                }
                self.put("\n");
            }
            self.put(delimiter);
            self.put("\n");
        }
    }

    fn pipeline(&mut self, depth: usize) {
        match self.below(12) {
            10 => self.put("! "),
            11 => self.put_one_of(&["time ", "time -p ", "! ! "]),
            _ => {}
        }
        self.command(depth);
        for _ in 0..self.below(4).saturating_sub(1) {
            self.put_one_of(&[" | ", " |& ", "|", " |\n"]);
            self.command(depth);
        }
    }

    fn command(&mut self, depth: usize) {
        let choice = self.below(24);
        if !self.deeper(depth) {
            return self.simple(depth);
        }
        let depth = depth - 1;
        match choice {
            0 => self.around("( ", depth, ")"),
            1 => self.around("{ ", depth, "; }"),
            2 => {
                self.around("if ", depth, "; then ");
                self.list(depth);
                if self.below(2) == 1 {
                    self.around("\nelif ", depth, "; then ");
                    self.list(depth);
                }
                if self.below(2) == 1 {
                    self.put("\nelse ");
                    self.list(depth);
                }
                self.put("\nfi");
            }
            3 | 4 => {
                self.put_one_of(&["for ", "for ", "select "]);
                self.put_one_of(NAMES);
                if self.below(6) > 0 {
                    self.put(" in");
                    self.words(depth);
                }
                self.around("; do ", depth, "\ndone");
            }
            5 => {
                self.put_one_of(&["while ", "until "]);
                self.list(depth);
                self.around("\ndo ", depth, "\ndone");
            }
            6 => {
                self.put("case ");
                self.word(depth);
                self.put(" in ");
                for _ in 0..self.below(3) {
                    self.put_one_of(&["", "("]);
                    self.word(depth);
                    if self.below(3) == 1 {
                        self.put(" | ");
                        self.word(depth);
                    }
                    self.put(") ");
                    self.list(depth);
                    self.put_one_of(&["\n;;\n", "\n;&\n", "\n;;&\n"]);
                }
                self.put("esac");
            }
            7 => {
                self.put_one_of(&["f() ", "function f ", "g () ", "function g() ", "rm() "]);
                self.around("{ ", depth, "\n}");
            }
            8 => self.condition(depth),
            9 => {
                self.put("((");
                self.expression(depth);
                self.put("))");
            }
            10 => {
                self.put("for ((");
                self.expression(depth);
                self.put(";");
                self.expression(depth);
                self.put(";");
                self.expression(depth);
                self.around(")); do ", depth, "\ndone");
            }
            _ => return self.simple(depth),
        }
        self.redirects(depth);
    }

    fn around(&mut self, open: &str, depth: usize, close: &str) {
        self.put(open);
        self.list(depth);
        self.put(close);
    }

    fn condition(&mut self, depth: usize) {
        self.put("[[ ");
        for more in 0..=self.below(3) {
            if more > 0 {
                self.put_one_of(&[" && ", " || ", " && ! "]);
            }
            match self.below(4) {
                0 => self.put_one_of(&["-f ", "-z ", "-n ", "-v ", "! -e "]),
                1 => {}
                _ => {
                    self.word(depth);
                    self.put_one_of(&[" == ", " != ", " =~ ", " -eq ", " < ", " -nt "]);
                }
            }
            self.word(depth);
        }
        self.put(" ]]");
    }

    fn simple(&mut self, depth: usize) {
        for _ in 0..self.below(5).saturating_sub(2) {
            self.assignment(depth);
            self.put(" ");
        }
        match self.below(16) {
            14 => self.word(depth),
            15 => self.put_one_of(NAMES),
            _ => self.put_one_of(COMMANDS),
        }
        self.words(depth);
        self.redirects(depth);
    }

    fn words(&mut self, depth: usize) {
        for _ in 0..self.below(5) {
            self.put(" ");
            self.word(depth);
        }
    }

    fn assignment(&mut self, depth: usize) {
        self.put_one_of(NAMES);
        match self.below(10) {
            7 => {
                self.put("=(");
                self.words(depth);
                return self.put(")");
            }
            8 => {
                self.put("[");
                self.expression(depth);
                self.put("]=");
            }
            9 => self.put("+="),
            _ => self.put("="),
        }
        if self.below(8) > 0 {
            self.word(depth);
        }
    }

    fn redirects(&mut self, depth: usize) {
        match self.below(12) {
            8 | 9 => {
                self.put_one_of(&[" >", " 2>", " >>", " <", " &>", " >|", " <>", " 3<", " {n}>", " &>>"]);
                self.word(depth);
            }
            10 => self.put_one_of(&[" 2>&1", " >&-", " <&3", " 1>&2", " 3>&1-", " 2>/dev/null"]),
            11 => match self.below(5) {
                0 | 1 => {
                    self.put(" <<< ");
                    self.word(depth);
                }
                2 => self.document(" <<E", "E", true),
                3 => self.document(" <<'E'", "E", false),
                _ => self.document(" <<-\"EOF\"", "EOF", false),
            },
            _ => {}
        }
    }

    fn document(&mut self, operator: &str, delimiter: &'static str, alive: bool) {
        self.put(operator);
        self.documents.push((delimiter, alive));
    }

    fn word(&mut self, depth: usize) {
        for _ in 0..=self.below(4).saturating_sub(1) {
            self.part(depth, false);
        }
    }

    fn parts(&mut self, depth: usize, quoted: bool) {
        for _ in 0..self.below(4) {
            self.part(depth, quoted);
        }
    }

    fn part(&mut self, depth: usize, quoted: bool) {
        let choice = self.below(22);
        if !self.deeper(depth) {
            return self.put_one_of(LITERALS);
        }
        let depth = depth - 1;
        match choice {
            6 if !quoted => {
                self.put("'");
                self.put_one_of(LITERALS);
                self.put_one_of(LITERALS);
                self.put("'");
            }
            7 | 8 if !quoted => {
                self.put("\"");
                self.parts(depth, true);
                self.put("\"");
            }
            9 if !quoted => {
                self.put("$'");
                self.put_one_of(ESCAPES);
                self.put_one_of(ESCAPES);
                self.put("'");
            }
            10 | 11 => {
                self.put("$");
                self.put_one_of(VARIABLES);
            }
            12 | 13 => self.parameter(depth, quoted),
            14 => self.around("$(", depth, "\n)"),
            15 => self.around("`", 0, "`"),
            16 => {
                self.put("$((");
                self.expression(depth);
                self.put("))");
            }
            17 if !quoted => {
                self.put_one_of(&["<(", ">("]);
                self.list(depth);
                self.put(")");
            }
            18 if !quoted => {
                self.put("{");
                if self.below(3) == 0 {
                    self.put_one_of(&[
                        "1..3",
                        "a..e",
                        "01..10..3",
                        "3..1",
                        "a..",
                        "1..99999999999",
                        "z..a..-2",
                    ]);
                } else {
                    for more in 0..=self.below(3) {
                        self.put(if more > 0 { "," } else { "" });
                        self.word(depth);
                    }
                }
                self.put("}");
            }
            19 => {
                self.put("\\");
                self.put_one_of(&["$", "\\", "`", "\"", "n", " ", "\n", "*", "é", "'"]);
            }
            20 if !quoted => {
                self.put_one_of(&["*", "?", "[a-z]", "[!x]*", "~", "~/", "~root", "@(a|b)", "**/"])
            }
            21 => self.raw(),
            _ => self.put_one_of(LITERALS),
        }
    }

    /// A few of the bytes as they are.
    fn raw(&mut self) {
        let count = self.below(6).min(self.choices.len());
        let Some((raw, rest)) = self.choices.split_at_checked(count) else { return };
        self.choices = rest;
        let raw = String::from_utf8_lossy(raw).into_owned();
        self.put(&raw);
    }

    fn parameter(&mut self, depth: usize, quoted: bool) {
        self.put("${");
        self.put_one_of(&["", "", "", "#", "!"]);
        self.put_one_of(VARIABLES);
        if self.below(6) == 5 {
            self.put("[");
            self.put_one_of(&["@", "*", "0", "x", "-1", "1+1"]);
            self.put("]");
        }
        match self.below(8) {
            0 => {}
            1 | 2 => {
                self.put_one_of(&[":-", "-", ":=", "=", ":+", "+", ":?", "?"]);
                self.parts(depth, quoted);
            }
            3 => {
                self.put_one_of(&["#", "##", "%", "%%"]);
                self.parts(depth, quoted);
            }
            4 => {
                self.put_one_of(&["/", "//", "/#", "/%"]);
                self.parts(depth, quoted);
                self.put("/");
                self.parts(depth, quoted);
            }
            5 => {
                self.put(":");
                self.expression(depth);
                if self.below(2) == 1 {
                    self.put(":");
                    self.expression(depth);
                }
            }
            6 => self.put_one_of(&["^", "^^", ",", ",,", "^^[a-z]", "@Q", "@U", "@P", "*", "@"]),
            _ => self.parts(depth, quoted),
        }
        self.put("}");
    }

    fn expression(&mut self, depth: usize) {
        for more in 0..=self.below(3) {
            if more > 0 {
                self.put_one_of(&[
                    "+", "-", "*", "/", "%", "**", "<<", ">>", "&&", "==", "?", ":", "=", "+=", ",",
                ]);
            }
            match self.below(10) {
                6 if self.deeper(depth) => {
                    self.put("(");
                    self.expression(depth - 1);
                    self.put(")");
                }
                7 => self.part(depth, true),
                8 => self.put_one_of(&["-", "!", "~", "++", "--"]),
                9 => self.put_one_of(VARIABLES),
                _ => self.put_one_of(NUMBERS),
            }
        }
    }
}

const NUMBERS: &[&str] = &[
    "1",
    "0",
    "2",
    "10",
    "08",
    "0x1f",
    "16#ff",
    "9223372036854775807",
    "-1",
    "99999999999999999999",
    "64#_",
    "1.5",
];

const NAMES: &[&str] = &["x", "y", "i", "PATH", "IFS", "HOME", "PWD", "x1", "n", "LD_PRELOAD", "arr", "_"];

const VARIABLES: &[&str] = &[
    "x", "y", "i", "HOME", "PWD", "IFS", "@", "*", "#", "?", "1", "0", "$", "!", "-", "arr", "OLDPWD",
    "RANDOM", "10", "USER", "_",
];

const LITERALS: &[&str] = &[
    "a",
    "b.txt",
    "-rf",
    "/",
    "..",
    "src",
    "x=1",
    "rm",
    "echo",
    "=",
    ":",
    "é",
    "-",
    "--",
    "%s\\n",
    ".env",
    "/etc/passwd",
    "a b",
    "1",
    "{a,b}",
    ",",
    "}",
    "{",
    "..",
    "]",
    "~",
    "日本",
    "-c",
    "/tmp/x",
    "\\",
    "*",
    "E",
    "x",
    "y",
    "-i",
    "+x",
    "#",
    "f",
    "esac",
    "done",
];

const ESCAPES: &[&str] = &[
    "\\x72",
    "m",
    "\\162",
    "\\n",
    "\\u00e9",
    "\\U0001f600",
    "\\'",
    "\\\\",
    "\\c?",
    "\\0",
    "\\x",
    "\\u",
    "a",
    "\\e",
    "\\xff",
    "\\ud800",
    "\\400",
    "\\x{41}",
];

const COMMANDS: &[&str] = &[
    "echo",
    "ls",
    "cd",
    "rm",
    "cat",
    "printf",
    "eval",
    "export",
    "read",
    "set",
    "unset",
    "local",
    "declare",
    "shift",
    "source",
    "trap",
    "alias",
    "command",
    "exec",
    "test",
    "[",
    "pushd",
    "popd",
    "mapfile",
    "return",
    "break",
    "f",
    "g",
    "true",
    "base64",
    "tr",
    "rev",
    "xxd",
    "sh",
    "bash",
    "env",
    "getopts",
    "typeset",
    "readonly",
    "unalias",
    "builtin",
    ".",
    ":",
    "let",
    "continue",
    "exit",
    "wait",
    "pwd",
    "shopt",
    "enable",
    "hash",
    "dirs",
    "seq",
    "basename",
    "dirname",
    "sed",
    "awk",
    "find",
    "xargs",
    "sudo",
    "git",
    "python3",
    "declare -i",
    "declare -n",
    "set --",
    "printf -v x",
    "read -r x",
    "local -a",
    "cd -",
    "echo -n",
    "echo -e",
];
