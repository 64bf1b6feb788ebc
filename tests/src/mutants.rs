//! Small language models of which some look ahead: the causality law is tried on them.
//!
//! A model is drawn part by part: how the tokens are read, what mixes positions beside attention, how attention is
//! written, how its mask is spelled and applied. Each part is either sound or has one of the faults that are made in
//! practice. Nothing here knows how causality is proved, and the faults are not handed on: the law compares a proof with
//! what programs do.

mod attention;
mod masks;
mod mixers;

use crate::numeric::Random;
use halite_ir::{Attr, Builder, Module, ParamRole, Registry, ResultRole, TensorType, Value, WeightInfo};
use halite_support::Result;
use halite_tensor::{DType, Init};

/// A model that may look ahead, in phase `built`. Its entry takes `tokens s32[batch, seq + 1]` and weights, and returns
/// `logits f32[batch, seq, vocab]`.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// What the analysis of causality judges.
    pub module: Module,
    /// Number of positions.
    pub seq: usize,
    /// Number of tokens.
    pub vocab: usize,
    /// How it is made, in words.
    pub story: Vec<String>,
}

/// The model of a seed.
///
/// # Panics
/// When the generator emits an ill-typed instruction, naming the seed.
pub fn mutant(seed: u64, registry: &Registry) -> Mutant {
    generate(seed, registry).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
}

/// The shape of a model.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    batch: usize,
    seq: usize,
    heads: usize,
    dim: usize,
}

impl Sizes {
    /// The number of features of a position.
    fn hidden(self) -> usize {
        self.heads * self.dim
    }
}

const VOCAB: usize = 13;

/// A model being made.
struct Draft<'b, 'm> {
    b: &'b mut Builder<'m>,
    random: &'b mut Random,
    sizes: Sizes,
    /// The tokens that are read, `s32[batch, seq]`.
    ids: Option<Value>,
    weights: usize,
    story: Vec<String>,
}

fn generate(seed: u64, registry: &Registry) -> Result<Mutant> {
    let mut random = Random::new(seed);
    let mut module = Module::new(format!("mutant{seed}"));
    let mut b = Builder::new(&mut module, registry, "main");
    let batch = 1 + random.below(2);
    let seq = if random.below(8) == 0 { 17 + random.below(4) } else { 4 + random.below(6) };
    let sizes = Sizes { batch, seq, heads: 2, dim: 4 };
    let mut draft = Draft { b: &mut b, random: &mut random, sizes, ids: None, weights: 0, story: Vec::new() };
    let logits = draft.model()?;
    let story = draft.story;
    b.named_result(logits, "logits", ResultRole::Probe);
    b.finish();
    Ok(Mutant { module, seq: sizes.seq, vocab: VOCAB, story })
}

impl Draft<'_, '_> {
    fn model(&mut self) -> Result<Value> {
        let Sizes { batch, seq, .. } = self.sizes;
        let tokens = self.b.param("tokens", TensorType::new(DType::S32, [batch, seq + 1]), ParamRole::Batch);
        let layers = 1 + usize::from(self.random.below(3) == 0);
        // Most models have one fault or none, at a place of its own.
        let fault = self.random.below(2 * (layers + layers) + 2);
        let first = usize::from(fault == 0 && self.random.coin());
        if first == 1 {
            self.tell("reads the next token");
        }
        let ids = self.b.slice_dim(tokens, 1, first, first + seq)?;
        self.ids = Some(ids);
        let mut x = self.embed(ids)?;
        for layer in 0..layers {
            self.tell(format!("layer {layer}:"));
            let faults = (fault == 1 + 2 * layer, fault == 2 + 2 * layer);
            x = self.mix(x, faults.0)?;
            x = self.attend(x, faults.1)?;
            if self.random.coin() {
                x = self.mlp(x)?;
            }
        }
        let x = self.norm(x)?;
        let hidden = self.sizes.hidden();
        let head = self.weight(&[VOCAB, hidden])?;
        self.linear(x, head)
    }

    /// The features of each position, with or without its place.
    fn embed(&mut self, ids: Value) -> Result<Value> {
        let hidden = self.sizes.hidden();
        let table = self.weight(&[VOCAB, hidden])?;
        let x = if self.random.coin() {
            self.b.composite("embedding", &[], &[ids, table])?[0]
        } else {
            self.b.take(table, ids, 0)?
        };
        if self.random.below(3) > 0 {
            return Ok(x);
        }
        self.tell("learned positions");
        let places = self.weight(&[self.sizes.seq, hidden])?;
        let shape = self.b.shape(x).clone();
        let places = self.b.broadcast_in_dim(places, &[1, 2], shape)?;
        self.b.add(x, places)
    }

    fn mlp(&mut self, x: Value) -> Result<Value> {
        let hidden = self.sizes.hidden();
        let (up, down) = (self.weight(&[2 * hidden, hidden])?, self.weight(&[hidden, 2 * hidden])?);
        let y = self.norm(x)?;
        let y = self.linear(y, up)?;
        let y = if self.random.coin() { self.b.composite("silu", &[], &[y])?[0] } else { self.b.tanh(y)? };
        let y = self.linear(y, down)?;
        self.b.add(x, y)
    }

    /// A norm over the features of each position, which also keeps scores small enough for their exponentials.
    fn norm(&mut self, x: Value) -> Result<Value> {
        let hidden = self.sizes.hidden();
        if self.random.coin() {
            let scale = self.weight(&[hidden])?;
            return Ok(self.b.composite("rms_norm", &[], &[x, scale])?[0]);
        }
        let squares = self.b.multiply(x, x)?;
        let sum = self.b.reduce_sum(squares, &[2])?;
        let mean = self.b.multiply_scalar(sum, 1.0 / hidden as f64)?;
        let shifted = self.b.add_scalar(mean, 1e-5)?;
        let factor = self.b.rsqrt(shifted)?;
        let factor = self.b.broadcast_missing(factor, x, &[2])?;
        self.b.multiply(x, factor)
    }

    /// `x weight^T`.
    fn linear(&mut self, x: Value, weight: Value) -> Result<Value> {
        if self.random.coin() {
            return Ok(self.b.composite("linear", &[], &[x, weight])?[0]);
        }
        self.b.dot_general(x, weight, (&[], &[]), (&[2], &[1]))
    }

    fn weight(&mut self, shape: &[usize]) -> Result<Value> {
        let info = WeightInfo::new(Init::Normal { std: 0.5 });
        self.weights += 1;
        let name = format!("w{}", self.weights);
        Ok(self.b.param(name, TensorType::new(DType::F32, shape), ParamRole::Weight(info)))
    }

    /// One of several choices.
    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.random.below(choices.len())]
    }

    fn tell(&mut self, part: impl Into<String>) {
        self.story.push(part.into());
    }

    fn softmax(&mut self, scores: Value, dim: i64) -> Result<Value> {
        Ok(self.b.composite("softmax", &[("dim", Attr::Int(dim))], &[scores])?[0])
    }
}
