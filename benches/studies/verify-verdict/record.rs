//! Records the errors of programs that are right: 12 models, 4 precisions, 20 draws of inputs each.
//!
//! `cargo run -p halite-benches --example record-residuals -- residuals.txt` writes the file, or goes on with what it has.
//!
//! A line is one result of one model and precision: their names, and for each draw the error of the optimized program and
//! that of the unoptimized one, in units of roundoff (as `halite_verify::verdict::Residual` defines them).

use halite::Session;
use halite_runtime::{ClientOptions, Executor, Pjrt, find_plugin};
use halite_support::Diagnostics;
use halite_verify::verdict::Residual;
use halite_verify::{Study, VerifyOptions};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

const DRAWS: u64 = 20;

const PRECISIONS: [&str; 4] = ["mixed", "fp32", "bf16-sr", "bf16"];

/// A name, the model's file and its settings.
const MODELS: [(&str, &str, &str); 12] = [
    ("tiny", "llama", "vocab=256 hidden=64 layers=2 heads=4 kv_heads=2 ffn=176 seq=64 batch=8 optimizer.adamw.lr=5e-3"),
    ("llama-7b", "llama", "hidden=4096 heads=32 kv_heads=32 ffn=11008 layers=1"),
    ("llama-one-kv-head", "llama", "hidden=512 heads=8 kv_heads=1 ffn=1376 layers=1"),
    ("llama-narrow", "llama", "vocab=256 hidden=6 layers=2 heads=3 kv_heads=3 ffn=16"),
    ("llama3-8b", "llama3", "hidden=4096 heads=32 kv_heads=8 ffn=14336 layers=1"),
    ("llama3-3b-tied", "llama3", "hidden=3072 heads=24 kv_heads=8 ffn=8192 tied=true"),
    ("mistral-grouped", "mistral", "hidden=2048 heads=32 kv_heads=16 ffn=8192 layers=1"),
    ("mistral-short", "mistral", "vocab=64 hidden=32 layers=1 heads=4 kv_heads=2 ffn=48 seq=8 batch=1"),
    ("qwen2-7b", "qwen2", "hidden=3584 heads=28 kv_heads=4 ffn=18944 layers=1"),
    ("qwen2-0.5b-tied", "qwen2", "vocab=151936 hidden=896 layers=24 heads=14 kv_heads=2 ffn=4864 tied=true"),
    ("gpt2", "gpt2", "layers=1"),
    ("gpt2-narrow", "gpt2", "vocab=64 hidden=16 layers=2 heads=2 positions=16 seq=16 batch=4"),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("which file to write?")?;
    let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
    let written = std::fs::read_to_string(&path)?;
    let executor: Arc<dyn Executor> = Arc::new(Pjrt::open(&find_plugin(None)?, &ClientOptions::default())?);
    let all = PRECISIONS.iter().flat_map(|precision| MODELS.iter().map(move |model| (precision, model)));
    for (precision, (name, model, settings)) in all {
        if written.lines().any(|line| line.starts_with(&format!("{name} {precision} "))) {
            continue;
        }
        let recorded = record(model, settings, precision, &executor).map_err(|errors| errors[0].clone())?;
        let mut lines = String::new();
        for (result, residuals) in recorded {
            let columns: Vec<_> = residuals.iter().map(column).collect();
            lines += &format!("{name} {precision} {result} {}\n", columns.join(" "));
        }
        file.write_all(lines.as_bytes())?;
    }
    Ok(())
}

/// The errors of each result, by draws. Small models keep their size, large ones are scaled down.
fn record(
    model: &str,
    settings: &str,
    precision: &str,
    executor: &Arc<dyn Executor>,
) -> Result<BTreeMap<String, Vec<Residual>>, Diagnostics> {
    let mut session = Session::new();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../models/{model}.hal"));
    let common = ["seq=1024", "batch=1", "optimizer.adamw.lr=1e-4"].map(str::to_owned);
    let mut settings: Vec<String> = common.into_iter().chain(settings.split_whitespace().map(str::to_owned)).collect();
    settings.push(format!("precision={precision}"));
    let source = session.load(&path.to_string_lossy(), &settings)?;
    let options = VerifyOptions::default();
    let study = Study::new(&session, &source, &options, executor.clone())?;
    let mut recorded: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for draw in study.residuals(study.pipeline(), DRAWS)? {
        for (result, residual) in draw {
            recorded.entry(result).or_default().push(residual);
        }
    }
    Ok(recorded)
}

fn column(residual: &Residual) -> String {
    let Residual { optimized, unoptimized, roundoff } = *residual;
    format!("{}/{}", two_digits(optimized / roundoff), two_digits(unoptimized / roundoff))
}

/// The number with two significant digits; nothing over nothing is nothing.
fn two_digits(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { format!("{value:.1e}").parse().unwrap_or(value) }
}
