//! The entry: batch arguments, the contract of `main`, and what reaches the loss.

use super::value::Value;
use super::{Elaborator, Eval, Locals, Tensor};
use crate::ast::{Argument, Function};
use halite_ir::{ParamRole, ResultRole, TensorType};
use halite_support::{Diagnostic, Diagnostics, codes};

impl Elaborator<'_, '_> {
    /// Runs `main`.
    pub(super) fn main(&mut self) {
        let program = self.program;
        let Some(main) = program.functions.get("main") else { return };
        let mut locals = Locals::new();
        for argument in &main.arguments {
            let value = self.batch(argument);
            locals.insert(argument.name.name.clone(), value);
        }
        if main.arguments.is_empty() {
            let help = "write `fn main(tokens: s32[batch, seq + 1])`";
            let error =
                Diagnostic::error(codes::CONTRACT, "`main` takes no batch").at(main.name.span, "here").help(help);
            self.report(error);
        }
        let results = self.body(main, &mut locals);
        if let Ok(values) = results {
            self.results(main, &values);
        }
    }

    fn batch(&mut self, argument: &Argument) -> Eval<Value> {
        let name = &argument.name.name;
        let Some(ty) = &argument.ty else {
            let message = format!("argument `{name}` of `main` has no type");
            let error = Diagnostic::error(codes::CONTRACT, message).at(argument.name.span, "a batch needs a type");
            return Err(self.report(error.help(format!("write e.g. `{name}: s32[batch, seq + 1]`"))));
        };
        let ty = self.ty(ty, &Locals::new())?;
        let role = self.batch_role(argument, &ty)?;
        Ok(Value::Tensor(self.b.param(name.clone(), ty, role)))
    }

    fn batch_role(&mut self, argument: &Argument, ty: &TensorType) -> Eval<ParamRole> {
        let Some(declared) = argument.default.as_ref().filter(|content| content.is_causal()) else {
            return Ok(ParamRole::Batch);
        };
        if ty.is_mask() {
            return Ok(ParamRole::CausalMask);
        }
        let message = format!("argument `{}` is declared causal, but `{ty}` is no mask", argument.name.name);
        let error = Diagnostic::error(codes::CONTRACT, message).at(declared.span, "declared here");
        Err(self.report(error.help("give it a type such as `pred[seq, seq]`")))
    }

    fn results(&mut self, main: &Function, values: &[Value]) {
        let help = "end `main` with `return loss, count` as `cross_entropy` gives them";
        let [Value::Tensor(loss), Value::Tensor(count)] = values else {
            let found: Vec<_> = values.iter().map(|value| self.describe(value)).collect();
            let message = format!("`main` must return the loss sum and the count, found {}", found.join(", "));
            let error = Diagnostic::error(codes::CONTRACT, message).at(main.returns, "here").help(help);
            self.report(error);
            return;
        };
        for (value, role, fits) in
            [(*loss, "loss sum", self.is_float_scalar(*loss)), (*count, "count", self.is_scalar(*count))]
        {
            if !fits {
                let message = format!("the {role} that `main` returns must be a scalar, found `{}`", self.b.ty(value));
                let error = Diagnostic::error(codes::CONTRACT, message).at(main.returns, "here").help(help);
                self.report(error);
            }
        }
        if self.errors.is_empty() {
            self.check_use(*loss);
        }
        self.b.named_result(*loss, "loss", ResultRole::Loss);
        self.b.named_result(*count, "count", ResultRole::Count);
        for (name, value) in std::mem::take(&mut self.outputs) {
            if let Ok(value) = value {
                self.b.named_result(value, name, ResultRole::Probe);
            }
        }
    }

    fn is_scalar(&self, value: Tensor) -> bool {
        self.b.ty(value).rank() == 0 && self.b.dtype(value) != halite_tensor::DType::Pred
    }

    fn is_float_scalar(&self, value: Tensor) -> bool {
        self.is_scalar(value) && self.b.dtype(value).is_float()
    }

    /// Reports weights that the loss does not depend on: they would never be trained.
    fn check_use(&mut self, loss: Tensor) {
        let function = self.b.function();
        let mut needed = vec![false; function.values.len()];
        needed[loss.index()] = true;
        for inst in function.insts.iter().rev() {
            if inst.results.iter().any(|result| needed[result.index()]) {
                inst.args.iter().for_each(|arg| needed[arg.index()] = true);
            }
        }
        let dead: Vec<_> = self.weights.iter().filter(|(_, weight)| !needed[weight.value.index()]).collect();
        let dead: Vec<_> = dead.into_iter().map(|(name, weight)| (name.clone(), *weight)).collect();
        for (name, weight) in dead {
            let message = format!("the loss does not depend on parameter `{name}`");
            let error = Diagnostic::error(codes::UNUSED, message).at(weight.declaration, "declared here");
            let error = match weight.call {
                Some(call) => error.also(call, "run by this call"),
                None => error,
            };
            self.report(error.help("remove it, or use its value on the way to the loss"));
        }
    }

    /// Adds the entry to the module, unless something was reported.
    pub(super) fn finish(self) -> Result<(), Diagnostics> {
        let mut errors = self.errors;
        if errors.is_empty() {
            self.b.finish();
            return Ok(());
        }
        errors.sort_by_key(|error| error.primary().map(|label| label.span));
        Err(errors)
    }
}
