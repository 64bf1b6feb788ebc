//! `kernel_call`.

use super::call::{callee, joint_effect, lower_call, result_types, run_ranks};
use super::ranks::alone;
use crate::attr::AttrVisitor;
use crate::build::{Builder, Values};
use crate::cost::callee_flops;
use crate::described;
use crate::dims::FactorMap;
use crate::effect::Effect;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, KernelForm, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, Vjp, VjpCx};
use crate::syntax::{FuncId, Value};
use crate::ty::{TensorType, Types};
use halite_hlo::{CustomCall, Id};
use halite_support::{Name, Result};
use halite_tensor::{DType, HostTensor};

/// The convention by which the target's compiler has its kernels called: `API_VERSION_STATUS_RETURNING` in XLA's schema.
const API_VERSION: i32 = 2;

described! {
    /// The results of a kernel that the target provides. What they are is said by its decomposition, a function of the module: the
    /// interpreter and CPU XLA run the decomposition, and the target is trusted to compute the same.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub struct KernelCall {
        /// The name by which the target knows the kernel, as its compiler documents it.
        pub target: Name,
        /// The configuration, in the format of the kernel; may be empty.
        pub config: Name,
        /// The function that means the same; it comes before the caller in the module.
        pub decomposition: FuncId,
    }
}

impl Default for KernelCall {
    fn default() -> Self {
        Self { target: Name::default(), config: Name::default(), decomposition: FuncId::new(0) }
    }
}

impl OpDef for KernelCall {
    fn name(&self) -> &str {
        "kernel_call"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("target", &mut self.target);
        visitor.attr("config", &mut self.config);
        visitor.attr("decomposition", &mut self.decomposition);
    }

    fn infer(&self, cx: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        if self.target.is_empty() {
            return Err(crate::op::attr_error("`kernel_call` names no kernel").help("state its `target`"));
        }
        result_types(callee("kernel_call", cx.functions, self.decomposition)?, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        alone(self, cx, args)
    }

    fn eval_ranks(&self, cx: &EvalCx<'_>, args: &[Vec<&HostTensor>]) -> Result<Vec<Vec<HostTensor>>> {
        run_ranks(callee("kernel_call", cx.functions, self.decomposition)?, cx, args)
    }

    fn vjp(&self, _: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::none("a kernel has no gradient; composites give way to kernels after gradients are taken"))
    }

    /// Those of the decomposition's instructions hold; what is around only hands values over.
    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::STORAGE
    }

    /// That of the decomposition.
    fn effect(&self, cx: &InferCx<'_>) -> Effect {
        joint_effect(cx, self.decomposition)
    }

    fn cost(&self, cx: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(callee_flops(cx, self.decomposition), args, results)
    }

    /// None is stated: analyses that need more look at the decomposition.
    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::opaque(args, results)
    }

    /// A custom call, which names its decomposition in the frontend attribute [`DECOMPOSITION`](halite_hlo::DECOMPOSITION), or a call of the decomposition.
    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        if cx.options.kernels == KernelForm::Decompositions {
            return lower_call(cx, "kernel_call", self.decomposition, args);
        }
        let kernel = CustomCall {
            target: self.target.to_string(),
            backend_config: self.config.to_string(),
            api_version: API_VERSION,
            has_side_effect: false,
        };
        let result = cx.result_type();
        let call = cx.hlo.custom_call(&kernel, args, result)?;
        let decomposition = cx.function_name(self.decomposition)?.to_owned();
        cx.hlo.set_frontend_attribute(call, halite_hlo::DECOMPOSITION, decomposition)?;
        cx.elements(call)
    }

    /// None: a sample has no module to hold a decomposition.
    fn samples(&self, _: DType) -> Vec<Sample> {
        Vec::new()
    }
}

impl Builder<'_> {
    /// The results of a kernel of the target that means the same as `decomposition`, a finished function of the module.
    ///
    /// # Errors
    /// When there is no target, or the operands are not what the parameters of the decomposition are.
    pub fn kernel_call(&mut self, target: &str, config: &str, decomposition: FuncId, args: &[Value]) -> Result<Values> {
        self.emit_all(KernelCall { target: target.into(), config: config.into(), decomposition }, args)
    }
}
