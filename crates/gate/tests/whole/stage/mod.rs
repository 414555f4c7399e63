//! A gate in a world of its own: no file of the machine is read.

use std::path::{Path, PathBuf};

use gate::call::{DigestKey, RawCall};
use gate::effects::Files;
use gate::policy::{Base, Config, Fence, Layer, Origin};
use gate::{Disk, Gate, Judgement, World};

/// A disk with nothing on it.
struct NoDisk;

impl Files for NoDisk {
    fn follow(&self, _path: &Path) -> Option<PathBuf> {
        None
    }
}

impl Disk for NoDisk {
    fn read(&self, _path: &Path) -> Result<Option<String>, String> {
        Ok(None)
    }

    fn exists(&self, _path: &Path) -> bool {
        false
    }

    fn content(&self, _path: &Path) -> Option<String> {
        None
    }
}

/// A gate in `/work/project` of the user `/home/user`, with this configuration and no fence.
pub(crate) fn gate(yaml: &str) -> Gate {
    let base = Base { cwd: "/work/project".into(), home: Some("/home/user".into()) };
    let layers = if yaml.is_empty() {
        Vec::new()
    } else {
        vec![Layer::parse(Origin::Given, "test.yaml", yaml).expect("a valid configuration")]
    };
    let config = Config::merge(layers, &base).expect("a valid configuration");
    let world = World {
        cwd: "/work/project".into(),
        home: Some("/home/user".into()),
        user: Some("user".into()),
        managed: None,
        configuration: None,
        state: None,
        keys: None,
        disk: Box::new(NoDisk),
    };
    Gate::new(config, world, Some("/work/project".into()), DigestKey::from_bytes([7; 32]))
        .with_fence(Fence::none("a test has none"))
}

/// What a command gets.
pub(crate) fn judge(gate: &Gate, command: &str) -> Judgement {
    gate.judge(RawCall::command(command)).expect("a well-formed call")
}

/// A small generator: the same seed, the same tests. `BAILIWICK_SEED` repeats a run.
pub(crate) struct Dice(u64);

impl Dice {
    #[expect(clippy::disallowed_methods, reason = "a test may be told its seed")]
    pub(crate) fn new() -> Dice {
        let seed =
            std::env::var("BAILIWICK_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0x5eed_1234);
        println!("BAILIWICK_SEED={seed}");
        Dice(seed)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit).expect("small")).expect("small")
    }
}
