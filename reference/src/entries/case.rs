//! Bad inputs as they stand in `tests/bad_inputs`: sections after `-- name --`, of which `command` and `stderr` have a meaning.

use crate::markdown::fenced;

/// A bad input and what is said of it, in Markdown.
pub(super) fn shown(text: &str) -> String {
    let (mut about, mut sections) = (String::new(), Vec::<(&str, String)>::new());
    for line in text.lines() {
        let name = line.strip_prefix("-- ").and_then(|line| line.trim_end().strip_suffix(" --"));
        match (name, sections.last_mut()) {
            (Some(name), _) => sections.push((name, String::new())),
            (None, Some((_, body))) => body.push_str(&format!("{line}\n")),
            (None, None) => about.push_str(&format!("{line}\n")),
        }
    }
    let mut shown = format!("For example: {}\n", about.trim());
    for (name, body) in &sections {
        let block = fenced("text", body);
        shown.push_str(&match *name {
            "exit" | "setup" => String::new(),
            "command" => format!("\n{block}\n"),
            "stderr" => format!("\nsays\n\n{block}\n"),
            file => format!("\n`{file}`:\n\n{block}\n"),
        });
    }
    shown
}
