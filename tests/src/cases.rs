//! The samples of every op, and what the laws do with them.

use halite_ir::{Op, Registry, Sample, sample_module};
use halite_tensor::DType;

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

/// How messages name a sample: ``tanh `special values` in bf16``.
pub fn describe(sample: &Sample, float: DType) -> String {
    format!("{} `{}` in {float}", sample.op.name(), sample.label)
}
