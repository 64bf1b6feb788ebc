//! The dialect `neuron`: kernels that `neuronx-cc` recognises as custom calls.
//!
//! Their names are on the list of targets in the documentation of the Neuron SDK (error code `EHCA005`). Operands and
//! configurations are as public projects call them: transformers-neuronx (softmax, RMS norm, GELU), the documentation
//! itself (SiLU). Those of the backward kernels come from a single unofficial source; of these the softmax is on, because
//! the published trainings of Llama on Trainium ran by it. A backward RMS norm is not on the list.
//!
//! All are given `f32`, in which the engines compute: in a narrower type a decomposition rounds after each step and a
//! kernel once.

use super::{DialectEntry, Kernel, Operand, Site, Trust};
use halite_ir::TensorType;
use halite_spec::Target;
use halite_tensor::DType;

const NEURON: &[Target] = &[Target::Trn1, Target::Trn1n, Target::Trn2, Target::Trn3, Target::Inf2];

/// All kernels of the dialect.
pub(super) fn entries() -> Vec<DialectEntry> {
    let entry = |name, composite, kernel| DialectEntry {
        name,
        composite,
        priority: 10,
        targets: NEURON,
        trust: Trust::Documented,
        enabled: true,
        kernel,
    };
    let off = |trust, entry: DialectEntry| DialectEntry { trust, enabled: false, ..entry };
    vec![
        entry("neuron.softmax", "softmax", softmax),
        DialectEntry {
            trust: Trust::SingleSource,
            ..entry("neuron.softmax_backward", "softmax_grad", softmax_backward)
        },
        entry("neuron.rms_norm", "rms_norm", rms_norm),
        entry("neuron.silu", "silu", silu),
        off(Trust::Presumed, entry("neuron.silu_backward", "silu_grad", silu_backward)),
        entry("neuron.gelu", "gelu", gelu),
        entry("neuron.gelu_tanh", "gelu", gelu_tanh),
        off(Trust::SingleSource, entry("neuron.gelu_backward", "gelu_grad", gelu_backward)),
    ]
}

fn kernel(target: &'static str, config: impl Into<String>, operands: &[Operand]) -> Kernel {
    Kernel { target, config: config.into(), operands: operands.to_vec(), factor: None }
}

fn softmax(site: &Site<'_>) -> Result<Kernel, String> {
    let dim = last_dim(site)?;
    Ok(kernel("AwsNeuronSoftmax", dim, &[Operand::Arg(0)]))
}

/// `(cotangent, result of the softmax)`.
fn softmax_backward(site: &Site<'_>) -> Result<Kernel, String> {
    let dim = last_dim(site)?;
    Ok(kernel("AwsNeuronSoftmaxBackward", dim, &[Operand::Arg(1), Operand::Arg(0)]))
}

/// `(hidden, weight, eps)`. Callers have three dimensions and normalize the last; along dimension 1 they write plain HLO.
fn rms_norm(site: &Site<'_>) -> Result<Kernel, String> {
    let x = float(site)?;
    let Some(dim) = x.rank().checked_sub(1).filter(|dim| *dim >= 2) else {
        return Err(format!("`{x}` has rank {}, the kernel is known for 3 and more", x.rank()));
    };
    let operands = [Operand::Arg(0), Operand::Arg(1), Operand::Scalar(site.attrs.real("eps"))];
    Ok(kernel("AwsNeuronRmsNorm", dim.to_string(), &operands))
}

fn silu(site: &Site<'_>) -> Result<Kernel, String> {
    float(site)?;
    Ok(kernel("AwsNeuronSilu", "", &[Operand::Arg(0)]))
}

/// The derivative at the operand, like that of GELU.
fn silu_backward(site: &Site<'_>) -> Result<Kernel, String> {
    float(site)?;
    Ok(Kernel { factor: Some(1), ..kernel("AwsNeuronSiluBackward", "", &[Operand::Arg(0)]) })
}

fn gelu(site: &Site<'_>) -> Result<Kernel, String> {
    float(site)?;
    require_form(site, false)?;
    Ok(kernel("AwsNeuronGelu", "", &[Operand::Arg(0)]))
}

fn gelu_tanh(site: &Site<'_>) -> Result<Kernel, String> {
    float(site)?;
    require_form(site, true)?;
    Ok(kernel("AwsNeuronGeluApprxTanh", "", &[Operand::Arg(0)]))
}

/// The derivative at the operand, to be multiplied by the cotangent outside.
fn gelu_backward(site: &Site<'_>) -> Result<Kernel, String> {
    float(site)?;
    require_form(site, false)?;
    Ok(Kernel { factor: Some(1), ..kernel("AwsNeuronGeluBackward", "", &[Operand::Arg(0)]) })
}

/// The first operand, in `f32`.
fn float<'a>(site: &Site<'a>) -> Result<&'a TensorType, String> {
    match site.args.first() {
        Some(x) if x.dtype() == DType::F32 => Ok(x),
        Some(x) => Err(format!("it computes in `{}`, the kernel in `f32`", x.dtype())),
        None => Err("it has no operand".to_owned()),
    }
}

/// The number of the dimension along which a softmax runs, which is the last of several in all known uses.
fn last_dim(site: &Site<'_>) -> Result<String, String> {
    let x = float(site)?;
    let dim = site.attrs.dim("dim", x).map_err(|error| error.message().to_owned())?;
    match x.rank() {
        0 | 1 => Err(format!("`{x}` has rank {}, the kernel is known for 2 and more", x.rank())),
        rank if dim + 1 == rank => Ok(dim.to_string()),
        rank => Err(format!("it runs along dimension {dim}, the kernel along the last one, which is {}", rank - 1)),
    }
}

/// GELU has a kernel for each of its forms.
fn require_form(site: &Site<'_>, tanh: bool) -> Result<(), String> {
    let name = |tanh| if tanh { "tanh" } else { "exact" };
    let found = site.attrs.flag("tanh");
    if found == tanh {
        return Ok(());
    }
    Err(format!("it has the {} form, the kernel the {} one", name(found), name(tanh)))
}
