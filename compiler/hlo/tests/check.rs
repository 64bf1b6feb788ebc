//! The checker: everything the builder makes is sound, and each corruption of it is found.

use halite_hlo::check;
use halite_hlo::graph::Graph;
use halite_hlo::proto::*;
use halite_support::Severity;

type Corruption = (&'static str, fn(&mut HloModuleProto), &'static str);

fn entry(module: &mut HloModuleProto) -> &mut HloComputationProto {
    module.computations.last_mut().unwrap()
}

/// The first instruction of this opcode in the entry.
fn first<'m>(module: &'m mut HloModuleProto, opcode: &str) -> &'m mut HloInstructionProto {
    entry(module).instructions.iter_mut().find(|inst| inst.opcode == opcode).unwrap()
}

fn shape(inst: &mut HloInstructionProto) -> &mut ShapeProto {
    inst.shape.as_mut().unwrap()
}

fn alias(module: &mut HloModuleProto) -> &mut AliasEntryProto {
    &mut module.input_output_alias.as_mut().unwrap().entries[0]
}

fn dot(module: &mut HloModuleProto) -> &mut DotDimensionNumbers {
    first(module, "dot").dot_dimension_numbers.as_mut().unwrap()
}

const CORRUPTIONS: &[Corruption] = &[
    ("instruction id twice", |m| entry(m).instructions[1].id = 0, "has the id 0"),
    ("instruction name twice", |m| entry(m).instructions[1].name = "add.1".into(), "unique"),
    ("empty name", |m| entry(m).instructions[1].name = Name::default(), "unique"),
    ("no module name", |m| m.name.clear(), "no name"),
    ("computation id twice", |m| m.computations[1].id = 0, "has the id 0"),
    ("computation name twice", |m| m.computations[1].name = "main".into(), "has this name"),
    ("operand undefined", |m| first(m, "abs").operand_ids[0] = 9999, "operand 9999 is not defined"),
    ("operand of another computation", |m| first(m, "abs").operand_ids[0] = 0, "operand 0 is not defined"),
    ("operand after its user", |m| entry(m).instructions.reverse(), "is not defined before it"),
    ("operand missing", |m| first(m, "add").operand_ids.truncate(1), "2 operands needed, found 1"),
    ("root missing", |m| entry(m).root_id = 9999, "root 9999"),
    ("root of another type", |m| entry(m).root_id -= 1, "gives the result another type"),
    ("entry missing", |m| m.entry_computation_id = 77, "the entry 77"),
    ("entry misnamed", |m| m.entry_computation_name = "add_f32".into(), "`add_f32` is stated"),
    ("host program shape missing", |m| m.host_program_shape = None, "no program shape"),
    ("program shape missing", |m| entry(m).program_shape = None, "no program shape"),
    (
        "program shape short of a parameter",
        |m| entry(m).program_shape.as_mut().unwrap().parameters.truncate(3),
        "has 3 parameters, found 4",
    ),
    ("parameter number twice", |m| entry(m).instructions[1].parameter_number = 0, "have the number 0"),
    ("parameter gap", |m| entry(m).instructions[3].parameter_number = 9, "without gaps"),
    ("shape missing", |m| first(m, "abs").shape = None, "it has no shape"),
    ("stated shape", |m| shape(first(m, "tanh")).dimensions[0] = 5, "`f32[5,8]` is stated"),
    ("stated element type", |m| shape(first(m, "tanh")).element_type = 12, "`f64[4,8]` is stated"),
    ("element type 0", |m| shape(first(m, "tanh")).element_type = 0, "not the number of an element type"),
    ("negative size", |m| shape(first(m, "tanh")).dimensions[0] = -4, "negative"),
    ("huge size", |m| shape(first(m, "tanh")).dimensions[0] = i64::MAX, "63 bits"),
    ("dynamic size", |m| shape(first(m, "tanh")).is_dynamic_dimension[0] = true, "static"),
    (
        "layout rank",
        |m| shape(first(m, "tanh")).layout.as_mut().unwrap().minor_to_major = vec![0],
        "no permutation of 2",
    ),
    ("float op on integers", |m| first(m, "tanh").operand_ids[0] += 1, "tanh takes float"),
    ("bit op on floats", |m| first(m, "add").opcode = "and".into(), "and takes integer or pred"),
    ("mixed operands", |m| first(m, "add").operand_ids[1] += 1, "takes one element type"),
    ("comparison direction", |m| first(m, "compare").comparison_direction = "XX".into(), "no comparison direction"),
    ("comparison order", |m| first(m, "compare").comparison_type = "SIGNED".into(), "no order of the elements"),
    ("iota dimension", |m| first(m, "iota").dimensions = Numbers::from_slice(&[3]), "out of range"),
    (
        "broadcast dimensions",
        |m| first(m, "broadcast").dimensions = Numbers::from_slice(&[0]),
        "broadcast dimensions needed",
    ),
    ("permutation", |m| first(m, "transpose").dimensions = Numbers::from_slice(&[1, 1]), "occurs twice"),
    ("reshape", |m| shape(first(m, "reshape")).dimensions = vec![2, 17], "cannot reshape"),
    ("slice limit", |m| first(m, "slice").slice_dimensions[0].limit = 99, "does not fit dimension 0"),
    ("slice stride", |m| first(m, "slice").slice_dimensions[0].stride = 0, "does not fit dimension 0"),
    (
        "negative interior padding",
        |m| first(m, "pad").padding_config.as_mut().unwrap().dimensions[0].interior_padding = -1,
        "negative",
    ),
    ("padding missing", |m| first(m, "pad").padding_config = None, "a padding needed"),
    ("concatenated dimension", |m| first(m, "concatenate").dimensions = Numbers::from_slice(&[2]), "out of range"),
    ("literal missing", |m| first(m, "constant").literal = None, "a literal needed"),
    ("literal size", |m| first(m, "constant").literal.as_mut().unwrap().f32s.push(1.0), "not as many elements"),
    (
        "literal type",
        |m| first(m, "constant").literal.as_mut().unwrap().shape.as_mut().unwrap().element_type = 4,
        "the literal is `s32[]`",
    ),
    ("contracting dimension", |m| dot(m).lhs_contracting_dimensions = vec![7], "out of range"),
    ("contracting sizes", |m| dot(m).lhs_contracting_dimensions = vec![0], "cannot multiply"),
    (
        "batch and contracting",
        |m| {
            dot(m).lhs_batch_dimensions = vec![1];
            dot(m).rhs_batch_dimensions = vec![1];
        },
        "both batch and contracting",
    ),
    ("dot dimensions missing", |m| first(m, "dot").dot_dimension_numbers = None, "dot dimensions needed"),
    ("dot result too narrow", |m| shape(first(m, "dot")).element_type = 16, "cannot give bf16"),
    ("reducer missing", |m| first(m, "reduce").called_computation_ids.clear(), "1 called computations needed"),
    (
        "reducer undefined",
        |m| first(m, "reduce").called_computation_ids = Numbers::from_slice(&[55]),
        "computation 55 is not defined",
    ),
    (
        "reducer signature",
        |m| first(m, "reduce").called_computation_ids = Numbers::from_slice(&[0]),
        "must combine two",
    ),
    (
        "self call",
        |m| {
            let entry = m.entry_computation_id;
            first(m, "call").called_computation_ids = Numbers::from_slice(&[entry]);
        },
        "is not defined before it",
    ),
    ("call operands", |m| first(m, "call").operand_ids.clear(), "takes 1 operands, found 0"),
    ("slice sizes", |m| first(m, "dynamic-slice").dynamic_slice_sizes = vec![9, 9], "does not fit"),
    ("gather slice sizes", |m| first(m, "gather").gather_slice_sizes = vec![2, 8], "slice size must be 1"),
    (
        "gather offset dimensions",
        |m| first(m, "gather").gather_dimension_numbers.as_mut().unwrap().offset_dims.clear(),
        "offset dimensions needed",
    ),
    (
        "scatter index map",
        |m| first(m, "scatter").scatter_dimension_numbers.as_mut().unwrap().scatter_dims_to_operand_dims = vec![0, 1],
        "entries of an index vector",
    ),
    ("groups implicit", |m| first(m, "all-reduce").replica_groups.clear(), "must be written out"),
    ("rank twice", |m| first(m, "all-reduce").replica_groups[0].replica_ids = vec![0, 0], "exactly one replica group"),
    (
        "groups uneven",
        |m| {
            first(m, "all-gather").replica_groups =
                vec![ReplicaGroup { replica_ids: vec![0, 1, 2] }, ReplicaGroup { replica_ids: vec![3] }].into();
        },
        "differ in size",
    ),
    ("gather dimension", |m| first(m, "all-gather").dimensions = Numbers::from_slice(&[0]), "gives `f32[8,8]`"),
    ("permute source twice", |m| first(m, "collective-permute").source_target_pairs[0].source = 1, "source of two"),
    ("tuple index", |m| first(m, "get-tuple-element").tuple_index = 2, "has no element 2"),
    ("random algorithm", |m| first(m, "rng-bit-generator").rng_algorithm = 9, "known algorithm"),
    ("custom call target", |m| first(m, "custom-call").custom_call_target.clear(), "a target needed"),
    ("custom call convention", |m| first(m, "custom-call").custom_call_api_version = 50, "calling convention"),
    ("alias parameter", |m| alias(m).parameter_number = 4, "does not exist"),
    ("alias result", |m| alias(m).output_shape_index = vec![9999], "does not exist"),
    ("alias types", |m| alias(m).parameter_number = 2, "joins different types"),
    ("alias kind", |m| alias(m).kind = 3, "unknown kind"),
    (
        "alias twice",
        |m| {
            let again = alias(m).clone();
            m.input_output_alias.as_mut().unwrap().entries.push(again);
        },
        "already aliased",
    ),
    (
        "donor",
        |m| {
            let entries = vec![BufferDonorEntryProto { parameter_number: -1, ..BufferDonorEntryProto::default() }];
            m.buffer_donor = Some(HloBufferDonorProto { entries });
        },
        "donated parameter -1",
    ),
];

fn errors(module: HloModuleProto) -> Vec<String> {
    let findings = check(&Graph::new(module)).into_iter().filter(|finding| finding.severity() >= Severity::Error);
    findings.map(|finding| finding.message().to_owned()).collect()
}

#[test]
fn what_the_builder_makes_is_sound() {
    assert_eq!(check(&Graph::new(crate::common::every_opcode().unwrap())), []);
}

#[test]
fn each_corruption_is_found() {
    let sound = crate::common::every_opcode().unwrap();
    for (what, corrupt, expected) in CORRUPTIONS {
        let mut module = sound.clone();
        corrupt(&mut module);
        let errors = errors(module);
        assert!(errors.iter().any(|error| error.contains(expected)), "{what}: {errors:?}");
    }
}

#[test]
fn what_the_set_lacks_is_a_warning() {
    let mut module = crate::common::every_opcode().unwrap();
    let tanh = first(&mut module, "tanh");
    tanh.opcode = "real".into();
    let name = tanh.name.clone();
    let findings = check(&Graph::new(module));
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].severity(), Severity::Warning);
    let expected = format!("instruction `{name}`: `real` on these types is outside the checked set");
    assert_eq!(findings[0].message(), expected);
}
