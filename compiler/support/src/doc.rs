//! Documentation as text: what a comment says for readers of code, a reference says for users.

/// The text of documentation comments, as a macro that declares an item gets them: with the space after `///`, a line each, and other
/// attributes left out. [`paragraphs`] makes it text for people.
///
/// ```
/// macro_rules! about {
///     ($(#[$($on:tt)*])* struct $name:ident;) => {
///         halite_support::doc!($(#[$($on)*])*)
///     };
/// }
/// let text = about! {
///     /// What it is,
///     /// in two lines.
///     #[derive(Debug)]
///     struct Thing;
/// };
/// assert_eq!(halite_support::doc::paragraphs(text), "What it is, in two lines.");
/// ```
#[macro_export]
macro_rules! doc {
    () => { "" };
    (#[doc = $line:literal] $($rest:tt)*) => { concat!($line, "\n", $crate::doc!($($rest)*)) };
    (#[$($other:tt)*] $($rest:tt)*) => { $crate::doc!($($rest)*) };
}

/// Documentation as Markdown: a line for each paragraph or item of a list, links to items of Rust as their names.
pub fn paragraphs(doc: &str) -> String {
    let mut text = String::new();
    let mut is_open = false;
    for line in doc.lines() {
        let line = line.strip_prefix(' ').unwrap_or(line).trim_end();
        let starts = line.trim_start().starts_with("- ");
        if line.is_empty() {
            text.push_str(if is_open { "\n\n" } else { "" });
        } else if is_open && !starts {
            text.push(' ');
            text.push_str(line.trim_start());
        } else {
            text.push_str(if is_open { "\n" } else { "" });
            text.push_str(line);
        }
        is_open = !line.is_empty();
    }
    unlinked(text.trim_end())
}

/// The first sentence of a text: up to a full stop that ends a line or stands before a space and a capital letter or a mark of code.
pub fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    let ends = |at: &usize| {
        let after = &line[at + 1..];
        let next = after.trim_start().chars().next();
        after.is_empty() || (after.starts_with(' ') && next.is_some_and(|next| next.is_uppercase() || next == '`'))
    };
    let end = line.match_indices('.').map(|(at, _)| at).find(ends);
    end.map_or(line, |end| &line[..=end])
}

/// A text with `` [`Name`](path) `` and `` [`Name`] `` as `` `Name` ``.
fn unlinked(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("[`") {
        shown.push_str(before);
        let Some((name, after)) = link.split_once("`]") else {
            shown.push_str("[`");
            rest = link;
            continue;
        };
        shown.push_str(&format!("`{name}`"));
        let target = after.strip_prefix('(').and_then(|target| target.split_once(')'));
        rest = target.map_or(after, |(_, after)| after);
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_paragraphs_and_lists() {
        let doc = " One\n two.\n\n - first\n   goes on\n - second\n\n Last.\n";
        assert_eq!(paragraphs(doc), "One two.\n\n- first goes on\n- second\n\nLast.");
    }

    #[test]
    fn links_become_names() {
        assert_eq!(paragraphs(" See [`Take`](super::Take), [`Shape`] and `[`.\n"), "See `Take`, `Shape` and `[`.");
    }

    #[test]
    fn a_sentence_ends_at_its_full_stop() {
        assert_eq!(first_sentence("It is 0.5 of x. The rest"), "It is 0.5 of x.");
        assert_eq!(first_sentence("Repeats.\n\nMore"), "Repeats.");
        assert_eq!(first_sentence("Numbers 0, 1, .. along. `x` too."), "Numbers 0, 1, .. along.");
    }
}
