//! Programs of others become models, or are refused with what is wrong.

#![allow(clippy::unwrap_used, reason = "tests")]

mod models;
mod refused;
mod roles;
mod stacks;

use halite_hlo::CheckedHlo;
use halite_import::{Input, InputRole, Output, OutputRole, Program, Signature};
use halite_support::{Diagnostics, SourceFile};
use halite_tensor::Init;

/// The program of a text.
fn hlo(text: &str) -> CheckedHlo {
    halite_stablehlo::read(&SourceFile::new("test.mlir", text)).unwrap_or_else(|faults| panic!("{faults}\n{text}"))
}

/// A program with parameters, of which those before `|` are data, and results, of which the first is the objective.
fn program(text: &str, inputs: &str, outputs: &[&str]) -> Result<Program, Diagnostics> {
    let (data, weights) = inputs.split_once('|').unwrap_or((inputs, ""));
    let role = |role| move |name: &str| Input { name: name.to_owned(), role };
    let data = data.split_whitespace().map(role(InputRole::Batch));
    let inputs = data.chain(weights.split_whitespace().map(role(InputRole::Weight(Init::Ones)))).collect();
    let roles = |name: &&str| match *name {
        "loss" => OutputRole::Loss,
        "count" => OutputRole::Count,
        _ => OutputRole::Shown,
    };
    let outputs = outputs.iter().map(|name| Output { name: (*name).to_owned(), role: roles(name) }).collect();
    Program::new("test", hlo(text), Signature { inputs, outputs, causal: false })
}
