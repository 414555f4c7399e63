//! `bailiwick serve --socket`: the same server without a port. The file is its owner's alone, the token is asked for all the
//! same, and nothing is removed that the server did not make. SRV-1, SRV-9.

use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use serde_json::json;

use crate::home::Home;
use crate::server::{Server, approver};
use crate::{careful, ran};

/// Homes of tests have long names, and a socket's path is short.
struct Short(PathBuf);

impl Short {
    fn new() -> Short {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("bailiwick-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).expect("a directory");
        Short(path)
    }

    fn socket(&self) -> PathBuf {
        self.0.join("serve.sock")
    }
}

impl Drop for Short {
    fn drop(&mut self) {
        let _kept = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn whoever_has_the_token_asks_and_answers_over_a_socket_of_the_owner_alone() {
    let (home, short) = (careful(), Short::new());
    let path = short.socket();
    let server = Server::at_socket(&home, &path);
    assert!(!server.said.contains(&server.token), "the token is told to whatever reads standard error");
    let made = path.symlink_metadata().expect("a socket");
    assert!(made.file_type().is_socket());
    assert_eq!(made.permissions().mode() & 0o777, 0o600);
    let check = json!({"command": "cat ~/.ssh/id_rsa"});
    let (status, ruling) = server.ask("POST", "/v1/check", Some(&check));
    assert_eq!((status, ruling["decision"].as_str()), (200, Some("deny")), "{ruling}");
    // Being the same user is not enough: a program behind the fence is one too.
    let bearer = format!("Authorization: Bearer {}\r\n", server.token);
    for (head, expected) in [
        ("Host: localhost\r\n".to_owned(), 401),
        (format!("Host: localhost\r\nAuthorization: Bearer {}\r\n", "x".repeat(43)), 401),
        (format!("Host: attacker.example\r\n{bearer}"), 403),
        (format!("Host: localhost\r\nOrigin: http://attacker.example\r\n{bearer}"), 403),
        (format!("Host: localhost\r\n{bearer}"), 200),
    ] {
        let (status, said) = server.ask_as(&head, "POST", "/v1/check", Some(&check));
        assert_eq!(status, expected, "{head}: {said}");
    }
    assert_eq!(server.ask_as("Host: localhost\r\n", "GET", "/healthz", None).0, 200);
    assert_eq!(server.write("alone").0, 409, "nobody is there who could answer");
    let here = approver(&server);
    for (name, decision, runs) in [("yes", "approved", true), ("no", "denied", false)] {
        std::thread::scope(|scope| {
            let call = scope.spawn(|| server.write(name));
            let question = server.question();
            let answer = format!("/v1/approvals/{}", question["id"].as_str().expect("an id"));
            assert_eq!(server.ask("POST", &answer, Some(&json!({"decision": decision}))).0, 200);
            let (status, result) = call.join().expect("an answer");
            assert_eq!((status == 200, ran(&home, name)), (runs, runs), "{result}");
        });
    }
    drop(here);
    assert_eq!(server.end(), 0);
    assert!(path.symlink_metadata().is_err(), "the socket goes with its server");
}

#[test]
fn the_socket_of_a_server_that_is_gone_is_replaced_and_that_of_a_running_one_is_not() {
    let (home, short) = (Home::new(), Short::new());
    let path = short.socket();
    // As a server leaves it that was killed.
    drop(UnixListener::bind(&path).expect("a socket"));
    assert!(UnixStream::connect(&path).is_err(), "control: nobody listens");
    let server = Server::at_socket(&home, &path);
    let first = path.symlink_metadata().expect("a socket").ino();
    let words = ["serve", "--socket", path.to_str().expect("text")];
    let refused = home.run(&words);
    assert_eq!(refused.code, Some(125), "{refused:?}");
    assert!(refused.err.contains("somebody listens there already"), "{refused:?}");
    assert_eq!(path.symlink_metadata().expect("it is still there").ino(), first);
    assert_eq!(server.ask("GET", "/healthz", None).0, 200);
    // Whoever took the place meanwhile keeps it.
    std::fs::remove_file(&path).expect("removed");
    let other = UnixListener::bind(&path).expect("another's socket");
    assert_eq!(server.end(), 0);
    UnixStream::connect(&path).expect("the other one still listens there");
    drop(other);
}

#[test]
fn what_is_no_socket_is_neither_removed_nor_followed() {
    let (home, short) = (Home::new(), Short::new());
    let path = short.socket();
    let words = ["serve", "--socket", path.to_str().expect("text")];
    std::fs::write(&path, "my notes").expect("a file");
    let refused = home.run(&words);
    assert_eq!(refused.code, Some(125), "{refused:?}");
    assert!(refused.err.contains("something else than a socket"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&path).expect("it is still there"), "my notes");
    std::fs::remove_file(&path).expect("removed");
    let elsewhere = short.0.join("elsewhere");
    drop(UnixListener::bind(&elsewhere).expect("a socket"));
    std::os::unix::fs::symlink(&elsewhere, &path).expect("a link");
    let refused = home.run(&words);
    assert_eq!(refused.code, Some(125), "{refused:?}");
    assert!(path.symlink_metadata().is_ok_and(|found| found.file_type().is_symlink()));
    assert!(elsewhere.symlink_metadata().is_ok());
}

#[test]
fn a_path_that_cannot_be_a_sockets_is_refused_in_plain_words() {
    let home = Home::new();
    let long = format!("/tmp/{}", "x".repeat(120));
    for (path, part) in [
        (long.as_str(), "at most 107 bytes"),
        ("/tmp/no-such-directory-at-all/serve.sock", "/tmp/no-such-directory-at-all/serve.sock: "),
    ] {
        let refused = home.run(&["serve", "--socket", path]);
        assert_eq!(refused.code, Some(125), "{path}: {refused:?}");
        assert!(refused.err.contains(part), "{path}: {refused:?}");
    }
    let refused = home.run(&["serve", "--socket", "s", "--listen", "127.0.0.1:0"]);
    assert!(refused.code != Some(0) && refused.err.contains("cannot be used with"), "{refused:?}");
}
