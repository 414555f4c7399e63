//! Which names and paths are what: the tables behind [`crate::classify`]. Data only.
//!
//! Names are compared without regard to case, since some file systems do not have any.

/// A directory whose name starts with a dot, and what below it holds keys, tokens or passwords. An empty list: all
/// of it, the directory itself included. An entry that ends in `*` is the start of a name.
pub(crate) static SECRET_BELOW: &[(&str, &[&str])] = &[
    (".ssh", &[]),
    (".aws", &[]),
    (".azure", &[]),
    (".gnupg", &[]),
    (".password-store", &[]),
    (".mozilla", &[]),
    (".thunderbird", &[]),
    (".keychain", &[]),
    (".keychains", &[]),
    (".secrets", &[]),
    (".oci", &[]),
    (".kube", &["config", "config*"]),
    (".docker", &["config.json"]),
    (".cargo", &["credentials", "credentials.toml"]),
    (".gem", &["credentials"]),
    (".terraform.d", &["credentials*"]),
    (".m2", &["settings.xml", "settings-security.xml"]),
    (".gradle", &["gradle.properties"]),
    (".config", &[
        "gcloud", "gh/hosts.yml", "hub", "op", "google-chrome", "chromium", "brave", "bravesoftware", "microsoft-edge",
        "vivaldi", "opera", "keepassxc", "sops", "age", "rclone/rclone.conf", "glab-cli", "doctl", "heroku",
        "configstore", "containers/auth.json", "pypoetry/auth.toml", "git/credentials", "bitwarden", "1password",
        "netlify", "vercel", "fly", "stripe", "snowflake",
    ]),
    (".local", &["share/keyrings", "share/password-store", "share/kwalletd", "share/kwallet", "share/gnupg"]),
    (".git", &["credentials"]),
    (".bundle", &["config"]),
    (".composer", &["auth.json"]),
    (".nuget", &["nuget.config"]),
    (".claude", &[".credentials.json"]),
    (".codex", &["auth.json"]),
    (".gemini", &["oauth_creds.json"]),
];

/// Names of files that hold keys, tokens or passwords wherever they stand.
pub(crate) static SECRET_NAMES: &[&str] = &[
    ".env", ".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".pgpass", ".my.cnf", ".mylogin.cnf",
    ".vault-token", ".htpasswd", ".boto", ".s3cfg", ".dockercfg", ".rclone.conf", ".yarnrc.yml.credentials",
    "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "identity.key", "credentials",
    "secrets", "login.keychain", "login.keychain-db", "keychain.db", "logins.json", "key3.db", "key4.db",
    "cookies.sqlite", "wallet.dat", "service-account.json", "service_account.json", "application_default_credentials.json",
    ".bash_history", ".zsh_history", ".sh_history", ".python_history", ".node_repl_history", ".psql_history",
    ".mysql_history", ".sqlite_history", ".irb_history", ".rediscli_history", ".lesshst", ".histfile",
    "fish_history", "consolehost_history.txt", "ntds.dit", "shadow-", "gshadow",
];

/// What a name must end in to be a key.
pub(crate) static SECRET_ENDINGS: &[&str] = &[
    ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".asc.key", ".gpg.key", ".p8", ".ovpn",
    ".agekey", ".keytab",
];

/// Names that are a secret with any of [`SECRET_EXTENSIONS`].
pub(crate) static SECRET_STEMS: &[&str] = &["credentials", "secrets"];

/// Source files and documents that are merely called so (`secrets.py`, `credentials.ts`) are ordinary files; these
/// endings are data.
pub(crate) static SECRET_EXTENSIONS: &[&str] = &[
    "json", "yaml", "yml", "toml", "env", "txt", "ini", "cfg", "conf", "xml", "properties", "csv", "db", "sqlite", "enc",
    "gpg", "age", "bak", "old", "backup", "tfvars", "plist", "zip", "tar", "gz",
];

/// Endings of `.env.…` that hold no secret.
pub(crate) static ENV_HARMLESS: &[&str] = &["example", "sample", "template", "dist", "tmpl", "defaults"];

/// Paths, absolute, of keys and passwords. A `*` is one name. With what lies below.
pub(crate) static SECRET_PATHS: &[&str] = &[
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/passwd", "/etc/sudoers", "/etc/sudoers.d",
    "/etc/ssl/private", "/etc/pki/tls/private", "/etc/krb5.keytab", "/etc/master.passwd", "/etc/security/opasswd",
    "/etc/letsencrypt/live", "/etc/letsencrypt/archive", "/etc/kubernetes/admin.conf", "/etc/kubernetes/pki",
    "/etc/rancher/k3s/k3s.yaml", "/etc/NetworkManager/system-connections", "/etc/wireguard", "/etc/openvpn",
    "/proc/*/environ", "/proc/*/mem", "/proc/*/task/*/environ", "/proc/*/task/*/mem", "/proc/kcore", "/dev/mem",
    "/dev/kmem", "/run/secrets", "/var/run/secrets", "/var/lib/docker/secrets", "/run/credentials",
    "/Library/Keychains", "/System/Library/Keychains", "/private/etc/master.passwd", "/private/etc/sudoers",
    "/private/var/db/dslocal", "/var/db/dslocal", "/var/db/shadow",
];

/// Paths below the home directory, with what lies below them.
pub(crate) static SECRET_AT_HOME: &[&str] = &[
    "Library/Keychains", "Library/Application Support/Google/Chrome", "Library/Application Support/Chromium",
    "Library/Application Support/Firefox", "Library/Application Support/BraveSoftware", "Library/Safari",
    "Library/Application Support/Microsoft Edge", "Library/Cookies", "Library/Application Support/1Password",
    "Library/Application Support/Bitwarden", "snap/firefox", "snap/chromium",
    "AppData/Local/Google/Chrome/User Data", "AppData/Roaming/Mozilla",
];

/// Inside the workspace: directories (with all below) and files that decide what runs or who may do what. The first
/// column is a name at any depth, the second what below it is meant (empty: all).
pub(crate) static PROTECTED: &[(&str, &[&str])] = &[
    (".git", &[]),
    (".claude", &[]),
    (".codex", &[]),
    (".gemini", &[]),
    (".cursor", &[]),
    (".opencode", &[]),
    (".github", &["hooks", "workflows", "actions"]),
    (".gitlab", &["ci"]),
    (".circleci", &[]),
    (".vscode", &["settings.json", "tasks.json", "launch.json", "extensions.json", "mcp.json"]),
    (".idea", &[]),
    (".bailiwick", &[]),
    (".bailiwick.yaml", &[]),
    (".bailiwick.yml", &[]),
    (".bailiwick.json", &[]),
    (".mcp.json", &[]),
    (".envrc", &[]),
    (".bashrc", &[]),
    (".zshrc", &[]),
    (".profile", &[]),
    (".bash_profile", &[]),
    (".bash_aliases", &[]),
    (".zshenv", &[]),
    (".zprofile", &[]),
    (".zlogin", &[]),
    (".zlogout", &[]),
    (".bash_login", &[]),
    (".bash_logout", &[]),
    (".kshrc", &[]),
    (".inputrc", &[]),
    (".gitconfig", &[]),
    (".husky", &[]),
    (".pre-commit-config.yaml", &[]),
    (".lefthook.yml", &[]),
    (".gitlab-ci.yml", &[]),
    (".vimrc", &[]),
    (".exrc", &[]),
    (".config", &["fish", "autostart", "systemd", "git"]),
];

/// What a tool makes again: names of directories and files at any depth of the workspace.
pub(crate) static GENERATED: &[&str] = &[
    "target", "build", "dist", "out", "node_modules", ".venv", "venv", "__pycache__", ".pytest_cache", ".mypy_cache",
    ".ruff_cache", ".tox", ".nox", ".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".cache", "coverage",
    "htmlcov", ".coverage", ".gradle", ".terraform", ".eggs", ".hypothesis", ".ipynb_checkpoints", ".nyc_output",
    ".output", ".vite", ".angular", ".dart_tool", "cmake-build-debug", "cmake-build-release", ".zig-cache", "zig-cache",
    "zig-out", "_build", ".stack-work", "dist-newstyle", "elm-stuff", "bower_components", ".DS_Store", "tmp",
    "storybook-static", ".serverless", ".aws-sam", "cdk.out", ".bundle", "Pods", "DerivedData", "test-results",
    "playwright-report", ".sass-cache", ".eslintcache", ".pyre", ".pytype", "site-packages", "wheelhouse",
];

/// Endings of names that a tool makes again.
pub(crate) static GENERATED_ENDINGS: &[&str] =
    &[".egg-info", ".pyc", ".pyo", ".o", ".obj", ".class", ".tsbuildinfo", ".log", ".gcda", ".gcno", ".profraw"];

/// Directories of the operating system, absolute.
pub(crate) static SYSTEM: &[&str] = &[
    "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/boot", "/opt", "/var", "/sys", "/proc",
    "/dev", "/run", "/System", "/Library", "/Applications", "/private/etc", "/private/var", "/root", "/snap", "/nix",
    "/cores", "/efi", "/initrd", "/lost+found", "/c/Windows", "/mnt/c/Windows", "/mnt/c/Program Files",
    "/c/Program Files", "/cygdrive/c/Windows",
];

/// Directories for temporary files, absolute.
pub(crate) static TEMPORARY: &[&str] =
    &["/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm", "/var/folders", "/private/var/folders"];

/// Devices that nothing is touched through.
pub(crate) static NOWHERE: &[&str] = &[
    "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/random", "/dev/urandom",
    "/dev/full", "/dev/fd", "/proc/self/fd",
];
