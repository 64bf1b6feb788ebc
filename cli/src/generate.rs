//! `halite generate`.

use crate::bars;
use crate::context::{Context, Output, Result};
use crate::learned::{Learned, tokenizer};
use crate::terminal;
use clap::Args;
use halite_data::{Marks, Tokenizer, known_ends};
use halite_recipe::DataTable;
use halite_report::visible;
use halite_support::{Diagnostic, codes};
use halite_train::{Generator, Request, Sampling};
use serde_json::json;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Generate text from a prompt.
///
/// INPUT is a bundle with the role `forward`, or what `halite compile` takes. The text is written as it comes, the prompt first; equal inputs and seeds
/// give equal texts. Each token is computed from the last `seq` tokens anew, without a cache of keys and values, and so takes as long
/// as a whole sequence: this is to look at what was learned, not to serve a model.
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
    /// Run, checkpoint, bundle, preset, recipe or model file.
    input: String,
    #[command(flatten)]
    learned: Learned,
    /// The prompt.
    #[arg(long, value_name = "TEXT")]
    prompt: String,
    /// `bytes`, or a tokenizer.json of Hugging Face [default: that of the recipe's data, else bytes].
    #[arg(long, value_name = "NAME")]
    tokenizer: Option<String>,
    /// Stop a sample at this text, which is left out; may be repeated. The token that ends documents stops it too.
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
    /// Number of samples; as many as the batch has sequences run at once.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Override a key of the recipe or of the model.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl Generate {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let sampling = self.sampling();
        sampling.check()?;
        let (name, ready) = context.ready(&self.input, &self.set)?;
        context.show(&ready.warnings);
        let (bundle, origin) = self.learned.of(context, ready)?;
        let (tokenizer, vocabulary) = (tokenizer(self.tokenizer.as_deref(), &bundle)?, Generator::vocabulary(&bundle)?);
        let tokenizer = tokenizer.as_ref();
        check_vocabulary(tokenizer, vocabulary)?;
        let Marked { bos, ends } = Marked::of(tokenizer, bundle.manifest.recipe.data.as_ref())?;
        let mut prompt = tokenizer.encode(&self.prompt)?;
        if let Some(bos) = bos.filter(|bos| prompt.first() != Some(bos)) {
            prompt.insert(0, bos);
        }
        let is_allowed = |id: i32| tokenizer.has(id) || ends.contains(&id);
        let request = Request {
            prompt,
            allowed: Some((0..).take(vocabulary).map(is_allowed).collect()),
            ends,
            tokens: self.tokens as usize,
            samples: self.samples as usize,
            sampling,
            seed: self.seed,
        };
        request.check(vocabulary)?;
        let state = origin.read(&bundle)?;
        let executor = Arc::new(context.executor(bundle.manifest.mesh.num_ranks())?);
        let spinner = bars::spinner(context, &format!("{name}: compiling with XLA"));
        let mut generator = Generator::load(executor, &bundle, state)?;
        spinner.finish_and_clear();
        let mut teller = Teller::new(context, &self.prompt, request.samples, tokenizer, &self.stop)?;
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

/// How texts begin and end.
struct Marked {
    bos: Option<i32>,
    ends: Vec<i32>,
}

impl Marked {
    /// As documents do in the data of a recipe. Where it has none, nobody knows which of the ends that are known the model learned: any.
    fn of(tokenizer: &dyn Tokenizer, data: Option<&DataTable>) -> Result<Self> {
        let Some(data) = data else {
            let ends = match tokenizer.stated_end()?.and_then(|end| tokenizer.id(&end)) {
                Some(end) => vec![end],
                None => known_ends(tokenizer).into_iter().map(|(_, id)| id).collect(),
            };
            return Ok(Self { bos: None, ends });
        };
        let Marks { bos, eos, .. } = Marks::of(tokenizer, data.bos.as_deref(), data.eos.as_deref())?;
        Ok(Self { bos, ends: eos.into_iter().collect() })
    }
}

/// Refuses a tokenizer with ids that the model does not know.
fn check_vocabulary(tokenizer: &dyn Tokenizer, known: usize) -> Result<()> {
    let needed = tokenizer.vocabulary();
    if needed <= known as u64 {
        return Ok(());
    }
    let message = format!("the model knows {known} tokens, the tokenizer has {needed}");
    let error = Diagnostic::error(codes::TEXT, message);
    Err(error.help(format!("give a model with `vocab` of at least {needed}")).into())
}

/// Writes a text as it comes, where it is the only one and people read it; all of them at the end otherwise.
struct Teller<'a> {
    prompt: &'a str,
    tokenizer: &'a dyn Tokenizer,
    /// What ends texts.
    stop: &'a [String],
    streams: bool,
    /// The tokens that came so far of each sample, and how many bytes of the only one were written.
    tokens: Vec<Vec<i32>>,
    written: usize,
    /// What could not be decoded or written.
    failed: Result<()>,
}

impl<'a> Teller<'a> {
    fn new(
        context: &Context,
        prompt: &'a str,
        samples: usize,
        tokenizer: &'a dyn Tokenizer,
        stop: &'a [String],
    ) -> Result<Self> {
        let streams = samples == 1 && !context.json;
        let tokens = vec![Vec::new(); samples];
        let teller = Self { prompt, tokenizer, stop, streams, tokens, written: 0, failed: Ok(()) };
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
        if !self.streams && self.stop.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        let text = decoded(self.tokenizer, &self.tokens[sample])?;
        let cut = cut(&text, self.stop);
        let is_ended = cut.len() < text.len();
        let whole = if is_ended { cut.len() } else { text.len() - held_back(&text, self.stop) };
        if let (true, Some(new)) = (self.streams, text.get(self.written..whole))
            && !new.ends_with(char::REPLACEMENT_CHARACTER)
        {
            terminal::out(&readable(new))?;
            self.written = whole;
        }
        Ok(if is_ended { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn finish(self, texts: Vec<Vec<i32>>) -> Result<Output> {
        let Self { prompt, tokenizer, stop, streams, written: told, failed, .. } = self;
        failed?;
        let text = |tokens: &Vec<i32>| Ok(cut(&decoded(tokenizer, tokens)?, stop).to_owned());
        let written = texts.iter().map(text).collect::<halite_support::Result<Vec<String>>>()?;
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

/// The text of tokens, those left out that no text is made of.
fn decoded(tokenizer: &dyn Tokenizer, tokens: &[i32]) -> halite_support::Result<String> {
    let of_text: Vec<i32> = tokens.iter().copied().filter(|id| !tokenizer.is_special(*id)).collect();
    tokenizer.decode(&of_text)
}

/// A text up to the first of what ends it.
fn cut<'t>(text: &'t str, stop: &[String]) -> &'t str {
    let end = stop.iter().filter_map(|stop| text.find(stop.as_str())).min();
    &text[..end.unwrap_or(text.len())]
}

/// How many bytes at the end of a text may be the beginning of what ends it.
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
