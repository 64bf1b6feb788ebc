//! `call`.

use super::ranks::alone;
use crate::attr::AttrVisitor;
use crate::build::{Builder, Values};
use crate::cost::callee_flops;
use crate::described;
use crate::dims::FactorMap;
use crate::effect::Effect;
use crate::infer::InferCx;
use crate::interpret::{EvalCx, Interpreter};
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, Vjp, VjpCx};
use crate::ops::Op;
use crate::syntax::{FuncId, Function, Value};
use crate::ty::{TensorType, Types};
use halite_hlo::Id;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, HostTensor};

described! {
    /// The results of another function of the module on the operands.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub struct Call {
        /// The function; it comes before the caller in the module.
        pub callee: FuncId,
    }
}

impl Default for Call {
    fn default() -> Self {
        Self { callee: FuncId::new(0) }
    }
}

/// The function that `op` names.
pub(super) fn callee<'f>(op: &str, functions: &'f [Function], id: FuncId) -> Result<&'f Function> {
    functions.get(id.index()).ok_or_else(|| {
        let message = format!("`{op}` names function number {}, which is not defined before it", id.index());
        Diagnostic::error(codes::UNDEFINED_VALUE, message)
    })
}

/// The types of the results of `callee`, once the operands are found to fit.
pub(super) fn result_types(callee: &Function, args: &[&TensorType]) -> Result<Types> {
    let (name, expected) = (&callee.name, callee.params.len());
    if args.len() != expected {
        let message = format!("`@{name}` takes {expected} operands, found {}", args.len());
        return Err(Diagnostic::error(codes::ARITY, message));
    }
    for (param, &found) in callee.params.iter().zip(args) {
        let expected = callee.ty(param.value);
        if expected != found {
            let message = format!("parameter `{}` of `@{name}` is `{expected}`, found `{found}`", param.name);
            return Err(Diagnostic::error(codes::TYPE_MISMATCH, message));
        }
    }
    Ok(callee.result_types().into())
}

/// The results of `callee` on each rank.
pub(super) fn run_ranks(callee: &Function, cx: &EvalCx<'_>, args: &[Vec<&HostTensor>]) -> Result<Vec<Vec<HostTensor>>> {
    let inputs = args.iter().map(|args| args.iter().map(|&arg| arg.clone()).collect()).collect();
    Interpreter::new(cx.functions, cx.registry).run_ranks(callee, inputs)
}

/// The effects of the instructions of a function, joined.
pub(super) fn joint_effect(cx: &InferCx<'_>, function: FuncId) -> Effect {
    cx.function(function).map_or(Effect::NONE, |function| function.effect)
}

/// A call in HLO: a computation returns one result as it is and several as a tuple.
pub(super) fn lower_call(cx: &mut LowerCx<'_>, op: &str, function: FuncId, args: &[Id]) -> Result<Ids> {
    let message = || Diagnostic::bug(format!("`{op}` names {function:?}, which has no computation"));
    let computation = cx.computation(function).ok_or_else(message)?;
    let call = cx.hlo.call(computation, args)?;
    if !cx.options.plain_calls && cx.is_noinline(function) {
        cx.hlo.set_frontend_attribute(call, "inlineable", "false")?;
    }
    cx.elements(call)
}

impl Op {
    /// The function that an op names, which gives it its meaning: that which is called, or the decomposition of a kernel.
    pub fn callee(&self) -> Option<FuncId> {
        match self {
            Op::Call(call) => Some(call.callee),
            Op::CallWithGradient(call) => Some(call.callee),
            Op::KernelCall(kernel) => Some(kernel.decomposition),
            _ => None,
        }
    }
}

impl OpDef for Call {
    fn name(&self) -> &str {
        "call"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("callee", &mut self.callee);
    }

    fn infer(&self, cx: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        result_types(callee("call", cx.functions, self.callee)?, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        alone(self, cx, args)
    }

    fn eval_ranks(&self, cx: &EvalCx<'_>, args: &[Vec<&HostTensor>]) -> Result<Vec<Vec<HostTensor>>> {
        run_ranks(callee("call", cx.functions, self.callee)?, cx, args)
    }

    /// Never asked for: auto-diff calls a derived function, which it makes once for each callee, and so handles calls
    /// itself.
    fn vjp(&self, _: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Err(Diagnostic::bug("the gradient of `call` was asked for; auto-diff handles calls itself"))
    }

    /// Those of the callee's instructions hold; the call only hands values over.
    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::STORAGE
    }

    /// That of the callee.
    fn effect(&self, cx: &InferCx<'_>) -> Effect {
        joint_effect(cx, self.callee)
    }

    fn cost(&self, cx: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(callee_flops(cx, self.callee), args, results)
    }

    /// None is stated: analyses that need more look at the callee.
    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::opaque(args, results)
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        lower_call(cx, "call", self.callee, args)
    }

    /// None: a sample has no module to hold a callee.
    fn samples(&self, _: DType) -> Vec<Sample> {
        Vec::new()
    }
}

impl Builder<'_> {
    /// The results of a finished function of the module.
    ///
    /// # Errors
    /// When the operands are not what its parameters are.
    pub fn call(&mut self, callee: FuncId, args: &[Value]) -> Result<Values> {
        self.emit_all(Call { callee }, args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use crate::syntax::{Module, ParamRole};

    #[test]
    fn a_call_means_its_callee() {
        let registry = Registry::default();
        let mut module = Module::new("calls");
        let ty = TensorType::new(DType::F32, [2]);
        let mut b = Builder::new(&mut module, &registry, "twice");
        let x = b.param("x", ty.clone(), ParamRole::Argument);
        let sum = b.add(x, x).unwrap();
        b.optimization_barrier(&[x]).unwrap();
        b.result(sum);
        let twice = b.finish();

        let mut b = Builder::new(&mut module, &registry, "main");
        let x = b.param("x", ty, ParamRole::Argument);
        let y = b.call(twice, &[x]).unwrap()[0];
        let wrong = b.splat(DType::F32, [3], 0.0).unwrap();
        assert_eq!(b.call(twice, &[wrong]).unwrap_err().code(), codes::TYPE_MISMATCH);
        assert_eq!(b.call(twice, &[]).unwrap_err().code(), codes::ARITY);
        assert_eq!(b.call(FuncId::new(7), &[x]).unwrap_err().code(), codes::UNDEFINED_VALUE);
        b.result(y);
        let main = b.finish();

        let input = HostTensor::from_f64s(DType::F32, [2], [1.0, -3.0]);
        let results = Interpreter::of(&module, &registry).run(module.function(main), vec![input]).unwrap();
        assert_eq!(results[0].f64s(), [2.0, -6.0]);
        let cx = InferCx { functions: &module.functions, registry: &registry };
        let call = Call { callee: twice };
        assert_eq!(call.effect(&cx), Effect::BARRIER);
        assert_eq!(call.cost(&cx, &[], &[]).flops, 2);
    }
}
