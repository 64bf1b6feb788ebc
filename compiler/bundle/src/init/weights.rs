//! The state of a run that starts from given weights.

use super::{Initial, keys, widest};
use crate::Manifest;
use crate::convert::converted;
use crate::expected::{shorten, unwanted};
use crate::form::{Form, wanted};
use crate::state::refuse_stored;
use crate::tensors::Tensors;
#[cfg(feature = "files")]
use crate::{adopt, shards};
use halite_support::{Diagnostic, Diagnostics, codes};
use halite_tensor::{DType, HostTensor, Shape, rounding};
use indexmap::IndexMap;
#[cfg(feature = "files")]
use std::path::Path;

/// The state that training starts from at these weights, with the tensors of [`initial_state`](super::initial_state). State
/// that does not start as a weight is as it is there.
///
/// Weights are those of the model, all of them, in any float types. Each is rounded once
/// to the widest type that it is stored in, as a weight or as state that starts as the weight, if need be, and what is
/// narrower is that rounded to nearest. So weights that `TrainStep::weights` gives, or a checkpoint in `bf16`,
/// keep every bit.
///
/// # Errors
/// Every weight that is missing, of the wrong shape, not of floats, not finite, or beyond the range of a type that it is
/// rounded to, and every tensor that is no weight of the model; when the manifest contradicts itself.
pub fn state_from_weights(manifest: &Manifest, weights: Tensors) -> std::result::Result<Tensors, Diagnostics> {
    let initial = Initial::new(manifest, 0)?;
    refuse_stored(manifest, &weights)?;
    check_weights(manifest, &weights)?;
    let mut state = Tensors::new();
    for buffer in manifest.saved() {
        let (is_given, through) = (buffer.starts_as().is_some(), initial.through(buffer));
        let keys = keys(buffer).into_iter().zip(buffer.tensor_shapes());
        for (name, (key, shape)) in buffer.tensor_names().into_iter().zip(keys) {
            let tensor = if is_given {
                let weight = weights.get(&key).ok_or_else(|| Diagnostic::bug(format!("no weight `{key}`")))?;
                converted(&converted(weight, through), buffer.dtype)
            } else {
                initial.tensor(buffer, key, &shape)?
            };
            state.insert(name, tensor);
        }
    }
    Ok(state)
}

/// As [`state_from_weights`], with the weights in a safetensors file, in the shards that an index names, or in a folder with
/// one of the two. They may have the names of Hugging Face's Transformers ([`adopt`](crate::adopt)).
///
/// # Errors
/// When a file cannot be read; as [`state_from_weights`].
#[cfg(feature = "files")]
pub fn state_from_checkpoint(manifest: &Manifest, path: &Path) -> std::result::Result<Tensors, Diagnostics> {
    let weights = adopt(manifest, shards::read(path)?)?;
    state_from_weights(manifest, weights)
}

/// Compares tensors with the weights of the model.
fn check_weights(manifest: &Manifest, tensors: &Tensors) -> std::result::Result<(), Diagnostics> {
    let error = |message: String| Diagnostic::error(codes::TENSORS, message);
    let state = wanted(manifest, Form::Model);
    let weights: IndexMap<&String, &Shape> =
        state.iter().filter(|(_, (buffer, _))| buffer.is_weight()).map(|(name, (_, shape))| (name, shape)).collect();
    let types = types(manifest);
    let mut mistakes = Diagnostics::new();
    for (&name, &shape) in &weights {
        match tensors.get(name) {
            None => mistakes
                .push(error(format!("the weight `{name}` is missing")).help(format!("add it with shape {shape}"))),
            Some(tensor) if tensor.shape() != shape => {
                let message = format!("the weight `{name}` has the shape {}, the model has {shape}", tensor.shape());
                mistakes.push(error(message).help("give weights of this model, or compile a bundle of that size"));
            }
            Some(tensor) if !tensor.dtype().is_float() => {
                let message = format!("the weight `{name}` is `{}`, which is not a type of floats", tensor.dtype());
                mistakes.push(error(message).help("give it as `bf16`, `f16`, `f32` or `f64`"));
            }
            Some(tensor) => mistakes.extend(not_finite(name, tensor, types.get(name).map_or(&[], Vec::as_slice))),
        }
    }
    let missing: Vec<&str> =
        weights.keys().map(|name| name.as_str()).filter(|name| !tensors.contains_key(*name)).collect();
    for name in tensors.keys().filter(|name| !weights.contains_key(name)) {
        let help = if state.contains_key(name) {
            "leave it out, as `halite convert --weights-only` does, or continue from the whole state".to_owned()
        } else {
            unwanted(name, &missing, mistakes.len())
        };
        mistakes.push(error(format!("the model has no weight `{name}`")).help(help));
    }
    if mistakes.is_empty() { Ok(()) } else { Err(shorten(mistakes)) }
}

/// The element types that each weight of the model is rounded to: the widest that it is stored in, and from that the others.
fn types(manifest: &Manifest) -> IndexMap<String, Vec<DType>> {
    let mut rounded: IndexMap<&str, Vec<DType>> =
        widest(manifest).into_iter().map(|(weight, widest)| (weight, vec![widest])).collect();
    for buffer in &manifest.buffers {
        if let Some(types) = buffer.starts_as().and_then(|weight| rounded.get_mut(weight)) {
            types.push(buffer.dtype);
        }
    }
    let weights = manifest.buffers.iter().filter(|buffer| buffer.is_weight());
    let named = weights.filter_map(|buffer| Some((buffer.tensor_names(), rounded.get(buffer.name.as_str())?)));
    named.flat_map(|(names, types)| names.into_iter().map(|name| (name, types.clone()))).collect()
}

/// Reports values that are not finite, or become infinite where they are rounded to the first of these types, or from that to another.
fn not_finite(name: &str, tensor: &HostTensor, types: &[DType]) -> Option<Diagnostic> {
    let largest = tensor.f64s().into_iter().map(f64::abs).max_by(f64::total_cmp)?;
    let error = |message: String| Diagnostic::error(codes::TENSORS, message);
    if !largest.is_finite() {
        let value = if largest.is_nan() { "NaN" } else { "an infinity" };
        return Some(error(format!("the weight `{name}` holds {value}")).help("give weights that are finite numbers"));
    }
    let widest = rounding::round_to(*types.first()?, largest);
    let narrow = types.iter().find(|&&dtype| !rounding::round_to(dtype, widest).is_finite())?;
    let message =
        format!("the weight `{name}` holds a value of magnitude {largest:?}, which is infinite as `{narrow}`");
    let found = tensor.dtype();
    Some(error(message).help(format!("give smaller weights, or compile a bundle that stores them as `{found}`")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::{retain_weights, to_stored};
    use crate::fixtures::{apart, packed};
    use crate::init::initial_state;

    /// The weights of a state of the bundle that stores each on its own.
    fn weights(seed: u64) -> Tensors {
        let bundle = apart();
        let mut state = initial_state(&bundle, seed).unwrap();
        retain_weights(&bundle.manifest, &mut state);
        state
    }

    fn messages(weights: Tensors) -> Vec<String> {
        let errors = state_from_weights(&packed().manifest, weights).unwrap_err();
        errors.iter().map(|error| error.message().to_owned()).collect()
    }

    /// The weights of `packed` are `f32`, and `bf16` with a master of `f32`.
    #[test]
    fn weights_keep_their_bits_and_all_else_starts_anew() {
        for bundle in [apart(), packed()] {
            let given = weights(3);
            let state = state_from_weights(&bundle.manifest, given.clone()).unwrap();
            let fresh = initial_state(&bundle, 4).unwrap();
            assert_eq!(state.keys().collect::<Vec<_>>(), fresh.keys().collect::<Vec<_>>());
            for (name, tensor) in &state {
                let is_moved = !(["b", "step"].contains(&name.as_str()) || name.starts_with("m."));
                assert_eq!(*tensor != fresh[name], is_moved, "{name}");
            }
            for (name, weight) in &given {
                assert_eq!(state[name], *weight, "{name}");
                let master = state.get(&format!("master.{name}"));
                assert!(master.is_none_or(|master| master.f64s() == weight.f64s()), "{name}");
            }
        }
    }

    /// As [`initial_state`](super::super::initial_state) rounds: to the master, and the master to the weight.
    #[test]
    fn wider_weights_round_by_way_of_the_master() {
        let (manifest, mut given) = (packed().manifest, weights(3));
        for tensor in given.values_mut() {
            let values = tensor.f64s().into_iter().enumerate().map(|(at, value)| value * (1.0 + at as f64 * 1e-9));
            *tensor = HostTensor::from_f64s(DType::F64, tensor.shape().clone(), values.collect::<Vec<_>>());
        }
        // Just above the middle of two `bf16` values, and on it in `f32`.
        let shape = given["k"].shape().clone();
        let high = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
        given.insert("k".into(), HostTensor::from_f64s(DType::F64, shape, vec![high; 16]));
        let model = state_from_weights(&manifest, given.clone()).unwrap();
        for name in ["q", "k", "v"] {
            let master: Vec<f64> =
                given[name].f64s().iter().map(|&value| rounding::round_to(DType::F32, value)).collect();
            let weight: Vec<f64> = master.iter().map(|&value| rounding::round_to(DType::Bf16, value)).collect();
            assert_eq!((model[&format!("master.{name}")].f64s(), model[name].f64s()), (master, weight), "{name}");
        }
        assert_eq!(model["k"].f64s(), [1.0; 16]);
    }

    #[test]
    fn weights_as_the_bundle_stores_them_are_refused() {
        let stored = to_stored(&packed().manifest, weights(3)).unwrap();
        let expected = "`qkv` is several tensors stored as one, as a bundle has them: `q`, `k` and `v`";
        assert_eq!(messages(stored), [expected]);
    }

    #[test]
    fn every_weight_that_does_not_fit_is_named() {
        let mut given = weights(3);
        let q = given.swap_remove("q").unwrap();
        given.swap_remove("w");
        given.insert("ww".into(), q);
        given.insert("b".into(), HostTensor::zeros(DType::F32, [4]));
        given.insert("k".into(), HostTensor::zeros(DType::S32, [2, 8]));
        given.insert("m.w".into(), HostTensor::zeros(DType::F32, [300, 50]));
        let expected = [
            "the weight `w` is missing",
            "the weight `b` has the shape [4], the model has [5]",
            "the weight `q` is missing",
            "the weight `k` is `s32`, which is not a type of floats",
            "the model has no weight `ww`",
            "the model has no weight `m.w`",
        ];
        let mut found = messages(given);
        found[4..].sort_by(|a, b| b.cmp(a));
        assert_eq!(found, expected);
    }

    /// The largest `bf16` is about 3.39e38, the largest `f32` about 3.40e38.
    #[test]
    fn weights_that_are_not_finite_where_they_are_stored_are_named() {
        let mut given = weights(3);
        for (name, dtype, value) in [
            ("w", DType::F32, f64::NAN),
            ("b", DType::F32, f64::NEG_INFINITY),
            ("q", DType::F64, -1e39),
            ("k", DType::F32, 3.4e38),
            ("v", DType::F64, 3.38e38),
        ] {
            let shape = given[name].shape().clone();
            let mut values = given[name].f64s();
            values[1] = value;
            given.insert(name.into(), HostTensor::from_f64s(dtype, shape, values));
        }
        let expected = [
            "the weight `w` holds NaN",
            "the weight `b` holds an infinity",
            "the weight `q` holds a value of magnitude 1e39, which is infinite as `f32`",
            "the weight `k` holds a value of magnitude 3.3999999521443642e38, which is infinite as `bf16`",
        ];
        let (mut found, mut expected) = (messages(given), expected.map(str::to_owned));
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_sharded_folder_is_read() {
        let (folder, manifest) = (tempfile::tempdir().unwrap(), packed().manifest);
        shards::write(&folder.path().join("model.safetensors"), &weights(3), 64).unwrap();
        assert!(folder.path().join("model.safetensors.index.json").is_file());
        let state = state_from_checkpoint(&manifest, folder.path()).unwrap();
        assert_eq!(state, state_from_weights(&manifest, weights(3)).unwrap());
    }
}
