//! The entry: batch arguments, the contract of `main`, and what reaches the loss.

use super::{Elaborator, Eval, Locals};
use crate::ast::{Argument, Function};
use crate::ops::{Named, Place, Value, is_needed, mask_role, unneeded};
use halite_ir::{ParamRole, TensorType, Value as Tensor};
use halite_support::{Diagnostic, Diagnostics, FileId, codes, sort_by_place};

impl Elaborator<'_, '_> {
    /// Runs `main`.
    pub(super) fn main(&mut self) {
        let Some(main) = self.model().functions.get("main").map(|main| main.function) else { return };
        let mut locals = Locals::new();
        for argument in &main.arguments {
            let value = self.argument(argument);
            locals.insert(argument.name.name.clone(), value);
        }
        if locals.values().all(|value| matches!(value, Ok(Value::Absent(_)))) {
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

    /// An argument of `main`: a batch, where its condition holds.
    fn argument(&mut self, argument: &Argument) -> Eval<Value> {
        let Some(condition) = &argument.presence else { return self.batch(argument) };
        match self.expr(condition, &Locals::new())? {
            Value::Bool(true) => self.batch(argument),
            Value::Bool(false) => Ok(Value::Absent(argument.name.name.clone())),
            other => Err(self.wrong_kind("a condition", &other, condition)),
        }
    }

    fn batch(&mut self, argument: &Argument) -> Eval<Value> {
        let name = &argument.name.name;
        let Some(ty) = &argument.ty else {
            let message = format!("argument `{name}` of `main` has no type");
            let error = Diagnostic::error(codes::CONTRACT, message).at(argument.name.span, "a batch needs a type");
            return Err(self.report(error.help(format!("write e.g. `{name}: s32[batch, seq + 1]`"))));
        };
        let (ty, sizes) = self.sized_ty(ty, &Locals::new())?;
        let role = self.batch_role(argument, &ty)?;
        let at = self.declaration(argument.name.span);
        self.claim(name, Named::Batch, at)?;
        let batch = self.ops.b.param(name.clone(), ty, role);
        self.ops.sizes.know(batch, &sizes);
        Ok(Value::Tensor(batch))
    }

    fn batch_role(&mut self, argument: &Argument, ty: &TensorType) -> Eval<ParamRole> {
        let Some(declared) = argument.default.as_ref().filter(|content| content.is_causal()) else {
            return Ok(ParamRole::Batch);
        };
        let role = mask_role(&argument.name.name, ty, Place::whole(&declared.span));
        self.check(role)
    }

    fn results(&mut self, main: &Function, values: &[Value]) {
        let place = Place::whole(&main.returns);
        let results = self.ops.loss_and_count(values, place);
        let Ok(results) = self.check(results) else { return };
        for error in self.ops.check_results(results, place) {
            self.report(error);
        }
        if !self.errors.is_empty() {
            return;
        }
        let reports = std::mem::take(&mut self.frame.reports);
        let sums = self.ops.sums(results, &reports).map_err(|error| place.mark(error, "here"));
        let Ok(sums) = self.check(sums) else { return };
        self.check_use(sums.loss);
        let outputs = std::mem::take(&mut self.frame.outputs);
        let outputs = outputs.into_iter().filter_map(|(name, _, tensor)| Some((name, tensor?)));
        self.ops.results(sums, outputs.collect());
    }

    /// Reports weights that the loss does not depend on.
    fn check_use(&mut self, loss: Tensor) {
        let needed = is_needed(&self.ops.b, loss);
        let unused = self.frame.weights.iter().filter(|weight| !needed[weight.value.index()]);
        let errors = unused.map(|weight| {
            let error = unneeded(&weight.weight.name, Place::whole(&weight.at.span));
            match weight.at.call {
                Some(call) => error.also(call, "run by this call"),
                None => error,
            }
        });
        for error in errors.collect::<Diagnostics>() {
            self.report(error);
        }
    }

    /// Adds the entry to the module, which comes from these files, unless something was reported.
    pub(super) fn finish(self, files: &[FileId]) -> Result<(), Diagnostics> {
        let mut errors = self.errors;
        if errors.is_empty() {
            self.ops.b.finish();
            return Ok(());
        }
        let overrides = self.options.overrides.iter().filter_map(|given| Some(given.span?.file));
        sort_by_place(&mut errors, &files.iter().copied().chain(overrides).collect::<Vec<_>>());
        Err(errors)
    }
}
