//! The parts of an entry that are derived from a sample of an op: its types, its instruction, its gradient and its HLO.

use halite::Session;
use halite_ir::ops::Op;
use halite_ir::text::{PrintOptions, print_function};
use halite_ir::{
    Builder, Cost, InferCx, LowerOptions, Module, OpClass, ParamRole, Policy, Registry, Sample, TensorType, Value, Vjp,
    VjpCx, lower, sample_module, verify,
};
use halite_passes::{Runner, RunnerOptions};
use halite_support::{Result, SourceMap};

/// The types of a sample: `f32[2], s32[2] -> f32[2]`.
pub(super) fn types(sample: &Sample, registry: &Registry) -> Result<String> {
    let args: Vec<String> = sample.args.iter().map(|arg| arg.ty.to_string()).collect();
    let results: Vec<String> = results(sample, registry)?.iter().map(ToString::to_string).collect();
    Ok(format!("`{} -> {}`", args.join(", "), results.join(", ")))
}

fn results(sample: &Sample, registry: &Registry) -> Result<Vec<TensorType>> {
    Ok(sample_module(sample, registry)?.functions[0].result_types())
}

/// The instruction in a function.
pub(super) fn instruction(sample: &Sample, registry: &Registry) -> Result<String> {
    Ok(printed(&sample_module(sample, registry)?))
}

pub(super) fn printed(module: &Module) -> String {
    let print = |function| print_function(module, function, PrintOptions { locations: false });
    module.functions.iter().map(print).collect::<Vec<_>>().join("\n")
}

/// The cost of the instruction, as the compiler counts it.
pub(super) fn cost(sample: &Sample, registry: &Registry) -> Result<Cost> {
    let types: Vec<&TensorType> = sample.args.iter().map(|arg| &arg.ty).collect();
    Ok(sample.op.def().cost(&InferCx { functions: &[], registry }, &types, &results(sample, registry)?))
}

/// Describes a policy in words.
pub(super) fn policy(policy: &Policy) -> String {
    if matches!(policy.class, OpClass::Storage | OpClass::Integer) {
        return format!("{}: element types stay as they come", policy.class.name());
    }
    let results: Vec<&str> = policy.results.iter().map(|result| result.name()).collect();
    let sums = policy.accumulate.map_or_else(String::new, |sums| format!(", sums in {}", sums.name()));
    let (class, operand, compute) = (policy.class.name(), policy.operand.name(), policy.compute.name());
    format!("{class}: operands in {operand}, computed in {compute}{sums}, results in {}", results.join(" and "))
}

/// The gradient of the instruction as a function of its operands and the cotangents of its results, or why there is none.
pub(super) enum Gradient {
    /// The function.
    Function(String),
    /// Zero everywhere.
    Zero,
    /// There is none, for this reason.
    None(String),
}

pub(super) fn gradient(sample: &Sample, registry: &Registry) -> Result<Gradient> {
    let mut module = Module::new("gradient");
    let mut b = Builder::new(&mut module, registry, "gradient");
    let param = |b: &mut Builder<'_>, name: String, ty: &TensorType| b.param(name, ty.clone(), ParamRole::Argument);
    let args: Vec<Value> =
        sample.args.iter().enumerate().map(|(at, arg)| param(&mut b, format!("x{at}"), &arg.ty)).collect();
    let types = results(sample, registry)?;
    let ct = |(at, ty): (usize, &TensorType)| ty.dtype().is_float().then(|| param(&mut b, format!("ct{at}"), ty));
    let cts: Vec<Option<Value>> = types.iter().enumerate().map(ct).collect();
    if cts.iter().all(Option::is_none) {
        return Ok(Gradient::None("no result is a float".to_owned()));
    }
    let results = b.emit_all(sample.op.clone(), &args)?;
    let wanted: Vec<bool> = args.iter().map(|&arg| b.dtype(arg).is_float()).collect();
    let cx = VjpCx { args: &args, results: &results, cts: &cts, wanted: &wanted };
    match sample.op.def().vjp(&mut b, &cx)? {
        Vjp::None(reason) => Ok(Gradient::None(reason)),
        Vjp::Cotangents(found) if found.iter().all(Option::is_none) => Ok(Gradient::Zero),
        Vjp::Cotangents(found) => {
            found.into_iter().flatten().for_each(|ct| b.result(ct));
            b.finish();
            Ok(Gradient::Function(printed(&module)))
        }
    }
}

/// The HLO of the instruction.
pub(super) fn hlo(sample: &Sample, session: &Session) -> Result<String> {
    let mut module = sample_module(sample, &session.registry)?;
    module.name = sample.op.name().into();
    let pipeline = session.passes.parse("expand-composites, legalize")?;
    Runner::new(RunnerOptions::default()).run(&pipeline, &mut module, &session.pass_cx(None, None)?)?;
    let verified = verify(&module, &session.registry).map_err(|errors| errors.into_bug("before lowering"))?;
    Ok(halite_hlo::text::print(&lower(verified, &SourceMap::new(), LowerOptions::default())?))
}

/// The decomposition of a composite of a sample.
pub(super) fn decomposition(sample: &Sample, registry: &Registry) -> Result<String> {
    let Op::Composite(composite) = &sample.op else { return Ok(String::new()) };
    let types: Vec<&TensorType> = sample.args.iter().map(|arg| &arg.ty).collect();
    let function = composite.decompose(registry, &types)?;
    let mut module = Module::new("decomposition");
    module.functions.push(function);
    Ok(printed(&module))
}
