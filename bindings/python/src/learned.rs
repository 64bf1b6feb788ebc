//! A model with what it has learned.

use crate::bundle::Bundle;
use crate::errors::Failure;
use halite_train::WeightsAt;
use pyo3::prelude::*;
use std::borrow::Cow;
use std::path::PathBuf;

/// Where the weights of a bundle are, and the devices to run it on.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Learned {
    state: Option<PathBuf>,
    weights: Option<PathBuf>,
    pub(crate) tokenizer: Option<String>,
    pub(crate) plugin: Option<PathBuf>,
}

impl Learned {
    /// The bundle, and where the weights are; where its recipe names no data, with those of the run of the state.
    pub(crate) fn of<'b>(&self, bundle: &'b Bundle) -> Result<(Cow<'b, halite::Bundle>, WeightsAt), Failure> {
        let weights = WeightsAt::of(self.state.clone(), self.weights.clone())?;
        let mut bundle = Cow::Borrowed(bundle.inner());
        if bundle.manifest.recipe.data.is_none()
            && let Some(data) = weights.data()?
        {
            bundle.to_mut().manifest.recipe.data = Some(data);
        }
        Ok((bundle, weights))
    }
}
