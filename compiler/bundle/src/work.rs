//! The work that a module asks of one core: counts of what it multiplies, computes, moves and exchanges, without any time.

use halite_tensor::DType;
use serde::{Deserialize, Serialize};

/// The work of a module on one core, with its calls entered.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// Products of matrices, those of the same sizes together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<Products>,
    /// Elements that arithmetic outside of products makes, or that a reduction reads.
    pub elements: u64,
    /// Bytes of its parameters and results, which stand in device memory before and after. Values between may stay on the chip.
    pub bytes: u64,
    /// Collectives, those of the same kind, size and group together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collectives: Vec<Collectives>,
}

impl Work {
    /// Floating-point operations of all products, two for each multiply-add.
    pub fn product_flops(&self) -> u64 {
        self.products.iter().map(|own| own.flops().saturating_mul(own.count)).fold(0, u64::saturating_add)
    }
}

/// Products `[batch, rows, inner] x [batch, inner, columns]` of the same sizes.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Products {
    /// The type of the operands.
    pub dtype: DType,
    /// Independent products.
    pub batch: u64,
    /// Rows of the left side.
    pub rows: u64,
    /// The size of the contracted dimensions.
    pub inner: u64,
    /// Columns of the right side.
    pub columns: u64,
    /// How many there are.
    pub count: u64,
}

impl Products {
    /// Floating-point operations of one, two for each multiply-add; at most `u64::MAX`.
    pub fn flops(&self) -> u64 {
        [self.batch, self.rows, self.inner, self.columns].into_iter().fold(2, u64::saturating_mul)
    }
}

/// Collectives of one kind and size, on groups that lie alike.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collectives {
    /// The kind of all of them.
    pub kind: CollectiveKind,
    /// Bytes of the whole: of the operand on one rank, or of the result where that is larger.
    pub bytes: u64,
    /// The counts and distances of the ranks of a group, the major step first: `[[2, 8], [4, 1]]` are two runs of four ranks, eight apart.
    pub group: Vec<(u64, u64)>,
    /// How many there are.
    pub count: u64,
}

impl Collectives {
    /// The number of ranks of a group.
    pub fn ranks(&self) -> u64 {
        self.group.iter().fold(1, |ranks, step| ranks.saturating_mul(step.0))
    }
}

/// The kind of a collective, by the bytes that it moves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CollectiveKind {
    /// Each rank has a part, and gets the whole.
    AllGather,
    /// Each rank has terms of the whole, and gets the sum.
    AllReduce,
    /// Each rank has terms of the whole, and gets a part of the sum.
    ReduceScatter,
    /// Each rank gives every other a part.
    AllToAll,
    /// Each rank gives one other the whole.
    Permute,
}
