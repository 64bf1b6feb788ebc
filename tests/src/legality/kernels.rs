//! Calls of kernels.

use super::{Case, array, case, edit, matrix, module, single};
use halite_hlo::proto::{HloModuleProto, Numbers};
use halite_hlo::{ArrayType, CustomCall, Type};
use halite_neuron::Generation;
use halite_support::Result;
use halite_tensor::DType;

pub(super) const CASES: &[Case] = &[
    case("unknown-kernel", || softmax("AwsNeuronSoftMax", "1"), || softmax("AwsNeuronSoftmax", "1")),
    Case { target: Generation::Trn2, ..case("unknown-kernel", quantized, || top("16")) },
    case("unlisted-kernel", rms_norm_backward, rms_norm),
    case("kernel-schema", || softmax("AwsNeuronSoftmax", "2"), || softmax("AwsNeuronSoftmax", "0")),
    case("kernel-schema", || softmax("AwsNeuronSilu", "1"), || softmax("AwsNeuronSilu", "")),
    case("kernel-schema", || top("20000"), || top("16384")),
    case("kernel-schema", || positions([4, 8]), || positions([4])),
    case("kernel-schema", integer_top, || top("1")),
    case("kernel-tuple", packed, || softmax("AwsNeuronModuleMarkerStart-Forward", "")),
];

fn kernel(target: &str, config: &str) -> CustomCall {
    CustomCall { target: target.to_owned(), backend_config: config.to_owned(), api_version: 2, has_side_effect: false }
}

fn softmax(target: &str, config: &str) -> Result<HloModuleProto> {
    single(matrix(), |b, x| b.custom_call(&kernel(target, config), &[x], matrix().into()))
}

fn rms_norm() -> Result<HloModuleProto> {
    let weight = array(DType::F32, [8]);
    module(&[matrix(), weight, ArrayType::scalar(DType::F32)], |b, params| {
        Ok(vec![b.custom_call(&kernel("AwsNeuronRmsNorm", "1"), params, matrix().into())?])
    })
}

fn rms_norm_backward() -> Result<HloModuleProto> {
    let weight = array(DType::F32, [8]);
    module(&[matrix(), matrix(), weight.clone(), ArrayType::scalar(DType::F32)], |b, params| {
        let pair = Type::Tuple(vec![matrix().into(), weight.into()]);
        let both = b.custom_call(&kernel("AwsNeuronRmsNormBackward", "1"), params, pair)?;
        Ok(vec![b.get_tuple_element(both, 0)?, b.get_tuple_element(both, 1)?])
    })
}

fn top_of(dtype: DType, count: &str) -> Result<HloModuleProto> {
    let size = count.parse().unwrap_or(1);
    module(&[array(dtype, [4, 32768])], |b, params| {
        let pair = Type::Tuple(vec![array(dtype, [4, size]).into(), array(DType::U32, [4, size]).into()]);
        let both = b.custom_call(&kernel("AwsNeuronTopK", count), params, pair)?;
        Ok(vec![b.get_tuple_element(both, 0)?, b.get_tuple_element(both, 1)?])
    })
}

fn top(count: &str) -> Result<HloModuleProto> {
    top_of(DType::F32, count)
}

fn integer_top() -> Result<HloModuleProto> {
    top_of(DType::S32, "1")
}

fn positions<const N: usize>(shape: [usize; N]) -> Result<HloModuleProto> {
    single(matrix(), |b, x| b.custom_call(&kernel("AwsNeuronArgMax", "1"), &[x], array(DType::U32, shape).into()))
}

fn quantized() -> Result<HloModuleProto> {
    module(&[array(DType::Bf16, [4, 32])], |b, params| {
        let pair = Type::Tuple(vec![array(DType::U32, [4, 8]).into(), array(DType::U8, [4, 1]).into()]);
        let both = b.custom_call(&kernel("QuantizeMX", "{\"dtype\": \"float8_e5m2\"}"), params, pair)?;
        Ok(vec![b.get_tuple_element(both, 0)?, b.get_tuple_element(both, 1)?])
    })
}

fn packed() -> Result<HloModuleProto> {
    let made = single(matrix(), |b, x| {
        b.tuple(&[x, x])?;
        b.custom_call(&kernel("AwsNeuronModuleMarkerStart-Forward", ""), &[x], matrix().into())
    });
    edit(made, "custom-call", |inst| inst.operand_ids = Numbers::from_slice(&[inst.id - 1]))
}
