//! Arguments of operations, as Python gives them.

use super::Handle;
use halite::model::{Argument, Init, SizeFactor, by_fan};
use halite::support::Name;
use halite::support::nearest::suggestion;
use halite::tensor::DType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple};

/// The most levels of nested lists, so that a list that holds itself ends.
const MAX_DEPTH: usize = 32;

/// Positional and named arguments of a call.
pub(super) fn arguments(
    args: &Bound<'_, PyList>,
    named: &Bound<'_, PyDict>,
) -> PyResult<Vec<(Option<Name>, Argument)>> {
    let args = args.iter().map(|value| Ok((None, argument(&value)?)));
    let named = named.iter().map(|(name, value)| Ok((Some(name.extract::<String>()?.into()), argument(&value)?)));
    args.chain(named).collect()
}

/// A tensor, a number, a truth value, a text, an element type, or a list of these.
pub(super) fn argument(value: &Bound<'_, PyAny>) -> PyResult<Argument> {
    nested(value, 0)
}

fn nested(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Argument> {
    if depth > MAX_DEPTH {
        return Err(PyValueError::new_err(format!("lists nest more than {MAX_DEPTH} deep")));
    }
    if let Some(handle) = value.getattr_opt(intern!(value.py(), "_handle"))? {
        return Ok(handle.cast::<Handle>()?.get().0.into());
    }
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_str()?;
        return Ok(DType::parse(text).map_or_else(|| text.into(), Argument::from));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| nested(&item?, depth + 1));
        return Ok(items.collect::<PyResult<Vec<_>>>()?.into());
    }
    if let Ok(value) = value.extract::<bool>() {
        return Ok(value.into());
    }
    if let Some(factors) = value.getattr_opt(intern!(value.py(), "factors"))? {
        let factors: Vec<(Option<String>, usize)> = factors.extract()?;
        return Ok(Argument::product(factors.into_iter().map(factor)));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(value.extract::<i64>()?.into());
    }
    if let Ok(value) = value.extract::<i64>() {
        return Ok(value.into());
    }
    if let Ok(value) = value.extract::<f64>() {
        return Ok(value.into());
    }
    // Its `repr` may be that of tensors of this very model.
    let found = value.get_type().name()?;
    let message = format!("expected a tensor, a number, a truth value, a text or a list of these, found `{found}`");
    Err(PyTypeError::new_err(message))
}

fn factor((name, size): (Option<String>, usize)) -> SizeFactor {
    match name {
        Some(name) => SizeFactor::named(name, size),
        None => SizeFactor::unnamed(size),
    }
}

/// An element type by its name.
pub(super) fn dtype(name: &str) -> PyResult<DType> {
    DType::parse(name).ok_or_else(|| {
        let known = DType::ALL.map(DType::name);
        let help = suggestion(name, &known);
        PyValueError::new_err(format!("no element type is named `{name}`: {help}"))
    })
}

/// The initializer of a parameter, from its kind and its numbers.
pub(crate) fn init(kind: &str, numbers: &[f64]) -> PyResult<Init> {
    let init = Init::read(kind, numbers).or_else(|| by_fan(kind, numbers));
    init.ok_or_else(|| PyValueError::new_err(format!("a parameter does not start as `{kind}` of {numbers:?}")))
}
