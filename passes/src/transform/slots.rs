//! The element types of the state of one weight.

use crate::framework::exception::Subject;
use halite_ir::Param;
use halite_recipe::{Master, Precision};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::DType;

/// The kind of state that is the weight at the precision of the update, where the weight itself is narrower.
pub(crate) const MASTER: &str = "master";
/// The kind of state that is the exponential moving average of the weight.
pub(crate) const EMA: &str = "ema";

/// The element types of a weight and of its slots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct SlotTypes {
    /// The weight itself.
    pub(crate) weight: DType,
    /// Its wider copy.
    pub(crate) master: Master,
    /// Its moments.
    pub(crate) moments: DType,
}

impl SlotTypes {
    /// The types that a precision recipe and its exceptions state for a weight, by its name in the model.
    ///
    /// # Errors
    /// When it packs tensors for which they state different types.
    pub(crate) fn of(precision: &Precision, param: &Param) -> Result<Self> {
        let types: Vec<_> = param.originals().map(|name| (name, Self::named(precision, name))).collect();
        let (first, types_of_first) = types[0];
        let Some((other, _)) = types.iter().find(|(_, types)| *types != types_of_first) else {
            return Ok(types_of_first);
        };
        let message = format!("`{first}` and `{other}` are stored as one, but differ in their element types");
        let help = "run `coalesce-layers` with the recipe, which keeps them apart";
        Err(Diagnostic::error(codes::PIPELINE, message).help(help))
    }

    /// The type of an average of the weight: `f32`, or `f64` where the weight, its master or the update is.
    pub(crate) fn ema(&self, update: DType) -> DType {
        let wide = [Some(self.weight), self.master.dtype(), Some(update)].contains(&Some(DType::F64));
        if wide { DType::F64 } else { DType::F32 }
    }

    /// A weight that is as wide as its master has none.
    fn named(precision: &Precision, name: &str) -> Self {
        let &Precision { weight, master, moments, .. } = precision;
        let mut types = Self { weight, master, moments };
        for exception in &precision.overrides {
            if Subject::Parameter(name).fits(exception) {
                types.weight = exception.weight.unwrap_or(types.weight);
                types.master = exception.master.unwrap_or(types.master);
                types.moments = exception.moments.unwrap_or(types.moments);
            }
        }
        if types.master.dtype().is_some_and(|master| master.size() <= types.weight.size()) {
            types.master = Master::None;
        }
        types
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_recipe::{PrecisionName, PrecisionOverride};

    #[test]
    fn a_weight_as_wide_as_its_master_has_none() {
        let mut precision = PrecisionName::Bf16Sr.precision();
        let over = |pattern: &str| PrecisionOverride { parameter: Some(pattern.to_owned()), ..Default::default() };
        let norms = PrecisionOverride { weight: Some(DType::F32), ..over("*norm.weight") };
        let all = PrecisionOverride { master: Some(Master::F32), ..over("*") };
        for (master, overrides) in [
            (Master::F32, vec![norms.clone()]),
            (Master::None, vec![norms.clone(), all.clone()]),
            (Master::None, vec![all, norms]),
        ] {
            (precision.master, precision.overrides) = (master, overrides);
            let norm = SlotTypes { weight: DType::F32, master: Master::None, moments: DType::Bf16 };
            assert_eq!(SlotTypes::named(&precision, "model.norm.weight"), norm);
            let head = SlotTypes { weight: DType::Bf16, master: Master::F32, moments: DType::Bf16 };
            assert_eq!(SlotTypes::named(&precision, "lm_head.weight"), head);
        }
    }
}
