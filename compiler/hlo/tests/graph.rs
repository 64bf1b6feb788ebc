//! The graph of a module: references, calls, lifetimes, and what instructions cost.

use halite_hlo::cost::{Product, flops};
use halite_hlo::graph::{Budget, Graph, Inlined, Lifetimes};
use halite_hlo::proto::{HloInstructionProto, HloModuleProto, Numbers};
use halite_hlo::{ArrayType, DotDims, ModuleBuilder, Opcode, ReduceKind, UnaryOp};
use halite_tensor::DType;

fn f32(shape: &[usize]) -> ArrayType {
    ArrayType::new(DType::F32, shape)
}

/// `main(x) = (tanh(twice(x)), sum(twice(x)))` with `twice(x) = x + x`.
fn module() -> HloModuleProto {
    let mut module = ModuleBuilder::new("m");
    let mut twice = module.computation("twice");
    let x = twice.parameter("x", f32(&[4])).unwrap();
    let root = twice.add(x, x).unwrap();
    let twice = twice.finish(root).unwrap();
    let mut main = module.computation("main");
    let x = main.parameter("x", f32(&[4])).unwrap();
    let y = main.call(twice, &[x]).unwrap();
    let z = main.call(twice, &[x]).unwrap();
    let y = main.unary(UnaryOp::Tanh, y).unwrap();
    let zero = main.constant_scalar(DType::F32, 0.0).unwrap();
    let z = main.reduce(ReduceKind::Add, z, zero, &[0]).unwrap();
    let root = main.root_tuple(&[y, z]).unwrap();
    main.finish(root).unwrap();
    module.finish().unwrap()
}

fn find(graph: &Graph, opcode: &str) -> usize {
    graph.entry().unwrap().range().find(|&at| graph.opcode(at) == opcode).unwrap()
}

#[test]
fn references_lead_to_what_stands_before() {
    let module = module();
    let graph = Graph::new(module);
    let call = find(&graph, "call");
    let callee = graph.callee(call, 0).unwrap();
    assert_eq!(graph.opcode(graph.root(callee).unwrap()), "add");
    assert_eq!(graph.operand(call, 0), graph.entry().unwrap().parameters.first().copied());
    assert_eq!(graph.operand_shape(call, 0).unwrap().num_bytes(), 16);
    assert!(graph.is(find(&graph, "tuple"), Opcode::Tuple));
    let combiner = graph.callee(find(&graph, "reduce"), 0).unwrap();
    let is_combiner = |number: usize| graph.is_combiner(graph.computations()[number].first);
    assert!(is_combiner(combiner) && !is_combiner(callee));
}

#[test]
fn what_leads_nowhere_or_forward_is_left_out() {
    let mut module = module();
    let entry = module.computations.last_mut().unwrap();
    let last = entry.instructions.last().unwrap().id;
    let call = entry.instructions.iter_mut().find(|inst| inst.opcode == "call").unwrap();
    call.operand_ids = Numbers::from_slice(&[last, -5]);
    call.called_computation_ids = Numbers::from_slice(&[entry.id, 99]);
    call.control_predecessor_ids = vec![last];
    let graph = Graph::new(module);
    let call = find(&graph, "call");
    assert!(graph.operands(call).eq([None, None]) && graph.callees(call).eq([None, None]));
    assert!(graph.control_predecessors(call).eq([None]));
    assert!(Inlined::new(&graph, &mut Budget::default()).is_err());
}

#[test]
fn calls_are_counted_and_entered() {
    let module = module();
    let graph = Graph::new(module);
    let computations = &graph.module().computations;
    let times: Vec<(&str, u64)> = computations
        .iter()
        .zip(graph.executions())
        .map(|(computation, times)| (computation.name.as_str(), times))
        .collect();
    assert!(times.contains(&("twice", 2)) && times.contains(&("main", 1)), "{times:?}");
    assert!(times.iter().any(|(_, times)| *times == 0), "the combiner is called by no `call`: {times:?}");

    let inlined = Inlined::new(&graph, &mut Budget::default()).unwrap();
    let opcode = |value: u32| graph.opcode(inlined.value(value).at);
    let opcodes: Vec<&str> = (0..inlined.len() as u32).map(opcode).collect();
    assert_eq!(opcodes, ["parameter", "add", "add", "tanh", "constant", "reduce"]);
    assert_eq!((inlined.parameters.as_slice(), inlined.results.as_slice()), (&[0][..], &[3, 5][..]));
    assert_eq!((inlined.operands(2), inlined.operands(3)), (&[0, 0][..], &[1][..]));
}

#[test]
fn results_live_until_they_are_last_read() {
    // 2 reads 0, 1 reads 0 and 2, nothing reads 1; they run as 0, 2, 1.
    let reads = [vec![], vec![0, 2], vec![0]];
    let lives = Lifetimes::new(3, [0, 2, 1], |node| reads[node].iter().copied());
    let found: Vec<(u32, u32)> = (0..3).map(|node| (lives.begin(node), lives.last(node))).collect();
    assert_eq!(found, [(0, 2), (2, 2), (1, 2)]);
}

#[test]
fn products_have_the_sizes_of_their_dimensions() {
    let mut module = ModuleBuilder::new("m");
    let mut main = module.computation("main");
    let x = main.parameter("x", f32(&[3, 5, 7, 2])).unwrap();
    let y = main.parameter("y", f32(&[2, 7, 11, 3])).unwrap();
    let dims = DotDims {
        lhs_batch: [0].as_slice().into(),
        rhs_batch: [3].as_slice().into(),
        lhs_contracting: [2, 3].as_slice().into(),
        rhs_contracting: [1, 0].as_slice().into(),
    };
    let product = main.dot(x, y, &dims, DType::F32).unwrap();
    let root = main.root_tuple(&[product]).unwrap();
    main.finish(root).unwrap();
    let at = |graph: &Graph| find(graph, "dot");
    let graph = Graph::new(module.finish().unwrap());
    let sizes = Product { batch: 3, rows: 5, inner: 14, columns: 11 };
    assert_eq!((Product::of(&graph, at(&graph)), flops(&graph, at(&graph))), (Some(sizes), 2 * 3 * 5 * 14 * 11));

    // Numbers of dimensions that there are not, and sizes that do not fit.
    let dot = |inst: &&mut HloInstructionProto| inst.opcode == "dot";
    let mut module = graph.into_module();
    let insts = &mut module.computations[0].instructions;
    insts.iter_mut().find(dot).unwrap().dot_dimension_numbers.as_mut().unwrap().lhs_contracting_dimensions =
        vec![-1, 99];
    insts[0].shape.as_mut().unwrap().dimensions = vec![i64::MAX, i64::MAX, -1, 4];
    let graph = Graph::new(module);
    assert_eq!(flops(&graph, at(&graph)), 0);
    assert_eq!(Product::of(&graph, at(&graph)).unwrap().inner, 1);
}
