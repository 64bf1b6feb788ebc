//! Stochastic rounding by instructions.

use super::DITHER;
use super::helper::{add_helper, expanded};
use super::sites::RoundingSite;
use super::words::{Words, line};
use halite_ir::ops::Call;
use halite_ir::{Attr, Builder, FuncId, Function, Inst, Rewriter, TensorType, Value};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, Dims, Packing, Part, Shape};
use rustc_hash::FxHashMap;

/// Rounds the instructions of one function.
pub(super) struct Dither {
    words: Words,
    /// The helper for each result type, and for what is packed in it.
    helpers: FxHashMap<(TensorType, Option<Packing>), FuncId>,
}

impl Dither {
    pub(super) fn new(words: Words) -> Self {
        Self { words, helpers: FxHashMap::default() }
    }

    /// Emits an instruction computing wide, then rounds its result.
    pub(super) fn realize(
        &mut self,
        b: &mut Rewriter<'_>,
        source: &Function,
        inst: &Inst,
        site: &RoundingSite,
    ) -> Result<()> {
        let &[result] = inst.results.as_slice() else {
            let message = format!("`annotate-rounding` meets `{}`, which rounds several results", inst.op.name());
            return Err(Diagnostic::error(codes::PIPELINE, message).help("run `expand-composites` before"));
        };
        let outer = b.set_loc(inst.loc);
        let operands = b.values(&inst.args)?;
        let mut args = b.compute_wide(&inst.op, &operands, |b, op, args| b.emit_all(op.clone(), args))?;
        let ty = source.ty(result);
        let callee = self.helper(b, ty, site)?;
        args.extend(self.words.of(b, site, ty.shape())?.into_iter().flatten());
        let rounded = b.emit(Call { callee }, &args)?;
        b.set_loc(outer);
        b.keep_names(source, inst, &[rounded]);
        b.replace_all(inst, &[rounded]);
        Ok(())
    }

    /// `@stochastic_bf16_4096x4096(x, word, rows, columns)`.
    fn helper(&mut self, b: &mut Rewriter<'_>, ty: &TensorType, site: &RoundingSite) -> Result<FuncId> {
        let layout = match site {
            RoundingSite::Whole(_) => None,
            RoundingSite::Packed(packing, _) => Some(unnamed(packing)),
        };
        let key = (ty.clone(), layout);
        if let Some(&known) = self.helpers.get(&key) {
            return Ok(known);
        }
        let id = match &key.1 {
            None => add_stochastic(b, ty)?,
            Some(packing) => add_packed(b, ty, packing)?,
        };
        self.helpers.insert(key, id);
        Ok(id)
    }
}

/// The packing without the names of its parts; weights of all layers share it.
fn unnamed(packing: &Packing) -> Packing {
    let part = |part: &Part| Part { name: String::new(), ..part.clone() };
    Packing { ranks: packing.ranks, parts: packing.parts.iter().map(part).collect() }
}

fn add_stochastic(b: &mut Rewriter<'_>, ty: &TensorType) -> Result<FuncId> {
    let name = format!("{DITHER}{}_{}", ty.dtype(), sizes(ty.shape()));
    let mut params = vec![("x".to_owned(), ty.with_dtype(DType::F32))];
    params.extend(word_params("", ty.shape()));
    add_rounding(b, &name, ty.dtype(), &params, |b, words| expanded(b, "random_bits", &[], words))
}

/// `@stochastic_bf16_1x12x4_of_8x4_4x4(x, word0, rows0, columns0, word1, ..)`: each part has the bits that it would have
/// alone, and its copies have the same.
fn add_packed(b: &mut Rewriter<'_>, ty: &TensorType, packing: &Packing) -> Result<FuncId> {
    let parts: Vec<_> = packing.parts.iter().map(|part| sizes(&part.padded())).collect();
    let name = format!("{DITHER}{}_{}_of_{}", ty.dtype(), sizes(ty.shape()), parts.join("_"));
    let mut params = vec![("x".to_owned(), ty.with_dtype(DType::F32))];
    for (index, part) in packing.parts.iter().enumerate() {
        params.extend(word_params(&index.to_string(), &part.padded()));
    }
    add_rounding(b, &name, ty.dtype(), &params, |b, mut words| {
        let mut all = Vec::with_capacity(packing.parts.len());
        for part in &packing.parts {
            let (own, rest) = words.split_at(1 + part.shape.len());
            words = rest;
            let bits = expanded(b, "random_bits", &[], own)?;
            all.push(laid_out(b, bits, part, packing.ranks)?);
        }
        b.concatenate(&all, 1)
    })
}

/// The bits of a part as it lies in the shares: `[ranks, rows, ..]`.
fn laid_out(b: &mut Builder<'_>, bits: Value, part: &Part, ranks: usize) -> Result<Value> {
    let bits = if part.transposed { b.transpose(bits, &[1, 0])? } else { bits };
    let rows = part.rows_per_rank(ranks);
    let with = |leading: &[usize]| -> Shape { leading.iter().chain(&part.rows_first()[1..]).copied().collect() };
    if part.copies == 1 {
        return b.reshape(bits, with(&[ranks, rows]));
    }
    let groups = b.reshape(bits, with(&[ranks / part.copies, rows]))?;
    let grouped = with(&[ranks / part.copies, part.copies, rows]);
    let kept: Dims = (0..grouped.rank()).filter(|&dim| dim != 1).collect();
    let copies = b.broadcast_in_dim(groups, &kept, grouped)?;
    b.reshape(copies, with(&[ranks, rows]))
}

/// The word of a stream and those along each dimension.
fn word_params(suffix: &str, sizes: &[usize]) -> Vec<(String, TensorType)> {
    let along = sizes.iter().enumerate();
    let along = along.map(|(dim, &size)| (format!("{}{suffix}", line(dim)), TensorType::new(DType::U32, [size])));
    std::iter::once((format!("word{suffix}"), TensorType::scalar(DType::U32))).chain(along).collect()
}

/// `4096x4096`
fn sizes(shape: &[usize]) -> String {
    let sizes: Vec<_> = shape.iter().map(ToString::to_string).collect();
    sizes.join("x")
}

/// A helper that rounds its first parameter by the bits that `bits` makes of the others.
fn add_rounding(
    b: &mut Rewriter<'_>,
    name: &str,
    dtype: DType,
    params: &[(String, TensorType)],
    bits: impl FnOnce(&mut Builder<'_>, &[Value]) -> Result<Value>,
) -> Result<FuncId> {
    let params: Vec<_> = params.iter().map(|(name, ty)| (&**name, ty.clone())).collect();
    add_helper(b, name, &params, true, |b, args| {
        let bits = bits(b, &args[1..])?;
        let dtype = Attr::Word(dtype.name().into());
        expanded(b, "stochastic_convert", &[("dtype", dtype)], &[args[0], bits])
    })
}
