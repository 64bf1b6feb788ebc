//! The first line in which a text differs from another.

/// The first line of code that a text has otherwise than another. Comments, blank lines and spaces do not count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangedLine {
    /// Its number in the new text, from 1.
    pub number: usize,
    /// The line of the old text; `None` where the new text goes on after its end.
    pub old: Option<String>,
    /// The line of the new text; `None` where it ends before the old one.
    pub new: Option<String>,
}

impl ChangedLine {
    /// The first one, where a comment runs from `comment` to the end of a line; `None` where all code is the same.
    pub fn first(old: &str, new: &str, comment: &str) -> Option<Self> {
        let last = new.lines().count().max(1);
        let (mut old, mut new) = (code(old, comment), code(new, comment));
        loop {
            match (old.next(), new.next()) {
                (None, None) => return None,
                (Some((_, old)), Some((_, new))) if old == new => {}
                (old, new) => {
                    let number = new.as_ref().map_or(last, |(number, _)| *number);
                    return Some(Self { number, old: old.map(|(_, line)| line), new: new.map(|(_, line)| line) });
                }
            }
        }
    }
}

impl std::fmt::Display for ChangedLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { number, old, new } = self;
        match (old, new) {
            (Some(old), Some(new)) => write!(f, "line {number} was `{old}`, now it is `{new}`"),
            (None, Some(new)) => write!(f, "line {number} is new: `{new}`"),
            (Some(old), None) => write!(f, "`{old}` is gone after line {number}"),
            (None, None) => write!(f, "line {number}"),
        }
    }
}

/// Lines of code with their numbers.
fn code<'a>(text: &'a str, comment: &'a str) -> impl Iterator<Item = (usize, String)> + 'a {
    text.lines().zip(1..).filter_map(move |(line, number)| {
        let line = line.split(comment).next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        (!words.is_empty()).then(|| (number, words.join(" ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "a = 1 // one\n\nb = 2\n";

    fn told(new: &str) -> Option<String> {
        ChangedLine::first(OLD, new, "//").map(|line| line.to_string())
    }

    #[test]
    fn comments_and_spaces_change_nothing() {
        assert_eq!(told("// of numbers\na  =  1\nb = 2 // two"), None);
    }

    #[test]
    fn the_first_line_that_differs_is_told_with_its_number_in_the_new_text() {
        assert_eq!(told("// of numbers\na = 1\nb = 3\nc = 4").unwrap(), "line 3 was `b = 2`, now it is `b = 3`");
        assert_eq!(told("a = 1\nb = 2\n\nc = 4").unwrap(), "line 4 is new: `c = 4`");
        assert_eq!(told("a = 1").unwrap(), "`b = 2` is gone after line 1");
        assert_eq!(told("").unwrap(), "`a = 1` is gone after line 1");
    }
}
