//! The type of one instruction of our set, inferred from the messages.

use super::Checker;
use crate::attributes::{self, DotDims, GatherDims, PadDim, ReplicaGroups, ScatterDims, SliceDim, to_dim, to_dims};
use crate::opcode::{BinaryOp, Comparison, Opcode, RngAlgorithm, UnaryOp};
use crate::proto::HloInstructionProto;
use crate::types::{ArrayType, Type};
use crate::{infer, literal};
use halite_support::{Diagnostic, Result, codes};

impl Checker<'_> {
    /// The inferred type; `None` for what our set lacks, which is checked no further.
    pub(super) fn infer(&self, at: usize, stated: Option<&Type>, operands: &[Option<&Type>]) -> Result<Option<Type>> {
        self.require_callees(at)?;
        let inst = self.graph.inst(at);
        let operands = operands.iter().copied().collect::<Option<Vec<&Type>>>();
        let (Some(stated), Some(operands)) = (stated, operands) else { return Ok(None) };
        if let Some(op) = UnaryOp::parse(&inst.opcode) {
            let [x] = arrays(&operands)?;
            return array(infer::unary(op, x));
        }
        if let Some(op) = BinaryOp::parse(&inst.opcode) {
            let [x, y] = arrays(&operands)?;
            return array(infer::binary(op, x, y));
        }
        let Some(opcode) = Opcode::parse(&inst.opcode) else { return Ok(None) };
        let Form::Ours = form(opcode, inst) else { return Ok(None) };
        self.infer_opcode(opcode, at, stated, &operands)
    }

    fn infer_opcode(&self, opcode: Opcode, at: usize, stated: &Type, operands: &[&Type]) -> Result<Option<Type>> {
        let inst = self.graph.inst(at);
        match opcode {
            Opcode::Parameter | Opcode::Constant | Opcode::Iota | Opcode::ReplicaId => {
                leaf(opcode, inst, stated, operands)
            }
            Opcode::Tuple => Ok(Some(Type::Tuple(operands.iter().map(|ty| (*ty).clone()).collect()))),
            Opcode::GetTupleElement => {
                let [tuple] = exactly(operands)?;
                let index = to_dim("the index", inst.tuple_index)?;
                infer::get_tuple_element(tuple, index).cloned().map(Some)
            }
            Opcode::Copy | Opcode::OptimizationBarrier => {
                let [x] = exactly(operands)?;
                Ok(Some(x.clone()))
            }
            Opcode::CustomCall => custom_call(inst).map(|()| Some(stated.clone())),
            Opcode::Call => self.call(at, operands).map(|()| self.callee_result(at)),
            Opcode::Compare
            | Opcode::Select
            | Opcode::Clamp
            | Opcode::Convert
            | Opcode::BitcastConvert
            | Opcode::Broadcast
            | Opcode::Reshape
            | Opcode::Transpose
            | Opcode::Reverse
            | Opcode::Slice
            | Opcode::Pad
            | Opcode::Concatenate => array(local(opcode, inst, stated, operands)),
            Opcode::Dot => {
                let [lhs, rhs] = arrays(operands)?;
                let dims = DotDims::from_proto(
                    inst.dot_dimension_numbers.as_deref().ok_or_else(|| missing("dot dimensions"))?,
                )?;
                array(infer::dot(lhs, rhs, &dims, stated.array()?.dtype))
            }
            Opcode::RngBitGenerator => {
                let [state] = arrays(operands)?;
                let algorithm =
                    RngAlgorithm::from_number(inst.rng_algorithm).ok_or_else(|| missing("a known algorithm"))?;
                let bits = infer::get_tuple_element(stated, 1)?.array()?;
                infer::rng_bit_generator(algorithm, state, bits).map(Some)
            }
            Opcode::DynamicSlice | Opcode::DynamicUpdateSlice | Opcode::Gather => {
                array(indexed(opcode, inst, operands))
            }
            Opcode::Reduce | Opcode::Scatter => {
                let ty = combined(opcode, inst, operands)?;
                self.require_combiner(at, ty.dtype)?;
                Ok(Some(Type::Array(ty)))
            }
            Opcode::AllReduce | Opcode::ReduceScatter | Opcode::AllGather => {
                let types = of_each(opcode, inst, operands)?;
                if opcode != Opcode::AllGather {
                    types.iter().try_for_each(|ty| self.require_combiner(at, ty.dtype))?;
                }
                Ok(Some(match <[ArrayType; 1]>::try_from(types) {
                    Ok([only]) => Type::Array(only),
                    Err(types) => Type::Tuple(types.into_iter().map(Type::Array).collect()),
                }))
            }
            Opcode::AllToAll | Opcode::CollectivePermute => array(exchanged(opcode, inst, operands)),
        }
    }
}

/// Whether an instruction of a known opcode is in the form that our set has.
enum Form {
    /// It is.
    Ours,
    /// XLA has it, we do not: several reduced operands, groups as an iota or as axes of a mesh.
    Foreign,
}

fn form(opcode: Opcode, inst: &HloInstructionProto) -> Form {
    let expected = match opcode {
        Opcode::Reduce => 2,
        Opcode::Scatter => 3,
        Opcode::AllReduce | Opcode::ReduceScatter | Opcode::AllGather | Opcode::AllToAll => {
            if inst.iota_groups().is_some() || inst.mesh_axes_replica_group_list.is_some() {
                return Form::Foreign;
            }
            if opcode == Opcode::AllToAll { 1 } else { usize::MAX }
        }
        _ => return Form::Ours,
    };
    if inst.operand_ids.len() > expected { Form::Foreign } else { Form::Ours }
}

fn array(result: Result<ArrayType>) -> Result<Option<Type>> {
    result.map(|ty| Some(Type::Array(ty)))
}

fn missing(what: &str) -> Diagnostic {
    Diagnostic::error(codes::ATTRIBUTE, format!("{what} needed, found none"))
}

fn exactly<'t, const N: usize>(operands: &[&'t Type]) -> Result<[&'t Type; N]> {
    let arity = |_| Diagnostic::error(codes::ARITY, format!("{N} operands needed, found {}", operands.len()));
    operands.try_into().map_err(arity)
}

fn arrays<'t, const N: usize>(operands: &[&'t Type]) -> Result<[&'t ArrayType; N]> {
    exactly::<N>(operands)?;
    let arrays = operands.iter().map(|ty| ty.array()).collect::<Result<Vec<_>>>()?;
    arrays.try_into().map_err(|_| Diagnostic::bug("the number of operands was just checked"))
}

/// Instructions without operands, which state their type.
fn leaf(opcode: Opcode, inst: &HloInstructionProto, stated: &Type, operands: &[&Type]) -> Result<Option<Type>> {
    let [] = exactly(operands)?;
    match opcode {
        Opcode::Iota => {
            let [dimension] = dimensions::<1>(inst)?;
            infer::iota(stated.array()?, dimension)?;
        }
        Opcode::ReplicaId => return Ok(Some(Type::Array(ArrayType::scalar(halite_tensor::DType::U32)))),
        Opcode::Constant => constant(inst, stated.array()?)?,
        _ => {}
    }
    Ok(Some(stated.clone()))
}

fn constant(inst: &HloInstructionProto, stated: &ArrayType) -> Result<()> {
    let literal = inst.literal.as_ref().ok_or_else(|| missing("a literal"))?;
    let shape = literal.shape.as_ref().ok_or_else(|| missing("a literal's shape"))?;
    let ty = Type::from_proto(shape)?;
    if ty.array()? != stated {
        let message = format!("the literal is `{ty}`, but `{stated}` is stated");
        return Err(Diagnostic::error(codes::TYPE_MISMATCH, message));
    }
    let (expected, found) = (stated.num_elements(), literal::len(literal, stated.dtype));
    if found.is_none() || expected != found {
        return Err(Diagnostic::error(codes::SHAPE, format!("the literal of `{stated}` has not as many elements")));
    }
    Ok(())
}

fn dimensions<const N: usize>(inst: &HloInstructionProto) -> Result<[usize; N]> {
    let dims = to_dims("a dimension", &inst.dimensions)?;
    let found = dims.len();
    let count = |_| Diagnostic::error(codes::ATTRIBUTE, format!("{N} dimensions needed, found {found}"));
    dims.as_slice().try_into().map_err(count)
}

fn local(opcode: Opcode, inst: &HloInstructionProto, stated: &Type, operands: &[&Type]) -> Result<ArrayType> {
    let stated = stated.array()?;
    let dims = to_dims("a dimension", &inst.dimensions)?;
    match opcode {
        Opcode::Compare => {
            let [x, y] = arrays(operands)?;
            comparison(inst, x)?;
            infer::compare(x, y)
        }
        Opcode::Select => arrays(operands).and_then(|[condition, x, y]| infer::select(condition, x, y)),
        Opcode::Clamp => arrays(operands).and_then(|[low, x, high]| infer::clamp(low, x, high)),
        Opcode::Convert => arrays(operands).map(|[x]| infer::convert(x, stated.dtype)),
        Opcode::BitcastConvert => arrays(operands).and_then(|[x]| infer::bitcast_convert(x, stated.dtype)),
        Opcode::Broadcast => arrays(operands).and_then(|[x]| infer::broadcast(x, &stated.shape, &dims)),
        Opcode::Reshape => arrays(operands).and_then(|[x]| infer::reshape(x, &stated.shape)),
        Opcode::Transpose => arrays(operands).and_then(|[x]| infer::transpose(x, &dims)),
        Opcode::Reverse => arrays(operands).and_then(|[x]| infer::reverse(x, &dims)),
        Opcode::Slice => {
            let ranges = inst.slice_dimensions.iter().map(SliceDim::from_proto).collect::<Result<Vec<_>>>()?;
            arrays(operands).and_then(|[x]| infer::slice(x, &ranges))
        }
        Opcode::Pad => {
            let config = inst.padding_config.as_ref().ok_or_else(|| missing("a padding"))?;
            let padding = config.dimensions.iter().map(PadDim::from_proto).collect::<Result<Vec<_>>>()?;
            arrays(operands).and_then(|[x, value]| infer::pad(x, value, &padding))
        }
        _ => {
            let [dimension] = dimensions(inst)?;
            let operands = operands.iter().map(|ty| ty.array()).collect::<Result<Vec<_>>>()?;
            infer::concatenate(&operands, dimension)
        }
    }
}

fn comparison(inst: &HloInstructionProto, x: &ArrayType) -> Result<()> {
    if Comparison::parse(&inst.comparison_direction).is_none() {
        let message = format!("`{}` is no comparison direction", inst.comparison_direction);
        return Err(Diagnostic::error(codes::ATTRIBUTE, message));
    }
    let fits = match inst.comparison_type.as_str() {
        "" => true,
        "FLOAT" | "TOTALORDER" => x.dtype.is_float(),
        "SIGNED" => x.dtype.is_int() && x.dtype.is_signed(),
        "UNSIGNED" => !x.dtype.is_signed(),
        _ => false,
    };
    if fits {
        return Ok(());
    }
    let message = format!("`{}` is no order of the elements of `{x}`", inst.comparison_type);
    Err(Diagnostic::error(codes::ATTRIBUTE, message))
}

fn indexed(opcode: Opcode, inst: &HloInstructionProto, operands: &[&Type]) -> Result<ArrayType> {
    let operands = operands.iter().map(|ty| ty.array()).collect::<Result<Vec<_>>>()?;
    match (opcode, operands.as_slice()) {
        (Opcode::DynamicSlice, [x, starts @ ..]) => {
            infer::dynamic_slice(x, starts, &to_dims("a slice size", &inst.dynamic_slice_sizes)?)
        }
        (Opcode::DynamicUpdateSlice, [x, update, starts @ ..]) => infer::dynamic_update_slice(x, update, starts),
        (Opcode::Gather, [x, indices]) => {
            let dims = inst.gather_dimension_numbers.as_ref().ok_or_else(|| missing("gather dimensions"))?;
            let sizes = to_dims("a slice size", &inst.gather_slice_sizes)?;
            infer::gather(x, indices, &GatherDims::from_proto(dims)?, &sizes)
        }
        _ => Err(Diagnostic::error(codes::ARITY, format!("{} operands do not make it", operands.len()))),
    }
}

fn combined(opcode: Opcode, inst: &HloInstructionProto, operands: &[&Type]) -> Result<ArrayType> {
    match opcode {
        Opcode::Reduce => {
            let [x, init] = arrays(operands)?;
            infer::reduce(x, init, &to_dims("a dimension", &inst.dimensions)?)
        }
        _ => {
            let [x, indices, updates] = arrays(operands)?;
            let dims = inst.scatter_dimension_numbers.as_ref().ok_or_else(|| missing("scatter dimensions"))?;
            infer::scatter(x, indices, updates, &ScatterDims::from_proto(dims)?)
        }
    }
}

/// The types of what a collective makes of each operand.
fn of_each(opcode: Opcode, inst: &HloInstructionProto, operands: &[&Type]) -> Result<Vec<ArrayType>> {
    if operands.is_empty() {
        return Err(Diagnostic::error(codes::ARITY, "an operand needed, found none"));
    }
    let groups = groups(inst)?;
    let result = |ty: &&Type| match opcode {
        Opcode::AllReduce => infer::all_reduce(ty.array()?, &groups),
        Opcode::AllGather => dimensions(inst).and_then(|[dim]| infer::all_gather(ty.array()?, dim, &groups)),
        _ => dimensions(inst).and_then(|[dim]| infer::reduce_scatter(ty.array()?, dim, &groups)),
    };
    operands.iter().map(result).collect()
}

fn exchanged(opcode: Opcode, inst: &HloInstructionProto, operands: &[&Type]) -> Result<ArrayType> {
    let [x] = arrays(operands)?;
    match opcode {
        Opcode::AllToAll => dimensions(inst).and_then(|[dimension]| infer::all_to_all(x, dimension, &groups(inst)?)),
        _ => {
            let rank = |number| to_dim("a rank", number);
            let pair = |pair: &crate::proto::SourceTarget| Ok((rank(pair.source)?, rank(pair.target)?));
            let pairs = inst.source_target_pairs.iter().map(pair).collect::<Result<Vec<_>>>()?;
            infer::collective_permute(x, &pairs)
        }
    }
}

/// Groups from either field that XLA versions store them in.
fn groups(inst: &HloInstructionProto) -> Result<ReplicaGroups> {
    attributes::groups_from_proto(&inst.groups().unwrap_or_default())
}

fn custom_call(inst: &HloInstructionProto) -> Result<()> {
    if inst.custom_call_target.is_empty() {
        return Err(missing("a target"));
    }
    if !(0..=4).contains(&inst.custom_call_api_version) {
        return Err(missing("a known calling convention"));
    }
    Ok(())
}
