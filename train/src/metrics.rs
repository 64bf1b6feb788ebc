//! The metrics that a module reports in one run.

use super::placed::Placed;
use halite_bundle::tensors::Tensors;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::HostTensor;
use indexmap::IndexMap;

/// The suffix that makes the name of a sum the name of its count, which the sum is divided by.
const COUNT: &str = ".count";

/// Scalars by name, in the order of the module's outputs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Metrics(IndexMap<String, f64>);

impl Metrics {
    /// Copies the scalars among outputs to the host, those of the first rank.
    pub(super) fn download(outputs: &IndexMap<String, Placed>) -> Result<Self> {
        let buffers = outputs.iter().map(|(name, output)| (name, output.first()));
        let scalars = buffers.filter(|(_, buffer)| buffer.spec().shape.rank() == 0);
        let scalars = scalars.map(|(name, buffer)| Ok((name.clone(), first(&buffer.download()?))));
        Ok(Self(scalars.collect::<Result<_>>()?))
    }

    /// The scalars among tensors.
    pub(super) fn of(outputs: &Tensors) -> Self {
        let scalars = outputs.iter().filter(|(_, tensor)| tensor.shape().rank() == 0);
        Self(scalars.map(|(name, tensor)| (name.clone(), first(tensor))).collect())
    }

    /// The metrics as other processes read them, bit for bit.
    pub(super) fn to_text(&self) -> Result<String> {
        let bits: Vec<(&str, u64)> = self.iter().map(|(name, value)| (name, value.to_bits())).collect();
        serde_json::to_string(&bits).map_err(|error| Diagnostic::bug(error.to_string()))
    }

    /// The metrics of such a text; `None` where it is none.
    pub(super) fn of_text(text: &str) -> Option<Self> {
        let bits: Vec<(String, u64)> = serde_json::from_str(text).ok()?;
        Some(Self(bits.into_iter().map(|(name, bits)| (name, f64::from_bits(bits))).collect()))
    }

    /// Adds the metrics of another stage in the same call.
    pub(super) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The metric of this name, if the module reports it.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    /// The metric `loss`: of an update the mean over the batch, of an evaluation the sum; NaN when there is none.
    pub fn loss(&self) -> f64 {
        self.get("loss").unwrap_or(f64::NAN)
    }

    /// The metric `loss_scale`: the factor of an update's loss, where that changes from update to update.
    pub fn loss_scale(&self) -> Option<f64> {
        self.get("loss_scale")
    }

    /// Whether the loss and the norm of the gradient are finite. Where they are not, the update is skipped or the run ends.
    pub fn are_finite(&self) -> bool {
        self.not_finite().next().is_none()
    }

    /// Those of the loss and the norm of the gradient that are not finite.
    pub(super) fn not_finite(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let known = ["loss", "grad_norm"].into_iter().filter_map(|name| Some((name, self.get(name)?)));
        known.filter(|(_, value)| !value.is_finite())
    }

    /// The mean loss of an evaluation: its loss divided by its `count`.
    pub fn mean_loss(&self) -> f64 {
        self.loss() / self.get("count").unwrap_or(f64::NAN)
    }

    /// The metrics of the model in an evaluation, beside its loss: each is its sum, divided by its count where the evaluation reports
    /// one; 0 where that count is 0.
    pub fn of_model(&self) -> IndexMap<String, f64> {
        let known = |name: &str| ["loss", "count"].contains(&name) || self.sum_of(name).is_some();
        let of_model = self.0.iter().filter(|(name, _)| !known(name));
        let value = |name: &str, sum: f64| match self.get(&format!("{name}{COUNT}")) {
            None => sum,
            Some(0.0) => 0.0,
            Some(count) => sum / count,
        };
        of_model.map(|(name, &sum)| (name.clone(), value(name, sum))).collect()
    }

    /// The sum that a metric of this name is the count of, if it is one.
    fn sum_of(&self, name: &str) -> Option<f64> {
        self.get(name.strip_suffix(COUNT)?)
    }

    /// The number of elements that the loss of an evaluation is the mean over.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn counted(&self) -> Result<u64> {
        match self.get("count") {
            Some(0.0) => {
                let error = Diagnostic::error(codes::MEASURED, "the loss counts nothing in the held-out data");
                Err(error.help("give data with labels: those that are -100 do not count"))
            }
            count => Ok(count.unwrap_or(f64::NAN) as u64),
        }
    }

    /// Adds the metrics of another batch of an evaluation, which are sums.
    pub fn add(&mut self, batch: &Self) {
        for (name, value) in batch.iter() {
            *self.0.entry(name.to_owned()).or_insert(0.0) += value;
        }
    }

    /// The name and the value of each metric.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, &value)| (name.as_str(), value))
    }

    /// All metrics by name.
    pub fn into_map(self) -> IndexMap<String, f64> {
        self.0
    }
}

/// The value of a scalar.
fn first(tensor: &HostTensor) -> f64 {
    tensor.f64s().first().copied().unwrap_or(f64::NAN)
}
