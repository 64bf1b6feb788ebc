//! Operands that hold positions, with their ranges.

/// An operand of whole numbers that are positions: each is at least 0 and less than a size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Domain {
    /// The number of the operand.
    pub operand: usize,
    /// The number of positions.
    pub size: usize,
    /// A number that may stand there too, e.g. the label that a loss leaves out.
    pub except: Option<i64>,
}
