//! Computing on shards: the form of an op on one rank when its operands and results are sharded over a mesh.

use crate::build::Builder;
use crate::syntax::Value;
use crate::ty::TensorType;
use halite_support::Result;
use halite_tensor::{DType, DimShard, DimShards, Dims, Mesh, Shape, Sharding};

/// The linearity of an op: whether the op maps partial sums of its operands, which ranks hold in place of the sums, to partial sums of
/// its result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Linear {
    /// Not at all: the sum is needed first.
    No,
    /// When all operands are partial sums: `f(x + x', y + y') = f(x, y) + f(x', y')`. With one operand, these are the linear ops.
    Jointly,
    /// When one operand is a partial sum, any of them: products.
    Each,
    /// When the first operand alone is a partial sum.
    First,
    /// When all operands but the first are partial sums: a choice between them.
    Rest,
}

/// The shardings of the operands and results of one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Shards<'a> {
    /// The ranks.
    pub mesh: &'a Mesh,
    /// The types of the whole operands.
    pub args: &'a [TensorType],
    /// The sharding of each operand.
    pub operands: &'a [Sharding],
    /// The sharding of each result.
    pub results: &'a [Sharding],
    /// The types of the whole results.
    pub types: &'a [TensorType],
}

impl Shards<'_> {
    /// The shape of the only result on one rank.
    pub fn shape(&self) -> Shape {
        self.results[0].local_shape(self.types[0].shape())
    }

    /// The digits by which a dimension of the only result is sharded.
    pub fn result_digits(&self, dim: usize) -> &DimShards {
        &self.results[0].0[dim]
    }
}

/// The stride of a digit in the local indices of a rank, which lack the digits of smaller strides.
pub fn local_stride(digits: &DimShards, digit: &DimShard) -> usize {
    let smaller = digits.iter().filter(|other| other.stride < digit.stride);
    digit.stride / smaller.map(|other| other.size).product::<usize>()
}

impl Builder<'_> {
    /// The coordinate of this rank along a sub-axis, `s32[]`.
    ///
    /// # Errors
    /// Never for a sub-axis of the mesh.
    pub fn coordinate(&mut self, mesh: &Mesh, digit: DimShard) -> Result<Value> {
        let rank = self.replica_id()?;
        let mut at = self.convert(rank, DType::S32)?;
        let (stride, whole) = (mesh.sub_axes()[digit.sub_axis].stride, mesh.num_ranks());
        if stride > 1 {
            let stride = self.splat_like(at, stride as f64)?;
            at = self.divide(at, stride)?;
        }
        if stride * digit.size < whole {
            let size = self.splat_like(at, digit.size as f64)?;
            at = self.remainder(at, size)?;
        }
        Ok(at)
    }

    /// The indices in the whole dimension of `size` that this rank holds at its local indices `at`, `s32` of any shape.
    ///
    /// # Errors
    /// Never for digits of the mesh.
    pub fn whole_index(&mut self, mesh: &Mesh, (size, digits): (usize, &DimShards), at: Value) -> Result<Value> {
        let mut index = at;
        let mut below = size / digits.iter().map(|digit| digit.size).product::<usize>();
        for &digit in digits.iter().rev() {
            let coordinate = self.coordinate(mesh, digit)?;
            // Where the index is below the digit, nothing is above it to move apart.
            let is_below = below <= digit.stride;
            let spread = if is_below { index } else { self.spread_above(index, digit)? };
            below *= digit.size;
            let first = self.multiply_scalar(coordinate, digit.stride as f64)?;
            let shape = self.shape(spread).clone();
            let first = self.broadcast_in_dim(first, &[], shape)?;
            index = self.add(spread, first)?;
        }
        Ok(index)
    }

    /// `index` with what counts blocks of `stride` counting blocks of `size * stride`.
    fn spread_above(&mut self, index: Value, DimShard { size, stride, .. }: DimShard) -> Result<Value> {
        let stride = self.splat_like(index, stride as f64)?;
        let (high, low) = (self.divide(index, stride)?, self.remainder(index, stride)?);
        let size = self.splat_like(index, size as f64)?;
        let step = self.multiply(size, stride)?;
        let high = self.multiply(high, step)?;
        self.add(high, low)
    }

    /// The shard of the whole tensor `x` that this rank keeps.
    ///
    /// # Errors
    /// When the sharding does not fit.
    pub fn keep(&mut self, mesh: &Mesh, x: Value, sharding: &Sharding) -> Result<Value> {
        let mut x = x;
        for (dim, digits) in sharding.0.iter().enumerate() {
            for (position, &digit) in digits.iter().enumerate() {
                let before = DimShards::from_slice(&digits[..position]);
                x = self.keep_digit(mesh, x, dim, (&before, digit))?;
            }
        }
        Ok(x)
    }

    /// The part of `x` that this rank keeps when dimension `dim` is sharded by a digit too; `digits` shard it already.
    ///
    /// # Errors
    /// When the digit does not divide the dimension.
    pub fn keep_digit(
        &mut self,
        mesh: &Mesh,
        x: Value,
        dim: usize,
        (digits, digit): (&DimShards, DimShard),
    ) -> Result<Value> {
        let low = local_stride(digits, &digit);
        let at = self.coordinate(mesh, digit)?;
        self.apart(x, dim, (digit.size, low), |b, x, dim| {
            let mut shape = b.shape(x).clone();
            shape[dim] = low;
            let first = if low == 1 { at } else { b.multiply_scalar(at, low as f64)? };
            let zero = b.splat(DType::S32, Shape::scalar(), 0.0)?;
            let starts: Vec<Value> = (0..shape.rank()).map(|other| if other == dim { first } else { zero }).collect();
            b.dynamic_slice(x, &starts, shape)
        })
    }

    /// Applies `f` to `x` and a dimension of `size` blocks of `low` indices. A longer dimension is split for `f`: a dimension before it
    /// counts the groups of `size` blocks. Both are merged again.
    ///
    /// # Errors
    /// Those of `f`.
    pub fn apart(
        &mut self,
        x: Value,
        dim: usize,
        (size, low): (usize, usize),
        f: impl FnOnce(&mut Self, Value, usize) -> Result<Value>,
    ) -> Result<Value> {
        let shape = self.shape(x).clone();
        let high = shape[dim] / (size * low);
        if high <= 1 {
            return f(self, x, dim);
        }
        let split =
            |own: &[usize]| -> Dims { shape[..dim].iter().chain(own).chain(&shape[dim + 1..]).copied().collect() };
        let x = self.reshape(x, split(&[high, size * low]))?;
        let x = f(self, x, dim + 1)?;
        let kept = self.shape(x)[dim + 1];
        self.reshape(x, split(&[high * kept]))
    }
}
