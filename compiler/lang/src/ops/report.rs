//! Reports of a model beside its loss: metrics, and further losses with their weights.

use super::{Ops, Place, Value};
use halite_ir::Value as Tensor;
use halite_support::{Diagnostic, Name, Result, codes};
use halite_tensor::{DType, Shape};

/// A metric or a loss that a model reports by a name.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    name: Name,
    value: Tensor,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A sum over the batch, divided by another one if there is one.
    Metric { over: Option<Tensor> },
    /// A mean over the batch, which the objective contains so many times.
    Loss { weight: f64 },
}

/// The values that are added up over micro-batches and ranks.
pub(crate) struct Sums {
    /// The objective with all that is added to it.
    pub(crate) loss: Tensor,
    pub(crate) count: Tensor,
    /// Name, sum and divisor.
    pub(crate) metrics: Vec<(Name, Tensor, Option<Tensor>)>,
}

impl Report {
    pub(crate) fn metric(name: Name, sum: Tensor, over: Option<Tensor>) -> Self {
        Self { name, value: sum, kind: Kind::Metric { over } }
    }

    pub(crate) fn loss(name: Name, value: Tensor, weight: f64) -> Self {
        Self { name, value, kind: Kind::Loss { weight } }
    }
}

impl Ops<'_> {
    /// A scalar to report, a mean or a sum over the batch. A number stands for one.
    ///
    /// # Errors
    /// When it is none, or a truth value.
    pub(crate) fn scalar(&mut self, value: &Value, is_mean: bool, place: Place<'_>) -> Result<Tensor> {
        if let Some(number) = value.as_real() {
            return self.b.splat(self.float, Shape::scalar(), number);
        }
        match value {
            Value::Tensor(tensor) if self.b.ty(*tensor).rank() == 0 && self.b.dtype(*tensor) != DType::Pred => {
                Ok(*tensor)
            }
            other => {
                let message = format!("what is reported must be a scalar of numbers, found {}", self.describe(other));
                let error = place.mark(Diagnostic::error(codes::KIND, message), "not a scalar");
                let made = if is_mean { "take its `mean(x)`" } else { "add it up with `sum(x)`" };
                Err(error.help(format!("{made}; truth values become numbers by `convert(x, float)`")))
            }
        }
    }

    /// The sums of a model with this loss, count and reports. A further loss is a mean: it counts for as many elements as the loss
    /// does, so that micro-batches weigh alike in both.
    pub(crate) fn sums(&mut self, [mut loss, count]: [Tensor; 2], reports: &[Report]) -> Result<Sums> {
        let mut metrics = Vec::with_capacity(reports.len());
        for Report { name, value, kind } in reports {
            metrics.push(match *kind {
                Kind::Metric { over } => (name.clone(), *value, over),
                Kind::Loss { weight } => {
                    let float = self.b.dtype(loss);
                    let (value, times) = (self.b.convert(*value, float)?, self.b.convert(count, float)?);
                    let sum = self.b.multiply(value, times)?;
                    let weighed = self.b.multiply_scalar(sum, weight)?;
                    loss = self.b.add(loss, weighed)?;
                    (name.clone(), sum, Some(count))
                }
            });
        }
        Ok(Sums { loss, count, metrics })
    }
}
