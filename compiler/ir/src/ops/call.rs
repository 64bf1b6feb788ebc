//! `call`.

use crate::attr::AttrVisitor;
use crate::build::{Builder, Values};
use crate::composite::function_flops;
use crate::dims::FactorMap;
use crate::interpret::{EvalCx, Interpreter};
use crate::lower::LowerCx;
use crate::op::{Cost, Effect, Ids, InferCx, OpDef, Policy, Sample, Vjp, VjpCx};
use crate::syntax::{FuncId, Function, Inst, Value};
use crate::ty::{TensorType, Types};
use halite_hlo::Id;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, HostTensor};
use smallvec::smallvec;

/// The results of another function of the module on the operands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Call {
    /// The function; it comes before the caller in the module.
    pub callee: FuncId,
}

impl Default for Call {
    fn default() -> Self {
        Self { callee: FuncId::new(0) }
    }
}

impl Call {
    fn missing(&self) -> Diagnostic {
        let number = self.callee.index();
        let message = format!("`call` names function number {number}, which is not defined before it");
        Diagnostic::error(codes::UNDEFINED_VALUE, message)
    }

    fn check_operands(&self, callee: &Function, args: &[&TensorType]) -> Result<()> {
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
        Ok(())
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
        let callee = cx.function(self.callee).ok_or_else(|| self.missing())?;
        self.check_operands(callee, args)?;
        Ok(callee.result_types().into())
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let mut ranks = self.eval_ranks(cx, &[args.to_vec()])?;
        Ok(ranks.swap_remove(0))
    }

    fn eval_ranks(&self, cx: &EvalCx<'_>, args: &[Vec<&HostTensor>]) -> Result<Vec<Vec<HostTensor>>> {
        let callee = cx.function(self.callee).ok_or_else(|| self.missing())?;
        let inputs = args.iter().map(|args| args.iter().map(|&arg| arg.clone()).collect()).collect();
        Interpreter::new(cx.functions, cx.registry).run_ranks(callee, inputs)
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

    /// The strongest effect in the callee.
    fn effect(&self, cx: &InferCx<'_>) -> Effect {
        let insts: &[Inst] = cx.function(self.callee).map_or(&[], |callee| &callee.insts);
        insts.iter().map(|inst| inst.op.def().effect(cx)).max().unwrap_or(Effect::Pure)
    }

    fn cost(&self, cx: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        let flops = cx.function(self.callee).map_or(0, |callee| function_flops(cx, callee));
        Cost::new(flops, args, results)
    }

    /// None is stated: analyses that need more look at the callee.
    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::opaque(args, results)
    }

    /// A computation returns one result as it is and several as a tuple.
    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let callee = cx.computation(self.callee).ok_or_else(|| self.missing())?;
        let call = cx.hlo.call(callee, args)?;
        if cx.results.len() == 1 {
            return Ok(smallvec![call]);
        }
        (0..cx.results.len()).map(|index| cx.hlo.get_tuple_element(call, index)).collect()
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
        assert_eq!(call.effect(&cx), Effect::Barrier);
        assert_eq!(call.cost(&cx, &[], &[]).flops, 2);
    }
}
