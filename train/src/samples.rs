//! Texts that a model generates when a run ends, to show what it learned.
//!
//! The modules of training give no logits, so the forward of the model is compiled for it, once and only then. A token costs a forward,
//! a third of an update or less: there are fewer tokens than the updates that were made, so that samples take a small part of the time
//! of a run.

use super::generate::{Generator, Request, Sampling, Written};
use super::update::Run;
use super::{Feed, Sample, TrainOptions};
use halite_bundle::Bundle;
use halite_data::{Data, Rows, Tokenizer};
use halite_recipe::TargetName;
use halite_runtime::Executor;
use halite_support::{Diagnostics, Result};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Tokens of a sample at most.
const TOKENS: usize = 64;
/// Tokens of the prompt at most.
const PROMPT: usize = 16;
/// The number of samples by default.
const DEFAULT: u32 = 2;
/// The rule by which tokens are chosen: likely ones, so that the text is plausible, but not always the likeliest, which soon repeats.
const SAMPLING: Sampling = Sampling { temperature: 0.8, top_p: 0.95 };

/// The number of samples that a run ends with: by default none for a recipe for Neuron, whose compiler takes minutes for the forward.
fn count(bundle: &Bundle, options: &TrainOptions) -> u32 {
    let recipe = &bundle.manifest.recipe;
    let by_default = if recipe.target == TargetName::default() { DEFAULT } else { 0 };
    let is_shown = options.page.is_some() && recipe.metrics.report;
    if is_shown { options.samples.unwrap_or(by_default) } else { 0 }
}

/// Samples of a run that ended, for its page. None for a run without a page, with several processes, or of fewer updates than a sample
/// has tokens, and none where the model or the data are not of text.
///
/// # Errors
/// When the executor fails, or data cannot be read.
pub(super) fn of(
    run: &Run<'_>,
    executor: Arc<dyn Executor>,
    bundle: &Bundle,
    data: &dyn Data,
    options: &TrainOptions,
) -> std::result::Result<Vec<Sample>, Diagnostics> {
    let (step, count) = (run.step.attempted(), count(bundle, options));
    if count == 0 || step < TOKENS as u64 || options.peers.is_some() {
        return Ok(Vec::new());
    }
    let Some(tokenizer) = data.tokenizer()? else { return Ok(Vec::new()) };
    let Ok(request) = Request::of_text("", tokenizer.as_ref(), bundle) else { return Ok(Vec::new()) };
    let prompt = beginning(&first_row(data, &Feed::of(bundle)?, options.seed)?, tokenizer.as_ref());
    if prompt.is_empty() {
        return Ok(Vec::new());
    }
    let written = Written { tokenizer: tokenizer.as_ref(), stop: &[] };
    let said = written.whole(&prompt)?;
    let request =
        Request { prompt, tokens: TOKENS, samples: count as usize, sampling: SAMPLING, seed: options.seed, ..request };
    let mut generator = Generator::load(executor, bundle, run.step.state()?)?;
    let mut hear = |_: usize, _: i32| {
        if options.cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let texts = generator.generate(&request, &mut hear)?;
    let sample = |tokens: &Vec<i32>| Ok(Sample { step, prompt: said.clone(), text: written.of(tokens)? });
    Ok(texts.iter().map(sample).collect::<Result<_>>()?)
}

/// The first row of the held-out data, or else of the training data.
fn first_row(data: &dyn Data, feed: &Feed, seed: u64) -> std::result::Result<Rows, Diagnostics> {
    let opened = data.open(&feed.takes, seed)?;
    let mut first = opened.held_out.into_iter().next().map_or(opened.train, |held_out| held_out.data);
    Ok(first.next(1)?)
}

/// The beginning of the first document of a row, where the tokenizer knows all of it.
fn beginning(row: &Rows, tokenizer: &dyn Tokenizer) -> Vec<i32> {
    let of_document = row.segments.iter().take_while(|segment| **segment == row.segments[0] && **segment > 0).count();
    let tokens = &row.tokens[..of_document.min(PROMPT)];
    if tokens.iter().all(|id| tokenizer.has(*id)) { tokens.to_vec() } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(tokens: &[i32], segments: &[i32]) -> Rows {
        Rows { rows: 1, width: tokens.len(), tokens: tokens.to_vec(), segments: segments.to_vec(), ..Rows::default() }
    }

    #[test]
    fn a_prompt_is_the_beginning_of_one_document() {
        let bytes = halite_data::open_tokenizer("bytes", std::path::Path::new(".")).unwrap();
        let of = |tokens: &[i32], segments: &[i32]| beginning(&row(tokens, segments), bytes.as_ref());
        assert_eq!(of(&[72, 105, 33], &[1, 1, 2]), [72, 105]);
        assert_eq!(of(&[65; 40], &[1; 40]), [65; PROMPT]);
        assert_eq!(of(&[72, 70_000], &[1, 1]), [0; 0], "of another tokenizer");
        assert_eq!(of(&[0, 0], &[0, 0]), [0; 0], "padding");
        assert_eq!(of(&[], &[]), [0; 0]);
    }
}
