//! Programs that are left running and typed to.

use std::time::{Duration, Instant};

use tools::{Ask, Cancel, Ended, Job, Said, SessionBounds, SessionError, Sessions, Size, Start};

use crate::stage::{Stage, processes, until};

const OWNER: &str = "an agent's session";

fn ask(milliseconds: u64) -> Ask {
    Ask { yield_time: Duration::from_millis(milliseconds), max_output_tokens: None }
}

fn on_terminal(milliseconds: u64) -> Start {
    Start { tty: Some(Size::default()), ask: ask(milliseconds) }
}

fn on_pipes(milliseconds: u64) -> Start {
    Start { tty: None, ask: ask(milliseconds) }
}

/// A session that is talked to.
struct Talk<'a> {
    sessions: &'a Sessions,
    id: u64,
    /// All that it has said.
    heard: String,
}

impl<'a> Talk<'a> {
    fn start(sessions: &'a Sessions, mut job: Job, start: &Start) -> Talk<'a> {
        job.name_terminal();
        let said = sessions.start(OWNER, job, start, &Cancel::new()).expect("it starts");
        let id = said.session.unwrap_or_else(|| panic!("it runs: {said:?}"));
        Talk { sessions, id, heard: said.stdout.text }
    }

    fn say(&mut self, text: &str) -> Said {
        self.try_say(text).expect("a session")
    }

    fn try_say(&mut self, text: &str) -> Result<Said, SessionError> {
        let said = self.sessions.write(OWNER, self.id, text.as_bytes(), ask(20), &Cancel::new())?;
        self.heard.push_str(&said.stdout.text);
        Ok(said)
    }

    /// Asks until it has said something, and forgets it.
    fn hear(&mut self, wanted: &str) -> String {
        until(wanted, || {
            if !self.heard.contains(wanted) {
                drop(self.try_say("").map_err(|error| format!("{error}, after {:?}", self.heard))?);
            }
            if self.heard.contains(wanted) { Ok(()) } else { Err(self.heard.clone()) }
        });
        std::mem::take(&mut self.heard)
    }

    /// Looks until the screen shows something.
    fn see(&mut self, wanted: &str) -> tools::Screen {
        until(wanted, || {
            let screen = self.sessions.screen(OWNER, self.id).map_err(|error| error.to_string())?;
            if screen.text.contains(wanted) { Ok(screen) } else { Err(screen.text) }
        })
    }

    /// Types the last thing, and waits for the end.
    fn end(mut self, text: &str) -> Said {
        let first = self.say(text);
        if first.end.is_some() {
            return first;
        }
        let ask = ask(20_000);
        let mut last = self.sessions.write(OWNER, self.id, b"", ask, &Cancel::new()).expect("the end");
        last.stdout.text.insert_str(0, &first.stdout.text);
        last.stdout.omitted += first.stdout.omitted;
        last
    }
}

fn sessions() -> Sessions {
    Sessions::new(SessionBounds::default()).expect("sessions")
}

#[test]
fn a_program_that_ends_in_time_leaves_no_session() {
    let (stage, sessions) = (Stage::new(), sessions());
    for start in [on_terminal(15_000), on_pipes(15_000)] {
        let begun = Instant::now();
        let job = stage.shell("echo out; echo error >&2; exit 7");
        let said = sessions.start(OWNER, job, &start, &Cancel::new()).expect("it starts");
        assert!(begun.elapsed() < Duration::from_secs(10), "it is not waited for longer than it runs");
        assert_eq!((said.session, said.end), (None, Some(Ended::Code(7))));
        let both = match start.tty {
            Some(_) => ("out\r\nerror\r\n", ""),
            None => ("out\n", "error\n"),
        };
        assert_eq!((said.stdout.text.as_str(), said.stderr.text.as_str()), both);
        let outcome = said.outcome();
        assert_eq!(outcome.exit_code, Some(7));
        let data = outcome.data.expect("data");
        assert_eq!((&data["session_id"], &data["running"]), (&serde_json::Value::Null, &false.into()));
    }
    assert!(sessions.list(OWNER).is_empty());
}

#[test]
fn a_refusal_is_told() {
    let (stage, sessions) = (Stage::new(), sessions());
    let mut job = stage.shell("true");
    job.program = "/usr/bin/there-is-no-such-program".into();
    let error =
        sessions.start(OWNER, job, &on_terminal(15_000), &Cancel::new()).expect_err("it is not there");
    assert_eq!(error.kind(), call::ErrorKind::NotFound, "{error}");
    assert!(sessions.list(OWNER).is_empty());
}

#[test]
fn python_reads_evaluates_and_prints() {
    let (stage, sessions) = (Stage::new(), sessions());
    for start in [on_terminal(50), on_pipes(50)] {
        let mut talk = Talk::start(&sessions, stage.job(&["python3", "-q", "-i", "-u"]), &start);
        let said = talk.say("print('sum', 40 + 2)\n");
        assert!(said.running() && said.session == Some(talk.id));
        talk.hear("sum 42");
        talk.say("x = 'kept'\n");
        talk.say("print(x, 'between', 'answers')\n");
        talk.hear("kept between answers");
        let said = talk.end("import sys; sys.exit(3)\n");
        assert_eq!((said.session, said.end), (None, Some(Ended::Code(3))));
    }
}

#[test]
fn ctrl_c_interrupts_and_ctrl_d_ends() {
    let (stage, sessions) = (Stage::new(), sessions());
    let mut talk = Talk::start(&sessions, stage.job(&["python3", "-q", "-i"]), &on_terminal(50));
    talk.say("import time; print('be', 'gun'); time.sleep(40)\n");
    talk.hear("be gun");
    talk.say("\x03");
    talk.hear("KeyboardInterrupt");
    talk.say("print('go', 'on')\n");
    talk.hear("go on");
    assert_eq!(talk.end("\x04").end, Some(Ended::Code(0)));

    let mut talk = Talk::start(&sessions, stage.shell("echo begun; sleep 40"), &on_pipes(50));
    talk.hear("begun");
    assert_eq!(talk.end("\x03").end, Some(Ended::Signal(2)), "without a terminal too");
    let mut talk = Talk::start(&sessions, stage.shell("echo begun; cat; echo over"), &on_pipes(50));
    talk.hear("begun");
    talk.say("line\n");
    talk.hear("line");
    let said = talk.end("\x04");
    assert_eq!(said.end, Some(Ended::Code(0)));
    assert!(said.stdout.text.contains("over"), "{said:?}");
}

#[test]
fn bash_has_jobs_history_and_a_size_that_changes() {
    let (stage, sessions) = (Stage::new(), sessions());
    let job = stage.job(&["bash", "--norc", "--noprofile", "-i"]);
    let mut talk = Talk::start(&sessions, job, &on_terminal(50));
    talk.say("PS1='ready> '; stty size; tty\n");
    let heard = talk.hear("/dev/pts/");
    assert!(heard.contains("24 80"), "{heard}");
    sessions.resize(OWNER, talk.id, Size { rows: 40, columns: 132 }).expect("a terminal");
    talk.say("stty size; echo $COLUMNS\n");
    talk.hear("40 132");
    talk.say("sleep 41 &\n");
    talk.hear("[1] ");
    talk.say("jobs\n");
    talk.hear("Running");
    talk.say("sleep 42\n");
    talk.say("\x1a");
    talk.hear("Stopped");
    talk.say("echo $((6*7))\n");
    talk.hear("42");
    assert_eq!(talk.end("kill %1 %2; exit 5\nexit 5\n").end, Some(Ended::Code(5)));
}

#[test]
fn vim_edits_a_file_and_its_screen_can_be_read() {
    let (stage, sessions) = (Stage::new(), sessions());
    let job = stage.job(&["vim", "-u", "NONE", "-i", "NONE", "-n", "letter.txt"]);
    let mut talk = Talk::start(&sessions, job, &on_terminal(50));
    let screen = talk.see("letter.txt");
    assert!(screen.full, "an editor has the whole screen: {screen:?}");
    talk.say("idear reader,\rall is well\x1b");
    let screen = talk.see("all is well");
    assert!(screen.text.starts_with("dear reader,\nall is well\n~"), "{}", screen.text);
    sessions.resize(OWNER, talk.id, Size { rows: 10, columns: 60 }).expect("a terminal");
    until("vim draws itself anew", || {
        let text = sessions.screen(OWNER, talk.id).expect("a screen").text;
        if text.lines().count() == 10 && text.contains("~") { Ok(()) } else { Err(text) }
    });
    assert_eq!(talk.end(":wq\r").end, Some(Ended::Code(0)));
    let written = std::fs::read_to_string(stage.root.join("letter.txt")).expect("a letter");
    assert_eq!(written, "dear reader,\nall is well\n");
}

#[test]
fn top_draws_itself_again_and_again() {
    let (stage, sessions) = (Stage::new(), sessions());
    let mut talk = Talk::start(&sessions, stage.job(&["top", "-d", "0.3"]), &on_terminal(50));
    let screen = talk.see("PID");
    assert!(screen.text.contains("top") && screen.text.lines().count() <= 24, "{}", screen.text);
    talk.hear("PID");
    talk.hear("top -");
    assert_eq!(talk.end("q").end, Some(Ended::Code(0)));
}

#[test]
fn what_is_typed_without_echo_does_not_come_back() {
    let (stage, sessions) = (Stage::new(), sessions());
    let text = "import getpass; secret = getpass.getpass('word? '); print('letters:', len(secret))";
    let mut talk = Talk::start(&sessions, stage.job(&["python3", "-c", text]), &on_terminal(50));
    let mut all = talk.hear("word? ");
    let said = talk.end("correct horse\n");
    all.push_str(&said.stdout.text);
    assert!(all.contains("letters: 13"), "{all}");
    assert!(!all.contains("horse"), "{all}");
    // The control: a program that leaves the echo on.
    let mut talk =
        Talk::start(&sessions, stage.shell("echo 'word?'; read -r word; echo done"), &on_terminal(50));
    talk.hear("word?");
    let said = talk.end("correct horse\n");
    assert!(said.stdout.text.contains("horse"), "{said:?}");
}

#[test]
fn a_character_that_is_cut_by_an_answer_comes_whole_with_the_next() {
    let (stage, sessions) = (Stage::new(), sessions());
    for start in [on_terminal(0), on_pipes(0)] {
        let text = r"stty -echo 2>/dev/null; printf 'a\344\270'; read -r x; printf '\255b\n'; read -r x";
        let mut talk = Talk::start(&sessions, stage.shell(text), &start);
        let first = talk.hear("a");
        assert!(first.ends_with('a'), "{first:?}");
        talk.say("\n");
        let second = talk.hear("b");
        assert!(second.contains("中b"), "{second:?}");
        talk.end("\n");
    }
}

#[test]
fn an_answer_is_cut_to_the_tokens_that_are_wanted() {
    let (stage, sessions) = (Stage::new(), sessions());
    let mut start = on_terminal(15_000);
    start.ask.max_output_tokens = Some(50);
    let said = sessions.start(OWNER, stage.shell("seq 1 50000"), &start, &Cancel::new()).expect("it starts");
    assert!(
        said.stdout.text.starts_with("1\r\n2\r\n") && said.stdout.text.ends_with("50000\r\n"),
        "{said:?}"
    );
    assert!(said.stdout.text.len() < 250 && said.stdout.text.contains("left out"), "{said:?}");
    assert_eq!(said.stdout.bytes, 338_894);
    assert!(said.outcome().truncated);
}

#[test]
fn a_program_that_nobody_asks_is_not_held_up() {
    let (stage, sessions) = (Stage::new(), sessions());
    // Far more than a terminal, a pipe or a window hold.
    let text = "seq 1 2000000; touch finished; read -r x";
    for start in [on_terminal(0), on_pipes(0)] {
        drop(std::fs::remove_file(stage.root.join("finished")));
        let talk = Talk::start(&sessions, stage.shell(text), &start);
        until("it has written all", || {
            if stage.root.join("finished").exists() { Ok(()) } else { Err("not yet".into()) }
        });
        let said = talk.end("\n");
        assert!(said.stdout.omitted > 10_000_000, "{}", said.stdout.omitted);
        assert!(
            said.stdout.text.len() < 300 * 1024 && said.stdout.text.contains("2000000"),
            "the end is kept"
        );
    }
}

#[test]
fn a_session_is_its_owners_alone_and_its_number_is_never_used_again() {
    let (stage, sessions) = (Stage::new(), sessions());
    let first = Talk::start(&sessions, stage.shell("read -r x"), &on_terminal(0));
    let second = Talk::start(&sessions, stage.shell("read -r x"), &on_terminal(0));
    assert!(first.id >= 1 && second.id > first.id);
    let other = "another agent's session";
    let id = first.id;
    assert_eq!(sessions.write(other, id, b"x", ask(0), &Cancel::new()), Err(SessionError::NotFound(id)));
    assert_eq!(sessions.resize(other, id, Size::default()), Err(SessionError::NotFound(id)));
    assert_eq!(sessions.screen(other, id), Err(SessionError::NotFound(id)));
    assert_eq!(sessions.signal(other, id, 9), Err(SessionError::NotFound(id)));
    assert_eq!(sessions.end(other, id), Err(SessionError::NotFound(id)));
    sessions.end_all(other);
    assert_eq!(sessions.list(OWNER), [first.id, second.id]);
    assert_eq!(first.end("\n").end, Some(Ended::Code(0)));
    assert_eq!(
        sessions.write(OWNER, id, b"", ask(0), &Cancel::new()),
        Err(SessionError::NotFound(id)),
        "what has ended and was told is gone"
    );
    sessions.end_all(OWNER);
    assert!(sessions.list(OWNER).is_empty());
    let third = Talk::start(&sessions, stage.shell("read -r x"), &on_terminal(0));
    assert!(third.id > second.id);
}

#[test]
fn there_are_only_so_many_and_an_idle_one_is_ended() {
    let stage = Stage::new();
    let bounds = SessionBounds { most: 2, idle: Duration::from_secs(3), ..SessionBounds::default() };
    let sessions = Sessions::new(bounds).expect("sessions");
    let first = Talk::start(&sessions, stage.shell("sleep 43"), &on_terminal(0));
    let second = Talk::start(&sessions, stage.shell("sleep 44"), &on_pipes(0));
    let full = sessions.start(OWNER, stage.shell("true"), &on_terminal(0), &Cancel::new());
    assert_eq!(full, Err(SessionError::Full(2)));
    assert!(full.is_err_and(|error| error.retryable()));
    sessions.end(OWNER, second.id).expect("a session");
    let mut third = Talk::start(&sessions, stage.shell("sleep 45"), &on_terminal(0));
    // The one is asked about, the other is not.
    until("the idle one has ended", || {
        third.try_say("").map_err(|error| error.to_string())?;
        if processes("sleep\x0043").is_empty() { Ok(()) } else { Err("it still runs".into()) }
    });
    assert!(third.say("").running());
    let said = sessions.write(OWNER, first.id, b"", ask(5000), &Cancel::new()).expect("its end is told");
    assert_eq!(said.end, Some(Ended::Cancelled));
}

#[test]
fn waiting_for_an_answer_can_be_taken_back() {
    let (stage, sessions) = (Stage::new(), sessions());
    let talk = Talk::start(&sessions, stage.shell("sleep 46"), &on_terminal(0));
    let begun = Instant::now();
    for starts in [false, true] {
        let cancel = Cancel::new();
        let answer = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| match starts {
                true => sessions.start(OWNER, stage.shell("sleep 46"), &on_terminal(60_000), &cancel),
                false => sessions.write(OWNER, talk.id, b"", ask(60_000), &cancel),
            });
            std::thread::sleep(Duration::from_millis(200));
            cancel.cancel();
            waiting.join().expect("no panic")
        });
        assert_eq!(answer, Err(SessionError::Cancelled));
    }
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(
        sessions.list(OWNER),
        [talk.id],
        "asking less does not end a program; a start that is taken back does"
    );
}

#[test]
fn what_a_program_does_not_read_is_bounded() {
    let (stage, sessions) = (Stage::new(), sessions());
    let talk = Talk::start(&sessions, stage.shell("sleep 46"), &on_pipes(0));
    let write = |bytes: &[u8]| sessions.write(OWNER, talk.id, bytes, ask(0), &Cancel::new());
    assert!(matches!(write(&vec![b'x'; 65 * 1024]), Err(SessionError::TooMuch(_))));
    let piece = vec![b'x'; 60 * 1024];
    let busy = (0..10).find_map(|_| write(&piece).err());
    assert_eq!(busy, Some(SessionError::Busy));
}

#[test]
fn many_talk_at_once_and_each_gets_its_own_answers() {
    let (stage, sessions) = (Stage::new(), sessions());
    std::thread::scope(|scope| {
        for number in 0..12 {
            let (stage, sessions) = (&stage, &sessions);
            scope.spawn(move || {
                let start = if number % 2 == 0 { on_terminal(0) } else { on_pipes(0) };
                let text = "while read -r x; do echo \"<$x>\"; done";
                let mut talk = Talk::start(sessions, stage.shell(text), &start);
                for round in 0..10 {
                    talk.say(&format!("{number}-{round}\n"));
                    talk.hear(&format!("<{number}-{round}>"));
                }
                assert_eq!(talk.end("\x04").end, Some(Ended::Code(0)));
            });
        }
    });
}
