//! `dispatch-dialect`.

mod choice;
mod decomposition;

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use choice::{Action, Dispatcher};
use halite_ir::{FuncId, Function, InferCx, Inst, Module, Op, Registry, TensorType, Types, rewrite_planned};
use halite_support::Result;
use std::collections::VecDeque;

/// Calls kernels of the target in the place of ops, most of them composites.
///
/// Of the entries of the dialects whose conditions hold, the one with the highest priority takes an op; a composite that
/// none takes stays, and `expand-composites` writes its decomposition. A composite that holds an op which a kernel takes is
/// expanded, so that the attention of a layer has its softmax in a kernel. Kernels compute in the type
/// that mixed precision gives the composite; the conversions around it stay outside. The decomposition of a kernel, which says what
/// it means, is the op itself or its decomposition, one function for all calls on operands of the same types.
///
/// ```text
/// %y = softmax %x {dim = -1} : f32[4,8]
/// =>
/// %y = kernel_call %x {target = OwnSoftmax, config = "1", decomposition = @own.softmax_1_f32_4x8} : f32[4,8]
/// ```
#[derive(Debug)]
pub(crate) struct DispatchDialect;

/// The name of the pass.
const NAME: &str = "dispatch-dialect";

impl Pass for DispatchDialect {
    fn info(&self) -> PassInfo {
        PassInfo::new(NAME, "call kernels of the target in the place of ops", Relation::Identical)
            .example(golden!("dispatch_dialect/activations" @ "silu"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let mut dispatcher = Dispatcher::new(cx)?;
        let decompositions = decompositions(module);
        let mut plans = VecDeque::with_capacity(module.functions.len());
        for (index, function) in module.functions.iter().enumerate() {
            let id = FuncId::new(index);
            let is_decomposition = decompositions.contains(&id);
            let mut changes = false;
            for inst in function.insts.iter().filter(|_| !is_decomposition) {
                changes |= dispatcher.plan(module, id, inst)?;
            }
            plans.push_back(changes);
        }
        if !plans.contains(&true) {
            return Ok(Changed::No);
        }
        let decompositions = dispatcher.take_decompositions();
        let mut plans: VecDeque<bool> = std::iter::repeat_n(false, decompositions.len()).chain(plans).collect();
        module.prepend_functions(decompositions);
        let plan = |_: InferCx<'_>, _: &Function| plans.pop_front().filter(|changes| *changes);
        rewrite_planned(module, cx.registry, plan, |rewriter, source, _| {
            for inst in &source.insts {
                match dispatcher.action(source, inst) {
                    None | Some(Action::Keep) => rewriter.copy(source, inst)?,
                    Some(_) => {
                        let args = rewriter.values(&inst.args)?;
                        let outer = rewriter.set_loc(inst.loc);
                        let results = dispatcher.write(rewriter, &inst.op, &args)?;
                        rewriter.set_loc(outer);
                        rewriter.keep_names(source, inst, &results);
                        rewriter.replace_all(inst, &results);
                    }
                }
            }
            Ok(())
        })?;
        Ok(Changed::Yes)
    }
}

/// The functions that say what kernels mean, reached or not. They hold the ops that the kernels stand for, and keep them.
fn decompositions(module: &Module) -> Vec<FuncId> {
    let decomposition = |inst: &Inst| match &inst.op {
        Op::KernelCall(kernel) => Some(kernel.decomposition),
        _ => None,
    };
    module.functions.iter().flat_map(|function| &function.insts).filter_map(decomposition).collect()
}

/// An op and the types of its operands, without the conversions that mixed precision puts around it.
fn core_of(op: &Op, registry: &Registry, args: &[TensorType]) -> Result<(Op, Types)> {
    match op {
        Op::Composite(composite) => {
            let (core, types) = composite.core(registry, &args.iter().collect::<Vec<_>>())?;
            Ok((Op::Composite(core), types))
        }
        op => Ok((op.clone(), args.iter().cloned().collect())),
    }
}
