//! `clip`.

use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::transform::packed::layout;
use crate::transform::trained::{self, Objective, SCOPE, Set, collect, end_to_end, resolve, sets};
use halite_ir::{Attr, Builder, Function, GRAD_NORM, Module, Phase, Registry, ResultRole, Rewriter, Value, Values};
use halite_recipe::{Clip as Bound, Recipe};
use halite_support::{Diagnostic, Result};

/// The name of the pass.
const PASS: &str = "clip";

/// Keeps the quotient finite when the norm is zero; the value of the reference implementations.
const NORM_EPSILON: f64 = 1e-6;

/// Says by what each gradient is to be multiplied: the mean over the batch and the clip by the global norm, in one factor.
///
/// The objective is a sum; gradients are divided by the count here and nowhere else, a count of 0 as 1. With a clip the factor is
/// `min(1, c / (norm + 1e-6)) / count`. The norm is that of the gradients of the mean; it counts each element of the model
/// once, however often it is stored, and becomes the metric `grad_norm`.
///
/// ```text
/// (loss: f32[] {loss}, count: f32[] {count}, w: f32[4] {gradient = "w"})
/// =>
/// (.., scale.w: f32[] {scale = "w"}, grad_norm: f32[] {metric})
/// ```
#[derive(Debug)]
pub(crate) struct Clip;

impl Pass for Clip {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "say by what gradients are multiplied: mean and clip", Relation::Defines)
            .required()
            .needs(Phase::Differentiated..=Phase::Cast)
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let recipe = cx.recipe(PASS)?;
        let entry = module.functions.pop().ok_or_else(|| Diagnostic::bug("a module without functions"))?;
        clip(module, cx.registry, recipe, &entry)?;
        Ok(Changed::Yes)
    }
}

fn clip(module: &mut Module, registry: &Registry, recipe: &Recipe, entry: &Function) -> Result<()> {
    let mut b = Rewriter::new(module, registry, entry);
    let mut weights = collect(PASS, &b, entry, &recipe.precision)?;
    for inst in &entry.insts {
        b.copy(entry, inst)?;
    }
    resolve(&b, &mut weights)?;
    let names: Vec<_> = weights.iter().map(|weight| weight.name.clone()).collect();
    let outer = b.enter_scope(SCOPE);
    let objective = Objective::emit(&mut b, entry)?;
    let sets = sets(&b, weights, recipe.precision.update);
    let norm = norm(&mut b, &sets, objective.divisor)?;
    let max_norm = recipe.optimizer.clip.and_then(|clip| if let Bound::Norm(norm) = clip { Some(norm) } else { None });
    let scale = scale(&mut b, norm, objective.divisor, max_norm)?;
    b.set_loc(outer);
    for result in &entry.results {
        let value = b.value(result.value)?;
        b.named_result(value, result.name.clone(), result.role.clone());
    }
    for name in names {
        b.named_result(scale, format!("scale.{name}"), ResultRole::Scale(name));
    }
    b.named_result(norm, GRAD_NORM, ResultRole::Metric);
    b.into_builder().finish();
    Ok(())
}

/// The norm of all gradients of the mean. Squares are summed in the type of `count`.
fn norm(b: &mut Builder<'_>, sets: &[Set], count: Value) -> Result<Value> {
    let mut total = None;
    for set in sets {
        for gradient in stored_once(b, set)? {
            let gradient = b.convert(gradient, b.dtype(count))?;
            let square = b.multiply(gradient, gradient)?;
            let dims: Vec<usize> = (0..b.ty(square).rank()).collect();
            let sum = if dims.is_empty() { square } else { b.reduce_sum(square, &dims)? };
            total = Some(match total {
                Some(total) => b.add(total, sum)?,
                None => sum,
            });
        }
    }
    let total = total.ok_or_else(|| Diagnostic::bug("a training step without weights"))?;
    let root = b.sqrt(total)?;
    b.divide(root, count)
}

/// `min(1, max_norm / (norm + 1e-6)) / count`.
fn scale(b: &mut Builder<'_>, norm: Value, count: Value, max_norm: Option<f64>) -> Result<Value> {
    let one = b.splat_like(count, 1.0)?;
    let clipped = match max_norm {
        Some(max_norm) => {
            let guarded = b.add_scalar(norm, NORM_EPSILON)?;
            let limit = b.splat_like(norm, max_norm)?;
            let ratio = b.divide(limit, guarded)?;
            b.minimum(one, ratio)?
        }
        None => one,
    };
    b.divide(clipped, count)
}

/// The gradient of a set of weights; its parts where the weight stores elements of the model several times.
fn stored_once(b: &mut Builder<'_>, set: &Set) -> Result<Values> {
    let gradient = end_to_end(b, set, |weight: &trained::Trained| weight.gradient)?;
    match set[0].packing.as_deref().filter(|packing| packing.has_copies()) {
        None => Ok(Values::from_slice(&[gradient])),
        Some(packing) => {
            let [rows, copies] = layout(packing);
            b.composite("unpack", &[("dim", Attr::Int(0)), rows, copies], &[gradient])
        }
    }
}
