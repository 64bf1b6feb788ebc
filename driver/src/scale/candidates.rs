//! The small sizes to try, in order of preference.

use super::Change;
use halite_recipe::{Divides, MeshAxis, Recipe, TargetName};

/// The key of a model for the number of its layers.
pub(super) const LAYERS: &str = "layers";
/// Largest sizes of a small model, by the names that the built-in models and Hugging Face use for them.
const LIMITS: [(&str, i64); 4] = [("vocab", 96), (LAYERS, 2), ("ffn", 112), ("positions", 32)];
/// Largest width, and most heads that it is divided into.
const HIDDEN: i64 = 64;
const HEADS: i64 = 4;
/// Largest batch and sequence.
const STEP: [(&str, i64); 2] = [("batch", 2), ("seq", 32)];
/// The key at which a recipe states the number of steps in an update.
pub(super) const STEPS: &str = "accumulate";
/// The largest number of steps, and of ranks along an axis: two ranks are a group that every target takes, and two steps add up.
const RANKS: i64 = 2;
/// The key at which a recipe states the stages of a pipeline, and that of the parts on each.
pub(super) const STAGES: &str = "parallel.pipeline";
pub(super) const CHUNKS: &str = "parallel.chunks";
/// The largest numbers of them: of four stages two are neither the first nor the last, and two parts are several.
const PIPELINE: [(&str, i64); 2] = [(STAGES, 4), (CHUNKS, 2)];
/// Widths of a head to try where its own does not fit.
const WIDTHS: [i64; 4] = [16, 8, 4, 2];
/// The most sizes that are left as they are when the others shrink.
const KEPT: usize = 2;

/// The axis whose degree a recipe states at a key.
pub(super) fn axis(key: &str) -> Option<MeshAxis> {
    MeshAxis::ALL.into_iter().find(|axis| axis.key() == key)
}

/// The sizes to change for a small model, as many at once as the model takes.
pub(super) fn sizes(size: &dyn Fn(&str) -> Option<i64>, recipe: &Recipe) -> Vec<Change> {
    let given = |key: &str| match key {
        "batch" => recipe.batch.and_then(|size| i64::try_from(size).ok()),
        "seq" => recipe.seq.and_then(|size| i64::try_from(size).ok()),
        STEPS => recipe.accumulate.map(|accumulate| accumulate.steps.into()),
        STAGES => recipe.parallel.as_ref().map(|parallel| parallel.pipeline.into()),
        CHUNKS => recipe.parallel.as_ref().map(|parallel| parallel.chunks.into()),
        _ => match axis(key) {
            Some(axis) => recipe.parallel.as_ref().map(|parallel| parallel.degree(axis).into()),
            None => size(key),
        },
    };
    let attention = [("hidden", HIDDEN), ("heads", HEADS)];
    // Two along each axis are four in all, a group that other targets than the CPU may not take.
    let batch = if recipe.target == TargetName::default() { RANKS } else { 1 };
    let axes = [(Divides::Weights, RANKS), (Divides::Batch, batch)];
    let axes =
        axes.into_iter().flat_map(|(what, limit)| MeshAxis::that_divide(what).map(move |axis| (axis.key(), limit)));
    let [stages, chunks] = PIPELINE.map(|(key, limit)| given(key).map_or(1, |size| size.min(limit)));
    // Each part has a layer, and each stage a micro-batch.
    let least = |key: &str| match key {
        "layers" => stages * chunks,
        STEPS => stages,
        _ => 1,
    };
    let sizes = LIMITS.into_iter().chain(attention).chain(STEP).chain([(STEPS, RANKS)]).chain(PIPELINE);
    let sizes = sizes.map(|(key, limit)| (key.to_owned(), limit.max(least(key))));
    let limits = sizes.chain(axes);
    // A vocabulary that ranks do not divide stays one.
    let sharers: i64 = MeshAxis::that_divide(Divides::Weights).filter_map(|axis| given(&axis.key())).product();
    let uneven = |key: &str, old: i64| key == "vocab" && sharers > 0 && old % sharers != 0;
    let above = |(key, limit): (String, i64)| {
        let old = given(&key).filter(|&old| old > limit)?;
        let new = limit - i64::from(uneven(&key, old));
        Some((key, old, new))
    };
    limits.filter_map(above).collect()
}

/// All choices in the order in which they are to be tried. The form of attention varies first; where no form will do, one
/// of the other sizes is kept, then two, then all of the model's.
pub(super) fn candidates<'a>(
    size: &dyn Fn(&str) -> Option<i64>,
    wanted: &'a [Change],
) -> impl Iterator<Item = Vec<Change>> + 'a {
    let forms = attention(size);
    let is_attention = |key: &str| matches!(key, "hidden" | "heads");
    let others: Vec<&Change> = wanted.iter().filter(|(key, ..)| !is_attention(key)).collect();
    let of_step: Vec<Change> =
        others.iter().filter(|(key, ..)| is_of_step(key)).map(|&change| change.clone()).collect();
    let some = (0..=KEPT.min(others.len())).flat_map({
        let others = others.clone();
        move |count| without(&others, count)
    });
    let some = some.flat_map(move |rest| forms.clone().into_iter().map(move |form| [rest.clone(), form].concat()));
    some.chain([of_step])
}

/// Whether a size is that of a step and not one of the model.
fn is_of_step(key: &str) -> bool {
    axis(key).is_some_and(|axis| axis.divides() == Divides::Weights) || STEP.iter().any(|(own, _)| *own == key)
}

/// The changes without `count` of them, for each way to choose these.
fn without(changes: &[&Change], count: usize) -> Vec<Vec<Change>> {
    let keep = |left_out: &[usize]| {
        let kept = changes.iter().enumerate().filter(|(at, _)| !left_out.contains(at));
        kept.map(|(_, &change)| change.clone()).collect()
    };
    let all = 0..changes.len();
    match count {
        0 => vec![keep(&[])],
        1 => all.map(|at| keep(&[at])).collect(),
        _ => all.clone().flat_map(|a| (a + 1..changes.len()).map(move |b| [a, b])).map(|pair| keep(&pair)).collect(),
    }
}

/// Forms of attention: the width of the model, and how many heads of each kind it is divided into. The last is the model's
/// own.
fn attention(size: &dyn Fn(&str) -> Option<i64>) -> Vec<Vec<Change>> {
    let [hidden, heads, kv_heads] = ["hidden", "heads", "kv_heads"].map(size);
    let change = |key: &str, old: Option<i64>, new: i64| Some((key.to_owned(), old.filter(|&old| old != new)?, new));
    let form = |new_hidden: i64, new_heads: i64, new_kv_heads: i64| -> Vec<Change> {
        let changes = [
            change("hidden", hidden, new_hidden),
            change("heads", heads, new_heads),
            change("kv_heads", kv_heads, new_kv_heads),
        ];
        changes.into_iter().flatten().collect()
    };
    let most_heads = heads.map_or(1, |heads| heads.clamp(1, HEADS));
    // Each size as small as it may be; the number of key-value heads in proportion.
    let each = match (heads, kv_heads) {
        (Some(heads), Some(kv_heads)) => (most_heads * kv_heads / heads.max(1)).max(1),
        _ => kv_heads.unwrap_or(1),
    };
    let mut forms = vec![form(hidden.map_or(0, |hidden| hidden.min(HIDDEN)), most_heads, each)];
    if let (Some(hidden), Some(heads)) = (hidden, heads) {
        let width = hidden / heads.max(1);
        let widths = std::iter::once(width).chain(WIDTHS.into_iter().filter(|&narrow| narrow < width));
        for (width, (heads, kv_heads)) in
            widths.flat_map(|width| divisions(heads, kv_heads).map(move |own| (width, own)))
        {
            if width * heads <= HIDDEN {
                forms.push(form(width * heads, heads, kv_heads));
            }
        }
    }
    forms.push(Vec::new());
    forms
}

/// Numbers of heads and of key-value heads: first those in the model's proportion, then those with one of the latter.
fn divisions(heads: i64, kv_heads: Option<i64>) -> impl Iterator<Item = (i64, i64)> {
    let group = kv_heads.map_or(1, |kv_heads| heads / kv_heads.max(1)).max(1);
    let most = HEADS.max(group).min(heads) / group;
    let in_proportion = (1..=most).rev().map(move |kv_heads| (group * kv_heads, kv_heads));
    in_proportion.chain((1..=HEADS.min(heads)).rev().map(|heads| (heads, 1)))
}
