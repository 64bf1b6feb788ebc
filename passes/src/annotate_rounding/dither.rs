//! Stochastic rounding by instructions.

use super::{DITHER, replace};
use halite_ir::ops::Call;
use halite_ir::{
    Attr, Builder, Composite, FuncId, Function, Inst, ParamRole, Rewriter, Slot, TensorType, Value, check_exact_integers, widened,
};
use halite_support::{Diagnostic, Name, Result};
use halite_tensor::rounding::stream_key;
use halite_tensor::{DType, HostTensor, Shape};
use rustc_hash::FxHashMap;

/// Rounds the instructions of one function.
pub(super) struct Dither {
    seed: u32,
    /// The number of the update being made, `s32[]`: 0 for a module that makes none.
    update: Value,
    /// The helper for each result type.
    helpers: FxHashMap<TensorType, FuncId>,
}

impl Dither {
    pub(super) fn new(b: &mut Rewriter<'_>, source: &Function, seed: u32) -> Result<Self> {
        let is_step = |role: &ParamRole| matches!(role, ParamRole::State(info) if info.slot == Slot::Step);
        // Computed first: nothing may read the counter after its replacement.
        let update = match source.params.iter().find(|param| is_step(&param.role)) {
            Some(param) => {
                let completed = b.value(param.value)?;
                b.add_scalar(completed, 1.0)?
            }
            None => b.constant(HostTensor::zeros(DType::S32, Shape::scalar()))?,
        };
        Ok(Self { seed, update, helpers: FxHashMap::default() })
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
            return Err(Diagnostic::bug(format!("`{}` narrows several results at once", inst.op.name())));
        };
        let outer = b.set_loc(inst.loc);
        let wide = compute_wide(b, inst)?;
        let helper = self.helper(b, source.ty(result))?;
        let key = HostTensor::from_ints(DType::U32, [], [i128::from(stream_key(self.seed.into(), stream))]);
        let key = b.constant(key)?;
        let rounded = b.emit(Call { callee: helper }, &[wide, key, self.update])?;
        b.set_loc(outer);
        replace(b, source, inst, rounded);
        Ok(())
    }

    /// `@stochastic_bf16_4096x4096(x, key, step)`.
    fn helper(&mut self, b: &mut Rewriter<'_>, ty: &TensorType) -> Result<FuncId> {
        if let Some(&known) = self.helpers.get(ty) {
            return Ok(known);
        }
        let sizes: Vec<_> = ty.shape().iter().map(ToString::to_string).collect();
        let name = b.module().unused_name(&format!("{DITHER}{}_{}", ty.dtype(), sizes.join("x")));
        let registry = b.registry();
        let id = write_helper(b.nested(name), ty)?;
        check_exact_integers(b.module().function(id), registry)?;
        self.helpers.insert(ty.clone(), id);
        Ok(id)
    }
}

/// The value before it is narrowed, in `f32`.
fn compute_wide(b: &mut Rewriter<'_>, inst: &Inst) -> Result<Value> {
    let mut args = b.values(&inst.args)?;
    let Some(wide) = widened(&inst.op, DType::F32) else { return b.convert(args[0], DType::F32) };
    if wide.converts_operands {
        for arg in &mut args {
            if b.dtype(*arg).is_float() {
                *arg = b.convert(*arg, DType::F32)?;
            }
        }
    }
    b.emit(wide.op, &args)
}

fn write_helper(mut b: Builder<'_>, ty: &TensorType) -> Result<FuncId> {
    let x = b.param("x", ty.with_dtype(DType::F32), ParamRole::Argument);
    let key = b.param("key", TensorType::scalar(DType::U32), ParamRole::Argument);
    let step = b.param("step", TensorType::scalar(DType::S32), ParamRole::Argument);
    let shape = Attr::Ints(ty.shape().iter().map(|&size| size as i64).collect());
    let bits = expanded(&mut b, "random_bits", ("shape", shape), &[key, step])?;
    let dtype = Attr::Word(ty.dtype().name().into());
    let rounded = expanded(&mut b, "stochastic_convert", ("dtype", dtype), &[x, bits])?;
    b.result(rounded);
    Ok(b.finish())
}

/// The decomposition of a composite in place.
fn expanded(b: &mut Builder<'_>, name: &str, attr: (&str, Attr), args: &[Value]) -> Result<Value> {
    let composite = Composite::new(b.registry(), name, &[attr])?;
    Ok(b.expand(&composite, args)?[0])
}
