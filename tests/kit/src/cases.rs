//! The samples of every op, and what the laws do with them.

use crate::numeric::uniform;
use halite_ir::{Builder, Module, Op, ParamRole, Registry, ResultRole, Sample, Value, WeightInfo, sample_module};
use halite_support::{Diagnostic, Result};
use halite_tensor::{DType, HostTensor, Init, Shape};

/// The float types that every op is tried with.
pub const FLOATS: [DType; 4] = [DType::F32, DType::F64, DType::Bf16, DType::F16];

/// The samples of every primitive, then of every composite, with floats of type `float`.
pub fn samples(float: DType, registry: &Registry) -> Vec<Sample> {
    let primitives = Op::primitives().into_iter().flat_map(|op| op.def().samples(float));
    let composites = registry.composites().flat_map(|def| def.samples(float));
    primitives.chain(composites).collect()
}

/// The samples of [`samples`] that depend on `float`, or all for `f32`: those without floats are the same for each.
pub fn distinct_samples(float: DType, registry: &Registry) -> Vec<Sample> {
    let depends = |sample: &Sample| {
        let results = sample_module(sample, registry).map(|module| module.functions[0].result_types());
        let args = sample.args.iter().map(|arg| arg.ty.dtype());
        args.chain(results.into_iter().flatten().map(|ty| ty.dtype())).any(|dtype| dtype == float)
    };
    samples(float, registry).into_iter().filter(|sample| float == DType::F32 || depends(sample)).collect()
}

/// The name of a sample in messages: ``tanh `special values` in bf16``.
pub fn describe(sample: &Sample, float: DType) -> String {
    format!("{} `{}` in {float}", sample.op.name(), sample.label)
}

/// A module whose weights are the operands to differentiate by, and whose loss is the sum of the results times fixed
/// random cotangents.
///
/// # Errors
/// When the sample is ill-typed or has no float among its results.
pub fn objective(sample: &Sample, registry: &Registry, operands: &[usize]) -> Result<Module> {
    let mut module = Module::new("objective");
    let mut b = Builder::new(&mut module, registry, "main");
    let weight = || ParamRole::Weight(WeightInfo::new(Init::Zeros));
    let args = sample.args.iter().enumerate();
    let args: Vec<_> = args
        .map(|(at, arg)| {
            let role = if operands.contains(&at) { weight() } else { ParamRole::Argument };
            b.param(format!("x{at}"), arg.ty.clone(), role)
        })
        .collect();
    let results = b.emit_all(sample.op.clone(), &args)?;
    let mut loss: Option<Value> = None;
    for (at, result) in results.into_iter().enumerate() {
        let Some(term) = weigh(&mut b, result, at)? else { continue };
        loss = Some(match loss {
            Some(sum) => b.add(sum, term)?,
            None => term,
        });
    }
    let loss = loss.ok_or_else(|| Diagnostic::bug("no result is a float"))?;
    b.named_result(loss, "loss", ResultRole::Loss);
    b.finish();
    Ok(module)
}

/// The fixed random cotangents of result `at`.
pub fn cotangents(dtype: DType, shape: &Shape, at: usize) -> HostTensor {
    uniform(dtype, shape.clone(), 0.5, 1.5, at as u64)
}

/// The sum of a float times fixed random cotangents, in f64.
fn weigh(b: &mut Builder<'_>, result: Value, at: usize) -> Result<Option<Value>> {
    let ty = b.ty(result).clone();
    if !ty.dtype().is_float() {
        return Ok(None);
    }
    let cotangents = b.constant(cotangents(ty.dtype(), ty.shape(), at))?;
    let product = b.multiply(result, cotangents)?;
    let dims: Vec<usize> = (0..ty.rank()).collect();
    let sum = b.reduce_sum(product, &dims)?;
    b.convert(sum, DType::F64).map(Some)
}
