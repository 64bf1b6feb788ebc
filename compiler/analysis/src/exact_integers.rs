//! Whether integer arithmetic is exact on engines that compute integers in `f32`.

use crate::forward::{At, Body, Forward, Walk};
use halite_ir::ops::Reduction;
use halite_ir::{Function, Inst, Op, Registry, TensorType, Value};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::IntRange as Range;

/// `f32` holds every integer up to this magnitude. The vector engines of targets compute integer arithmetic in
/// `f32`; shifts and bitwise ops work on the bits (`NKI` architecture guide).
const LIMIT: i128 = 1 << 24;

/// Proves that a function's integer arithmetic is exact in `f32`, whatever its inputs.
///
/// From the ranges of constants, `iota`, masks and shifts it follows the range of every integer. Operands and results
/// of additions, subtractions, multiplications, comparisons, minima, maxima and reductions, partial sums among them,
/// must lie strictly between -2^24 and 2^24. Bitwise ops, shifts, choices, conversions and movement of elements may
/// have any operands. Composites are looked into. Inputs and results of float operations are taken to have any value of
/// their type.
///
/// # Errors
/// Naming the first instruction that is not proven, with the ranges of its operands; also calls and other ops on
/// integers, of which nothing is known.
pub fn check_exact_integers(function: &Function, registry: &Registry) -> Result<()> {
    let params: Vec<Fact> = function.params.iter().map(|param| Range::of(function.ty(param.value).dtype())).collect();
    Walk::new(None, registry, ExactIntegers).run(function, &params, None).map(drop)
}

/// The range of a value; `None` of floats.
type Fact = Option<Range>;

struct ExactIntegers;

impl Forward for ExactIntegers {
    type Fact = Fact;
    type Aside = ();

    /// Every result has to be exact, even one that nothing reads.
    const SKIPS_UNREAD: bool = false;

    fn unknown(&self, ty: &TensorType) -> Fact {
        Range::of(ty.dtype())
    }

    fn body(&self, at: &At<'_>) -> Option<Body> {
        Body::decomposition(at)
    }

    fn apply(&mut self, at: &At<'_>, args: &[Fact]) -> Result<Vec<Fact>> {
        let &At { function, inst, .. } = at;
        Computed { function, inst, args }.results()
    }
}

/// An instruction with the ranges of its operands.
struct Computed<'a> {
    function: &'a Function,
    inst: &'a Inst,
    args: &'a [Fact],
}

impl Computed<'_> {
    /// The range of an operand; every integer for a float.
    fn operand(&self, at: usize) -> Range {
        self.args.get(at).copied().flatten().unwrap_or(Range::ALL)
    }

    fn results(&self) -> Result<Vec<Fact>> {
        let inst = self.inst;
        let of_type = |&value: &Value| Range::of(self.function.ty(value).dtype());
        let is_int = |&value: &Value| self.function.ty(value).dtype().is_int();
        if !inst.args.iter().chain(&inst.results).any(is_int) && inst.op.callee().is_none() {
            return Ok(inst.results.iter().map(of_type).collect());
        }
        let result = if let Some(range) = self.raw() {
            range
        } else if let Some(range) = self.arithmetic() {
            self.require_exact(range)?
        } else {
            return Err(self.unknown());
        };
        // A range that does not fit the type becomes that of the type.
        let cut = |all: Range| if result.within(all) { result } else { all };
        Ok(inst.results.iter().map(|value| of_type(value).map(cut)).collect())
    }

    /// The range of what works on bits or moves elements, and is exact for all of them.
    fn raw(&self) -> Option<Range> {
        let (x, y) = (self.operand(0), self.operand(1));
        Some(match &self.inst.op {
            Op::Constant(constant) => {
                let ints = constant.value.ints().into_iter().map(|int| Range::new(int, int));
                ints.reduce(Range::union).unwrap_or(Range::ZERO)
            }
            Op::Iota(iota) => Range::new(0, iota.ty.shape()[iota.dim].max(1) as i128 - 1),
            Op::And(_) => x.and(y),
            Op::Or(_) | Op::Xor(_) => x.or(y),
            Op::ShiftLeft(_) => x.shift_left(y),
            Op::ShiftRightLogical(_) => x.shift_right_logical(y),
            Op::BitcastConvert(_) if x.low >= 0 => x,
            Op::BitcastConvert(_) | Op::Not(_) | Op::ShiftRightArithmetic(_) => Range::ALL,
            Op::Reduce(reduce) if matches!(reduce.kind, Reduction::And | Reduction::Or | Reduction::Xor) => Range::ALL,
            Op::Convert(_) | Op::Reshape(_) | Op::Transpose(_) | Op::BroadcastInDim(_) => x,
            Op::Slice(_) | Op::Reverse(_) => x,
            Op::Pad(_) => x.union(y),
            Op::Select(_) => y.union(self.operand(2)),
            Op::Concatenate(_) => (1..self.args.len()).fold(x, |range, at| range.union(self.operand(at))),
            _ => return None,
        })
    }

    /// The range of arithmetic, before any wrapping.
    fn arithmetic(&self) -> Option<Range> {
        let (x, y) = (self.operand(0), self.operand(1));
        if self.args.iter().any(Option::is_none) {
            return None;
        }
        Some(match &self.inst.op {
            Op::Add(_) => x + y,
            Op::Subtract(_) => x - y,
            Op::Multiply(_) => x * y,
            Op::Maximum(_) => x.maximum(y),
            Op::Minimum(_) => x.minimum(y),
            Op::Compare(_) => Range::new(0, 1),
            Op::Reduce(reduce) if reduce.kind != Reduction::Product => {
                let sizes = self.function.ty(self.inst.args[0]).shape();
                match (reduce.kind, reduce.dims.iter().map(|&dim| sizes[dim] as i128).product()) {
                    (Reduction::Sum, count) => x.sum_of(count),
                    // The extreme of no element is the end of the type.
                    (_, 0) => Range::ALL,
                    _ => x,
                }
            }
            _ => return None,
        })
    }

    fn require_exact(&self, result: Range) -> Result<Range> {
        let limit = Range::new(1 - LIMIT, LIMIT - 1);
        let fits = |&value: &Value| Range::of(self.function.ty(value).dtype()).is_some_and(|all| result.within(all));
        let mut operands = self.args.iter().flatten();
        if operands.all(|range| range.within(limit)) && result.within(limit) && self.inst.results.iter().all(fits) {
            return Ok(result);
        }
        let what = self.describe();
        let message = format!("{what} gives integers in {result}, which may not be exact in `f32`");
        Err(self.with_operands(Diagnostic::error(codes::INEXACT_INTEGER, message)))
    }

    fn unknown(&self) -> Diagnostic {
        let message = format!("{} computes with integers in a way that is not known to be exact", self.describe());
        self.with_operands(Diagnostic::error(codes::INEXACT_INTEGER, message))
    }

    /// ``  `%3 = add u32[4]` ``
    fn describe(&self) -> String {
        let name = self.inst.op.name();
        match self.inst.results.first() {
            Some(&result) => {
                format!("`{result:?} = {name} .. : {}` of `@{}`", self.function.ty(result), self.function.name)
            }
            None => format!("`{name}` of `@{}`", self.function.name),
        }
    }

    fn with_operands(&self, diagnostic: Diagnostic) -> Diagnostic {
        let ranges = self.inst.args.iter().zip(self.args).filter_map(|(arg, range)| Some((arg, (*range)?)));
        ranges.fold(diagnostic, |diagnostic, (arg, range)| diagnostic.note(format!("`{arg:?}` is in {range}")))
    }
}
