//! Profiles for macOS, read back by a reader of our own.

use std::path::Path;

use fence::seatbelt::{Site, environment, profile};
use fence::{Access, Host, Network, Plan, Reach};
use proptest::prelude::*;

use super::plan;
use super::sbpl::Profile;

fn site() -> Site {
    Site { scratch: "/private/var/folders/zz/bailiwick.1".into(), proxy: Some(4567) }
}

fn read(plan: &Plan) -> Profile {
    Profile::read(&profile(plan, &site()).unwrap())
}

fn mac() -> Plan {
    let places = [
        ("/Users/me/ws", Access::Write),
        ("/Users/me/ws/.git", Access::Write),
        ("/Users/me/ws/.git/hooks", Access::Protected),
        ("/Users/me/ws/.env", Access::Hidden),
        ("/Users/me", Access::Scratch),
        ("/Users/me/.cargo", Access::Read),
        ("/Users/me/.cargo/credentials", Access::Hidden),
        ("/Users/me/.gitconfig", Access::Link("/Users/me/dot/gitconfig".into())),
        ("/usr", Access::Read),
        ("/bin", Access::Read),
        ("/etc", Access::Link("private/etc".into())),
        ("/etc/sudoers", Access::Hidden),
        ("/tmp", Access::Scratch),
        ("/tmp/job", Access::Write),
    ];
    let mut plan = plan(&places);
    plan.forbidden = vec!["/Users/me/ws/.vscode".into(), "/Users/me/ws/.github/workflows".into()];
    plan
}

#[test]
fn a_profile_allows_what_the_plan_says() {
    let found = read(&mac());
    // Path, read, write.
    let rows = [
        ("/Users/me/ws/src/main.rs", true, true),
        ("/Users/me/ws/.git/index", true, true),
        ("/Users/me/ws/.git/hooks/pre-commit", true, false),
        ("/Users/me/ws/.env", false, false),
        ("/Users/me/ws/.envx", true, true),
        ("/Users/me/notes", false, false),
        ("/Users/me/.ssh/key", false, false),
        ("/Users/me/.cargo/bin/cargo", true, false),
        ("/Users/me/.cargo/credentials", false, false),
        ("/Users/me/.gitconfig", true, false),
        ("/Users/other/x", false, false),
        ("/usr/bin/env", true, false),
        ("/System/Library/x", true, false),
        ("/System/Volumes/Data/Users/me/.ssh/key", false, false),
        ("/private/etc/hosts", true, false),
        ("/private/etc/sudoers", false, false),
        ("/private/etc/master.passwd", false, false),
        ("/private/tmp/other", false, false),
        ("/private/tmp/job/x", true, true),
        ("/private/var/db/other", false, false),
        ("/private/var/folders/zz/bailiwick.1/x", true, true),
        ("/private/var/folders/zz/other", false, false),
        ("/dev/null", true, true),
        ("/dev/ttys003", true, true),
        ("/dev/disk0", false, false),
        ("/Library/Keychains/System.keychain", false, false),
    ];
    for (path, reads, writes) in rows {
        assert_eq!(found.allows("file-read-data", path), reads, "read {path}");
        assert_eq!(found.allows("file-write-data", path), writes, "write {path}");
    }
    for link in ["/tmp", "/var", "/etc", "/Users", "/Users/me"] {
        assert!(found.allows("file-read-metadata", link), "{link}");
    }
    assert!(!found.allows("file-read-data", "/Users/me"), "its names are not listed");
    assert!(!found.allows("file-link", "/Users/me/ws/x"));
    assert!(!found.allows("file-write-setugid", "/Users/me/ws/x"));
    assert!(!found.allows("iokit-open", ""));
    assert!(found.allows("process-exec", "/usr/bin/env") && !found.allows("process-exec", "/Users/me/x"));
    assert!(found.allows("mach-lookup", "com.apple.system.opendirectoryd.libinfo"));
    for service in
        ["com.apple.securityd.xpc", "com.apple.coreservices.launchservicesd", "com.apple.trustd.agent"]
    {
        assert!(!found.allows("mach-lookup", service), "{service}");
    }
    assert!(found.allows("sysctl-read", "hw.ncpu") && !found.allows("sysctl-read", "kern.procargs2"));
}

#[test]
fn names_that_hold_something_cannot_be_moved_away() {
    let found = read(&mac());
    for path in [
        "/Users/me/ws",
        "/Users/me/ws/.git",
        "/Users/me/ws/.git/hooks",
        "/Users/me/ws/.github",
        "/private/tmp/job",
    ] {
        assert!(!found.allows("file-write-unlink", path), "{path}");
    }
    for path in ["/Users/me/ws/src", "/Users/me/ws/.git/index.lock"] {
        assert!(found.allows("file-write-unlink", path), "{path}");
    }
}

#[test]
fn a_forbidden_name_comes_into_being_in_no_spelling() {
    let found = read(&mac());
    for path in [
        ".vscode",
        ".vscode/tasks.json",
        ".VSCode",
        ".v\u{17f}code/x",
        ".github/workflows",
        ".github/workflows/ci.yml",
        ".GitHub/WorkFlows/ci.yml",
        ".github/wor\u{212a}\u{fb02}ows",
        ".github/work\u{fb02}ow\u{17f}/x",
        // A directory that holds it already could be moved here.
        ".github",
        ".GITHUB",
    ] {
        assert!(!found.allows("file-write-create", &format!("/Users/me/ws/{path}")), "{path}");
    }
    for path in ["vscode", ".vscodes", "xvscode", "a/.vscode", ".github/x", ".github/workflow", "src"] {
        assert!(found.allows("file-write-create", &format!("/Users/me/ws/{path}")), "{path}");
    }
    assert!(!found.allows("network-bind", "/Users/me/ws/.vscode/socket"));
}

#[test]
fn no_repository_is_made_where_it_would_have_to_be_looked_at() {
    let found = read(&Plan { fresh: vec!["/Users/me/ws/sub/.git".into()], ..mac() });
    for path in [".git", ".git/config", ".Git/hooks/x"] {
        assert!(!found.allows("file-write-create", &format!("/Users/me/ws/sub/{path}")), "{path}");
    }
}

#[test]
fn connections_are_none_named_or_of_the_network() {
    let sockets =
        ["/var/run/docker.sock", "/private/var/run/docker.sock", "/Users/me/.ssh/agent", "/Users/me/ws/.env"];
    let host = Host::parse("example.org").unwrap();
    for (network, rows) in [
        (Network::Off, [false, false, false, false]),
        (Network::Allow(Vec::new()), [false, false, false, false]),
        (Network::Allow(vec![host]), [true, false, false, false]),
        (Network::Open, [true, true, true, true]),
    ] {
        let plan = Plan { network: network.clone(), ..mac() };
        let found = read(&plan);
        let addresses = ["localhost:4567", "localhost:5432", "10.0.0.1:80"];
        for (address, allowed) in addresses.iter().zip(rows) {
            assert_eq!(found.allows("network-outbound", address), allowed, "{network:?} {address}");
        }
        assert_eq!(found.allows("mach-lookup", "com.apple.trustd.agent"), rows[3]);
        assert_eq!(found.allows("network-outbound", "/private/var/run/mDNSResponder"), rows[3]);
        for socket in sockets {
            assert!(!found.allows("network-outbound", socket), "{network:?} {socket}");
        }
        assert!(found.allows("network-outbound", "/Users/me/ws/server.sock"));
        assert!(found.allows("network-bind", "/Users/me/ws/server.sock"));
    }
    let named = Plan { network: Network::Allow(vec![Host::parse("a.org").unwrap()]), ..mac() };
    for proxy in [None, Some(0)] {
        assert!(profile(&named, &Site { proxy, ..site() }).is_err());
    }
}

#[test]
fn what_is_written_to_scratch_runs_only_where_the_plan_says_so() {
    let path = "/private/var/folders/zz/bailiwick.1/x";
    assert!(read(&mac()).allows("process-exec", path));
    let found = read(&Plan { execute_scratch: false, ..mac() });
    assert!(!found.allows("process-exec", path) && !found.allows("file-map-executable", path));
    assert!(found.allows("file-write-data", path) && found.allows("process-exec", "/Users/me/ws/x"));
    let environment = environment(&mac(), &site());
    assert_eq!(environment.get(std::ffi::OsStr::new("TMPDIR")), Some(&site().scratch.into()));
}

#[test]
fn a_scratch_place_that_is_part_of_the_plan_is_refused() {
    for scratch in ["/Users/me/ws/tmp", "/Users/me/ws/.env/x", "/Users", "/usr/x", "/tmp/job", "relative"] {
        assert!(profile(&mac(), &Site { scratch: scratch.into(), proxy: None }).is_err(), "{scratch}");
    }
    assert!(profile(&mac(), &Site { scratch: "/tmp/bailiwick.1".into(), proxy: None }).is_ok());
}

#[test]
fn paths_mean_themselves_or_are_refused() {
    for path in [
        "/a b",
        "/a\"b",
        "/a\\b",
        "/a\\\"b",
        "/a(b",
        "/ünï/日本",
        "/a;b",
        "/a'b",
        "/a.*b",
        "/a\") (allow default) (\"",
    ] {
        let mut plan = plan(&[(path, Access::Write)]);
        plan.forbidden = vec![Path::new(path).join(".x")];
        let found = read(&plan);
        assert!(found.allows("file-write-data", &format!("{path}/x")), "{path}");
        assert!(!found.allows("file-write-create", &format!("{path}/.X")), "{path}");
        assert!(
            !found.allows("file-write-data", "/a") && !found.allows("file-write-data", "/aXb/y"),
            "{path}"
        );
    }
    for path in ["relative", "/a/../b", "/a\nb", "/a\0b", "/a\u{7f}", "/a\u{85}b"] {
        assert!(profile(&plan(&[(path, Access::Read)]), &site()).is_err(), "{path:?}");
    }
    let mut plan = plan(&[("/ws", Access::Write)]);
    for name in ["/ws/é", "/ws/tttttttttt"] {
        plan.forbidden = vec![name.into()];
        assert!(profile(&plan, &site()).is_err(), "{name}");
    }
}

const NAMES: [&str; 10] = [
    "/a",
    "/a/b",
    "/a/b/c",
    "/a/b/c/d",
    "/a/x",
    "/tmp",
    "/tmp/a",
    "/tmp/a/b",
    "/private/tmp/a/b/c",
    "/var/q",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_profile_says_what_the_plan_says_of_every_path(
        chosen in proptest::collection::vec((0..NAMES.len(), 0..5_u8), 1..8),
        forbidden in proptest::collection::vec(0..NAMES.len(), 0..2),
    ) {
        let access = |number| match number {
            0 => Access::Read,
            1 => Access::Write,
            2 => Access::Protected,
            3 => Access::Scratch,
            _ => Access::Hidden,
        };
        let places: Vec<_> = chosen.iter().map(|(name, kind)| (NAMES[*name], access(*kind))).collect();
        let mut plan = plan(&places);
        plan.forbidden = forbidden.iter().map(|name| Path::new(NAMES[*name]).join("no")).collect();
        let found = Profile::read(&profile(&plan, &site()).unwrap());
        // Places by one spelling.
        let short = |path: &Path| match path.strip_prefix("/private") {
            Ok(rest) => Path::new("/").join(rest),
            Err(_) => path.to_path_buf(),
        };
        let places = plan.places.iter().map(|(place, access)| (short(place), access.clone())).collect();
        let merged = Plan { places, ..plan.clone() };
        for path in NAMES.iter().flat_map(|name| ["", "/y", "/no"].map(|end| format!("{name}{end}"))) {
            let spoken = short(Path::new(&path));
            let real = match spoken.starts_with("/a") {
                true => spoken.to_str().unwrap().to_owned(),
                false => format!("/private{}", spoken.display()),
            };
            let scratch = spoken.ancestors().find_map(|above| merged.places.get(above)) == Some(&Access::Scratch);
            let reach = if scratch { Reach::None } else { merged.reach(&spoken) };
            let kept_away = plan.forbidden.iter().any(|name| spoken.starts_with(short(name)));
            let writes = reach == Reach::Write && !kept_away;
            prop_assert_eq!(found.allows("file-read-data", &real), reach >= Reach::Read, "read {}", real);
            prop_assert_eq!(found.allows("process-exec", &real), reach >= Reach::Read, "execute {}", real);
            prop_assert_eq!(found.allows("file-write-data", &real), writes, "write {}", real);
            prop_assert_eq!(found.allows("network-outbound", &real), writes, "connect to {}", real);
            if merged.places.contains_key(&spoken) {
                prop_assert!(!found.allows("file-write-unlink", &real), "move {}", real);
            }
        }
    }
}
