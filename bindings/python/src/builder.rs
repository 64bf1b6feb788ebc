//! Models that Python builds: the core of builders, with the line in Python of each call.

mod argument;
mod lines;

use crate::errors::Failure;
use crate::work;
pub(crate) use argument::init;
use argument::{argument, arguments, dtype};
use halite::model::{Argument, BinaryOp, Caller, Comparison, ConfigValue, Elaborated, Init, Subscript, core};
use halite::support::{Diagnostics, SourceMap};
use lines::Lines;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::Arc;

/// A place in Python: the file of the code, and the line.
type At = (String, u32);

/// A tensor of a model under way, which may be the result of a mistake.
#[pyclass(frozen)]
#[derive(Debug)]
pub(crate) struct Handle(Option<core::Handle>);

#[pymethods]
impl Handle {
    /// The result of a mistake.
    #[staticmethod]
    fn poison() -> Self {
        Self(None)
    }

    /// Whether it is the result of a mistake.
    #[getter]
    fn poisoned(&self) -> bool {
        self.0.is_none()
    }
}

/// A scope that was entered.
#[pyclass]
#[derive(Debug)]
pub(crate) struct Scope(Option<core::Scope>);

/// A function whose body is being run.
#[pyclass]
#[derive(Debug)]
pub(crate) struct Body(Option<core::Body>);

/// A model that is finished.
#[pyclass(frozen)]
#[derive(Debug)]
pub(crate) struct Built {
    model: Arc<Elaborated>,
    /// The texts of the files that its instructions come from.
    sources: SourceMap,
}

impl Built {
    pub(crate) fn model(&self) -> Arc<Elaborated> {
        self.model.clone()
    }

    pub(crate) fn sources(&self) -> &SourceMap {
        &self.sources
    }
}

#[pymethods]
impl Built {
    #[getter]
    fn name(&self) -> &str {
        &self.model.module.name
    }

    /// Its module as text.
    fn ir(&self) -> String {
        halite::ir::text::print(&self.model.module)
    }
}

/// A model under way.
#[pyclass]
#[derive(Debug)]
pub(crate) struct Builder {
    core: core::Core,
    lines: Lines,
}

/// A parameter or a buffer: its name, its shape, and how it starts, a word with its numbers.
struct Declared<'a, 'py> {
    name: &'a str,
    shape: &'a Bound<'py, PyAny>,
    start: (String, Vec<f64>),
}

impl Builder {
    /// Does `work` at a place.
    fn at<T>(&mut self, py: Python<'_>, at: &At, work: impl FnOnce(&mut core::Core, &Caller) -> T) -> PyResult<T> {
        let caller = self.lines.caller(py, at)?;
        work::here(py, || Ok(work(&mut self.core, &caller)))
    }

    fn tensor(
        &mut self,
        py: Python<'_>,
        at: &At,
        work: impl FnOnce(&mut core::Core, &Caller) -> Option<core::Handle>,
    ) -> PyResult<Handle> {
        self.at(py, at, work).map(Handle)
    }

    /// A parameter or a buffer of a name and a shape, and how it starts.
    fn weight(
        &mut self,
        py: Python<'_>,
        Declared { name, shape, start }: Declared<'_, '_>,
        at: &At,
        declare: fn(&mut core::Core, &str, Argument, Init, &Caller) -> Option<core::Handle>,
    ) -> PyResult<Handle> {
        let (shape, init) = (argument(shape)?, init(&start.0, &start.1)?);
        self.tensor(py, at, |core, at| declare(core, name, shape, init, at))
    }

    fn failure(&self, mistakes: &Diagnostics) -> Failure {
        Failure::new(mistakes.clone(), self.lines.sources())
    }
}

#[pymethods]
impl Builder {
    #[new]
    fn new(py: Python<'_>, name: &str, float: &str, at: At) -> PyResult<Self> {
        let (float, mut lines) = (dtype(float)?, Lines::default());
        let caller = lines.caller(py, &at)?;
        let core = work::here(py, || Ok(core::Core::new(name, halite::ir::Registry::builtin(), &caller)))?;
        Ok(Self { core: core.with_float(float), lines })
    }

    /// The names of builtins and composites.
    fn ops(&self) -> Vec<&str> {
        self.core.op_names().collect()
    }

    fn batch(&mut self, py: Python<'_>, name: &str, of: &str, shape: &Bound<'_, PyAny>, at: At) -> PyResult<Handle> {
        let (of, shape) = (dtype(of)?, argument(shape)?);
        self.tensor(py, &at, |core, at| core.batch(name, of, shape, at))
    }

    fn causal_mask(&mut self, py: Python<'_>, name: &str, shape: &Bound<'_, PyAny>, at: At) -> PyResult<Handle> {
        let shape = argument(shape)?;
        self.tensor(py, &at, |core, at| core.causal_mask(name, shape, at))
    }

    /// `start` is `zeros`, `ones`, or `normal` and `constant` with a number.
    fn param(
        &mut self,
        py: Python<'_>,
        name: &str,
        shape: &Bound<'_, PyAny>,
        start: (String, Vec<f64>),
        at: At,
    ) -> PyResult<Handle> {
        self.weight(py, Declared { name, shape, start }, &at, core::Core::param)
    }

    /// As `param`.
    fn buffer(
        &mut self,
        py: Python<'_>,
        name: &str,
        shape: &Bound<'_, PyAny>,
        start: (String, Vec<f64>),
        at: At,
    ) -> PyResult<Handle> {
        self.weight(py, Declared { name, shape, start }, &at, core::Core::buffer)
    }

    fn output(&mut self, py: Python<'_>, name: &str, tensor: &Handle, at: At) -> PyResult<()> {
        self.at(py, &at, |core, at| core.output(name, tensor.0, at))
    }

    fn metric(
        &mut self,
        py: Python<'_>,
        name: &str,
        sum: &Bound<'_, PyAny>,
        over: Option<&Bound<'_, PyAny>>,
        at: At,
    ) -> PyResult<()> {
        let (sum, over) = (argument(sum)?, over.map(argument).transpose()?);
        self.at(py, &at, |core, at| core.metric(name, sum, over, at))
    }

    fn loss(&mut self, py: Python<'_>, name: &str, value: &Bound<'_, PyAny>, weight: f64, at: At) -> PyResult<()> {
        let value = argument(value)?;
        self.at(py, &at, |core, at| core.loss(name, value, weight, at))
    }

    fn setting(&mut self, py: Python<'_>, key: &str, value: &Bound<'_, PyAny>, at: At) -> PyResult<()> {
        let value = if let Ok(value) = value.extract::<bool>() {
            ConfigValue::Bool(value)
        } else if let Ok(value) = value.extract::<i64>() {
            ConfigValue::Int(value)
        } else if let Ok(value) = value.extract::<f64>() {
            ConfigValue::Real(value)
        } else if let Ok(value) = value.extract::<String>() {
            ConfigValue::Text(value)
        } else {
            let message =
                format!("a setting is a number, a truth value or a word, found `{}`", value.get_type().name()?);
            return Err(PyTypeError::new_err(message));
        };
        self.at(py, &at, |core, at| core.setting(key, value, at))
    }

    fn require(&mut self, py: Python<'_>, holds: bool, message: &str, at: At) -> PyResult<()> {
        self.at(py, &at, |core, at| core.require(holds, message, at))
    }

    fn bidirectional(&mut self) {
        self.core.bidirectional();
    }

    /// The results of a builtin or a composite; `None` when the call is a mistake or depends on one.
    fn call(
        &mut self,
        py: Python<'_>,
        name: &str,
        args: &Bound<'_, PyList>,
        named: &Bound<'_, PyDict>,
        at: At,
    ) -> PyResult<Option<Vec<Handle>>> {
        let given = arguments(args, named)?;
        let results = self.at(py, &at, |core, at| core.call(name, given, at))?;
        Ok(results.map(|results| results.into_iter().map(|result| Handle(Some(result))).collect()))
    }

    /// An operator by its symbol.
    fn binary(
        &mut self,
        py: Python<'_>,
        symbol: &str,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        at: At,
    ) -> PyResult<Handle> {
        let (op, x, y) = (operator(symbol)?, argument(x)?, argument(y)?);
        self.tensor(py, &at, |core, at| core.binary(op, x, y, at))
    }

    fn negate(&mut self, py: Python<'_>, x: &Handle, at: At) -> PyResult<Handle> {
        self.tensor(py, &at, |core, at| core.negate(x.0.into(), at))
    }

    /// `not` of truth values or integers.
    fn invert(&mut self, py: Python<'_>, x: &Handle, at: At) -> PyResult<Handle> {
        self.tensor(py, &at, |core, at| core.not(x.0.into(), at))
    }

    /// Leading dimensions, each by its position, or by the first, the last one and the step.
    fn slice(&mut self, py: Python<'_>, x: &Handle, parts: Vec<Part>, at: At) -> PyResult<Handle> {
        let parts: Vec<Subscript> = parts.into_iter().map(Subscript::from).collect();
        self.tensor(py, &at, |core, at| core.slice(x.0, &parts, at))
    }

    /// Element type and sizes; `None` of what is no tensor of a function under way.
    fn ty(&mut self, py: Python<'_>, x: &Handle, at: At) -> PyResult<Option<(&'static str, Vec<usize>)>> {
        let ty = self.at(py, &at, |core, at| core.current_ty(x.0, at))?;
        Ok(ty.map(|ty| (ty.dtype().name(), ty.shape().to_vec())))
    }

    /// The type in words.
    fn describe(&self, x: &Handle) -> Option<String> {
        self.core.ty(x.0).map(ToString::to_string)
    }

    fn named(&mut self, x: &Handle, name: &str) {
        self.core.name_tensor(x.0, name);
    }

    fn enter_scope(&mut self, py: Python<'_>, name: String, at: At) -> PyResult<Scope> {
        self.at(py, &at, |core, at| Scope(Some(core.enter_scope(name, at))))
    }

    fn leave_scope(&mut self, py: Python<'_>, scope: &mut Scope, at: At) -> PyResult<()> {
        let scope = scope.0.take().ok_or_else(|| PyRuntimeError::new_err("this scope was left already"))?;
        self.at(py, &at, |core, at| core.leave_scope(scope, at))
    }

    fn begin_function(
        &mut self,
        py: Python<'_>,
        name: &str,
        args: Vec<PyRef<'_, Handle>>,
        at: At,
    ) -> PyResult<(Body, Vec<Handle>)> {
        let args: Vec<_> = args.iter().map(|arg| arg.0).collect();
        let (body, params) = self.at(py, &at, |core, at| core.begin_function(name, &args, at))?;
        Ok((Body(Some(body)), params.into_iter().map(Handle).collect()))
    }

    fn end_function(
        &mut self,
        py: Python<'_>,
        body: &mut Body,
        results: Vec<PyRef<'_, Handle>>,
        at: At,
    ) -> PyResult<Vec<Handle>> {
        let body = body.take()?;
        let results: Vec<_> = results.iter().map(|result| result.0).collect();
        let results = self.at(py, &at, |core, at| core.end_function(body, &results, at))?;
        Ok(results.into_iter().map(Handle).collect())
    }

    /// Ends a body that raised.
    fn abandon_function(&mut self, body: &mut Body) -> PyResult<()> {
        self.core.abandon_function(body.take()?);
        Ok(())
    }

    /// Raises the mistakes so far, if there are any.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let mistakes = self.core.mistakes();
        if mistakes.is_empty() { Ok(()) } else { Err(self.failure(mistakes).raise(py)) }
    }

    fn finish(&mut self, py: Python<'_>, loss: &Handle, count: &Handle, at: At) -> PyResult<Built> {
        match self.at(py, &at, |core, at| core.finish(loss.0, count.0, at))? {
            Ok(model) => Ok(Built { model: Arc::new(model), sources: self.lines.sources().clone() }),
            Err(mistakes) => Err(self.failure(&mistakes).raise(py)),
        }
    }
}

impl Body {
    fn take(&mut self) -> PyResult<core::Body> {
        self.0.take().ok_or_else(|| PyRuntimeError::new_err("this function has returned already"))
    }
}

/// The subscript of one dimension: an index, or the start, end and step of a range.
#[derive(FromPyObject)]
enum Part {
    #[pyo3(transparent)]
    At(i64),
    #[pyo3(transparent)]
    Range((Option<i64>, Option<i64>, Option<i64>)),
}

impl From<Part> for Subscript {
    fn from(part: Part) -> Self {
        match part {
            Part::At(position) => Self::At(position),
            Part::Range((from, to, None)) => Self::Range(from, to),
            Part::Range((from, to, Some(step))) => Self::Stepped(from, to, step),
        }
    }
}

fn operator(symbol: &str) -> PyResult<BinaryOp> {
    Ok(match symbol {
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Subtract,
        "*" => BinaryOp::Multiply,
        "/" => BinaryOp::Divide,
        "**" => BinaryOp::Power,
        "%" => BinaryOp::Remainder,
        "@" => BinaryOp::Matmul,
        "&" => BinaryOp::And,
        "|" => BinaryOp::Or,
        "==" => BinaryOp::Compare(Comparison::Equal),
        "!=" => BinaryOp::Compare(Comparison::NotEqual),
        "<" => BinaryOp::Compare(Comparison::Less),
        "<=" => BinaryOp::Compare(Comparison::LessEqual),
        ">" => BinaryOp::Compare(Comparison::Greater),
        ">=" => BinaryOp::Compare(Comparison::GreaterEqual),
        other => return Err(PyValueError::new_err(format!("no operator is written `{other}`"))),
    })
}
