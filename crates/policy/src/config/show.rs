//! What holds and who set it, for `policy show`.

use effects::Class;

use super::Config;
use super::keys::KEYS;
use super::layer::Origin;
use super::node::{At, Node, Value};

/// One line of `policy show`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The key's dotted path.
    pub key: String,
    /// Its value, as YAML would write it in one line.
    pub value: String,
    /// Who set it.
    pub at: At,
}

impl Config {
    /// Every key that decides something, with its value and who set it; lists with one line for each entry.
    #[must_use]
    pub fn shown(&self) -> Vec<Shown> {
        let mut lines = Vec::new();
        let mut push = |key: &str, value: String, at: &At| {
            lines.push(Shown { key: key.into(), value, at: at.clone() });
        };
        push("profile", self.profile.value.name().into(), &self.profile.at);
        push("safety.mode", self.mode.value.name().into(), &self.mode.at);
        push("safety.read_only", self.read_only.value.to_string(), &self.read_only.at);
        push(
            "safety.require_approval_for_writes",
            self.require_approval_for_writes.value.to_string(),
            &self.require_approval_for_writes.at,
        );
        push(
            "safety.require_approval_for_execute",
            self.require_approval_for_execute.value.to_string(),
            &self.require_approval_for_execute.at,
        );
        let complex = if self.complex_shell_asks.value { "ask" } else { "by_part" };
        push("safety.complex_shell", complex.into(), &self.complex_shell_asks.at);
        push(
            "safety.approval_timeout_ms",
            self.approval_timeout_ms.value.to_string(),
            &self.approval_timeout_ms.at,
        );
        push("safety.log_all_commands", self.log_all_commands.value.to_string(), &self.log_all_commands.at);
        for class in Class::ALL {
            let stance = self.stance(class);
            push(&format!("safety.effects.{}", class.key()), stance.value.name().into(), &stance.at);
        }
        let policy = if self.restricted.value { "restricted" } else { "none" };
        push("sandbox.default_policy", policy.into(), &self.restricted.at);
        push("sandbox.mode", self.sandbox_mode.value.clone(), &self.sandbox_mode.at);
        push("sandbox.network.mode", self.network_mode.value.clone(), &self.network_mode.at);
        push("sandbox.limits.memory_mb", self.limits.memory_mb.value.to_string(), &self.limits.memory_mb.at);
        push("sandbox.limits.wall_ms", self.limits.wall_ms.value.to_string(), &self.limits.wall_ms.at);
        push("sandbox.limits.processes", self.limits.processes.value.to_string(), &self.limits.processes.at);
        push(
            "sandbox.limits.output_bytes",
            self.limits.output_bytes.value.to_string(),
            &self.limits.output_bytes.at,
        );
        if self.limits.cpu_s.value > 0 {
            push("sandbox.limits.cpu_s", self.limits.cpu_s.value.to_string(), &self.limits.cpu_s.at);
        }
        push(
            "sandbox.limits.open_files",
            self.limits.open_files.value.to_string(),
            &self.limits.open_files.at,
        );
        push("sandbox.limits.file_mb", self.limits.file_mb.value.to_string(), &self.limits.file_mb.at);
        push(
            "sandbox.limits.scratch_mb",
            self.limits.scratch_mb.value.to_string(),
            &self.limits.scratch_mb.at,
        );
        push("sandbox.protect", self.protect.value.to_string(), &self.protect.at);
        push("run.human_timeout_ms", self.human_timeout_ms.value.to_string(), &self.human_timeout_ms.at);
        self.push_approval(&mut push);
        self.push_agent(&mut push);
        if let Some(url) = &self.engine_url {
            push("engine.url", url.value.clone(), &url.at);
            push("engine.timeout_ms", self.engine_timeout_ms.value.to_string(), &self.engine_timeout_ms.at);
        }
        lines.extend(self.written_lists());
        lines
    }

    fn push_approval(&self, push: &mut impl FnMut(&str, String, &At)) {
        let (approval, journal) = (&self.approval, &self.journal);
        let names: Vec<&str> = approval.providers.value.iter().map(|provider| provider.name()).collect();
        push("approval.providers", format!("[{}]", names.join(", ")), &approval.providers.at);
        for (key, set) in [
            ("approval.command_timeout_ms", &approval.command_timeout_ms),
            ("approval.max_pending", &approval.max_pending),
            ("approval.session_grants_ttl_s", &approval.session_grants_ttl_s),
            ("approval.auto_approve_max_s", &approval.auto_approve_max_s),
            ("journal.rotate_mb", &journal.rotate_mb),
        ] {
            push(key, set.value.to_string(), &set.at);
        }
        push("journal.sync", journal.sync.value.name().into(), &journal.sync.at);
        push("journal.output", journal.output.value.to_string(), &journal.output.at);
        push("hooks.fence", self.hooks_fence.value.to_string(), &self.hooks_fence.at);
        if let Some(directory) = &journal.directory {
            push("journal.directory", directory.value.clone(), &directory.at);
        }
    }

    fn push_agent(&self, push: &mut impl FnMut(&str, String, &At)) {
        let agent = &self.agent;
        for (key, set) in [
            ("agent.provider", &agent.provider),
            ("agent.base_url", &agent.base_url),
            ("agent.model", &agent.model),
            ("agent.key_env", &agent.key_env),
        ] {
            if let Some(set) = set {
                push(key, set.value.clone(), &set.at);
            }
        }
        for (key, set) in [
            ("agent.max_steps", &agent.max_steps),
            ("agent.wall_ms", &agent.wall_ms),
            ("agent.output_tokens", &agent.output_tokens),
            ("agent.context_tokens", &agent.context_tokens),
            ("agent.max_agents", &agent.max_agents),
            ("agent.max_depth", &agent.max_depth),
        ] {
            push(key, set.value.to_string(), &set.at);
        }
    }

    /// Lists and rules as they were written, entry by entry.
    fn written_lists(&self) -> Vec<Shown> {
        let mut lines = Vec::new();
        for key in KEYS {
            for (origin, setting) in &self.written {
                if setting.key.path != key.path {
                    continue;
                }
                let Value::List(items) = &setting.node.value else { continue };
                if key.path == "approval.providers" {
                    continue;
                }
                // A stronger layer's boundary replaces a weaker one's, unless it may only tighten.
                if key.path == "safety.allowed_paths"
                    && !self.allowed_paths.iter().any(|set| set.origin == *origin && set.at == setting.at)
                {
                    continue;
                }
                for item in items {
                    lines.push(Shown { key: key.path.into(), value: inline(item), at: item.at.clone() });
                }
            }
        }
        lines
    }

    /// Which files were read, weakest first.
    pub fn files(&self) -> impl Iterator<Item = (Origin, &str)> {
        let mut last: Option<&str> = None;
        self.written.iter().filter_map(move |(origin, setting)| {
            let file: &str = &setting.at.file;
            (last != Some(file)).then(|| {
                last = Some(file);
                (*origin, file)
            })
        })
    }
}

/// A value in one line.
fn inline(node: &Node) -> String {
    match &node.value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::Text(text) => {
            let bare = !text.is_empty()
                && text.chars().all(|c| c.is_alphanumeric() || "-_./<>*~ @%+".contains(c))
                && !text.starts_with(['-', ' ', '*', '@', '%', '~', '>']);
            if bare { text.clone() } else { format!("{text:?}") }
        }
        Value::List(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) => {
            let inner: Vec<String> =
                entries.iter().map(|(key, value)| format!("{}: {}", inline(key), inline(value))).collect();
            format!("{{{}}}", inner.join(", "))
        }
    }
}
