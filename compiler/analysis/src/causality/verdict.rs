//! Verdicts of the causality analysis and their diagnostics.

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

/// A leak, or a place where the analysis loses track.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The name of the output.
    pub output: Name,
    /// The tokens that the output reads, or may read.
    pub reads: Reads,
    /// A position and a token after it that it reads; `None` where it may not.
    pub witness: Option<Witness>,
    /// The instruction: the first from which on results depend on tokens after their own position, while its operands do
    /// not.
    pub op: String,
    /// The reason why the instruction is not followed; empty for leaks.
    pub why: &'static str,
    /// The scope of the instruction; may be empty.
    pub scope: String,
    /// Its place in the model.
    pub span: Option<Span>,
    /// The line of the program that built the model, as `model.py:12`.
    pub line: Option<String>,
    /// The place of the output in the model.
    pub output_span: Option<Span>,
}

/// A position, and a later token that the value there is computed from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Witness {
    /// The position in the output.
    pub position: i64,
    /// The token, counted as positions are: that of position 0 is token 0.
    pub token: i64,
}

/// The verdicts on a module.
#[derive(Clone, PartialEq, Debug)]
pub struct CausalityReport {
    /// The outputs that were looked at.
    pub names: Vec<Name>,
    /// Whether they are computed at each position from tokens up to that position only.
    pub outputs: Verdict,
    /// Whether the loss compares each label with a prediction that is computed from earlier tokens only.
    pub loss: Verdict,
}

impl CausalityReport {
    /// The report on a module of which nothing is to be proved, for this reason.
    pub(super) fn none(why: &'static str) -> Self {
        Self { names: Vec::new(), outputs: Verdict::NotApplicable(why), loss: Verdict::NotApplicable(why) }
    }

    /// The errors and warnings of both; nothing twice where the loss is computed from what an output shows.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let place = |verdict: &Verdict| match verdict {
            Verdict::Leaks(finding) | Verdict::Unknown(finding) => Some((finding.span, finding.op.clone())),
            Verdict::Proven(_) | Verdict::NotApplicable(_) => None,
        };
        let repeats = place(&self.outputs).is_some() && place(&self.outputs) == place(&self.loss);
        let said = self.verdicts().into_iter().take(if repeats { 1 } else { 2 });
        said.filter_map(Verdict::diagnostic).collect()
    }

    /// The verdicts, that on outputs first.
    pub fn verdicts(&self) -> [&Verdict; 2] {
        [&self.outputs, &self.loss]
    }

    /// Whether there was nothing to prove.
    pub fn is_empty(&self) -> bool {
        self.verdicts().iter().all(|verdict| matches!(verdict, Verdict::NotApplicable(_)))
    }
}

impl fmt::Display for CausalityReport {
    /// `output logits: proven; loss: proven`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.names.iter().map(|name| format!("`{name}`")).collect();
        let what = if names.len() == 1 { "output" } else { "outputs" };
        let what = if names.is_empty() { "outputs".to_owned() } else { format!("{what} {}", names.join(", ")) };
        write!(f, "{what}: {}; loss: {}", self.outputs, self.loss)
    }
}

/// The tokens that an output at position t reads.
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
    /// The token that it is to predict.
    Label,
}

impl fmt::Display for Reads {
    /// The words that follow `position t` in a message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reads::Ahead(by) => write!(f, "reads up to t + {by}"),
            Reads::UpTo(position) => write!(f, "reads up to position {position}"),
            Reads::Everything => f.write_str("reads every position"),
            Reads::Later => f.write_str("reads later positions"),
            Reads::Label => f.write_str("reads the label"),
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
            Verdict::Leaks(finding) => {
                let Finding { output, reads, op, .. } = finding;
                write!(f, "leaks: `{output}` at position t {reads}, from `{op}` on")?;
                finding.example().map_or(Ok(()), |example| write!(f, ": {example}"))
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
                let (message, label) = match finding.reads {
                    Reads::Label => (
                        format!("`{}` compares predictions with labels that they have read", finding.output),
                        "here the prediction knows its label".to_owned(),
                    ),
                    reads => (
                        format!("`{}` at a position depends on later tokens", finding.output),
                        format!("from here on, position t {reads}"),
                    ),
                };
                let diagnostic = finding.locate(Diagnostic::error(codes::CAUSALITY, message), label);
                let diagnostic = match finding.example() {
                    Some(example) => diagnostic.note(format!("for example, {example}")),
                    None => diagnostic,
                };
                Some(diagnostic.help(codes::CAUSALITY.remedy))
            }
            Verdict::Unknown(finding) => {
                let message = format!("`{}` at a position may depend on later tokens", finding.output);
                let label = format!("`{}` {}", finding.op, finding.why);
                let diagnostic = Diagnostic::warning(codes::CAUSALITY, message);
                let help = "write the mask as a comparison of positions; `halite verify` changes later tokens and compares; \
                            where that is enough, waive this with `check.waive = [\"causality\"]`; a model that reads in \
                            both directions says `causal = false`";
                Some(finding.locate(diagnostic, label).help(help))
            }
            Verdict::Proven(_) | Verdict::NotApplicable(_) => None,
        }
    }
}

impl Finding {
    /// The witness in words, e.g. `position 3 reads token 5`; `None` without one.
    fn example(&self) -> Option<String> {
        let Witness { position, token } = self.witness?;
        Some(match self.reads {
            Reads::Label => format!("the prediction of token {} reads token {token}", position + 1),
            _ => format!("position {position} reads token {token}"),
        })
    }

    fn locate(&self, diagnostic: Diagnostic, label: String) -> Diagnostic {
        let scope = if self.scope.is_empty() { String::new() } else { format!(" in `{}`", self.scope) };
        let place = self.line.iter().fold(scope, |scope, line| format!("{scope} at `{line}`"));
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
