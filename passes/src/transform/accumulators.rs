//! Sums over micro-batches: what is added up, and in which element types.

use crate::transform::split_stages::{Term, owners, terms};
use crate::transform::trained::{made, unprepared};
use halite_ir::composites::Transfer;
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

/// The suffix of all kinds, before the number of a part of a pipeline, for the sums of what several parts make: those of all but the first.
const PART: &str = "_part_";

/// Something that micro-batches are summed over: the objective, a metric of the model, what these are divided by, the gradient by
/// a weight.
pub(super) struct Sum {
    /// Its name and role in the entry.
    pub(super) result: FuncResult,
    /// The terms of one micro-batch: the result, or those that a part of a pipeline makes of it.
    terms: Vec<Term>,
    /// The part of a pipeline that makes them, and whether it is the first that makes some of the result.
    part: Option<(usize, bool)>,
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
        Self::all(entry, results, recipe)
    }

    /// All of an entry with these results, in their order. Sums are made in `precision.accumulate`, or wider where the parts are. Where
    /// the model is cut into the parts of a pipeline, each part has a sum of its own of what it makes of a result.
    ///
    /// # Errors
    /// When a result is made of what several parts make, and is no sum of theirs.
    pub(super) fn all(entry: &Function, results: &[FuncResult], recipe: &Recipe) -> Result<Vec<Self>> {
        let parts = entry.insts.iter().filter_map(|inst| Transfer::ends(&inst.op)).map(|(from, to)| from.max(to)).max();
        let owners = parts.map(|_| owners(entry)).transpose()?;
        let is_summed = |role: &ResultRole| role.is_sum() || matches!(role, ResultRole::Gradient(_));
        let mut sums = Vec::new();
        for result in results.iter().filter(|result| is_summed(&result.role)) {
            let ty = entry.ty(result.value);
            let dtype = recipe.precision.accumulate;
            let dtype = if ty.dtype().size() > dtype.size() { ty.dtype() } else { dtype };
            let ty = ty.with_dtype(dtype);
            let sum = |terms, part| Self { result: result.clone(), terms, part, ty: ty.clone() };
            let (Some(last), Some(owners)) = (parts, &owners) else {
                sums.push(sum(vec![Term::whole(result.value)], None));
                continue;
            };
            let terms = terms(entry, owners, result.value, last)?.into_iter().enumerate();
            sums.extend(terms.map(|(number, (part, terms))| sum(terms, Some((part, number == 0)))));
        }
        Ok(sums)
    }

    /// The state that holds it between modules.
    pub(super) fn state(&self) -> StateSpec {
        let (kind, of) = match &self.result.role {
            ResultRole::Gradient(of) => (GRADIENT.to_owned(), Some(of.clone())),
            ResultRole::Sum => (format!("{GRADIENT}{METRIC}{}", self.result.name), None),
            ResultRole::Over(sum) => (format!("{GRADIENT}{OVER}{sum}"), None),
            ResultRole::Loss => (format!("{GRADIENT}{LOSS}"), None),
            _ => (format!("{GRADIENT}{COUNT}"), None),
        };
        let kind = match self.part {
            Some((part, false)) => format!("{kind}{PART}{part}"),
            _ => kind,
        };
        StateSpec { of, ..StateSpec::new(kind).sum().in_part(self.part.map(|(part, _)| part)) }
    }

    /// Whether it is of the same result as another.
    pub(super) fn is_with(&self, other: &Self) -> bool {
        self.result == other.result
    }

    /// The name of the sum so far as a parameter of the function that adds a micro-batch to it.
    pub(super) fn param_name(&self) -> Name {
        self.state().param_name()
    }

    /// The sum so far and the terms of one micro-batch.
    pub(super) fn add(&self, b: &mut Builder<'_>, so_far: Value) -> Result<Value> {
        self.terms.iter().try_fold(so_far, |so_far, term| {
            let term = term.emit(b)?;
            let term = b.convert(term, self.ty.dtype())?;
            b.add(so_far, term)
        })
    }

    /// A sum of no micro-batch: zeros.
    pub(super) fn zero(&self, b: &mut Builder<'_>) -> Result<Value> {
        b.splat(self.ty.dtype(), self.ty.shape().clone(), 0.0)
    }
}
