//! The elements of a value on both sides of the diagonal, bit for bit.

use super::layout::Axes;
use crate::transform::fold_constant::evaluate;
use halite_analysis::{Facts, Mask, MaskKind};
use halite_ir::composites::CausalMask;
use halite_ir::dims::FactorMap;
use halite_ir::ops::Constant;
use halite_ir::{Function, InferCx, Inst, Op, ParamRole, TensorType, Value};
use halite_tensor::{Content, DType, HostTensor, Indices};
use smallvec::SmallVec;

/// Elements that depend on nothing but whether the query sees the key.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Halves {
    /// The dimensions of query and key positions; `None` when all elements are equal.
    pub(super) axes: Option<Axes>,
    /// The element where `key <= query`, a scalar.
    pub(super) seen: HostTensor,
    /// The element elsewhere, a scalar.
    pub(super) unseen: HostTensor,
}

impl Halves {
    fn uniform(element: HostTensor) -> Self {
        Self { axes: None, seen: element.clone(), unseen: element }
    }

    fn new(axes: Axes, seen: HostTensor, unseen: HostTensor) -> Self {
        if seen == unseen { Self::uniform(seen) } else { Self { axes: Some(axes), seen, unseen } }
    }

    /// Whether an element is NaN. Such a mask is left as it is: back ends take liberties with operations that make NaN, such as minus
    /// infinity times 0.
    pub(super) fn has_nan(&self) -> bool {
        [&self.seen, &self.unseen].into_iter().any(|element| element.f64s()[0].is_nan())
    }

    /// Those of a recognised mask whose elements a number says exactly: any but zeros of floats, which have signs.
    fn of_mask(mask: &Mask, dtype: DType) -> Option<Self> {
        let scalar = |value: f64| HostTensor::scalar(dtype, value);
        let exact = !dtype.is_float() && mask.kind == MaskKind::Causal;
        exact.then(|| Self::new(Axes::of(mask), scalar(mask.seen), scalar(mask.unseen)))
    }
}

/// The halves of each value of a function that has them.
pub(super) fn halves(
    cx: InferCx<'_>,
    function: &Function,
    facts: &Facts,
    of_positions: &[bool],
) -> Vec<Option<Halves>> {
    let mut known: Vec<Option<Halves>> = vec![None; function.values.len()];
    for param in function.params.iter().filter(|param| param.role == ParamRole::Known(Content::Causal)) {
        let mask = facts.mask(param.value);
        known[param.value.index()] = mask.and_then(|mask| Halves::of_mask(&mask, DType::Pred));
    }
    for inst in &function.insts {
        if let ([result], false) = (inst.results.as_slice(), inst.rounds_at_random()) {
            let own = of_inst(cx, function, facts, &known, inst, *result);
            let by_facts = || facts.mask(*result).and_then(|mask| Halves::of_mask(&mask, function.ty(*result).dtype()));
            known[result.index()] = own.or_else(|| if of_positions[result.index()] { by_facts() } else { None });
        }
    }
    known
}

fn of_inst(
    cx: InferCx<'_>,
    function: &Function,
    facts: &Facts,
    known: &[Option<Halves>],
    inst: &Inst,
    result: Value,
) -> Option<Halves> {
    match &inst.op {
        Op::Constant(constant) if constant.is_splat() => Some(Halves::uniform((*constant.value).clone())),
        Op::Constant(constant) => facts.mask(result).and_then(|mask| of_literal(constant, &mask)),
        Op::BroadcastInDim(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Slice(_) | Op::Reverse(_) => {
            known[inst.args[0].index()].as_ref().and_then(|operand| moved(operand, facts, result))
        }
        _ => computed(cx, function, known, inst),
    }
}

/// For each value, whether it is made of positions and finite constants alone, so that facts, which take numbers to be finite, are exact.
pub(super) fn of_positions(cx: InferCx<'_>, function: &Function) -> Vec<bool> {
    let mut known = vec![false; function.values.len()];
    for param in function.params.iter().filter(|param| param.role == ParamRole::Known(Content::Causal)) {
        known[param.value.index()] = true;
    }
    for inst in &function.insts {
        let holds = inst.args.iter().all(|arg| known[arg.index()]) && keeps_finite(cx, function, inst);
        inst.results.iter().for_each(|result| known[result.index()] = holds);
    }
    known
}

/// Whether an instruction computes only finite numbers from finite ones, short of overflow.
fn keeps_finite(cx: InferCx<'_>, function: &Function, inst: &Inst) -> bool {
    match &inst.op {
        Op::Constant(constant) => constant.value.f64s().iter().all(|element| element.is_finite()),
        Op::Composite(composite) => composite.is(&CausalMask),
        Op::Divide(_) | Op::Power(_) | Op::Log(_) | Op::LogPlusOne(_) | Op::Sqrt(_) | Op::Rsqrt(_) => {
            inst.results.iter().all(|&result| !function.ty(result).dtype().is_float())
        }
        Op::ReplicaId(_) | Op::BitcastConvert(_) => false,
        op => inst.call().is_none() && !inst.rounds_at_random() && op.def().effect(&cx).movable,
    }
}

/// A literal all of whose elements are one of two by their place.
fn of_literal(constant: &Constant, mask: &Mask) -> Option<Halves> {
    let axes = (mask.kind == MaskKind::Causal).then(|| Axes::of(mask))?;
    let tensor = &constant.value;
    let (dtype, size) = (tensor.dtype(), tensor.dtype().size());
    let (mut seen, mut unseen) = (None, None);
    for (index, element) in Indices::new(tensor.shape()).zip(tensor.bytes().chunks(size)) {
        let half = if axes.sees(&index) { &mut seen } else { &mut unseen };
        if *half.get_or_insert(element) != element {
            return None;
        }
    }
    let scalar = |bytes: &[u8]| HostTensor::from_bytes(dtype, [].into(), bytes.to_vec()).ok();
    Some(Halves::new(axes, scalar(seen?)?, scalar(unseen?)?))
}

/// Elements that were put elsewhere.
fn moved(operand: &Halves, facts: &Facts, result: Value) -> Option<Halves> {
    if operand.axes.is_none() {
        return Some(operand.clone());
    }
    let mask = facts.mask(result).filter(|mask| mask.kind == MaskKind::Causal)?;
    let find = |value: f64| [&operand.seen, &operand.unseen].into_iter().find(|element| element.f64s()[0] == value);
    Some(Halves::new(Axes::of(&mask), find(mask.seen)?.clone(), find(mask.unseen)?.clone()))
}

/// Elements computed from such elements, one by one.
fn computed(cx: InferCx<'_>, function: &Function, known: &[Option<Halves>], inst: &Inst) -> Option<Halves> {
    if inst.args.is_empty() || inst.call().is_some() || matches!(inst.op, Op::Composite(_)) {
        return None;
    }
    let operands: SmallVec<[&Halves; 4]> =
        inst.args.iter().map(|arg| known[arg.index()].as_ref()).collect::<Option<_>>()?;
    let axes = operands.iter().find_map(|operand| operand.axes);
    let agree = operands.iter().all(|operand| operand.axes.is_none() || operand.axes == axes);
    if !agree || !inst.op.def().effect(&cx).movable {
        return None;
    }
    let types: SmallVec<[&TensorType; 4]> = inst.args.iter().map(|&arg| function.ty(arg)).collect();
    let results = [function.ty(inst.results[0]).clone()];
    if inst.op.def().dims(&types, &results) != FactorMap::elementwise(&types, &results) {
        return None;
    }
    let half = |pick: fn(&Halves) -> &HostTensor| {
        evaluate(cx, &inst.op, &operands.iter().map(|operand| pick(operand)).collect::<Vec<_>>())
    };
    let (seen, unseen) = (half(|operand| &operand.seen)?, half(|operand| &operand.unseen)?);
    Some(match axes {
        Some(axes) => Halves::new(axes, seen, unseen),
        None => Halves::uniform(seen),
    })
}
