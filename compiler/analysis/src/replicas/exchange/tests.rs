//! Collectives on shards of all kinds: which elements ranks hold then is what readings say.

use super::*;
use crate::replicas::free;
use halite_ir::ops::{AllGather, AllToAll, CollectivePermute};
use halite_ir::{Builder, Interpreter, LocTable, Module, Op, ParamRole, Registry, TensorType};
use halite_tensor::{DType, HostTensor};
use std::collections::BTreeMap;

const LOCAL: [usize; 2] = [6, 6];

/// The position in the whole tensor, by dimension, of each element that a rank holds.
fn positions(mesh: &Mesh, reading: &Reading, shape: &[usize], rank: usize) -> Vec<Vec<usize>> {
    let position = |dim: usize, own: usize| {
        let (mut below, mut size, mut whole) = (1, 1, 0);
        for digit in reading.of_dim(dim) {
            whole += own / below % (digit.stride / below) * size;
            size *= digit.stride / below;
            whole += mesh.coordinate(digit.sub_axis, rank) * size;
            size *= mesh.sub_axes()[digit.sub_axis].size;
            below = digit.stride;
        }
        whole + own / below * size
    };
    let own = (0..shape[0]).flat_map(|row| (0..shape[1]).map(move |column| [row, column]));
    own.map(|at| (0..2).map(|dim| position(dim, at[dim])).collect()).collect()
}

/// All placements of the sub-axes on a tensor, each as digits in their order.
fn placements(mesh: &Mesh) -> Vec<Reading> {
    let mut all = vec![Reading::default()];
    for sub_axis in 0..mesh.sub_axes().len() {
        let with = |reading: &Reading| {
            let places = (0..2).flat_map(|dim| [1, 2, 3, 6].map(|stride| (dim, stride)));
            let mut all = vec![reading.clone()];
            for (dim, stride) in places {
                let before =
                    |digit: &Placed| (std::cmp::Reverse(digit.dim), digit.stride) < (std::cmp::Reverse(dim), stride);
                let first = reading.digits.iter().take_while(|digit| before(digit)).count();
                let equal = reading.digits.iter().filter(|digit| (digit.dim, digit.stride) == (dim, stride)).count();
                for at in first..=first + equal {
                    let mut reading = reading.clone();
                    reading.digits.insert(at, Placed { sub_axis, dim, stride });
                    all.push(reading);
                }
            }
            all
        };
        all = all.iter().flat_map(with).collect();
    }
    // Strides of a dimension are multiples of those below.
    let nests = |reading: &Reading| {
        (0..2).all(|dim| {
            let strides: Vec<usize> = reading.of_dim(dim).map(|digit| digit.stride).collect();
            strides.windows(2).all(|pair| pair[1].is_multiple_of(pair[0]))
        })
    };
    all.into_iter().filter(nests).collect()
}

/// The results of a collective of each rank.
fn ran(op: impl Into<Op>, inputs: Vec<HostTensor>) -> Vec<HostTensor> {
    let (mut module, registry) = (Module::default(), Registry::builtin());
    let mut b = Builder::new(&mut module, &registry, "main");
    let x = b.param("x", TensorType::new(DType::S32, LOCAL), ParamRole::Argument);
    let y = b.emit(op, &[x]).unwrap();
    b.result(y);
    b.finish();
    let inputs = inputs.into_iter().map(|input| vec![input]).collect();
    let results = Interpreter::of(&module, &registry).run_ranks(&module.functions[0], inputs).unwrap();
    results.into_iter().map(|mut results| results.swap_remove(0)).collect()
}

/// Counts the readings that a collective leaves of those of `placements`, and holds each to what ranks hold: elements at one position
/// of the whole are one element, and others are others.
fn hold(mesh: &Mesh, op: impl Into<Op>, apply: impl Fn(&Exchange<'_>) -> Vec<Reading>) -> usize {
    let (op, mut count) = (op.into(), 0);
    for reading in placements(mesh) {
        let input = |rank: usize| {
            let values = positions(mesh, &reading, &LOCAL, rank).into_iter().map(|at| (at[0] * 1000 + at[1]) as i128);
            HostTensor::from_ints(DType::S32, LOCAL, values)
        };
        let results = ran(op.clone(), (0..mesh.num_ranks()).map(input).collect());
        let state = State::new([reading.clone()], free::none(2));
        let shape = LOCAL.into();
        let cause = Cause(LocTable::unknown());
        for found in apply(&Exchange { mesh, state: &state, shape: &shape, cause }) {
            if !found.parts.is_empty() {
                continue;
            }
            count += 1;
            let (mut elements, mut places) = (BTreeMap::new(), BTreeMap::new());
            for (rank, result) in results.iter().enumerate() {
                let at = positions(mesh, &found, result.shape(), rank);
                for (at, element) in at.into_iter().zip(result.ints()) {
                    let says = format!("{reading:?} became {found:?} by {op:?}: rank {rank} has {element} at {at:?}");
                    assert_eq!(*elements.entry(at.clone()).or_insert(element), element, "{says}");
                    assert_eq!(*places.entry(element).or_insert_with(|| at.clone()), at, "{says}");
                }
            }
        }
    }
    count
}

#[test]
fn collectives_leave_what_their_readings_say() {
    let mesh = Mesh::new([("a", 2), ("b", 3)]).unwrap();
    for sub_axes in [vec![0], vec![1], vec![0, 1], vec![1, 0]] {
        let groups = mesh.groups(&sub_axes);
        for dim in 0..2 {
            let op = AllGather { dim, groups: groups.clone() };
            assert!(hold(&mesh, op, |value| value.all_gather(dim, &sub_axes).unwrap_or_default()) > 0);
            for concat_dim in 0..2 {
                let op = AllToAll { split_dim: dim, concat_dim, groups: groups.clone() };
                assert!(hold(&mesh, op, |value| value.all_to_all(dim, concat_dim, &sub_axes).unwrap_or_default()) > 0);
            }
        }
    }
}

#[test]
fn permutations_leave_what_their_readings_say() {
    for mesh in [Mesh::new([("a", 2), ("b", 3)]).unwrap(), Mesh::new([("a", 2), ("b", 2)]).unwrap()] {
        let ranks = mesh.num_ranks();
        let (rows, columns) = (2, ranks / 2);
        let turns = (0..ranks).map(|by| (0..ranks).map(|rank| (rank + by) % ranks).collect::<Vec<_>>());
        let by_row = (0..ranks).map(|rank| rank / columns * columns + (rank + 1) % columns).collect();
        let by_column = (0..ranks).map(|rank| (rank + columns) % ranks).collect();
        let transposed = (0..ranks).map(|rank| rank % rows * columns + rank / rows).collect();
        let reversed = (0..ranks).rev().collect();
        for sources in turns.chain([by_row, by_column, transposed, reversed]) {
            let pairs = (sources.iter().copied().collect(), (0..ranks).collect());
            assert!(hold(&mesh, CollectivePermute { pairs }, |value| value.permuted(&sources)) > 0);
        }
    }
}
