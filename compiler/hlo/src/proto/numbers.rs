//! Lists of numbers of instructions.

use smallvec::SmallVec;

/// Numbers of which most lists have few: two of them take no memory of their own.
pub type Numbers = SmallVec<[i64; 2]>;
