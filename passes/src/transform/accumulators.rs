//! Sums over micro-batches: what is added up, and in which element types.

use crate::transform::trained::{made, unprepared};
use halite_ir::{Builder, FuncResult, Function, Param, ParamRole, ResultRole, TensorType, Value};
use halite_recipe::Recipe;
use halite_support::{Diagnostic, Name, Result, codes};
use halite_tensor::StateSpec;

/// The kind of state that sums the gradients by one weight.
const GRADIENT: &str = "accum";

/// The suffixes of that kind for the sum of the objective and for the sum of its count.
const LOSS: &str = "_loss";
const COUNT: &str = "_count";

/// The suffixes of that kind, before the name of a metric of the model, for the sum of the metric and for that of its divisor.
const METRIC: &str = "_sum_";
const OVER: &str = "_over_";

/// Something that micro-batches are summed over: the objective, a metric of the model, what these are divided by, the gradient by
/// a weight.
pub(super) struct Sum {
    /// Its name and role in the entry, and the value of one micro-batch.
    pub(super) result: FuncResult,
    /// The type of the sum.
    pub(super) ty: TensorType,
}

/// # Errors
/// When the recipe rounds stochastically wherever it narrows: micro-batches would round by the same bits.
pub(super) fn check_rounding(recipe: &Recipe) -> Result<()> {
    if !recipe.precision.rounds_everywhere() {
        return Ok(());
    }
    let message = "micro-batches cannot be accumulated where all narrowing rounds stochastically";
    let error = Diagnostic::error(codes::RECIPE_CLASH, message).key("precision.sr.sites");
    Err(error
        .note("all of them would round by the same bits")
        .help("set `precision.sr.sites = \"weight_write\"`, or `accumulate = 1`"))
}

impl Sum {
    /// As [`all`](Self::all), for a pass that makes state of them.
    ///
    /// # Errors
    /// When there is no gradient, or the entry has such state already.
    pub(super) fn state_of(pass: &str, entry: &Function, results: &[FuncResult], recipe: &Recipe) -> Result<Vec<Self>> {
        let is_made = |param: &&Param| matches!(&param.role, ParamRole::State(spec) if spec.sum);
        if let Some(param) = entry.params.iter().find(is_made) {
            return Err(made(pass, &format!("the entry has the sum `{}` already", param.name)));
        }
        if !results.iter().any(|result| matches!(result.role, ResultRole::Gradient(_))) {
            return Err(unprepared(pass, "the entry has no gradient to sum", "auto-diff"));
        }
        Ok(Self::all(entry, results, recipe))
    }

    /// All of an entry with these results, in their order. Sums are made in `precision.accumulate`, or wider where the parts are.
    pub(super) fn all(entry: &Function, results: &[FuncResult], recipe: &Recipe) -> Vec<Self> {
        let is_summed = |role: &ResultRole| role.is_sum() || matches!(role, ResultRole::Gradient(_));
        let summed = results.iter().filter(|result| is_summed(&result.role));
        let sum = |result: &FuncResult| {
            let ty = entry.ty(result.value);
            let dtype = recipe.precision.accumulate;
            let dtype = if ty.dtype().size() > dtype.size() { ty.dtype() } else { dtype };
            Self { result: result.clone(), ty: ty.with_dtype(dtype) }
        };
        summed.map(sum).collect()
    }

    /// The state that holds it between modules.
    pub(super) fn state(&self) -> StateSpec {
        let kind = match &self.result.role {
            ResultRole::Gradient(of) => return StateSpec::new(GRADIENT).of(of.clone()).sum(),
            ResultRole::Sum => format!("{GRADIENT}{METRIC}{}", self.result.name),
            ResultRole::Over(sum) => format!("{GRADIENT}{OVER}{sum}"),
            ResultRole::Loss => format!("{GRADIENT}{LOSS}"),
            _ => format!("{GRADIENT}{COUNT}"),
        };
        StateSpec::new(kind).sum()
    }

    /// The name of the sum so far as a parameter of the function that adds a micro-batch to it.
    pub(super) fn param_name(&self) -> Name {
        self.state().param_name()
    }

    /// The sum so far and the value of one micro-batch.
    pub(super) fn add(&self, b: &mut Builder<'_>, so_far: Value) -> Result<Value> {
        let part = b.convert(self.result.value, self.ty.dtype())?;
        b.add(so_far, part)
    }

    /// A sum of no micro-batch: zeros.
    pub(super) fn zero(&self, b: &mut Builder<'_>) -> Result<Value> {
        b.splat(self.ty.dtype(), self.ty.shape().clone(), 0.0)
    }
}
