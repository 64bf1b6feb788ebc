//! The residual stream: sums `x + f(x)` where `f` ends in a projection.

use super::moments::Moments;
use halite_ir::{Def, Function, Init, Inst, Op, ParamRole, Value};
use rustc_hash::FxHashSet;

/// A weight that is multiplied by an activation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Projection {
    /// The position of the weight among the parameters.
    pub(super) param: usize,
    /// How it starts.
    pub(super) init: Init,
    /// The number of products in each sum.
    pub(super) fan_in: usize,
    /// What its result is multiplied by on the way to the stream.
    pub(super) factor: f64,
}

/// One `x + f(x)`.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    /// The sum.
    pub(super) sum: Value,
    /// `f(x)`.
    pub(super) added: Value,
    /// The weights that `f` ends in.
    pub(super) last: Vec<Projection>,
    /// The other weights in `f`.
    pub(super) inner: Vec<Projection>,
}

/// A stream: what it starts as, and what is added to it.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub(super) start: Value,
    pub(super) branches: Vec<Branch>,
}

impl Stream {
    /// What branches may start from: the start and the sums.
    fn members(&self) -> Vec<Value> {
        std::iter::once(self.start).chain(self.branches.iter().map(|branch| branch.sum)).collect()
    }
}

/// The residual streams of a function, in order.
pub(super) fn streams(function: &Function, moments: &[Option<Moments>]) -> Vec<Stream> {
    let view = View { function, moments };
    let mut streams: Vec<Stream> = Vec::new();
    for inst in &function.insts {
        let (Op::Add(_), &[a, b]) = (&inst.op, inst.args.as_slice()) else { continue };
        for (x, added) in [(a, b), (b, a)] {
            let base = view.through(x);
            let known = streams.iter().position(|stream| stream.branches.last().is_some_and(|last| last.sum == base));
            let members = known.map_or_else(|| vec![base], |known| streams[known].members());
            let Some(branch) = view.branch(&members, inst.results[0], added) else { continue };
            match known {
                Some(known) => streams[known].branches.push(branch),
                None => streams.push(Stream { start: base, branches: vec![branch] }),
            }
            break;
        }
    }
    streams
}

struct View<'a> {
    function: &'a Function,
    moments: &'a [Option<Moments>],
}

impl View<'_> {
    fn def(&self, value: Value) -> Option<&Inst> {
        self.function.def(value)
    }

    /// A value before conversions and changes of shape.
    fn through(&self, mut value: Value) -> Value {
        while let Some(Inst { op: Op::Convert(_) | Op::Reshape(_) | Op::Transpose(_), args, .. }) = self.def(value) {
            value = args[0];
        }
        value
    }

    /// What makes `sum` a residual one: `added` depends on a member of the stream, and ends in projections.
    fn branch(&self, members: &[Value], sum: Value, added: Value) -> Option<Branch> {
        if members.iter().any(|&member| self.def(member).is_none()) {
            return None;
        }
        let mut last = Vec::new();
        self.last_projections(added, 1.0, &mut last);
        let (reaches, all) = if last.is_empty() { (false, Vec::new()) } else { self.cone(members, added) };
        let is_last = |projection: &Projection| last.iter().any(|own| own.param == projection.param);
        let inner = all.into_iter().filter(|projection| !is_last(projection)).collect();
        reaches.then_some(Branch { sum, added, last, inner })
    }

    /// The projections whose results are added up to a value, scaled by constants at most.
    fn last_projections(&self, value: Value, factor: f64, found: &mut Vec<Projection>) {
        let value = self.through(value);
        let Some(inst) = self.def(value) else { return };
        if let Some(projection) = self.projection(inst) {
            found.push(Projection { factor, ..projection });
            return;
        }
        match (&inst.op, inst.args.as_slice()) {
            (Op::Add(_), &[a, b]) => {
                self.last_projections(a, factor, found);
                self.last_projections(b, factor, found);
            }
            (Op::Multiply(_), &[a, b]) => {
                for (scale, rest) in [(a, b), (b, a)] {
                    if let Some(Moments { mean, var: 0.0 }) = self.moments[scale.index()] {
                        self.last_projections(rest, factor * mean.abs(), found);
                        return;
                    }
                }
            }
            _ => {}
        }
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
        let (param, init) = self.weight(weight)?;
        self.weight(x).is_none().then_some(Projection { param, init, fan_in, factor: 1.0 })
    }

    fn weight(&self, value: Value) -> Option<(usize, Init)> {
        let Def::Param(param) = self.function.values[self.through(value).index()].def else { return None };
        let param = param as usize;
        match &self.function.params[param].role {
            ParamRole::Weight(info) => Some((param, info.init)),
            _ => None,
        }
    }

    /// Whether a value depends on a member of a stream, and the projections on the way. What does comes after the first.
    fn cone(&self, members: &[Value], end: Value) -> (bool, Vec<Projection>) {
        let (mut open, mut seen) = (vec![end], FxHashSet::default());
        let (mut reaches, mut projections) = (false, Vec::new());
        while let Some(value) = open.pop() {
            if members.contains(&value) {
                reaches = true;
            }
            let is_before = members.first().is_some_and(|first| value.index() <= first.index());
            if is_before || members.contains(&value) || !seen.insert(value) {
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
