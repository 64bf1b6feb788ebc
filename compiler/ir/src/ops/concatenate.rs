//! `concatenate`.

use super::movement::{common_block, link_result, require_countable};
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::described;
use crate::dims::{FactorKind, FactorMap};
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, require_dim, shape_error};
use crate::shards::Linear;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::Id;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, HostTensor, Shape};
use smallvec::smallvec;

described! {
    /// Tensors one after another along dimension `dim`; their other sizes agree.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Concatenate {
        /// The dimension along which the operands follow each other.
        pub dim: usize,
    }
}

impl OpDef for Concatenate {
    fn name(&self) -> &str {
        "concatenate"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("dim", &mut self.dim);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let Some((first, rest)) = args.split_first() else {
            return Err(Diagnostic::error(codes::ARITY, "`concatenate` takes at least 1 operand, found 0"));
        };
        require_dim("concatenate", first, self.dim)?;
        let mut shape = first.shape().clone();
        for operand in rest {
            if operand.dtype() != first.dtype() {
                let message =
                    format!("operands of `concatenate` have different element types, `{first}` and `{operand}`");
                return Err(Diagnostic::error(codes::DTYPE, message).help("convert one operand with `convert`"));
            }
            let agrees = |dim| dim == self.dim || operand.shape()[dim] == first.shape()[dim];
            if operand.rank() != first.rank() || !(0..first.rank()).all(agrees) {
                let dim = self.dim;
                return Err(shape_error(format!("cannot concatenate `{first}` and `{operand}` along dimension {dim}"))
                    .help("all other dimensions must agree"));
            }
            shape[self.dim] = shape[self.dim].saturating_add(operand.shape()[self.dim]);
        }
        Ok(smallvec![require_countable("concatenate", first.dtype(), shape)?])
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let shape = cx.result().shape();
        let rows: usize = shape[..self.dim].iter().product();
        let mut bytes = Vec::with_capacity(shape.num_elements() * args[0].dtype().size());
        for row in 0..rows {
            for arg in args {
                let width = arg.bytes().len() / rows;
                bytes.extend_from_slice(&arg.bytes()[row * width..][..width]);
            }
        }
        let result = HostTensor::from_bytes(args[0].dtype(), shape.clone(), bytes);
        Ok(vec![result.expect("the operands fill the result")])
    }

    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        let (mut cts, mut start) = (Vec::with_capacity(cx.args.len()), 0);
        for (&arg, &wanted) in cx.args.iter().zip(cx.wanted) {
            let limit = start + b.shape(arg)[self.dim];
            cts.push(if wanted { Some(b.slice_dim(ct, self.dim, start, limit)?) } else { None });
            start = limit;
        }
        Ok(Vjp::of(cts))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::STORAGE
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        let mut map = FactorMap::new(args, results);
        for (dim, &size) in results[0].shape().iter().enumerate() {
            if dim == self.dim {
                let sizes: Vec<usize> = args.iter().map(|ty| ty.shape()[dim]).collect();
                let unit = common_block(&sizes);
                for (operand, size) in sizes.into_iter().enumerate() {
                    map.link(size / unit, FactorKind::Mixed, &[(operand, dim)], None);
                }
                link_result(&mut map, size / unit, FactorKind::Mixed, dim);
                let operands: Vec<_> = (0..args.len()).map(|operand| (operand, dim)).collect();
                map.link(unit, FactorKind::Parallel, &operands, Some(dim));
            } else {
                let operands: Vec<_> = (0..args.len()).map(|operand| (operand, dim)).collect();
                map.link(size, FactorKind::Parallel, &operands, Some(dim));
            }
        }
        map
    }

    fn linear(&self, _: &[TensorType], _: &[TensorType]) -> Linear {
        Linear::Jointly
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        cx.one(|hlo| hlo.concatenate(args, self.dim))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let arg = |shape: &[usize]| SampleArg::uniform(float, shape, -1.0, 1.0);
        let int = |size: usize| SampleArg::whole(DType::S32, Shape::from([size]), -9, 9);
        vec![
            Sample::new("rows", Concatenate { dim: 0 }, [arg(&[2, 3]), arg(&[1, 3])]),
            Sample::new("middle", Concatenate { dim: 1 }, [arg(&[2, 1, 2]), arg(&[2, 3, 2]), arg(&[2, 0, 2])]),
            Sample::new("one", Concatenate { dim: 0 }, [arg(&[2])]),
            Sample::new("integers", Concatenate { dim: 0 }, [int(2), int(3)]),
        ]
    }
}

impl Builder<'_> {
    /// `operands` one after another along `dim`; a single one is itself.
    ///
    /// # Errors
    /// When other sizes or the element types differ.
    pub fn concatenate(&mut self, operands: &[Value], dim: usize) -> Result<Value> {
        if let [only] = operands {
            return Ok(*only);
        }
        self.emit(Concatenate { dim }, operands)
    }
}
