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
