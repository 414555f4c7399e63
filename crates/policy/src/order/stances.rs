//! The stance towards one effect: that of its class, unless the configuration names its host or its path.

use effects::{Class, Effect};

use crate::config::{Config, Profile, Stance};
use crate::rule::{is_among, path_of};

impl Config {
    /// The stance towards one effect: that of its class, unless a host or a path was named as allowed.
    #[must_use]
    pub fn stance_towards(&self, effect: &Effect, class: Class) -> Stance {
        let stance = self.stance(class).value;
        match (class, effect) {
            (Class::Connect | Class::ConnectService, Effect::Connect(connection))
                if is_among(connection, &self.network_allow) =>
            {
                Stance::Allow
            }
            // A file without a profile leaves commands to its lists; elsewhere whoever names a path means it.
            (Class::ReadOutside | Class::WriteOutside, _)
                if matches!(stance, Stance::Ask | Stance::Fenced)
                    && self.profile.value != Profile::Plain
                    && self.allows_path(effect) =>
            {
                Stance::Allow
            }
            _ => stance,
        }
    }

    /// Whether somebody other than the workspace named this path as allowed.
    pub(super) fn allows_path(&self, effect: &Effect) -> bool {
        let Some((path, _)) = path_of(effect) else { return false };
        let writes = !matches!(effect, Effect::Read(_));
        let by_rule = self.path_rules.iter().filter(|group| !group.origin.only_tightens()).any(|group| {
            let first = group.rules.iter().find(|rule| rule.pattern.matches(path).unwrap_or(false));
            first.is_some_and(|rule| if writes { rule.allow_write } else { rule.allow_read })
        });
        let by_boundary = self
            .allowed_paths
            .iter()
            .filter(|set| !set.origin.only_tightens())
            .any(|set| set.patterns.iter().any(|pattern| pattern.matches(path).unwrap_or(false)));
        let below = |place: &String| {
            path.strip_prefix(place.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        // What the fence is told to let through, the gate lets through.
        let by_fence =
            self.sandbox_write.iter().any(below) || (!writes && self.sandbox_read.iter().any(below));
        by_rule || by_boundary || by_fence
    }
}
