//! Tables of code: is it wholly understood, and what was found?
//!
//! A row is `yes` or `no` (complete), the findings, and the code, with tabs between them. `⏎` is a line end. `!` in
//! place of the findings of an evasion says that either the reading is incomplete or something was found.

use effects::code::{Finding, read};

fn spelt(finding: &Finding) -> String {
    match finding {
        Finding::Read(path) => format!("read:{path}"),
        Finding::Write(path) => format!("write:{path}"),
        Finding::Delete { path, recursive: false } => format!("delete:{path}"),
        Finding::Delete { path, recursive: true } => format!("tree:{path}"),
        Finding::Connect(Some(host)) => format!("connect:{host}"),
        Finding::Connect(None) => "connect:?".to_owned(),
        Finding::RunShell(text) => format!("shell:{text}"),
        Finding::RunArgv(words) => format!("argv:{}", words.join("|")),
        Finding::RunUnknown => "run:?".to_owned(),
        Finding::Environment(name) => format!("env:{name}"),
        Finding::History(what) => format!("history:{what}"),
        Finding::System(what) => format!("system:{what}"),
        Finding::Data(what) => format!("data:{what}"),
    }
}

fn check(language: &str, table: &str, least: usize) {
    let mut rows = 0;
    let mut wrong = Vec::new();
    for line in table.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('%')) {
        let mut cells = line.splitn(3, '\t');
        let mut cell = || cells.next().unwrap_or("(missing)");
        let (complete, expected, code) = (cell(), cell(), cell());
        let code = code.replace('⏎', "\n");
        let reading = read(language, &code);
        let found: Vec<String> = reading.findings.iter().map(spelt).collect();
        let found = if found.is_empty() { "-".to_owned() } else { found.join(" & ") };
        rows += 1;
        let fits = if expected == "!" {
            !reading.complete || found != "-"
        } else {
            reading.complete == (complete == "yes") && found == expected
        };
        if !fits {
            let got = if reading.complete { "yes" } else { "no" };
            wrong.push(format!("{code}\n    expected {complete} {expected}\n    got      {got} {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {rows} rows of {language}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(rows >= least, "the table of {language} has only {rows} rows");
}

#[test]
fn python_is_read_as_the_table_says() {
    check("python", include_str!("code_tables/python.txt"), 60);
}

#[test]
fn javascript_is_read_as_the_table_says() {
    check("javascript", include_str!("code_tables/javascript.txt"), 40);
}

#[test]
fn sql_is_read_as_the_table_says() {
    check("sql", include_str!("code_tables/sql.txt"), 40);
}

#[test]
fn awk_is_read_as_the_table_says() {
    check("awk", include_str!("code_tables/awk.txt"), 25);
}

#[test]
fn sed_is_read_as_the_table_says() {
    check("sed", include_str!("code_tables/sed.txt"), 25);
}

#[test]
fn perl_is_read_as_the_table_says() {
    check("perl", include_str!("code_tables/perl.txt"), 15);
}

#[test]
fn ruby_is_read_as_the_table_says() {
    check("ruby", include_str!("code_tables/ruby.txt"), 15);
}

#[test]
fn php_is_read_as_the_table_says() {
    check("php", include_str!("code_tables/php.txt"), 15);
}

#[test]
fn lua_is_read_as_the_table_says() {
    check("lua", include_str!("code_tables/lua.txt"), 15);
}

#[test]
fn vim_is_read_as_the_table_says() {
    check("vim", include_str!("code_tables/vim.txt"), 35);
}

#[test]
fn less_is_read_as_the_table_says() {
    check("less", include_str!("code_tables/less.txt"), 18);
}

#[test]
fn gdb_is_read_as_the_table_says() {
    check("gdb", include_str!("code_tables/gdb.txt"), 20);
}

#[test]
fn lldb_is_read_as_the_table_says() {
    check("lldb", include_str!("code_tables/lldb.txt"), 7);
}

#[test]
fn tcl_is_read_as_the_table_says() {
    check("tcl", include_str!("code_tables/tcl.txt"), 30);
}

#[test]
fn makefile_is_read_as_the_table_says() {
    check("makefile", include_str!("code_tables/makefile.txt"), 12);
}
