//! The loop as a front end drives it: events out, commands in, questions answered by command.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "helpers of a test may fail as the test itself may, and it has files of its own"
)]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use door_agent::{
    Address, Client, Command, Conversation, Event, Failure, Handle, Limits, Manner, Mode, Model, Provider,
    Start, Switchboard, What, mode_of,
};
use gate::approval::{Answer as Said, Decision, Queue};
use gate::call::{DigestKey, Principal};
use gate::tools::{Given, HumanAnswer};
use gate::{Desk, Gate, Hands, Machine, Wanted, load};
use serde_json::json;

mod scripted;

use scripted::{Answer, Protocol, Server, call, calls, text};

/// A gate of its own for a test, with a front end that answers by command.
struct Stage {
    directory: PathBuf,
    board: Switchboard,
    gate: Arc<Gate>,
    run: String,
}

impl Stage {
    fn new() -> Stage {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("agent-{}-{number}", std::process::id()));
        std::fs::create_dir_all(directory.join("work")).unwrap();
        let mut world = Machine::world().unwrap();
        world.cwd = directory.join("work");
        (world.managed, world.configuration) = (None, None);
        (world.state, world.keys) = (Some(directory.join("state")), Some(directory.join("keys")));
        let workspace = Some(world.cwd.clone());
        let flags = Some("profile: dev\nrun: {human_timeout_ms: 20000}".to_owned());
        let wanted = Wanted { config: None, flags, workspace: workspace.clone() };
        let config = load(&world, &wanted).unwrap();
        let board = Switchboard::new();
        let providers = vec![board.announcer(), Box::new(Queue) as Box<dyn gate::approval::Provider>];
        let (office, key) = Desk::of(&world, &config).unwrap().office(&config, providers).unwrap();
        let gate = Gate::new(config, world, workspace, DigestKey::from_bytes([1; 32])).running();
        let gate = Arc::new(gate.with_office(office, key));
        Stage { directory, board, gate, run: door_agent::run_name().unwrap() }
    }

    fn start(&self, server: &Server, manner: Manner) -> Handle {
        self.start_within(server, manner, Limits::from(self.gate.config().agent()))
    }

    fn start_within(&self, server: &Server, manner: Manner, limits: Limits) -> Handle {
        let provider = match server.protocol {
            Protocol::OpenAi => Provider::OpenAi,
            Protocol::Anthropic => Provider::Anthropic,
        };
        let address = Address::read(&server.base_url()).unwrap();
        let model = Model { provider, address, name: "scripted".into(), key: None };
        let mut hands = Hands::new().unwrap();
        hands.human = Some(self.board.human(&self.run));
        door_agent::start(Start {
            gate: Arc::clone(&self.gate),
            hands,
            client: Arc::new(Client::new(model).unwrap().waiting_first(Duration::from_millis(5))),
            limits,
            run: self.run.clone(),
            session: self.session(),
            principal: Principal::default(),
            environment: Vec::new(),
            board: self.board.clone(),
            kept: None,
            conversation: Conversation::default(),
            instructions: Some("Be brief.".into()),
            manner,
        })
        .unwrap()
    }

    fn session(&self) -> String {
        format!("{}-s", self.run)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _kept = std::fs::remove_dir_all(&self.directory);
    }
}

/// The next event that is wanted; everything else is passed over.
async fn until<T>(handle: &mut Handle, mut wanted: impl FnMut(&What) -> Option<T>) -> T {
    loop {
        let next = tokio::time::timeout(Duration::from_secs(20), handle.events.recv());
        let Event { what, .. } = next.await.expect("an event in time").expect("a run that goes on");
        if let Some(found) = wanted(&what) {
            return found;
        }
    }
}

async fn ended(handle: &mut Handle) -> What {
    let last = |what: &What| {
        let over = matches!(what, What::RunCompleted { .. } | What::RunFailed { .. } | What::RunCancelled {});
        over.then(|| what.clone())
    };
    until(handle, last).await
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_answered_by_command_one_after_the_other() {
    let stage = Stage::new();
    let asks = |command: &str| ("shell_command", json!({"command": command}));
    let server = Server::following(
        Protocol::Anthropic,
        vec![
            calls(&[asks("git reset --hard; echo one"), asks("git reset --hard; echo two")]),
            call(
                "request_user_input",
                json!({"questions": [{"id": "q", "header": "h", "question": "why?"}]}),
            ),
            text("done"),
        ],
    );
    let mut handle = stage.start(&server, Manner::Task(Some("go".into())));
    for decision in [Decision::Approved, Decision::Denied] {
        let question = until(&mut handle, |what| match what {
            What::ApprovalAsked { question, .. } => Some(question.clone()),
            _ => None,
        })
        .await;
        let open = stage.gate.office().unwrap().approver.coordinator().pending().len();
        assert_eq!(open, 1, "one question at a time");
        let answer = Said::new(decision, "tester").to(&question.asked.key);
        handle.commands.send(Command::Answer { id: question.id(), answer }).await.unwrap();
        let approved = until(&mut handle, |what| match what {
            What::ApprovalSettled { approved, .. } => Some(*approved),
            _ => None,
        });
        assert_eq!(approved.await, decision.is_yes());
    }
    let id = until(&mut handle, |what| match what {
        What::HumanAsked { id, .. } => Some(*id),
        _ => None,
    })
    .await;
    let given = Given { id: "q".into(), choice: None, text: "because".into() };
    handle.commands.send(Command::Reply { id, answer: HumanAnswer::Answers(vec![given]) }).await.unwrap();
    assert!(matches!(ended(&mut handle).await, What::RunCompleted { .. }));
    let seen = server.seen();
    assert!(seen[2].last().contains("because"), "{}", seen[2].last());
    assert!(seen[0].body["system"].to_string().contains("Be brief."));
    let results = &seen[1].texts;
    assert!(results[results.len() - 2].contains("one"), "{results:?}");
    assert!(results[results.len() - 1].contains("said no"), "{results:?}");
    assert!(handle.events.recv().await.is_none(), "nothing comes after the end");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_takes_an_open_question_back_and_the_next_turn_goes_on() {
    let stage = Stage::new();
    let server = Server::start(Protocol::OpenAi, |seen, _| {
        if seen.last().contains("reset") {
            call("shell_command", json!({"command": "git reset --hard"}))
        } else {
            text("well")
        }
    });
    let mut handle = stage.start(&server, Manner::Chat);
    handle.commands.send(Command::Say("reset it".into())).await.unwrap();
    until(&mut handle, |what| matches!(what, What::ApprovalAsked { .. }).then_some(())).await;
    handle.commands.send(Command::Interrupt).await.unwrap();
    let interrupted = |what: &What| match what {
        What::TurnEnded { interrupted, .. } => Some(*interrupted),
        _ => None,
    };
    assert!(until(&mut handle, interrupted).await);
    assert!(stage.gate.office().unwrap().approver.coordinator().is_empty());
    handle.commands.send(Command::Say("hello".into())).await.unwrap();
    assert!(!until(&mut handle, interrupted).await);
    let last = server.seen().last().unwrap().all();
    assert!(last.contains("taken back") || last.contains("cancelled") || last.contains("stopped"), "{last}");
    handle.commands.send(Command::Finish).await.unwrap();
    assert!(matches!(ended(&mut handle).await, What::RunCompleted { .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn modes_approve_what_they_say_and_no_more() {
    let stage = Stage::new();
    let server = Server::start(Protocol::Anthropic, |seen, _| match seen.last() {
        "write" => call("file_write", json!({"path": ".git/hooks/pre-commit", "content": "x"})),
        "reset" => call("shell_command", json!({"command": "git reset --hard"})),
        "sudo" => call("shell_command", json!({"command": "sudo ls"})),
        _ => text("done"),
    });
    let mut handle = stage.start(&server, Manner::Chat);
    // What is said in which mode, and whether anybody is asked about it.
    let table = [
        (Mode::Default, "write", true),
        (Mode::Edit, "write", false),
        (Mode::Edit, "reset", true),
        (Mode::Auto, "reset", false),
        (Mode::Auto, "sudo", false),
        (Mode::Default, "reset", true),
    ];
    for (mode, said, asked) in table {
        handle.commands.send(Command::SetMode(mode)).await.unwrap();
        let changed = |what: &What| match what {
            What::ModeChanged { mode, seconds_left } => Some((*mode, *seconds_left)),
            _ => None,
        };
        let (now, left) = until(&mut handle, changed).await;
        assert_eq!((now, left.is_some()), (mode, mode != Mode::Default));
        assert_eq!(mode_of(&stage.gate, &stage.session()).0, mode);
        handle.commands.send(Command::Say(said.into())).await.unwrap();
        let (mut questions, mut decision) = (0, "");
        loop {
            let event = handle.events.recv().await.unwrap();
            match event.what {
                What::ApprovalAsked { question, .. } => {
                    questions += 1;
                    // Approved, so that no denial is counted.
                    let answer = Said::new(Decision::Approved, "tester").to(&question.asked.key);
                    handle.commands.send(Command::Answer { id: question.id(), answer }).await.unwrap();
                }
                What::ToolJudged { ruling, .. } => decision = ruling.decision,
                What::TurnEnded { .. } => break,
                _ => {}
            }
        }
        assert_eq!(questions > 0, asked, "{mode:?} {said}");
        assert_eq!(decision == "deny", said == "sudo", "{mode:?} {said}: no mode lifts a denial");
    }
    handle.commands.send(Command::Cancel).await.unwrap();
    assert!(matches!(ended(&mut handle).await, What::RunCancelled {}));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_while_it_works_is_heard_at_the_next_step() {
    let stage = Stage::new();
    let server = Server::following(
        Protocol::OpenAi,
        vec![call("shell_command", json!({"command": "sleep 0.7"})), text("heard"), text("more")],
    );
    let mut handle = stage.start(&server, Manner::Task(Some("go".into())));
    until(&mut handle, |what| matches!(what, What::ToolStarted { .. }).then_some(())).await;
    handle.commands.send(Command::Say("and one thing more".into())).await.unwrap();
    assert!(matches!(ended(&mut handle).await, What::RunCompleted { .. }));
    assert!(server.seen()[1].last().contains("and one thing more"));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_stops_listening_ends_the_run() {
    let stage = Stage::new();
    let server = Server::following(
        Protocol::OpenAi,
        vec![call("shell_command", json!({"command": "touch begun; sleep 765432"}))],
    );
    let mut handle = stage.start(&server, Manner::Task(Some("go".into())));
    until(&mut handle, |what| matches!(what, What::ToolStarted { .. }).then_some(())).await;
    drop(handle);
    let journal = stage.directory.join("state/journal");
    for _ in 0..200 {
        let text = std::fs::read_dir(&journal)
            .unwrap()
            .flatten()
            .map(|entry| std::fs::read(entry.path()).unwrap_or_default());
        if text
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .any(|text| text.contains("run_cancelled"))
        {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_is_too_long_for_the_model_is_shortened_once_and_tried_again() {
    let stage = Stage::new();
    let too_long = || {
        let body = json!({"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}});
        Answer::Status(400, Vec::new(), body.to_string())
    };
    let server = Server::start(Protocol::Anthropic, move |seen, number| match number {
        0 => call("list_dir", json!({"dir_path": "."})),
        1 => too_long(),
        _ if seen.last().contains("about to be shortened") => text("SUMMARY"),
        _ => text("done"),
    });
    let mut handle = stage.start(&server, Manner::Task(Some("go".into())));
    until(&mut handle, |what| matches!(what, What::Compacted { .. }).then_some(())).await;
    assert!(matches!(ended(&mut handle).await, What::RunCompleted { .. }));
    assert!(server.seen().last().unwrap().all().contains("SUMMARY"));

    let always = Stage::new();
    let server = Server::start(Protocol::Anthropic, move |seen, number| match number {
        0 => call("list_dir", json!({"dir_path": "."})),
        _ if seen.last().contains("about to be shortened") => text("SUMMARY"),
        _ => too_long(),
    });
    let mut handle = always.start(&server, Manner::Task(Some("go".into())));
    let end = ended(&mut handle).await;
    assert!(matches!(end, What::RunFailed { reason: Failure::Model, .. }), "{end:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_serves_again() {
    let stage = Stage::new();
    let server = Server::start(Protocol::OpenAi, |_, number| {
        if number < 20 { call("list_dir", json!({"dir_path": "."})) } else { text("done") }
    });
    let mut handle = stage.start(&server, Manner::Task(Some("go".into())));
    assert!(matches!(ended(&mut handle).await, What::RunCompleted { .. }));
    assert_eq!(server.connections(), 1);
}
