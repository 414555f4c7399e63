//! Variables that change what programs run.

use crate::arg::Arg;
use crate::effect::Peer;
use crate::hosts;

/// What setting a variable can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It loads code or says where programs are found.
    Always,
    /// It names a program; well-known viewers and editors are harmless.
    Tool,
    /// It says how much is told, or into which file.
    Trace,
    /// It names a machine; this one is harmless.
    Machine,
}

/// Names, in groups. A `*` at the end stands for any rest, at the start for any beginning.
static NAMES: &[(Kind, &[&str])] = &[
    (
        Kind::Always,
        &[
            // The loader.
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "LD_AUDIT",
            "LD_DEBUG_OUTPUT",
            "LD_PROFILE_OUTPUT",
            "LD_ORIGIN_PATH",
            "DYLD_*",
            "GCONV_PATH",
            "NLSPATH",
            "LOCPATH",
            "MALLOC_TRACE",
            "GLIBC_TUNABLES",
            "OPENSSL_CONF",
            "OPENSSL_ENGINES",
            "OPENSSL_MODULES",
            "GTK_MODULES",
            "QT_PLUGIN_PATH",
            // The shell.
            "PATH",
            "BASH_ENV",
            "ENV",
            "PROMPT_COMMAND",
            "ZDOTDIR",
            "BASH_FUNC_*",
            "SHELLOPTS",
            "BASHOPTS",
            "PS0",
            "PS4",
            "BASH_LOADABLES_PATH",
            "FPATH",
            "HOME",
            "XDG_CONFIG_HOME",
            "SHELL",
            // git.
            "GIT_SSH",
            "GIT_SSH_COMMAND",
            "GIT_EXTERNAL_DIFF",
            "GIT_CONFIG*",
            "GIT_EXEC_PATH",
            "GIT_TEMPLATE_DIR",
            "GIT_PROXY_COMMAND",
            "GIT_ASKPASS",
            "SSH_ASKPASS",
            "GIT_DIR",
            "GIT_COMMON_DIR",
            "GIT_ALTERNATE_OBJECT_DIRECTORIES",
            "GIT_ALLOW_PROTOCOL",
            "SUDO_ASKPASS",
            "GIT_SSL_NO_VERIFY",
            "HGRCPATH",
            // Interpreters.
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "PYTHONHOME",
            "PYTHONINSPECT",
            "PYTHONWARNINGS",
            "PYTHONBREAKPOINT",
            "PYTHONEXECUTABLE",
            "PYTHONUSERBASE",
            "PYTHONPLATLIBDIR",
            "NODE_OPTIONS",
            "NODE_PATH",
            "NODE_REPL_EXTERNAL_MODULE",
            "PERL5LIB",
            "PERLLIB",
            "PERL5OPT",
            "PERL5DB",
            "RUBYOPT",
            "RUBYLIB",
            "GEM_PATH",
            "GEM_HOME",
            "BUNDLE_GEMFILE",
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "MAVEN_OPTS",
            "GRADLE_OPTS",
            "SBT_OPTS",
            "CLASSPATH",
            "PHPRC",
            "PHP_INI_SCAN_DIR",
            "LUA_INIT*",
            "LUA_PATH",
            "LUA_CPATH",
            "JULIA_LOAD_PATH",
            "R_PROFILE*",
            "R_ENVIRON*",
            "TCLLIBPATH",
            "AWKPATH",
            "AWKLIBPATH",
            "ERL_FLAGS",
            "ERL_AFLAGS",
            "ELIXIR_ERL_OPTIONS",
            "DOTNET_STARTUP_HOOKS",
            "COMPlus_*",
            "CORECLR_PROFILER*",
            "CORECLR_ENABLE_PROFILING",
            "DENO_*",
            // Building.
            "MAKEFLAGS",
            "MFLAGS",
            "GNUMAKEFLAGS",
            "MAKEFILES",
            "RUSTC",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "RUSTDOC",
            "RUSTFMT",
            "CARGO_*RUNNER",
            "CARGO_BUILD_RUSTC*",
            "CARGO_HOME",
            "CARGO_REGISTRIES_*",
            "RUSTUP_TOOLCHAIN",
            "CC",
            "CXX",
            "CMAKE_TOOLCHAIN_FILE",
            "GOFLAGS",
            "GOPROXY",
            "GOINSECURE",
            "GONOSUMDB",
            "GONOSUMCHECK",
            "GOSUMDB",
            "NPM_CONFIG_*",
            "npm_config_*",
            "YARN_RC_FILENAME",
            "YARN_*",
            "PIP_INDEX_URL",
            "PIP_EXTRA_INDEX_URL",
            "PIP_CONFIG_FILE",
            "PIP_TRUSTED_HOST",
            "UV_INDEX*",
            "UV_DEFAULT_INDEX",
            "CONDARC",
            "PKG_CONFIG_PATH",
            "LIBRARY_PATH",
            // Where requests go.
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "ALL_PROXY",
            "http_proxy",
            "https_proxy",
            "all_proxy",
            "DOCKER_HOST",
            "NODE_TLS_REJECT_UNAUTHORIZED",
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "CURL_CA_BUNDLE",
            "REQUESTS_CA_BUNDLE",
            "NODE_EXTRA_CA_CERTS",
            "AWS_ENDPOINT_URL*",
            "AWS_CONFIG_FILE",
            "AWS_SHARED_CREDENTIALS_FILE",
            "PGSERVICEFILE",
            "PGSYSCONFDIR",
            "SSH_AUTH_SOCK",
            "CURL_HOME",
            "WGETRC",
            "RSYNC_RSH",
            "CVS_RSH",
            "RSYNC_CONNECT_PROG",
            "KUBECONFIG",
            "BROWSER_ARGS",
            "SSLKEYLOGFILE",
            // Others that run what they hold.
            "LESSOPEN",
            "LESSCLOSE",
            "LESSKEY*",
            "VIMINIT",
            "EXINIT",
            "NVIM_RPLUGIN_MANIFEST",
            "MYVIMRC",
            "VIMRUNTIME",
            "TAR_OPTIONS",
            "TEXINPUTS",
            "XARGS_*",
            "INPUTRC",
            "TERMINFO",
            "TERMINFO_DIRS",
            "TERMCAP",
            "HGPAGER",
            "MAILCAPS",
            "RIPGREP_CONFIG_PATH",
            "FZF_DEFAULT_COMMAND",
            "FZF_DEFAULT_OPTS",
            "SYSTEMD_*",
            "PSQLRC",
            "TMUX_*",
            "ANSIBLE_*",
            "TF_CLI_CONFIG_FILE",
            "TF_CLI_ARGS*",
            "HELM_PLUGINS",
            "KREW_ROOT",
            "PRE_COMMIT_HOME",
            "HUSKY_*",
            "PYTEST_PLUGINS",
            "PYTEST_ADDOPTS",
            "ESLINT_*",
            "BAILIWICK_*",
        ],
    ),
    (
        Kind::Tool,
        &[
            "PAGER",
            "GIT_PAGER",
            "MANPAGER",
            "SYSTEMD_PAGER",
            "PSQL_PAGER",
            "AWS_PAGER",
            "GH_PAGER",
            "DELTA_PAGER",
            "BAT_PAGER",
            "EDITOR",
            "VISUAL",
            "GIT_EDITOR",
            "GIT_SEQUENCE_EDITOR",
            "KUBE_EDITOR",
            "FCEDIT",
            "SUDO_EDITOR",
            "SVN_EDITOR",
            "HGEDITOR",
            "BROWSER",
            "MANOPT",
            "LESS",
        ],
    ),
    (Kind::Trace, &["GIT_TRACE*"]),
    (Kind::Machine, &["PGHOST", "PGHOSTADDR"]),
];

/// Programs that may be a pager or an editor without a question.
static HARMLESS: &[&str] = &[
    "", "cat", "less", "more", "most", "true", ":", "false", "vim", "vi", "nvim", "nano", "emacs", "ed",
    "ex", "pico", "micro", "helix", "hx", "code", "bat", "head", "tail", "echo", "none", "never",
];

/// Whether setting this variable changes what runs later.
pub(crate) fn matters(name: &str, value: Option<&Arg<'_>>) -> bool {
    // Old shells run what follows a function's text in a variable.
    if value.is_some_and(|value| value.lead().starts_with("() {")) {
        return true;
    }
    if name == "PATH" && value.and_then(Arg::text).is_some_and(is_usual) {
        return false;
    }
    let Some(kind) =
        NAMES.iter().find(|(_, names)| names.iter().any(|known| fits(known, name))).map(|(kind, _)| *kind)
    else {
        return false;
    };
    match (kind, value.and_then(Arg::text)) {
        (Kind::Always, _) | (_, None) => true,
        (Kind::Trace, Some(value)) => value.contains('/'),
        // A directory holds a socket of this machine.
        (Kind::Machine, Some(value)) => !value.split(',').all(|host| {
            host.is_empty() || host.starts_with(['/', '@']) || hosts::of_host(host) == Peer::Loopback
        }),
        (Kind::Tool, Some(value)) => {
            let letters_only =
                matches!(name, "LESS" | "MANOPT") && value.split_ascii_whitespace().all(is_letters);
            !(letters_only || is_plain_tool(value))
        }
    }
}

/// A viewer or an editor that everybody knows, with no more than letters for options.
pub(crate) fn is_plain_tool(value: &str) -> bool {
    let mut words = value.split_ascii_whitespace();
    HARMLESS.contains(&words.next().unwrap_or("")) && words.all(is_letters)
}

/// Options such as `less -R` are letters; anything with more to it is looked at by a person.
fn is_letters(word: &str) -> bool {
    word.starts_with('-') && word.bytes().skip(1).all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// A search path of nothing but the system's own directories.
fn is_usual(path: &str) -> bool {
    path.split(':').all(|directory| {
        matches!(
            directory,
            "/bin" | "/usr/bin" | "/sbin" | "/usr/sbin" | "/usr/local/bin" | "/usr/local/sbin"
        )
    })
}

fn fits(known: &str, name: &str) -> bool {
    match known.split_once('*') {
        None => known == name,
        Some((head, tail)) => {
            name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_what_runs_matters() {
        for (name, value, expected) in [
            ("LD_PRELOAD", "./x.so", true),
            ("PATH", "/tmp", true),
            ("PATH", "/usr/bin:/bin", false),
            ("PATH", "/usr/bin::/bin", true),
            ("PAGER", "cat", false),
            ("PAGER", "less -R", false),
            ("GIT_PAGER", "sh -c evil", true),
            ("EDITOR", "./evil", true),
            ("GIT_CONFIG_COUNT", "1", true),
            ("DYLD_INSERT_LIBRARIES", "x", true),
            ("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", "x", true),
            ("CARGO_TERM_COLOR", "always", false),
            ("RUST_BACKTRACE", "1", false),
            ("NODE_ENV", "production", false),
            ("GIT_TRACE", "/tmp/x", true),
            ("GIT_TRACE2_EVENT", "/work/project/.envrc", true),
            ("GIT_TRACE", "1", false),
            ("RUSTFMT", "./x", true),
            ("AWS_CONFIG_FILE", "./x", true),
            ("HGRCPATH", "./x", true),
            ("PGHOST", "db.example.com", true),
            ("PGHOST", "localhost", false),
            ("PGHOST", "/var/run/postgresql", false),
            ("FOO", "bar", false),
        ] {
            assert_eq!(matters(name, Some(&Arg::owned(value))), expected, "{name}={value}");
        }
    }
}
