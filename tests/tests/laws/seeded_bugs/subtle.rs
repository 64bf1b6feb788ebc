//! Mistakes that change little, or one of many: in the second layer of a small GPT-2 with its biases, in one sum, in one weight.

use super::{Bug, Change, Replace, expanded, operand, scaled};
use halite_ir::{Rewriter, Value};
use halite_support::Result;
use halite_tensor::DType;

/// The model of these, with all sizes small; clipping and decay at work; in `f32`, so that a lost bit is a fault.
pub(super) const SETTINGS: [&str; 14] = [
    "precision=fp32",
    "layers=2",
    "hidden=16",
    "heads=2",
    "ffn=24",
    "vocab=8",
    "positions=8",
    "batch=2",
    "seq=8",
    "optimizer.adamw.lr=1e-3",
    "optimizer.adamw.weight_decay=0.5",
    "optimizer.adamw.clip_norm=0.1",
    "schedule.warmup=20",
    "schedule.steps=300",
];

const LAYER: &str = "transformer.h.1";
const ATTENTION: &str = "transformer.h.1.attn";
const NORM: &str = "transformer.h.1.ln_2";
const MLP: &str = "transformer.h.1.mlp";
const UPDATE: &str = "optimizer.transformer.wte.weight";

const fn at(
    place: &'static str,
    name: &'static str,
    op: &'static str,
    scope: &'static str,
    nth: usize,
    replace: Replace,
) -> Bug {
    Bug { name, place, change: Change::Inst(op, scope, nth, replace) }
}

const fn built(name: &'static str, op: &'static str, scope: &'static str, nth: usize, replace: Replace) -> Bug {
    at("<built>", name, op, scope, nth, replace)
}

const fn differentiated(
    name: &'static str,
    op: &'static str,
    scope: &'static str,
    nth: usize,
    replace: Replace,
) -> Bug {
    at("<differentiated>", name, op, scope, nth, replace)
}

const fn step(name: &'static str, op: &'static str, scope: &'static str, nth: usize, replace: Replace) -> Bug {
    at("<step>", name, op, scope, nth, replace)
}

pub(super) const BUGS: &[Bug] = &[
    built("attention-scale-2-percent-off", "causal_attention", ATTENTION, 0, |b, op, args| {
        let queries = b.multiply_scalar(args[0], 1.02)?;
        b.emit(op.clone(), &[queries, args[1], args[2]])
    }),
    built("residual-scaled-by-0.98", "add", LAYER, 0, |b, op, args| {
        let branch = b.multiply_scalar(args[1], 0.98)?;
        b.emit(op.clone(), &[args[0], branch])
    }),
    built("bias-of-one-value-head-lost", "add", "transformer.h.1.attn.c_attn", 0, |b, op, args| {
        let sum = b.emit(op.clone(), args)?;
        let (most, last) = (b.slice_dim(sum, 2, 0, 40)?, b.slice_dim(args[0], 2, 40, 48)?);
        b.concatenate(&[most, last], 2)
    }),
    built("rounded-early-before-gelu", "gelu", MLP, 0, |b, op, args| {
        let rounded = rounded(b, args[0])?;
        b.emit(op.clone(), &[rounded])
    }),
    built("positions-shifted-by-one", "broadcast_in_dim", "transformer", 0, |b, op, args| {
        let (later, first) = (b.slice_dim(args[0], 0, 1, 8)?, b.slice_dim(args[0], 0, 0, 1)?);
        let shifted = b.concatenate(&[later, first], 0)?;
        b.emit(op.clone(), &[shifted])
    }),
    differentiated("bias-gradient-halved", "reduce", "vjp(transformer.h.1.mlp.c_fc)", 0, |b, op, args| {
        let sum = b.emit(op.clone(), args)?;
        b.multiply_scalar(sum, 0.5)
    }),
    differentiated("bias-gradient-of-rounded-terms", "reduce", "vjp(transformer.h.1.attn.c_proj)", 0, |b, op, args| {
        let rounded = rounded(b, args[0])?;
        b.emit(op.clone(), &[rounded])
    }),
    differentiated("part-of-a-tied-gradient-too-large", "add_any", "vjp(transformer)", 0, |b, op, args| {
        let part = b.multiply_scalar(args[0], 1.02)?;
        b.emit(op.clone(), &[part, args[1]])
    }),
    differentiated("cotangent-of-logits-a-thousandth-off", "cross_entropy_grad", "vjp", 0, |b, op, args| {
        let cotangent = b.emit(op.clone(), args)?;
        b.multiply_scalar(cotangent, 0.999)
    }),
    expanded("mask-of-one-layer-shifted", "select", ATTENTION, 0, |b, op, args| {
        let (later, last) = (b.slice_dim(args[0], 1, 1, 8)?, b.slice_dim(args[0], 1, 7, 8)?);
        let shifted = b.concatenate(&[later, last], 1)?;
        b.emit(op.clone(), &[shifted, args[1], args[2]])
    }),
    expanded("something-added-to-softmax-sums", "divide", ATTENTION, 0, |b, op, args| {
        let sum = b.add_scalar(args[1], 1e-3)?;
        b.emit(op.clone(), &[args[0], sum])
    }),
    expanded("epsilon-lost", "add", "transformer.h.0.ln_1", 0, |_, _, args| Ok(args[0])),
    expanded("variance-over-n-minus-1", "multiply", NORM, 2, |b, op, args| {
        let variance = b.emit(op.clone(), args)?;
        b.multiply_scalar(variance, 16.0 / 15.0)
    }),
    expanded("mean-of-cotangents-lost", "subtract", "vjp(transformer.h.1.ln_2)", 0, |_, _, args| Ok(args[0])),
    expanded("cubic-term-of-gelu-2-percent-off", "multiply", MLP, 1, |b, op, args| {
        let term = b.emit(op.clone(), args)?;
        b.multiply_scalar(term, 1.02)
    }),
    expanded("derivative-of-a-low-order-term-lost", "add", "vjp(transformer.h.1.mlp)", 0, |_, _, args| Ok(args[1])),
    step("decay-after-the-update", "subtract", UPDATE, 0, |b, op, args| {
        let (update, decayed) = (operand(b, args[1], 0), operand(b, args[1], 1));
        let rate = operand(b, decayed, 1);
        let updated = b.emit(op.clone(), &[args[0], update])?;
        let decay = b.multiply(updated, rate)?;
        b.subtract(updated, decay)
    }),
    step("decay-2-percent-off", "multiply", UPDATE, 7, |b, op, args| {
        let decay = b.emit(op.clone(), args)?;
        b.multiply_scalar(decay, 1.02)
    }),
    step("beta-rounded-to-bf16", "constant", UPDATE, 1, |b, op, _| scaled(b, op, 0.949_218_75 / 0.95)),
    step("epsilon-inside-the-root", "sqrt", UPDATE, 0, |b, op, args| {
        let moment = b.add_scalar(args[0], 1e-8)?;
        b.emit(op.clone(), &[moment])
    }),
    step("vectors-left-out-of-the-norm", "add", "optimizer", 5, |_, _, args| Ok(args[0])),
    step("mean-over-n-minus-1", "maximum", "optimizer", 0, |b, op, args| {
        let count = b.add_scalar(args[0], -1.0)?;
        b.emit(op.clone(), &[count, args[1]])
    }),
];

/// The value rounded to `bf16` and back.
fn rounded(b: &mut Rewriter<'_>, value: Value) -> Result<Value> {
    let narrow = b.convert(value, DType::Bf16)?;
    b.convert(narrow, DType::F32)
}
