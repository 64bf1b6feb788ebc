//! From the initial weights to the moments of every value.

use super::moments::{Grid, Moments};
use crate::forward::{At, Body, Forward, Walk};
use halite_ir::composites::causal_attention::{SCALE, WINDOW};
use halite_ir::composites::softmax::DIM;
use halite_ir::composites::{CausalAttention, LayerNorm, RmsNorm, Rope, Softmax};
use halite_ir::dims::FactorMap;
use halite_ir::ops::Reduction;
use halite_ir::{
    Attrs, Composite, CompositeDef, EvalCx, Function, InferCx, Inst, Module, Op, OpClass, Param, ParamRole, Registry,
    TensorType, Value,
};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};
use rustc_hash::FxHashMap;

/// The moments of every value of a function at the first step; `None` where nothing is known.
///
/// Operands are taken as independent and, under a nonlinear function, as normal. A norm makes them what its weight says.
/// Attention averages values with the weights of a softmax over normal scores.
pub(super) fn moments(module: &Module, registry: &Registry, function: &Function) -> Result<Vec<Fact>> {
    let params: Vec<_> = function.params.iter().map(|param| at_start(function, param)).collect();
    let infer = InferCx { functions: &module.functions, registry };
    Walk::new(Some(module), registry, AtStart { infer, seen: FxHashMap::default() }).run(function, &params, None)
}

/// The moments of a value, if they are known.
type Fact = Option<Moments>;

/// The moments of a weight's initial value; `None` for other parameters, and where the initial value states none.
fn at_start(function: &Function, param: &Param) -> Option<Moments> {
    let ParamRole::Weight(info) = &param.role else { return None };
    let (mean, std) = info.init.moments(function.ty(param.value).shape())?;
    Some(Moments { mean, var: std * std })
}

/// An op on operands of given moments, equal operands by the number of the first: layers repeat them.
type Key = (Op, Vec<(u64, u64)>, Vec<usize>);

struct AtStart<'a> {
    infer: InferCx<'a>,
    seen: FxHashMap<Key, Fact>,
}

impl Forward for AtStart<'_> {
    type Fact = Fact;
    type Aside = ();

    fn unknown(&self, _: &TensorType) -> Fact {
        None
    }

    /// Composites without a rule are walked into, unless they are element-wise.
    fn body(&self, at: &At<'_>) -> Option<Body> {
        let &At { function, inst, .. } = at;
        let is_known = rule(inst).is_some() || composite_is_elementwise(&self.infer, function, inst);
        inst.op.callee().map(Body::Function).or_else(|| Body::decomposition(at).filter(|_| !is_known))
    }

    fn apply(&mut self, at: &At<'_>, args: &[Fact]) -> Result<Vec<Fact>> {
        let &At { function, inst, .. } = at;
        let of = |at: usize| args.get(at).copied().flatten();
        let size = |at: usize, dim: usize| function.ty(inst.args[at]).shape()[dim];
        if let (Op::Composite(composite), Some(rule)) = (&inst.op, rule(inst)) {
            return Ok(vec![rule(composite, args, function.ty(inst.args[0]))?; inst.results.len()]);
        }
        let moments = match &inst.op {
            Op::Constant(constant) => Moments::of(&constant.value),
            Op::Iota(iota) => Some(Moments::of_range(iota.ty.shape()[iota.dim])),
            Op::Convert(_) | Op::Reshape(_) | Op::Transpose(_) | Op::BroadcastInDim(_) | Op::Slice(_) => of(0),
            Op::Take(_) | Op::DynamicSlice(_) | Op::Reverse(_) => of(0),
            Op::OptimizationBarrier(_) => return Ok(args.to_vec()),
            Op::Add(_) if inst.args[0] != inst.args[1] => of(0).zip(of(1)).map(|(x, y)| x.plus(1.0, y)),
            Op::Subtract(_) if inst.args[0] != inst.args[1] => of(0).zip(of(1)).map(|(x, y)| x.plus(-1.0, y)),
            Op::Multiply(_) if inst.args[0] != inst.args[1] => of(0).zip(of(1)).map(|(x, y)| x.times(y)),
            Op::Concatenate(_) => {
                let counts = inst.args.iter().map(|&arg| function.ty(arg).shape().num_elements());
                Moments::mixed(args.iter().copied().zip(counts))
            }
            Op::DotGeneral(dot) => {
                let count = dot.contract.0.iter().map(|&dim| size(0, dim)).product();
                of(0).zip(of(1)).map(|(x, y)| x.times(y).sum_of(count))
            }
            Op::Reduce(reduce) if reduce.kind == Reduction::Sum => {
                let count = reduce.dims.iter().map(|&dim| size(0, dim)).product();
                of(0).map(|x| x.sum_of(count))
            }
            op if matches!(op, Op::Composite(_)) || is_elementwise(&self.infer, op, function, inst) => {
                self.elementwise(inst, args)
            }
            _ => None,
        };
        Ok(vec![moments; inst.results.len()])
    }
}

/// A rule of a composite of which more is known than what it is made of: what it gives, by the facts of its operands, the first of
/// which has this type.
type Rule = fn(&Composite, &[Fact], &TensorType) -> Result<Fact>;

/// The rule of an instruction that is such a composite.
fn rule(inst: &Inst) -> Option<Rule> {
    let Op::Composite(composite) = &inst.op else { return None };
    let rules: [(&dyn CompositeDef, Rule); 5] = [
        (&RmsNorm, rms_norm),
        (&LayerNorm, layer_norm),
        (&Rope, rope),
        (&Softmax, softmax),
        (&CausalAttention, causal_attention),
    ];
    // A session may have another composite of this name.
    let fits = |def: &dyn CompositeDef| inst.args.len() >= def.operands().required_names().len();
    rules.into_iter().find(|(def, _)| composite.is(*def) && fits(*def)).map(|(_, rule)| rule)
}

fn rms_norm(_: &Composite, args: &[Fact], _: &TensorType) -> Result<Fact> {
    Ok(args[1].map(|weight| Moments { mean: 0.0, var: weight.second() }))
}

fn layer_norm(_: &Composite, args: &[Fact], _: &TensorType) -> Result<Fact> {
    let of = |(weight, bias): (Moments, Moments)| Moments { mean: bias.mean, var: weight.second() + bias.var };
    Ok(args[1].zip(args[2]).map(of))
}

fn rope(_: &Composite, args: &[Fact], _: &TensorType) -> Result<Fact> {
    Ok(args[0].map(|x| Moments { mean: 0.0, var: x.second() }))
}

fn softmax(composite: &Composite, args: &[Fact], ty: &TensorType) -> Result<Fact> {
    Ok(Some(probabilities(args[0], ty.shape()[composite.attrs.dim(&DIM, ty)?])))
}

fn causal_attention(composite: &Composite, args: &[Fact], ty: &TensorType) -> Result<Fact> {
    args[2].map(|v| attention(&composite.attrs, args[0], args[1], v, ty)).transpose()
}

impl AtStart<'_> {
    /// Any function of at most two random operands, by quadrature.
    fn elementwise(&mut self, inst: &Inst, args: &[Fact]) -> Fact {
        let mut distinct: Vec<(Value, Fact)> = Vec::new();
        let mut positions = Vec::new();
        for (&arg, &fact) in inst.args.iter().zip(args) {
            let known = distinct.iter().position(|&(other, _)| other == arg);
            positions.push(known.unwrap_or(distinct.len()));
            if known.is_none() {
                distinct.push((arg, fact));
            }
        }
        let operands: Vec<Moments> = distinct.iter().map(|(_, fact)| *fact).collect::<Option<_>>()?;
        if operands.iter().filter(|moments| moments.var > 0.0).count() > 2 {
            return None;
        }
        let bits = operands.iter().map(|moments| (moments.mean.to_bits(), moments.var.to_bits())).collect();
        let key = (inst.op.clone(), bits, positions);
        if let Some(known) = self.seen.get(&key) {
            return *known;
        }
        let grid = Grid::new(&operands);
        let found = self.evaluate(&inst.op, &grid, &key.2).and_then(|values| grid.moments(&values));
        self.seen.insert(key, found);
        found
    }

    fn evaluate(&self, op: &Op, grid: &Grid, positions: &[usize]) -> Option<Vec<f64>> {
        let tensor = |values: &Vec<f64>| HostTensor::from_f64s(DType::F64, [values.len()], values.iter().copied());
        let operands: Vec<HostTensor> = positions.iter().map(|&at| tensor(&grid.operands[at])).collect();
        let types: Vec<TensorType> =
            operands.iter().map(|tensor| TensorType::new(tensor.dtype(), tensor.shape().clone())).collect();
        let results = op.def().infer(&self.infer, &types.iter().collect::<Vec<_>>()).ok()?;
        let cx = EvalCx { functions: self.infer.functions, registry: self.infer.registry, results: &results };
        let results = op.def().eval(&cx, &operands.iter().collect::<Vec<_>>()).ok()?;
        results.first().filter(|result| result.dtype().is_float()).map(HostTensor::f64s)
    }
}

/// Softmax over `count` normal scores. With the mean square of their exponentials over that of the sum of these, the mean
/// square of a probability is `e / (count - 1 + e) / count` for `e = exp(variance)`: between that of an average, `1 /
/// count^2`, and that of a choice, `1 / count`, which is also what is taken where nothing is known of the scores.
fn probabilities(scores: Option<Moments>, count: usize) -> Moments {
    let count = count.max(1) as f64;
    let spread = scores.map_or(0.0, |scores| (-scores.var).exp());
    let (mean, second) = (1.0 / count, 1.0 / (1.0 + (count - 1.0) * spread) / count);
    Moments { mean, var: (second - mean * mean).max(0.0) }
}

/// The average over positions of what attention to one, two, .. of them leaves of the variance of values.
fn attention(attrs: &Attrs, q: Option<Moments>, k: Option<Moments>, v: Moments, ty: &TensorType) -> Result<Moments> {
    let (seq, dim) = (ty.shape()[1], ty.shape()[3] as f64);
    let scale = match attrs.get(&SCALE)? {
        0.0 => 1.0 / dim.sqrt(),
        scale => scale,
    };
    let scores = q.zip(k).map(|(q, k)| Moments { mean: 0.0, var: scale * scale * dim * q.second() * k.second() });
    let kept = |seen: usize| {
        let weight = probabilities(scores, seen);
        weight.second() * seen as f64
    };
    let window = usize::try_from(attrs.get(&WINDOW)?).ok().filter(|&window| window > 0).unwrap_or(seq).min(seq);
    let share = (sum_over(window, kept) + (seq - window) as f64 * kept(window)) / seq.max(1) as f64;
    Ok(Moments { mean: v.mean, var: v.var * share })
}

/// The sum of a slowly falling function of 1, 2, .. `count`: beyond the first thousands by samples that double their
/// distance, each for those around it, as it bends little there.
fn sum_over(count: usize, of: impl Fn(usize) -> f64) -> f64 {
    const EXACT: usize = 4096;
    const SAMPLES: usize = 256;
    let mut sum = (1..=count.min(EXACT)).map(&of).sum::<f64>();
    let mut done = EXACT;
    while done < count {
        let step = done / SAMPLES;
        let step = step.min(count - done);
        sum += step as f64 * of(done + step.div_ceil(2));
        done += step;
    }
    sum
}

/// Whether an op works on its operands element by element.
fn is_elementwise(infer: &InferCx<'_>, op: &Op, function: &Function, inst: &Inst) -> bool {
    let types: Vec<&TensorType> = inst.args.iter().map(|&arg| function.ty(arg)).collect();
    let floats = types.iter().all(|ty| ty.dtype().is_float());
    let Ok(results) = op.def().infer(infer, &types) else { return false };
    floats
        && !types.is_empty()
        && results.len() == 1
        && op.def().dims(&types, &results) == FactorMap::elementwise(&types, &results)
}

/// The same of a composite, which does not say so: operands and results have one shape, and its policy is that of
/// elementwise ops.
fn composite_is_elementwise(infer: &InferCx<'_>, function: &Function, inst: &Inst) -> bool {
    let shape = |value: &Value| function.ty(*value).shape();
    let mut shapes = inst.args.iter().chain(&inst.results).map(shape);
    let first = shapes.next();
    matches!(inst.op, Op::Composite(_))
        && inst.op.def().policy(infer).class == OpClass::Elementwise
        && shapes.all(|shape| Some(shape) == first)
}
