//! A model with what it has learned.

use crate::bundle::Bundle;
use crate::errors::Failure;
use crate::tensors::{Array, from_python};
use halite::bundle::tensors::Tensors;
use halite::bundle::{check_state, init};
use halite_train::WeightsAt;
use pyo3::prelude::*;
use std::borrow::Cow;
use std::path::PathBuf;

/// The weights of a bundle or their place, and the devices to run it on.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Learned {
    state: Option<PathBuf>,
    weights: Option<PathBuf>,
    /// The tensors of a state.
    state_arrays: Option<Vec<(String, Array)>>,
    /// Weights of the model.
    weight_arrays: Option<Vec<(String, Array)>>,
    pub(crate) tokenizer: Option<String>,
    pub(crate) plugin: Option<PathBuf>,
}

/// The weights of a model.
pub(crate) enum Weights {
    /// It is in files.
    At(WeightsAt),
    /// It is a state of the model.
    State(Tensors),
    /// It is weights of the model.
    Of(Tensors),
}

impl Weights {
    /// As a state of the model of a bundle.
    ///
    /// # Errors
    /// When a file cannot be read, or they are of another model.
    pub(crate) fn read(self, bundle: &halite::Bundle) -> Result<Tensors, Failure> {
        Ok(match self {
            Self::At(files) => files.read(bundle)?,
            Self::State(state) => {
                check_state(&bundle.manifest, &state)?;
                state
            }
            Self::Of(weights) => init::state_from_weights(&bundle.manifest, weights)?,
        })
    }
}

/// Weights that were given, and those that are in files.
pub(crate) type Given = Option<Weights>;

impl Learned {
    /// The arrays that are given, if any are: they are taken on the thread of Python.
    ///
    /// # Errors
    /// When an array is none that HLO has.
    pub(crate) fn given(&mut self) -> PyResult<Given> {
        let state = self.state_arrays.take().map(from_python).transpose()?.map(Weights::State);
        let weights = self.weight_arrays.take().map(from_python).transpose()?.map(Weights::Of);
        Ok(weights.or(state))
    }

    /// The bundle, and its weights; where its recipe names no data, with those of the run of the state.
    pub(crate) fn of<'b>(
        &self,
        bundle: &'b Bundle,
        given: Given,
    ) -> Result<(Cow<'b, halite::Bundle>, Weights), Failure> {
        let mut bundle = Cow::Borrowed(bundle.inner());
        if let Some(given) = given {
            return Ok((bundle, given));
        }
        let weights = WeightsAt::of(self.state.clone(), self.weights.clone())?;
        if bundle.manifest.recipe.data.is_none()
            && let Some(data) = weights.data()?
        {
            bundle.to_mut().manifest.recipe.data = Some(data);
        }
        Ok((bundle, Weights::At(weights)))
    }
}
