//! The built-in profiles: what each class of effect gets where nobody said otherwise.

use effects::Class;

/// What is to happen with a class of effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stance {
    /// Nothing is said: lists and the mode decide.
    Unset,
    /// May happen.
    Allow,
    /// May happen where the effective fence holds every boundary of the call; else it is asked about.
    Fenced,
    /// Somebody is asked.
    Ask,
    /// May not happen.
    Deny,
}

impl Stance {
    /// The word in the configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Stance::Unset => "unset",
            Stance::Allow => "allow",
            Stance::Fenced => "fenced",
            Stance::Ask => "ask",
            Stance::Deny => "deny",
        }
    }

    /// Reads a word of the configuration.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Stance> {
        [Stance::Allow, Stance::Fenced, Stance::Ask, Stance::Deny].into_iter().find(|s| s.name() == name)
    }
}

/// The named profiles, laxest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// A file that names no profile: the modes and lists of the file decide, above a floor of what is never allowed.
    Plain,
    /// For a person at work: few questions. What holds where there is no file at all.
    Dev,
    /// Writes of an agent that nobody watches closely.
    Balanced,
    /// Unattended, in production.
    Prod,
}

impl Profile {
    /// The word in the configuration. `Plain` has none: it is the absence of the key.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Plain => "(none)",
            Profile::Dev => "dev",
            Profile::Balanced => "balanced",
            Profile::Prod => "prod",
        }
    }

    /// Reads a word of the configuration.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Profile> {
        [Profile::Dev, Profile::Balanced, Profile::Prod].into_iter().find(|p| p.name() == name)
    }

    /// What this profile says of a class.
    #[must_use]
    pub const fn stance(self, class: Class) -> Stance {
        use Stance::{Allow, Ask, Deny, Fenced, Unset};
        let row = match class {
            //                            plain  dev     balanced prod
            Class::ReadWorkspace => [Unset, Allow, Allow, Allow],
            Class::ReadTemporary => [Unset, Allow, Allow, Allow],
            Class::ReadSystem => [Unset, Allow, Allow, Allow],
            Class::ReadOutside => [Unset, Ask, Ask, Deny],
            Class::Credentials => [Deny, Deny, Deny, Deny],
            Class::WriteWorkspace => [Unset, Allow, Allow, Ask],
            Class::WriteTemporary => [Unset, Allow, Allow, Ask],
            Class::WriteProtected => [Ask, Ask, Ask, Deny],
            Class::WriteOutside => [Unset, Ask, Deny, Deny],
            Class::WriteSystem => [Deny, Deny, Deny, Deny],
            Class::Delete => [Unset, Allow, Allow, Ask],
            Class::DeleteGenerated => [Unset, Allow, Ask, Ask],
            Class::DeleteRecursive => [Unset, Ask, Ask, Deny],
            Class::ConnectLocal => [Unset, Allow, Allow, Allow],
            Class::ConnectService => [Unset, Allow, Ask, Deny],
            Class::Connect => [Unset, Ask, Ask, Deny],
            Class::Exfiltrate => [Deny, Deny, Deny, Deny],
            Class::Run => [Unset, Fenced, Fenced, Ask],
            Class::Code => [Unset, Fenced, Ask, Ask],
            Class::CodeUnresolved => [Ask, Ask, Deny, Deny],
            Class::CodeNetwork => [Deny, Deny, Deny, Deny],
            Class::Privilege => [Unset, Deny, Deny, Deny],
            Class::System => [Deny, Deny, Deny, Deny],
            Class::History => [Unset, Ask, Ask, Deny],
            Class::Environment => [Ask, Ask, Ask, Deny],
            Class::Unknown => [Ask, Fenced, Ask, Ask],
        };
        let [plain, dev, balanced, prod] = row;
        match self {
            Profile::Plain => plain,
            Profile::Dev => dev,
            Profile::Balanced => balanced,
            Profile::Prod => prod,
        }
    }

    /// Whether every part of a shell program is judged on its own, or the whole is asked about.
    #[must_use]
    pub const fn judges_parts(self) -> bool {
        match self {
            Profile::Dev | Profile::Balanced => true,
            Profile::Plain | Profile::Prod => false,
        }
    }

    /// Whether commands run behind a fence where nothing else is said.
    #[must_use]
    pub const fn fenced(self) -> bool {
        match self {
            Profile::Plain => false,
            Profile::Dev | Profile::Balanced | Profile::Prod => true,
        }
    }
}

/// Classes that no configuration can loosen: the floor.
#[must_use]
pub(super) const fn is_floor(class: Class) -> bool {
    matches!(class, Class::Credentials | Class::Exfiltrate | Class::CodeNetwork)
}
