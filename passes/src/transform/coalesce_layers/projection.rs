//! Finds the instructions that are projections.

use super::bound::{Bound, Calls};
use super::uses::Uses;
use halite_ir::composites::linear::{BIAS, Linear};
use halite_ir::ops::DotGeneral;
use halite_ir::{Def, Function, Inst, Op, Value};
use halite_tensor::DType;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// A product of a value with a weight that nothing else reads.
pub(super) struct Projection {
    /// The position of the product.
    pub(super) at: usize,
    /// The position of the weight among the parameters.
    pub(super) weight: usize,
    /// Whether the weight is stored `[in, out]`.
    pub(super) transposed: bool,
    /// Whether the weight is the left operand, so that `out` comes first.
    pub(super) mirrored: bool,
    /// The bias, if there is one that nothing else reads.
    pub(super) bias: Option<Bias>,
}

/// The bias that is added to a product.
pub(super) struct Bias {
    /// The position of the bias among the parameters.
    pub(super) param: usize,
    /// The positions of its broadcast and of the sum; a `linear` has none.
    pub(super) added: Option<[usize; 2]>,
}

/// A product that reads a value as its input.
pub(super) enum Product {
    Projection(Projection),
    /// The product at this position is none, for this reason.
    Other(usize, &'static str),
}

/// For each value of a function in the order of the first product with it, the products.
pub(super) fn products(
    function: &Function,
    calls: &Calls,
    uses: &Uses,
    packs: impl Fn(usize) -> bool,
) -> IndexMap<Value, Vec<Product>, FxBuildHasher> {
    let packs: Vec<bool> =
        (0..function.params.len()).map(|param| calls.own(param).iter().any(|&weight| packs(weight))).collect();
    let finder = Finder { function, calls, uses, packs };
    let mut products: IndexMap<Value, Vec<Product>, FxBuildHasher> = IndexMap::default();
    for (at, inst) in function.insts.iter().enumerate() {
        let Some(sides) = finder.sides(inst) else { continue };
        let found = match finder.projection(at, inst, sides) {
            Ok(projection) => Product::Projection(projection),
            Err(reason) => Product::Other(at, reason),
        };
        products.entry(sides.input).or_default().push(found);
    }
    products
}

/// The operands of a product.
#[derive(Clone, Copy)]
struct Sides {
    input: Value,
    weight: Value,
    /// Whether the weight is the left operand.
    mirrored: bool,
}

struct Finder<'a> {
    function: &'a Function,
    calls: &'a Calls,
    uses: &'a Uses,
    /// For each parameter, whether a weight that it is packs several tensors.
    packs: Vec<bool>,
}

impl Finder<'_> {
    /// The operands of a product: the weight is the right one unless only the left one is a parameter of that kind.
    fn sides(&self, inst: &Inst) -> Option<Sides> {
        let is_weight = |value| self.weight(value).is_some();
        match (&inst.op, inst.args.as_slice()) {
            (Op::DotGeneral(_), &[left, right]) if is_weight(left) && !is_weight(right) => {
                Some(Sides { input: right, weight: left, mirrored: true })
            }
            (Op::DotGeneral(_), &[input, weight]) => Some(Sides { input, weight, mirrored: false }),
            (Op::Composite(composite), &[input, weight, ..]) if composite.is(&Linear) => {
                Some(Sides { input, weight, mirrored: false })
            }
            _ => None,
        }
    }

    /// The projection that a product is, or why it is none.
    fn projection(&self, at: usize, inst: &Inst, sides: Sides) -> Result<Projection, &'static str> {
        let Sides { input, weight, mirrored } = sides;
        let param = self.weight(weight).ok_or("the product has no parameter of the model")?;
        if self.packs[param] {
            return Err("it packs several tensors already");
        }
        let transposed = match &inst.op {
            Op::DotGeneral(dot) => self.stored_by_columns(dot, sides)?,
            _ => false,
        };
        if self.weight(input).is_some() {
            return Err("its input is itself a weight");
        }
        if self.alone(weight).is_none() {
            return Err("it has another use");
        }
        if !is_wide(self.function.ty(input).dtype())
            || self.function.ty(inst.results[0]).dtype() != self.function.ty(input).dtype()
        {
            return Err("the product rounds: models compute in `f32` or `f64` before mixed precision");
        }
        let bias = self.bias(inst, mirrored);
        Ok(Projection { at, weight: param, transposed, mirrored, bias })
    }

    /// The position of a value among the parameters, if it is a weight at each call.
    fn weight(&self, value: Value) -> Option<usize> {
        let Def::Param(position) = self.function.values[value.index()].def else { return None };
        let param = position as usize;
        self.calls.params.get(param).is_some_and(|bound| *bound != Bound::Other).then_some(param)
    }

    /// That of a weight that one instruction reads, and nothing elsewhere.
    fn alone(&self, value: Value) -> Option<usize> {
        let param = self.weight(value)?;
        let read_here = self.uses.only(self.function, value).is_some();
        (read_here && !self.calls.own(param).is_empty()).then_some(param)
    }

    /// Whether the weight of a plain product is stored `[in, out]`.
    fn stored_by_columns(&self, dot: &DotGeneral, sides: Sides) -> Result<bool, &'static str> {
        let (input, weight) = (self.function.ty(sides.input), self.function.ty(sides.weight));
        let (of_input, of_weight) =
            if sides.mirrored { (&dot.contract.1, &dot.contract.0) } else { (&dot.contract.0, &dot.contract.1) };
        if !dot.batch.0.is_empty() {
            return Err("the product has batch dimensions");
        }
        match (of_input.as_slice(), of_weight.as_slice()) {
            (&[last], &[inner]) if last + 1 == input.rank() && weight.rank() == 2 => Ok(inner == 0),
            _ => Err("the product does not contract the last dimension of its input with one of a matrix"),
        }
    }

    /// A bias that only this product takes: that of `linear`, or a vector added to each row.
    fn bias(&self, product: &Inst, mirrored: bool) -> Option<Bias> {
        if let Op::Composite(linear) = &product.op {
            let bias = linear.optional(BIAS, &product.args)?;
            return Some(Bias { param: self.vector(bias)?, added: None });
        }
        let product = product.results[0];
        let add = self.uses.only(self.function, product)?;
        let inst = &self.function.insts[add];
        let &[left, right] = inst.args.as_slice() else { return None };
        let other = if left == product { right } else { left };
        let Def::Inst(spread, _) = self.function.values[other.index()].def else { return None };
        let Op::BroadcastInDim(broadcast) = &self.function.insts[spread as usize].op else { return None };
        let out = if mirrored { 0 } else { self.function.ty(product).rank() - 1 };
        let added = matches!(inst.op, Op::Add(_)) && broadcast.dims[..] == [out];
        if !added || self.uses.only(self.function, other).is_none() {
            return None;
        }
        let param = self.vector(self.function.insts[spread as usize].args[0])?;
        Some(Bias { param, added: Some([spread as usize, add]) })
    }

    /// The position of a weight that is a vector and read once.
    fn vector(&self, value: Value) -> Option<usize> {
        let param = self.alone(value)?;
        (self.function.ty(value).rank() == 1 && !self.packs[param]).then_some(param)
    }
}

fn is_wide(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64)
}
