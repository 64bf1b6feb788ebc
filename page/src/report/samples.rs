//! Samples of text from the model, on the page of its run.

use crate::html::escaped;
use halite_train::Sample;

/// A list of samples, if there are any: the prompt of each, and the text that the model wrote.
pub(super) fn list(samples: &[Sample]) -> String {
    let Some(last) = samples.last() else { return String::new() };
    let item = |sample: &Sample| format!("<pre><b>{}</b>{}</pre>\n", escaped(&sample.prompt), escaped(&sample.text));
    let items: String = samples.iter().map(item).collect();
    format!("<section class=\"samples\">\n<h2>Samples after update {}</h2>\n{items}</section>", last.step)
}
