//! `fold-constant`.

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_ir::dims::FactorMap;
use halite_ir::ops::Constant;
use halite_ir::{EvalCx, Function, InferCx, Inst, Module, Op, Rewriter, TensorType, Value, rewrite_planned};
use halite_support::Result;
use halite_tensor::{HostTensor, Shape};
use smallvec::SmallVec;
use std::sync::Arc;

/// The largest literal that folding makes, in bytes. A fill of one value has no limit.
const MAX_LITERAL: u64 = 1024;

/// The most bytes of operands that are evaluated for one literal: compiling stays fast whatever the shapes.
const MAX_OPERANDS: u64 = 64 * 1024;

/// Computes instructions whose operands are all constants. An element-wise op on fills of one value folds to such a
/// fill whatever its shape; any other result only when it is small. Never folded: what draws random bits or has an
/// effect, calls, composites, and `iota`, which stays symbolic.
///
/// ```text
/// %a = constant 2.0 : f32[4096,4096]
/// %b = exponential %a : f32[4096,4096]      =>    %b = constant 7.389056 : f32[4096,4096]
/// ```
#[derive(Debug)]
pub(crate) struct FoldConstant;

impl Pass for FoldConstant {
    fn info(&self) -> PassInfo {
        PassInfo::new("fold-constant", "compute instructions on constants", Relation::Identical)
            .example(golden!("fold_constant" @ "literals"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let plan = |cx: InferCx<'_>, function: &Function| {
            let folds = |inst: &Inst| !inst.rounds_at_random() && fold(cx, function, &inst.op, &inst.args).is_some();
            function.insts.iter().any(folds).then_some(())
        };
        let folded = rewrite_planned(module, cx.registry, plan, |rewriter, source, ()| {
            source.insts.iter().try_for_each(|inst| fold_or_copy(rewriter, source, inst))
        })?;
        Ok(Changed::when(folded))
    }
}

/// The constants behind values, when there is one at least and nothing else.
fn operands<'f>(function: &'f Function, args: &[Value]) -> Option<SmallVec<[&'f Constant; 4]>> {
    let constant = |&arg: &Value| match function.def(arg) {
        Some(Inst { op: Op::Constant(constant), .. }) => Some(constant),
        _ => None,
    };
    if args.is_empty() { None } else { args.iter().map(constant).collect() }
}

fn fold_or_copy(b: &mut Rewriter<'_>, source: &Function, inst: &Inst) -> Result<()> {
    if inst.rounds_at_random() {
        return b.copy(source, inst);
    }
    let args = b.values(&inst.args)?;
    let Some(constant) = fold(b.infer_cx(), b.function(), &inst.op, &args) else { return b.copy(source, inst) };
    let outer = b.set_loc(inst.loc);
    let value = b.emit(constant, &[])?;
    b.set_loc(outer);
    b.keep_names(source, inst, &[value]);
    b.replace_all(inst, &[value]);
    Ok(())
}

/// The result of an op on values of a function, when it is to be folded and has a meaning.
fn fold(cx: InferCx<'_>, function: &Function, op: &Op, args: &[Value]) -> Option<Constant> {
    let operands = operands(function, args)?;
    if matches!(op, Op::Composite(_)) || op.callee().is_some() || !op.def().effect(&cx).movable {
        return None;
    }
    let types: SmallVec<[TensorType; 4]> =
        operands.iter().map(|constant| TensorType::new(constant.value.dtype(), constant.shape.clone())).collect();
    let types: SmallVec<[&TensorType; 4]> = types.iter().collect();
    let results = op.def().infer(&cx, &types).ok()?;
    let [result] = results.as_slice() else { return None };
    let fills = operands.iter().all(|constant| constant.is_splat());
    if fills && op.def().dims(&types, &results) == FactorMap::elementwise(&types, &results) {
        return fold_fill(cx, op, &operands, result.shape());
    }
    if result.bytes() > MAX_LITERAL || types.iter().map(|ty| ty.bytes()).sum::<u64>() > MAX_OPERANDS {
        return None;
    }
    let operands: Vec<HostTensor> = operands.iter().map(|constant| filled(constant)).collect();
    evaluate(cx, op, &operands.iter().collect::<Vec<_>>()).map(Constant::new)
}

/// Folds one element for all.
fn fold_fill(cx: InferCx<'_>, op: &Op, operands: &[&Constant], shape: &Shape) -> Option<Constant> {
    let operands: Vec<&HostTensor> = operands.iter().map(|constant| &*constant.value).collect();
    let value = evaluate(cx, op, &operands).filter(|value| value.shape().rank() == 0)?;
    Some(Constant { value: Arc::new(value), shape: shape.clone() })
}

/// All elements of a constant.
fn filled(constant: &Constant) -> HostTensor {
    if !constant.is_splat() {
        return (*constant.value).clone();
    }
    let bytes = constant.value.bytes().repeat(constant.shape.num_elements());
    HostTensor::from_bytes(constant.value.dtype(), constant.shape.clone(), bytes)
        .expect("one element for each position")
}

/// The only result of an op; none when it has no meaning on these operands.
pub(crate) fn evaluate(cx: InferCx<'_>, op: &Op, operands: &[&HostTensor]) -> Option<HostTensor> {
    let types: Vec<_> = operands.iter().map(|tensor| TensorType::new(tensor.dtype(), tensor.shape().clone())).collect();
    let results = op.def().infer(&cx, &types.iter().collect::<Vec<_>>()).ok()?;
    let cx = EvalCx { functions: cx.functions, registry: cx.registry, results: &results };
    op.def().eval(&cx, operands).ok()?.pop()
}
