//! The ways in which programs reorder dimensions.

/// The way in which a program of one rank reorders dimensions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moves {
    /// By transposes alone, as `partition` writes it: where a digit lies is known as far as reshapes leave it.
    Written,
    /// A dimension that has size 1 on each rank may have been moved with nothing to show for it, as in programs that were simplified
    /// since: then what reads it says where it lies, and faults that another place would explain are not found.
    Unwritten,
}
