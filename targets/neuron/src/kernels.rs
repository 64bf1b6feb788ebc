//! The dialect `neuron`: kernels that `neuronx-cc` recognises as custom calls.
//!
//! How well each is known stands in the table of kernels with its source. Those whose operands are only presumed or known
//! from a single source are off, but for the backward softmax: the published trainings of Llama on Trainium ran by it. A
//! backward RMS norm is not on the documented list of names.
//!
//! Those that compute are given `f32`, in which the engines compute: in a narrower type a decomposition rounds after each
//! step and a kernel once. Those that choose take any float.
//!
//! Calls have the version of XLA's interface of custom calls that `AwsNeuronSilu` has in the documentation of the SDK (error
//! code `EHCA005`): 2, which is how `kernel_call` is lowered.

use crate::Generation;
use crate::tables::{KernelConfig, KernelSchema};
use halite_ir::composites::{gelu::TANH, rms_norm::EPS, softmax::DIM, top_k::K};
use halite_ir::{Op, TensorType};
use halite_passes::{DialectEntry, KernelUse, Operand, Site};
use halite_target::Basis;
use halite_tensor::DType;

type Offer = fn(&Site<'_>) -> Result<KernelUse, String>;

/// The kernel whose count the table bounds.
const TOP_K: &str = "AwsNeuronTopK";

/// All kernels of the dialect.
pub fn entries() -> Vec<DialectEntry> {
    let entry = |name: &str, op: &str, kernel: &str, call: Offer| {
        DialectEntry::new(name, op, kernel, call).priority(10).targets(Generation::ALL).known(known(kernel))
    };
    vec![
        entry("neuron.softmax", "softmax", "AwsNeuronSoftmax", softmax),
        entry("neuron.softmax_backward", "softmax_grad", "AwsNeuronSoftmaxBackward", softmax_backward),
        entry("neuron.rms_norm", "rms_norm", "AwsNeuronRmsNorm", rms_norm),
        entry("neuron.silu", "silu", "AwsNeuronSilu", silu),
        entry("neuron.silu_backward", "silu_grad", "AwsNeuronSiluBackward", silu_backward).off(),
        entry("neuron.gelu", "gelu", "AwsNeuronGelu", gelu),
        entry("neuron.gelu_tanh", "gelu", "AwsNeuronGeluApprxTanh", gelu_tanh),
        entry("neuron.gelu_backward", "gelu_grad", "AwsNeuronGeluBackward", gelu_backward).off(),
        entry("neuron.arg_max", "arg_max", "AwsNeuronArgMax", arg_max),
        entry("neuron.top_k", "top_k", TOP_K, top_k),
    ]
}

/// Describes how well the interface of a kernel is known, from the tables.
fn known(kernel: &str) -> &'static str {
    match KernelSchema::named(kernel) {
        None => "no source of it is known",
        Some(KernelSchema { listed: false, .. }) => "the documentation does not list it",
        Some(KernelSchema { provenance, .. }) => match provenance.basis {
            Basis::Inferred => "its operands are presumed",
            Basis::SingleSource => "its operands are known from a single source",
            Basis::Observed => "its operands are known from the code of public projects",
            Basis::Documented => "it is documented",
        },
    }
}

fn softmax(site: &Site<'_>) -> Result<KernelUse, String> {
    let dim = last_dim(site)?;
    Ok(KernelUse::new(dim, [Operand::Arg(0)]))
}

/// `(cotangent, result of the softmax)`.
fn softmax_backward(site: &Site<'_>) -> Result<KernelUse, String> {
    let dim = last_dim(site)?;
    Ok(KernelUse::new(dim, [Operand::Arg(1), Operand::Arg(0)]))
}

/// `(hidden, weight, eps)`. Callers have three dimensions and normalize the last; along dimension 1 they write plain HLO.
fn rms_norm(site: &Site<'_>) -> Result<KernelUse, String> {
    let x = float(site)?;
    let Some(dim) = x.rank().checked_sub(1).filter(|dim| *dim >= 2) else {
        return Err(format!("`{x}` has rank {}, the kernel is known for 3 and more", x.rank()));
    };
    let operands = [Operand::Arg(0), Operand::Arg(1), Operand::Scalar(site.attr(&EPS)?)];
    Ok(KernelUse::new(dim.to_string(), operands))
}

fn silu(site: &Site<'_>) -> Result<KernelUse, String> {
    float(site)?;
    Ok(KernelUse::new("", [Operand::Arg(0)]))
}

/// The derivative at the operand, like that of GELU.
fn silu_backward(site: &Site<'_>) -> Result<KernelUse, String> {
    float(site)?;
    Ok(KernelUse::new("", [Operand::Arg(0)]).times(1))
}

fn gelu(site: &Site<'_>) -> Result<KernelUse, String> {
    float(site)?;
    require_form(site, false)?;
    Ok(KernelUse::new("", [Operand::Arg(0)]))
}

fn gelu_tanh(site: &Site<'_>) -> Result<KernelUse, String> {
    float(site)?;
    require_form(site, true)?;
    Ok(KernelUse::new("", [Operand::Arg(0)]))
}

/// The derivative at the operand, to be multiplied by the cotangent outside.
fn gelu_backward(site: &Site<'_>) -> Result<KernelUse, String> {
    float(site)?;
    require_form(site, false)?;
    Ok(KernelUse::new("", [Operand::Arg(0)]).times(1))
}

/// Positions along a dimension, which its configuration names.
fn arg_max(site: &Site<'_>) -> Result<KernelUse, String> {
    let Op::ArgMax(op) = site.op else { return Err(format!("`{}` is no `arg_max`", site.op.name())) };
    any_float(site)?;
    Ok(KernelUse::new(op.dim.to_string(), [Operand::Arg(0)]).unsigned())
}

/// Values and positions of the largest along the last dimension.
fn top_k(site: &Site<'_>) -> Result<KernelUse, String> {
    any_float(site)?;
    let k = site.attr(&K)?;
    if let Some(KernelConfig::Count { at_most }) = KernelSchema::named(TOP_K).and_then(|kernel| kernel.config)
        && u64::try_from(k).is_ok_and(|k| k > at_most)
    {
        return Err(format!("it takes {k} elements of each row, the kernel at most {at_most}"));
    }
    Ok(KernelUse::new(k.to_string(), [Operand::Arg(0)]).unsigned())
}

/// The first operand, in `f32`.
fn float<'a>(site: &Site<'a>) -> Result<&'a TensorType, String> {
    match site.args.first() {
        Some(x) if x.dtype() == DType::F32 => Ok(x),
        Some(x) => Err(format!("it computes in `{}`, the kernel in `f32`", x.dtype())),
        None => Err("it has no operand".to_owned()),
    }
}

/// The first operand, in a float that the engines take.
fn any_float<'a>(site: &Site<'a>) -> Result<&'a TensorType, String> {
    match site.args.first() {
        Some(x) if matches!(x.dtype(), DType::F32 | DType::Bf16 | DType::F16) => Ok(x),
        Some(x) => Err(format!("its operand is `{}`, the kernel takes floats of at most 32 bits", x.dtype())),
        None => Err("it has no operand".to_owned()),
    }
}

/// The number of the dimension along which a softmax runs, which is the last of several in all known uses.
fn last_dim(site: &Site<'_>) -> Result<String, String> {
    let x = float(site)?;
    let dim = site.attrs()?.dim(&DIM, x).map_err(|error| error.message().to_owned())?;
    match x.rank() {
        0 | 1 => Err(format!("`{x}` has rank {}, the kernel is known for 2 and more", x.rank())),
        rank if dim + 1 == rank => Ok(dim.to_string()),
        rank => Err(format!("it runs along dimension {dim}, the kernel along the last one, which is {}", rank - 1)),
    }
}

/// GELU has a kernel for each of its forms.
fn require_form(site: &Site<'_>, tanh: bool) -> Result<(), String> {
    let name = |tanh| if tanh { "tanh" } else { "exact" };
    let found = site.attr(&TANH)?;
    if found == tanh {
        return Ok(());
    }
    Err(format!("it has the {} form, the kernel the {} one", name(found), name(tanh)))
}
