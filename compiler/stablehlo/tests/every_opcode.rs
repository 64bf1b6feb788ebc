//! Instructions of Halite's builder are written whole; one that has no form is refused by its opcode and name.

use halite_hlo::proto::*;
use halite_hlo::*;
use halite_stablehlo::Form;
use halite_tensor::DType;

/// The text of a module after a change.
fn changed(change: impl FnOnce(&mut HloModuleProto)) -> halite_support::Result<String> {
    let mut module = crate::common::every_opcode().unwrap();
    change(&mut module);
    halite_stablehlo::print(&CheckedHlo::new(module).unwrap(), Form::Program { num_replicas: 4 })
}

fn first<'m>(module: &'m mut HloModuleProto, opcode: &str) -> &'m mut HloInstructionProto {
    let entry = module.computations.last_mut().unwrap();
    entry.instructions.iter_mut().find(|inst| inst.opcode == opcode).unwrap()
}

/// `every_opcode.mlir` was read by a person, and is parsed by the versions of jaxlib that `tests/jax/README.md` lists.
#[test]
fn every_opcode_is_written() {
    let text = changed(|_| {}).unwrap();
    crate::written::assert_written("every_opcode.mlir", &text);
    assert_eq!(changed(|_| {}).unwrap(), text, "equal modules give equal texts");
}

#[test]
fn the_module_has_every_opcode() {
    let module = crate::common::every_opcode().unwrap();
    let has = |name: &str| module.computations.iter().flat_map(|own| &own.instructions).any(|inst| inst.opcode == name);
    let missing: Vec<&str> = Opcode::ALL.iter().map(|op| op.name()).filter(|name| !has(name)).collect();
    assert_eq!(missing, [""; 0]);
}

type Change = (&'static str, fn(&mut HloModuleProto), &'static str);

const REFUSED: &[Change] = &[
    ("an opcode of others", |m| first(m, "tanh").opcode = "stochastic-convert".into(), "`stochastic-convert` (`tanh."),
    (
        "a control predecessor",
        |m| first(m, "abs").control_predecessor_ids = first(m, "abs").operand_ids.to_vec(),
        "waits for instructions",
    ),
    ("a sharding", |m| first(m, "abs").sharding = Some(Box::default()), "`abs` (`abs."),
    ("a sharding of a parameter", |m| first(m, "parameter").sharding = Some(Box::default()), "it has a sharding"),
    ("a long combiner", |m| lengthen(m, 62), "it combines by more than 64"),
    ("shardings of a module", |m| m.spmd_output_sharding = Some(OpSharding::default()), "states shardings"),
    ("layouts of a kernel", |m| first(m, "custom-call").constrain_layout = true, "asks for layouts"),
    ("a kernel of another convention", |m| first(m, "custom-call").custom_call_api_version = 4, "calling convention"),
    (
        "a kernel that calls",
        |m| first(m, "custom-call").called_computation_ids = Numbers::from_slice(&[0]),
        "calls computations",
    ),
    ("an algorithm of products", |m| set_precision(m, &[0, 0], 3), "an algorithm"),
    ("no precision", |m| set_precision(m, &[0, 9], 0), "its precision is none"),
];

fn set_precision(module: &mut HloModuleProto, operands: &[i32], algorithm: i32) {
    let config = PrecisionConfig { operand_precision: operands.to_vec(), algorithm };
    first(module, "dot").precision_config = Some(Box::new(config));
}

/// Adds instructions that nothing reads to a computation that combines two values.
fn lengthen(module: &mut HloModuleProto, count: usize) {
    let combiner = module.computations.iter_mut().find(|own| own.name == "minimum_f32").unwrap();
    let sum = combiner.instructions[2].clone();
    let another = |number| {
        let id = 1000 + number as i64;
        HloInstructionProto { id, name: format!("add.{id}").into(), ..sum.clone() }
    };
    combiner.instructions.extend((0..count).map(another));
}

#[test]
fn what_has_no_form_is_refused() {
    for (what, change, message) in REFUSED {
        let error = changed(*change).expect_err(what);
        assert!(error.message().contains(message), "{what}: {error}");
        assert_eq!(error.code().id, "E0215", "{what}");
    }
}

#[test]
fn what_others_write_is_kept() {
    let text = changed(|module| {
        set_precision(module, &[2, 0], 0);
        first(module, "all-reduce").use_global_device_ids = true;
        first(module, "all-reduce").channel_id = 5;
        first(module, "custom-call").backend_config = b"\xff\n".to_vec();
        let donor = BufferDonorEntryProto { parameter_number: 2, parameter_shape_index: Vec::new() };
        module.buffer_donor = Some(HloBufferDonorProto { entries: vec![donor] });
    });
    let text = text.unwrap();
    for part in [
        "precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]",
        "use_global_device_ids = unit, channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>",
        "backend_config = \"\\FF\\0A\"",
        "tensor<4x8xi1> {jax.buffer_donor = true}",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// StableHLO scatters one operand at a time; channels stay apart.
#[test]
fn sums_that_are_scattered_together_are_one_each() {
    let form = CollectiveForm { groups: GroupField::ReplicaGroups, channels: true, ordered: None };
    let mut module = ModuleBuilder::new("scattered").with_collectives(form);
    let mut main = module.computation("main");
    let x = main.parameter("x", ArrayType::new(DType::F32, [4])).unwrap();
    let y = main.parameter("y", ArrayType::new(DType::F32, [2])).unwrap();
    let both = main.reduce_scatter(ReduceKind::Add, &[x, y], 0, &[vec![0, 1]]).unwrap();
    let again = main.reduce_scatter(ReduceKind::Add, &[y, x], 0, &[vec![0, 1]]).unwrap();
    let gathered = main.all_gather(&[both[1], again[0]], 0, &[vec![0, 1]]).unwrap();
    let root = main.root_tuple(&[both[0], again[1], gathered[0], gathered[1]]).unwrap();
    main.finish(root).unwrap();
    let hlo = CheckedHlo::new(module.finish().unwrap()).unwrap();
    let text = halite_stablehlo::print(&hlo, Form::Program { num_replicas: 2 }).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("channel")).map(str::trim).collect();
    let line = |name: &str, operands: &str, own: &str, channel: i64| {
        format!(
            "%{name} = \"stablehlo.{operands} <{{{own} = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, \
             channel_handle = #stablehlo.channel_handle<handle = {channel}, type = 1>}}>"
        )
    };
    let scattered = |name, operand: &str, channel| {
        line(name, &format!("reduce_scatter\"({operand})"), "scatter_dimension", channel) + " ({"
    };
    let expected = [
        scattered("reduce-scatter.5_0", "%x.3", 1),
        scattered("reduce-scatter.5_1", "%y.4", 4),
        scattered("reduce-scatter.8_0", "%y.4", 2),
        scattered("reduce-scatter.8_1", "%x.3", 5),
    ];
    assert_eq!(lines[..4], expected);
    let gather = line("all-gather.11:2", "all_gather\"(%reduce-scatter.5_1, %reduce-scatter.8_0)", "all_gather_dim", 3);
    assert!(lines[4].starts_with(&gather), "{}", lines[4]);
}
