//! Trains `tiny` from Rust: compiles in memory, trains on the CPU, stops, and resumes where it stopped.
//!
//! `cargo run -p halite-train --example embed_train`; `halite plugin install` fetches the PJRT plugin for the CPU.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use halite::Session;
use halite::compile::CompileOptions;
use halite::support::{Diagnostic, Diagnostics, codes};
use halite::tensor::{DType, HostTensor};
use halite_train::TrainStep;
use halite_train::runtime::{ClientOptions, Pjrt, find_plugin};
use std::process::ExitCode;
use std::sync::Arc;

/// Updates before the stop, and after it.
const UPDATES: [u64; 2] = [20, 20];

fn main() -> ExitCode {
    // XLA writes lines to the standard error of its host unless it is told not to, before anything else runs.
    halite_train::runtime::silence_xla_log();
    match train() {
        Ok(losses) => {
            let (first, last) = (losses[0], losses[losses.len() - 1]);
            println!("the loss went from {first:.3} to {last:.3} in {} updates", losses.len());
            if last < first { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(errors) => {
            errors.iter().for_each(|error| println!("{error}\n  {}", error.remedy()));
            ExitCode::FAILURE
        }
    }
}

/// The loss of each update.
fn train() -> Result<Vec<f64>, Diagnostics> {
    // A recipe and its model become one training step, in memory.
    let mut session = Session::new();
    let source = session.load("tiny", &[])?;
    let bundle = session.compile(&source, &CompileOptions::default())?.bundle;

    // Any PJRT plugin runs it.
    let executor = open()?;
    let mut step = TrainStep::load(executor, &bundle)?;
    step.init_state(7)?;
    let mut losses = Vec::new();
    for update in 0..UPDATES[0] {
        losses.push(step.step(&batch(&step, update))?.loss());
    }

    // The state stays on the device until it is asked for.
    let folder = tempfile::tempdir().map_err(|error| Diagnostic::error(codes::FILE, error.to_string()))?;
    let path = folder.path().join("state.safetensors");
    step.save_state(&path)?;

    // Another run of the same step, from the file.
    let mut resumed = step.fork();
    resumed.load_state(&path)?;
    for update in resumed.completed()..UPDATES.iter().sum() {
        losses.push(resumed.step(&batch(&resumed, update))?.loss());
    }

    // The first run, had it gone on, would have come the same way, bit for bit.
    assert_eq!(step.step(&batch(&step, UPDATES[0]))?.loss(), losses[UPDATES[0] as usize]);

    // The trained weights, under the names of the model.
    for (name, weight) in resumed.weights()?.iter().take(3) {
        println!("{name}: {}{}", weight.dtype(), weight.shape());
    }
    Ok(losses)
}

/// The plugin of the CPU. Another is opened by its path, with the options that it knows.
fn open() -> Result<Arc<Pjrt>, Diagnostic> {
    let plugin = find_plugin(None)?;
    Ok(Arc::new(Pjrt::open(&plugin, &ClientOptions::cpu(1))?))
}

/// Tokens of one update: bytes of a text, from places that move on with the updates.
fn batch(step: &TrainStep, update: u64) -> HostTensor {
    let text = "It is a truth universally acknowledged, that a single man in possession of a good fortune must be in want of a wife. ";
    let text = text.repeat(20).into_bytes();
    let shape: Vec<usize> = step.fed().flat_map(|tokens| tokens.shape.clone()).collect();
    let (rows, width) = (shape[0], shape[1]);
    let row = |row| {
        let start = (update as usize * rows + row) * 97 % (text.len() - width);
        text[start..start + width].iter().map(|byte| i128::from(*byte))
    };
    HostTensor::from_ints(DType::S32, [rows, width], (0..rows).flat_map(row))
}
