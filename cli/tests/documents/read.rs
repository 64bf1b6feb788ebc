//! The blocks of a document.

use super::root;

/// A command in a block, and what the document shows of its output.
#[derive(Debug)]
pub(super) struct Shown {
    /// `document:line`.
    pub(super) place: String,
    /// The command without its prompt.
    pub(super) command: String,
    /// The lines under it.
    pub(super) output: Vec<String>,
}

/// The text of a document.
pub(super) fn text(document: &str) -> String {
    let path = root().join(document);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of a document that stand in fenced blocks, each with its number from 1, and whether it opens one.
fn fenced(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        (inside || fence).then_some((index + 1, line))
    })
}

/// The lines of a document outside of fenced blocks, each with its number from 1, without what is a link's form in code.
pub(super) fn prose(text: &str) -> Vec<(usize, String)> {
    let mut is_code = false;
    let lines = text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then(|| (index + 1, line.to_owned()))
    });
    let plain = |line: String| {
        let spans = line.split('`').enumerate();
        let kept = spans.map(|(at, span)| if at % 2 == 1 { span.replace("](", "] (") } else { span.to_owned() });
        kept.collect::<Vec<_>>().join("`")
    };
    lines.map(|(number, line)| (number, plain(line))).collect()
}

/// The commands with a prompt in the blocks of a document.
pub(super) fn shown(document: &str) -> Vec<Shown> {
    let text = text(document);
    let mut all: Vec<Shown> = Vec::new();
    let mut open = false;
    for (number, line) in fenced(&text) {
        if line.trim_start().starts_with("```") {
            open = false;
        } else if let Some(command) = line.strip_prefix("$ ") {
            let place = format!("{document}:{number}");
            all.push(Shown { place, command: command.to_owned(), output: Vec::new() });
            open = true;
        } else if let Some(shown) = all.last_mut().filter(|_| open) {
            shown.output.push(line.to_owned());
        }
    }
    all
}
