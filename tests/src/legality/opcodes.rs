//! Opcodes that are not taken at all.

use super::{Case, array, case, edit, matrix, module, renamed, single};
use halite_hlo::RngAlgorithm;
use halite_hlo::proto::{HloModuleProto, Numbers};
use halite_neuron::Generation;
use halite_support::Result;
use halite_tensor::DType;

pub(super) const CASES: &[Case] = &[
    case("unsupported-op", || copied_as("cholesky"), copied),
    case("conditional", branched, selected),
    case("reduce-precision", || copied_as("reduce-precision"), narrowed),
    case("dynamic-size", || copied_as("set-dimension-size"), copied),
    case("host-transfer", || copied_as("send"), copied),
    case("random-number", || drawn(RngAlgorithm::Default), copied),
    Case {
        rule: "random-algorithm",
        target: Generation::Trn2,
        allow: &["random-number", "wide-integer"],
        downcasts: &[],
        breaks: || drawn(RngAlgorithm::Philox),
        keeps: || drawn(RngAlgorithm::Default),
    },
    case("rank-opcode", ranked, given_rank),
    case("unknown-opcode", || copied_as("fft"), || single(matrix(), |b, x| b.tanh(x))),
    case("arithmetic-shift", || shifted(DType::S16), || shifted(DType::S32)),
];

/// The rank as the program asks for it.
fn ranked() -> Result<HloModuleProto> {
    module(&[array(DType::U32, [])], |b, params| {
        let rank = b.replica_id()?;
        Ok(vec![b.and(rank, params[0])?])
    })
}

/// The rank as an input.
fn given_rank() -> Result<HloModuleProto> {
    module(&[array(DType::U32, [])], |b, params| Ok(vec![b.and(params[0], params[0])?]))
}

fn copied() -> Result<HloModuleProto> {
    single(matrix(), |b, x| b.copy(x))
}

fn copied_as(opcode: &str) -> Result<HloModuleProto> {
    renamed(copied(), "copy", opcode)
}

fn narrowed() -> Result<HloModuleProto> {
    single(matrix(), |b, x| {
        let narrow = b.convert(x, DType::Bf16)?;
        b.convert(narrow, DType::F32)
    })
}

fn selected() -> Result<HloModuleProto> {
    module(&[array(DType::Pred, [4, 8]), matrix()], |b, params| {
        let other = b.negate(params[1])?;
        Ok(vec![b.select(params[0], params[1], other)?])
    })
}

fn branched() -> Result<HloModuleProto> {
    let made = module(&[array(DType::Pred, []), matrix()], |b, params| {
        let mut branch = b.module().computation("branch");
        let x = branch.parameter("x", matrix())?;
        let negated = branch.negate(x)?;
        let branch = branch.finish(negated)?;
        let flag = b.broadcast(params[0], &[4, 8].into(), &[])?;
        let called = b.call(branch, &[params[1]])?;
        Ok(vec![b.select(flag, called, params[1])?])
    });
    edit(renamed(made, "call", "conditional"), "conditional", |inst| {
        let branch = inst.called_computation_ids[0];
        inst.called_computation_ids = Numbers::from_slice(&[branch, branch]);
    })
}

fn drawn(algorithm: RngAlgorithm) -> Result<HloModuleProto> {
    module(&[array(DType::U64, [2])], |b, params| {
        let both = b.rng_bit_generator(algorithm, params[0], &array(DType::U32, [4]))?;
        Ok(vec![b.get_tuple_element(both, 0)?, b.get_tuple_element(both, 1)?])
    })
}

fn shifted(dtype: DType) -> Result<HloModuleProto> {
    module(&[array(dtype, [4]), array(dtype, [4])], |b, params| {
        Ok(vec![b.binary(halite_hlo::BinaryOp::ShiftRightArithmetic, params[0], params[1])?])
    })
}
