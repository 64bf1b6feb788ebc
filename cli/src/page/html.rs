//! Text and tables in HTML.

/// A text with what means something in HTML written as what it is.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            character => escaped.push(character),
        }
    }
    escaped
}

/// The rows of a table of names with values.
pub(crate) fn rows(facts: &[(String, String)]) -> String {
    let row =
        |(name, value): &(String, String)| format!("<tr><th>{}</th><td>{}</td></tr>\n", escaped(name), escaped(value));
    facts.iter().map(row).collect()
}
