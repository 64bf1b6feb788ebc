//! Verdicts of verification on programs that are right, and on those that cannot be judged.

#![allow(clippy::unwrap_used, reason = "this is test code")]
#![allow(clippy::print_stdout, reason = "what was measured is part of the output of a test")]

use halite::Session;
use halite::source::Source;
use halite_test_kit::numeric::Random;
use halite_test_kit::xla;
use halite_verify::verdict::{FALSE_ALARM, Judged, Residual, judge};
use halite_verify::{Outcome, Study, VerifyOptions, VerifyRow};
use std::collections::BTreeMap;
use std::convert::Infallible;

/// Models of which single draws are above their bounds, at the sizes of real ones, which verification scales down.
const QWEN2: (&str, &str) =
    ("qwen2", "vocab = 151936, hidden = 896, layers = 24, heads = 14, kv_heads = 2, ffn = 4864, tied = true");
const LLAMA3: (&str, &str) =
    ("llama3", "hidden = 3072, layers = 28, heads = 24, kv_heads = 8, ffn = 8192, tied = true");
const NARROW: (&str, &str) = ("llama", "vocab = 256, hidden = 6, layers = 1, heads = 3, kv_heads = 3, ffn = 16");

/// A recipe without clipping, so that errors of the step show undivided.
fn load((model, config): (&str, &str), precision: &str, session: &mut Session) -> Source {
    let text = format!(
        "halite = 1\nbatch = 1\nseq = 1024\nprecision = \"{precision}\"\n\
         [model]\nname = \"{model}\"\nconfig = {{ {config} }}\n[optimizer.adamw]\nlr = 1e-4\n"
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recipe.toml");
    std::fs::write(&path, text).unwrap();
    session.load(path.to_str().unwrap(), &[]).unwrap()
}

/// The seeds: one, or as many as `HALITE_VERDICT_SEEDS` says.
fn seeds() -> std::ops::Range<u64> {
    let variable = std::env::var("HALITE_VERDICT_SEEDS").ok();
    0..variable.map_or(1, |text| text.parse().expect("`HALITE_VERDICT_SEEDS` is a whole number"))
}

fn is_right(model: (&str, &str), precision: &str) {
    let mut session = Session::new();
    let source = load(model, precision, &mut session);
    let options = VerifyOptions::default();
    let study = Study::new(&session, &source, &options, xla::executor()).unwrap();
    for (rows, seed) in study.verify_seeds(study.pipeline(), seeds()).unwrap().iter().zip(seeds()) {
        let wrong: Vec<_> = rows.iter().filter(|row| !row.passed()).collect();
        assert!(wrong.is_empty(), "{}, {precision}, seed {seed}: {wrong:#?}", model.0);
    }
}

#[test]
fn qwen2_in_mixed_is_right() {
    is_right(QWEN2, "mixed");
}

#[test]
fn qwen2_in_fp32_is_right() {
    is_right(QWEN2, "fp32");
}

#[test]
fn llama3_in_mixed_is_right() {
    is_right(LLAMA3, "mixed");
}

#[test]
fn llama3_in_fp32_is_right() {
    is_right(LLAMA3, "fp32");
}

#[test]
fn narrow_llama_in_mixed_is_right() {
    is_right(NARROW, "mixed");
}

#[test]
fn narrow_llama_in_fp32_is_right() {
    is_right(NARROW, "fp32");
}

/// The errors of right programs as the study recorded them: for each model and precision, those of its results by draw.
fn recorded() -> Vec<Vec<Vec<Residual>>> {
    let text = include_str!("../../../benches/studies/verify-verdict/residuals.txt");
    let mut programs: BTreeMap<(&str, &str), Vec<Vec<Residual>>> = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        let mut word = || words.next().unwrap();
        let (model, precision, _) = (word(), word(), word());
        let results = words.map(|pair| {
            let (optimized, unoptimized) = pair.split_once('/').unwrap();
            let number = |text: &str| text.parse::<f64>().unwrap();
            Residual { optimized: number(optimized), unoptimized: number(unoptimized), roundoff: 1.0 }
        });
        let draws = programs.entry((model, precision)).or_default();
        for (draw, residual) in results.enumerate() {
            if draws.len() <= draw {
                draws.push(Vec::new());
            }
            draws[draw].push(residual);
        }
    }
    programs.into_values().collect()
}

/// Verdicts of draws of what was recorded, with repetition: at most one in 10,000 calls a right program wrong.
/// `HALITE_VERDICTS` says how many to make.
#[test]
fn right_programs_are_called_wrong_as_seldom_as_stated() {
    let variable = std::env::var("HALITE_VERDICTS").ok();
    let count: usize = variable.map_or(20_000, |text| text.parse().expect("`HALITE_VERDICTS` is a whole number"));
    let programs = recorded();
    assert_eq!(programs.len(), 48, "12 models in 4 precisions");
    assert!(programs.iter().all(|draws| draws.len() == 20), "each program has 20 draws");
    let mut random = Random::new(1);
    let (mut false_alarms, mut doubtful, mut draws) = (0, 0, 0);
    for number in 0..count {
        let program = &programs[number % programs.len()];
        let judged = judge(1, |_| {
            draws += 1;
            Ok::<_, Infallible>(program[random.below(program.len())].clone())
        });
        let is = |test: fn(&Judged) -> bool| judged.as_ref().unwrap().iter().any(test);
        false_alarms += usize::from(is(|judged| judged.outcome.is_wrong()));
        doubtful += usize::from(is(|judged| judged.outcome == Outcome::Cleared));
        assert!(!is(|judged| judged.outcome == Outcome::NotFinite), "what was recorded is finite");
    }
    let figures = format!("{false_alarms} false alarms, {doubtful} with results in doubt, {draws} draws");
    println!("{} programs, {count} verdicts: {figures}", programs.len());
    assert!(doubtful * 50 > count && draws < 2 * count, "one draw leaves few results in doubt: {figures}");
    assert!(false_alarms as f64 <= FALSE_ALARM * count as f64, "{figures}");
}

/// A model that overflows in `f32`, so that its unoptimized program has no numbers to compare with.
const OVERFLOW: &str = "\
model overflow {
  config {
    vocab = 8
    hidden = 4
    batch = 2
    seq = 4
  }
  fn main(tokens: s32[batch, seq + 1]) {
    param table: [vocab, hidden] = normal(0.02)
    x = embedding(tokens[:, :seq], table) * 1e30
    logits = linear(x * 1e30, table)
    output logits
    loss, count = cross_entropy(logits, tokens[:, 1:])
    return loss, count
  }
}
";

/// Nobody is blamed for what is not finite without optimizations either.
#[test]
fn what_has_no_finite_reference_is_not_judged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("overflow.hal");
    std::fs::write(&path, OVERFLOW).unwrap();
    let mut session = Session::new();
    let settings = ["batch=2", "seq=4", "precision=fp32"].map(str::to_owned);
    let source = session.load(path.to_str().unwrap(), &settings).unwrap();
    let options = VerifyOptions::default();
    let study = Study::new(&session, &source, &options, xla::executor()).unwrap();
    let report = study.verify(study.pipeline()).unwrap();
    assert!(!report.passed() && !report.rows.iter().any(VerifyRow::is_wrong), "{report:#?}");
    let not_finite: Vec<_> = report.not_finite().collect();
    assert!(not_finite.contains(&"loss") && not_finite.contains(&"table"), "{not_finite:?}");
    let each = study.each_pass(study.pipeline(), &mut |_, _| {}).unwrap();
    assert!(!each.passed() && each.culprit.is_none(), "{each:#?}");
    assert_eq!(each.not_finite, not_finite);
    assert_eq!(study.bisect(study.pipeline()).unwrap(), None);
}
