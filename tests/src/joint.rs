//! Samples side by side in one program, because each compilation has a fixed cost; and how far results may be apart.

use halite_ir::{Builder, Module, ParamRole, Registry, Sample};
use halite_support::Result;
use halite_tensor::HostTensor;
use halite_tensor::compare::difference;

/// All samples, each of one rank, side by side in one entry: parameters and results follow each other in order.
///
/// # Errors
/// When a sample is ill-typed.
pub fn joint_module(samples: &[Sample], registry: &Registry) -> Result<Module> {
    let mut module = Module::new("samples");
    let mut b = Builder::new(&mut module, registry, "main");
    let mut applied = Vec::new();
    for (position, sample) in samples.iter().enumerate() {
        let args = sample.args.iter().enumerate();
        let args: Vec<_> = args
            .map(|(index, arg)| b.param(format!("s{position}.x{index}"), arg.ty.clone(), ParamRole::Argument))
            .collect();
        applied.push((sample.op.clone(), args));
    }
    for (op, args) in applied {
        for result in b.emit_all(op, &args)? {
            b.result(result);
        }
    }
    b.finish();
    Ok(module)
}

/// Describes how `found` is further from `expected` than `ulps` units of roundoff, norm-wise; with 0, in any bit but those of NaN.
pub fn apart(found: &HostTensor, expected: &HostTensor, ulps: f64) -> Option<String> {
    if found.dtype() != expected.dtype() || found.shape() != expected.shape() {
        return Some(format!("is {found:?}, expected {expected:?}"));
    }
    let exact = ulps == 0.0 || !expected.dtype().is_float();
    if exact {
        let bits = |tensor: &HostTensor, at: usize| {
            tensor.bytes()[at * tensor.dtype().size()..][..tensor.dtype().size()].to_vec()
        };
        let (found_values, values) = (found.f64s(), expected.f64s());
        let same =
            |&at: &usize| bits(found, at) == bits(expected, at) || (found_values[at].is_nan() && values[at].is_nan());
        let at = (0..expected.len()).find(|at| !same(at))?;
        return Some(format!("at {at} is {:?}, expected {:?} exactly", found_values[at], values[at]));
    }
    let apart = difference(found, expected);
    let unit = expected.dtype().unit_roundoff();
    let (a, b) = (found.f64s(), expected.f64s());
    (apart.max_abs > ulps * unit * apart.scale).then(|| {
        let units = apart.relative() / unit;
        format!("at {} is {:?}, expected {:?}: {units:.1} units, {ulps} allowed", apart.at, a[apart.at], b[apart.at])
    })
}
