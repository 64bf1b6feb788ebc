//! Properties of a program's target that passes depend on.

use crate::framework::dialect::DialectEntry;
use halite_recipe::Calls;

/// The properties of a program's target that passes depend on. By default, those of a target without kernels that takes whatever is
/// sound.
#[derive(Clone, Copy, Debug, Default)]
pub struct TargetView<'a> {
    /// The kernels that `dispatch-dialect` may call, of this target and of others.
    pub kernels: &'a [DialectEntry],
    /// Whether `precision.sr.by = "switch"` is done by a switch of its runtime; otherwise dither emulates it.
    pub rounds_by_switch: bool,
    /// The treatment of calls of the model's functions.
    pub calls: Calls,
    /// The parameters of the entry that are dropped if nothing reads them.
    pub unread_inputs: UnreadInputs,
    /// Whether its division of whole numbers is inexact, but by powers of two.
    pub divides_inexactly: bool,
    /// The source of each rank's number where ranks run a program together; `None` where programs are those of one rank.
    pub ranks: Option<RankSource>,
    /// The most bytes of whole tensors that are combined into one collective; `None` where collectives are not combined.
    pub bucket_bytes: Option<u64>,
}

/// The source of a rank's number, among the ranks that run a program together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RankSource {
    /// From the program, which has an instruction that gives it: `replica-id`.
    Instruction,
    /// It is told, as an input of the step.
    Input,
}

/// The parameters of a program's entry that are dropped if nothing reads them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum UnreadInputs {
    /// None: all programs of a bundle take what the model takes.
    #[default]
    Stay,
    /// Data of one step, such as the labels of a program that has no loss; where it reads none of these, they stay. An input with a
    /// declared value stays: it is fed and checked against that value.
    FedGo,
    /// All.
    Go,
}
