//! Which whole numbers an operand has to hold.

/// An operand of whole numbers that are positions: each is at least 0 and less than a size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Domain {
    /// Which operand.
    pub operand: usize,
    /// How many positions there are.
    pub size: usize,
    /// A number that may stand there too, e.g. the label that a loss leaves out.
    pub except: Option<i64>,
}
