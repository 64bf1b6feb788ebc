//! Small language models of which some look ahead: the causality law is tried on them.
//!
//! A model is drawn part by part: how the tokens are read, what mixes positions beside attention, how attention is
//! written, how its mask is spelled and applied. Each part is either sound or has one of the faults that are made in
//! practice. Nothing here knows how causality is proved, and the faults are not handed on: the law compares a proof with
//! what programs do.

mod attention;
mod masks;
mod mixers;

use halite_ir::{Attr, Builder, Module, ParamRole, Registry, ResultRole, TensorType, Value, WeightInfo};
use halite_support::Result;
use halite_tensor::{DType, Init};
use halite_test_kit::numeric::Random;

/// A model that may look ahead, in phase `built`. Its entry takes `tokens s32[batch, seq + 1]` and weights, and returns
/// `logits f32[batch, seq, vocab]`.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The module that the analysis of causality judges.
    pub module: Module,
    /// Number of positions.
    pub seq: usize,
    /// Number of tokens.
    pub vocab: usize,
    /// The steps that made it, in words.
    pub story: Vec<String>,
}

/// The model of a seed.
///
/// # Panics
/// When the generator emits an ill-typed instruction, naming the seed.
pub fn mutant(seed: u64, registry: &Registry) -> Mutant {
    generate(seed, registry).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
}

/// The model of a seed whose layers are calls of one function.
///
/// # Panics
/// As [`mutant`].
pub fn repeated_mutant(seed: u64, registry: &Registry) -> Mutant {
    generate_repeated(seed, registry).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
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

/// A function being made.
struct Draft<'b, 'm> {
    b: &'b mut Builder<'m>,
    random: &'b mut Random,
    sizes: Sizes,
    /// The tokens that are read, `s32[batch, seq]`.
    ids: Option<Value>,
    weights: usize,
    story: Vec<String>,
}

impl<'b, 'm> Draft<'b, 'm> {
    fn new(b: &'b mut Builder<'m>, random: &'b mut Random, sizes: Sizes) -> Self {
        Self { b, random, sizes, ids: None, weights: 0, story: Vec::new() }
    }
}

fn generate(seed: u64, registry: &Registry) -> Result<Mutant> {
    let mut random = Random::new(seed);
    let mut module = Module::new(format!("mutant{seed}"));
    let sizes = draw_sizes(&mut random);
    let mut b = Builder::new(&mut module, registry, "main");
    let mut draft = Draft::new(&mut b, &mut random, sizes);
    let layers = 1 + usize::from(draft.random.below(3) == 0);
    let fault = draft.fault(layers);
    let logits = draft.model(fault == 0, |draft, mut x| {
        for layer in 0..layers {
            draft.tell(format!("layer {layer}:"));
            x = draft.layer(x, (fault == 1 + 2 * layer, fault == 2 + 2 * layer))?;
        }
        Ok(x)
    })?;
    let story = draft.story;
    b.named_result(logits, "logits", ResultRole::Probe);
    b.finish();
    Ok(Mutant { module, seq: sizes.seq, vocab: VOCAB, story })
}

fn generate_repeated(seed: u64, registry: &Registry) -> Result<Mutant> {
    let mut random = Random::new(seed);
    let mut module = Module::new(format!("repeated{seed}"));
    let sizes = draw_sizes(&mut random);
    let mut b = Builder::new(&mut module, registry, "layer");
    let mut draft = Draft::new(&mut b, &mut random, sizes);
    let fault = draft.fault(1);
    let x = TensorType::new(DType::F32, [sizes.batch, sizes.seq, sizes.hidden()]);
    let x = draft.b.param("x", x, ParamRole::Argument);
    draft.ids = Some(draft.b.param("ids", TensorType::new(DType::S32, [sizes.batch, sizes.seq]), ParamRole::Argument));
    let y = draft.layer(x, (fault == 1, fault == 2))?;
    let mut story = draft.story;
    b.result(y);
    let types = b.function().param_types();
    let layer = b.finish();
    let mut b = Builder::new(&mut module, registry, "main");
    let mut draft = Draft::new(&mut b, &mut random, sizes);
    let logits = draft.model(fault == 0, |draft, mut x| {
        for _ in 0..3 + draft.random.below(2) {
            let mut args: Vec<Value> = [x].into_iter().chain(draft.ids).collect();
            for ty in &types[args.len()..] {
                args.push(draft.weight(ty.shape())?);
            }
            x = draft.b.call(layer, &args)?[0];
        }
        Ok(x)
    })?;
    story.extend(draft.story);
    b.named_result(logits, "logits", ResultRole::Probe);
    b.finish();
    Ok(Mutant { module, seq: sizes.seq, vocab: VOCAB, story })
}

fn draw_sizes(random: &mut Random) -> Sizes {
    let batch = 1 + random.below(2);
    let seq = if random.below(8) == 0 { 17 + random.below(4) } else { 4 + random.below(6) };
    Sizes { batch, seq, heads: 2, dim: 4 }
}

impl Draft<'_, '_> {
    /// Most models have one fault or none, at a place of its own: 0 for the tokens that are read, two numbers for each layer.
    fn fault(&mut self, layers: usize) -> usize {
        self.random.below(2 * (layers + layers) + 2)
    }

    /// Logits of tokens, by `layers` of features.
    fn model(&mut self, faulty: bool, layers: impl FnOnce(&mut Self, Value) -> Result<Value>) -> Result<Value> {
        let Sizes { batch, seq, .. } = self.sizes;
        let tokens = self.b.param("tokens", TensorType::new(DType::S32, [batch, seq + 1]), ParamRole::Batch);
        let first = usize::from(faulty && self.random.coin());
        if first == 1 {
            self.tell("reads the next token");
        }
        let ids = self.b.slice_dim(tokens, 1, first, first + seq)?;
        self.ids = Some(ids);
        let x = self.embed(ids)?;
        let x = layers(self, x)?;
        let x = self.norm(x)?;
        let hidden = self.sizes.hidden();
        let head = self.weight(&[VOCAB, hidden])?;
        self.linear(x, head)
    }

    /// A mixer of positions beside attention, and attention, either of which may be faulty; perhaps an MLP.
    fn layer(&mut self, x: Value, (mixes, attends): (bool, bool)) -> Result<Value> {
        let x = self.mix(x, mixes)?;
        let x = self.attend(x, attends)?;
        if self.random.coin() { self.mlp(x) } else { Ok(x) }
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
