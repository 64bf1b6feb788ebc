//! `causal_mask`.

use crate::attrs::{AttrKey, AttrSpec, Attrs};
use crate::build::{Builder, Values};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, Vjp, attr_error};
use crate::operands::{Args, Operands};
use crate::ops::Direction;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::DType;
use smallvec::smallvec;

pub(super) static SIZE: AttrKey<i64> = AttrKey::required("size", "how many positions; at most 2^31");

described! {
    /// Which positions a position sees when none sees ahead, `pred[size, size]` of nothing: true where the key (dimension 1)
    /// is at most the query (dimension 0).
    ///
    /// Every causal mask of a module becomes this one, so that it is computed once.
    #[derive(Debug)]
    pub struct CausalMask;
}

/// The number of positions.
fn size(attrs: &Attrs) -> Result<usize> {
    let size = attrs.get(&SIZE)?;
    usize::try_from(size).ok().filter(|_| size <= 1 << 31).ok_or_else(|| {
        attr_error(format!("`causal_mask` of {size} positions"))
            .note("positions count from 0 in `s32`")
            .help("give a `size` from 0 to 2^31")
    })
}

impl CompositeDef for CausalMask {
    fn name(&self) -> &str {
        "causal_mask"
    }

    fn operands(&self) -> Operands {
        Operands::of(&[])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![SIZE.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, _: Args<'_, &TensorType>) -> Result<Types> {
        let size = size(attrs)?;
        Ok(smallvec![TensorType::new(DType::Pred, [size, size])])
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, _: Args<'_, Value>) -> Result<Values> {
        let size = size(attrs)?;
        let query = b.iota(DType::S32, [size, size], 0)?;
        let key = b.iota(DType::S32, [size, size], 1)?;
        Ok(smallvec![b.compare(key, query, Direction::Le)?])
    }

    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(Box::new(|_, _, _| Ok(Vjp::none("the result is a predicate"))))
    }

    fn policy(&self) -> Policy {
        Policy::INTEGER
    }

    fn samples(&self, _: DType) -> Vec<Sample> {
        let sample = |label, size| Sample::new(label, super::op(&CausalMask, &[SIZE.to(size)]), []);
        vec![sample("several positions", 5), sample("one position", 1)]
    }
}
