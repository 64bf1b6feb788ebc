//! Words from which the random bits of all sites are made, computed once.

use super::helper::{call_helper, expanded};
use super::sites::{RoundingSite, parts};
use crate::transform::streams::{by_part, stream_keys};
use halite_ir::{Attr, Builder, Function, ParamRole, Rewriter, Value, Values};
use halite_support::{Diagnostic, Name, Result};
use halite_tensor::{DType, HostTensor, STEP, Shape, StreamKeys};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// The name of what is drawn for.
const WHAT: &str = "rounding";

/// The words of the streams and coordinates that one function rounds by.
pub(super) struct Words {
    /// For each stream the vector that has its word, `u32[n]`, and the place there.
    words: FxHashMap<Name, (Value, usize)>,
    /// The words along a dimension of a size.
    along: FxHashMap<(usize, usize), Value>,
}

impl Words {
    /// Emits what all sites share, given what each instruction rounds by. Nothing may read the number of completed
    /// updates after its replacement, so this comes first.
    ///
    /// # Errors
    /// When two streams have one key.
    pub(super) fn emit(
        b: &mut Rewriter<'_>,
        source: &Function,
        sites: &[Option<RoundingSite>],
        seed: u32,
    ) -> Result<Self> {
        let update = update_number(b, source)?;
        let streams: IndexSet<Name, FxBuildHasher> =
            sites.iter().flatten().flat_map(RoundingSite::streams).cloned().collect();
        let all = StreamKeys::new(streams, seed.into())?;
        b.name_value(update, "update");
        let mut own = Self { words: FxHashMap::default(), along: FxHashMap::default() };
        let parts = parts(source);
        for (part, keys) in by_part(&all, all.streams().iter().map(|stream| parts.get(stream).copied()))? {
            let streams = keys.streams().to_vec();
            let keys = stream_keys(b, keys, WHAT, part)?;
            let args = [("keys", keys), ("step", update)];
            let words = call_helper(b, "stream_words", &args, |b, args| expanded(b, "stream_words", &[], args))?;
            own.words.extend(streams.into_iter().enumerate().map(|(at, stream)| (stream, (words, at))));
        }
        for (inst, site) in source.insts.iter().zip(sites) {
            let Some(site) = site else { continue };
            for &result in &inst.results {
                for sizes in site.sizes(source.ty(result).shape()) {
                    own.add_coordinates(b, &sizes, update)?;
                }
            }
        }
        Ok(own)
    }

    /// Adds the words along each dimension of a tensor.
    fn add_coordinates(&mut self, b: &mut Rewriter<'_>, sizes: &[usize], update: Value) -> Result<()> {
        for (dim, &size) in sizes.iter().enumerate() {
            if self.along.contains_key(&(dim, size)) {
                continue;
            }
            let attrs = [("dim", Attr::Int(dim as i64)), ("size", Attr::Int(size as i64))];
            let name = format!("{}_{size}", line(dim));
            let body = |b: &mut Builder<'_>, args: &[Value]| expanded(b, "coordinate_words", &attrs, args);
            let along = call_helper(b, &name, &[("step", update)], body)?;
            self.along.insert((dim, size), along);
        }
        Ok(())
    }

    /// For each stream of a site its word and those of the coordinates, given the shape of the result.
    pub(super) fn of(&self, b: &mut Rewriter<'_>, site: &RoundingSite, shape: &Shape) -> Result<Vec<Values>> {
        site.streams().iter().zip(site.sizes(shape)).map(|(stream, sizes)| self.of_stream(b, stream, &sizes)).collect()
    }

    /// The word of a stream and those of the coordinates of a tensor.
    fn of_stream(&self, b: &mut Rewriter<'_>, stream: &Name, sizes: &[usize]) -> Result<Values> {
        let unknown = || Diagnostic::bug(format!("the stream `{stream}` of {sizes:?} has no words"));
        let &(words, at) = self.words.get(stream).ok_or_else(unknown)?;
        let word = b.slice_dim(words, 0, at, at + 1)?;
        let word = b.reshape(word, [])?;
        let along = sizes.iter().enumerate().map(|(dim, &size)| self.along.get(&(dim, size)).copied());
        std::iter::once(Some(word)).chain(along).collect::<Option<Values>>().ok_or_else(unknown)
    }
}

/// The name of the positions along a dimension.
pub(super) fn line(dim: usize) -> String {
    match dim {
        0 => "rows".to_owned(),
        1 => "columns".to_owned(),
        _ => format!("dim{dim}"),
    }
}

/// The number of the update being made, `s32[]`: 0 for a function that makes none.
fn update_number(b: &mut Rewriter<'_>, source: &Function) -> Result<Value> {
    let is_step = |role: &ParamRole| matches!(role, ParamRole::State(spec) if spec.kind == STEP);
    match source.params.iter().find(|param| is_step(&param.role)) {
        Some(param) => {
            let completed = b.value(param.value)?;
            b.add_scalar(completed, 1.0)
        }
        None => b.constant(HostTensor::zeros(DType::S32, Shape::scalar())),
    }
}
