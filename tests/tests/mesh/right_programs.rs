//! Right programs compile, whatever the layout and the recipe: none ends in a bug, and of nearly all it is proven what ranks hold.

use halite::Session;
use halite::compile::{CompileOptions, Replicas};
use halite_bundle::ModuleRole;
use halite_support::{Code, Diagnostics, Severity, codes};
use halite_test_kit::numeric::Random;
use halite_tests::meshes::{ALL_MODELS, Model};
use halite_tests::parallel::for_each;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("right_programs")
}

fn compile(input: &str, settings: &[String]) -> Result<Replicas, Diagnostics> {
    let mut session = Session::new();
    let source = session.load(input, settings)?;
    let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
    Ok(session.compile(&source, &options)?.replicas)
}

fn settings(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Programs that were refused once, each with what it takes.
const ONCE_REFUSED: [(&str, &str, &str); 12] = [
    (
        "a count that is a constant, accumulated by two",
        "sorted.hal",
        "batch=2 parallel.data=2 accumulate={steps=2,form=\"two\"}",
    ),
    (
        "the same where Neuron's targets take two by themselves",
        "sorted.hal",
        "batch=2 parallel.data=2 accumulate=2 target=trn1",
    ),
    ("a sort along what ranks share out", "sorted.hal", "batch=2 parallel.data=4"),
    (
        "a bias of positions, along the sequence",
        "position_bias.hal",
        "batch=2 parallel.data=1 parallel.tensor=2 parallel.sequence=true",
    ),
    ("sums over ranks in bf16", "tiny", "batch=2 precision=bf16 parallel.data=2"),
    (
        "sums over ranks in bf16 by themselves",
        "tiny",
        "batch=2 precision={recipe=\"mixed\",reduce=\"bf16\"} parallel.data=1 parallel.tensor=2",
    ),
    (
        "updates of shards, rounded at random, that are skipped",
        "tiny",
        "batch=2 precision=bf16-sr parallel.data=2 parallel.zero=1 nonfinite=\"skip\"",
    ),
    (
        "dropout of attention, one head on a rank and fewer key heads",
        "llama",
        "optimizer.sgd.lr=1e-3 batch=1 seq=8 layers=1 vocab=24 precision=fp32 parallel.data=1 ffn=24 heads=4 kv_heads=2 hidden=16 \
         attention_dropout=0.1 parallel.tensor=4",
    ),
    (
        "a window, and heads that ranks do not divide, along the sequence",
        "mistral",
        "optimizer.sgd.lr=1e-3 batch=1 seq=8 hidden=40 layers=1 ffn=24 vocab=37 head_dim=6 heads=5 kv_heads=1 window=4 parallel.data=1 \
         parallel.tensor=2 parallel.sequence=true",
    ),
    (
        "weights of another precision on several ranks",
        "tiny",
        "batch=1 precision=bf16 parallel.data=2 parallel.tensor=2 parallel.zero=1",
    ),
    ("sums over ranks in bf16, accumulated", "tiny", "batch=1 precision=bf16 parallel.data=2 accumulate=2 target=trn2"),
    (
        "metrics of several kinds, rounded at random",
        "../tests/data/reported.hal",
        "batch=4 precision=bf16-sr parallel.data=1 parallel.tensor=4 parallel.sequence=true",
    ),
];

#[test]
fn programs_that_were_refused_once_compile() {
    let wrong = |(what, input, text): &(&str, &str, &str)| {
        let own = folder().join(input);
        let input = if own.exists() { own.display().to_string() } else { (*input).to_owned() };
        let given = if text.contains("optimizer") {
            settings(text)
        } else {
            settings(&format!("optimizer.adamw.lr=1e-3 {text}"))
        };
        match compile(&input, &given) {
            Ok(Replicas::Proven) => None,
            other => Some(format!("{what}: {other:?}")),
        }
    };
    let wrong: Vec<String> = for_each(&ONCE_REFUSED, wrong).into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Expressions in which a sum stands beside constants, or beside what is not linear.
const EXPRESSIONS: [&str; 16] = [
    "return loss + 1e-5, count",
    "return loss, count + 1e-5",
    "return loss, maximum(count, 1.0)",
    "return loss, full([], batch * seq)",
    "return loss / maximum(count, 1.0), full([], 1)",
    "loss more = 1.0 - mean(logits), weight = 0.1\n return loss, count",
    "loss more = sqrt(mean(logits * logits) + 1e-6), weight = 0.1\n return loss, count",
    "loss more = (mean(logits) - 0.5) ** 2, weight = 0.1\n return loss, count",
    "loss more = maximum(0.5 - mean(logits), 0), weight = 0.1\n return loss, count",
    "loss more = sum(h) + 1.0 + 2.0, weight = 0.1\n return loss, count",
    "loss more = sum(h) * 0.0 + 3.0, weight = 0.1\n return loss, count",
    "loss more = mean(h) + sum(table * table), weight = 0.1\n return loss, count",
    "loss more = sum(table * table) + 1.0, weight = 0.1\n return loss, count",
    "loss more = mean(h) / (sum(table * table) + 1.0), weight = 0.1\n return loss, count",
    "metric more = abs(mean(h) - 0.25)\n return loss, count",
    "metric more = sum(h), over = sum(h * h) + 2.0\n return loss, count",
];

const LAYOUTS: [&str; 6] = [
    "parallel.data=2",
    "parallel.data=2 parallel.zero=1 accumulate=2",
    "parallel.data=2 parallel.tensor=2",
    "parallel.data=1 parallel.tensor=2 parallel.sequence=true",
    "parallel.data=2 parallel.tensor=2 parallel.sequence=true parallel.zero=1",
    "parallel.data=2 accumulate={steps=2,form=\"two\"}",
];

#[test]
fn constants_beside_sums_are_added_once() {
    let template = std::fs::read_to_string(folder().join("constants.hal")).expect("it is in the repository");
    let made = tempfile::tempdir().expect("a temporary folder");
    let path = |at: usize| made.path().join(format!("constants_{at}.hal"));
    for (at, expression) in EXPRESSIONS.iter().enumerate() {
        std::fs::write(path(at), template.replace("EXPRESSION", expression)).expect("it can be written");
    }
    let cases: Vec<(usize, &str)> = (0..EXPRESSIONS.len()).flat_map(|at| LAYOUTS.map(|layout| (at, layout))).collect();
    let wrong = |&(at, layout): &(usize, &str)| {
        let given = settings(&format!("optimizer.adamw.lr=1e-3 batch=2 precision=fp32 {layout}"));
        let found = compile(&path(at).display().to_string(), &given);
        (!matches!(found, Ok(Replicas::Proven))).then(|| format!("`{}` on `{layout}`: {found:?}", EXPRESSIONS[at]))
    };
    let wrong: Vec<String> = for_each(&cases, wrong).into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A recipe of the search, drawn by its number.
struct Drawn {
    model: Model,
    settings: Vec<String>,
}

impl Drawn {
    fn new(number: usize) -> Self {
        let mut random = Random::new(number as u64);
        let mut below = |limit: usize| random.below(limit);
        let mut one = |of: &[&str]| of[below(of.len())].to_owned();
        let tensor = one(&["1", "2", "4", "8"]);
        let settings = vec![
            "optimizer.adamw.lr=1e-3".to_owned(),
            format!("batch={}", one(&["1", "2"])),
            format!("parallel.data={}", one(&["1", "2", "4"])),
            format!("parallel.sequence={}", if tensor == "1" { "false".to_owned() } else { one(&["false", "true"]) }),
            format!("parallel.tensor={tensor}"),
            format!("parallel.zero={}", one(&["0", "1"])),
            format!(
                "precision={}",
                one(&["fp32", "mixed", "bf16", "bf16-sr", "fp64", "{recipe=\"mixed\",reduce=\"bf16\"}"])
            ),
            format!("accumulate={}", one(&["1", "2", "{steps=2,form=\"two\"}"])),
            format!("recompute={}", one(&["[]", "[\"attention\"]", "[\"block\"]", "[\"dots\"]"])),
            format!("nonfinite={}", one(&["\"skip\"", "\"stop\""])),
            format!("target={}", one(&["cpu", "cpu", "trn1", "trn2"])),
        ];
        Self { model: ALL_MODELS[below(ALL_MODELS.len())], settings }
    }

    fn compile(&self) -> Result<Replicas, Diagnostics> {
        let (name, sizes) = self.model;
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
        let input = if name.ends_with(".hal") { models.join(name).display().to_string() } else { name.to_owned() };
        compile(&input, &[&self.settings[..], &sizes.iter().map(ToString::to_string).collect::<Vec<_>>()].concat())
    }

    fn show(&self, found: &impl std::fmt::Debug) -> String {
        format!("{:?} {}: {found:?}", self.model, self.settings.join(" "))
    }
}

/// Why a recipe may be refused: keys that clash, and what a target does not take.
const REFUSALS: [Code; 2] = [codes::RECIPE_CLASH, codes::ILLEGAL];

fn are_refusals(errors: &Diagnostics) -> bool {
    let mut serious = errors.iter().filter(|error| error.severity() >= Severity::Error);
    serious.all(|error| error.severity() == Severity::Error && REFUSALS.contains(&error.code()))
}

/// In CI some hundreds of recipes, with `HALITE_RIGHT_PROGRAMS` so many.
#[test]
fn recipes_at_random_compile() {
    let count = std::env::var("HALITE_RIGHT_PROGRAMS").map_or(300, |count| count.parse().expect("a number"));
    let numbers: Vec<usize> = (0..count).collect();
    let tried = for_each(&numbers, |&number| {
        let drawn = Drawn::new(number);
        match drawn.compile() {
            Ok(replicas @ Replicas::NotFollowed(_)) => (Some(drawn.show(&replicas)), None),
            Ok(_) => (None, None),
            Err(errors) if are_refusals(&errors) => (None, None),
            Err(errors) => (None, Some(drawn.show(&errors))),
        }
    });
    let (unproven, wrong): (Vec<_>, Vec<_>) = tried.into_iter().unzip();
    let (unproven, wrong): (Vec<String>, Vec<String>) =
        (unproven.into_iter().flatten().collect(), wrong.into_iter().flatten().collect());
    println!("{count} recipes: {} not followed\n{}", unproven.len(), unproven.join("\n"));
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(unproven.len() * 20 <= count, "more than 1 of 20 not followed:\n{}", unproven.join("\n"));
}
