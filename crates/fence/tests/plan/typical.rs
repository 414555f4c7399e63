//! Typical machines, and the plans that are drawn for them.

use std::fmt::Write as _;
use std::path::Path;

use fence::{Access, Host, Network, Plan, Wishes, draw};

use super::field::{Field, wishes};

const MERGED: &str = "
/bin -> usr/bin
/sbin -> usr/sbin
/lib -> usr/lib
/lib64 -> usr/lib64
/usr/bin/bash
/usr/sbin/
/usr/lib/
/usr/lib64/
/usr/local/bin/
/opt/
/etc/passwd
/etc/shadow
/etc/gshadow
/etc/sudoers
/etc/sudoers.d/local
/etc/ssl/certs/ca.pem
/etc/ssl/private/key.pem
/etc/machine-id
/etc/ssh/ssh_host_ed25519_key
/var/lib/dpkg/status
/var/lib/apt/lists/
/var/tmp/
/proc/
/sys/devices/system/
/dev/shm/
/tmp/
/run/docker.sock
/root/
";

const SPLIT: &str = "
/bin/sh
/sbin/init
/lib/ld.so
/lib64/ld.so
/usr/bin/env
/etc/passwd
/etc/shadow
/var/lib/dpkg/status
/tmp/
";

const DEVELOPER: &str = "
/home/me/.bashrc
/home/me/.ssh/id_ed25519
/home/me/.aws/credentials
/home/me/.netrc
/home/me/.config/gh/hosts.yml
/home/me/.config/git/config
/home/me/.gitconfig
/home/me/.cargo/bin/cargo
/home/me/.cargo/credentials.toml
/home/me/.rustup/toolchains/
/home/me/.local/bin/tool
/home/me/.nvm/versions/
/home/me/.m2/repository/
/home/me/.m2/settings.xml
/home/me/.claude/settings.json
/home/me/notes.txt
/home/other/secret
";

const WORKSPACE: &str = "
/home/me/work/.git/HEAD
/home/me/work/.git/config
/home/me/work/.git/hooks/pre-commit.sample
/home/me/work/.git/info/exclude
/home/me/work/.github/workflows/ci.yml
/home/me/work/.vscode/settings.json
/home/me/work/.cargo/config.toml
/home/me/work/.env
/home/me/work/src/main.rs
";

fn lines(parts: &[&str]) -> Field {
    Field::new(parts.iter().flat_map(|part| part.lines()))
}

#[test]
fn a_developer_with_toolchains_gets_them_to_read_and_no_secrets() {
    let field = lines(&[MERGED, DEVELOPER, WORKSPACE]);
    same("developer", &wishes("/home/me/work"), &field);
}

#[test]
fn a_machine_with_directories_at_its_root_gets_those() {
    let field = lines(&[SPLIT, DEVELOPER, WORKSPACE]);
    same("not_merged", &wishes("/home/me/work"), &field);
}

#[test]
fn a_workspace_below_the_private_tmp_is_the_real_one() {
    let field = lines(&[MERGED, DEVELOPER, "/tmp/job/.git/HEAD\n/tmp/job/x\n/tmp/other"]);
    same("below_tmp", &wishes("/tmp/job"), &field);
}

#[test]
fn a_home_that_is_the_workspace_still_hides_its_secrets() {
    let field = lines(&[MERGED, DEVELOPER]);
    same("home_itself", &wishes("/home/me"), &field);
}

#[test]
fn a_workspace_by_a_link_is_what_the_link_leads_to() {
    let field = lines(&[MERGED, DEVELOPER, "/data/work/.git/HEAD\n/home/me/work -> /data/work"]);
    same("symlinked", &wishes("/home/me/work"), &field);
}

const TREE: &str = "
/home/me/main/.git/HEAD
/home/me/main/.git/config
/home/me/main/.git/hooks/post-checkout
/home/me/main/.git/worktrees/side/HEAD
/home/me/main/.git/worktrees/side/commondir = ../..
/home/me/main/.git/worktrees/other/commondir = ../..
/home/me/side/src/
/home/me/side/.git = gitdir: /home/me/main/.git/worktrees/side
";

#[test]
fn a_linked_worktree_gets_the_repository_that_knows_it() {
    let honest = "/home/me/main/.git/worktrees/side/gitdir = /home/me/side/.git";
    same("worktree", &wishes("/home/me/side"), &lines(&[MERGED, TREE, honest]));
    let only_read = Wishes { read_only: true, ..wishes("/home/me/side") };
    same("worktree_read_only", &only_read, &lines(&[MERGED, TREE, honest]));
}

#[test]
fn a_forged_worktree_gets_nothing() {
    let forged = "/home/me/main/.git/worktrees/side/gitdir = /home/me/elsewhere/.git";
    same("worktree_forged", &wishes("/home/me/side"), &lines(&[MERGED, TREE, forged]));
    // A whole repository of the workspace's own making, which says that the private directory belongs to something else.
    let made = "
/home/me/side/.git = gitdir: fake/worktrees/x
/home/me/side/fake/worktrees/x/gitdir = /home/me/side/.git
/home/me/side/fake/worktrees/x/commondir = ../../../../.ssh
/home/me/.ssh/id_rsa
";
    let plan = draw(&wishes("/home/me/side"), &lines(&[MERGED, made])).unwrap();
    assert_eq!(plan.places.get(Path::new("/home/me/.ssh")), Some(&Access::Hidden));
    let pointers = ["/", "/etc", "/home/me/.ssh", "/home/me", "relative"];
    for pointer in pointers {
        let text =
            format!("/home/me/side/.git = gitdir: {pointer}\n/home/me/.ssh/gitdir = /home/me/side/.git");
        let plan = draw(&wishes("/home/me/side"), &lines(&[MERGED, &text])).unwrap();
        let outside: Vec<_> = plan
            .places
            .iter()
            .filter(|(path, access)| **access == Access::Write && !path.starts_with("/home/me/side"))
            .collect();
        assert!(outside.is_empty(), "{pointer}: {outside:?}");
    }
}

#[test]
fn without_a_home_there_is_none() {
    let plain = Wishes { home: None, environment: Vec::new(), ..wishes("/srv/work") };
    same("no_home", &plain, &lines(&[MERGED, "/srv/work/a"]));
}

#[test]
fn in_production_nothing_of_the_machine_is_written() {
    let prod = Wishes {
        read_only: true,
        execute_scratch: false,
        write: vec!["/data/out".into()],
        network: Network::Allow(vec![Host::parse("*.example.org:443").unwrap()]),
        hide: vec!["/data/out/private".into(), "/home/me/work/src".into()],
        ..wishes("/home/me/work")
    };
    let field = lines(&[MERGED, DEVELOPER, WORKSPACE, "/data/out/private/x"]);
    same("production", &prod, &field);
}

#[test]
fn settings_that_are_links_are_shown_as_such() {
    let dotfiles = "
/home/me/dotfiles/gitconfig
/home/me/.gitconfig -> dotfiles/gitconfig
/home/me/.cargo -> /
/home/me/.ssh -> /home/me/dotfiles/keys
/home/me/dotfiles/keys/id_rsa
/home/me/work/.vscode -> editor
/home/me/work/editor -> settings/editor
/home/me/work/settings/editor/tasks.json
/home/me/work/.claude -> later
/home/me/work/.git/HEAD
";
    same("links", &wishes("/home/me/work"), &lines(&[MERGED, dotfiles]));
}

#[test]
fn permission_to_read_takes_nothing_away() {
    let field = lines(&[MERGED, DEVELOPER, WORKSPACE, "/data/in/x"]);
    let plain = Wishes { write: vec!["/data".into()], ..wishes("/home/me/work") };
    let named = ["/home/me/work", "/home/me/work/src", "/home/me/work/.vscode", "/data/in"];
    let more = Wishes { read: named.map(Into::into).into(), ..plain.clone() };
    assert_eq!(draw(&more, &field).unwrap().places, draw(&plain, &field).unwrap().places);
}

/// The plan as text equals the one that is stored.
#[expect(clippy::disallowed_methods, reason = "plans are stored beside the test")]
fn same(name: &str, wishes: &Wishes, field: &Field) {
    let found = shown(&draw(wishes, field).unwrap());
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans").join(format!("{name}.txt"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&stored, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&stored).unwrap_or_default();
    assert!(found == expected, "{name} is now\n{found}\nand was\n{expected}");
}

fn shown(plan: &Plan) -> String {
    let mut text = String::new();
    for (path, access) in &plan.places {
        let _infallible = match access {
            Access::Link(target) => writeln!(text, "link {} -> {}", path.display(), target.display()),
            access => writeln!(text, "{} {}", access.name(), path.display()),
        };
    }
    for path in &plan.forbidden {
        let _infallible = writeln!(text, "forbidden {}", path.display());
    }
    for path in &plan.fresh {
        let _infallible = writeln!(text, "fresh {}", path.display());
    }
    let _infallible = writeln!(text, "cwd {}", plan.cwd.display());
    for (name, value) in &plan.environment {
        let _infallible = writeln!(text, "environment {}={}", name.display(), value.display());
    }
    let network = match &plan.network {
        Network::Off => "off".to_owned(),
        Network::Open => "open".to_owned(),
        Network::Allow(hosts) => hosts.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
    };
    let _infallible = writeln!(text, "network {network}\nexecute scratch {}", plan.execute_scratch);
    text
}
