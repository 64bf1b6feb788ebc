//! Partitioned modules against the whole ones.

use halite_ir::{Interpreter, Module, Registry, TensorType};
use halite_tensor::{HostTensor, compare::difference};
use halite_test_kit::numeric::uniform;
use halite_test_kit::{InputKind, seeded_inputs};

/// Checks that the ranks of `after` compute together what `before` computes alone, up to the order of sums.
///
/// # Errors
/// Naming the result that differs, or on which ranks do.
pub(crate) fn check_partition(before: &Module, after: &Module, registry: &Registry) -> Result<(), String> {
    let (Some(layout), Some(whole), Some(local)) = (&after.layout, before.entry(), after.entry()) else {
        return Ok(());
    };
    let inputs: Vec<HostTensor> = whole.param_types().iter().enumerate().map(|(at, ty)| input(ty, at as u64)).collect();
    let expected = Interpreter::of(before, registry).run(whole, inputs.clone()).map_err(|error| error.to_string())?;
    let shards = (0..layout.mesh.num_ranks()).map(|rank| layout.shard(local, &inputs, rank));
    let shards = shards.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    let ranks = Interpreter::of(after, registry).run_ranks(local, shards).map_err(|error| error.to_string())?;
    let found = layout.assemble(local, &ranks).map_err(|error| error.to_string())?;
    for ((result, expected), found) in whole.results.iter().zip(&expected).zip(&found) {
        let (far, unit) = (difference(found, expected).relative(), expected.dtype().unit_roundoff());
        if far > 64.0 * unit {
            return Err(format!("`{}` is {far:e} off on the mesh", result.name));
        }
    }
    Ok(())
}

/// Checks that ranks that are told their numbers compute bit for bit what those do that know them.
///
/// # Errors
/// When they do not.
pub(crate) fn check_told(before: &Module, after: &Module, registry: &Registry) -> Result<(), String> {
    let (Some(layout), Some(knows), Some(told)) = (&after.layout, before.entry(), after.entry()) else {
        return Ok(());
    };
    let whole = layout.whole_signature(told.clone());
    let inputs = seeded_inputs(&whole, InputKind::Plain, 1);
    let shards = (0..layout.mesh.num_ranks()).map(|rank| layout.shard(told, &inputs, rank));
    let shards = shards.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    let without = shards.iter().map(|shard| shard[..knows.params.len()].to_vec()).collect();
    let expected = Interpreter::of(before, registry).run_ranks(knows, without).map_err(|error| error.to_string())?;
    let found = Interpreter::of(after, registry).run_ranks(told, shards).map_err(|error| error.to_string())?;
    if found == expected { Ok(()) } else { Err("ranks that are told their numbers compute something else".to_owned()) }
}

fn input(ty: &TensorType, seed: u64) -> HostTensor {
    let (dtype, shape) = (ty.dtype(), ty.shape().clone());
    if dtype.is_float() {
        return uniform(dtype, shape, 0.1, 1.0, seed);
    }
    let count = shape.num_elements();
    HostTensor::from_ints(dtype, shape, (0..count).map(|at| (at * 5 % 7) as i128))
}
