//! Seeded random modules: well-typed, of bounded size, numerically tame.
//!
//! A module has a few helper functions that call each other and an entry with arguments, weights, a loss and a count, so
//! that every pass applies to it. The generator keeps for each value a bound of its size and of the error that an
//! implementation with other rounding may make, so that a comparison needs no guessed tolerance and ops that jump
//! (comparisons, indices) are only given values that are exact.

mod composites;
mod contraction;
mod elementwise;
mod integers;
mod layers;
mod masks;
mod movement;
mod projection;
mod spelled;

pub use layers::{RandomLayers, random_layers};

use halite_ir::{Builder, FuncId, Function, Module, ParamRole, Registry, ResultRole, TensorType, Value, WeightInfo};
use halite_support::{Diagnostic, Result};
use halite_tensor::{DType, HostTensor, Init, Shape};
use halite_test_kit::numeric::{Random, uniform};

/// Options of the random modules.
#[derive(Clone, Copy, Debug)]
pub struct RandomOptions {
    /// The element type of weights and loss.
    pub float: DType,
    /// Whether to leave out what has kinks or narrows floats, so that finite differences converge.
    pub smooth: bool,
}

/// A random module, inputs for its entry, and how exact its results are.
#[derive(Clone, Debug)]
pub struct RandomModule {
    /// The module, in phase `built`.
    pub module: Module,
    /// One tensor for each parameter of the entry.
    pub inputs: Vec<HostTensor>,
    /// For each result of the entry, by how much another implementation may be away from the interpreter.
    pub errors: Vec<f64>,
}

/// The module of a seed.
///
/// # Panics
/// When the generator emits an ill-typed instruction, naming the seed.
pub fn random_module(seed: u64, options: RandomOptions, registry: &Registry) -> RandomModule {
    generate(seed, options, registry).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
}

fn generate(seed: u64, options: RandomOptions, registry: &Registry) -> Result<RandomModule> {
    let mut random = Random::new(seed);
    let mut module = Module::new(format!("random{seed}"));
    let mut callees = Vec::new();
    for index in 0..random.below(3) {
        callees.push(helper(&mut module, registry, &mut random, options, &callees, index)?);
    }
    let (errors, inputs) = entry(&mut module, registry, &mut random, options, &callees)?;
    Ok(RandomModule { module, inputs, errors })
}

/// The facts about a value while a body is made.
#[derive(Clone, Debug)]
struct Known {
    value: Value,
    ty: TensorType,
    /// No element is larger.
    bound: f64,
    /// No implementation is further away; 0 when every implementation gives the same bits.
    error: f64,
}

/// A function that later ones may call: the bounds and errors of its parameters are those of [`Body::param`], and
/// `results` says what is known of its results then.
#[derive(Clone, Debug)]
struct Callee {
    id: FuncId,
    params: Vec<TensorType>,
    results: Vec<(TensorType, f64, f64)>,
}

/// The largest bound of a parameter of a helper.
const PARAM_BOUND: f64 = 2.0;

/// Values whose bound would be larger are squashed.
const MAX_BOUND: f64 = 64.0;

/// A function being made.
struct Body<'b, 'm> {
    b: &'b mut Builder<'m>,
    random: &'b mut Random,
    options: RandomOptions,
    callees: &'b [Callee],
    pool: Vec<Known>,
}

type Move = fn(&mut Body<'_, '_>) -> Result<()>;

/// Every kind of growth. A move that finds no operand that suits it does nothing.
const MOVES: &[Move] = &[
    |body| body.unary(),
    |body| body.unary(),
    |body| body.binary(),
    |body| body.binary(),
    |body| body.with_constant(),
    |body| body.neutral(),
    |body| body.constant(),
    |body| body.kinked(),
    |body| body.repeated(),
    |body| body.integer(),
    |body| body.bitwise(),
    |body| body.chosen(),
    |body| body.masked(),
    |body| body.converted(),
    |body| body.reshaped(),
    |body| body.transposed(),
    |body| body.sliced(),
    |body| body.padded(),
    |body| body.joined(),
    |body| body.reversed(),
    |body| body.broadcast(),
    |body| body.taken(),
    |body| body.sliced_at(),
    |body| body.updated_at(),
    |body| body.reduced(),
    |body| body.product(),
    |body| body.product(),
    |body| body.activation(),
    |body| body.normalized(),
    |body| body.linear(),
    |body| body.attention(),
    |body| body.embedded(),
    |body| body.called(),
    |body| body.barrier(),
    |body| body.random_bits(),
];

impl Body<'_, '_> {
    fn grow(&mut self, moves: usize) -> Result<()> {
        for _ in 0..moves {
            let next = MOVES[self.random.below(MOVES.len())];
            next(self)?;
        }
        Ok(())
    }

    /// Keeps a value; one that may be large is squashed first.
    fn keep(&mut self, value: Value, bound: f64, error: f64) -> Result<()> {
        let ty = self.b.ty(value).clone();
        if bound <= MAX_BOUND || !ty.dtype().is_float() {
            self.pool.push(Known { value, ty, bound, error });
            return Ok(());
        }
        let unit = ty.dtype().unit_roundoff();
        // Halving often enough keeps the slope at one and tanh away from its flat part.
        let scaled = self.b.multiply_scalar(value, 1.0 / bound)?;
        let squashed = self.b.tanh(scaled)?;
        self.pool.push(Known { value: squashed, ty, bound: 1.0, error: error / bound + 8.0 * unit });
        Ok(())
    }

    /// A value that `suits`, if there is one.
    fn pick(&mut self, suits: impl Fn(&Known) -> bool) -> Option<Known> {
        let suitable: Vec<_> = self.pool.iter().filter(|known| suits(known)).collect();
        if suitable.is_empty() {
            return None;
        }
        // Late values are preferred, so that bodies become deep.
        let at = self.random.below(suitable.len()).max(self.random.below(suitable.len()));
        Some(suitable[at].clone())
    }

    fn pick_float(&mut self) -> Option<Known> {
        self.pick(|known| known.ty.dtype().is_float())
    }

    /// A float of at least one element in each dimension and this rank or more.
    fn pick_ranked(&mut self, rank: usize) -> Option<Known> {
        self.pick(|known| known.ty.dtype().is_float() && known.ty.rank() >= rank)
    }

    /// A parameter of a helper.
    fn param(&mut self, name: String, ty: TensorType, role: ParamRole) {
        let bound = if ty.dtype() == DType::Pred { 1.0 } else { PARAM_BOUND };
        let value = self.b.param(name, ty.clone(), role);
        self.pool.push(Known { value, ty, bound, error: 0.0 });
    }

    /// A call of a helper, on values that are as tame as it expects.
    fn called(&mut self) -> Result<()> {
        if self.callees.is_empty() {
            return Ok(());
        }
        let callee = self.callees[self.random.below(self.callees.len())].clone();
        let mut args = Vec::new();
        for ty in &callee.params {
            // Only exact values: the errors of the results were found for exact parameters.
            let suits = |known: &Known| known.ty == *ty && known.bound <= PARAM_BOUND && known.error == 0.0;
            let arg = match self.pick(suits) {
                Some(known) => known.value,
                None => {
                    let seed = self.random.bits();
                    self.b.constant(values(ty, seed))?
                }
            };
            args.push(arg);
        }
        let results = self.b.call(callee.id, &args)?;
        for (value, (ty, bound, error)) in results.into_iter().zip(callee.results) {
            self.pool.push(Known { value, ty, bound, error });
        }
        Ok(())
    }

    /// Two values behind a barrier.
    fn barrier(&mut self) -> Result<()> {
        let (Some(x), Some(y)) = (self.pick(|_| true), self.pick(|_| true)) else { return Ok(()) };
        let results = self.b.optimization_barrier(&[x.value, y.value])?;
        for (value, known) in results.into_iter().zip([x, y]) {
            self.pool.push(Known { value, ..known });
        }
        Ok(())
    }
}

/// Sizes that appear in modules, so that shapes meet each other.
const SIZES: [usize; 4] = [1, 2, 3, 4];

fn random_shape(random: &mut Random, max_rank: usize) -> Shape {
    (0..random.below(max_rank + 1)).map(|_| SIZES[random.below(SIZES.len())]).collect()
}

fn random_type(random: &mut Random, float: DType) -> TensorType {
    let dtypes = [float, float, float, DType::S32, DType::Pred];
    TensorType::new(dtypes[random.below(dtypes.len())], random_shape(random, 3))
}

/// Elements for a parameter: reals and integers within [`PARAM_BOUND`].
fn values(ty: &TensorType, seed: u64) -> HostTensor {
    let (dtype, shape) = (ty.dtype(), ty.shape().clone());
    if dtype.is_float() {
        return uniform(dtype, shape, -1.5, 1.5, seed);
    }
    let mut random = Random::new(seed);
    let (low, count) = if dtype == DType::Pred { (0, 2) } else { (-2, 5) };
    let elements: Vec<_> = (0..shape.num_elements()).map(|_| random.below(count) as i128 + low).collect();
    HostTensor::from_ints(dtype, shape, elements)
}

fn helper(
    module: &mut Module,
    registry: &Registry,
    random: &mut Random,
    options: RandomOptions,
    callees: &[Callee],
    index: usize,
) -> Result<Callee> {
    let mut b = Builder::new(module, registry, format!("f{index}"));
    let mut body = Body { b: &mut b, random, options, callees, pool: Vec::new() };
    for position in 0..1 + body.random.below(3) {
        let ty = random_type(body.random, options.float);
        body.param(format!("x{position}"), ty, ParamRole::Argument);
    }
    let moves = 2 + body.random.below(6);
    body.grow(moves)?;
    let mut results = Vec::new();
    for _ in 0..1 + body.random.below(2) {
        results.extend(body.pick(|_| true));
    }
    let params = b.function().param_types();
    for known in &results {
        b.result(known.value);
    }
    let results = results.into_iter().map(|known| (known.ty, known.bound, known.error)).collect();
    Ok(Callee { id: b.finish(), params, results })
}

fn entry(
    module: &mut Module,
    registry: &Registry,
    random: &mut Random,
    options: RandomOptions,
    callees: &[Callee],
) -> Result<(Vec<f64>, Vec<HostTensor>)> {
    let mut b = Builder::new(module, registry, "main");
    let mut body = Body { b: &mut b, random, options, callees, pool: Vec::new() };
    for index in 0..1 + body.random.below(3) {
        let ty = random_type(body.random, options.float);
        body.param(format!("x{index}"), ty, ParamRole::Argument);
    }
    if body.random.coin() {
        body.projections(&ParamRole::Weight(WeightInfo::new(Init::Ones)))?;
    }
    for index in 0..1 + body.random.below(3) {
        let ty = TensorType::new(options.float, random_shape(body.random, 3));
        body.param(format!("w{index}"), ty, ParamRole::Weight(WeightInfo::new(Init::Ones)));
    }
    let moves = 4 + body.random.below(16);
    body.grow(moves)?;
    let (loss, loss_error) = body.loss()?;
    let mut outputs = vec![loss_error, 0.0];
    let mut shown = Vec::new();
    for _ in 0..body.random.below(3) {
        shown.extend(body.pick(|_| true));
    }
    let count = b.splat(options.float, [], 3.0)?;
    b.named_result(loss, "loss", ResultRole::Loss);
    b.named_result(count, "count", ResultRole::Count);
    for (index, known) in shown.into_iter().enumerate() {
        b.named_result(known.value, format!("shown.{index}"), ResultRole::Probe);
        outputs.push(known.error);
    }
    let seed = random_seed(b.function());
    let inputs = b.function().param_types().iter().enumerate().map(|(at, ty)| values(ty, seed + at as u64)).collect();
    b.finish();
    Ok((outputs, inputs))
}

/// A seed for inputs that differs between modules of different sizes.
fn random_seed(function: &Function) -> u64 {
    1000 + 17 * function.values.len() as u64
}

impl Body<'_, '_> {
    /// The sum of some floats, and what is known of its error.
    fn loss(&mut self) -> Result<(Value, f64)> {
        let mut loss: Option<(Value, f64, f64)> = None;
        for _ in 0..3 {
            let Some(x) = self.pick_float() else { break };
            let wide = self.b.convert(x.value, self.options.float)?;
            let dims: Vec<_> = (0..x.ty.rank()).collect();
            let count = x.ty.shape().num_elements() as f64;
            let sum = self.b.reduce_sum(wide, &dims)?;
            let (bound, error) = (x.bound * count, x.error * count);
            let unit = self.options.float.unit_roundoff();
            let error = error + 2.0 * unit * bound * (count + 1.0);
            loss = Some(match loss {
                None => (sum, bound, error),
                Some((so_far, old_bound, old_error)) => {
                    let bound = bound + old_bound;
                    (self.b.add(so_far, sum)?, bound, error + old_error + 2.0 * unit * bound)
                }
            });
        }
        let (loss, _, error) = loss.ok_or_else(|| Diagnostic::bug("the pool has a weight"))?;
        Ok((loss, error))
    }
}
