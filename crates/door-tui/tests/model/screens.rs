//! What is on the screen in each state, at four sizes, held against files. `UPDATE=1` writes them anew.

use std::path::Path;

use crate::situations::{SITUATIONS, Viewer};

const SIZES: [(u16, u16); 4] = [(20, 5), (40, 12), (80, 24), (160, 50)];

#[test]
#[expect(clippy::disallowed_methods, reason = "a test has files and an environment")]
fn every_state_looks_as_it_is_written_down() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/screens");
    let rewrite = std::env::var_os("UPDATE").is_some_and(|value| value == "1");
    let mut wrong = Vec::new();
    for (name, prepare) in SITUATIONS {
        for (width, height) in SIZES {
            let mut viewer = Viewer::new(width, height);
            prepare(&mut viewer);
            let shown = viewer.text();
            let path = directory.join(format!("{name}-{width}x{height}.txt"));
            if rewrite {
                std::fs::write(&path, &shown).expect("a file");
            } else if std::fs::read_to_string(&path).ok().as_ref() != Some(&shown) {
                wrong.push(format!("{}:\n{shown}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} screens differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_colour_is_used_where_none_is_wanted_and_critical_is_red_where_it_is() {
    use ratatui::style::Color;
    let (_, critical) = SITUATIONS.iter().find(|(name, _)| *name == "critical").expect("the situation");
    for theme in [door_tui::Theme::Plain, door_tui::Theme::Coloured] {
        let mut viewer = Viewer::with(80, 24, theme);
        critical(&mut viewer);
        let buffer = viewer.buffer();
        let coloured = buffer.content.iter().filter(|cell| cell.fg != Color::Reset).count();
        let red = buffer.content.iter().filter(|cell| cell.fg == Color::Red).count();
        match theme {
            door_tui::Theme::Plain => assert_eq!(coloured, 0),
            door_tui::Theme::Coloured => assert!(red > 20, "{red}"),
        }
    }
}
