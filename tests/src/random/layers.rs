//! Modules whose functions are called in the way of layers: one after another, each call with weights of its own beside what all are
//! given, by several callers and from within one another.

use super::{Body, Known, MAX_BOUND, PARAM_BOUND, RandomOptions, SIZES, helper, random_seed, values};
use halite_ir::{Builder, FuncId, Module, ParamRole, Registry, ResultRole, TensorType, Value, WeightInfo};
use halite_support::Result;
use halite_tensor::{HostTensor, Init};
use halite_test_kit::numeric::Random;

/// A module, and inputs for its entry.
#[derive(Clone, Debug)]
pub struct RandomLayers {
    /// The module, in phase `built`.
    pub module: Module,
    /// One tensor for each parameter of the entry.
    pub inputs: Vec<HostTensor>,
}

/// The module of a seed.
///
/// # Panics
/// When the generator emits an ill-typed instruction, naming the seed.
pub fn random_layers(seed: u64, options: RandomOptions, registry: &Registry) -> RandomLayers {
    generate(seed, options, registry).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
}

/// No number is known of how far an implementation may be off, but that it may be.
const INEXACT: f64 = f64::EPSILON;

/// A function `(x, shared, weights ..) -> x`, where `x` and `shared` have one type.
struct Layer {
    id: FuncId,
    weights: Vec<TensorType>,
}

fn generate(seed: u64, options: RandomOptions, registry: &Registry) -> Result<RandomLayers> {
    let random = &mut Random::new(seed ^ 0x1a7e);
    let mut module = Module::new(format!("layers{seed}"));
    let mut callees = Vec::new();
    for index in 0..random.below(3) {
        callees.push(helper(&mut module, registry, random, options, &callees, index)?);
    }
    let shape = [SIZES[random.below(SIZES.len())], SIZES[random.below(SIZES.len())]];
    let ty = TensorType::new(options.float, shape);
    let mut layers = Vec::new();
    for index in 0..1 + random.below(3) {
        let mut b = Builder::new(&mut module, registry, format!("layer{index}"));
        let mut body = Body { b: &mut b, random, options, callees: &callees, pool: Vec::new() };
        let weights = body.layer(&ty, &layers)?;
        layers.push(Layer { id: b.finish(), weights });
    }
    let mut b = Builder::new(&mut module, registry, "main");
    let mut body = Body { b: &mut b, random, options, callees: &callees, pool: Vec::new() };
    let loss = body.stack(&ty, &layers)?;
    let count = b.splat(options.float, [], 3.0)?;
    b.named_result(loss, "loss", ResultRole::Loss);
    b.named_result(count, "count", ResultRole::Count);
    let seed = random_seed(b.function());
    let inputs = b.function().param_types().iter().enumerate().map(|(at, ty)| values(ty, seed + at as u64)).collect();
    b.finish();
    Ok(RandomLayers { module, inputs })
}

impl Body<'_, '_> {
    /// The body of a layer, which may call those before it. Returns the types of its weights.
    fn layer(&mut self, ty: &TensorType, before: &[Layer]) -> Result<Vec<TensorType>> {
        self.param("x".into(), ty.clone(), ParamRole::Argument);
        self.param("shared".into(), ty.clone(), ParamRole::Argument);
        let [x, shared] = [0, 1].map(|at| self.pool[at].value);
        if self.random.coin() {
            self.projections(&ParamRole::Argument)?;
        }
        let mut h = x;
        for _ in 0..if before.is_empty() { 0 } else { self.random.below(3) } {
            let layer = &before[self.random.below(before.len())];
            let weights = self.weights(&layer.weights, &ParamRole::Argument);
            h = self.b.call(layer.id, &[&[h, shared], &weights[..]].concat())?[0];
        }
        let width = ty.shape()[1];
        let weight = self.weights(&[ty.with_shape([width, width])], &ParamRole::Argument)[0];
        let product = self.b.dot_general(h, weight, (&[], &[]), (&[1], &[1]))?;
        self.keep(product, MAX_BOUND, INEXACT)?;
        let moves = 2 + self.random.below(6);
        self.grow(moves)?;
        let (sum, _) = self.loss()?;
        let sum = self.b.multiply_scalar(sum, 0.125)?;
        let sum = self.b.broadcast_in_dim(sum, &[], ty.shape().clone())?;
        let y = self.b.add(product, sum)?;
        let y = self.b.tanh(y)?;
        let y = self.b.add(h, y)?;
        let y = self.b.multiply_scalar(y, 0.5)?;
        self.b.result(y);
        Ok(self.b.function().param_types()[2..].to_vec())
    }

    /// Calls of the layers, and the sum of what the last one returns.
    fn stack(&mut self, ty: &TensorType, layers: &[Layer]) -> Result<Value> {
        self.param("x".into(), ty.clone(), ParamRole::Argument);
        let mut x = self.pool[0].value;
        let role = ParamRole::Weight(WeightInfo::new(Init::Ones));
        let shared = self.weights(std::slice::from_ref(ty), &role)[0];
        let mut last: Vec<Vec<Value>> = vec![Vec::new(); layers.len()];
        for index in 0..3 + self.random.below(3) as u32 {
            let which = self.random.below(layers.len());
            if last[which].is_empty() || self.random.below(4) > 0 {
                let layer = halite_ir::Layer { list: format!("list{which}").into(), index };
                let role = ParamRole::Weight(WeightInfo { layer: Some(layer), ..WeightInfo::new(Init::Ones) });
                last[which] = self.weights(&layers[which].weights, &role);
            }
            x = self.b.call(layers[which].id, &[&[x, shared], &last[which][..]].concat())?[0];
        }
        self.pool.push(Known { value: x, ty: ty.clone(), bound: PARAM_BOUND, error: INEXACT });
        let moves = self.random.below(4);
        self.grow(moves)?;
        let sum = self.b.reduce_sum(x, &[0, 1])?;
        let (other, _) = self.loss()?;
        self.b.add(sum, other)
    }

    /// Parameters of these types, which join the pool.
    fn weights(&mut self, types: &[TensorType], role: &ParamRole) -> Vec<Value> {
        let first = self.pool.len();
        for ty in types {
            let name = format!("w{}", self.b.function().params.len());
            self.param(name, ty.clone(), role.clone());
        }
        self.pool[first..].iter().map(|known| known.value).collect()
    }
}
