//! States of a screen for tests, and somebody who looks at it and types.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use door_agent::Mode;
use door_tui::{Action, Event, GrantLine, Happening, PlanStep, Question, Screen, StepStatus, Theme};
use gate::approval::AskId;
use gate::tools::{Cancel, HumanQuestion, Item, Offered};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

/// Somebody before a screen of cells.
pub(crate) struct Viewer {
    pub(crate) screen: Screen,
    terminal: Terminal<TestBackend>,
    now: Duration,
}

pub(crate) type Situation = (&'static str, fn(&mut Viewer));

pub(crate) const SITUATIONS: &[Situation] = &[
    ("empty", |viewer| drop(viewer.happen(started()))),
    ("working", |viewer| working(viewer)),
    ("folded", |viewer| folded(viewer)),
    ("opened", |viewer| {
        folded(viewer);
        viewer.press(KeyCode::Char('o'), KeyModifiers::CONTROL);
    }),
    ("scrolled", |viewer| {
        folded(viewer);
        viewer.press(KeyCode::Char('o'), KeyModifiers::CONTROL);
        viewer.press(KeyCode::PageUp, KeyModifiers::NONE);
    }),
    ("selected", |viewer| {
        folded(viewer);
        viewer.press(KeyCode::Tab, KeyModifiers::NONE);
    }),
    ("approval", |viewer| {
        working(viewer);
        viewer.ask(question(7));
    }),
    ("approval-end", |viewer| {
        working(viewer);
        viewer.ask(question(7));
        viewer.press(KeyCode::End, KeyModifiers::NONE);
    }),
    ("approval-too-soon", |viewer| {
        viewer.ask(question(7));
        viewer.type_text("y");
    }),
    ("explained", |viewer| {
        viewer.ask(question(7));
        viewer.wait(500);
        viewer.type_text("e");
    }),
    ("always", |viewer| {
        viewer.ask(question(7));
        viewer.press(KeyCode::End, KeyModifiers::NONE);
        viewer.press(KeyCode::Home, KeyModifiers::NONE);
        viewer.wait(500);
        for _ in 0..20 {
            viewer.press(KeyCode::Down, KeyModifiers::NONE);
        }
        viewer.type_text("a");
    }),
    ("critical", |viewer| {
        viewer.ask(critical(9));
        viewer.wait(500);
        viewer.type_text("I conf");
    }),
    ("human", |viewer| {
        working(viewer);
        viewer.happen(Happening::HumanAsked {
            id: 3,
            question: human(),
            left: Some(Duration::from_secs(60)),
        });
    }),
    ("human-words", |viewer| {
        viewer.happen(Happening::HumanAsked { id: 3, question: human(), left: None });
        viewer.wait(500);
        viewer.paste("Neither:\nkeep both");
    }),
    ("plan", |viewer| {
        working(viewer);
        viewer.press(KeyCode::Char('p'), KeyModifiers::CONTROL);
    }),
    ("grants", |viewer| {
        viewer.press(KeyCode::Char('g'), KeyModifiers::CONTROL);
        viewer.happen(Happening::Grants(vec![
            GrantLine {
                id: id(1),
                kind: "session",
                what: "git push origin main".into(),
                left: Duration::from_secs(3500),
            },
            GrantLine { id: id(2), kind: "auto", what: "file_write".into(), left: Duration::from_secs(100) },
        ]));
        viewer.press(KeyCode::Down, KeyModifiers::NONE);
    }),
    ("help", |viewer| viewer.press(KeyCode::Char('?'), KeyModifiers::NONE)),
    ("writing", |viewer| {
        working(viewer);
        viewer.paste("Please look at 文件 too,\nand then at the second line of this text, which is long.");
    }),
    ("auto", |viewer| {
        viewer.happen(started());
        viewer.happen(Happening::Mode { mode: Mode::Auto, left: Some(Duration::from_secs(3600)) });
    }),
    ("hostile", |viewer| {
        viewer.happen(started());
        viewer.happen(Happening::Text(
            "bell\u{7} and \u{1b}[2J\u{1b}]0;title\u{7}, rm \u{202e}txt.sj\n".into(),
        ));
        viewer.happen(Happening::Judged {
            call: "h".into(),
            tool: "shell\u{1b}[31m".into(),
            what: "printf '\u{1b}[1A'\nline\u{202e} two".into(),
            decision: "deny",
            reason: "because\n✓ allowed".into(),
            rule: "r\u{9b}".into(),
        });
    }),
    ("denied", |viewer| {
        viewer.happen(started());
        viewer.happen(judged("d", "rm -rf /", "deny"));
        viewer.happen(Happening::Finished {
            call: "d".into(),
            tool: "shell_command".into(),
            ok: false,
            how: "permission".into(),
            result: "denied".into(),
        });
    }),
    ("over", |viewer| {
        folded(viewer);
        viewer.happen(Happening::Ended { ok: false, how: "the run failed: max_steps, 50 of 50".into() });
    }),
];

impl Viewer {
    pub(crate) fn new(width: u16, height: u16) -> Viewer {
        Viewer::with(width, height, Theme::Plain)
    }

    pub(crate) fn with(width: u16, height: u16, theme: Theme) -> Viewer {
        let terminal = Terminal::new(TestBackend::new(width, height)).expect("cells");
        let mut viewer =
            Viewer { screen: Screen::new(theme, "tester"), terminal, now: Duration::from_secs(100) };
        viewer.look();
        viewer
    }

    pub(crate) fn resize(&mut self, width: u16, height: u16) {
        self.terminal.backend_mut().resize(width, height);
        self.look();
    }

    pub(crate) fn tell(&mut self, event: Event) -> Vec<Action> {
        let actions = self.screen.update(event, self.now);
        self.look();
        actions
    }

    pub(crate) fn happen(&mut self, happening: Happening) -> Vec<Action> {
        self.tell(Event::Run(happening))
    }

    pub(crate) fn ask(&mut self, question: Question) {
        self.happen(Happening::Asked { question: Box::new(question), left: Duration::from_secs(300) });
    }

    pub(crate) fn press(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        self.key(code, modifiers);
    }

    pub(crate) fn key(&mut self, code: KeyCode, modifiers: KeyModifiers) -> Vec<Action> {
        self.tell(Event::Key(KeyEvent::new(code, modifiers)))
    }

    pub(crate) fn type_text(&mut self, text: &str) -> Vec<Action> {
        text.chars().flat_map(|letter| self.key(KeyCode::Char(letter), KeyModifiers::NONE)).collect()
    }

    pub(crate) fn paste(&mut self, text: &str) {
        self.tell(Event::Paste(text.into()));
    }

    pub(crate) fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        self.tell(Event::Tick);
    }

    /// Draws.
    pub(crate) fn look(&mut self) {
        let screen = &mut self.screen;
        self.terminal.draw(|frame| screen.draw(frame)).expect("a frame");
        self.screen.was_drawn(self.now);
    }

    pub(crate) fn buffer(&self) -> &Buffer {
        self.terminal.backend().buffer()
    }

    /// The cells as text, spaces at the end of rows left out.
    pub(crate) fn text(&self) -> String {
        let buffer = self.buffer();
        let mut text = String::new();
        for y in 0..buffer.area.height {
            let mut row = String::new();
            let mut skip = 0;
            for x in 0..buffer.area.width {
                let symbol = buffer.cell((x, y)).expect("a cell").symbol();
                // The second cell of a wide character is empty.
                if skip == 0 {
                    row.push_str(symbol);
                    skip = unicode_width::UnicodeWidthStr::width(symbol).saturating_sub(1);
                } else {
                    skip -= 1;
                }
            }
            text.push_str(row.trim_end());
            text.push('\n');
        }
        text
    }
}

pub(crate) fn id(number: u128) -> AskId {
    AskId::from_bytes(number.to_be_bytes())
}

fn started() -> Happening {
    Happening::Started { model: "scripted-1".into() }
}

fn judged(call: &str, what: &str, decision: &'static str) -> Happening {
    Happening::Judged {
        call: call.into(),
        tool: "shell_command".into(),
        what: what.into(),
        decision,
        reason: "it deletes everything that it can reach".into(),
        rule: "floor.delete".into(),
    }
}

fn working(viewer: &mut Viewer) {
    viewer.happen(started());
    viewer.paste("Make the tests pass.");
    viewer.press(KeyCode::Enter, KeyModifiers::NONE);
    viewer.happen(Happening::Step(1));
    viewer.happen(Happening::Plan(vec![
        PlanStep { step: "Run the tests".into(), status: StepStatus::Completed },
        PlanStep { step: "Mend what fails in the reader of 文件".into(), status: StepStatus::InProgress },
        PlanStep { step: "Run them again".into(), status: StepStatus::Pending },
    ]));
    for piece in ["I shall run the te", "sts first, and then see which of them", " fail.\n"] {
        viewer.happen(Happening::Text(piece.into()));
    }
    viewer.happen(judged("c1", "cargo test", "allow"));
    viewer.happen(Happening::Running { call: "c1".into(), tool: "shell_command".into() });
    viewer.happen(Happening::Output { call: "c1".into(), text: "running 2 tests\ntest one ... ok\n".into() });
    viewer.happen(Happening::Tokens { input: 12_345, output: 678, context: 13_000, window: 128_000 });
    viewer.wait(3000);
}

fn folded(viewer: &mut Viewer) {
    working(viewer);
    for number in 1..=40 {
        let text = format!("line {number} of the output\n");
        viewer.happen(Happening::Output { call: "c1".into(), text });
    }
    viewer.happen(Happening::Finished {
        call: "c1".into(),
        tool: "shell_command".into(),
        ok: true,
        how: "exit 0 in 3.1 s".into(),
        result: String::new(),
    });
    viewer.happen(Happening::Text("All of them pass now.".into()));
    viewer.happen(Happening::TurnEnded { interrupted: false });
}

pub(crate) fn question(number: u128) -> Question {
    Question {
        id: id(number),
        key: None,
        level: "MEDIUM",
        principal: "agent".into(),
        tool: "shell_command".into(),
        what: "for file in src/*.rs; do\n    sed -i 's/unwrap()/expect(\"checked above\")/' \"$file\"\ndone; git push origin HEAD:main # the end".into(),
        effects: vec!["write src (in the workspace)".into(), "connect to a service: git".into()],
        risk: "medium: writes, connects".into(),
        reason: "nothing allows it".into(),
        rule: "default (config.yaml:3)".into(),
        place: Some("/work/project".into()),
        confirmation: None,
        session: true,
        always: Some((
            "- name: git push\n  command: git push\n  decision: allow".into(),
            vec!["Of 12 variants of the command it allows 2: git push, git push -v.".into()],
        )),
        more: vec![
            ("The call: command".into(), "for file in src/*.rs; do".into()),
            ("What would run".into(), "sed -i\ngit push origin HEAD:main".into()),
            ("What a yes is bound to".into(), "key 0000\nsession s".into()),
        ],
    }
}

pub(crate) fn critical(number: u128) -> Question {
    Question {
        level: "CRITICAL",
        what: "git push --force --mirror origin".into(),
        effects: vec!["history: rewrite what others have".into()],
        confirmation: Some("I confirm"),
        session: false,
        always: None,
        ..question(number)
    }
}

pub(crate) fn human() -> HumanQuestion {
    let offered = |label: &str, description: Option<&str>| Offered {
        label: label.into(),
        description: description.map(str::to_owned),
    };
    let item = Item {
        id: "form".into(),
        header: Some("Format".into()),
        question: "Which format should the report have?".into(),
        options: vec![
            offered("JSON", Some("for programs")),
            offered("Markdown", None),
            offered("文件", None),
        ],
        own_words: true,
    };
    HumanQuestion { items: vec![item], context: serde_json::Map::new(), cancel: Cancel::new() }
}
