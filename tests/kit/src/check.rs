//! `//$` lines: execution checks.

/// The comparison of results with those that a line states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// `==`: bit for bit on the interpreter (a NaN equals any NaN), within the tolerance on XLA.
    Equal,
    /// `~=`: within the tolerance on both.
    Near,
}

/// An execution check: `run @f([1, 2]) == [3]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// The function that is run, without `@`.
    pub function: String,
    /// The operands as text.
    pub inputs: String,
    /// The results as text.
    pub outputs: String,
    /// The comparison.
    pub comparison: Comparison,
    /// Its line, from 1.
    pub line: usize,
}

impl Check {
    /// The checks of a text.
    ///
    /// # Errors
    /// On a line that is not of the form above.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, String> {
        let lines = text.lines().enumerate().filter_map(|(index, line)| Some((index + 1, line.strip_prefix("//$")?)));
        let wrong = |line| format!("line {line}: an execution check is `//$ run @function(inputs) == outputs`");
        lines.map(|(line, text)| Self::parse(text.trim(), line).ok_or_else(|| wrong(line))).collect()
    }

    fn parse(text: &str, line: usize) -> Option<Self> {
        let (comparison, sign) = if text.contains("~=") { (Comparison::Near, "~=") } else { (Comparison::Equal, "==") };
        let (call, outputs) = text.strip_prefix("run @")?.split_once(sign)?;
        let (function, inputs) = call.trim().strip_suffix(')')?.split_once('(')?;
        let text = |part: &str| part.trim().to_owned();
        Some(Self { function: text(function), inputs: text(inputs), outputs: text(outputs), comparison, line })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_read() {
        let all = Check::parse_all("x\n//$ run @f([1], 2) ~= 3\n").unwrap();
        assert_eq!((all[0].function.as_str(), all[0].inputs.as_str(), all[0].outputs.as_str()), ("f", "[1], 2", "3"));
        assert_eq!((all[0].comparison, all[0].line), (Comparison::Near, 2));
        assert!(Check::parse_all("//$ call f").is_err());
    }
}
