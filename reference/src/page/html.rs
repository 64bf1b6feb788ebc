//! One page of HTML with everything, which needs nothing else: style and script stand in it.

use crate::entry::{Entry, Kind};
use crate::markdown::{Block, blocks};
use crate::reference::Reference;
use crate::words::WORDS;

const TEMPLATE: &str = include_str!("reference.html");
const STYLE: &str = include_str!("reference.css");
const SCRIPT: &str = include_str!("reference.js");

pub(super) fn page(reference: &Reference) -> String {
    let kinds: String = Kind::ALL.iter().map(|kind| kind_section(reference, *kind)).collect();
    TEMPLATE.replace("{{style}}", STYLE).replace("{{script}}", SCRIPT).replace("{{entries}}", &kinds)
}

fn kind_section(reference: &Reference, kind: Kind) -> String {
    let entries: String = reference.of_kind(kind).map(|entry| article(entry, &reference.related(entry))).collect();
    let opening =
        if kind.opening().is_empty() { String::new() } else { format!("<p>{}</p>\n", inline(kind.opening())) };
    format!("<section>\n<h2>{}</h2>\n{opening}{entries}</section>\n", kind.title())
}

/// An entry that opens at a click. What it is found by beside its name stands in `data-words`.
fn article(entry: &Entry, related: &[&Entry]) -> String {
    let label = entry.label();
    let meant = WORDS.iter().filter(|(_, labels)| labels.contains(&label.as_str())).map(|(word, _)| *word);
    let words: Vec<&str> = entry.aliases.iter().map(String::as_str).chain(meant).collect();
    // What the first line says already is not said again.
    let is_said = |block: &&Block<'_>| matches!(block, Block::Paragraph(text) if *text == entry.summary);
    let body: String = blocks(&entry.body).iter().filter(|block| !is_said(block)).map(block).collect();
    let links: Vec<String> = related.iter().map(|other| link(other)).collect();
    let links = if links.is_empty() { String::new() } else { format!("<p>See also {}.</p>\n", links.join(", ")) };
    format!(
        "<details id=\"{}\" data-name=\"{}\" data-words=\"{}\">\n<summary><code>{}</code> {}</summary>\n{body}{links}</details>\n",
        entry.anchor(),
        escaped(&entry.name.to_lowercase()),
        escaped(&words.join(" ").to_lowercase()),
        escaped(&entry.name),
        inline(&entry.summary),
    )
}

fn link(entry: &Entry) -> String {
    format!("<a href=\"#{}\">{} <code>{}</code></a>", entry.anchor(), entry.kind.word(), escaped(&entry.name))
}

fn block(block: &Block<'_>) -> String {
    match block {
        Block::Heading(_, title) => format!("<h3>{}</h3>\n", inline(title)),
        Block::Paragraph(text) => format!("<p>{}</p>\n", inline(text)),
        Block::List(items) => {
            let items: String = items.iter().map(|item| format!("<li>{}</li>\n", inline(item))).collect();
            format!("<ul>\n{items}</ul>\n")
        }
        Block::Code(_, lines) => format!("<pre>{}</pre>\n", escaped(&lines.join("\n"))),
    }
}

/// A line with what stands between backticks as code.
fn inline(text: &str) -> String {
    let mut shown = String::new();
    for (at, part) in text.split('`').enumerate() {
        let part = escaped(part);
        shown.push_str(&if at % 2 == 1 { format!("<code>{part}</code>") } else { part });
    }
    shown
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
