//! The server against the document that describes it: a fuzzer reads the document and looks for answers that it does not allow.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::run::{built, command, must, read, root, succeed};

/// Where the fuzzer is installed.
const PLACE: &str = "target/interface";

pub(crate) fn check() -> Result<(), String> {
    let program = format!("{PLACE}/bin/schemathesis");
    if !root().join(&program).exists() {
        must("virtualenv", &["--quiet", PLACE])?;
        must(&format!("{PLACE}/bin/pip"), &["install", "--quiet", "schemathesis==4.*"])?;
    }
    let home = std::env::temp_dir().join(format!("bailiwick-interface-{}", std::process::id()));
    let work = home.join("work");
    std::fs::create_dir_all(&work).map_err(|error| error.to_string())?;
    let checked = against(&program, &home, &work);
    let _gone = std::fs::remove_dir_all(&home);
    checked
}

#[expect(clippy::disallowed_methods, reason = "the server under test is started here")]
fn against(program: &str, home: &Path, work: &Path) -> Result<(), String> {
    let mut server = Command::new(built())
        .args(["serve", "--listen", "127.0.0.1:0"])
        .current_dir(work)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", home)
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let lines = server.stderr.take().map(|words| BufReader::new(words).lines());
    let place = lines
        .into_iter()
        .flatten()
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("bailiwick: the console is at ").map(str::to_owned));
    let token = read(&home.join(".local/share/bailiwick/keys/token").display().to_string());
    let ran = place.ok_or_else(|| "the server does not say where it is".to_owned()).and_then(|place| {
        let (document, header) =
            (format!("{place}openapi.json"), format!("Authorization: Bearer {}", token?.trim()));
        // Streams do not end, and whoever waits for a question waits; what a text must look like beyond its type is not in the
        // document.
        let words = &[
            "run",
            &document,
            "--header",
            &header,
            "--checks",
            "all",
            "--exclude-checks",
            "positive_data_acceptance",
            "--exclude-path",
            "/v1/events",
            "--exclude-path",
            "/v1/connect",
            "--exclude-operation-id",
            "get__v1_approvals",
            "--exclude-operation-id",
            "get__v1_inquiries",
            "--max-examples",
            "25",
            "--request-timeout",
            "20",
            // The same cases every time: a change fails by what it does.
            "--seed",
            "1",
        ];
        // It leaves its notes where it is run.
        let program = root().join(program).display().to_string();
        succeed(command(&program, words).current_dir(home), "schemathesis")
    });
    let _ended = server.kill().and_then(|()| server.wait());
    ran
}
