//! The residual stream: sums `x + f(x)` where `f` ends in a projection.

use super::moments::Moments;
use halite_ir::{Def, Function, Inst, Op, ParamRole, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;

/// A weight that is multiplied by an activation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Projection {
    /// The position of the weight among the parameters.
    pub(super) param: usize,
    /// The standard deviation that it starts with; `None` when it starts from no samples.
    pub(super) std: Option<f64>,
    /// The number of products in each sum.
    pub(super) fan_in: usize,
    /// The constant that its result is multiplied by on the way to the stream.
    pub(super) factor: f64,
}

/// One `x + f(x)`.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) sum: Value,
    /// `f(x)`.
    pub(super) added: Value,
    /// The weights that `f` ends in.
    pub(super) last: Vec<Projection>,
    /// The other weights in `f`.
    pub(super) inner: Vec<Projection>,
}

/// A stream: its first value, and the branches that are added to it.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub(super) start: Value,
    pub(super) branches: Vec<Branch>,
}

/// The most values that are looked at, as a multiple of those of the function. Layers read what is near, so that models look
/// at each value a few times.
const VISITS: usize = 64;

/// The residual streams of a function, in order.
#[derive(Default)]
pub(super) struct Streams {
    pub(super) list: Vec<Stream>,
    /// The stream that a sum belongs to.
    of_sum: FxHashMap<Value, usize>,
    /// The sum at which the search was given up.
    pub(super) given_up: Option<Value>,
}

impl Streams {
    pub(super) fn of(function: &Function, moments: &[Option<Moments>]) -> Self {
        let mut view = View::new(function, moments);
        let mut streams = Self::default();
        for inst in &function.insts {
            let (Op::Add(_), &[a, b]) = (&inst.op, inst.args.as_slice()) else { continue };
            let sum = inst.results[0];
            for (x, added) in [(a, b), (b, a)] {
                let base = view.base[x.index()];
                let known = streams.ends_in(base);
                let start = known.map_or(base, |known| streams.list[known].start);
                let is_member = |value: Value| value == start || known.is_some() && streams.stream_of(value) == known;
                let branch = view.branch(start, is_member, sum, added);
                if view.visits_left == 0 {
                    streams.given_up = Some(sum);
                    return streams;
                }
                if let Some(branch) = branch {
                    streams.add(known, start, branch);
                    break;
                }
            }
        }
        streams
    }

    fn stream_of(&self, sum: Value) -> Option<usize> {
        self.of_sum.get(&sum).copied()
    }

    /// The stream that ends in a value so far.
    fn ends_in(&self, value: Value) -> Option<usize> {
        self.stream_of(value).filter(|&known| self.list[known].branches.last().is_some_and(|last| last.sum == value))
    }

    fn add(&mut self, known: Option<usize>, start: Value, branch: Branch) {
        let at = known.unwrap_or(self.list.len());
        if known.is_none() {
            self.list.push(Stream { start, branches: Vec::new() });
        }
        self.of_sum.insert(branch.sum, at);
        self.list[at].branches.push(branch);
    }
}

struct View<'a> {
    function: &'a Function,
    moments: &'a [Option<Moments>],
    /// Each value before conversions and changes of shape.
    base: Vec<Value>,
    /// For each value, whether projections are added up to it.
    is_projected: Vec<bool>,
    /// Values that may still be looked at.
    visits_left: usize,
}

impl<'a> View<'a> {
    fn new(function: &'a Function, moments: &'a [Option<Moments>]) -> Self {
        let count = function.values.len();
        let (base, is_projected) = ((0..count).map(Value::new).collect(), vec![false; count]);
        let mut view = Self { function, moments, base, is_projected, visits_left: VISITS * (count + VISITS) };
        for inst in &function.insts {
            if let Op::Convert(_) | Op::Reshape(_) | Op::Transpose(_) = &inst.op {
                view.base[inst.results[0].index()] = view.base[inst.args[0].index()];
            }
            let is_projected = match view.step(inst) {
                Step::Projection(_) => true,
                Step::Terms(terms) => terms.iter().any(|(term, _)| view.is_projected[term.index()]),
            };
            inst.results.iter().for_each(|result| view.is_projected[result.index()] = is_projected);
        }
        view
    }

    fn def(&self, value: Value) -> Option<&'a Inst> {
        self.function.def(value)
    }

    /// The branch that makes `sum` a residual sum, if it is one: `added` depends on a member of the stream and ends in projections.
    /// All members depend on the first, `start`.
    fn branch(&mut self, start: Value, is_member: impl Fn(Value) -> bool, sum: Value, added: Value) -> Option<Branch> {
        if self.def(start).is_none() || !self.is_projected[added.index()] {
            return None;
        }
        let (reaches, all) = self.cone(start, is_member, added);
        if !reaches {
            return None;
        }
        let last = self.last_projections(added);
        let params: FxHashSet<usize> = last.iter().map(|projection| projection.param).collect();
        let inner = all.into_iter().filter(|projection| !params.contains(&projection.param)).collect();
        Some(Branch { sum, added, last, inner })
    }

    /// The projections whose results are added up to a value, scaled by constants at most: each once, with the largest
    /// factor that it has on a way to the value. Later values go first, so that all ways to one are known when it is left.
    fn last_projections(&mut self, value: Value) -> Vec<Projection> {
        let (mut open, mut found) = (BTreeMap::from([(value, 1.0)]), Vec::new());
        while let Some((value, factor)) = open.pop_last()
            && self.visits_left > 0
        {
            self.visits_left -= 1;
            let Some(inst) = self.def(value) else { continue };
            match self.step(inst) {
                Step::Projection(projection) => found.push(Projection { factor, ..projection }),
                Step::Terms(terms) => {
                    for (term, own) in terms.into_iter().filter(|(term, _)| self.is_projected[term.index()]) {
                        let largest = open.entry(term).or_insert(0.0);
                        *largest = f64::max(*largest, factor * own);
                    }
                }
            }
        }
        found.reverse();
        found
    }

    /// One step from the result of an instruction towards the projections in it.
    fn step(&self, inst: &Inst) -> Step {
        if let Some(projection) = self.projection(inst) {
            return Step::Projection(projection);
        }
        Step::Terms(match (&inst.op, inst.args.as_slice()) {
            (Op::Convert(_) | Op::Reshape(_) | Op::Transpose(_), &[x]) => smallvec![(x, 1.0)],
            (Op::Add(_), &[a, b]) => smallvec![(a, 1.0), (b, 1.0)],
            (Op::Multiply(_), &[a, b]) => {
                let scaled = [(a, b), (b, a)].into_iter().find_map(|(scale, rest)| match self.moments[scale.index()] {
                    Some(Moments { mean, var: 0.0 }) => Some((rest, mean.abs())),
                    _ => None,
                });
                scaled.into_iter().collect()
            }
            _ => SmallVec::new(),
        })
    }

    /// The weight that an instruction multiplies an activation by.
    fn projection(&self, inst: &Inst) -> Option<Projection> {
        let (x, weight, fan_in) = match (&inst.op, inst.args.as_slice()) {
            (Op::Composite(linear), &[x, weight, ..]) if &*linear.name == "linear" => {
                (x, weight, *self.function.ty(weight).shape().last()?)
            }
            (Op::DotGeneral(dot), &[a, b]) => {
                let sizes = dot.contract.0.iter().map(|&dim| self.function.ty(a).shape()[dim]);
                let fan_in = sizes.product();
                if self.weight(b).is_some() { (a, b, fan_in) } else { (b, a, fan_in) }
            }
            _ => return None,
        };
        let (param, std) = self.weight(weight)?;
        self.weight(x).is_none().then_some(Projection { param, std, fan_in, factor: 1.0 })
    }

    fn weight(&self, value: Value) -> Option<(usize, Option<f64>)> {
        let base = self.base[value.index()];
        let Def::Param(param) = self.function.values[base.index()].def else { return None };
        let param = param as usize;
        match &self.function.params[param].role {
            ParamRole::Weight(info) => {
                let moments = info.init.moments(self.function.ty(base).shape());
                Some((param, moments.filter(|_| info.init.is_random()).map(|(_, std)| std)))
            }
            _ => None,
        }
    }

    /// Whether a value depends on a member of a stream, and the projections on the way. Values that depend on a member come after the
    /// first one.
    fn cone(&mut self, start: Value, is_member: impl Fn(Value) -> bool, end: Value) -> (bool, Vec<Projection>) {
        let (mut open, mut seen) = (vec![end], FxHashSet::default());
        let (mut reaches, mut projections) = (false, Vec::new());
        while let Some(value) = open.pop()
            && self.visits_left > 0
        {
            self.visits_left -= 1;
            let ends = is_member(value);
            reaches |= ends;
            if ends || value.index() <= start.index() || !seen.insert(value) {
                continue;
            }
            if let Some(inst) = self.def(value) {
                projections.extend(self.projection(inst));
                open.extend(&inst.args);
            }
        }
        (reaches, projections)
    }
}

/// The result of an instruction, as terms of a sum.
enum Step {
    /// A weight times an activation.
    Projection(Projection),
    /// Values that are added up, each times a constant; empty for any other result.
    Terms(SmallVec<[(Value, f64); 2]>),
}
