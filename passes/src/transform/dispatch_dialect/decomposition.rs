//! The functions that say what kernels mean.

use super::core_of;
use crate::framework::dialect::{DialectEntry, KernelUse, Operand};
use halite_ir::{Builder, FuncId, Function, Inst, Module, Op, ParamRole, Registry, TensorType, Value};
use halite_support::{Diagnostic, Name, Names, Result};
use halite_tensor::DType;
use rustc_hash::FxHashMap;

/// Decompositions in the making, each for one kernel on operands of certain types.
#[derive(Default)]
pub(super) struct Decompositions {
    functions: Vec<Function>,
    /// The names of these and of the functions of the module.
    names: Option<Names>,
    known: FxHashMap<(Name, Op, Vec<TensorType>), FuncId>,
}

impl Decompositions {
    /// The decomposition of a kernel in the place of an op on operands of these types. Its number holds once the decompositions stand
    /// before all functions of `module`.
    ///
    /// # Errors
    /// When the entry does not say where an operand of the op goes, which is a fault of the entry.
    pub(super) fn find(
        &mut self,
        module: &Module,
        registry: &Registry,
        entry: &DialectEntry,
        kernel: &KernelUse,
        op: &Op,
        args: &[TensorType],
    ) -> Result<FuncId> {
        let (core, types) = core_of(op, registry, args)?;
        let key = (entry.name.clone(), core, types.to_vec());
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let mut body = build(registry, (entry, kernel), &key.1, &key.2)?;
        let decomposition = match self.functions.iter().position(|known| same_body(known, &body)) {
            Some(known) => known,
            None => {
                let names = self.names.get_or_insert_with(|| module.names());
                body.name = names.unused(&name(entry, kernel, &key.2));
                self.functions.push(body);
                self.functions.len() - 1
            }
        };
        let decomposition = FuncId::new(decomposition);
        self.known.insert(key, decomposition);
        Ok(decomposition)
    }

    /// All decompositions in order.
    pub(super) fn take(&mut self) -> Vec<Function> {
        std::mem::take(&mut self.functions)
    }
}

/// `own.softmax_3_f32_2x4x8x8`: equal names mean the same kernel on operands of the same types.
fn name(entry: &DialectEntry, kernel: &KernelUse, args: &[TensorType]) -> String {
    let mut name = entry.name.to_string();
    if !kernel.config.is_empty() {
        name = format!("{name}_{}", kernel.config);
    }
    for operand in &kernel.operands {
        name = match operand {
            Operand::Arg(index) => format!("{name}_{}", args.get(*index).map(of_type).unwrap_or_default()),
            Operand::Scalar(value) => format!("{name}_{value}"),
        };
    }
    name
}

/// `f32_2x8`
fn of_type(ty: &TensorType) -> String {
    let sizes: Vec<String> = ty.shape().iter().map(ToString::to_string).collect();
    format!("{}_{}", ty.dtype(), sizes.join("x"))
}

/// Whether two functions that were built alike do the same.
fn same_body(a: &Function, b: &Function) -> bool {
    let results = |function: &Function| function.results.iter().map(|result| result.value).collect::<Vec<_>>();
    let same = |(a, b): (&Inst, &Inst)| (&a.op, &a.args, &a.rounding) == (&b.op, &b.args, &b.rounding);
    a.param_types() == b.param_types()
        && a.insts.len() == b.insts.len()
        && a.insts.iter().zip(&b.insts).all(same)
        && results(a) == results(b)
}

/// An op, or the decomposition of one that is a composite, as a function of the operands of a kernel.
fn build(
    registry: &Registry,
    (entry, kernel): (&DialectEntry, &KernelUse),
    op: &Op,
    types: &[TensorType],
) -> Result<Function> {
    let missing = || {
        let message = format!("the operands of the kernel `{}` are not those of `{}`", entry.kernel, op.name());
        Diagnostic::bug(message)
    };
    let mut module = Module::default();
    let mut b = Builder::new(&mut module, registry, "decomposition");
    let mut args: Vec<Option<Value>> = vec![None; types.len()];
    for (index, operand) in kernel.operands.iter().enumerate() {
        let name = format!("x{index}");
        match *operand {
            Operand::Arg(at) => {
                let ty = types.get(at).ok_or_else(missing)?.clone();
                args[at] = Some(b.param(name, ty, ParamRole::Argument));
            }
            Operand::Scalar(_) => {
                b.param(name, TensorType::scalar(Operand::scalar_dtype(types)), ParamRole::Argument);
            }
        }
    }
    if let Some(factor) = kernel.factor {
        let ty = types.get(factor).ok_or_else(missing)?;
        args[factor] = Some(b.splat(ty.dtype(), ty.shape().clone(), 1.0)?);
    }
    let args = args.into_iter().collect::<Option<Vec<Value>>>().ok_or_else(missing)?;
    let results = match op {
        Op::Composite(composite) => b.expand(composite, &args)?,
        op => b.emit_all(op.clone(), &args)?,
    };
    for result in results {
        let unsigned = kernel.unsigned && b.dtype(result) == DType::S32;
        let result = if unsigned { b.convert(result, DType::U32)? } else { result };
        b.result(result);
    }
    let decomposition = b.finish();
    Ok(module.functions.swap_remove(decomposition.index()))
}
