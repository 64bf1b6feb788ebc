//! Small models that weigh positions by arithmetic: masks made of `maximum`, `minimum`, `floor`, `%`, squares and absolute
//! values as well as of comparisons, applied by sums, products and choices, beside what moves features along the sequence
//! by concatenation and running sums.
//!
//! Each model is drawn part by part, and each part is sound or shifted so that some position sees a later one. Nothing here
//! knows how causality is proved: which models look ahead is found by running them.

mod applied;
mod moves;
mod weights;

use halite_ir::{Builder, Module, ParamRole, Registry, ResultRole, TensorType, Value, WeightInfo};
use halite_support::Result;
use halite_tensor::{DType, Init};
use halite_test_kit::numeric::Random;

/// A model that may look ahead, in phase `built`. Its entry takes `tokens s32[1, seq]` or `s32[1, seq + 1]` and weights, and
/// returns `logits [1, seq, vocab]`.
#[derive(Clone, Debug)]
pub struct ArithmeticModel {
    /// The module that the analysis of causality judges.
    pub module: Module,
    /// Number of positions.
    pub seq: usize,
    /// Number of tokens.
    pub vocab: usize,
    /// The steps that made it, in words.
    pub story: Vec<String>,
    /// Whether its mask is made with `maximum`, `minimum`, `floor` or `%`.
    pub is_arithmetic: bool,
}

/// The model of a seed, with numbers of `float`; the same seed makes the same choices for each type.
///
/// # Panics
/// When the generator emits an ill-typed instruction, naming the seed.
pub fn arithmetic_model(seed: u64, float: DType, registry: &Registry) -> ArithmeticModel {
    generate(seed, float, registry).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
}

const VOCAB: usize = 7;
const HIDDEN: usize = 4;

/// A model being made.
struct Draft<'b, 'm> {
    b: &'b mut Builder<'m>,
    random: &'b mut Random,
    float: DType,
    seq: usize,
    weights: usize,
    story: Vec<String>,
    is_arithmetic: bool,
}

/// The place where a model looks ahead, if it does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// The mask is shifted.
    Shift,
    /// The mask does not do what it should.
    Applied,
    /// Something beside attention moves features back.
    Moved,
}

fn generate(seed: u64, float: DType, registry: &Registry) -> Result<ArithmeticModel> {
    let mut random = Random::new(seed ^ 0xa51c);
    let mut module = Module::new(format!("arithmetic{seed}"));
    let mut b = Builder::new(&mut module, registry, "main");
    let seq = 4 + random.below(6);
    let mut draft =
        Draft { b: &mut b, random: &mut random, float, seq, weights: 0, story: Vec::new(), is_arithmetic: false };
    let logits = draft.model()?;
    let (story, is_arithmetic) = (draft.story, draft.is_arithmetic);
    b.named_result(logits, "logits", ResultRole::Probe);
    b.finish();
    Ok(ArithmeticModel { module, seq, vocab: VOCAB, story, is_arithmetic })
}

impl Draft<'_, '_> {
    fn model(&mut self) -> Result<Value> {
        let extra = self.random.below(2);
        let tokens = TensorType::new(DType::S32, [1, self.seq + extra]);
        let tokens = self.b.param("tokens", tokens, ParamRole::Batch);
        let ids = self.b.slice_dim(tokens, 1, 0, self.seq)?;
        let fault = match self.random.below(10) {
            0..=4 => Fault::None,
            5..=7 => Fault::Shift,
            8 => Fault::Applied,
            _ => Fault::Moved,
        };
        let table = self.weight(&[VOCAB, HIDDEN])?;
        let x = self.b.take(table, ids, 0)?;
        let x = self.moved(x, fault == Fault::Moved)?;
        let x = self.attend(x, fault)?;
        let head = self.weight(&[VOCAB, HIDDEN])?;
        self.linear(x, head)
    }

    /// Attention on `x[1, seq, hidden]`, with or without keys that no token makes.
    fn attend(&mut self, x: Value, fault: Fault) -> Result<Value> {
        let memory = if self.random.below(4) == 0 { 1 + self.random.below(3) } else { 0 };
        if memory > 0 {
            self.tell(format!("{memory} learned positions before"));
        }
        let [q, k, v] = [self.projected(x)?, self.projected(x)?, self.projected(x)?];
        let (k, v) = (self.remembering(k, memory)?, self.remembering(v, memory)?);
        let scores = self.b.dot_general(q, k, (&[0], &[0]), (&[2], &[2]))?;
        let shift = match fault {
            Fault::Shift => 1 + self.random.below(2) as i64,
            _ if memory > 0 => -(self.random.below(2) as i64),
            _ => 0,
        };
        let offsets = weights::KeyOffsets { memory, shift };
        let mixed = self.weighted(scores, offsets, fault == Fault::Applied)?;
        let y = self.b.dot_general(mixed, v, (&[0], &[0]), (&[2], &[1]))?;
        if self.random.coin() { self.b.add(x, y) } else { Ok(y) }
    }

    /// Features with some before them that are weights.
    fn remembering(&mut self, x: Value, memory: usize) -> Result<Value> {
        if memory == 0 {
            return Ok(x);
        }
        let before = self.weight(&[1, memory, HIDDEN])?;
        self.b.concatenate(&[before, x], 1)
    }

    fn projected(&mut self, x: Value) -> Result<Value> {
        let weight = self.weight(&[HIDDEN, HIDDEN])?;
        self.linear(x, weight)
    }

    /// `x weight^T`.
    fn linear(&mut self, x: Value, weight: Value) -> Result<Value> {
        self.b.dot_general(x, weight, (&[], &[]), (&[2], &[1]))
    }

    fn weight(&mut self, shape: &[usize]) -> Result<Value> {
        let info = WeightInfo::new(Init::Normal { std: 0.5 });
        self.weights += 1;
        let name = format!("w{}", self.weights);
        Ok(self.b.param(name, TensorType::new(self.float, shape), ParamRole::Weight(info)))
    }

    /// One of several choices.
    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.random.below(choices.len())]
    }

    fn tell(&mut self, part: impl Into<String>) {
        self.story.push(part.into());
    }
}
