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

/// The rows of a table whose first row and first column are names.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let row = |(number, cells): (usize, &Vec<String>)| {
        let tag = |column: usize| if number == 0 || column == 0 { "th" } else { "td" };
        let cell = |(column, value): (usize, &String)| format!("<{0}>{1}</{0}>", tag(column), escaped(value));
        format!("<tr>{}</tr>\n", cells.iter().enumerate().map(cell).collect::<String>())
    };
    rows.iter().enumerate().map(row).collect()
}
