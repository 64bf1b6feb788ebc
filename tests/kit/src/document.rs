//! The `//>` lines of a golden file.

use similar::TextDiff;

/// The place of expected text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Anchor {
    /// After the directives.
    Top,
    /// After the function of this name.
    Function(String),
    /// At the end.
    End,
}

/// A golden file, in which expected text can be put in place.
#[derive(Clone, Debug)]
pub struct Document {
    /// The lines a person wrote.
    lines: Vec<String>,
    /// Index of the line after each function's last one, by name.
    functions: Vec<(String, usize)>,
    /// Index of the line after the last directive.
    top: usize,
}

impl Document {
    /// Takes a text apart.
    pub fn new(text: &str) -> Self {
        let mut lines: Vec<String> = text.lines().filter(|line| !line.starts_with("//>")).map(str::to_owned).collect();
        while lines.last().is_some_and(|line| line.trim().is_empty()) {
            lines.pop();
        }
        let (mut functions, mut open) = (Vec::new(), None);
        for (index, line) in lines.iter().enumerate() {
            if let Some(rest) = line.strip_prefix("func @") {
                open = rest.split('(').next().map(str::to_owned);
            }
            if line == "}" {
                functions.extend(open.take().map(|name| (name, index + 1)));
            }
        }
        let top = lines.iter().rposition(|line| line.starts_with("//@")).map_or(0, |index| index + 1);
        Self { lines, functions, top }
    }

    /// The names of the functions, in order.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(|(name, _)| name.as_str())
    }

    /// The text with these blocks of expected text and no others.
    pub fn with_expected(&self, blocks: &[(Anchor, String)]) -> String {
        let mut inserted: Vec<(usize, String)> =
            blocks.iter().map(|(anchor, block)| self.place(anchor, block)).collect();
        inserted.sort_by_key(|(at, _)| *at);
        let mut inserted = inserted.into_iter().peekable();
        let mut out = String::new();
        for (index, line) in self.lines.iter().enumerate() {
            while let Some((_, block)) = inserted.next_if(|(at, _)| *at <= index) {
                out.push_str(&block);
            }
            out.push_str(line);
            out.push('\n');
        }
        inserted.for_each(|(_, block)| out.push_str(&block));
        out
    }

    fn place(&self, anchor: &Anchor, block: &str) -> (usize, String) {
        let quoted: String = block.lines().map(|line| format!("//> {line}").trim_end().to_owned() + "\n").collect();
        let end = (self.lines.len(), format!("\n{quoted}"));
        match anchor {
            Anchor::Top => (self.top, quoted),
            Anchor::End => end,
            Anchor::Function(name) => {
                let known = self.functions.iter().find(|(own, _)| own == name);
                known.map_or(end, |(_, at)| (*at, quoted))
            }
        }
    }
}

/// Whether two texts are equal; if not, a unified diff.
pub(crate) fn compare_texts(found: &str, expected: &str) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    let diff = TextDiff::from_lines(found, expected);
    Err(diff.unified_diff().context_radius(3).header("in the file", "now").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blessing_twice_changes_nothing() {
        let text = "//@ suite: opt\n\nfunc @f() -> () {\n  return\n}\n//> old\n//$ run @f() == \n";
        let blocks = [
            (Anchor::Function("f".into()), "one\n\ntwo".to_owned()),
            (Anchor::End, "end".to_owned()),
            (Anchor::Top, "top".to_owned()),
        ];
        let once = Document::new(text).with_expected(&blocks);
        assert_eq!(
            once,
            "//@ suite: opt\n//> top\n\nfunc @f() -> () {\n  return\n}\n//> one\n//>\n//> two\n//$ run @f() == \n\n//> end\n"
        );
        assert_eq!(Document::new(&once).with_expected(&blocks), once);
        assert!(compare_texts(text, &once).unwrap_err().contains("+//> top"));
    }
}
