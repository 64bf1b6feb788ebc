//! The state that training starts from: that of a seed, or that of given weights.

mod cut;
mod filling;
mod orthogonal;
mod weights;

#[cfg(feature = "files")]
pub use weights::state_from_checkpoint;
pub use weights::state_from_weights;

use crate::bundle::{Bundle, check_buffers, contradiction};
use crate::tensors::Tensors;
use crate::{Buffer, BufferRole, Manifest};
use cut::Cut;
use filling::Filling;
use halite_support::nearest::nearest;
use halite_support::{Diagnostic, Diagnostics, Result, check_cancelled, codes};
use halite_tensor::{DType, HostTensor, Init, Shape};
use indexmap::IndexMap;
use std::num::NonZero;
use std::ops::Range;

/// The initial state of a bundle, as it is saved: the tensors of the model in every buffer that is neither fed by the host nor
/// transient, in the order of the manifest. [`to_stored`](crate::convert::to_stored) makes of them the buffers that modules take.
///
/// Normal samples are a function of the seed, the weight's name and the element's position alone, so neither the number of threads nor
/// the order of the buffers nor what is stored together changes a bit. They are computed in f64 and rounded once; where state starts
/// as a weight, both are the wider of the two rounded to nearest, so that they never disagree.
///
/// # Errors
/// When the manifest contradicts itself, which one that was read or compiled does not, there is no memory for a tensor, or the work is
/// cancelled.
pub fn initial_state(bundle: &Bundle, seed: u64) -> std::result::Result<Tensors, Diagnostics> {
    initial_state_of(&bundle.manifest, seed)
}

/// As [`initial_state`], for a manifest.
///
/// # Errors
/// As [`initial_state`].
pub fn initial_state_of(manifest: &Manifest, seed: u64) -> std::result::Result<Tensors, Diagnostics> {
    Ok(Initial::new(manifest, seed)?.tensors().collect::<Result<Tensors>>()?)
}

/// The values of transient state between updates, which a saved state leaves out, as the bundle stores it.
///
/// # Errors
/// As [`initial_state`].
pub fn transient_state(manifest: &Manifest) -> std::result::Result<Tensors, Diagnostics> {
    let initial = Initial::new(manifest, 0)?;
    let transient = manifest.buffers.iter().filter(|buffer| !buffer.is_batch() && !buffer.is_saved());
    let whole = |buffer: &Buffer| buffer.shape.iter().map(|&size| 0..size).collect::<Vec<_>>();
    let start = |buffer: &Buffer| Ok((buffer.name.clone(), initial.part(&buffer.name, &whole(buffer))?));
    transient.map(start).collect::<Result<Tensors>>().map_err(Diagnostics::from)
}

/// The initial values of buffers, part by part, as the bundle stores them: as modules take them, without the memory for all of it.
///
/// An element is a function of the seed, of the tensor of the model that it is of and of its position in that. So parts are those of
/// the buffers that [`to_stored`](crate::convert::to_stored) makes of the [`initial_state`], to the bit.
///
/// ```
/// # use halite_bundle::{Manifest, init::Initial};
/// # fn halves(manifest: &Manifest) -> Result<(), halite_support::Diagnostics> {
/// // Of a weight `f32[300, 50]`, on two devices.
/// let initial = Initial::new(manifest, 7)?;
/// let halves = [initial.part("w", &[0..150, 0..50])?, initial.part("w", &[150..300, 0..50])?];
/// # Ok(())
/// # }
/// ```
pub struct Initial {
    seed: u64,
    /// The initial value of each weight and the type it is rounded to first, for all that starts as it does.
    weights: IndexMap<String, (Init, DType)>,
    /// Those of the manifest, by name.
    buffers: IndexMap<String, Buffer>,
    threads: usize,
}

/// The name by which each tensor of a buffer gets its initial values: that of the weight that it starts as, or else its own.
fn keys(buffer: &Buffer) -> Vec<String> {
    match (buffer.starts_as(), &buffer.packing) {
        (None, _) => buffer.tensor_names(),
        (Some(weight), None) => vec![weight.to_owned()],
        (Some(_), Some(packing)) => packing.parts.iter().map(|part| part.name.clone()).collect(),
    }
}

impl Initial {
    /// The state of a seed.
    ///
    /// # Errors
    /// When the manifest contradicts itself, which one that was read or compiled does not.
    pub fn new(manifest: &Manifest, seed: u64) -> std::result::Result<Self, Diagnostics> {
        check_buffers(&manifest.buffers).map_err(|reason| contradiction(&reason))?;
        let inits = manifest.buffers.iter().filter_map(|buffer| match buffer.role {
            BufferRole::Weight(init) => Some((buffer.name.as_str(), init)),
            _ => None,
        });
        let (inits, widest) = (inits.collect::<IndexMap<_, _>>(), widest(manifest));
        let weights =
            widest.into_iter().filter_map(|(name, widest)| Some((name.to_owned(), (*inits.get(name)?, widest))));
        let buffers = manifest.buffers.iter().map(|buffer| (buffer.name.clone(), buffer.clone())).collect();
        Ok(Self { seed, weights: weights.collect(), buffers, threads: threads() })
    }

    /// The tensors of [`initial_state`] one after another, each made when it is asked for, so that a large state can be handed on, or given
    /// up, before it is whole.
    ///
    /// # Errors
    /// Of a tensor, that there is no memory for it.
    pub fn tensors(&self) -> impl Iterator<Item = Result<(String, HostTensor)>> {
        let named = |buffer| {
            let keys = keys(buffer).into_iter().zip(Buffer::tensor_shapes(buffer));
            buffer.tensor_names().into_iter().zip(keys).map(move |named| (buffer, named))
        };
        let all = self.buffers.values().filter(|buffer| buffer.is_saved()).flat_map(named);
        all.map(|(buffer, (name, (key, shape)))| {
            check_cancelled()?;
            Ok((name, self.tensor(buffer, key, &shape)?))
        })
    }

    /// The elements of a buffer in a range of each of its dimensions, as it is stored: several tensors of the model as one where
    /// [`Buffer::packing`] says so, with zeros where that has padding. Transient state has parts too.
    ///
    /// # Errors
    /// When there is no such buffer or the host feeds it, there is not one range for each dimension, one is not within its dimension, or
    /// there is no memory for the part.
    pub fn part(&self, buffer: &str, ranges: &[Range<usize>]) -> Result<HostTensor> {
        let buffer = self.buffer(buffer)?;
        let cut = Cut::new(&buffer.name, &buffer.shape, ranges, buffer.packing.as_ref())?;
        let tensors: Vec<_> = keys(buffer).into_iter().zip(buffer.tensor_shapes()).collect();
        self.filling(buffer)?.part(&buffer.name, &tensors, &cut)
    }

    /// A tensor of the model that a buffer stores, with the samples of the name `key`.
    fn tensor(&self, buffer: &Buffer, key: String, shape: &Shape) -> Result<HostTensor> {
        self.filling(buffer)?.part(&buffer.name, &[(key, shape.clone())], &Cut::whole(shape))
    }

    /// A buffer that is state.
    fn buffer(&self, name: &str) -> Result<&Buffer> {
        let error = |message: String| Diagnostic::error(codes::TENSORS, message);
        let Some(buffer) = self.buffers.get(name) else {
            let state = self.buffers.values().filter(|buffer| !buffer.is_batch());
            let help = match nearest(name, state.map(|buffer| buffer.name.as_str())) {
                Some(candidate) => format!("did you mean `{candidate}`?"),
                None => "name a buffer of the manifest".to_owned(),
            };
            return Err(error(format!("the bundle has no buffer `{name}`")).help(help));
        };
        match buffer.is_batch() {
            true => Err(error(format!("`{name}` is fed by the host and starts with nothing"))),
            false => Ok(buffer),
        }
    }

    /// The type that the initial values of a buffer are rounded to before its own.
    fn through(&self, buffer: &Buffer) -> DType {
        let weight = buffer.starts_as().and_then(|weight| self.weights.get(weight));
        weight.map_or(buffer.dtype, |(_, widest)| *widest)
    }

    /// The filling of a buffer that the host does not feed.
    fn filling(&self, buffer: &Buffer) -> Result<Filling> {
        let weight = buffer.starts_as().and_then(|weight| self.weights.get(weight));
        let no_state = || Diagnostic::bug(format!("`{}` is no state", buffer.name));
        let init = weight.map(|(init, _)| *init).or(buffer.init()).ok_or_else(no_state)?;
        Ok(Filling { init, dtype: buffer.dtype, through: self.through(buffer), seed: self.seed, threads: self.threads })
    }
}

/// The widest element type of each weight and of the state that starts as it, that of the weight where two are equally wide.
fn widest(manifest: &Manifest) -> IndexMap<&str, DType> {
    let rank = |buffer: &Buffer| (buffer.dtype.size(), buffer.is_weight());
    let mut widest: IndexMap<&str, &Buffer> = IndexMap::new();
    for buffer in &manifest.buffers {
        let Some(weight) = buffer.starts_as() else { continue };
        let known = widest.entry(weight).or_insert(buffer);
        if rank(buffer) > rank(known) {
            *known = buffer;
        }
    }
    widest.into_iter().map(|(weight, buffer)| (weight, buffer.dtype)).collect()
}

/// The number of threads that fill a tensor.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

#[cfg(test)]
mod tests;
