//! Modules that no compiler made: every one that decodes gets an answer, and soon.

use halite_cpu::CPU_XLA;
use halite_hlo::cost::flops;
use halite_hlo::graph::Graph;
use halite_hlo::proto::{HloComputationProto, HloInstructionProto, HloModuleProto, Numbers, ReplicaGroup};
use halite_hlo::{ArrayType, DotDims, ModuleBuilder, Type};
use halite_neuron::legality::{Profile, check};
use halite_neuron::{Generation, Tables};
use halite_support::Result;
use halite_target::estimate::{Analysis, Question, analyze};
use halite_tensor::DType;
use proptest::prelude::*;
use std::time::{Duration, Instant};

const LLAMA: &[u8] = include_bytes!("../../../tests/jax/fixtures/llama_step.hlo.pb");
const SCAN: &[u8] = include_bytes!("../../../tests/jax/fixtures/scan.hlo.pb");

/// Estimates a module with the compiler model that has more settings on.
fn estimate(graph: &Graph) -> Result<Analysis> {
    let costs = Tables::builtin().costs(Generation::Trn1);
    analyze(graph, Question { backend: CPU_XLA, arguments: &[], costs })
}

/// Numbers that are wrong in most places.
const NUMBERS: [i64; 9] = [0, 1, -1, 2, 7, i64::MAX, i64::MIN, 1 << 40, 1000];

/// Changes one thing of an instruction.
fn damage(module: &mut HloModuleProto, place: usize, kind: usize, number: i64) {
    let opcodes =
        ["gather", "scatter", "while", "call", "reduce", "sort", "dot", "clamp", "constant", "tuple", "all-gather"];
    let mut all: Vec<&mut HloInstructionProto> =
        module.computations.iter_mut().flat_map(|computation| &mut computation.instructions).collect();
    let count = all.len();
    let inst = &mut all[place % count];
    let few = |list: &mut Numbers| match list.len() {
        0 => list.push(number),
        len => list[place % len] = number,
    };
    let numbers = |list: &mut Vec<i64>| match list.len() {
        0 => list.push(number),
        len => list[place % len] = number,
    };
    match kind % 16 {
        0 => inst.id = number,
        1 => few(&mut inst.operand_ids),
        2 => few(&mut inst.dimensions),
        3 => few(&mut inst.called_computation_ids),
        4 => inst.opcode = opcodes[place % opcodes.len()].to_owned().into(),
        5 => inst.tuple_index = number,
        6 => inst.parameter_number = number,
        7 => inst.literal = None,
        8 => inst.shape = None,
        9 => inst.operand_ids.clear(),
        10 => inst.replica_groups = vec![ReplicaGroup { replica_ids: vec![number, 0, number] }].into(),
        11 => inst.shape.iter_mut().for_each(|shape| numbers(&mut shape.dimensions)),
        12 => inst.shape.iter_mut().for_each(|shape| shape.element_type = number as i32),
        13 => inst.gather_dimension_numbers.iter_mut().for_each(|dims| {
            numbers(&mut dims.start_index_map);
            dims.index_vector_dim = number;
        }),
        14 => inst.scatter_dimension_numbers.iter_mut().for_each(|dims| {
            numbers(&mut dims.scatter_dims_to_operand_dims);
            numbers(&mut dims.update_window_dims);
        }),
        _ => inst.comparison_direction.clear(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn damaged_modules_get_an_answer(
        small: bool,
        damages in prop::collection::vec((any::<usize>(), any::<usize>(), 0..NUMBERS.len()), 1..24),
        target in 1..Generation::ALL.len(),
    ) {
        let mut module = halite_hlo::decode(if small { SCAN } else { LLAMA }).unwrap();
        for (place, kind, number) in damages {
            damage(&mut module, place, kind, NUMBERS[number]);
        }
        answer(module, Generation::ALL[target]);
    }

    #[test]
    fn damaged_bytes_that_decode_get_an_answer(at in 0..SCAN.len(), byte: u8) {
        let mut bytes = SCAN.to_vec();
        bytes[at] = byte;
        if let Ok(module) = halite_hlo::decode(&bytes) {
            answer(module, Generation::Trn1);
        }
    }
}

/// Asks everything of a module that reads it as a graph.
fn answer(module: HloModuleProto, target: Generation) {
    let graph = Graph::new(module);
    halite_hlo::check(&graph);
    check(&graph, &Profile::new(target));
    let _ = estimate(&graph);
    graph.executions();
    (0..graph.len()).map(|at| flops(&graph, at)).fold(0, u64::saturating_add);
}

/// Each computation calls the one before it, once or twice. Twice and followed to the end, there would be 2^`depth` calls.
fn calling(times: usize, depth: usize) -> HloModuleProto {
    let mut module = ModuleBuilder::new("calling");
    let index = ArrayType::scalar(DType::S32);
    let mut last = None;
    for level in 0..=depth {
        let mut body = module.computation(if level == depth { "main".to_owned() } else { format!("level{level}") });
        let x = body.parameter("x", index.clone()).unwrap();
        let one = body.constant_scalar(DType::S32, level as f64).unwrap();
        let other = body.add(x, one).unwrap();
        let root = match last {
            Some(callee) => {
                let left = body.call(callee, &[x]).unwrap();
                let right = if times == 2 { body.call(callee, &[other]).unwrap() } else { other };
                body.add(left, right).unwrap()
            }
            None => other,
        };
        let root = if level == depth { body.root_tuple(&[root]).unwrap() } else { root };
        last = Some(body.finish(root).unwrap());
    }
    module.finish().unwrap()
}

/// The least time of several, since other work on the machine makes any of them long.
fn least(work: impl Fn()) -> Duration {
    let once = |_| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..5).map(once).min().unwrap()
}

#[test]
fn calls_are_not_followed_forever() {
    let checked = |graph: &Graph| least(|| assert!(check(graph, &Profile::new(Generation::Trn1)).is_empty()));
    let estimated = |graph: &Graph| least(|| assert!(estimate(graph).is_err()));
    let once = checked(&Graph::new(calling(1, 3000)));
    let graphs = [40, 60, 3000].map(|depth| Graph::new(calling(2, depth)));
    for graph in &graphs {
        let twice = checked(graph);
        assert!(twice < 20 * once, "{twice:?}, not {once:?}");
    }
    // An estimate stops at so many calls, however many there are.
    let [few, more, most] = graphs.each_ref().map(estimated);
    assert!(more < 20 * few && most < 20 * few, "{few:?}, {more:?}, {most:?}");
}

#[test]
fn sizes_do_not_wrap() {
    let product = |sizes: [[usize; 2]; 2]| {
        let mut module = ModuleBuilder::new("product");
        let mut main = module.computation("main");
        let [x, y] = sizes.map(|size| main.parameter("x", ArrayType::new(DType::F32, size)).unwrap());
        let dims = DotDims {
            lhs_contracting: [1].as_slice().into(),
            rhs_contracting: [1].as_slice().into(),
            ..DotDims::default()
        };
        let root = main.dot(x, y, &dims, DType::F32).unwrap();
        let root = main.root_tuple(&[root]).unwrap();
        main.finish(root).unwrap();
        estimate(&Graph::new(module.finish().unwrap()))
    };
    let analysis = product([[1, 1 << 40], [1, 1 << 40]]).unwrap();
    assert_eq!(analysis.estimate.memory.arguments, 8 << 40);
    assert!(analysis.estimate.instructions.matmul > 1 << 30);
    assert!(product([[1 << 26, 1 << 26], [1 << 26, 1 << 26]]).is_ok());
    assert!(product([[1 << 29, 1 << 29], [1, 1 << 29]]).is_err());
}

#[test]
fn references_in_circles_end() {
    let ty = Some(Type::Array(ArrayType::scalar(DType::S32)).to_proto().into());
    let inst = |id: i64, opcode: &'static str| HloInstructionProto {
        id,
        opcode: opcode.into(),
        operand_ids: Numbers::from_slice(&[1 - id]),
        called_computation_ids: Numbers::from_slice(&[0]),
        shape: ty.clone(),
        ..HloInstructionProto::default()
    };
    for opcode in ["call", "while", "concatenate", "broadcast", "get-tuple-element", "reduce"] {
        let computation = HloComputationProto {
            instructions: vec![inst(0, opcode), inst(1, opcode)],
            root_id: 1,
            ..HloComputationProto::default()
        };
        let module = HloModuleProto { computations: vec![computation], ..HloModuleProto::default() };
        let graph = Graph::new(module);
        check(&graph, &Profile::new(Generation::Trn1));
        assert!(estimate(&graph).is_err());
    }
}
