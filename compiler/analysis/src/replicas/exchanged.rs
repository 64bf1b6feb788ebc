//! Trials of whether it matters which rank holds an element of a sharded value.
//!
//! Where an op reads shards as if they were the whole, ranks may still agree, so that no result differs between them. But if elements
//! of a dimension may change places within a rank, and nothing but their own results changes places with them, then the dimension has
//! no order within a rank. If they may not change places between ranks, the result depends on which rank holds which: by a fault, or
//! because the model has groups that lie on one rank each, such as a head. So such a result is a fault only where something is known
//! to be misread.

use super::witness::{given, ran_on, tolerance};
use halite_ir::{FuncResult, Function, Layout, Module, Param, Registry};
use halite_support::Name;
use halite_tensor::compare::difference;
use halite_tensor::{HostTensor, SubAxisId};
use std::fmt;

/// A dimension that is sharded along a sub-axis: its parameters, each with the number of the dimension, and two pairs of elements.
struct Shared {
    params: Vec<(usize, usize)>,
    size: usize,
    /// On one rank.
    within: [usize; 2],
    /// On two that differ along the sub-axis alone.
    between: [usize; 2],
}

/// A result that depends on which rank holds an element, as inputs show.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct ReplicaSuspicion {
    /// The parameter of which two elements have changed places between ranks.
    pub param: Name,
    /// The result.
    pub result: Name,
    /// An element of the result after the exchange.
    pub found: f64,
    /// The same element before the exchange.
    pub before: f64,
}

impl fmt::Display for ReplicaSuspicion {
    /// ``it matters which rank holds an element of `x`: when two change places, `loss` has 0.25 for 0.5``
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { param, result, found, before } = self;
        write!(f, "it matters which rank holds an element of `{param}`: ")?;
        write!(f, "when two change places, `{result}` has {found:.6} for {before:.6}")
    }
}

/// Looks for a result that depends on which rank holds an element, though not on its place within a rank: it is worth a look in a
/// program that is not fully followed. `None` where nothing was found, where the module is too large to be tried, and where the
/// interpreter cannot run it.
pub fn held_elsewhere(module: &Module, registry: &Registry) -> Option<ReplicaSuspicion> {
    let (layout, entry) = (module.layout.as_deref()?, module.entry()?);
    let inputs = given(module, 0)?;
    let tolerance = tolerance(module);
    let results = |inputs: &[HostTensor]| whole_results(layout, entry, &ran_on(module, registry, inputs)?);
    let mut base = None;
    for shared in (0..layout.mesh.sub_axes().len()).flat_map(|sub_axis| shared(layout, entry, sub_axis)) {
        if base.is_none() {
            base = Some(results(&inputs)?);
        }
        let base = base.as_ref()?;
        let swapped = |pair: [usize; 2]| results(&exchanged(&inputs, &shared.params, pair));
        let within = swapped(shared.within)?;
        let follows = |pair: [usize; 2], found: &[HostTensor]| {
            (0..found.len()).find(|&at| !follows(&base[at], &found[at], shared.size, pair, tolerance))
        };
        if follows(shared.within, &within).is_some() {
            continue;
        }
        let between = swapped(shared.between)?;
        if let Some(at) = follows(shared.between, &between) {
            let apart = difference(&between[at], &base[at]);
            let (found, before) = (between[at].f64s()[apart.at], base[at].f64s()[apart.at]);
            let param = entry.params[shared.params.first()?.0].name.clone();
            return Some(ReplicaSuspicion { param, result: entry.results[at].name.clone(), found, before });
        }
    }
    None
}

/// The dimensions that ranks along a sub-axis share out, those of one size together.
fn shared(layout: &Layout, entry: &Function, sub_axis: SubAxisId) -> Vec<Shared> {
    let mut all: Vec<Shared> = Vec::new();
    for (at, param) in entry.params.iter().enumerate() {
        let Some((dim, digit, least)) = sharded(layout, param, sub_axis) else { continue };
        let size = Layout::whole(layout.of_param(param), entry.ty(param.value)).shape()[dim];
        // Two elements that follow one another lie on one rank.
        if least < 2 {
            continue;
        }
        match all.iter_mut().find(|own| own.size == size) {
            Some(own) => own.params.push((at, dim)),
            None => all.push(Shared { params: vec![(at, dim)], size, within: [0, 1], between: [0, digit] }),
        }
    }
    all
}

/// The dimension that a sub-axis shards, the stride of its digit, and the least stride of any digit of that dimension.
fn sharded(layout: &Layout, param: &Param, sub_axis: SubAxisId) -> Option<(usize, usize, usize)> {
    let (dim, digit) = layout.of_param(param)?.find(sub_axis)?;
    let least = layout.of_param(param)?.0[dim].iter().map(|digit| digit.stride).min()?;
    Some((dim, digit.stride, least))
}

/// Inputs in which two elements of dimensions have changed places.
fn exchanged(inputs: &[HostTensor], params: &[(usize, usize)], pair: [usize; 2]) -> Vec<HostTensor> {
    let mut all = inputs.to_vec();
    for &(at, dim) in params {
        all[at] = swapped(&inputs[at], dim, pair);
    }
    all
}

fn swapped(tensor: &HostTensor, dim: usize, [x, y]: [usize; 2]) -> HostTensor {
    let shape = tensor.shape().clone();
    let behind: usize = shape[dim + 1..].iter().product();
    let from = |at: usize| {
        let own = at / behind % shape[dim];
        let other = if own == x {
            y
        } else if own == y {
            x
        } else {
            own
        };
        at + other * behind - own * behind
    };
    let indices = 0..shape.num_elements();
    if tensor.dtype().is_float() {
        let values = tensor.f64s();
        return HostTensor::from_f64s(tensor.dtype(), shape.clone(), indices.map(|at| values[from(at)]));
    }
    let values = tensor.ints();
    HostTensor::from_ints(tensor.dtype(), shape.clone(), indices.map(|at| values[from(at)]))
}

/// The whole results, as the ranks that hold each part first have them.
fn whole_results(layout: &Layout, entry: &Function, ranks: &[Vec<HostTensor>]) -> Option<Vec<HostTensor>> {
    let whole = |(at, result): (usize, &FuncResult)| {
        let (parts, sharding) = layout.held(result, at, ranks);
        layout.joined(&parts, &sharding).ok()
    };
    entry.results.iter().enumerate().map(whole).collect()
}

/// Whether a result is as it was, or as it was with the elements of a dimension of this size exchanged.
fn follows(base: &HostTensor, found: &HostTensor, size: usize, pair: [usize; 2], tolerance: f64) -> bool {
    let is = |expected: &HostTensor| {
        let apart = difference(found, expected);
        apart.max_abs <= tolerance * apart.scale.max(f64::MIN_POSITIVE)
    };
    let dims = base.shape().iter().enumerate().filter(|(_, own)| **own == size).map(|(dim, _)| dim);
    is(base) || dims.into_iter().any(|dim| is(&swapped(base, dim, pair)))
}
