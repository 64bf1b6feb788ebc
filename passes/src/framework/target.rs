//! What passes ask of the target of a program.

use crate::framework::dialect::DialectEntry;
use halite_recipe::Calls;

/// What passes ask of the target of a program. By default, that of a target without kernels that takes whatever is sound.
#[derive(Clone, Copy, Debug, Default)]
pub struct TargetView<'a> {
    /// The kernels that `dispatch-dialect` may call, of this target and of others.
    pub kernels: &'a [DialectEntry],
    /// Whether `precision.sr.by = "switch"` is done by a switch of its runtime; otherwise dither emulates it.
    pub rounds_by_switch: bool,
    /// What becomes of calls of the model's functions.
    pub calls: Calls,
    /// Which parameters of the entry that nothing reads are dropped.
    pub unread_inputs: UnreadInputs,
    /// Whether it divides whole numbers inexactly, but by powers of two.
    pub divides_inexactly: bool,
    /// How ranks that run a program together know their numbers; `None` where programs are those of one rank.
    pub ranks: Option<RankSource>,
    /// How many bytes of whole tensors one collective is to have at most where several are made at once; `None` where each is made by itself.
    pub bucket_bytes: Option<u64>,
}

/// How each of the ranks that run a program together knows its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RankSource {
    /// From the program, which has an instruction that gives it: `replica-id`.
    Instruction,
    /// It is told, as an input of the step.
    Input,
}

/// Which parameters of a program's entry are dropped that nothing reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum UnreadInputs {
    /// None: all programs of a bundle take what the model takes.
    #[default]
    Stay,
    /// Data of one step, such as the labels of a program that has no loss; where it reads none of these, they stay. What holds a declared value is
    /// fed and held to it.
    FedGo,
    /// All.
    Go,
}
