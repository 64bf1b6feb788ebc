//! Text generation with a model.

mod sampling;
mod text;

pub use sampling::Sampling;
pub use text::{Written, tokenizer};

use super::feed::Feed;
use super::inference::Inference;
use halite_bundle::tensors::Tensors;
use halite_bundle::{Bundle, ModuleEntry, ModuleRole, Port, Stream};
use halite_data::Rows;
use halite_runtime::Executor;
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use halite_tensor::DType;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The output of a forward module that predicts tokens: floats `[batch, seq, vocab]`.
const LOGITS: &str = "logits";

/// A request for text: the prompt, and how to continue it.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    /// Token ids to go on from, at least one.
    pub prompt: Vec<i32>,
    /// Tokens to add to each sample, at most.
    pub tokens: usize,
    /// Texts to make, each from its own random numbers.
    pub samples: usize,
    /// How a token is chosen.
    pub sampling: Sampling,
    /// Tokens that end a text; they are not part of it.
    pub ends: Vec<i32>,
    /// Whether each id may be chosen; `None` allows all. Ids beyond the end may not be: a model may predict more ids than its tokenizer
    /// has.
    pub allowed: Option<Vec<bool>>,
    /// Seed of the choices: a token is a function of it, the number of the sample and the position.
    pub seed: u64,
}

impl Request {
    /// Checks the request for a model that predicts `vocabulary` token ids.
    ///
    /// # Errors
    /// When the prompt has no token or one that the model does not know, or the sampling is out of range.
    pub fn check(&self, vocabulary: usize) -> Result<()> {
        self.sampling.check()?;
        let is_known = |&id: &i32| usize::try_from(id).is_ok_and(|id| id < vocabulary);
        if let Some((place, id)) = self.prompt.iter().enumerate().find(|(_, id)| !is_known(id)) {
            let message = format!("token {place} of the prompt is {id}, the model knows 0 to {}", vocabulary - 1);
            let error = Diagnostic::error(codes::VOCABULARY, message);
            return Err(error.help("use the tokenizer that the model was trained with"));
        }
        if self.prompt.is_empty() {
            let error = Diagnostic::error(codes::TEXT, "the prompt has no tokens");
            return Err(error.help("give at least one to go on from"));
        }
        if self.choices(vocabulary).next().is_none() {
            let error = Diagnostic::error(codes::VOCABULARY, "no token that the model predicts may be chosen");
            return Err(error.help("use the tokenizer that the model was trained with"));
        }
        Ok(())
    }

    /// The ids to choose from.
    fn choices(&self, vocabulary: usize) -> impl Iterator<Item = usize> {
        let is_allowed = |&id: &usize| self.allowed.as_ref().is_none_or(|all| all.get(id).copied().unwrap_or(false));
        (0..vocabulary).filter(is_allowed)
    }
}

/// A text that is being generated.
#[derive(Clone)]
struct Growing {
    tokens: Vec<i32>,
    /// Whether a token has ended it.
    is_ended: bool,
}

/// The forward of a model, which predicts one token after another. Each prediction recomputes the last `seq` tokens: there is no KV
/// cache.
pub struct Generator {
    inference: Inference,
    feed: Feed,
    /// Tokens of a row.
    width: usize,
    /// The number of token ids that the model predicts.
    vocabulary: usize,
}

impl Generator {
    /// Compiles the forward of a bundle, and copies the weights of a state to the devices.
    ///
    /// # Errors
    /// When the bundle has no module with the role `forward`, it has no `logits` of `[batch, seq, vocab]` or takes something else than
    /// sequences of tokens, the tensors are no state of its model, or the executor fails.
    pub fn load(
        executor: Arc<dyn Executor>,
        bundle: &Bundle,
        state: Tensors,
    ) -> std::result::Result<Self, Diagnostics> {
        let vocabulary = Self::vocabulary(bundle)?;
        let feed = Feed::of_modules(bundle, &bundle.modules_with_role(&ModuleRole::FORWARD)?)?;
        let width = width(&feed)?;
        let inference = Inference::load(executor, bundle, &ModuleRole::FORWARD, state)?;
        Ok(Self { inference, feed, width, vocabulary })
    }

    /// The number of token ids that the forward of a bundle predicts. This needs no executor.
    ///
    /// # Errors
    /// As [`load`](Self::load), as far as the bundle is concerned.
    pub fn vocabulary(bundle: &Bundle) -> Result<usize> {
        let forward = bundle.modules_with_role(&ModuleRole::FORWARD)?;
        check_goes_on(&forward)?;
        predicted(&forward, &Feed::of_modules(bundle, &forward)?)
    }

    /// Generates the samples of a request. `hear` is called with each token and the number of its sample as soon as it is chosen, and
    /// may end that sample. Returns the tokens of each sample, without the prompt and the token of the request that ended it.
    ///
    /// # Errors
    /// As [`Request::check`]; when the executor fails, or a prediction is no number.
    pub fn generate(
        &mut self,
        request: &Request,
        hear: &mut dyn FnMut(usize, i32) -> ControlFlow<()>,
    ) -> std::result::Result<Vec<Vec<i32>>, Diagnostics> {
        request.check(self.vocabulary)?;
        let choices: Vec<usize> = request.choices(self.vocabulary).collect();
        let start = Growing { tokens: request.prompt.clone(), is_ended: false };
        let mut texts = vec![start; request.samples];
        for (group, texts) in texts.chunks_mut(self.feed.eval_rows).enumerate() {
            let first = group * self.feed.eval_rows;
            for position in 0..request.tokens {
                if texts.iter().all(|text| text.is_ended) {
                    break;
                }
                self.add_token(texts, first, position, (request, &choices), hear)?;
            }
        }
        Ok(texts.into_iter().map(|mut text| text.tokens.split_off(request.prompt.len())).collect())
    }

    /// Adds a token to each text that has not ended. There are at most as many texts as the model takes at once; `first` is the number
    /// of the first sample.
    fn add_token(
        &mut self,
        texts: &mut [Growing],
        first: usize,
        position: usize,
        (request, choices): (&Request, &[usize]),
        hear: &mut dyn FnMut(usize, i32) -> ControlFlow<()>,
    ) -> std::result::Result<(), Diagnostics> {
        let logits = self.logits(texts)?;
        for (row, (text, logits)) in texts.iter_mut().zip(logits).enumerate() {
            if text.is_ended {
                continue;
            }
            let number = first + row;
            let stream = Stream::new(request.seed, &format!("sample {number}"));
            let logits: Vec<f64> = choices.iter().map(|&id| logits[id]).collect();
            let token = choices[request.sampling.choose(&logits, stream.bits(position as u64))?] as i32;
            text.is_ended = request.ends.contains(&token);
            if !text.is_ended {
                text.tokens.push(token);
                text.is_ended = hear(number, token).is_break();
            }
        }
        Ok(())
    }

    /// The logits of the next token of each text.
    fn logits(&mut self, texts: &[Growing]) -> std::result::Result<Vec<Vec<f64>>, Diagnostics> {
        let seq = self.width - 1;
        let windows: Vec<&[i32]> =
            texts.iter().map(|text| &text.tokens[text.tokens.len().saturating_sub(seq)..]).collect();
        let batch = self.feed.batch(rows(&windows, self.feed.eval_rows, self.width))?;
        let outputs = self.inference.run(&batch)?;
        let logits = outputs.get(LOGITS).ok_or_else(|| Diagnostic::bug("a forward without logits"))?;
        let all = logits.f64s();
        let at = |(row, window): (usize, &&[i32])| {
            let start = (row * seq + window.len() - 1) * self.vocabulary;
            all[start..start + self.vocabulary].to_vec()
        };
        Ok(windows.iter().enumerate().map(at).collect())
    }
}

/// Rows of one document each, filled from windows. Token 0 fills the other rows and the positions after a window, which no token before
/// sees.
fn rows(windows: &[&[i32]], rows: usize, width: usize) -> Rows {
    let mut all =
        Rows { rows, width, tokens: vec![0; rows * width], segments: vec![1; rows * width], ..Rows::default() };
    for (row, window) in windows.iter().enumerate() {
        all.tokens[row * width..][..window.len()].copy_from_slice(window);
    }
    all.positions = (0..rows).flat_map(|_| (0..).take(width)).collect();
    all
}

/// Tokens of a row.
fn width(feed: &Feed) -> Result<usize> {
    feed.takes.width.ok_or_else(|| {
        let error =
            Diagnostic::error(codes::MODULE, "the forward of the model takes something else than sequences of tokens");
        let inputs: Vec<&str> = feed.takes.inputs.iter().map(|input| input.name.as_str()).collect();
        error
            .note(format!("it takes {}", halite_support::nearest::list(&inputs)))
            .help("give a model whose logits depend on `s32[batch, seq + 1]` alone, as those of the built-in language models do")
    })
}

/// Refuses a forward with logits of all positions that it is fed: those of an encoder do not say what follows.
fn check_goes_on(forward: &[&ModuleEntry]) -> Result<()> {
    let Some([rows, seq, _]) = logits(forward).map(|port| &port.shape[..]) else { return Ok(()) };
    let inputs = forward.iter().flat_map(|entry| &entry.inputs);
    let is_fed = |width: usize| inputs.clone().any(|port| port.dtype == DType::S32 && port.shape == [*rows, width]);
    if is_fed(seq + 1) || !is_fed(*seq) {
        return Ok(());
    }
    let message = "no text can be generated: the model is not known to predict the token after the last";
    Err(Diagnostic::error(codes::MODULE, message)
        .note("an encoder reads in both directions and predicts tokens at the positions that it is fed")
        .help("generate from a model that is fed `s32[batch, seq + 1]`; run the modules of this one with `halite run`"))
}

/// The logits among the outputs of a forward.
fn logits<'m>(forward: &[&'m ModuleEntry]) -> Option<&'m Port> {
    forward.iter().flat_map(|entry| &entry.outputs).find(|port| port.name == LOGITS)
}

/// The number of token ids that a forward predicts.
fn predicted(forward: &[&ModuleEntry], feed: &Feed) -> Result<usize> {
    match logits(forward).map(|port| (&port.shape[..], port.dtype.is_float())) {
        Some(([rows, seq, vocabulary], true)) if [*rows, seq + 1] == [feed.eval_rows, width(feed)?] => Ok(*vocabulary),
        _ => {
            let role = ModuleRole::FORWARD;
            let message =
                format!("the module `{}` has no output `{LOGITS}` of floats `[batch, seq, vocab]`", role.name());
            Err(Diagnostic::error(codes::MODULE, message).help("add `output logits` to the model"))
        }
    }
}
