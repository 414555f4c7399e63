//! The few colours. Without them nothing is lost: what matters is said in words, and weight and reverse remain.

use ratatui::style::{Color, Modifier, Style};

use crate::entry::Ink;

/// Whether colours are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// No colours.
    Plain,
    /// Colours.
    Coloured,
}

impl Theme {
    fn colour(self, colour: Color) -> Style {
        match self {
            Theme::Plain => Style::new(),
            Theme::Coloured => Style::new().fg(colour),
        }
    }

    pub(crate) fn ink(self, ink: Ink) -> Style {
        match ink {
            Ink::Plain => Style::new(),
            Ink::Strong => Style::new().add_modifier(Modifier::BOLD),
            Ink::User => self.colour(Color::Cyan).add_modifier(Modifier::BOLD),
            Ink::Dim | Ink::Output => Style::new().add_modifier(Modifier::DIM),
            Ink::Good => self.colour(Color::Green),
            Ink::Bad => self.colour(Color::Red).add_modifier(Modifier::BOLD),
            Ink::Waits => self.colour(Color::Yellow).add_modifier(Modifier::BOLD),
            Ink::Selected => Style::new().add_modifier(Modifier::REVERSED),
        }
    }

    /// The title of a question, by how grave it is.
    pub(crate) fn level(self, level: &str) -> Style {
        let colour = match level {
            "LOW" => Color::Green,
            "MEDIUM" => Color::Yellow,
            _ => Color::Red,
        };
        self.colour(colour).add_modifier(Modifier::BOLD | Modifier::REVERSED)
    }

    /// The line that tells where things stand.
    pub(crate) fn status(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}
