//! A first policy for a project: which languages and tools it uses, and which of their commands may run.
//!
//! A workspace file may only tighten, since an agent can write there. So what allows goes into the user's own
//! configuration, and the project's file holds what is stricter here than elsewhere.

use std::fmt::Write as _;

/// Two files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Starter {
    /// For the user's configuration directory, `config.yaml`.
    pub user: String,
    /// For the project, `.bailiwick.yaml`.
    pub workspace: String,
    /// What was recognised, for people.
    pub recognised: Vec<&'static str>,
}

/// A language or tool, the files that give it away, and its commands to build, test, check and format.
struct Kind {
    title: &'static str,
    files: &'static [&'static str],
    commands: &'static [&'static str],
}

const KINDS: &[Kind] = &[
    Kind {
        title: "Rust",
        files: &["Cargo.toml"],
        commands: &["cargo build", "cargo check", "cargo test", "cargo clippy", "cargo fmt", "cargo doc"],
    },
    Kind {
        title: "Node.js",
        files: &["package.json"],
        commands: &[
            "npm test",
            "npm run build",
            "npm run test",
            "npm run lint",
            "npm run typecheck",
            "npx tsc",
        ],
    },
    Kind {
        title: "pnpm",
        files: &["pnpm-lock.yaml"],
        commands: &["pnpm test", "pnpm build", "pnpm lint", "pnpm run build", "pnpm run test"],
    },
    Kind {
        title: "Yarn",
        files: &["yarn.lock"],
        commands: &["yarn test", "yarn build", "yarn lint", "yarn run build", "yarn run test"],
    },
    Kind {
        title: "Bun",
        files: &["bun.lock", "bun.lockb"],
        commands: &["bun test", "bun run build", "bun run test"],
    },
    Kind {
        title: "Deno",
        files: &["deno.json", "deno.jsonc"],
        commands: &["deno test", "deno check", "deno lint", "deno fmt"],
    },
    Kind {
        title: "Python",
        files: &["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini", "Pipfile"],
        commands: &[
            "pytest",
            "python -m pytest",
            "python3 -m pytest",
            "ruff check",
            "ruff format",
            "mypy",
            "tox",
        ],
    },
    Kind { title: "uv", files: &["uv.lock"], commands: &["uv run pytest", "uv run ruff", "uv run mypy"] },
    Kind {
        title: "Go",
        files: &["go.mod"],
        commands: &["go build", "go test", "go vet", "go fmt", "gofmt", "golangci-lint run"],
    },
    Kind {
        title: "Make",
        files: &["Makefile", "makefile", "GNUmakefile"],
        commands: &["make", "make test", "make build", "make check", "make lint"],
    },
    Kind {
        title: "just",
        files: &["justfile", "Justfile"],
        commands: &["just test", "just build", "just check"],
    },
    Kind { title: "CMake", files: &["CMakeLists.txt"], commands: &["cmake --build build", "ctest"] },
    Kind { title: "Maven", files: &["pom.xml"], commands: &["mvn test", "mvn compile", "mvn verify"] },
    Kind {
        title: "Gradle",
        files: &["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
        commands: &["gradle build", "gradle test", "gradle check"],
    },
    Kind {
        title: ".NET",
        files: &["global.json", "Directory.Build.props"],
        commands: &["dotnet build", "dotnet test", "dotnet format"],
    },
    Kind {
        title: "Ruby",
        files: &["Gemfile", "Rakefile"],
        commands: &["rake test", "bundle exec rspec", "bundle exec rake", "bundle exec rubocop"],
    },
    Kind {
        title: "PHP",
        files: &["composer.json"],
        commands: &["composer test", "vendor/bin/phpunit", "vendor/bin/phpstan"],
    },
    Kind { title: "Elixir", files: &["mix.exs"], commands: &["mix test", "mix compile", "mix format"] },
    Kind { title: "Swift", files: &["Package.swift"], commands: &["swift build", "swift test"] },
    Kind { title: "Zig", files: &["build.zig"], commands: &["zig build", "zig test"] },
    Kind {
        title: "Bazel",
        files: &["MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel"],
        commands: &["bazel build", "bazel test"],
    },
];

/// The first policy for a project that has these files at its top.
#[must_use]
pub fn starter(files: &[&str]) -> Starter {
    let here: Vec<(&Kind, &str)> = KINDS
        .iter()
        .filter_map(|kind| kind.files.iter().find(|file| files.contains(file)).map(|file| (kind, *file)))
        .collect();
    let mut user = String::from(USER_START);
    if here.is_empty() {
        user.push_str("  allowlist: []\n");
    } else {
        user.push_str("  allowlist:\n");
    }
    for (kind, file) in &here {
        let _ = writeln!(user, "    # {}, because of {file}", kind.title);
        for command in kind.commands {
            let _ = writeln!(user, "    - {command}");
        }
    }
    user.push_str(USER_END);
    Starter {
        user,
        workspace: WORKSPACE.to_owned(),
        recognised: here.iter().map(|(kind, _)| kind.title).collect(),
    }
}

/// Whether a text is a user's configuration as [`starter`] writes it, for whatever project, with nothing of the user's own in it.
#[must_use]
pub fn is_starter(text: &str) -> bool {
    let Some(middle) = text.strip_prefix(USER_START).and_then(|rest| rest.strip_suffix(USER_END)) else {
        return false;
    };
    let commands = || KINDS.iter().flat_map(|kind| kind.commands);
    middle.lines().all(|line| match line.strip_prefix("    - ") {
        Some(command) => commands().any(|known| *known == command),
        None => matches!(line, "  allowlist:" | "  allowlist: []") || line.starts_with("    # "),
    })
}

const USER_START: &str = "\
# Bailiwick: what your coding agents may do, in all your projects.
# A project's own .bailiwick.yaml can only be stricter than this file: an agent could write it.
# `bailiwick check 'COMMAND'` tells what would happen with a command and why, `bailiwick policy show` every setting that
# holds with its file and line, and `bailiwick policy test FILE` runs the cases at the end of a file.
config_version: 1

# Where everything starts: dev (few questions), balanced (more), prod (nobody watches).
# In dev, reading and writing inside the project is allowed, programs of the project run behind the fence, what cannot be
# undone is asked about, and credentials, sudo and system files are denied.
profile: dev

safety:
  # What happens with a call that nothing else decides: allow, ask or deny.
  mode: ask

  # Commands that run without a question: the program with its first words. Spelling does not matter (`-rf` is `-fr`), and
  # of a longer line every part must be allowed. Building and testing runs the project's own code; where the host lets a
  # hook rewrite a command, it runs behind the fence all the same.
";

const USER_END: &str = "
  # Commands that never run, whoever agrees; written in the same way.
  denylist: []
  #  - git push --force

  # Paths that are never touched, on top of the built-in list of credentials. `**` is any number of directories.
  denied_paths: []
  #  - ~/private/**

  # Tools of MCP servers that run without a question, by exact name: all others are asked about.
  tool_allowlist: []
  #  - mcp__docs__search

  # A whole class of effects at once: allow, fenced (only where the fence holds), ask or deny.
  #effects:
  #  connect: ask
  #  history: ask

# What commands can reach while they run.
#sandbox:
#  network:
#    mode: allowlist
#    allow: [packages.example.org]

# Rules in order: the first that matches decides, below everything that is denied. Examples are checked at every start.
#rules:
#  - name: look at the cluster
#    action: allow
#    commands: [kubectl get, kubectl describe]
#    reason: it only looks
#    examples:
#      match: [kubectl get pods]
#      not_match: [kubectl delete pod x]

# What you rely on: `bailiwick policy test` with this file tells when it no longer holds.
cases:
  - {command: ls -la, expect: allow}
  - {command: sudo reboot, expect: deny}
  - {command: cat ~/.ssh/id_ed25519, expect: deny}
";

const WORKSPACE: &str = "\
# Bailiwick: what is stricter in this project than elsewhere, for everybody who works on it.
# This file can only tighten. What allows something belongs into your own configuration (`bailiwick policy show` names the
# file): an agent that works here could write this one.
config_version: 1

safety:
  # Commands that never run here: the program with its first words.
  denylist: []
  #  - git push --force
  #  - terraform apply

  # Paths that are never touched here, on top of the built-in list of credentials.
  denied_paths: []
  #  - <cwd>/customers/**

  # A question before everything that writes, or before every command.
  #require_approval_for_writes: true
  #require_approval_for_execute: true

# Rules here can ask or deny, not allow.
#rules:
#  - name: migrations are for people
#    action: ask
#    tools: [Write, Edit]
#    path_patterns: ['/migrations/']
";
