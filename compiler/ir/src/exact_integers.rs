//! Whether integer arithmetic is exact on engines that compute integers in `f32`.

use crate::composite::Composite;
use crate::ops::{Op, Reduction};
use crate::registry::Registry;
use crate::syntax::{Function, Inst, Value};
use crate::ty::TensorType;
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
    let params = function.params.iter().map(|param| Range::of(function.ty(param.value).dtype())).collect();
    Analysis::run(function, registry, params).map(drop)
}

/// Ranges of the values of one function; `None` for floats.
struct Analysis<'a> {
    function: &'a Function,
    registry: &'a Registry,
    ranges: Vec<Option<Range>>,
}

impl<'a> Analysis<'a> {
    /// The ranges of the results, given those of the parameters.
    fn run(function: &'a Function, registry: &'a Registry, params: Vec<Option<Range>>) -> Result<Vec<Option<Range>>> {
        let ranges = function.values.iter().map(|value| Range::of(value.ty.dtype())).collect();
        let mut analysis = Self { function, registry, ranges };
        for (param, range) in function.params.iter().zip(params) {
            analysis.ranges[param.value.index()] = range;
        }
        for inst in &function.insts {
            analysis.visit(inst)?;
        }
        Ok(function.results.iter().map(|result| analysis.range(result.value)).collect())
    }

    fn range(&self, value: Value) -> Option<Range> {
        self.ranges[value.index()]
    }

    /// The range of an operand; every integer for a float.
    fn operand(&self, inst: &Inst, at: usize) -> Range {
        inst.args.get(at).and_then(|&arg| self.range(arg)).unwrap_or(Range::ALL)
    }

    fn visit(&mut self, inst: &Inst) -> Result<()> {
        if let Op::Composite(composite) = &inst.op {
            return self.visit_composite(inst, composite);
        }
        let is_int = |&value: &Value| self.function.ty(value).dtype().is_int();
        if !inst.args.iter().chain(&inst.results).any(is_int) && !matches!(inst.op, Op::Call(_)) {
            return Ok(());
        }
        let result = if let Some(range) = self.raw(inst) {
            range
        } else if let Some(range) = self.arithmetic(inst) {
            self.require_exact(inst, range)?
        } else {
            return Err(self.unknown(inst));
        };
        for &value in &inst.results {
            // What does not fit the type is cut to it.
            let of_type = Range::of(self.function.ty(value).dtype());
            self.ranges[value.index()] = of_type.map(|all| if result.within(all) { result } else { all });
        }
        Ok(())
    }

    /// The range of what works on bits or moves elements, and is exact for all of them.
    fn raw(&self, inst: &Inst) -> Option<Range> {
        let (x, y) = (self.operand(inst, 0), self.operand(inst, 1));
        Some(match &inst.op {
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
            Op::Reduce(reduce) if matches!(reduce.kind, Reduction::And | Reduction::Or) => Range::ALL,
            Op::Convert(_) | Op::Reshape(_) | Op::Transpose(_) | Op::BroadcastInDim(_) => x,
            Op::Slice(_) | Op::Reverse(_) => x,
            Op::Pad(_) => x.union(y),
            Op::Select(_) => y.union(self.operand(inst, 2)),
            Op::Concatenate(_) => (1..inst.args.len()).fold(x, |range, at| range.union(self.operand(inst, at))),
            _ => return None,
        })
    }

    /// The range of arithmetic, before any wrapping.
    fn arithmetic(&self, inst: &Inst) -> Option<Range> {
        let (x, y) = (self.operand(inst, 0), self.operand(inst, 1));
        if inst.args.iter().any(|&arg| self.range(arg).is_none()) {
            return None;
        }
        Some(match &inst.op {
            Op::Add(_) => x + y,
            Op::Subtract(_) => x - y,
            Op::Multiply(_) => x * y,
            Op::Maximum(_) => x.maximum(y),
            Op::Minimum(_) => x.minimum(y),
            Op::Compare(_) => Range::new(0, 1),
            Op::Reduce(reduce) => {
                let sizes = self.function.ty(inst.args[0]).shape();
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

    fn require_exact(&self, inst: &Inst, result: Range) -> Result<Range> {
        let limit = Range::new(1 - LIMIT, LIMIT - 1);
        let fits = |&value: &Value| Range::of(self.function.ty(value).dtype()).is_some_and(|all| result.within(all));
        let mut operands = inst.args.iter().filter_map(|&arg| self.range(arg));
        if operands.all(|range| range.within(limit)) && result.within(limit) && inst.results.iter().all(fits) {
            return Ok(result);
        }
        let what = self.describe(inst);
        let message = format!("{what} gives integers in {result}, which may not be exact in `f32`");
        Err(self.with_operands(inst, Diagnostic::error(codes::INEXACT_INTEGER, message)))
    }

    fn unknown(&self, inst: &Inst) -> Diagnostic {
        let message = format!("{} computes with integers in a way that is not known to be exact", self.describe(inst));
        self.with_operands(inst, Diagnostic::error(codes::INEXACT_INTEGER, message))
    }

    /// ``  `%3 = add u32[4]` ``
    fn describe(&self, inst: &Inst) -> String {
        let name = inst.op.name();
        match inst.results.first() {
            Some(&result) => {
                format!("`{result:?} = {name} .. : {}` of `@{}`", self.function.ty(result), self.function.name)
            }
            None => format!("`{name}` of `@{}`", self.function.name),
        }
    }

    fn with_operands(&self, inst: &Inst, diagnostic: Diagnostic) -> Diagnostic {
        inst.args.iter().fold(diagnostic, |diagnostic, &arg| match self.range(arg) {
            Some(range) => diagnostic.note(format!("`{arg:?}` is in {range}")),
            None => diagnostic,
        })
    }

    /// Goes through the decomposition with the ranges of the operands.
    fn visit_composite(&mut self, inst: &Inst, composite: &Composite) -> Result<()> {
        let types: Vec<&TensorType> = inst.args.iter().map(|&arg| self.function.ty(arg)).collect();
        let body = composite.decompose(self.registry, &types)?;
        let args = inst.args.iter().map(|&arg| self.range(arg)).collect();
        let results = Analysis::run(&body, self.registry, args)?;
        for (&value, range) in inst.results.iter().zip(results) {
            self.ranges[value.index()] = range;
        }
        Ok(())
    }
}
