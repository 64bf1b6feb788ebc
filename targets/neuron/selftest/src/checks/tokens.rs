//! Collectives that a token puts in one order.

use crate::bench::Bench;
use crate::check::{Case, Check, Needs, Told, Within};
use halite_neuron::{Neuron, settings};
use halite_recipe::Parallel;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

/// The ranks of a program along `tensor` and along `fsdp`. With the first all collectives run in one stream, with the second in two.
const MESHES: [(usize, usize); 2] = [(1, 2), (8, 4)];

/// Elements that each rank has of a weight.
const SHARD: usize = 4;

pub(super) struct Tokens;

impl Check for Tokens {
    fn name(&self) -> &'static str {
        "tokens"
    }

    fn about(&self) -> &'static str {
        "collectives that a token puts in one order, in one stream and in two"
    }

    fn needs(&self) -> Needs {
        Needs::NeuronCores(2)
    }

    fn meaning(&self) -> &'static str {
        "Weights would be gathered in no order, or wrongly: leave out `neuron.emit.tokens` until it is right."
    }

    fn told(&self) -> Vec<Told> {
        vec![Told::new(
            "collectives/tokens",
            "the compiler takes collectives with a scalar token as their last operand and result, of which it keeps the order, in the streams that their attributes name",
            "`neuron.emit.tokens` may be the default where ranks store parts of weights, once runs are faster with it",
            "`neuron.emit.tokens` is refused for this target",
        )]
    }

    fn cases(&self, bench: &Bench) -> Result<Vec<Case>> {
        MESHES.iter().map(|&mesh| case(bench, mesh)).collect()
    }
}

/// Gathers of two types, a sum along `tensor`, or along `fsdp` where there is one rank along that, and a scatter.
fn case(bench: &Bench, (tensor, fsdp): (usize, usize)) -> Result<Case> {
    let mut ordered = bench.clone();
    let parallel = Parallel { tensor: tensor as u32, fsdp: fsdp as u32, ..Parallel::default() };
    ordered.recipe.parallel = Some(parallel);
    Neuron::change(&mut ordered.recipe, |table| table.emit.tokens = true)?;
    let ranks = tensor * fsdp;
    let along = |count: usize, other: usize, rank: &dyn Fn(usize, usize) -> usize| {
        let group = |at| format!("{:?}", (0..count).map(|own| rank(own, at)).collect::<Vec<_>>());
        format!("[{}]", (0..other).map(group).collect::<Vec<_>>().join(", "))
    };
    let outer = along(fsdp, tensor, &|own, at| own * tensor + at);
    let inner = if tensor == 1 { outer.clone() } else { along(tensor, fsdp, &|own, at| at * tensor + own) };
    let whole = fsdp * SHARD;
    let text = format!(
        "module @ordered {{phase = built}}

func @main(%w: f32[{SHARD}], %v: bf16[{SHARD}], %x: f32[{whole}]) -> (f32[{SHARD}], bf16[{whole}]) {{
  %a = all_gather %w {{dim = 0, groups = {outer}}} : f32[{whole}]
  %b = all_gather %v {{dim = 0, groups = {outer}}} : bf16[{whole}]
  %c = multiply %a, %x : f32[{whole}]
  %d = all_reduce %c {{kind = sum, groups = {inner}}} : f32[{whole}]
  %e = convert %b : f32[{whole}]
  %g = add %d, %e : f32[{whole}]
  %s = reduce_scatter %g {{dim = 0, groups = {outer}}} : f32[{SHARD}]
  return %s, %b
}}
"
    );
    let name = format!("tokens-{ranks}");
    let program = ordered.program_of(&name, &text)?;
    // Integers, of which each type holds all that there are here.
    let vector = |dtype, len: usize, rank: usize, base: usize| {
        HostTensor::from_f64s(dtype, [len], (0..len).map(|at| ((rank * len + at) * 7 % base) as f64))
    };
    let inputs = |rank| {
        vec![
            vector(DType::F32, SHARD, rank, 11),
            vector(DType::Bf16, SHARD, rank, 251),
            vector(DType::F32, whole, rank, 13),
        ]
    };
    let mut case = Case::of(bench, &name, program, vec![(0..ranks).map(inputs).collect()])?;
    let plain = settings::environment(&bench.recipe);
    let environment = settings::environment(&ordered.recipe).into_iter();
    case.environment = environment.filter(|(name, _)| !plain.contains_key(name)).collect();
    let label = format!("collectives in one order on {ranks} ranks");
    Ok(case.probing(label, vec!["collectives/tokens".to_owned()], Within::Exact))
}
