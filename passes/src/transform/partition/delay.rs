//! Partial sums that are passed on to several readers, because summing what these make of them moves fewer bytes.

mod program;
mod sums;

use super::delayed::Delayed;
use super::plan::{Given, Key, Plans};
use crate::transform::min_cut::{Nearest, source_side};
use halite_ir::InferCx;
use petgraph::graph::DiGraph;
use program::Program;
use rustc_hash::FxHashMap;
use sums::Sums;

/// Decides where sums are best made, if more than one reader takes a partial sum. The experts of a layer are the example: each is read by
/// the sum over experts and by the gradient of its share, and both are linear in it. To sum once over ranks what all experts give
/// together takes as many bytes as to sum what one of them gives.
///
/// Functions are taken for the same wherever they are called, and some instructions for linear that are not where their operands then lie:
/// a plan that is made with this is to be compared with the one that it was made of.
pub(super) fn delayed(cx: &InferCx<'_>, given: &Given<'_>, (plans, entry): (&Plans, &Key)) -> Delayed {
    let program = Program::new(cx, given, (plans, entry));
    let mut delayed = Delayed::default();
    for sub_axes in program.read_again() {
        let sums = Sums::along(&program, &sub_axes);
        for part in sums.parts() {
            decide(&mut delayed, &program, &sums, &part);
        }
    }
    delayed
}

/// Decides about partial sums of which some are made of others.
fn decide(delayed: &mut Delayed, program: &Program<'_>, sums: &Sums<'_>, part: &[usize]) {
    let several = |&number: &usize| program.reads(number) > 1 && !sums.must_be_made(number);
    if !part.iter().any(several) {
        return;
    }
    let passed = passed(program, sums, part);
    if part.iter().zip(&passed).any(|(number, passed)| *passed && several(number)) {
        part.iter().zip(passed).for_each(|(&number, passed)| delayed.decide(program.value(number), passed));
    }
}

/// For each partial sum of a part whether it is passed on when as few bytes as possible are summed. A minimum cut: each has a place where it
/// is made and one where it is read, and between the two the bytes that summing it takes.
fn passed(program: &Program<'_>, sums: &Sums<'_>, part: &[usize]) -> Vec<bool> {
    let bytes: Vec<u128> = part.iter().map(|&number| program.bytes(number, sums.along)).collect();
    let endless = 1 + bytes.iter().sum::<u128>();
    let mut network = DiGraph::<(), u128>::new();
    let (source, sink) = (network.add_node(()), network.add_node(()));
    let ends: FxHashMap<usize, _> =
        part.iter().map(|&number| (number, [network.add_node(()), network.add_node(())])).collect();
    for (number, bytes) in part.iter().zip(bytes) {
        let [made, read] = ends[number];
        network.add_edge(made, read, bytes);
        network.add_edge(read, made, endless);
        if sums.starts(*number) {
            network.add_edge(source, made, endless);
        } else if sums.is_whole(*number) {
            network.add_edge(made, sink, endless);
        }
        if sums.must_be_made(*number) {
            network.add_edge(read, sink, endless);
        }
        for next in sums.readers(*number) {
            let [next, _] = ends[next];
            network.add_edge(read, next, endless);
            network.add_edge(next, read, endless);
        }
    }
    let passed = source_side(&network, [source, sink], Nearest::Source);
    part.iter().map(|number| passed[ends[number][1].index()]).collect()
}
