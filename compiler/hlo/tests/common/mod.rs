//! Modules that the tests share.

use halite_hlo::proto::{HloModuleProto, OpMetadata};
use halite_hlo::*;
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor, Shape};

/// Dimension numbers.
pub(crate) fn dims<const N: usize>(dims: [usize; N]) -> Dims {
    dims.into_iter().collect()
}

/// A module with every opcode, unary and binary op, reduction, and a call.
pub(crate) fn every_opcode() -> Result<HloModuleProto> {
    let mut module = ModuleBuilder::new("every_opcode");
    let twice = {
        let mut body = module.computation("twice");
        let x = body.parameter("x", ArrayType::new(DType::F32, [4, 8]))?;
        let sum = body.add(x, x)?;
        body.finish(sum)?
    };
    let mut b = module.computation("main");
    let x = b.parameter("x", ArrayType::new(DType::F32, [4, 8]))?;
    let ints = b.parameter("layers.0.ints", ArrayType::new(DType::S32, [4, 8]))?;
    let flags = b.parameter("0flags", ArrayType::new(DType::Pred, [4, 8]))?;
    let state = b.parameter("state", ArrayType::new(DType::U64, [2]))?;
    b.set_frontend_attribute(x, "neff_input_names", "input0000")?;
    let mut results = elementwise(&mut b, x, ints, flags)?;
    b.set_metadata(Some(OpMetadata {
        op_type: "move".into(),
        op_name: "model/\"layers\"/0".into(),
        source_file: "models/llama.hal".into(),
        source_line: 17,
        ..OpMetadata::default()
    }));
    results.extend(movement(&mut b, x)?);
    b.set_metadata(None);
    results.extend(reductions(&mut b, x, flags)?);
    results.extend(indexing(&mut b, x)?);
    results.extend(collectives(&mut b, x)?);
    results.extend(constants(&mut b)?);
    results.extend(structure(&mut b, x, ints, state, twice)?);
    results.extend([x, x]);
    let root = b.root_tuple(&results)?;
    b.set_frontend_attribute(root, "neff_output_names", "output0000,output0001")?;
    b.finish(root)?;
    module.alias(0, 0);
    module.alias(1, results.len() - 3);
    module.finish()
}

fn elementwise(b: &mut ComputationBuilder, x: Id, ints: Id, flags: Id) -> Result<Vec<Id>> {
    let mut results = Vec::new();
    for op in UnaryOp::ALL {
        let bits = b.array(x).and_then(|x| infer::unary(*op, x)).is_err();
        results.push(b.unary(*op, if bits { ints } else { x })?);
    }
    for op in BinaryOp::ALL {
        let bits = b.array(x).and_then(|x| infer::binary(*op, x, x)).is_err();
        let operand = if bits { ints } else { x };
        results.push(b.binary(*op, operand, operand)?);
    }
    for direction in Comparison::ALL {
        results.push(b.compare(*direction, x, x)?);
    }
    results.push(b.compare(Comparison::Lt, ints, ints)?);
    results.push(b.compare(Comparison::Eq, flags, flags)?);
    results.push(b.select(flags, x, x)?);
    results.push(b.clamp(x, x, x)?);
    for dtype in DType::ALL {
        results.push(b.convert(x, dtype)?);
    }
    results.push(b.bitcast_convert(x, DType::S32)?);
    results.push(b.bitcast_convert(x, DType::U16)?);
    results.push(b.copy(x)?);
    Ok(results)
}

fn movement(b: &mut ComputationBuilder, x: Id) -> Result<Vec<Id>> {
    let value = b.constant_scalar(DType::F32, -1.5)?;
    let row = b.iota(ArrayType::new(DType::F32, [8]), 0)?;
    let padding = [PadDim { low: 1, high: -1, interior: 0 }, PadDim { low: 0, high: 2, interior: 3 }];
    let edges = [PadDim { low: 1, high: 2, interior: 0 }, PadDim::default()];
    let ranges = [SliceDim::whole(4), SliceDim { start: 1, limit: 8, stride: 3 }];
    Ok(vec![
        b.broadcast(value, &Shape::from([2, 3]), &[])?,
        b.broadcast(row, &Shape::from([4, 8]), &[1])?,
        b.reshape(x, &Shape::from([2, 16]))?,
        b.transpose(x, &[1, 0])?,
        b.reverse(x, &[0, 1])?,
        b.slice(x, &ranges)?,
        b.slice(x, &[SliceDim::whole(4), SliceDim { start: 2, limit: 4, stride: 1 }])?,
        b.pad(x, value, &padding)?,
        b.pad(x, value, &edges)?,
        b.concatenate(&[x, x, x], 1)?,
    ])
}

fn reductions(b: &mut ComputationBuilder, x: Id, flags: Id) -> Result<Vec<Id>> {
    let mut results = Vec::new();
    for kind in ReduceKind::ALL {
        let bits = matches!(kind, ReduceKind::And | ReduceKind::Or | ReduceKind::Xor);
        let (operand, dtype) = if bits { (flags, DType::Pred) } else { (x, DType::F32) };
        let init = b.constant_scalar(dtype, 1.0)?;
        results.push(b.reduce(*kind, operand, init, &[0])?);
    }
    let contract = DotDims { lhs_contracting: dims([1]), rhs_contracting: dims([1]), ..DotDims::default() };
    results.push(b.dot(x, x, &contract, DType::F32)?);
    let batch = DotDims { lhs_batch: dims([0]), rhs_batch: dims([0]), ..contract };
    let narrow = b.convert(x, DType::Bf16)?;
    results.push(b.dot(narrow, narrow, &batch, DType::F32)?);
    results.extend(windows(b, x)?);
    Ok(results)
}

fn windows(b: &mut ComputationBuilder, x: Id) -> Result<Vec<Id>> {
    let points = ConvDims { input: dims([0, 1]), kernel: dims([0, 1]), output: dims([0, 1]) };
    let (image, kernel) = (b.reshape(x, &[2, 4, 4].into())?, b.reshape(x, &[4, 2, 4].into())?);
    let order = ConvDims { input: dims([0, 2, 1]), kernel: dims([0, 1, 2]), output: dims([2, 1, 0]) };
    let window = WindowDim { size: 4, stride: 2, low: 1, high: -1, base_dilation: 3, ..WindowDim::POINT };
    let backwards = WindowDim { window_dilation: 2, reversed: true, ..window };
    let init = b.constant_scalar(DType::F32, 0.0)?;
    let columns = WindowDim { size: 3, stride: 2, low: 1, high: 1, ..WindowDim::POINT };
    let dilated = WindowDim { base_dilation: 2, window_dilation: 2, ..columns };
    let windows = [WindowDim::POINT, columns];
    let largest = b.reduce_window(ReduceKind::Max, x, init, &windows)?;
    Ok(vec![
        largest,
        b.reduce_window(ReduceKind::Add, x, init, &[dilated, columns])?,
        b.select_and_scatter(Comparison::Ge, x, largest, init, &windows)?,
        b.convolution(x, x, &points, &[], (1, 1), DType::F32)?,
        b.convolution(image, kernel, &order, &[window], (2, 1), DType::F32)?,
        b.convolution(image, image, &order, &[backwards], (1, 2), DType::F64)?,
    ])
}

fn indexing(b: &mut ComputationBuilder, x: Id) -> Result<Vec<Id>> {
    let start = b.constant_scalar(DType::S32, 1.0)?;
    let part = b.dynamic_slice(x, &[start, start], &[2, 3])?;
    let updated = b.dynamic_update_slice(x, part, &[start, start])?;
    let rows = b.constant(&HostTensor::from_ints(DType::S32, [3], [0, 2, 1]))?;
    let take = GatherDims {
        offset_dims: dims([1]),
        collapsed_slice_dims: dims([0]),
        start_index_map: dims([0]),
        index_vector_dim: 1,
        ..GatherDims::default()
    };
    let taken = b.gather(x, rows, &take, &[1, 8], IndexFacts { sorted: true, unique: true })?;
    let put = ScatterDims {
        update_window_dims: dims([1]),
        inserted_window_dims: dims([0]),
        scatter_dims_to_operand_dims: dims([0]),
        index_vector_dim: 1,
        ..ScatterDims::default()
    };
    let added = b.scatter(Some(ReduceKind::Add), x, rows, taken, &put, IndexFacts::default())?;
    let assigned = b.scatter(None, x, rows, taken, &put, IndexFacts { sorted: true, unique: true })?;
    let columns = b.iota(ArrayType::new(DType::S32, [4, 2, 1]), 0)?;
    let along = GatherDims {
        collapsed_slice_dims: dims([1]),
        start_index_map: dims([1]),
        index_vector_dim: 2,
        operand_batching_dims: dims([0]),
        indices_batching_dims: dims([0]),
        ..GatherDims::default()
    };
    let taken_along = b.gather(x, columns, &along, &[1, 1], IndexFacts::default())?;
    let put_along = ScatterDims {
        inserted_window_dims: dims([1]),
        scatter_dims_to_operand_dims: dims([1]),
        index_vector_dim: 2,
        operand_batching_dims: dims([0]),
        indices_batching_dims: dims([0]),
        ..ScatterDims::default()
    };
    let added_along = b.scatter(Some(ReduceKind::Add), x, columns, taken_along, &put_along, IndexFacts::default())?;
    Ok(vec![part, updated, taken, added, assigned, taken_along, added_along])
}

fn collectives(b: &mut ComputationBuilder, x: Id) -> Result<Vec<Id>> {
    let groups = [vec![0, 2], vec![1, 3]];
    Ok(vec![
        b.all_reduce(ReduceKind::Add, &[x], &groups)?[0],
        b.all_gather(&[x], 1, &groups)?[0],
        b.reduce_scatter(ReduceKind::Add, &[x], 0, &groups)?[0],
        b.all_to_all(x, 0, &groups)?,
        b.collective_permute(x, &[(0, 1), (1, 2), (2, 0)])?,
        b.replica_id()?,
    ])
}

fn constants(b: &mut ComputationBuilder) -> Result<Vec<Id>> {
    let mut results = Vec::new();
    for dtype in DType::ALL {
        results.push(b.constant(&HostTensor::from_ints(dtype, [2, 2], [0, 1, 2, 3]))?);
        results.push(b.constant_scalar(dtype, 1.0)?);
    }
    for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_float()) {
        let values = [0.1, -1e-5, 1.0 / 3.0, 1e10, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0, 1e-30, 65504.0];
        results.push(b.constant(&HostTensor::from_f64s(dtype, [10], values))?);
    }
    results.push(b.constant(&HostTensor::from_ints(DType::S64, [2], [i128::from(i64::MIN), i128::from(i64::MAX)]))?);
    results.push(b.constant(&HostTensor::from_ints(DType::S32, [1, 2, 3], 0..6))?);
    results.push(b.constant(&HostTensor::from_ints(DType::S32, [0], []))?);
    results.push(b.constant(&HostTensor::from_ints(DType::S32, [2, 0], []))?);
    results.push(b.constant(&HostTensor::from_ints(DType::S32, [3, 4], 0..12))?);
    Ok(results)
}

fn structure(b: &mut ComputationBuilder, x: Id, ints: Id, state: Id, twice: ComputationId) -> Result<Vec<Id>> {
    let mut results = b.optimization_barrier(&[x])?;
    results.extend(b.optimization_barrier(&[x, x])?);
    results.push(b.call(twice, &[x])?);
    let random = b.rng_bit_generator(RngAlgorithm::Default, state, &ArrayType::new(DType::U32, [5]))?;
    results.push(b.get_tuple_element(random, 1)?);
    let philox = b.rng_bit_generator(RngAlgorithm::Philox, state, &ArrayType::new(DType::U8, [5]))?;
    results.push(b.get_tuple_element(philox, 0)?);
    let silu = CustomCall {
        target: "AwsNeuronSilu".into(),
        backend_config: "1".into(),
        api_version: 2,
        ..CustomCall::default()
    };
    let ty = b.type_of(x)?.clone();
    results.push(b.custom_call(&silu, &[x], ty.clone())?);
    let pair = CustomCall { target: "Pair".into(), api_version: 2, has_side_effect: true, ..CustomCall::default() };
    let both = b.custom_call(&pair, &[x, ints], Type::Tuple(vec![ty.clone(), ty]))?;
    results.push(b.get_tuple_element(both, 0)?);
    results.push(b.copy(ints)?);
    Ok(results)
}
