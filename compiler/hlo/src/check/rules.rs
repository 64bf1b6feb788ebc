//! The types of the opcodes of our set, inferred from the messages.

use super::Checker;
use super::site::{Inferred, Site};
use crate::attributes::{ConvDims, DotDims, GatherDims, PadDim, ReplicaGroups, ScatterDims, SliceDim, to_dim, to_dims};
use crate::opcode::{BinaryOp, Comparison, Opcode, RngAlgorithm, UnaryOp, opcodes};
use crate::proto::{HloInstructionProto, SourceTarget};
use crate::types::{ArrayType, Type};
use crate::{infer, literal};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::DType;

impl Checker<'_> {
    /// The inferred type; `None` for what our set lacks.
    pub(super) fn infer(&self, at: usize, stated: Option<&Type>, operands: &[Option<&Type>]) -> Inferred {
        self.require_callees(at)?;
        let inst = self.graph.inst(at);
        let operands = operands.iter().copied().collect::<Option<Vec<&Type>>>();
        let (Some(stated), Some(operands)) = (stated, operands) else { return Ok(None) };
        let Some(opcode) = Opcode::parse(&inst.opcode) else { return Ok(None) };
        of_opcode(opcode, &Site { checker: self, at, inst, stated, operands: &operands })
    }
}

/// The rule that the table names for each opcode.
macro_rules! rules {
    (
        unary { $($unary:tt)* }
        binary { $($binary:tt)* }
        other { $($Other:ident = $name:literal, $stablehlo:expr, $calls:ident, $rule:ident;)* }
    ) => {
        fn of_opcode(opcode: Opcode, site: &Site<'_>) -> Inferred {
            match opcode {
                Opcode::Unary(op) => unary(op, site),
                Opcode::Binary(op) => binary(op, site),
                $(Opcode::$Other => $rule(site),)*
            }
        }
    };
}

opcodes!(rules);

fn unary(op: UnaryOp, site: &Site<'_>) -> Inferred {
    let [x] = site.arrays()?;
    array(infer::unary(op, x))
}

fn binary(op: BinaryOp, site: &Site<'_>) -> Inferred {
    let [x, y] = site.arrays()?;
    array(infer::binary(op, x, y))
}

fn compare(site: &Site<'_>) -> Inferred {
    let [x, y] = site.arrays()?;
    comparison(site.inst, x)?;
    array(infer::compare(x, y))
}

fn select(site: &Site<'_>) -> Inferred {
    let [condition, x, y] = site.arrays()?;
    array(infer::select(condition, x, y))
}

fn clamp(site: &Site<'_>) -> Inferred {
    let [low, x, high] = site.arrays()?;
    array(infer::clamp(low, x, high))
}

fn convert(site: &Site<'_>) -> Inferred {
    let (stated, [x]) = (site.stated.array()?, site.arrays()?);
    array(Ok(infer::convert(x, stated.dtype)))
}

fn bitcast_convert(site: &Site<'_>) -> Inferred {
    let (stated, [x]) = (site.stated.array()?, site.arrays()?);
    array(infer::bitcast_convert(x, stated.dtype))
}

fn broadcast(site: &Site<'_>) -> Inferred {
    let (stated, dims, [x]) = (site.stated.array()?, site.dims()?, site.arrays()?);
    array(infer::broadcast(x, &stated.shape, &dims))
}

fn reshape(site: &Site<'_>) -> Inferred {
    let (stated, [x]) = (site.stated.array()?, site.arrays()?);
    array(infer::reshape(x, &stated.shape))
}

fn transpose(site: &Site<'_>) -> Inferred {
    let (dims, [x]) = (site.dims()?, site.arrays()?);
    array(infer::transpose(x, &dims))
}

fn reverse(site: &Site<'_>) -> Inferred {
    let (dims, [x]) = (site.dims()?, site.arrays()?);
    array(infer::reverse(x, &dims))
}

fn slice(site: &Site<'_>) -> Inferred {
    let ranges = site.inst.slice_dimensions.iter().map(SliceDim::from_proto).collect::<Result<Vec<_>>>()?;
    let [x] = site.arrays()?;
    array(infer::slice(x, &ranges))
}

fn pad(site: &Site<'_>) -> Inferred {
    let config = site.inst.padding_config.as_ref().ok_or_else(|| missing("a padding"))?;
    let padding = config.dimensions.iter().map(PadDim::from_proto).collect::<Result<Vec<_>>>()?;
    let [x, value] = site.arrays()?;
    array(infer::pad(x, value, &padding))
}

fn concatenate(site: &Site<'_>) -> Inferred {
    let (dim, operands) = (site.dim()?, site.each_array()?);
    array(infer::concatenate(&operands, dim))
}

fn dot(site: &Site<'_>) -> Inferred {
    let [lhs, rhs] = site.arrays()?;
    let dims = site.inst.dot_dimension_numbers.as_deref().ok_or_else(|| missing("dot dimensions"))?;
    array(infer::dot(lhs, rhs, &DotDims::from_proto(dims)?, site.stated.array()?.dtype))
}

fn convolution(site: &Site<'_>) -> Inferred {
    let ([x, kernel], inst) = (site.arrays()?, site.inst);
    let dims = inst.convolution_dimension_numbers.as_deref().ok_or_else(|| missing("dimensions of a convolution"))?;
    let window = site.window()?;
    // XLA leaves out groups of which there is one.
    let groups = |count| to_dim("the number of groups", count).map(|count: usize| count.max(1));
    let groups = (groups(inst.feature_group_count)?, groups(inst.batch_group_count)?);
    array(infer::convolution(x, kernel, &ConvDims::from_proto(dims)?, &window, groups, site.stated.array()?.dtype))
}

fn reduce(site: &Site<'_>) -> Inferred {
    // XLA reduces several operands together.
    if site.operands.len() > 2 {
        return Ok(None);
    }
    let [x, init] = site.arrays()?;
    let ty = infer::reduce(x, init, &site.dims()?)?;
    site.checker.require_combiner(site.at, ty.dtype)?;
    array(Ok(ty))
}

fn reduce_window(site: &Site<'_>) -> Inferred {
    // XLA reduces windows of several operands together.
    if site.operands.len() > 2 {
        return Ok(None);
    }
    let [x, init] = site.arrays()?;
    let ty = infer::reduce_window(x, init, &site.window()?)?;
    site.checker.require_combiner(site.at, ty.dtype)?;
    array(Ok(ty))
}

fn select_and_scatter(site: &Site<'_>) -> Inferred {
    let [x, source, init] = site.arrays()?;
    let ty = infer::select_and_scatter(x, source, init, &site.window()?)?;
    site.checker.require_selector(site.at, ty.dtype)?;
    array(Ok(ty))
}

fn dynamic_slice(site: &Site<'_>) -> Inferred {
    let operands = site.each_array()?;
    let [x, starts @ ..] = operands.as_slice() else { return Err(arity(site)) };
    array(infer::dynamic_slice(x, starts, &to_dims("a slice size", &site.inst.dynamic_slice_sizes)?))
}

fn dynamic_update_slice(site: &Site<'_>) -> Inferred {
    let operands = site.each_array()?;
    let [x, update, starts @ ..] = operands.as_slice() else { return Err(arity(site)) };
    array(infer::dynamic_update_slice(x, update, starts))
}

fn gather(site: &Site<'_>) -> Inferred {
    let operands = site.each_array()?;
    let [x, indices] = operands.as_slice() else { return Err(arity(site)) };
    let dims = site.inst.gather_dimension_numbers.as_ref().ok_or_else(|| missing("gather dimensions"))?;
    let sizes = to_dims("a slice size", &site.inst.gather_slice_sizes)?;
    array(infer::gather(x, indices, &GatherDims::from_proto(dims)?, &sizes))
}

fn scatter(site: &Site<'_>) -> Inferred {
    // XLA scatters to several operands together.
    if site.operands.len() > 3 {
        return Ok(None);
    }
    let [x, indices, updates] = site.arrays()?;
    let dims = site.inst.scatter_dimension_numbers.as_ref().ok_or_else(|| missing("scatter dimensions"))?;
    let ty = infer::scatter(x, indices, updates, &ScatterDims::from_proto(dims)?)?;
    site.checker.require_combiner(site.at, ty.dtype)?;
    array(Ok(ty))
}

fn all_reduce(site: &Site<'_>) -> Inferred {
    of_each(site, |x, groups| {
        let ty = infer::all_reduce(x, groups)?;
        site.checker.require_combining_op(site.at, ty.dtype).map(|()| ty)
    })
}

fn reduce_scatter(site: &Site<'_>) -> Inferred {
    of_each(site, |x, groups| {
        let ty = infer::reduce_scatter(x, site.dim()?, groups)?;
        site.checker.require_combining_op(site.at, ty.dtype).map(|()| ty)
    })
}

fn all_gather(site: &Site<'_>) -> Inferred {
    of_each(site, |x, groups| infer::all_gather(x, site.dim()?, groups))
}

/// The result types of a collective, inferred for each operand; that of a token is its own.
fn of_each(site: &Site<'_>, result: impl Fn(&ArrayType, &ReplicaGroups) -> Result<ArrayType>) -> Inferred {
    if site.has_foreign_groups() {
        return Ok(None);
    }
    if site.operands.is_empty() {
        return Err(Diagnostic::error(codes::ARITY, "an operand needed, found none"));
    }
    let groups = site.groups()?;
    let (operands, token) = site.token()?;
    let types = operands.iter().map(|ty| result(ty.array()?, &groups).map(Type::Array));
    let mut types = types.chain(token.cloned().map(Ok)).collect::<Result<Vec<Type>>>()?;
    Ok(Some(if types.len() == 1 { types.remove(0) } else { Type::Tuple(types) }))
}

fn all_to_all(site: &Site<'_>) -> Inferred {
    if site.has_foreign_groups() || site.operands.len() > 1 {
        return Ok(None);
    }
    let [x] = site.arrays()?;
    array(infer::all_to_all(x, site.dim()?, &site.groups()?))
}

fn collective_permute(site: &Site<'_>) -> Inferred {
    let [x] = site.arrays()?;
    let rank = |number| to_dim("a rank", number);
    let pair = |pair: &SourceTarget| Ok((rank(pair.source)?, rank(pair.target)?));
    let pairs = site.inst.source_target_pairs.iter().map(pair).collect::<Result<Vec<_>>>()?;
    array(infer::collective_permute(x, &pairs))
}

fn replica_id(site: &Site<'_>) -> Inferred {
    let [] = site.exactly()?;
    array(Ok(ArrayType::scalar(DType::U32)))
}

fn parameter(site: &Site<'_>) -> Inferred {
    let [] = site.exactly()?;
    Ok(Some(site.stated.clone()))
}

fn constant(site: &Site<'_>) -> Inferred {
    let ([], stated) = (site.exactly()?, site.stated.array()?);
    let literal = site.inst.literal.as_ref().ok_or_else(|| missing("a literal"))?;
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
    array(Ok(stated.clone()))
}

fn iota(site: &Site<'_>) -> Inferred {
    let ([], dim, stated) = (site.exactly()?, site.dim()?, site.stated.array()?);
    infer::iota(stated, dim)?;
    array(Ok(stated.clone()))
}

fn rng_bit_generator(site: &Site<'_>) -> Inferred {
    let [state] = site.arrays()?;
    let algorithm = RngAlgorithm::from_number(site.inst.rng_algorithm).ok_or_else(|| missing("a known algorithm"))?;
    let bits = infer::get_tuple_element(site.stated, 1)?.array()?;
    infer::rng_bit_generator(algorithm, state, bits).map(Some)
}

fn tuple(site: &Site<'_>) -> Inferred {
    Ok(Some(Type::Tuple(site.operands.iter().map(|ty| (*ty).clone()).collect())))
}

fn get_tuple_element(site: &Site<'_>) -> Inferred {
    let [tuple] = site.exactly()?;
    let index = to_dim("the index", site.inst.tuple_index)?;
    infer::get_tuple_element(tuple, index).cloned().map(Some)
}

/// The type of the operand.
fn same(site: &Site<'_>) -> Inferred {
    let [x] = site.exactly()?;
    Ok(Some(x.clone()))
}

fn call(site: &Site<'_>) -> Inferred {
    site.checker.call(site.at, site.operands).map(|()| site.checker.callee_result(site.at))
}

fn custom_call(site: &Site<'_>) -> Inferred {
    if site.inst.custom_call_target.is_empty() {
        return Err(missing("a target"));
    }
    if !(0..=4).contains(&site.inst.custom_call_api_version) {
        return Err(missing("a known calling convention"));
    }
    Ok(Some(site.stated.clone()))
}

fn array(result: Result<ArrayType>) -> Inferred {
    result.map(|ty| Some(Type::Array(ty)))
}

fn missing(what: &str) -> Diagnostic {
    Diagnostic::error(codes::ATTRIBUTE, format!("{what} needed, found none"))
}

fn arity(site: &Site<'_>) -> Diagnostic {
    Diagnostic::error(codes::ARITY, format!("{} operands do not make it", site.operands.len()))
}

/// Requires a direction that there is and an order of these elements.
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
