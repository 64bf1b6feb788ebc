//! The estimate of memory and instructions on modules whose figures are known.

use halite_bundle::estimate::{Estimate, InstructionEstimate, MemoryByKind, MemoryEstimate, MemoryKind};
use halite_cpu::CPU_XLA;
use halite_hlo::builder::ComputationBuilder;
use halite_hlo::graph::Graph;
use halite_hlo::proto::{AliasEntryProto, HloInputOutputAliasProto, HloModuleProto, Numbers, OpMetadata};
use halite_hlo::{ArrayType, BinaryOp, DotDims, Id, ModuleBuilder, ReduceKind, UnaryOp};
use halite_neuron::Tables;
use halite_neuron::memory::NEURONX_CC;
use halite_neuron::{Generation, fit};
use halite_target::estimate::{Analysis, Backend, InstructionCosts, Order, Question, analyze};
use halite_tensor::DType;

fn costs() -> &'static InstructionCosts {
    Tables::builtin().costs(Generation::Trn1).expect("a test holds the tables to a row")
}

fn look(module: &HloModuleProto, backend: Backend) -> Analysis {
    use MemoryKind::{Batch, Weights};
    let question = Question { backend, arguments: &[Batch, Weights], costs: Some(costs()) };
    analyze(&Graph::new(module.clone()), question).unwrap()
}

fn f32(shape: impl Into<halite_tensor::Shape>) -> ArrayType {
    ArrayType::new(DType::F32, shape)
}

/// A module with a batch `x[rows, inner]` and a weight `w[columns, inner]`.
fn module(
    [rows, columns, inner]: [usize; 3],
    build: impl FnOnce(&mut ComputationBuilder<'_>, Id, Id) -> Vec<Id>,
) -> HloModuleProto {
    let mut module = ModuleBuilder::new("m");
    let mut main = module.computation("main");
    let x = main.parameter("x", f32([rows, inner])).unwrap();
    let w = main.parameter("w", f32([columns, inner])).unwrap();
    let results = build(&mut main, x, w);
    let root = main.root_tuple(&results).unwrap();
    main.finish(root).unwrap();
    module.finish().unwrap()
}

/// `lhs[m, k] . rhs[n, k]`.
fn product(main: &mut ComputationBuilder<'_>, lhs: Id, rhs: Id) -> Id {
    let dims = DotDims {
        lhs_contracting: [1].as_slice().into(),
        rhs_contracting: [1].as_slice().into(),
        ..DotDims::default()
    };
    main.dot(lhs, rhs, &dims, DType::F32).unwrap()
}

fn unary(main: &mut ComputationBuilder<'_>, op: UnaryOp, x: Id) -> Id {
    main.unary(op, x).unwrap()
}

fn sum(main: &mut ComputationBuilder<'_>, x: Id, dims: &[usize]) -> Id {
    let zero = main.constant_scalar(DType::F32, 0.0).unwrap();
    main.reduce(ReduceKind::Add, x, zero, dims).unwrap()
}

fn scope(main: &mut ComputationBuilder<'_>, name: &str) {
    main.set_metadata(Some(OpMetadata { op_name: name.to_owned(), ..OpMetadata::default() }));
}

fn temporaries(module: &HloModuleProto) -> u64 {
    look(module, NEURONX_CC).estimate.memory.temporaries
}

#[test]
fn products_are_stored_and_arithmetic_is_not() {
    let module = module([4, 16, 8], |main, x, w| {
        let y = product(main, x, w);
        vec![unary(main, UnaryOp::Tanh, y)]
    });
    for backend in [NEURONX_CC, Backend { borrows_results: false, ..CPU_XLA }] {
        let memory = look(&module, backend).estimate.memory;
        let peak = MemoryByKind { batch: 128, weights: 512, results: 256, workspace: 256, ..MemoryByKind::default() };
        let expected = MemoryEstimate { arguments: 640, outputs: 256, aliased: 0, temporaries: 256, resident: 0, peak };
        assert_eq!(memory, expected);
        assert_eq!(memory.total(), 640 + 256 + 256);
    }
}

#[test]
fn results_lend_their_memory_where_the_compiler_does_that() {
    let module = module([64, 64, 64], |main, x, w| {
        let y = product(main, x, w);
        vec![unary(main, UnaryOp::Tanh, y)]
    });
    assert_eq!(look(&module, CPU_XLA).estimate.memory.temporaries, 64 * 64 * 4, "read while it is written");
    let module = self::module([64, 64, 64], |main, x, w| {
        let y = product(main, x, w);
        let z = product(main, y, w);
        vec![product(main, z, w)]
    });
    assert_eq!(look(&module, CPU_XLA).estimate.memory.temporaries, 64 * 64 * 4);
    assert_eq!(look(&module, NEURONX_CC).estimate.memory.temporaries, 2 * 64 * 64 * 4);
}

#[test]
fn results_in_the_memory_of_parameters_count_once() {
    let mut module = module([4, 16, 8], |main, _, w| vec![unary(main, UnaryOp::Negate, w)]);
    module.input_output_alias = Some(HloInputOutputAliasProto {
        entries: vec![AliasEntryProto {
            output_shape_index: vec![0],
            parameter_number: 1,
            ..AliasEntryProto::default()
        }],
    });
    let memory = look(&module, NEURONX_CC).estimate.memory;
    assert_eq!((memory.arguments, memory.outputs, memory.aliased, memory.temporaries), (640, 512, 512, 0));
    assert_eq!((memory.total(), memory.peak.results), (640, 0));
}

#[test]
fn what_is_costly_is_computed_once_for_all_readers() {
    // Three readers of one exponential, and of one sum of moved elements.
    let shared = |op: UnaryOp| {
        module([64, 64, 64], |main, x, w| {
            let y = unary(main, op, x);
            let rows = sum(main, y, &[1]);
            let columns = sum(main, y, &[0]);
            let z = product(main, y, w);
            vec![rows, columns, z]
        })
    };
    assert_eq!(temporaries(&shared(UnaryOp::Exponential)), 64 * 64 * 4);
    // Cheap, so that it is made for each kind of reader; these three want it alike.
    assert_eq!(temporaries(&shared(UnaryOp::Negate)), 64 * 64 * 4);
    let read_in_place = |op: UnaryOp| {
        module([64, 64, 64], |main, x, w| {
            let y = unary(main, op, x);
            vec![main.add(y, w).unwrap(), main.multiply(y, w).unwrap()]
        })
    };
    assert_eq!(temporaries(&read_in_place(UnaryOp::Exponential)), 64 * 64 * 4);
    assert_eq!(temporaries(&read_in_place(UnaryOp::Negate)), 0);
}

#[test]
fn a_step_stores_over_an_operand_that_ends_with_it() {
    let module = module([64, 64, 64], |main, x, w| {
        let y = product(main, x, w);
        let y = unary(main, UnaryOp::Tanh, y);
        vec![product(main, y, w)]
    });
    assert_eq!(temporaries(&module), 64 * 64 * 4);
}

#[test]
fn wide_reductions_read_what_is_stored() {
    let reduced = |columns: usize| {
        module([64, columns, columns], |main, x, _| {
            let y = main.multiply(x, x).unwrap();
            vec![sum(main, y, &[1])]
        })
    };
    assert_eq!(temporaries(&reduced(32)), 0);
    assert_eq!(temporaries(&reduced(33)), 64 * 33 * 4);
}

#[test]
fn callees_stand_in_place_of_calls() {
    let mut module = ModuleBuilder::new("m");
    let mut callee = module.computation("callee");
    let x = callee.parameter("x", f32([64, 64])).unwrap();
    let root = product(&mut callee, x, x);
    let callee = callee.finish(root).unwrap();
    let mut main = module.computation("main");
    let x = main.parameter("x", f32([64, 64])).unwrap();
    let y = main.call(callee, &[x]).unwrap();
    let z = main.call(callee, &[y]).unwrap();
    let root = main.root_tuple(&[z]).unwrap();
    main.finish(root).unwrap();
    let estimate = look(&module.finish().unwrap(), NEURONX_CC).estimate;
    assert_eq!((estimate.memory.temporaries, estimate.instructions.matmul), (64 * 64 * 4, 2));
}

#[test]
fn the_order_decides_how_long_copies_of_weights_live() {
    // Two weights that are narrowed, used one after the other.
    let module = module([8, 64, 64], |main, x, w| {
        let narrow = |main: &mut ComputationBuilder<'_>, x: Id| main.convert(x, DType::Bf16).unwrap();
        let (first, second) = (narrow(main, w), unary(main, UnaryOp::Negate, w));
        let second = narrow(main, second);
        let x = narrow(main, x);
        let y = product(main, x, first);
        let y = narrow(main, y);
        vec![product(main, y, second)]
    });
    // In the order of the module: x and the first copy, then a product of f32 over both.
    assert_eq!(temporaries(&module), 8 * 64 * 2 + 64 * 64 * 2 + 8 * 64 * 4);
    let both = Backend { order: Order::BreadthFirst, ..NEURONX_CC };
    assert_eq!(look(&module, both).estimate.memory.temporaries, 8 * 64 * 2 + 2 * 64 * 64 * 2 + 8 * 64 * 4);
}

#[test]
fn kinds_follow_from_scopes() {
    let module = module([64, 64, 64], |main, x, w| {
        scope(main, "model");
        let y = product(main, x, w);
        let z = product(main, y, w);
        scope(main, "vjp(model)");
        let dz = product(main, z, w);
        let dw = product(main, dz, y);
        scope(main, "optimizer.w");
        vec![main.subtract(w, dw).unwrap()]
    });
    let analysis = look(&module, NEURONX_CC);
    let size = 64 * 64 * 4;
    assert_eq!(analysis.backward_at, Some(2));
    let live = |at: usize| {
        let MemoryByKind { gradients, activations, workspace, .. } = analysis.timeline[at];
        [activations, gradients, workspace].map(|bytes| bytes / size)
    };
    assert_eq!((0..5).map(live).collect::<Vec<_>>(), [[1, 0, 0], [2, 0, 0], [2, 0, 1], [1, 1, 1], [0, 1, 0]]);
    assert!(analysis.timeline.iter().all(|live| (live.weights, live.batch, live.results) == (size, size, size)));
}

#[test]
fn products_of_narrow_rows_are_widened_on_cpu_only() {
    let module = module([64, 64, 64], |main, x, w| {
        let (x, w) = (main.convert(x, DType::Bf16).unwrap(), main.convert(w, DType::Bf16).unwrap());
        let dims = DotDims {
            lhs_contracting: [0].as_slice().into(),
            rhs_contracting: [0].as_slice().into(),
            ..DotDims::default()
        };
        vec![main.dot(x, w, &dims, DType::F32).unwrap()]
    });
    assert_eq!(temporaries(&module), 2 * 64 * 64 * 2);
    let cpu = Backend { borrows_results: false, ..CPU_XLA };
    assert_eq!(look(&module, cpu).estimate.memory.temporaries, 2 * 64 * 64 * 4);
}

#[test]
fn instructions_are_tiles() {
    // 2 x 2 tiles of the result, 3 along the inner size; neither side fills its last tile.
    let module = module([200, 600, 300], |main, x, w| vec![product(main, x, w)]);
    let InstructionEstimate { matmul, vector, transfer, kernel, collective } =
        look(&module, NEURONX_CC).estimate.instructions;
    assert_eq!((matmul, vector), (2 * 2 * 3, 2 * 2));
    assert_eq!((transfer, kernel, collective), ((200 * 600 * 4_u64).div_ceil(costs().transfer_bytes), 0, 0));
    let arithmetic = self::module([200, 600, 300], |main, _, w| vec![main.binary(BinaryOp::Add, w, w).unwrap()]);
    let estimate = look(&arithmetic, NEURONX_CC).estimate;
    assert_eq!((estimate.instructions.matmul, estimate.instructions.vector), (0, (600 * 300_u64).div_ceil(128 * 512)));
}

#[test]
fn what_is_not_known_is_said() {
    let mut module = module([64, 64, 64], |main, x, w| {
        let y = main.add(x, w).unwrap();
        vec![unary(main, UnaryOp::Tanh, y)]
    });
    for inst in module.computations.iter_mut().flat_map(|computation| &mut computation.instructions) {
        if inst.opcode == "add" {
            inst.opcode = "sort".into();
        }
    }
    let estimate = look(&module, NEURONX_CC).estimate;
    assert_eq!((estimate.unknown.as_slice(), estimate.memory.temporaries), (&["sort".to_owned()][..], 64 * 64 * 4));
    assert!(estimate.instructions.kernel > 0);
}

#[test]
fn malformed_modules_are_refused() {
    let question = Question { backend: NEURONX_CC, arguments: &[], costs: None };
    assert!(analyze(&Graph::new(HloModuleProto::default()), question).is_err());
    let mut endless = module([4, 4, 4], |main, x, w| vec![main.add(x, w).unwrap()]);
    let entry = endless.entry_computation_id;
    let add = endless.computations[0].instructions.iter_mut().find(|inst| inst.opcode == "add").unwrap();
    add.opcode = "call".into();
    add.called_computation_ids = Numbers::from_slice(&[entry]);
    assert!(analyze(&Graph::new(endless), question).is_err());
}

#[test]
fn verdicts_allow_for_how_far_estimates_may_be_off() {
    use halite_bundle::estimate::FitVerdict::{DoesNotFit, Fits, FitsWithFlag, MayNotFit};
    let tables = Tables::builtin();
    let target = Generation::Trn1;
    let (hardware, limits) = (tables.hardware(target).unwrap(), tables.limits(target).unwrap());
    let room = hardware.core_memory - limits.model_overhead;
    let memory = |known: u64, temporaries: u64| {
        let memory = MemoryEstimate { arguments: known, temporaries, ..MemoryEstimate::default() };
        fit(&Estimate { memory, ..Estimate::default() }, hardware, limits, costs(), 1, None)
    };
    assert_eq!(memory(room, 0).memory, Fits);
    assert_eq!(memory(room + 1, 0).memory, DoesNotFit);
    assert_eq!(memory(0, room / 5 * 4).memory, Fits);
    assert_eq!(memory(0, room).memory, MayNotFit);
    assert_eq!(memory(0, room / 2 * 3).memory, DoesNotFit);
    let wide = fit(&memory_estimate(room * 2), hardware, limits, costs(), 2, None);
    assert_eq!((wide.memory, wide.memory_limit), (Fits, 2 * hardware.core_memory - limits.model_overhead));
    let instructions = |matmul: u64, stated: Option<u64>| {
        let instructions = InstructionEstimate { matmul, ..InstructionEstimate::default() };
        fit(&Estimate { instructions, ..Estimate::default() }, hardware, limits, costs(), 1, stated).verdict()
    };
    assert_eq!(instructions(1_000_000, None), Fits);
    assert_eq!(instructions(2_000_000, None), FitsWithFlag);
    assert_eq!(instructions(2_000_000, Some(8_000_000)), Fits);
    assert_eq!(instructions(6_000_000, None), FitsWithFlag);
    assert_eq!(instructions(7_000_000, None), MayNotFit);
    assert_eq!(instructions(7_000_000, Some(30_000_000)), Fits);
    assert_eq!(instructions(61_000_000, None), DoesNotFit);
}

fn memory_estimate(arguments: u64) -> Estimate {
    Estimate { memory: MemoryEstimate { arguments, ..MemoryEstimate::default() }, ..Estimate::default() }
}
