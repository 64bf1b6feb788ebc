//! What forbids removing, merging or moving an instruction.

/// What forbids removing, merging or moving an instruction, from weak to strong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Effect {
    /// Nothing.
    #[default]
    Pure,
    /// It draws random bits: equal instructions with equal state are equal, but it is never folded to a constant.
    Random,
    /// Every rank takes part: it keeps its order among collectives.
    Collective,
    /// Nothing is merged, folded or moved across it.
    Barrier,
}
