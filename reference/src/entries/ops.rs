//! The primitives of the IR.

use super::sample::{self, Gradient};
use crate::entry::{Entry, Kind};
use crate::markdown::fenced;
use halite::Session;
use halite_ir::{InferCx, Op, OpDef, Registry, Sample};
use halite_support::Result;
use halite_support::doc::{first_sentence, paragraphs};
use halite_tensor::DType;

/// Ops that need a function of the module, so that no instruction of them stands alone, each in one.
const WITH_FUNCTIONS: [(&str, &str); 3] = [
    (
        "call",
        "\
func @double(%x: f32[4]) -> (f32[4]) {
  %y = add %x, %x : f32[4]
  return %y
}

func @main(%x: f32[4]) -> (f32[4]) {
  %y = call %x {callee = @double} : f32[4]
  return %y
}",
    ),
    (
        "call_with_gradient",
        "\
func @clipped(%x: f32[4], %ct: f32[4]) -> (f32[4], f32[4]) {
  %low = constant -1.0 : f32[4]
  %high = constant 1.0 : f32[4]
  %gradient = clamp %low, %ct, %high : f32[4]
  return %x, %gradient
}

func @main(%x: f32[4]) -> (f32[4]) {
  %any = constant 0.0 : f32[4]
  %y, %unread = call_with_gradient %x, %any {callee = @clipped, values = 1} : f32[4], f32[4]
  return %y
}",
    ),
    (
        "kernel_call",
        "\
func @double(%x: f32[4]) -> (f32[4]) {
  %y = add %x, %x : f32[4]
  return %y
}

func @main(%x: f32[4]) -> (f32[4]) {
  %y = kernel_call %x {target = Doubler, config = \"\", decomposition = @double} : f32[4]
  return %y
}",
    ),
];

pub(crate) fn entries(session: &Session) -> Result<Vec<Entry>> {
    Op::primitives().iter().map(|op| entry(op, session)).collect()
}

fn entry(op: &Op, session: &Session) -> Result<Entry> {
    let def = op.def();
    let about = paragraphs(def.about());
    let mut body = format!("{about}\n");
    let fields = def.fields().iter().map(|(name, doc)| format!("- `{name}`: {}", paragraphs(doc).replace('\n', " ")));
    let fields: Vec<String> = fields.collect();
    if !fields.is_empty() {
        body.push_str(&format!("\nAttributes:\n\n{}\n", fields.join("\n")));
    }
    let samples = def.samples(DType::F32);
    body.push_str(&match samples.first() {
        Some(first) => derived(def, first, &samples, session)?,
        None => without_sample(def),
    });
    Ok(Entry::new(Kind::Op, def.name(), first_sentence(&about), body))
}

fn derived(def: &dyn OpDef, first: &Sample, samples: &[Sample], session: &Session) -> Result<String> {
    let registry = &session.registry;
    let cost = sample::cost(first, registry)?;
    let facts = [
        format!("types, for example: {}", types(samples, registry)?),
        format!("precision: {}", sample::policy(&def.policy(&InferCx { functions: &[], registry }))),
        format!("cost of the example: {} FLOPs, {} bytes", cost.flops, cost.bytes),
    ];
    let facts = facts.map(|fact| format!("- {fact}")).join("\n");
    let ir = fenced("text", &sample::instruction(first, registry)?);
    let gradient = gradient(first, registry)?;
    let hlo = fenced("text", &sample::hlo(first, session)?);
    Ok(format!("\n{facts}\n\nAn instruction:\n\n{ir}\n\n{gradient}\n\nIn HLO:\n\n{hlo}\n"))
}

/// The different types of samples, three at most.
pub(super) fn types(samples: &[Sample], registry: &Registry) -> Result<String> {
    let mut all: Vec<String> = Vec::new();
    for sample in samples {
        let types = sample::types(sample, registry)?;
        if all.len() < 3 && !all.contains(&types) {
            all.push(types);
        }
    }
    Ok(all.join("; "))
}

/// Describes the gradient of a sample, in Markdown.
pub(super) fn gradient(first: &Sample, registry: &Registry) -> Result<String> {
    Ok(match sample::gradient(first, registry)? {
        Gradient::Function(text) => {
            format!("Its gradient, from operands `x` and cotangents `ct`:\n\n{}", fenced("text", &text))
        }
        Gradient::Zero => "Its gradient is zero.".to_owned(),
        Gradient::None(reason) => format!("It has no gradient: {reason}."),
    })
}

fn without_sample(def: &dyn OpDef) -> String {
    let example = WITH_FUNCTIONS.iter().find(|(name, _)| *name == def.name());
    example.map_or_else(String::new, |(_, text)| format!("\nIn a module:\n\n{}\n", fenced("text", text)))
}
