//! Integers that are computed from batch inputs.

use halite_bundle::{Computed, MapOp, Step};
use halite_ir::ops::Direction;
use halite_ir::{Function, Inst, Op, ParamRole, Value};
use halite_tensor::{DType, Shape};

/// The most instructions that are followed.
const MOST_STEPS: usize = 256;

/// The position of the first input that a value is computed from, and the computation. `None` where the value is computed from no
/// input, or by an operation that is not followed: floats, sums, sorts, lookups, functions.
pub(super) fn computed(entry: &Function, value: Value) -> Option<(usize, Computed)> {
    let mut needed = vec![false; entry.values.len()];
    needed[value.index()] = true;
    let mut insts = Vec::new();
    for (at, inst) in entry.insts.iter().enumerate().rev() {
        if inst.results.iter().any(|result| needed[result.index()]) {
            inst.args.iter().for_each(|arg| needed[arg.index()] = true);
            insts.push(at);
        }
    }
    if insts.len() > MOST_STEPS {
        return None;
    }
    let mut steps = Steps { entry, steps: Vec::new(), at: vec![None; entry.values.len()] };
    let mut first = None;
    for (position, param) in entry.params.iter().enumerate().filter(|(_, param)| needed[param.value.index()]) {
        let ty = entry.ty(param.value);
        if param.role != ParamRole::Batch || ty.dtype().is_float() {
            return None;
        }
        first = first.or(Some(position));
        steps.push(param.value, Step::Input { name: param.name.to_string(), shape: ty.shape().to_vec() });
    }
    insts.iter().rev().try_for_each(|&at| steps.inst(&entry.insts[at]))?;
    Some((first?, Computed { steps: steps.steps }))
}

struct Steps<'a> {
    entry: &'a Function,
    steps: Vec<Step>,
    /// For each value, the step that it is the result of.
    at: Vec<Option<usize>>,
}

impl Steps<'_> {
    fn push(&mut self, value: Value, step: Step) {
        self.at[value.index()] = Some(self.steps.len());
        self.steps.push(step);
    }

    fn inst(&mut self, inst: &Inst) -> Option<()> {
        let &[result] = &inst.results[..] else { return None };
        let ty = self.entry.ty(result);
        if ty.dtype().is_float() {
            return None;
        }
        let of = inst.args.iter().map(|arg| self.at[arg.index()]).collect::<Option<Vec<_>>>()?;
        let step = match &inst.op {
            Op::Constant(constant) => {
                self.steps.push(Step::Number(number(&constant.value)?));
                let of = self.steps.len() - 1;
                let strides = vec![0; constant.shape.rank()];
                Step::View { of, shape: constant.shape.to_vec(), offset: 0, strides }
            }
            Op::Iota(iota) => Step::Iota { dim: iota.dim, shape: iota.ty.shape().to_vec() },
            Op::Concatenate(concatenate) => Step::Concatenate { of, dim: concatenate.dim },
            op => match (view(op, self.entry.ty(*inst.args.first()?).shape(), ty.shape()), &of[..]) {
                (Some((offset, strides)), &[of]) => Step::View { of, shape: ty.shape().to_vec(), offset, strides },
                _ => Step::Map { op: map_op(op, ty.dtype())?, of, dtype: ty.dtype() },
            },
        };
        self.push(result, step);
        Some(())
    }
}

/// The one number that a constant holds.
fn number(value: &halite_tensor::HostTensor) -> Option<i64> {
    let first = *value.splat_value()?.ints().first()?;
    i64::try_from(first).ok()
}

/// The view that an operation which only moves elements takes of its operand, of shape `from`: the offset of the first element, and the
/// stride along each dimension.
fn view(op: &Op, from: &Shape, to: &Shape) -> Option<(i64, Vec<i64>)> {
    let strides = |shape: &Shape| -> Vec<i64> { shape.strides().iter().map(|&stride| stride as i64).collect() };
    let own = strides(from);
    Some(match op {
        Op::Reshape(_) => (0, strides(to)),
        Op::Transpose(transpose) => (0, transpose.permutation.iter().map(|&dim| own[dim]).collect()),
        Op::BroadcastInDim(broadcast) => {
            let mut along = vec![0; to.rank()];
            for (dim, &of) in broadcast.dims.iter().enumerate().filter(|(dim, _)| from[*dim] != 1) {
                along[of] = own[dim];
            }
            (0, along)
        }
        Op::Slice(slice) => {
            let offset = slice.start.iter().zip(&own).map(|(&start, stride)| start as i64 * stride).sum();
            (offset, slice.stride.iter().zip(&own).map(|(&step, stride)| step as i64 * stride).collect())
        }
        Op::Reverse(reverse) => {
            let mut along = own.clone();
            reverse.dims.iter().for_each(|&dim| along[dim] = -own[dim]);
            let last = |&dim: &usize| (from[dim] as i64 - 1).max(0) * own[dim];
            (reverse.dims.iter().map(last).sum(), along)
        }
        _ => return None,
    })
}

fn map_op(op: &Op, dtype: DType) -> Option<MapOp> {
    Some(match op {
        Op::Add(_) => MapOp::Add,
        Op::Subtract(_) => MapOp::Subtract,
        Op::Multiply(_) => MapOp::Multiply,
        Op::Negate(_) => MapOp::Negate,
        Op::Minimum(_) => MapOp::Minimum,
        Op::Maximum(_) => MapOp::Maximum,
        Op::Clamp(_) => MapOp::Clamp,
        Op::And(_) => MapOp::And,
        Op::Or(_) => MapOp::Or,
        Op::Xor(_) => MapOp::Xor,
        // Of numbers it turns bits around.
        Op::Not(_) if dtype == DType::Pred => MapOp::Not,
        Op::Select(_) => MapOp::Select,
        Op::Convert(_) => MapOp::Convert,
        Op::Compare(compare) => match compare.direction {
            Direction::Eq => MapOp::Equal,
            Direction::Ne => MapOp::NotEqual,
            Direction::Lt => MapOp::Less,
            Direction::Le => MapOp::LessOrEqual,
            Direction::Gt => MapOp::Greater,
            Direction::Ge => MapOp::GreaterOrEqual,
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Session;
    use halite_bundle::tensors::Tensors;
    use halite_ir::Interpreter;
    use halite_tensor::HostTensor;

    /// Every operation that is followed, some on numbers that wrap.
    const FOLLOWED: &str = "\
func @main(%labels: s32[4,6] {batch}, %small: u8[4,6] {batch}, %mask: pred[4] {batch}) -> (s32[6,4], u8[4,6], pred[4,6], s32[4,6], s32[3,4], s32[4,6]) {
  %none = constant -100 : s32[4,6]
  %wide = broadcast_in_dim %mask {dims = [0]} : pred[4,6]
  %kept = select %wide, %labels, %none : s32[4,6]
  %turned = transpose %kept {permutation = [1, 0]} : s32[6,4]
  %added = add %small, %small : u8[4,6]
  %less = compare %labels, %none {direction = LT} : pred[4,6]
  %not = not %less : pred[4,6]
  %either = or %not, %wide : pred[4,6]
  %at = iota {dim = 1} : s32[4,6]
  %product = multiply %labels, %at : s32[4,6]
  %negative = negate %product : s32[4,6]
  %less_at = subtract %negative, %at : s32[4,6]
  %most = maximum %less_at, %none : s32[4,6]
  %least = minimum %most, %at : s32[4,6]
  %part = slice %least {start = [0, 1], limit = [4, 6], stride = [1, 2]} : s32[4,3]
  %flat = reshape %part : s32[12]
  %back = reverse %flat {dims = [0]} : s32[12]
  %three = reshape %back : s32[3,4]
  %next = slice %labels {start = [0, 1], limit = [4, 6], stride = [1, 1]} : s32[4,5]
  %end = slice %none {start = [0, 0], limit = [4, 1], stride = [1, 1]} : s32[4,1]
  %shifted = concatenate %next, %end {dim = 1} : s32[4,6]
  %converted = convert %shifted : u8[4,6]
  %wider = convert %converted : s32[4,6]
  return %turned, %added, %either, %wider, %three, %shifted
}
";

    /// The recorded computation gives the values of the interpreter, also where several batches stand one after another.
    #[test]
    fn what_is_followed_means_what_the_interpreter_says() {
        let mut session = Session::new();
        let file = session.sources.add("followed.ir", FOLLOWED);
        let module =
            halite_ir::text::parse(FOLLOWED, file, &session.registry).unwrap_or_else(|errors| panic!("{errors:?}"));
        let entry = module.entry().expect("it has one");
        let ints = |dtype, shape: &[usize], seed: i128| {
            let count = shape.iter().product::<usize>() as i128;
            HostTensor::from_ints(dtype, shape, (0..count).map(|at| (at * 7919 + seed * 104_729) % 613 - 300))
        };
        let batch = |seed| {
            let mask = HostTensor::from_ints(DType::Pred, [4], (0..4).map(|at| (at + seed) % 2));
            vec![ints(DType::S32, &[4, 6], seed), ints(DType::U8, &[4, 6], seed + 5), mask]
        };
        let batches = [batch(1), batch(2)];
        let mut both = batches[0].clone();
        both.iter_mut().zip(&batches[1]).for_each(|(first, second)| first.append(second));
        let named = |values: &[HostTensor]| -> Tensors {
            entry.params.iter().map(|param| param.name.to_string()).zip(values.iter().cloned()).collect()
        };
        let run =
            |values: &[HostTensor]| Interpreter::of(&module, &session.registry).run(entry, values.to_vec()).unwrap();
        let expected = batches.each_ref().map(|batch| run(batch));
        for (at, result) in entry.results.iter().enumerate() {
            let (_, computed) = computed(entry, result.value).unwrap_or_else(|| panic!("result {at} is followed"));
            let found = computed.of(&named(&both)).expect("it is computed");
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!((found.shape(), found.ints()), (expected[at].shape(), expected[at].ints()), "result {at}");
            }
            assert_eq!((found.len(), computed.of(&named(&batches[1]))), (2, Some(found[1..].to_vec())));
        }
    }
}
