//! Numbers of a model, judged in the types that they are computed in.

use crate::source::Source;
use halite_ir::{Attr, Function, Inst, LocTable, Module, Op, Param, ParamRole};
use halite_recipe::{Places, Precision};
use halite_support::{Diagnostic, Diagnostics, codes};
use halite_tensor::{DType, rounding::turns_into};
use indexmap::IndexSet;

/// The attribute of norms that is added to what they divide by.
const EPS: &str = "eps";

/// Refuses the `eps` of norms, and the deviation of weights, where a precision makes it 0 or infinite.
///
/// # Errors
/// Every one, in each kind of norm once.
pub(super) fn check(module: &Module, source: &Source) -> Result<(), Diagnostics> {
    let precision = &source.recipe.precision;
    let norms = sensitive(precision);
    let of = |function: &Function| {
        let insts = function.insts.iter().filter_map(|inst| norm(inst, &norms, &module.locs, &source.places));
        insts
            .chain(function.params.iter().filter_map(|param| weight(function, param, precision.weight)))
            .collect::<Vec<_>>()
    };
    let mut said = IndexSet::new();
    let mistakes = module.functions.iter().flat_map(of).filter(|mistake| said.insert(mistake.message().to_owned()));
    let mistakes: Diagnostics = mistakes.collect();
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
}

/// The types in which a precision computes what is sensitive, in a model or in a part of it.
fn sensitive(precision: &Precision) -> Vec<DType> {
    let overrides = precision.overrides.iter().filter_map(|change| change.sensitive);
    std::iter::once(precision.sensitive).chain(overrides).collect()
}

fn norm(inst: &Inst, dtypes: &[DType], locs: &LocTable, places: &Places) -> Option<Diagnostic> {
    let Op::Composite(composite) = &inst.op else { return None };
    let (_, attr) = composite.attrs.iter().find(|(name, _)| **name == *EPS)?;
    let Attr::Real(eps) = attr else { return None };
    let (dtype, told) = dtypes.iter().find_map(|&dtype| Some((dtype, turns_into(dtype, eps.0)?)))?;
    let message = format!("`{EPS}` of `{}` is {:?}, which is {told} in `{dtype}`", composite.name, eps.0);
    let stated = places.get(&format!("model.config.{EPS}"));
    let error = Diagnostic::error(codes::CONFIG_VALUE, message).or_at(stated, format!("{told} in `{dtype}`"));
    let error = match (error.primary(), locs.span(inst.loc)) {
        (Some(_), Some(span)) => error.also(span, "computed here"),
        (_, span) => error.or_at(span, "computed here"),
    };
    Some(error.help("choose a number that this type holds, or a wider `precision.sensitive`"))
}

fn weight(function: &Function, param: &Param, dtype: DType) -> Option<Diagnostic> {
    let ParamRole::Weight(weight) = &param.role else { return None };
    let (_, std) = weight.init.moments(function.ty(param.value).shape()).filter(|_| weight.init.is_random())?;
    let told = turns_into(dtype, std)?;
    let message = format!("`{}` starts with the deviation {std:?}, which is {told} in `{dtype}`", param.name);
    Some(Diagnostic::error(codes::CONFIG_VALUE, message).help("choose a number that this type holds"))
}
