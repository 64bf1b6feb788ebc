//! `halite generate`.

use crate::bars;
use crate::context::{Context, Output, Result};
use crate::learned::Learned;
use crate::terminal;
use clap::Args;
use halite_report::visible;
use halite_train::{Generator, Request, Sampling, Written, tokenizer};
use serde_json::json;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Generate text from a prompt.
///
/// INPUT is a bundle with the role `forward`, or what `halite compile` takes. The text is written as it comes, the prompt first; equal
/// inputs and seeds give equal texts. Each token is computed from the last `seq` tokens anew, without a cache of keys and values, and
/// so takes as long as a whole sequence: this is to look at what was learned, not to serve a model.
///
/// The prompt begins as documents do in training, with the token `data.bos` of the recipe unless it is there already, and a text ends
/// before the token that ends documents (`--set data.eos=none` goes on behind it). Tokens that the tokenizer lacks are not drawn.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite generate runs/tiny --prompt \"It is\"
  halite generate runs/tiny --prompt \"It is\" --tokens 200 --stop \"\\n\\n\" \\
    --temperature 0.8 --top-p 0.95 --seed 7 --samples 3
  halite generate build/tiny --weights model.safetensors --prompt A --greedy")]
pub(super) struct Generate {
    /// The model: a run, a checkpoint, a bundle, a preset, a recipe or a model file.
    input: String,
    #[command(flatten)]
    learned: Learned,
    /// The text to go on from.
    #[arg(long, value_name = "TEXT")]
    prompt: String,
    /// `bytes`, or a tokenizer.json of Hugging Face [default: that of the recipe's data, else bytes].
    #[arg(long, value_name = "NAME")]
    tokenizer: Option<String>,
    /// End a sample before this text; may be repeated. The token that ends documents ends it too.
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    stop: Vec<String>,
    /// Maximum number of new tokens.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    tokens: u32,
    /// Sampling temperature: logits are divided by it; 0 is `--greedy`.
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0, allow_negative_numbers = true)]
    temperature: f64,
    /// Nucleus sampling: draw from the most probable tokens whose probabilities add up to this.
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, allow_negative_numbers = true)]
    top_p: f64,
    /// Always take the most probable token.
    #[arg(long, conflicts_with_all = ["temperature", "top_p", "samples", "seed"])]
    greedy: bool,
    /// Seed of sampling.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Number of samples, which run together as far as the batch has sequences.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Set a key of the recipe (`batch=4`, `optimizer.adamw.lr=1e-3`) or of the model (`layers=2`); may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl Generate {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let sampling = self.sampling();
        sampling.check()?;
        let (name, ready) = context.ready(&self.input, &self.set)?;
        context.show(&ready.warnings);
        let (bundle, weights) = self.learned.of(ready)?;
        let tokenizer = tokenizer(self.tokenizer.as_deref(), &bundle)?;
        let written = Written { tokenizer: tokenizer.as_ref(), stop: &self.stop };
        let request = Request {
            tokens: self.tokens as usize,
            samples: self.samples as usize,
            sampling,
            seed: self.seed,
            ..Request::of_text(&self.prompt, written.tokenizer, &bundle)?
        };
        request.check(Generator::vocabulary(&bundle)?)?;
        let state = weights.read(&bundle)?;
        let executor = Arc::new(context.executor(bundle.manifest.num_ranks())?);
        let spinner = bars::spinner(context, &format!("{name}: compiling with XLA"));
        let mut generator = Generator::load(executor, &bundle, state)?;
        spinner.finish_and_clear();
        let mut teller = Teller::new(context, &self.prompt, request.samples, written)?;
        let texts = generator.generate(&request, &mut |sample, token| teller.hear(sample, token))?;
        teller.finish(texts)
    }

    fn sampling(&self) -> Sampling {
        if self.greedy {
            return Sampling::GREEDY;
        }
        Sampling { temperature: self.temperature, top_p: self.top_p }
    }
}

/// Writes a text as it comes, where it is the only one and people read it; all of them at the end otherwise.
struct Teller<'a> {
    prompt: &'a str,
    written: Written<'a>,
    streams: bool,
    /// The tokens that came so far of each sample, and how many bytes of the only one were told.
    tokens: Vec<Vec<i32>>,
    told: usize,
    /// The first error of decoding or writing.
    failed: Result<()>,
}

impl<'a> Teller<'a> {
    fn new(context: &Context, prompt: &'a str, samples: usize, written: Written<'a>) -> Result<Self> {
        let streams = samples == 1 && !context.json;
        let tokens = vec![Vec::new(); samples];
        let teller = Self { prompt, written, streams, tokens, told: 0, failed: Ok(()) };
        if streams {
            terminal::out(&readable(prompt))?;
        }
        Ok(teller)
    }

    /// Hears a token of a sample, and says whether that goes on.
    fn hear(&mut self, sample: usize, token: i32) -> ControlFlow<()> {
        self.tokens[sample].push(token);
        let told = self.tell(sample);
        if let Err(error) = told {
            self.failed = Err(error);
            return ControlFlow::Break(());
        }
        told.unwrap_or(ControlFlow::Break(()))
    }

    /// Writes what is new of the only sample, unless it ends within a character or within what may end it.
    fn tell(&mut self, sample: usize) -> Result<ControlFlow<()>> {
        let Written { stop, .. } = self.written;
        if !self.streams && stop.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        let text = self.written.whole(&self.tokens[sample])?;
        let cut = self.written.cut(&text);
        let is_ended = cut.len() < text.len();
        let whole = if is_ended { cut.len() } else { text.len() - held_back(&text, stop) };
        if let (true, Some(new)) = (self.streams, text.get(self.told..whole))
            && !new.ends_with(char::REPLACEMENT_CHARACTER)
        {
            terminal::out(&readable(new))?;
            self.told = whole;
        }
        Ok(if is_ended { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn finish(self, texts: Vec<Vec<i32>>) -> Result<Output> {
        let Self { prompt, written, streams, told, failed, .. } = self;
        failed?;
        let written = texts.iter().map(|tokens| written.of(tokens)).collect::<halite_support::Result<Vec<String>>>()?;
        let sample = |(tokens, text): (&Vec<i32>, &String)| json!({"text": text, "tokens": tokens});
        let samples: Vec<_> = texts.iter().zip(&written).map(sample).collect();
        let json = json!({"prompt": prompt, "samples": samples});
        let headed = |(number, text)| format!("── sample {number}\n{prompt}{text}\n");
        let text = if streams {
            readable(written[0].get(told..).unwrap_or_default()) + "\n"
        } else {
            written.iter().enumerate().map(headed).collect()
        };
        Ok(Output::verbatim(text, json))
    }
}

/// The number of bytes at the end of a text that may begin a stop text.
fn held_back(text: &str, stop: &[String]) -> usize {
    let begun = |stop: &String| {
        let lengths = stop.char_indices().map(|(at, _)| at).filter(|at| *at > 0 && text.ends_with(&stop[..*at]));
        lengths.max().unwrap_or(0)
    };
    stop.iter().map(begun).max().unwrap_or(0)
}

/// A text as it may be written: on a terminal, without what would control it.
fn readable(text: &str) -> String {
    match terminal::out_columns() {
        Some(_) => visible(text).to_string(),
        None => text.to_owned(),
    }
}
