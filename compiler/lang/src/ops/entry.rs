//! The entry of a model: its weights, its results, and what reaches the loss.

use super::factors::dim_names;
use super::{Ops, Place, Sums, Value, Weight};
use halite_ir::{Builder, FuncResult, Function, Layer, ParamRole, ResultRole, TensorType, Value as Tensor, WeightInfo};
use halite_support::{Diagnostic, Diagnostics, Name, Result, codes};
use halite_tensor::Content;
use indexmap::IndexMap;

/// The help where the results of `main` are wrong.
const RESULTS: &str = "end `main` with `return loss, count` as `cross_entropy` gives them";

impl Ops<'_> {
    /// Adds a weight: to the entry as what it is, to a function that is called as an argument, which its callers bind.
    pub(crate) fn weight(&mut self, weight: &Weight, is_entry: bool) -> Tensor {
        let Weight { name, ty, sizes, init, is_trained } = weight;
        // Models write the place in a list as a part of the scope: `layers.{i}`.
        let layer = || Layer::of_path(name);
        let info =
            || WeightInfo { dims: dim_names(ty, sizes), frozen: !is_trained, layer: layer(), ..WeightInfo::new(*init) };
        let value = match is_entry {
            true => self.b.param(name.clone(), ty.clone(), ParamRole::Weight(info())),
            false => self.b.argument(name, ty.clone()),
        };
        self.sizes.know(value, sizes);
        value
    }

    /// The loss sum and the count among the values that the model returns.
    pub(crate) fn loss_and_count(&self, values: &[Value], place: Place<'_>) -> Result<[Tensor; 2]> {
        if let [Value::Tensor(loss), Value::Tensor(count)] = values {
            return Ok([*loss, *count]);
        }
        let found: Vec<_> = values.iter().map(|value| self.describe(value)).collect();
        let message = format!("`main` must return the loss sum and the count, found {}", found.join(", "));
        Err(place.mark(Diagnostic::error(codes::CONTRACT, message), "here").help(RESULTS))
    }

    /// The errors that keep the two from being the results of a model.
    pub(crate) fn check_results(&self, [loss, count]: [Tensor; 2], place: Place<'_>) -> Diagnostics {
        let is_scalar = |value| self.b.ty(value).rank() == 0 && self.b.dtype(value) != halite_tensor::DType::Pred;
        let fits =
            [(loss, "loss sum", is_scalar(loss) && self.b.dtype(loss).is_float()), (count, "count", is_scalar(count))];
        let refuse = |(value, role, _)| {
            let message = format!("the {role} that `main` returns must be a scalar, found `{}`", self.b.ty(value));
            place.mark(Diagnostic::error(codes::CONTRACT, message), "here").help(RESULTS)
        };
        fits.into_iter().filter(|(_, _, fits)| !fits).map(refuse).collect()
    }

    /// Adds the results: the loss, the count, the model's reports, then its outputs.
    pub(crate) fn results(&mut self, sums: Sums, outputs: IndexMap<Name, Tensor>) {
        self.b.named_result(sums.loss, "loss", ResultRole::Loss);
        self.b.named_result(sums.count, "count", ResultRole::Count);
        for (name, sum, over) in sums.metrics {
            self.b.named_result(sum, name.clone(), ResultRole::Sum);
            if let Some(over) = over {
                self.b.named_result(over, format!("{name}.count"), ResultRole::Over(name));
            }
        }
        for (name, value) in outputs {
            self.b.named_result(value, name, ResultRole::Probe);
        }
    }
}

/// The role of a batch that is declared to be the causal mask.
pub(crate) fn mask_role(name: &str, ty: &TensorType, place: Place<'_>) -> Result<ParamRole> {
    if ty.is_mask() {
        return Ok(ParamRole::Known(Content::Causal));
    }
    let message = format!("argument `{name}` is declared causal, but `{ty}` is no mask");
    let error = place.mark(Diagnostic::error(codes::CONTRACT, message), "declared here");
    Err(error.help("give it a type such as `pred[seq, seq]`"))
}

/// For each value of the function being built, by index, whether `result` depends on it.
pub fn is_needed(b: &Builder<'_>, result: Tensor) -> Vec<bool> {
    let mut callees: Vec<Vec<Vec<bool>>> = Vec::with_capacity(b.module().functions.len());
    for callee in &b.module().functions {
        let params = |result: &FuncResult| {
            let needed = needed(callee, result.value, &callees);
            callee.params.iter().map(|param| needed[param.value.index()]).collect()
        };
        callees.push(callee.results.iter().map(params).collect());
    }
    needed(b.function(), result, &callees)
}

/// The same of any function, given which of its parameters each result of each function before it depends on.
fn needed(function: &Function, result: Tensor, callees: &[Vec<Vec<bool>>]) -> Vec<bool> {
    let mut needed = vec![false; function.values.len()];
    needed[result.index()] = true;
    for inst in function.insts.iter().rev() {
        let callee = inst.op.callee().map(|callee| &callees[callee.index()]);
        for (position, _) in
            inst.results.iter().enumerate().filter(|(_, result)| needed[result.index()]).collect::<Vec<_>>()
        {
            for (at, arg) in inst.args.iter().enumerate() {
                needed[arg.index()] |= callee.is_none_or(|results| results[position][at]);
            }
        }
    }
    needed
}

/// A weight that the loss does not depend on: it would never be trained.
pub(crate) fn unneeded(name: &str, place: Place<'_>) -> Diagnostic {
    let message = format!("the loss does not depend on parameter `{name}`");
    let error = place.mark(Diagnostic::error(codes::UNUSED, message), "declared here");
    error.help("remove it, or use its value on the way to the loss")
}
