//! The weights that each layer gathers.

use halite_ir::{Def, Function, InferCx, Inst, Op, ParamRole, Value, WeightInfo};
use rustc_hash::FxHashMap;

/// The gathers of the weights of a layer, in a forward or a backward.
#[derive(Debug)]
pub(super) struct Gathers {
    /// The positions of its gathers, and of what makes their operands of the weights, in order.
    pub(super) insts: Vec<usize>,
    /// The position of the first that reads a gathered weight: where the layer begins to compute with its weights.
    pub(super) first_read: usize,
    /// The position after which nothing reads one.
    pub(super) last_read: usize,
    /// The bytes of the gathered weights on a rank.
    pub(super) bytes: u64,
}

/// The gathers of weights in a function, layer by layer in the order in which they run.
pub(super) fn gathers(cx: &InferCx<'_>, function: &Function) -> Vec<Gathers> {
    let weights = Weights::of(cx, function);
    let mut layers: Vec<Vec<usize>> = Vec::new();
    let mut layer: Option<&WeightInfo> = None;
    let mut gathered: FxHashMap<Value, usize> = FxHashMap::default();
    for (at, inst) in function.insts.iter().enumerate() {
        let Some(weight) = weights.gathered(inst) else { continue };
        let own = info(function, weight);
        // A weight is gathered along one axis after another, but not twice for one layer: that is its backward.
        let is_again = gathered.get(&weight).is_some_and(|before| !weights.made_of(inst).contains(before));
        if layers.is_empty() || is_again || layer.map(|info| &info.layer) != own.map(|info| &info.layer) {
            gathered.clear();
            layer = own;
            layers.push(Vec::new());
        }
        gathered.insert(weight, at);
        layers.last_mut().into_iter().for_each(|layer| layer.push(at));
    }
    let reads = Reads::of(function);
    layers.iter().map(|layer| weights.layer(layer, &reads)).collect()
}

/// The positions of the readers of values.
struct Reads {
    first: Vec<usize>,
    /// The last, also of what is made of a value without computing: a reshape of a gathered weight is the weight.
    last: Vec<usize>,
}

impl Reads {
    fn of(function: &Function) -> Self {
        let end = function.insts.len();
        let mut reads = Self { first: vec![end; function.values.len()], last: vec![0; function.values.len()] };
        for result in &function.results {
            reads.last[result.value.index()] = end;
        }
        for (at, inst) in function.insts.iter().enumerate().rev() {
            let moves = matches!(inst.op, Op::Reshape(_) | Op::Transpose(_) | Op::AllGather(_));
            let last = if moves { at.max(reads.last[inst.results[0].index()]) } else { at };
            for arg in &inst.args {
                reads.first[arg.index()] = at;
                reads.last[arg.index()] = reads.last[arg.index()].max(last);
            }
        }
        reads
    }
}

/// The weight that a parameter is.
fn info(function: &Function, value: Value) -> Option<&WeightInfo> {
    let Def::Param(at) = function.values[value.index()].def else { return None };
    match &function.params[at as usize].role {
        ParamRole::Weight(info) => Some(info),
        _ => None,
    }
}

/// The values of a function that follow from weights alone.
struct Weights<'f> {
    function: &'f Function,
    /// The weight that each follows from, the first of several.
    of: Vec<Option<Value>>,
}

impl<'f> Weights<'f> {
    fn of(cx: &InferCx<'_>, function: &'f Function) -> Self {
        let mut all = Self { function, of: vec![None; function.values.len()] };
        for param in function.params.iter().filter(|param| matches!(param.role, ParamRole::Weight(_))) {
            all.of[param.value.index()] = Some(param.value);
        }
        for inst in &function.insts {
            let of = |arg: &Value| all.of[arg.index()];
            if matches!(inst.op, Op::OptimizationBarrier(_)) {
                for (result, weight) in inst.results.iter().zip(inst.args.iter().map(of).collect::<Vec<_>>()) {
                    all.of[result.index()] = weight;
                }
            } else if matches!(inst.op, Op::AllGather(_)) || inst.op.def().effect(cx).movable {
                let weight = inst.args.iter().map(of).reduce(|first, next| first.zip(next).map(|(first, _)| first));
                inst.results.iter().for_each(|result| all.of[result.index()] = weight.flatten());
            }
        }
        all
    }

    /// The weight that an instruction gathers, if it does.
    fn gathered(&self, inst: &Inst) -> Option<Value> {
        matches!(inst.op, Op::AllGather(_)).then(|| self.of[inst.args[0].index()]).flatten()
    }

    /// The gathers of a layer at these positions.
    fn layer(&self, gathers: &[usize], reads: &Reads) -> Gathers {
        let results = || gathers.iter().map(|&at| self.function.insts[at].results[0]);
        let made_of: Vec<usize> = gathers.iter().flat_map(|&at| self.made_of(&self.function.insts[at])).collect();
        let is_whole = |at: &&usize| !made_of.contains(at);
        let whole = gathers.iter().filter(is_whole).map(|&at| self.function.insts[at].results[0]);
        let mut insts: Vec<usize> = gathers.iter().chain(&made_of).copied().collect();
        insts.sort_unstable();
        insts.dedup();
        Gathers {
            insts,
            first_read: whole.map(|value| reads.first[value.index()]).min().unwrap_or_default(),
            last_read: results().map(|value| reads.last[value.index()]).max().unwrap_or_default(),
            bytes: results().map(|value| self.function.ty(value).bytes()).sum(),
        }
    }

    /// The positions of what makes the operands of a gather of weights, in no order. What a barrier hands on is what it was given.
    fn made_of(&self, inst: &Inst) -> Vec<usize> {
        let mut found = Vec::new();
        let mut open = inst.args.to_vec();
        while let Some(value) = open.pop() {
            let Def::Inst(at, _) = self.function.values[handed(self.function, value).index()].def else { continue };
            if !found.contains(&(at as usize)) {
                found.push(at as usize);
                open.extend(&self.function.insts[at as usize].args);
            }
        }
        found
    }
}

/// The value that barriers were given for what they hand on.
pub(super) fn handed(function: &Function, mut value: Value) -> Value {
    while let Def::Inst(at, result) = function.values[value.index()].def {
        let inst = &function.insts[at as usize];
        if !matches!(inst.op, Op::OptimizationBarrier(_)) {
            break;
        }
        value = inst.args[result as usize];
    }
    value
}
