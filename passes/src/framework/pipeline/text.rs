//! Pipelines as text: `cse, tidy(simplify, dce)*3, legalize`.

use super::{Group, PipelineSpec, Stage};
use halite_support::{Diagnostic, Name, Result, codes};
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

impl fmt::Display for PipelineSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        separated(f, &self.stages, |stage, f| match stage {
            Stage::Once(pass) => write!(f, "{pass}"),
            Stage::Fixpoint(group) => write!(f, "{group}"),
        })
    }
}

impl fmt::Display for Group<Name> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}")?;
        }
        f.write_str("(")?;
        separated(f, &self.passes, |pass, f| write!(f, "{pass}"))?;
        f.write_str(")*")?;
        if self.rounds == Self::ROUNDS { Ok(()) } else { write!(f, "{}", self.rounds) }
    }
}

fn separated<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    write: impl Fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    items.iter().enumerate().try_for_each(|(at, item)| {
        f.write_str(if at > 0 { ", " } else { "" })?;
        write(item, f)
    })
}

impl FromStr for PipelineSpec {
    type Err = Diagnostic;

    /// Reads what `Display` writes; white space is free, and a comma may stand at the end. No text is the empty pipeline.
    fn from_str(text: &str) -> Result<Self> {
        let mut stages = Vec::new();
        let mut reader = Reader { rest: text.trim_start() };
        while !reader.rest.is_empty() {
            stages.push(reader.stage()?);
            if !reader.rest.is_empty() && !reader.take(',') {
                return Err(reader.unexpected("a comma"));
            }
        }
        Ok(Self { stages })
    }
}

/// The text that is still to read. It begins with no white space.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn stage(&mut self) -> Result<Stage<Name>> {
        let start = self.rest;
        let name = self.word(is_name);
        if self.take('(') {
            let mut group = self.group(start)?;
            group.name = name.map(Name::from);
            return Ok(Stage::Fixpoint(group));
        }
        match name {
            Some(name) => Ok(Stage::Once(name.into())),
            None => Err(self.unexpected("the name of a pass")),
        }
    }

    /// A group, which begins with `start`, after its `(`.
    fn group(&mut self, start: &str) -> Result<Group<Name>> {
        let mut passes = Vec::new();
        loop {
            passes.push(self.word(is_name).ok_or_else(|| self.bad_group(start, "the name of a pass"))?);
            if self.take(')') {
                break;
            }
            if !self.take(',') {
                return Err(self.bad_group(start, "a comma"));
            }
        }
        if !self.take('*') {
            return Err(open_group(start));
        }
        let rounds = match self.word(|c| c.is_ascii_digit()) {
            None => Group::<Name>::ROUNDS,
            Some(digits) => digits.parse().map_err(|_| bad_bound(digits))?,
        };
        Ok(Group::new(passes).rounds(rounds))
    }

    /// As many such characters as there are, and the white space after them.
    fn word(&mut self, is_part: impl Fn(char) -> bool) -> Option<&'a str> {
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        (!word.is_empty()).then_some(word)
    }

    /// Takes `mark` and the white space after it, if it comes next; returns whether it does.
    fn take(&mut self, mark: char) -> bool {
        let rest = self.rest.strip_prefix(mark);
        self.rest = rest.map_or(self.rest, str::trim_start);
        rest.is_some()
    }

    fn unexpected(&self, wanted: &str) -> Diagnostic {
        let found = if self.rest.is_empty() { "the end".to_owned() } else { format!("`{}`", self.rest) };
        let message = format!("expected {wanted} in the list of passes, found {found}");
        Diagnostic::error(codes::PIPELINE, message).help("write e.g. `cse, (simplify, dce)*`")
    }

    /// The error of a group that is not a list of names.
    fn bad_group(&self, start: &str, wanted: &str) -> Diagnostic {
        match self.rest.chars().next() {
            None => open_group(start),
            Some('(') => Diagnostic::error(codes::PIPELINE, format!("a group stands in another: `{start}`"))
                .help("take one group out of the other"),
            Some(_) => self.unexpected(wanted),
        }
    }
}

fn open_group(start: &str) -> Diagnostic {
    let message = format!("`{start}` opens a group that does not end in `)*`");
    Diagnostic::error(codes::PIPELINE, message).help("end the group with `)*`")
}

fn bad_bound(digits: &str) -> Diagnostic {
    let message = format!("a group cannot be repeated at most {digits} times");
    Diagnostic::error(codes::PIPELINE, message).help(format!("write a number from 1 to {}", NonZeroU32::MAX))
}

/// Whether a name may have this character. It allows more than names may have: names are looked up where passes are known.
fn is_name(c: char) -> bool {
    !matches!(c, ',' | '(' | ')' | '*') && !c.is_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name() -> impl Strategy<Value = Name> {
        "[a-zA-Z][a-zA-Z0-9_.-]{0,8}".prop_map(Name::from)
    }

    fn group() -> impl Strategy<Value = Group<Name>> {
        let rounds = prop_oneof![Just(Group::<Name>::ROUNDS), any::<NonZeroU32>()];
        let parts = (proptest::option::of(name()), prop::collection::vec(name(), 1..4), rounds);
        parts.prop_map(|(name, passes, rounds)| Group { name, passes, rounds })
    }

    fn spec() -> impl Strategy<Value = PipelineSpec> {
        let stage = prop_oneof![name().prop_map(Stage::Once), group().prop_map(Stage::Fixpoint)];
        prop::collection::vec(stage, 0..6).prop_map(|stages| PipelineSpec { stages })
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(spec in spec()) {
            prop_assert_eq!(spec.to_string().parse(), Ok(spec));
        }

        /// Whatever is read is printed so that it reads the same.
        #[test]
        fn what_is_read_prints(text in "[ab7 ,()*]{0,12}") {
            if let Ok(spec) = text.parse::<PipelineSpec>() {
                prop_assert_eq!(spec.to_string().parse(), Ok(spec));
            }
        }
    }

    #[test]
    fn spaces_are_free_and_defaults_are_left_out() {
        for (text, printed) in [
            ("", ""),
            (" a,\tb ,", "a, b"),
            ("(a,b)*,c", "(a, b)*, c"),
            ("( a )* 8", "(a)*"),
            ("tidy (a)*3", "tidy(a)*3"),
        ] {
            assert_eq!(text.parse::<PipelineSpec>().unwrap().to_string(), printed);
        }
    }

    #[test]
    fn what_is_no_pipeline_is_refused() {
        for (text, message) in [
            ("(a, b", "`(a, b` opens a group that does not end in `)*`"),
            ("a, b(c)", "`b(c)` opens a group that does not end in `)*`"),
            ("(a, (b)*)*", "a group stands in another: `(a, (b)*)*`"),
            ("(a, b(c)*)*", "a group stands in another: `(a, b(c)*)*`"),
            ("()*", "expected the name of a pass in the list of passes, found `)*`"),
            ("a,, b", "expected the name of a pass in the list of passes, found `, b`"),
            ("a b", "expected a comma in the list of passes, found `b`"),
            ("(a b)*", "expected a comma in the list of passes, found `b)*`"),
            ("(a)* b", "expected a comma in the list of passes, found `b`"),
            ("a)*", "expected a comma in the list of passes, found `)*`"),
            ("(a)*0", "a group cannot be repeated at most 0 times"),
            ("(a)*4294967296", "a group cannot be repeated at most 4294967296 times"),
        ] {
            assert_eq!(text.parse::<PipelineSpec>().unwrap_err().message(), message, "{text}");
        }
    }
}
