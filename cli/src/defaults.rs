//! Defaults of a model that comes without a recipe.

use halite::source::Source;
use halite_recipe::Recipe;

/// The defaults that a model without a recipe is compiled and trained with, in a line; `None` where there is a recipe. `recipe` is the
/// one that was compiled, which has the sizes of the model.
pub(super) fn described(source: &Source, recipe: &Recipe) -> Option<String> {
    if source.places.texts().contains(&source.recipe_source) {
        return None;
    }
    let optimizer = &recipe.optimizer;
    let size = |name: &str, size: Option<usize>| size.map(|size| format!("{name} = {size}"));
    let clip = optimizer.clip.map(|clip| {
        let (key, bound) = clip.entry();
        format!("{key} = {bound}")
    });
    let all = [
        size("batch", recipe.batch),
        size("seq", recipe.seq),
        Some(format!("precision = {}", recipe.precision.recipe.name())),
        Some(format!("{}.lr = {}", optimizer.path(), optimizer.lr)),
        clip,
        Some(match recipe.schedule.steps {
            0 => "a constant learning rate".to_owned(),
            steps => format!("schedule.steps = {steps}"),
        }),
        Some(format!("train.steps = {}", recipe.train.steps)),
    ];
    let all: Vec<String> = all.into_iter().flatten().collect();
    Some(format!(
        "no recipe is given, so these hold: {}; `--set KEY=VALUE` changes them, `halite new recipe` writes a recipe\n",
        all.join(", ")
    ))
}
