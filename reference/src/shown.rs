//! An entry as text for people.

use crate::entry::Entry;
use crate::markdown::{Block, blocks};
use crate::search::Found;

/// The most other entries that are named.
const OTHERS: usize = 9;

/// The best entry that was found, then the others in a line each. Lines are as long as their paragraphs; whoever prints them breaks them.
pub fn shown(found: &Found<'_>) -> String {
    let Some((best, others)) = found.entries.split_first() else { return String::new() };
    let note = found.note.map(|note| format!("{note}\n\n")).unwrap_or_default();
    let mut text = format!("{note}{}, a {}\n\n{}", best.name, best.kind.word(), body(best));
    if !others.is_empty() {
        text.push_str("\nSee also\n");
    }
    for other in others.iter().take(OTHERS) {
        text.push_str(&format!("  {}: {}\n", other.label(), other.summary));
    }
    if others.len() > OTHERS {
        text.push_str(&format!("  and {} more\n", others.len() - OTHERS));
    }
    text
}

fn body(entry: &Entry) -> String {
    let mut text = String::new();
    for block in blocks(&entry.body) {
        match block {
            Block::Heading(_, title) => text.push_str(&format!("{title}\n\n")),
            Block::Paragraph(paragraph) => text.push_str(&format!("{paragraph}\n\n")),
            Block::List(items) => {
                items.iter().for_each(|item| text.push_str(&format!("- {item}\n")));
                text.push('\n');
            }
            Block::Code(_, lines) => {
                lines.iter().for_each(|line| text.push_str(&format!("{}\n", format!("    {line}").trim_end())));
                text.push('\n');
            }
        }
    }
    text.trim_end().to_owned() + "\n"
}
