//! Findings of the replica analysis and their diagnostics.

use super::exchange::Fault;
use super::state::{Cause, Part, Reading, Why};
use halite_ir::ops::Reduction;
use halite_ir::paths::nested;
use halite_ir::{FuncId, LocId, Module, Op};
use halite_support::{Diagnostic, Span, codes};
use halite_tensor::{Mesh, SubAxisId};
use std::borrow::Cow;
use std::fmt;

/// A value that ranks do not hold as the layout says, or that they add up wrongly.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ReplicaFinding {
    /// The message of the diagnostic: the fault.
    pub message: String,
    /// The label at the instruction at fault.
    pub label: String,
    /// The line of the model that the instruction comes from.
    pub span: Option<Span>,
    /// The line of the program that made the module, `file:line`, where that is known instead.
    pub line: Option<String>,
    /// The scopes that it is in.
    pub scope: String,
    /// The help of the error: a remedy.
    pub remedy: &'static str,
    /// Whether a value is known to be misread: shards or a sum that is not reduced as the whole, terms of one kind as those of
    /// another. A value that is only not followed does not count.
    pub misreads: bool,
    /// The instruction that sums a value that is said to be the same on all ranks, by its function and its number.
    pub(super) twice: Option<(FuncId, usize)>,
}

impl ReplicaFinding {
    /// The error, with the witness that shows it.
    pub fn wrong(&self, witness: &impl fmt::Display) -> Diagnostic {
        let error = Diagnostic::error(codes::REPLICAS, self.message.clone()).help(self.remedy);
        self.located(error).note(witness.to_string())
    }

    /// The warning that the value is not proven to be right, for a finding that no tried input shows to be wrong.
    pub fn not_followed(&self) -> Diagnostic {
        let message = format!("it is not proven what ranks hold: {}", self.message);
        let warning = Diagnostic::warning(codes::REPLICAS, message);
        let help =
            "run all ranks beside one device, as `halite verify` does with a recipe; with `--deny unproven` this fails";
        self.located(warning).help(help)
    }

    fn located(&self, error: Diagnostic) -> Diagnostic {
        match self.span {
            Some(span) => error.at(span, self.label.clone()),
            None => error.note(format!("{}{}", self.label, self.place())),
        }
    }

    /// The scopes and the line, after what happens there: `` in `mlp`, step.py:31``.
    fn place(&self) -> String {
        let scope = if self.scope.is_empty() { String::new() } else { format!(" in `{}`", self.scope) };
        self.line.as_ref().map_or(scope.clone(), |line| format!("{scope}, {line}"))
    }
}

/// The place of a finding: the calls that it is in, the outermost first.
pub(super) struct Site<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) module: &'a Module,
    pub(super) calls: &'a [LocId],
}

impl Site<'_> {
    fn axis(&self, sub_axis: SubAxisId) -> &str {
        &self.mesh.axes()[self.mesh.sub_axes()[sub_axis].axis].name
    }

    fn finding(&self, message: String, label: &str, at: LocId, remedy: &'static str) -> ReplicaFinding {
        let chain = || [at].into_iter().chain(self.calls.iter().rev().copied());
        let locs = &self.module.locs;
        let scopes = self.calls.iter().map(|&call| locs.scope(call)).chain([locs.scope(at)]);
        ReplicaFinding {
            message,
            label: label.to_owned(),
            span: chain().find_map(|loc| locs.span(loc)),
            line: chain().find_map(|loc| locs.code(loc)).map(|(file, line)| format!("{file}:{line}")),
            scope: scopes.fold(String::new(), |outer, inner| nested(&outer, inner)),
            remedy,
            misreads: false,
            twice: None,
        }
    }

    fn reason(&self, why: Why) -> Cow<'static, str> {
        match why {
            Why::Rank => "it is computed from the number of the rank".into(),
            Why::NotLinear => "what is not linear reads a sum that is not reduced".into(),
            Why::Unlike => "it is computed from what lies otherwise on ranks than one another".into(),
            Why::Cut => "shards are read as if they were the whole".into(),
            Why::Index => "shards are read by index".into(),
            Why::Collective => "a collective gave it that is wrong".into(),
            Why::Kernel(function) => {
                format!("it comes from `{}`, which cannot be followed", self.kernel(function)).into()
            }
        }
    }

    /// The name of the kernel that a function decomposes.
    fn kernel(&self, decomposition: FuncId) -> &str {
        let insts = self.module.functions.iter().flat_map(|function| &function.insts);
        let mut kernels =
            insts.filter_map(|inst| if let Op::KernelCall(kernel) = &inst.op { Some(kernel) } else { None });
        kernels.find(|kernel| kernel.decomposition == decomposition).map_or("a kernel", |kernel| &*kernel.target)
    }

    /// The finding of a fault of a collective.
    pub(super) fn collective(&self, op: &str, fault: Fault, at: LocId) -> ReplicaFinding {
        let misreads = match fault {
            Fault::Shards(_) | Fault::Kind(_) => true,
            Fault::Unknown(_, why, _) => misreads(why),
            Fault::Groups | Fault::Twice(_) | Fault::Order(_) => false,
        };
        ReplicaFinding { misreads, ..self.of_collective(op, fault, at) }
    }

    fn of_collective(&self, op: &str, fault: Fault, at: LocId) -> ReplicaFinding {
        let along = |sub_axis: SubAxisId| format!("along `{}`", self.axis(sub_axis));
        let parts = |sub_axis: SubAxisId| self.mesh.sub_axes()[sub_axis].size;
        match fault {
            Fault::Groups => self.finding(
                format!("the groups of `{op}` are not the ranks along any axes of the mesh"),
                "ranks exchange here",
                at,
                "use the groups of the mesh, each in the order of its ranks",
            ),
            Fault::Twice(sub_axis) => self.finding(
                format!(
                    "`{op}` sums what is the same on all ranks {} already: {} times too much",
                    along(sub_axis),
                    parts(sub_axis)
                ),
                "the sum is made here",
                at,
                "leave the sum out",
            ),
            Fault::Shards(sub_axis) => self.finding(
                format!("`{op}` combines shards {}, which are parts of a whole and no terms of a sum", along(sub_axis)),
                "they are combined here",
                at,
                "gather them, or combine along another axis",
            ),
            Fault::Kind(sub_axis) => self.finding(
                format!("`{op}` combines ranks {} otherwise than what they hold is to be combined", along(sub_axis)),
                "they are combined here",
                at,
                "combine terms of a sum by `sum`, and extremes by `max` and `min`",
            ),
            Fault::Unknown(sub_axis, why, cause) => self.finding(
                format!(
                    "`{op}` combines what ranks {} do not hold as shards or terms: {}",
                    along(sub_axis),
                    self.reason(why)
                ),
                "from here on it is unlike on ranks",
                cause.0,
                remedy(why),
            ),
            Fault::Order(sub_axis) => self.finding(
                format!(
                    "`{op}` puts together what ranks {} do not hold in this order of this dimension",
                    along(sub_axis)
                ),
                "it is put together here",
                at,
                "gather along the axis and the dimension by which it is sharded",
            ),
        }
    }

    /// That a parameter or result does not lie as it is said to; `sharded` where it should be sharded along the sub-axis.
    pub(super) fn output(
        &self,
        name: &str,
        reading: &Reading,
        sub_axis: SubAxisId,
        sharded: bool,
        at: LocId,
    ) -> ReplicaFinding {
        let axis = self.axis(sub_axis);
        let message = match sharded {
            true => format!("`{name}` is not the shard that ranks along `{axis}` are said to hold"),
            false => format!("`{name}` is not the same on ranks along `{axis}`"),
        };
        let (why, at, remedy) = match (reading.part(sub_axis), reading.digit(sub_axis)) {
            (Some((_, Part::Partial(Reduction::Sum), Cause(at))), _) => {
                ("it is a sum that is not reduced".into(), *at, "reduce it over these ranks")
            }
            (Some((_, Part::Partial(_), Cause(at))), _) => {
                ("it is not reduced".into(), *at, "reduce it over these ranks")
            }
            (Some((_, Part::Varying(why), Cause(at))), _) => (self.reason(*why), *at, remedy(*why)),
            (Some((_, _, Cause(at))), _) => (self.reason(Why::Index), *at, remedy(Why::Index)),
            (None, Some(_)) => {
                ("it is sharded by another dimension or in another order".into(), at, "move it to where it is to lie")
            }
            (None, None) => ("all of them hold the same".into(), at, "keep the part of each rank"),
        };
        let misreads = matches!(reading.part(sub_axis), Some((_, Part::Varying(why), _)) if misreads(*why));
        ReplicaFinding { misreads, ..self.finding(format!("{message}: {why}"), "from here on", at, remedy) }
    }
}

fn misreads(why: Why) -> bool {
    matches!(why, Why::NotLinear | Why::Cut)
}

fn remedy(why: Why) -> &'static str {
    match why {
        Why::NotLinear => "reduce the sum before",
        Why::Unlike => "move operands to one place before",
        Why::Cut => "gather the shards before",
        Why::Rank | Why::Index => "mask what is another rank's, and sum",
        Why::Collective => "mend the collective",
        Why::Kernel(_) => {
            "see by hand whether it gives the same on all of them, or write it with ops that can be followed"
        }
    }
}
