//! Examples of what a model takes.

use crate::context::{Output, Result};
use crate::table::{grouped, table};
use halite_bundle::Bundle;
use halite_data::{ExampleCount, count_examples};
use halite_tensor::Shape;
use halite_train::{Feed, RecipeData};
use serde_json::json;
use std::path::Path;

/// Shows the number of examples in the data of a bundle, and the inputs of the model, which every example has.
pub(super) fn show(bundle: &Bundle, data: &RecipeData) -> Result<Output> {
    let inputs = Feed::of_batch(bundle)?.takes.inputs;
    let held_out = data.held_out_configs().iter().map(|config| ("held out", config));
    let mut found: Vec<(&str, ExampleCount)> = Vec::new();
    for (purpose, config) in std::iter::once(("train", data.train_config())).chain(held_out) {
        let counted = count_examples(config, Path::new("."), &inputs)?;
        found.extend(counted.into_iter().map(|counted| (purpose, counted)));
    }
    let place =
        |(purpose, counted): &(&str, ExampleCount)| format!("{purpose} {}", counted.source).trim_end().to_owned();
    let sizes = found.iter().map(|each| vec![place(each), grouped(each.1.files as u64), grouped(each.1.examples)]);
    let head = ["data", "files", "examples"].map(str::to_owned).to_vec();
    let sizes = table(&std::iter::once(head).chain(sizes).collect::<Vec<_>>());
    let taken = inputs.iter().map(|input| {
        let shape = Shape::from(&input.shape[..]);
        vec![input.name.clone(), format!("{}{shape}", input.dtype)]
    });
    let head = ["the model takes", "of each example"].map(str::to_owned).to_vec();
    let taken = table(&std::iter::once(head).chain(taken).collect::<Vec<_>>());
    let counts = found.iter().map(|(purpose, counted)| {
        let ExampleCount { source, files, examples } = counted;
        json!({"purpose": purpose, "source": source, "files": files, "examples": examples})
    });
    let takes =
        inputs.iter().map(|input| json!({"name": input.name, "dtype": input.dtype.name(), "shape": input.shape}));
    let json = json!({"data": counts.collect::<Vec<_>>(), "takes": takes.collect::<Vec<_>>()});
    Ok(Output::new(format!("{sizes}\n{taken}"), json))
}
