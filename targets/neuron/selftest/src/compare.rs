//! Compares the results of a run with the expected ones.

use crate::check::{Case, Probe, Within};
use crate::report::Failure;
use halite_tensor::HostTensor;
use halite_tensor::compare::difference;

/// The first element of a tensor that is wrong, as found and as expected.
struct Apart {
    at: usize,
    found: String,
    expected: String,
}

/// The first mismatch of a probe, over all runs and ranks. `found` is `[run][rank][output]`.
pub(crate) fn mismatch(case: &Case, probe: &Probe, found: &[Vec<Vec<HostTensor>>]) -> Option<Failure> {
    let runs = found.iter().zip(&case.expected).enumerate();
    let ranks = runs.flat_map(|(run, (found, expected))| {
        found.iter().zip(expected).enumerate().map(move |(rank, pair)| (run, rank, pair))
    });
    let mut least: Option<(usize, Failure)> = None;
    for (run, rank, (found, expected)) in ranks {
        for output in probe.outputs.clone() {
            let (Some(found), Some(expected)) = (found.get(output), expected.get(output)) else { continue };
            let Some(apart) = apart(found, expected, (&probe.within, run)) else { continue };
            let input = input(case, probe, [run, rank, apart.at]);
            // The shortest input is the smallest case: a scalar says more than a matrix.
            let size = expected.len();
            if least.as_ref().is_none_or(|(known, _)| size < *known) {
                let found = format!("{}{}", place(case, run, rank), apart.found);
                least = Some((size, Failure::wrong(&probe.label, found, apart.expected, input)));
            }
        }
    }
    least.map(|(_, failure)| failure)
}

/// The run and the rank in words, where there are several.
fn place(case: &Case, run: usize, rank: usize) -> String {
    let runs = if case.runs.len() > 1 { format!("in run {}: ", run + 1) } else { String::new() };
    let ranks = case.expected.first().map_or(1, Vec::len);
    let ranks = if ranks > 1 { format!("on rank {rank} of {ranks}: ") } else { String::new() };
    runs + &ranks
}

fn apart(found: &HostTensor, expected: &HostTensor, (within, run): (&Within, usize)) -> Option<Apart> {
    let described = |tensor: &HostTensor| format!("`{}{}`", tensor.dtype(), tensor.shape());
    if found.dtype() != expected.dtype() || found.shape() != expected.shape() {
        return Some(Apart { at: 0, found: described(found), expected: described(expected) });
    }
    let at = match within {
        Within::Holds(holds) => {
            return holds(found).map(|found| Apart { at: 0, found, expected: "what the check derives".to_owned() });
        }
        Within::Exact => first_other_bits(found, expected)?,
        _ if !expected.dtype().is_float() => first_other_bits(found, expected)?,
        Within::Units(0.0) => first_other_bits(found, expected)?,
        Within::Units(units) => beyond(found, expected, units * expected.dtype().unit_roundoff())?,
        Within::OfRun(bounds) => beyond(found, expected, bounds.get(run).copied().unwrap_or(0.0))?,
    };
    let allowed = match within {
        Within::Units(units) if *units > 0.0 && expected.dtype().is_float() => format!(" within {units} units"),
        Within::OfRun(bounds) => format!(" within {:.1e} of it", bounds.get(run).copied().unwrap_or(0.0)),
        _ => " exactly".to_owned(),
    };
    Some(Apart { at, found: element(found, at), expected: element(expected, at) + &allowed })
}

/// The element that is furthest away, where it is further than so much of the largest one.
fn beyond(found: &HostTensor, expected: &HostTensor, bound: f64) -> Option<usize> {
    let apart = difference(found, expected);
    (apart.max_abs > bound * apart.scale).then_some(apart.at)
}

fn first_other_bits(found: &HostTensor, expected: &HostTensor) -> Option<usize> {
    let size = expected.dtype().size();
    let bits = |tensor: &HostTensor, at: usize| tensor.bytes()[at * size..][..size].to_vec();
    let (a, b) = (found.f64s(), expected.f64s());
    (0..expected.len()).find(|&at| bits(found, at) != bits(expected, at) && !(a[at].is_nan() && b[at].is_nan()))
}

/// An element as people write it; of a whole number all digits.
fn element(tensor: &HostTensor, at: usize) -> String {
    if tensor.dtype().is_float() {
        tensor.f64s().get(at).map_or_else(|| "nothing".to_owned(), |value| format!("{value:?}"))
    } else {
        tensor.ints().get(at).map_or_else(|| "nothing".to_owned(), ToString::to_string)
    }
}

/// Describes the inputs of an element: of operands of its size the element at its place, of small ones all elements.
fn input(case: &Case, probe: &Probe, [run, rank, at]: [usize; 3]) -> String {
    let inputs = case.runs.get(run).and_then(|ranks| ranks.get(rank)).map_or(&[][..], Vec::as_slice);
    let outputs = case.expected.get(run).and_then(|ranks| ranks.get(rank)).map_or(&[][..], Vec::as_slice);
    let size = probe.outputs.clone().filter_map(|output| outputs.get(output)).map(HostTensor::len).max();
    let describe = |tensor: &HostTensor| match tensor.len() {
        len if Some(len) == size && len > 1 => element(tensor, at),
        0..=4 => {
            let elements: Vec<String> = (0..tensor.len()).map(|at| element(tensor, at)).collect();
            format!("[{}]", elements.join(", "))
        }
        _ => format!("a seeded {}{}", tensor.dtype(), tensor.shape()),
    };
    let described: Vec<String> = probe.inputs.clone().filter_map(|at| inputs.get(at)).take(4).map(describe).collect();
    if described.is_empty() { "no input".to_owned() } else { described.join(" and ") }
}
