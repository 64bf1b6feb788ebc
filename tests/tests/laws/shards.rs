//! The dimension factors that ops declare: two ranks that compute on parts of the operands get the parts, or terms, of the results.

use halite_ir::dims::{Factor, FactorKind, FactorMap};
use halite_ir::ops::Reduction;
use halite_ir::{
    Builder, Interpreter, Linear, Module, Op, ParamRole, Registry, Sample, Shards, TensorType, Value, sample_inputs,
    sample_module,
};
use halite_tensor::{DType, DimShard, HostTensor, Mesh, Sharding, compare::difference};
use halite_test_kit::cases::{describe, samples};

/// A sample with its types and how its dimensions correspond.
struct Case {
    sample: Sample,
    args: Vec<TensorType>,
    types: Vec<TensorType>,
    map: FactorMap,
}

/// The samples of primitives on one rank.
fn cases(registry: &Registry) -> Vec<Case> {
    let primitive = |sample: &Sample| sample.ranks == 1 && !matches!(sample.op, Op::Composite(_));
    let case = |sample: Sample| {
        let args: Vec<TensorType> = sample.args.iter().map(|arg| arg.ty.clone()).collect();
        let types = sample_module(&sample, registry).expect("a sample is well typed").functions[0].result_types();
        let map = sample.op.def().dims(&args.iter().collect::<Vec<_>>(), &types);
        Case { sample, args, types, map }
    };
    samples(DType::F64, registry).into_iter().filter(primitive).map(case).collect()
}

/// The shardings of operands or results when one factor is sharded by two ranks, in blocks or in turns.
fn lie(case: &Case, results: bool, factor: usize, stride: usize) -> Vec<Sharding> {
    let all = if results { &case.map.results } else { &case.map.operands };
    let of = |dims: &Vec<halite_ir::dims::DimFactors>| {
        let mut sharding = Sharding::replicated(dims.len());
        for (dim, factors) in dims.iter().enumerate() {
            if let Some(at) = factors.iter().position(|own| own.index() == factor) {
                let below: usize = factors[at + 1..].iter().map(|own| case.map.factors[own.index()].size).product();
                sharding = sharding.with(dim, DimShard { sub_axis: 0, size: 2, stride: stride * below });
            }
        }
        sharding
    };
    all.iter().map(of).collect()
}

/// The program of one rank.
fn program(case: &Case, registry: &Registry, mesh: &Mesh, (operands, results): (&[Sharding], &[Sharding])) -> Module {
    let mut module = Module::new("rank");
    let mut b = Builder::new(&mut module, registry, "main");
    let local = |(ty, sharding): (&TensorType, &Sharding)| ty.with_shape(sharding.local_shape(ty.shape()));
    let args: Vec<Value> = case
        .args
        .iter()
        .zip(operands)
        .enumerate()
        .map(|(at, arg)| b.param(format!("x{at}"), local(arg), ParamRole::Argument))
        .collect();
    let shards = Shards { mesh, args: &case.args, operands, results, types: &case.types };
    let made = match case.sample.op.def().on_shards(&mut b, &shards, &args).expect("well typed") {
        Some(made) => made,
        None => b.emit_all(case.sample.op.clone(), &args).expect("well typed"),
    };
    for value in made {
        b.result(value);
    }
    b.finish();
    module
}

/// By what the results of ranks combine when a factor is sharded; `None` when they are parts.
fn terms(map: &FactorMap, factor: usize) -> Option<Reduction> {
    let in_operand = map.operands.iter().flatten().flatten().any(|own| own.index() == factor);
    match map.factors[factor].kind {
        FactorKind::Contracted(reduction) => reduction,
        FactorKind::Indexed if in_operand => Some(Reduction::Sum),
        _ => None,
    }
}

fn combined(kind: Reduction, x: &HostTensor, y: &HostTensor) -> HostTensor {
    let pairs = x.f64s().into_iter().zip(y.f64s());
    let one = |(x, y): (f64, f64)| match kind {
        Reduction::Sum => x + y,
        Reduction::Product => x * y,
        Reduction::Xor => f64::from(u8::from((x != 0.0) != (y != 0.0))),
        Reduction::Max => x.max(y),
        Reduction::Min => x.min(y),
        Reduction::And => f64::from(u8::from(x != 0.0 && y != 0.0)),
        Reduction::Or => f64::from(u8::from(x != 0.0 || y != 0.0)),
    };
    HostTensor::from_f64s(x.dtype(), x.shape().clone(), pairs.map(one))
}

#[test]
fn parts_of_operands_give_parts_of_results() {
    let (registry, mesh) = (Registry::builtin(), Mesh::new([("tensor", 2)]).unwrap());
    let mut tried = 0;
    for case in cases(&registry) {
        let whole = sample_module(&case.sample, &registry).unwrap();
        let inputs = sample_inputs(&case.sample, 7).swap_remove(0);
        let expected = Interpreter::of(&whole, &registry).run(whole.entry().unwrap(), inputs.clone()).unwrap();
        for (factor, &Factor { size, kind }) in case.map.factors.iter().enumerate() {
            let sharded = !matches!(kind, FactorKind::Mixed | FactorKind::Contracted(None));
            if !sharded || size < 2 || !size.is_multiple_of(2) {
                continue;
            }
            for stride in [size / 2, 1] {
                tried += 1;
                let name = format!("{} factor {factor} stride {stride}", describe(&case.sample, DType::F64));
                let (operands, results) = (lie(&case, false, factor, stride), lie(&case, true, factor, stride));
                let module = program(&case, &registry, &mesh, (&operands, &results));
                let rank = |rank: usize| -> Vec<HostTensor> {
                    let parts = operands.iter().zip(&inputs);
                    parts.map(|(sharding, tensor)| sharding.shard(&mesh, tensor, rank).unwrap()).collect()
                };
                let entry = module.entry().unwrap();
                let found = Interpreter::of(&module, &registry).run_ranks(entry, vec![rank(0), rank(1)]);
                let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
                for (at, expected) in expected.iter().enumerate() {
                    let parts = [found[0][at].clone(), found[1][at].clone()];
                    let found = match terms(&case.map, factor) {
                        Some(kind) => combined(kind, &parts[0], &parts[1]),
                        None => results[at].assemble(&mesh, expected.shape(), &parts).unwrap(),
                    };
                    let far = difference(&found, expected).max_abs;
                    assert!(far <= 1e-12, "{name}: result {at} is {far} off");
                }
            }
        }
    }
    assert!(tried >= 300, "only {tried} ways were tried");
}

#[test]
fn terms_of_operands_give_terms_of_results() {
    let registry = Registry::builtin();
    let mut tried = 0;
    for case in cases(&registry) {
        let linear = case.sample.op.def().linear(&case.args, &case.types);
        let floats = |at: usize| case.args[at].dtype().is_float();
        let split: Vec<Vec<usize>> = match linear {
            Linear::No => continue,
            Linear::Jointly => vec![(0..case.args.len()).collect()],
            Linear::Each => (0..case.args.len()).map(|at| vec![at]).collect(),
            Linear::First => vec![vec![0]],
            Linear::Rest => vec![(1..case.args.len()).collect()],
        };
        let module = sample_module(&case.sample, &registry).unwrap();
        let run = |inputs: Vec<HostTensor>| {
            Interpreter::of(&module, &registry).run(module.entry().unwrap(), inputs).unwrap().swap_remove(0)
        };
        let [x, y] = [7, 8].map(|seed| sample_inputs(&case.sample, seed).swap_remove(0));
        for split in split.into_iter().filter(|split| split.iter().all(|&at| floats(at))) {
            tried += 1;
            let with = |other: &dyn Fn(usize) -> HostTensor| -> Vec<HostTensor> {
                (0..x.len()).map(|at| if split.contains(&at) { other(at) } else { x[at].clone() }).collect()
            };
            let first = run(with(&|at| x[at].clone()));
            let second = run(with(&|at| y[at].clone()));
            let sum = run(with(&|at| combined(Reduction::Sum, &x[at], &y[at])));
            let far = difference(&combined(Reduction::Sum, &first, &second), &sum).max_abs;
            assert!(far <= 1e-9, "{}: terms are {far} off", describe(&case.sample, DType::F64));
        }
    }
    assert!(tried >= 30, "only {tried} samples were tried");
}
