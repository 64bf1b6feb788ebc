//! Division of whole numbers by comparison.

use halite_ir::ops::Direction;
use halite_ir::{Builder, Function, Inst, Module, Op, ParamRole, Registry, Rewriter, Value};
use halite_support::Result;
use halite_tensor::{Content, DType, IntRange};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// The largest quotient that is made by comparison.
const LARGEST: i128 = 255;

/// Replaces divisions of whole numbers, none below 0, by a constant that is no power of two: compares the numbers with multiples of the
/// constant, as many as quotients may be large. For numbers that name ranks, that is the number of ranks. Others stay.
///
/// ```text
/// %q = divide %ids, 16000     =>     %q = convert (%ids >= 16000)
/// %r = remainder %ids, 16000         %r = %ids - %q * 16000
/// ```
///
/// # Errors
/// A bug when the entry cannot be copied.
pub(super) fn divide_by_comparison(module: &mut Module, registry: &Registry) -> Result<()> {
    let ranks = module.layout.as_ref().map_or(1, |layout| layout.mesh.num_ranks());
    let Some(entry) = module.functions.pop() else { return Ok(()) };
    let ranges = ranges(&entry, ranks);
    let quotients: Vec<Option<Quotient>> = entry.insts.iter().map(|inst| quotient(&entry, inst, &ranges)).collect();
    if quotients.iter().all(Option::is_none) {
        module.functions.push(entry);
        return Ok(());
    }
    let mut rewriter = Rewriter::without_params(module, registry, &entry);
    for param in &entry.params {
        rewriter.copy_param(&entry, param);
    }
    let mut known: FxHashMap<(Value, i128), Value> = FxHashMap::default();
    for (inst, quotient) in entry.insts.iter().zip(quotients) {
        match quotient {
            None => rewriter.copy(&entry, inst)?,
            Some(quotient) => {
                let x = rewriter.value(inst.args[0])?;
                let outer = rewriter.set_loc(inst.loc);
                // What a value is divided by is asked for its remainder too.
                let made = match known.entry((x, quotient.divisor)) {
                    Entry::Occupied(made) => *made.get(),
                    Entry::Vacant(new) => *new.insert(quotient.emit(&mut rewriter, x)?),
                };
                let value = match &inst.op {
                    Op::Remainder(_) => quotient.rest(&mut rewriter, x, made)?,
                    _ => made,
                };
                rewriter.set_loc(outer);
                rewriter.replace(inst.results[0], value);
            }
        }
    }
    rewriter.finish(&entry).map(drop)
}

/// A division: by what, and how large its quotient may be.
#[derive(Clone, Copy)]
struct Quotient {
    divisor: i128,
    most: i128,
}

impl Quotient {
    /// The quotient of `x`: how many multiples of the divisor it reaches.
    fn emit(self, b: &mut Builder<'_>, x: Value) -> Result<Value> {
        let mut quotient = None;
        for multiple in 1..=self.most {
            let bound = b.splat_like(x, (multiple * self.divisor) as f64)?;
            let reached = b.compare(x, bound, Direction::Ge)?;
            let reached = b.convert(reached, b.dtype(x))?;
            quotient = Some(match quotient {
                None => reached,
                Some(quotient) => b.add(quotient, reached)?,
            });
        }
        quotient.map_or_else(|| b.splat_like(x, 0.0), Ok)
    }

    /// The remainder of `x`.
    fn rest(self, b: &mut Builder<'_>, x: Value, quotient: Value) -> Result<Value> {
        let whole = b.multiply_scalar(quotient, self.divisor as f64)?;
        b.subtract(x, whole)
    }
}

/// The quotient that an instruction computes, where that is to be done by comparison.
fn quotient(entry: &Function, inst: &Inst, ranges: &[IntRange]) -> Option<Quotient> {
    if !matches!(inst.op, Op::Divide(_) | Op::Remainder(_)) || entry.ty(inst.results[0]).dtype() != DType::S32 {
        return None;
    }
    let [x, y] = [0, 1].map(|at| ranges[inst.args[at].index()]);
    let divisor = y.low;
    let is_power = divisor > 0 && divisor & (divisor - 1) == 0;
    if y.low != y.high || divisor <= 0 || is_power || x.low < 0 || x.high / divisor > LARGEST {
        return None;
    }
    Some(Quotient { divisor, most: x.high / divisor })
}

/// The range of each value of whole numbers, as far as constants, clamps and the number of ranks tell.
fn ranges(entry: &Function, ranks: usize) -> Vec<IntRange> {
    let of_type = |value: Value| IntRange::of(entry.ty(value).dtype()).unwrap_or(IntRange::ALL);
    let mut ranges: Vec<IntRange> = entry.values.iter().map(|_| IntRange::ALL).collect();
    for param in &entry.params {
        let is_rank = param.role == ParamRole::Known(Content::Ranks);
        let all = of_type(param.value);
        ranges[param.value.index()] = if is_rank { IntRange::new(0, ranks as i128 - 1) } else { all };
    }
    for inst in &entry.insts {
        let of = |at: usize| inst.args.get(at).map_or(IntRange::ALL, |arg| ranges[arg.index()]);
        let is_whole = inst.args.iter().all(|&arg| !entry.ty(arg).dtype().is_float());
        let found = match &inst.op {
            Op::Constant(constant) if !constant.value.dtype().is_float() => {
                let ints = constant.value.ints();
                ints.iter().min().zip(ints.iter().max()).map(|(&low, &high)| IntRange::new(low, high))
            }
            Op::Iota(iota) => Some(IntRange::new(0, iota.ty.shape()[iota.dim].max(1) as i128 - 1)),
            Op::ReplicaId(_) => Some(IntRange::new(0, ranks as i128 - 1)),
            _ if !is_whole => None,
            Op::Convert(_) | Op::BroadcastInDim(_) | Op::Reshape(_) | Op::Slice(_) | Op::Transpose(_) => Some(of(0)),
            Op::Clamp(_) => Some(IntRange::new(of(0).low, of(2).high.max(of(0).low))),
            Op::Add(_) => Some(of(0) + of(1)),
            Op::Subtract(_) => Some(of(0) - of(1)),
            Op::Multiply(_) => Some(of(0) * of(1)),
            Op::Divide(_) if of(1).low > 0 => Some(of(0).divide(of(1))),
            Op::Remainder(_) if of(1).low > 0 => Some(of(0).remainder(of(1))),
            _ => None,
        };
        for &result in &inst.results {
            let all = of_type(result);
            // What leaves the type wraps.
            ranges[result.index()] = found.filter(|found| found.within(all)).unwrap_or(all);
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_ir::Interpreter;
    use halite_support::SourceMap;
    use halite_tensor::HostTensor;

    const DIVIDED: &str = "\
func @main(%ids: s32[200]) -> (s32[200], s32[200], s32[200]) {
  %zero = constant 0 : s32[]
  %last = constant 150 : s32[]
  %seven = constant 7 : s32[200]
  %three = constant 3 : s32[200]
  %at = clamp %zero, %ids, %last : s32[200]
  %block = divide %at, %seven : s32[200]
  %own = remainder %at, %seven : s32[200]
  %third = remainder %block, %three : s32[200]
  return %block, %own, %third
}
";

    #[test]
    fn comparisons_give_what_divisions_do() {
        let (registry, mut sources) = (Registry::builtin(), SourceMap::new());
        let file = sources.add("divided.ir", DIVIDED);
        let before = halite_ir::text::parse(DIVIDED, file, &registry).unwrap();
        let mut after = before.clone();
        divide_by_comparison(&mut after, &registry).unwrap();
        let divides = |module: &Module| {
            let insts = module.entry().into_iter().flat_map(|entry| &entry.insts);
            insts.filter(|inst| matches!(inst.op, Op::Divide(_) | Op::Remainder(_))).count()
        };
        assert_eq!((divides(&before), divides(&after)), (3, 0));
        let ids = HostTensor::from_ints(DType::S32, [200], -20..180);
        let run = |module: &Module| {
            Interpreter::of(module, &registry).run(module.entry().unwrap(), vec![ids.clone()]).unwrap()
        };
        assert_eq!(run(&before), run(&after));
    }
}
