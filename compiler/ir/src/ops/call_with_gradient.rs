//! `call_with_gradient`.

use super::call::{Call, callee, result_types};
use crate::attr::AttrVisitor;
use crate::build::Builder;
use crate::described;
use crate::dims::FactorMap;
use crate::effect::Effect;
use crate::graph::depends_on;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, Vjp, VjpCx};
use crate::syntax::{FuncId, Function, Value};
use crate::ty::{TensorType, Types};
use halite_hlo::Id;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, HostTensor};

described! {
    /// The results of another function of the module, which calculates its own gradient too, as `jax.custom_vjp` states one.
    ///
    /// The function takes its operands and then a cotangent for each of its values that is a float. It gives its values and then a gradient
    /// for each of its operands that is a float. The call hands it any cotangents and nothing reads the gradients, until `auto-diff` takes
    /// both from the function in the place of those that it would derive.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub struct CallWithGradient {
        /// The function; it comes before the caller in the module.
        pub callee: FuncId,
        /// The number of values, the results before the gradients.
        pub values: usize,
    }
}

impl Default for CallWithGradient {
    fn default() -> Self {
        Self { callee: FuncId::new(0), values: 0 }
    }
}

impl CallWithGradient {
    /// The call that it is where nobody asks for gradients.
    fn call(&self) -> Call {
        Call { callee: self.callee }
    }

    /// The number of parameters of a function that are operands: those before the cotangents of its first `values` results.
    ///
    /// # Errors
    /// When the function does not take and give what such a call needs, or a value is made of a cotangent.
    pub fn operands(function: &Function, values: usize) -> Result<usize> {
        let wrong = |message: &str| {
            let message = format!("`@{}` does not state its gradient: {message}", function.name);
            Err(Diagnostic::error(codes::NOT_DIFFERENTIABLE, message).help(
                "it takes operands, then a cotangent of each float that it gives; it gives values, then a gradient by each float that it takes",
            ))
        };
        let (params, results) = (function.param_types(), function.result_types());
        let is_float = |ty: &&TensorType| ty.dtype().is_float();
        let Some((own, gradients)) = results.split_at_checked(values) else {
            return wrong(&format!("it has {} results, `values` is {values}", results.len()));
        };
        let expected: Vec<&TensorType> = own.iter().filter(is_float).collect();
        let operands = params.len().checked_sub(expected.len());
        let Some((operands, cotangents)) = operands.and_then(|count| params.split_at_checked(count)) else {
            return wrong("it takes fewer parameters than there are cotangents");
        };
        if !cotangents.iter().eq(expected) {
            return wrong("its last parameters are no cotangents of its values");
        }
        if !gradients.iter().eq(operands.iter().filter(is_float)) {
            return wrong("the results after its values are no gradients by its operands");
        }
        let cotangents: Vec<Value> = function.params[operands.len()..].iter().map(|param| param.value).collect();
        let late = depends_on(function, &cotangents);
        if function.results[..values].iter().any(|result| late[result.value.index()]) {
            return wrong("a value is made of the cotangents");
        }
        Ok(operands.len())
    }
}

impl OpDef for CallWithGradient {
    fn name(&self) -> &str {
        "call_with_gradient"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("callee", &mut self.callee);
        visitor.attr("values", &mut self.values);
    }

    fn infer(&self, cx: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        result_types(callee("call_with_gradient", cx.functions, self.callee)?, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        self.call().eval(cx, args)
    }

    fn eval_ranks(&self, cx: &EvalCx<'_>, args: &[Vec<&HostTensor>]) -> Result<Vec<Vec<HostTensor>>> {
        self.call().eval_ranks(cx, args)
    }

    /// Asked for only where a gradient is differentiated again: auto-diff takes that of the values from the function.
    fn vjp(&self, _: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::none("a gradient that a function states has none itself"))
    }

    fn policy(&self, cx: &InferCx<'_>) -> Policy {
        self.call().policy(cx)
    }

    fn effect(&self, cx: &InferCx<'_>) -> Effect {
        self.call().effect(cx)
    }

    fn cost(&self, cx: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        self.call().cost(cx, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        self.call().dims(args, results)
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        self.call().lower(cx, args)
    }

    /// None: a sample has no module to hold a callee.
    fn samples(&self, _: DType) -> Vec<Sample> {
        Vec::new()
    }
}
