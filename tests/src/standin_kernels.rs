//! The meaning of Neuron's kernels in the stand-in compiler, written from their table and not from how Halite calls them.

use halite_hlo::proto::{HloInstructionProto, HloModuleProto, ShapeProto};
use halite_hlo::{DECOMPOSITION, Type, is_custom_call, link_decompositions};
use halite_ir::{Attr, Builder, LowerOptions, Module, ParamRole, Registry, TensorType, Value, Values};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, HostTensor};
use halite_test_kit::xla;
use std::collections::BTreeMap;

/// The module with its kernels written out, that of the name `wrong` computing a thousandth too much.
///
/// # Errors
/// When it calls a kernel that is not known here, or with other operands.
pub fn link(module: &HloModuleProto, wrong: Option<&str>) -> Result<HloModuleProto> {
    let mut calls = BTreeMap::new();
    for computation in &module.computations {
        for inst in computation.instructions.iter().filter(|inst| is_custom_call(inst)) {
            let operands = inst.operand_ids.iter().map(|id| {
                let known = computation.instructions.iter().find(|known| known.id == *id);
                tensor(known.and_then(|known| known.shape.as_deref()))
            });
            let name = inst.frontend_attributes.as_ref().and_then(|attributes| attributes.map.get(DECOMPOSITION));
            calls.insert(name.cloned().unwrap_or_default(), (inst.clone(), operands.collect::<Result<Vec<_>>>()?));
        }
    }
    link_decompositions(module, |name| {
        let (inst, operands) = calls.get(name).ok_or_else(|| unknown("a kernel without a name"))?;
        written_out(inst, operands, wrong == Some(&inst.custom_call_target))
    })
}

fn unknown(what: &str) -> Diagnostic {
    Diagnostic::error(codes::ATTRIBUTE, format!("[NCC_EHCA005] {what}"))
}

/// The type of an array.
fn tensor(shape: Option<&ShapeProto>) -> Result<TensorType> {
    match shape.map(Type::from_proto).transpose()? {
        Some(Type::Array(array)) => Ok(TensorType::new(array.dtype, array.shape.clone())),
        _ => Err(unknown("an operand of a kernel is no array")),
    }
}

fn written_out(inst: &HloInstructionProto, operands: &[TensorType], is_wrong: bool) -> Result<HloModuleProto> {
    let registry = Registry::builtin();
    let mut module = Module::new("kernel");
    let mut b = Builder::new(&mut module, &registry, "main");
    let param = |(at, ty): (usize, &TensorType)| b.param(format!("x{at}"), ty.clone(), ParamRole::Argument);
    let args: Vec<Value> = operands.iter().enumerate().map(param).collect();
    let config = String::from_utf8_lossy(&inst.backend_config).into_owned();
    for mut result in kernel(&mut b, &inst.custom_call_target, &config, &args)? {
        if is_wrong && b.dtype(result).is_float() {
            result = b.multiply_scalar(result, 1.001)?;
        }
        b.result(result);
    }
    b.finish();
    halite_hlo::decode(&xla::hlo(&module, &registry, LowerOptions::default())?)
}

/// Builds the results of a kernel for its operands.
fn kernel(b: &mut Builder<'_>, name: &str, config: &str, args: &[Value]) -> Result<Values> {
    let number = || config.parse::<i64>().map_err(|_| unknown("a kernel has no number for its configuration"));
    match (name, args) {
        ("AwsNeuronSoftmax", [x]) => b.composite("softmax", &[("dim", Attr::Int(number()?))], &[*x]),
        ("AwsNeuronSoftmaxBackward", [ct, y]) => {
            b.composite("softmax_grad", &[("dim", Attr::Int(number()?))], &[*y, *ct])
        }
        ("AwsNeuronRmsNorm", [x, weight, eps]) => {
            Ok([rms_norm(b, (*x, *weight, *eps), number()?)?].into_iter().collect())
        }
        ("AwsNeuronSilu", [x]) => b.composite("silu", &[], &[*x]),
        ("AwsNeuronGelu", [x]) => b.composite("gelu", &[("tanh", Attr::Bool(false))], &[*x]),
        ("AwsNeuronGeluApprxTanh", [x]) => b.composite("gelu", &[("tanh", Attr::Bool(true))], &[*x]),
        ("AwsNeuronSiluBackward", [x]) => derivative(b, "silu_grad", &[], *x),
        ("AwsNeuronGeluBackward", [x]) => derivative(b, "gelu_grad", &[("tanh", Attr::Bool(false))], *x),
        ("AwsNeuronArgMax", [x]) => {
            let dim = usize::try_from(number()?).map_err(|_| unknown("no such dimension"))?;
            let at = b.arg_max(*x, dim)?;
            Ok([b.convert(at, DType::U32)?].into_iter().collect())
        }
        ("AwsNeuronTopK", [x]) => {
            let found = b.composite("top_k", &[("k", Attr::Int(number()?))], &[*x])?;
            Ok([found[0], b.convert(found[1], DType::U32)?].into_iter().collect())
        }
        _ => Err(unknown(&format!("the kernel `{name}` of {} operands", args.len()))),
    }
}

/// The derivative of a function: its gradient for a cotangent of one.
fn derivative(b: &mut Builder<'_>, gradient: &str, attrs: &[(&str, Attr)], x: Value) -> Result<Values> {
    let (dtype, shape) = (b.dtype(x), b.shape(x).clone());
    let ones = vec![1.0; shape.num_elements()];
    let ones = b.constant(HostTensor::from_f64s(dtype, shape, ones))?;
    b.composite(gradient, attrs, &[x, ones])
}

fn rms_norm(b: &mut Builder<'_>, (x, weight, eps): (Value, Value, Value), dim: i64) -> Result<Value> {
    let shape = b.shape(x).clone();
    let dim =
        usize::try_from(dim).ok().filter(|dim| dim + 1 == shape.len()).ok_or_else(|| unknown("no last dimension"))?;
    let rows: Vec<usize> = (0..dim).collect();
    let square = b.multiply(x, x)?;
    let sum = b.reduce_sum(square, &[dim])?;
    let mean = b.multiply_scalar(sum, 1.0 / shape[dim] as f64)?;
    let eps = b.broadcast_in_dim(eps, &[], b.shape(mean).clone())?;
    let mean = b.add(mean, eps)?;
    let scale = b.rsqrt(mean)?;
    let scale = b.broadcast_in_dim(scale, &rows, shape.clone())?;
    let normed = b.multiply(x, scale)?;
    let weight = b.broadcast_in_dim(weight, &[dim], shape)?;
    b.multiply(normed, weight)
}
