//! Requirements on every op.

use crate::repo::{files_below, read, root};
use halite_ir::ops::Constant;
use halite_ir::{Builder, InferCx, LowerOptions, Module, Op, Registry, Sample, TensorType, Vjp, VjpCx, sample_module};
use halite_tensor::DType;
use halite_test_kit::cases::{describe, samples};
use halite_test_kit::xla;
use std::collections::BTreeSet;

/// Files beside the ops that hold what several of them share.
const SHARED: [&str; 13] = [
    "class",
    "elementwise",
    "hash",
    "indices",
    "movement",
    "parts",
    "ranks",
    "scalar",
    "shares",
    "sliding",
    "special",
    "starts",
    "windows_at",
];

/// The names of the files in a folder.
fn stems(folder: &str) -> BTreeSet<String> {
    let files = files_below(folder, "rs");
    let direct = files.iter().filter(|path| path.parent() == Some(&root().join(folder)));
    direct.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect()
}

#[test]
fn every_op_has_one_file() {
    let list = read("compiler/ir/src/ops.rs");
    let listed: BTreeSet<String> = list
        .lines()
        .filter_map(|line| line.strip_prefix("    ")?.strip_suffix(',')?.split_once("::"))
        .filter(|(file, op)| file.starts_with(char::is_lowercase) && op.starts_with(char::is_uppercase))
        .map(|(file, _)| file.to_owned())
        .collect();
    let ops: BTreeSet<String> = Op::primitives().iter().map(|op| op.name().to_owned()).collect();
    assert_eq!(listed, ops, "a file is named like its op");
    let files: BTreeSet<String> =
        stems("compiler/ir/src/ops").into_iter().filter(|stem| !SHARED.contains(&&**stem)).collect();
    assert_eq!(files, ops);
}

#[test]
fn every_composite_has_one_file() {
    // The gradient of a composite that is a composite itself stands beside it.
    let file = |name: &str| name.strip_suffix("_grad").unwrap_or(name).to_owned();
    let composites: BTreeSet<String> = Registry::builtin().composites().map(|def| file(def.name())).collect();
    let files = stems("compiler/ir/src/composites").into_iter().filter(|stem| !SHARED.contains(&&**stem));
    assert_eq!(files.collect::<BTreeSet<_>>(), composites);
}

#[test]
fn every_op_has_dims_of_its_types_a_policy_and_a_cost() {
    let registry = Registry::builtin();
    for sample in samples(DType::F32, &registry) {
        let what = describe(&sample, DType::F32);
        let cx = InferCx { functions: &[], registry: &registry };
        let types: Vec<&TensorType> = sample.args.iter().map(|arg| &arg.ty).collect();
        let def = sample.op.def();
        let results = def.infer(&cx, &types).unwrap_or_else(|error| panic!("{what}: {error}"));
        let map = def.dims(&types, &results);
        let ranks = |dims: &[Vec<halite_ir::dims::DimFactors>]| dims.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(ranks(&map.operands), types.iter().map(|ty| ty.rank()).collect::<Vec<_>>(), "{what}");
        assert_eq!(ranks(&map.results), results.iter().map(TensorType::rank).collect::<Vec<_>>(), "{what}");
        def.policy(&cx);
        def.cost(&cx, &types, &results);
    }
}

#[test]
fn every_op_has_a_lowering() {
    let registry = Registry::builtin();
    for sample in samples(DType::F32, &registry) {
        let mut module = sample_module(&sample, &registry).unwrap();
        module.name = "sample".into();
        let hlo = xla::hlo(&module, &registry, LowerOptions::default());
        assert!(hlo.is_ok(), "{}: {:?}", describe(&sample, DType::F32), hlo.err());
    }
}

#[test]
fn every_op_has_a_gradient_or_says_why_not() {
    let registry = Registry::builtin();
    for sample in samples(DType::F32, &registry) {
        let what = describe(&sample, DType::F32);
        match gradient(&sample, &registry) {
            Vjp::Cotangents(cts) => assert_eq!(cts.len(), sample.args.len(), "{what}"),
            Vjp::None(reason) => assert!(reason.len() > 8 && !reason.ends_with('.'), "{what}: `{reason}`"),
        }
    }
}

/// The gradient of an op when all operands and the cotangents of all float results are there.
fn gradient(sample: &Sample, registry: &Registry) -> Vjp {
    let what = describe(sample, DType::F32);
    let mut module = Module::new("gradient");
    let mut b = Builder::new(&mut module, registry, "main");
    let fill = |b: &mut Builder<'_>, ty: &TensorType| b.emit(Constant::splat(ty.dtype(), ty.shape().clone(), 1.0), &[]);
    let args: Vec<_> = sample.args.iter().map(|arg| fill(&mut b, &arg.ty).unwrap()).collect();
    let results = b.emit_all(sample.op.clone(), &args).unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut cts = Vec::new();
    for &result in &results {
        let ty = b.ty(result).clone();
        cts.push(ty.dtype().is_float().then(|| fill(&mut b, &ty).unwrap()));
    }
    if cts.iter().all(Option::is_none) {
        return Vjp::zeros(args.len());
    }
    let wanted: Vec<bool> = args.iter().map(|&arg| b.dtype(arg).is_float()).collect();
    if let Op::Composite(composite) = &sample.op
        && registry.composite(&composite.name).unwrap().vjp().is_none()
    {
        return Vjp::zeros(args.len());
    }
    let cx = VjpCx { args: &args, results: &results, cts: &cts, wanted: &wanted };
    sample.op.def().vjp(&mut b, &cx).unwrap_or_else(|error| panic!("{what}: {error}"))
}
