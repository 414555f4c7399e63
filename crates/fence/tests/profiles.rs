//! What other platforms are told so that they hold a plan: as pure as the plan, and tried here without them.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of a test may fail as the test itself may"
)]

mod profiles {
    mod sbpl;
    mod seatbelt;
    mod windows;
    mod wsl;

    use fence::{Access, Limits, Network, Plan};

    /// A plan with these places.
    fn plan(places: &[(&str, Access)]) -> Plan {
        Plan {
            places: places.iter().map(|(path, access)| ((*path).into(), access.clone())).collect(),
            forbidden: Vec::new(),
            fresh: Vec::new(),
            cwd: places.first().map(|(path, _)| (*path).into()).unwrap_or_default(),
            environment: [("TERM".into(), "xterm".into()), ("TMPDIR".into(), "/tmp".into())].into(),
            network: Network::Off,
            limits: Limits {
                memory_mb: 2048,
                wall_ms: Some(1500),
                cpu_s: Some(60),
                processes: 256,
                open_files: 1024,
                file_mb: 1024,
                scratch_mb: 1024,
                output_bytes: 1 << 20,
            },
            execute_scratch: true,
        }
    }
}
