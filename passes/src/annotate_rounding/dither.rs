//! Stochastic rounding by instructions.

use super::DITHER;
use super::helper::{add_helper, expanded};
use super::words::{Words, line};
use halite_ir::ops::Call;
use halite_ir::{Attr, FuncId, Function, Inst, Rewriter, TensorType};
use halite_support::{Diagnostic, Name, Result, codes};
use halite_tensor::DType;
use rustc_hash::FxHashMap;

/// Rounds the instructions of one function.
pub(super) struct Dither {
    words: Words,
    /// The helper for each result type.
    helpers: FxHashMap<TensorType, FuncId>,
}

impl Dither {
    pub(super) fn new(words: Words) -> Self {
        Self { words, helpers: FxHashMap::default() }
    }

    /// Emits an instruction computing wide, then rounds its result by a stream.
    pub(super) fn realize(
        &mut self,
        b: &mut Rewriter<'_>,
        source: &Function,
        inst: &Inst,
        stream: &Name,
    ) -> Result<()> {
        let &[result] = inst.results.as_slice() else {
            let message = format!("`annotate-rounding` meets `{}`, which rounds several results", inst.op.name());
            return Err(Diagnostic::error(codes::PIPELINE, message).help("run `expand-composites` before"));
        };
        let outer = b.set_loc(inst.loc);
        let operands = b.values(&inst.args)?;
        let mut args = b.compute_wide(&inst.op, &operands, |b, op, args| b.emit_all(op.clone(), args))?;
        let ty = source.ty(result);
        let callee = self.helper(b, ty)?;
        args.extend(self.words.of(b, stream, ty.shape())?);
        let rounded = b.emit(Call { callee }, &args)?;
        b.set_loc(outer);
        b.keep_names(source, inst, &[rounded]);
        b.replace_all(inst, &[rounded]);
        Ok(())
    }

    /// `@stochastic_bf16_4096x4096(x, word, rows, columns)`.
    fn helper(&mut self, b: &mut Rewriter<'_>, ty: &TensorType) -> Result<FuncId> {
        if let Some(&known) = self.helpers.get(ty) {
            return Ok(known);
        }
        let id = add_stochastic(b, ty)?;
        self.helpers.insert(ty.clone(), id);
        Ok(id)
    }
}

fn add_stochastic(b: &mut Rewriter<'_>, ty: &TensorType) -> Result<FuncId> {
    let sizes: Vec<_> = ty.shape().iter().map(ToString::to_string).collect();
    let name = format!("{DITHER}{}_{}", ty.dtype(), sizes.join("x"));
    let lines: Vec<_> = (0..sizes.len()).map(line).collect();
    let mut params = vec![("x", ty.with_dtype(DType::F32)), ("word", TensorType::scalar(DType::U32))];
    params.extend(
        lines.iter().zip(ty.shape().iter()).map(|(line, &size)| (&**line, TensorType::new(DType::U32, [size]))),
    );
    add_helper(b, &name, &params, |b, args| {
        let bits = expanded(b, "random_bits", &[], &args[1..])?;
        let dtype = Attr::Word(ty.dtype().name().into());
        expanded(b, "stochastic_convert", &[("dtype", dtype)], &[args[0], bits])
    })
}
