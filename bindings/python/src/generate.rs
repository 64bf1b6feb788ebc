//! Text that a model goes on with.

use crate::bundle::Bundle;
use crate::learned::Learned;
use crate::{plugin, work};
use halite::support::Result;
use halite_train::{Generator, Request, Sampling, Written, tokenizer};
use pyo3::prelude::*;
use std::ops::ControlFlow;

/// A request for texts: the prompt, and how to continue it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Wish {
    prompt: String,
    /// Token ids in place of a text.
    ids: Option<Vec<i32>>,
    tokens: usize,
    temperature: f64,
    top_p: f64,
    seed: u64,
    samples: usize,
    stop: Vec<String>,
}

/// The texts that a bundle goes on with, without the prompt.
#[pyfunction]
pub(crate) fn generate(
    py: Python<'_>,
    bundle: &Bundle,
    mut learned: Learned,
    wish: Wish,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<String>> {
    let given = learned.given()?;
    work::told(py, progress, |work| {
        let sampling = Sampling { temperature: wish.temperature, top_p: wish.top_p };
        sampling.check()?;
        let (bundle, weights) = learned.of(bundle, given)?;
        let tokenizer = tokenizer(learned.tokenizer.as_deref(), &bundle)?;
        let written = Written { tokenizer: tokenizer.as_ref(), stop: &wish.stop };
        let request = Request {
            tokens: wish.tokens,
            samples: wish.samples,
            sampling,
            seed: wish.seed,
            ..Request::of_text(&wish.prompt, written.tokenizer, &bundle)?
        };
        let request = Request { prompt: wish.ids.unwrap_or(request.prompt), ..request };
        request.check(Generator::vocabulary(&bundle)?)?;
        let state = weights.read(&bundle)?;
        let executor = plugin::open_watched(learned.plugin.as_deref(), &bundle, work)?;
        let mut generator = Generator::load(executor, &bundle, state)?;
        let mut hearer = Hearer { written, tokens: vec![Vec::new(); request.samples], failed: Ok(()) };
        let texts = generator.generate(&request, &mut |sample, token| hearer.hear(sample, token))?;
        hearer.failed?;
        Ok(texts.iter().map(|tokens| written.of(tokens)).collect::<Result<_>>()?)
    })
}

/// Ends samples where their text ends.
struct Hearer<'a> {
    written: Written<'a>,
    /// Those of each sample so far.
    tokens: Vec<Vec<i32>>,
    /// The first error of decoding.
    failed: Result<()>,
}

impl Hearer<'_> {
    fn hear(&mut self, sample: usize, token: i32) -> ControlFlow<()> {
        self.tokens[sample].push(token);
        match self.written.is_ended(&self.tokens[sample]) {
            Ok(false) => ControlFlow::Continue(()),
            Ok(true) => ControlFlow::Break(()),
            Err(error) => {
                self.failed = Err(error);
                ControlFlow::Break(())
            }
        }
    }
}
