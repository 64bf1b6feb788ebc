//! The end: the contract of `main`, and what reaches the loss.

use super::{Core, Handle};
use crate::build::Caller;
use crate::elaborate::Elaborated;
use crate::ops::{Ops, Place, Value, is_needed, settle, unneeded};
use halite_ir::{Function, Value as Id};
use halite_support::{Diagnostic, Diagnostics, Name, codes};
use indexmap::IndexMap;

impl Core {
    /// The model, which returns the loss sum and the count over which it sums, both scalars.
    ///
    /// # Errors
    /// Every mistake that was made so far, in order, and those of the model as a whole.
    pub fn finish(
        &mut self,
        loss: Option<Handle>,
        count: Option<Handle>,
        caller: &Caller,
    ) -> Result<Elaborated, Diagnostics> {
        self.state.check_entry("finish", "finish the model when its functions have returned", caller);
        let results: Vec<_> = [loss, count].into_iter().map(|result| self.value(result.into(), caller)).collect();
        let mut state = self.state.clone();
        if state.batches.is_empty() {
            let error = Diagnostic::error(codes::CONTRACT, "`main` takes no batch");
            state.keep(error.help("declare one with `batch`"), caller);
        }
        let place = Place::whole(&());
        let draft = state.frame.draft.clone();
        let mut ops = Ops::new(draft.resume(&mut state.module, &self.registry), self.float);
        let results: Option<Vec<Value>> = results.into_iter().collect();
        let results = results.and_then(|results| ops.loss_and_count(&results, place).ok());
        let mut errors = Diagnostics::new();
        let mut warnings = Diagnostics::new();
        if let Some(results) = results {
            errors = ops.check_results(results, place);
        }
        let mut needed = None;
        if let Some(results) = results.filter(|_| errors.is_empty() && state.errors.is_empty()) {
            let sums = ops.sums(results, &state.reports)?;
            needed = Some(is_needed(&ops.b, sums.loss));
            let outputs = state.outputs.iter().filter_map(|(name, value)| Some((name.clone(), (*value)?)));
            ops.results(sums, outputs.collect());
            warnings = unread(ops.b.function(), &state.batches);
        }
        ops.b.finish();
        errors.into_iter().for_each(|error| state.keep(error, caller));
        if let Some(needed) = needed.filter(|_| state.errors.is_empty()) {
            let weights = std::mem::take(&mut state.frame.weights);
            let unused = weights.iter().filter(|weight| !needed[weight.value.index()]);
            unused.for_each(|weight| state.keep(unneeded(&weight.weight.name, place), &weight.at));
        }
        if !state.errors.is_empty() {
            return Err(state.errors);
        }
        settle(&mut state.module, &self.registry)?;
        Ok(Elaborated { module: state.module, config: state.config, warnings })
    }
}

/// Batches that nothing reads, unless their names begin with `_`.
fn unread(function: &Function, batches: &IndexMap<Name, Id>) -> Diagnostics {
    let is_read = |value: Id| {
        function.insts.iter().any(|inst| inst.args.contains(&value))
            || function.results.iter().any(|result| result.value == value)
    };
    let unread = batches.iter().filter(|(name, value)| !name.starts_with('_') && !is_read(**value));
    let warn = |(name, _): (&Name, &Id)| {
        let message = format!("argument `{name}` is never used");
        Diagnostic::warning(codes::UNUSED, message).help("remove it or begin its name with `_`")
    };
    unread.map(warn).collect()
}
