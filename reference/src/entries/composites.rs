//! The composites of a session.

use super::ops::{gradient, types};
use super::sample;
use crate::entry::{Entry, Kind};
use crate::markdown::fenced;
use halite::Session;
use halite_ir::{Attr, AttrSpec, CompositeDef, Registry, Sample};
use halite_support::Result;
use halite_support::doc::{first_sentence, paragraphs};
use halite_tensor::DType;

pub(crate) fn entries(session: &Session) -> Result<Vec<Entry>> {
    session.registry.composites().map(|def| entry(&**def, &session.registry)).collect()
}

fn entry(def: &dyn CompositeDef, registry: &Registry) -> Result<Entry> {
    let about = paragraphs(def.about());
    let schema = def.schema();
    let mut body = format!("{about}\n\nIt takes {}.\n", def.operands());
    if !schema.is_empty() {
        let lines: Vec<String> = schema.iter().map(attribute).collect();
        body.push_str(&format!("\nAttributes, by name after the operands:\n\n{}\n", lines.join("\n")));
    }
    body.push_str(&derived(def, registry)?);
    let entry = Entry::new(Kind::Composite, def.name(), first_sentence(&about), body);
    Ok(entry)
}

fn attribute(spec: &AttrSpec) -> String {
    let default = spec
        .default
        .as_ref()
        .map_or_else(|| "required".to_owned(), |value| format!("`{}` by default", value_text(value)));
    format!("- `{}`: {} ({default})", spec.name, spec.doc)
}

/// The value of an attribute as models write it; kinds that models cannot write have no default.
fn value_text(value: &Attr) -> String {
    match value {
        Attr::Int(value) => value.to_string(),
        Attr::Real(value) => format!("{:?}", value.0),
        Attr::Bool(value) => value.to_string(),
        Attr::Word(value) => format!("\"{value}\""),
        Attr::Ints(values) => format!("{:?}", values.as_slice()),
        other => format!("{other:?}"),
    }
}

fn derived(def: &dyn CompositeDef, registry: &Registry) -> Result<String> {
    let samples = def.samples(DType::F32);
    let precision = format!("- precision: {}", sample::policy(&def.policy()));
    let Some(first) = samples.first() else { return Ok(format!("\n{precision}\n")) };
    let cost = sample::cost(first, registry)?;
    let facts = format!(
        "- types, for example: {}\n{precision}\n- cost of the example: {} FLOPs, {} bytes",
        types(&samples, registry)?,
        cost.flops,
        cost.bytes
    );
    let ir = fenced("text", &sample::instruction(first, registry)?);
    let expanded = fenced("text", &sample::decomposition(first, registry)?);
    let gradient = own_gradient(def, first, registry)?;
    Ok(format!("\n{facts}\n\nAn instruction:\n\n{ir}\n\nIt is lowered to:\n\n{expanded}\n\n{gradient}\n"))
}

fn own_gradient(def: &dyn CompositeDef, first: &Sample, registry: &Registry) -> Result<String> {
    match def.vjp() {
        Some(_) => gradient(first, registry),
        None => Ok("Its gradient is that of what it is lowered to.".to_owned()),
    }
}
