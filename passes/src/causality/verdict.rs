//! The answer of the analysis, and how it is told.

use super::assumption::Assumption;
use halite_support::{Diagnostic, Name, Span, codes};
use std::fmt;

/// Whether the outputs at a position are computed from tokens up to that position only.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// There is nothing to prove, for this reason.
    NotApplicable(&'static str),
    /// They are, whatever the inputs, as long as all numbers are finite and these assumptions hold.
    Proven(Vec<Assumption>),
    /// They are not: some output is computed from a later token.
    Leaks(Finding),
    /// The analysis does not follow the program well enough to tell.
    Unknown(Finding),
}

/// Where the future enters, or where the analysis loses track.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The output.
    pub output: Name,
    /// What it reads, or may read.
    pub reads: Reads,
    /// The instruction: the first from which on results depend on tokens after their own position, while its operands do
    /// not.
    pub op: String,
    /// Why the instruction is not followed; empty for leaks.
    pub why: &'static str,
    /// The scope of the instruction; may be empty.
    pub scope: String,
    /// Its place in the model.
    pub span: Option<Span>,
    /// The place of the output in the model.
    pub output_span: Option<Span>,
}

/// What an output at position t reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Reads {
    /// Tokens up to t and this many more.
    Ahead(i64),
    /// Tokens up to this position, whatever t.
    UpTo(i64),
    /// All tokens.
    Everything,
    /// Some tokens after t.
    Later,
}

impl fmt::Display for Reads {
    /// What comes after `position t`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reads::Ahead(by) => write!(f, "reads up to t + {by}"),
            Reads::UpTo(position) => write!(f, "reads up to position {position}"),
            Reads::Everything => f.write_str("reads every position"),
            Reads::Later => f.write_str("reads later positions"),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::NotApplicable(why) => write!(f, "not applicable: {why}"),
            Verdict::Proven(assumptions) => {
                f.write_str("proven")?;
                for (at, assumption) in assumptions.iter().enumerate() {
                    write!(f, "{}{assumption}", if at == 0 { ", if " } else { "; and if " })?;
                }
                Ok(())
            }
            Verdict::Leaks(Finding { output, reads, op, .. }) => {
                write!(f, "leaks: `{output}` at position t {reads}, from `{op}` on")
            }
            Verdict::Unknown(Finding { output, reads, op, why, .. }) => {
                write!(f, "unknown: perhaps `{output}` at position t {reads}, because `{op}` {why}")
            }
        }
    }
}

impl Verdict {
    /// The error of a leak, or the warning of a program that the analysis does not follow.
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        match self {
            Verdict::Leaks(finding) => {
                let message = format!("`{}` at a position depends on later tokens", finding.output);
                let label = format!("from here on, position t {}", finding.reads);
                Some(finding.locate(Diagnostic::error(codes::CAUSALITY, message), label))
            }
            Verdict::Unknown(finding) => {
                let message = format!("`{}` at a position may depend on later tokens", finding.output);
                let label = format!("`{}` {}", finding.op, finding.why);
                let diagnostic = Diagnostic::warning(codes::CAUSALITY, message);
                let help = "write the mask as a comparison of positions, or check by perturbing later tokens";
                Some(finding.locate(diagnostic, label).help(help))
            }
            Verdict::Proven(_) | Verdict::NotApplicable(_) => None,
        }
    }
}

impl Finding {
    fn locate(&self, diagnostic: Diagnostic, label: String) -> Diagnostic {
        let place = if self.scope.is_empty() { String::new() } else { format!(" in `{}`", self.scope) };
        let diagnostic = match self.span {
            Some(span) => diagnostic.at(span, label).note(format!("the instruction is `{}`{place}", self.op)),
            None => diagnostic.note(format!("`{}`{place}: {label}", self.op)),
        };
        match self.output_span {
            Some(span) if Some(span) != self.span => diagnostic.also(span, format!("`{}` is this", self.output)),
            _ => diagnostic,
        }
    }
}
