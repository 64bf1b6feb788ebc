//! Objects of the caller: observers of a run, and data. Python calls them on the thread that waits for the work.

use crate::wait::Work;
use halite::Bundle;
use halite::support::{Diagnostic, Result, codes};
use halite_data::{Data, Dataset, HeldOut, Input, Opened, Position, Rows, Takes};
use halite_tensor::HostTensor;
use halite_train::Feed;
use pyo3::BoundObject;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyTuple;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The first exception that was raised.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn keep(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// An object of Python on behalf of some work.
#[derive(Clone)]
pub(crate) struct Own {
    work: Work,
    object: Arc<Py<PyAny>>,
    /// The first exception of the object, which ends the work at once.
    pub(crate) raised: Raised,
}

impl Own {
    pub(crate) fn new(work: &Work, object: Py<PyAny>) -> Self {
        Self { work: work.clone(), object: Arc::new(object), raised: Raised::default() }
    }

    /// Another object on behalf of the same work.
    pub(crate) fn with(&self, object: Py<PyAny>) -> Self {
        Self { object: Arc::new(object), ..self.clone() }
    }

    /// The same, whose exceptions are kept there.
    pub(crate) fn with_raised(self, raised: &Raised) -> Self {
        Self { raised: raised.clone(), ..self }
    }

    /// Calls a method, which may raise an exception; `None` where nobody waits for the work any more.
    fn call<A, T>(&self, method: &'static str, args: A) -> Option<PyResult<T>>
    where
        A: for<'py> IntoPyObject<'py, Target = PyTuple> + Send + 'static,
        T: for<'a, 'py> FromPyObject<'a, 'py> + Send + 'static,
    {
        let object = self.object.clone();
        let call = move |py: Python<'_>| {
            let args = args.into_pyobject(py).map_err(Into::into)?.into_bound();
            object.bind(py).call_method1(method, args)?.extract().map_err(Into::into)
        };
        self.work.call(move || Python::attach(call))
    }

    /// Tells it something. What it raises ends the work.
    pub(crate) fn hear<A>(&self, method: &'static str, args: A)
    where
        A: for<'py> IntoPyObject<'py, Target = PyTuple> + Send + 'static,
    {
        if let Some(Err(error)) = self.call::<_, Py<PyAny>>(method, args) {
            self.end(error);
        }
    }

    fn end(&self, error: PyErr) {
        self.raised.keep(error);
        self.work.cancel.cancel();
    }
}

/// Data of Python: an object with a method `open`.
pub(crate) struct OwnData {
    object: Own,
    /// The number of token ids that the model knows, where that is known.
    vocabulary: Option<u64>,
    /// The first exception that reading the data raised. It ends the work only when the missing data are needed.
    pub(crate) raised: Raised,
}

impl OwnData {
    /// Of an object for a bundle.
    ///
    /// # Errors
    /// When the bundle lacks a training step.
    pub(crate) fn new(object: Own, bundle: &Bundle) -> Result<Self> {
        Ok(Self::of_feed(object, &Feed::of(bundle)?, &Raised::default()))
    }

    /// Of an object for what a model is fed; what it raises is kept there.
    pub(crate) fn of_feed(object: Own, feed: &Feed, raised: &Raised) -> Self {
        Self { object, vocabulary: feed.vocabulary, raised: raised.clone() }
    }

    fn stream(&self, object: Py<PyAny>, takes: &Takes) -> Result<Stream> {
        let source = Source { object: self.object.with(object), raised: self.raised.clone() };
        let identity = source.ask("identity", ())?;
        let place = source.ask("place", ())?;
        Ok(Stream { source, takes: takes.clone(), identity, place: Place::of(place)? })
    }
}

impl Data for OwnData {
    fn open(&self, takes: &Takes, _seed: u64) -> Result<Opened> {
        let source = Source { object: self.object.clone(), raised: self.raised.clone() };
        let input = |input: &Input| (input.name.clone(), input.dtype.name(), input.shape.clone());
        let inputs: Vec<_> = takes.inputs.iter().map(input).collect();
        let (train, held_out): (Py<PyAny>, Vec<(String, Py<PyAny>)>) =
            source.ask("open", (takes.width, self.vocabulary, inputs))?;
        let held_out = held_out.into_iter().map(|(name, object)| {
            let data = Box::new(self.stream(object, takes)?);
            Ok(HeldOut { name, data })
        });
        Ok(Opened { train: Box::new(self.stream(train, takes)?), held_out: held_out.collect::<Result<_>>()? })
    }
}

/// An object of Python that data are asked of.
struct Source {
    object: Own,
    raised: Raised,
}

impl Source {
    fn ask<A, T>(&self, method: &'static str, args: A) -> Result<T>
    where
        A: for<'py> IntoPyObject<'py, Target = PyTuple> + Send + 'static,
        T: for<'a, 'py> FromPyObject<'a, 'py> + Send + 'static,
    {
        let error = match self.object.call(method, args) {
            Some(Ok(given)) => return Ok(given),
            Some(Err(error)) => error,
            None => return Err(Diagnostic::bug("data are asked for after the end of a run")),
        };
        if Python::attach(|py| error.is_instance_of::<PyException>(py)) {
            self.raised.keep(error);
        } else {
            // Ctrl-C came while data were read.
            self.object.end(error);
        }
        // The exception says more.
        Err(Diagnostic::error(codes::CANCELLED, "the data raised an exception"))
    }
}

/// The position of a stream, and the number of complete passes over it.
struct Place {
    position: Position,
    epochs: u64,
}

impl Place {
    fn of((position, epochs): (String, u64)) -> Result<Self> {
        let position: Value = serde_json::from_str(&position).map_err(|error| Diagnostic::bug(error.to_string()))?;
        Ok(Self { position: Position(position), epochs })
    }
}

/// A stream of rows of Python.
struct Stream {
    source: Source,
    takes: Takes,
    identity: BTreeMap<String, String>,
    place: Place,
}

/// Sequences of tokens, each of one document.
fn sequences(bytes: &[u8], rows: usize, width: usize) -> Rows {
    let token = |bytes: &[u8]| i32::from_ne_bytes(bytes.try_into().unwrap_or_default());
    let tokens: Vec<i32> = bytes.chunks(size_of::<i32>()).map(token).collect();
    let positions = (0..rows).flat_map(|_| (0..).take(width)).collect();
    Rows { rows, width, segments: vec![1; tokens.len()], tokens, positions, ..Rows::default() }
}

impl Dataset for Stream {
    fn next(&mut self, rows: usize) -> Result<Rows> {
        let (given, position, epochs): (Vec<(String, PyBackedBytes)>, String, u64) =
            self.source.ask("next", (rows,))?;
        self.place = Place::of((position, epochs))?;
        if let ([(name, bytes)], Some(width)) = (&given[..], self.takes.width)
            && name.is_empty()
        {
            return Ok(sequences(bytes, rows, width));
        }
        let tensor = |(name, bytes): &(String, PyBackedBytes)| {
            let input = self.takes.inputs.iter().find(|input| input.name == *name);
            let input = input.ok_or_else(|| Diagnostic::bug(format!("the data have `{name}`")))?;
            let shape = std::iter::once(rows).chain(input.shape.iter().copied()).collect();
            let tensor = HostTensor::from_bytes(input.dtype, shape, bytes.to_vec());
            Ok((name.clone(), tensor.map_err(|size| Diagnostic::bug(format!("{} bytes of `{name}`", size.found)))?))
        };
        Ok(Rows { rows, inputs: given.iter().map(tensor).collect::<Result<_>>()?, ..Rows::default() })
    }

    fn position(&self) -> Position {
        self.place.position.clone()
    }

    fn seek(&mut self, position: &Position) -> Result<()> {
        let place = self.source.ask("seek", (position.0.to_string(),))?;
        self.place = Place::of(place)?;
        Ok(())
    }

    fn epochs(&self) -> u64 {
        self.place.epochs
    }

    fn identity(&self) -> BTreeMap<String, String> {
        self.identity.clone()
    }

    /// Each batch is held to the ids that the model knows, as it comes.
    fn vocabulary(&self) -> u64 {
        0
    }
}
