//! Reading one instruction, before its names are resolved.

use super::attrs::parse_rounding;
use super::syntax::{Chunk, Field, Rule, fields, parse_type, sigil_name};
use crate::attr::{Attr, AttrSlot};
use crate::attrs::Cast;
use crate::syntax::Rounding;
use crate::ty::TensorType;
use halite_support::{Diagnostic, Result, Span, codes};
use halite_tensor::DType;
use pest::iterators::Pair;
use rustc_hash::FxHashSet;
use std::borrow::Cow;

/// A name of a value with its place.
pub(super) type ValueRef<'t> = (Cow<'t, str>, &'t str, Span);

/// An instruction before its names are resolved.
#[derive(Default)]
pub(super) struct InstText<'t> {
    pub(super) results: Vec<ValueRef<'t>>,
    pub(super) op: &'t str,
    pub(super) literal: Option<Pair<'t, Rule>>,
    pub(super) args: Vec<ValueRef<'t>>,
    /// Operands by name, with the places of the names.
    pub(super) named: Vec<(&'t str, Span, ValueRef<'t>)>,
    pub(super) fields: Vec<Field<'t>>,
    pub(super) rounding: Option<(Rounding, Span)>,
    pub(super) types: Vec<TensorType>,
    pub(super) types_span: Option<Span>,
}

/// The names of values, with their places.
pub(super) fn value_refs<'t>(chunk: &Chunk<'t>, values: Pair<'t, Rule>) -> Vec<ValueRef<'t>> {
    let values = values.into_inner().filter(|part| part.as_rule() == Rule::value);
    values.map(|value| (sigil_name(&value), &value.as_str()[1..], chunk.span_of(&value))).collect()
}

/// Reads `name = %value`.
fn named_operand<'t>(chunk: &Chunk<'t>, named: Pair<'t, Rule>) -> Option<(&'t str, Span, ValueRef<'t>)> {
    let name = named.clone().into_inner().find(|part| part.as_rule() == Rule::operand)?;
    let value = value_refs(chunk, named).pop()?;
    Some((name.as_str(), chunk.span_of(&name), value))
}

/// Reads an instruction.
///
/// # Errors
/// When it does not follow the grammar, or an attribute is given twice.
pub(super) fn read_inst<'t>(chunk: &Chunk<'t>) -> Result<InstText<'t>> {
    let mut inst = InstText::default();
    for pair in chunk.parse(Rule::instruction)? {
        match pair.as_rule() {
            Rule::values => inst.args = value_refs(chunk, pair),
            Rule::named => inst.named.extend(named_operand(chunk, pair)),
            Rule::equals => inst.results = std::mem::take(&mut inst.args),
            Rule::word => inst.op = pair.as_str(),
            Rule::literal => inst.literal = pair.into_inner().next(),
            Rule::attrs => inst.fields = fields(chunk, pair)?,
            Rule::types => {
                inst.types_span = Some(chunk.span_of(&pair));
                let types = pair.into_inner().filter(|part| part.as_rule() == Rule::ty);
                inst.types = types.map(|ty| parse_type(chunk, &ty)).collect::<Result<_>>()?;
            }
            _ => {}
        }
    }
    let mut names = FxHashSet::default();
    for field in &inst.fields {
        if !names.insert(field.name) {
            let message = format!("attribute `{}` is given twice", field.name);
            return Err(Diagnostic::error(codes::DUPLICATE, message).at(field.span, ""));
        }
    }
    if let Some(position) = inst.fields.iter().position(|field| field.name == "rounding") {
        let field = inst.fields.remove(position);
        inst.rounding = Some((parse_rounding(&field)?, field.span));
    }
    Ok(inst)
}

/// Reads a cast from `compute = f32` and the stated types of the results.
///
/// # Errors
/// When it is no float type.
pub(super) fn read_cast(attr: &Attr, field: &Field<'_>, inst: &InstText<'_>) -> Result<Cast> {
    let mut compute = DType::F32;
    let set = compute.set(attr).is_ok() && compute.is_float();
    let message = || format!("`compute` of `{}` is a float type, found `{}`", inst.op, field.text);
    let wrong = || Diagnostic::error(codes::ATTRIBUTE, message()).at(field.span, "");
    if !set {
        return Err(wrong());
    }
    Ok(Cast { compute, results: inst.types.iter().map(TensorType::dtype).collect() })
}
