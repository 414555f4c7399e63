//! Questions about real commands, a clock that a test drives, and random numbers that a seed repeats.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use approval::{AskId, Asked, Clock, Moment};
use call::{Call, Descriptors, DigestKey, RawCall, Seen};
use effects::{Analysis, NoFiles, Surroundings};
use policy::{Base, Config, Consultation, Fence, Layer, Origin, Question, Ruling};

/// Everything that a question is made from.
pub(crate) struct Judged {
    pub(crate) ruling: Ruling,
    pub(crate) analysis: Arc<Analysis>,
    pub(crate) asked: Asked,
}

pub(crate) fn config(yaml: &str) -> Config {
    let layer = Layer::parse(Origin::User, "config.yaml", yaml).expect("reads");
    let base = Base { cwd: "/work/project".into(), home: Some("/home/user".into()) };
    Config::merge(vec![layer], &base).expect("merges")
}

/// What a configuration makes of a call, without any fence.
pub(crate) fn judge(config: &Config, raw: RawCall) -> Judged {
    let session = raw.session.clone().unwrap_or_else(|| "s1".into());
    let call = Call::parse(raw).expect("well-formed");
    let descriptors = Descriptors::new();
    let descriptor = descriptors.of(&call);
    let around = Surroundings {
        cwd: Path::new("/work/project"),
        home: Some(Path::new("/home/user")),
        user: Some("user"),
        workspace: Some(Path::new("/work/project")),
        files: &NoFiles,
    };
    let analysis = effects::analyse(&descriptor.intents(&call), &around);
    let text = call.exec().and_then(|exec| match exec.what {
        call::What::Text(text, _) => Some(text),
        call::What::Words(_) => None,
    });
    let fence = Fence::none("a test has none");
    let ruling = config.rule(&Question {
        tool: call.tool(),
        category: descriptor.category(),
        arguments: None,
        text,
        analysis: &analysis,
        sandbox: call.sandbox(),
        escalated: false,
        wall_ms: None,
        memory_mb: None,
        fence: &fence,
        engine: &Consultation::NotConfigured,
    });
    let seen = Seen {
        argv: analysis.words.clone(),
        complex: analysis.complex.map(str::to_owned),
        risk: analysis.risk.level.name(),
        cwd: "/work/project".into(),
    };
    let key = DigestKey::from_bytes([7; 32]);
    let request = descriptor.sanitize_for_approval(&call, &seen, &key);
    let analysis = Arc::new(analysis);
    let asked = Asked::new(
        fresh_id(),
        &session,
        call.tool(),
        request,
        descriptor.approval_key(&call, &seen, &key),
        &ruling,
        Arc::clone(&analysis),
    );
    Judged { ruling, analysis, asked }
}

pub(crate) fn dev() -> Config {
    config("profile: dev")
}

/// A question about a command.
pub(crate) fn asked(command: &str) -> Asked {
    judge(&dev(), RawCall::command(command)).asked
}

pub(crate) fn asked_in(session: &str, command: &str) -> Asked {
    let mut raw = RawCall::command(command);
    raw.session = Some(session.to_owned());
    judge(&dev(), raw).asked
}

/// The same question once more, under another name.
pub(crate) fn again(asked: &Asked) -> Asked {
    Asked { id: fresh_id(), ..asked.clone() }
}

pub(crate) fn fresh_id() -> AskId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    AskId::from_bytes(u128::from(NEXT.fetch_add(1, Ordering::Relaxed)).to_be_bytes())
}

/// A clock that goes only when it is told to.
#[derive(Debug)]
pub(crate) struct TestClock {
    pub(crate) state: Mutex<Times>,
}

#[derive(Debug, Clone)]
pub(crate) struct Times {
    pub(crate) now: Duration,
    pub(crate) boot: &'static str,
    pub(crate) since_boot: Duration,
    pub(crate) date_ms: u64,
}

impl TestClock {
    pub(crate) fn new() -> Arc<TestClock> {
        let times = Times {
            now: Duration::from_secs(1000),
            boot: "boot-1",
            since_boot: Duration::from_secs(5000),
            date_ms: 1_700_000_000_000,
        };
        Arc::new(TestClock { state: Mutex::new(times) })
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Times)) {
        change(&mut self.state.lock().expect("a lock"));
    }

    pub(crate) fn pass(&self, time: Duration) {
        self.change(|times| {
            times.now += time;
            times.since_boot += time;
            times.date_ms += u64::try_from(time.as_millis()).expect("fits");
        });
    }
}

impl Clock for TestClock {
    fn now(&self) -> Duration {
        self.state.lock().expect("a lock").now
    }

    fn moment(&self) -> Option<Moment> {
        let times = self.state.lock().expect("a lock").clone();
        Some(Moment { boot: times.boot.into(), at: times.since_boot })
    }

    fn date_ms(&self) -> u64 {
        self.state.lock().expect("a lock").date_ms
    }
}

/// Random numbers from a seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[usize::try_from(self.below(items.len() as u64)).expect("fits")]
    }
}
