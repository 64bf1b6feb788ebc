//! `embedding`.

use crate::attrs::Attrs;
use crate::build::{Builder, Values};
use crate::composite::CompositeDef;
use crate::described;
use crate::dims::{FactorKind, FactorMap};
use crate::domain::Domain;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, shape_error};
use crate::operands::{Args, Operands};
use crate::ops::class::{Takes, require_elements};
use crate::ops::indices::require_indices;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::{DType, Shape};
use smallvec::smallvec;

described! {
    /// The rows of `table[vocab, hidden]` that `ids s32[...]` name, as `[..., hidden]`. Ids are in `0..vocab`.
    #[derive(Debug)]
    pub struct Embedding;
}

impl CompositeDef for Embedding {
    fn name(&self) -> &str {
        "embedding"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["ids", "table"])
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let [ids, table] = args.required()?;
        require_elements("embedding", Takes::Float, table)?;
        if table.rank() != 2 {
            return Err(shape_error(format!("the table of `embedding` is `[vocab, hidden]`, found `{table}`")));
        }
        require_indices("embedding", table, 0, ids)?;
        let shape: Shape = ids.shape().iter().copied().chain([table.shape()[1]]).collect();
        Ok(smallvec![table.with_shape(shape)])
    }

    fn expand(&self, b: &mut Builder<'_>, _: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        Ok(smallvec![b.take(args[1], args[0], 0)?])
    }

    /// Ids name rows of the table.
    fn domains(&self, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Vec<Domain>> {
        Ok(vec![Domain { operand: 0, size: args[1].shape()[0], except: None }])
    }

    fn dims(&self, args: Args<'_, &TensorType>, results: &[TensorType]) -> Option<FactorMap> {
        let last = results[0].rank() - 1;
        let mut map = FactorMap::new(args.values(), results);
        for dim in 0..last {
            map.link(args[0].shape()[dim], FactorKind::Parallel, &[(0, dim)], Some(dim));
        }
        map.link(args[1].shape()[0], FactorKind::Indexed, &[(1, 0)], None);
        map.link(args[1].shape()[1], FactorKind::Parallel, &[(1, 1)], Some(last));
        Some(map)
    }

    fn policy(&self) -> Policy {
        Policy::STORAGE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let table = || SampleArg::uniform(float, [7, 3], -1.0, 1.0);
        let embedding = || super::op(&Embedding, &[]);
        vec![
            Sample::new("batch", embedding(), [SampleArg::whole(DType::S32, [2, 5], 0, 6), table()]),
            Sample::new("repeated", embedding(), [SampleArg::listed(DType::S32, [4], &[2.0, 2.0, 6.0, 0.0]), table()]),
        ]
    }
}
