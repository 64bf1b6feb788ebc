//! Checks of update rules, shapes of schedules and groups of parameters.

use crate::{Extension, Group, Places, REST, Recipe, Section};
use halite_support::nearest::{list, suggestion};
use halite_support::{Diagnostic, Diagnostics, codes};

pub(super) fn check(recipe: &Recipe, places: &Places, extension: &dyn Extension, mistakes: &mut Diagnostics) {
    let (rules, shapes) = (extension.rules(), extension.shapes());
    for (path, rule) in recipe.optimizer.rules() {
        let error = known(("update rule", &rule.name), &rules, &rule.settings, &path);
        mistakes.extend(error.map(|(error, key)| error.or_at(places.nearest(&key), "unknown")));
    }
    let schedule = &recipe.schedule;
    let error = known(("shape", &schedule.shape), &shapes, &schedule.settings, "schedule");
    mistakes.extend(error.map(|(error, key)| error.or_at(places.nearest(&key), "unknown")));
    mistakes.extend(groups(&recipe.optimizer.groups, places));
    if recipe.metrics.group_norms {
        mistakes.extend(group_norms(&recipe.optimizer.groups, places));
    }
}

/// Reports that these groups have no norms of their own: there are none, or one is called [`REST`].
fn group_norms(groups: &[Group], places: &Places) -> Option<Diagnostic> {
    let clash = |message: String| Diagnostic::error(codes::RECIPE_CLASH, message);
    if groups.is_empty() {
        let error = clash("`metrics.group_norms` asks for norms of groups, and there are none".to_owned());
        let error = error.or_at(places.nearest("metrics.group_norms"), "of no group");
        return Some(error.help("write groups of weights as `[[optimizer.group]]`, or remove `group_norms`"));
    }
    let index = groups.iter().position(|group| group.name == REST)?;
    let error = clash(format!("the group `{REST}` is called as the weights in no group are in `metrics.group_norms`"));
    let place = places.nearest(&format!("optimizer.group.{index}.name"));
    Some(error.or_at(place, "taken").help("give it another name"))
}

/// Reports an unknown rule or shape, or an unknown setting of one, with the path of it.
fn known(
    (what, name): (&str, &str),
    sections: &[&'static Section],
    settings: &toml::Table,
    path: &str,
) -> Option<(Diagnostic, String)> {
    let Some(section) = sections.iter().find(|section| section.name == name) else {
        let names: Vec<&str> = sections.iter().map(|section| section.name).collect();
        let path = if what == "shape" { "schedule.shape" } else { path };
        let message = format!("there is no {what} `{name}`, expected one of {}", list(&names));
        let error = Diagnostic::error(codes::RECIPE_RANGE, message).help(suggestion(name, &names));
        return Some((error, path.to_owned()));
    };
    let names = crate::schema::names(section.keys);
    let foreign = settings.keys().find(|key| !names.contains(&key.as_str()))?;
    let message = format!("`{foreign}` is no setting of the {what} `{name}`");
    let error = Diagnostic::error(codes::RECIPE_KEY, message);
    let error = if names.is_empty() { error.help("remove it") } else { error.help(suggestion(foreign, &names)) };
    Some((error, format!("{path}.{foreign}")))
}

fn groups(groups: &[Group], places: &Places) -> Diagnostics {
    let mut mistakes = Diagnostics::new();
    for (index, group) in groups.iter().enumerate() {
        let path = |key: &str| format!("optimizer.group.{index}.{key}");
        let place = |key: &str| places.nearest(&path(key));
        if let Some(first) = groups[..index].iter().position(|other| other.name == group.name) {
            let message = format!("two groups are named `{}`", group.name);
            let error = Diagnostic::error(codes::RECIPE_CLASH, message).or_at(place("name"), "the second");
            let error = match places.nearest(&format!("optimizer.group.{first}.name")) {
                Some(place) => error.also(place, "the first"),
                None => error,
            };
            mistakes.push(error.help("give each group a name of its own"));
        }
        if group.params.is_empty() {
            let message = format!("the group `{}` has no parameters", group.name);
            let error = Diagnostic::error(codes::RECIPE_RANGE, message).or_at(place("params"), "empty");
            mistakes.push(error.help("name them by patterns such as `params = [\"*embed*\"]`, or remove the group"));
        }
        if let Some(key) = idle(group) {
            let message = format!("`{key}` has no effect on the group `{}`, which is frozen", group.name);
            let error =
                Diagnostic::error(codes::RECIPE_CLASH, message).or_at(place(&key), "frozen weights stay as they are");
            mistakes.push(error.help(format!("remove `{key}`, or `frozen`")));
        }
    }
    mistakes
}

/// A setting of a frozen group that has no effect on frozen weights.
fn idle(group: &Group) -> Option<String> {
    if !group.frozen {
        return None;
    }
    let scaled = (group.lr_scale != 1.0).then(|| "lr_scale".to_owned());
    let decayed = || group.weight_decay.map(|_| "weight_decay".to_owned());
    let unclipped = || (!group.clip).then(|| "clip".to_owned());
    let updated = || group.rule.as_ref().map(|rule| rule.name.clone());
    scaled.or_else(decayed).or_else(unclipped).or_else(updated)
}
