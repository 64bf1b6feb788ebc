//! The bytes of HLO for Neuron: what its compiler is known to take of a module beside the rules about instructions.

use halite::compile::CompileOptions;
use halite::{Bundle, Session};
use halite_bundle::{ModuleEntry, PortRole};
use halite_hlo::proto::{HloComputationProto, HloInstructionProto, HloModuleProto, ShapeProto};
use halite_tensor::element_type::{self, TUPLE};
use std::collections::BTreeSet;

/// Element types that every Neuron core takes.
const ELEMENTS: [&str; 6] = ["pred", "s32", "u32", "f32", "bf16", "f16"];
/// Opcodes that are not taken, or only with care.
const FOREIGN: [&str; 8] =
    ["conditional", "reduce-precision", "rng", "rng-bit-generator", "scatter", "set-dimension-size", "sort", "while"];

/// The last declares a mask that the program then does not read.
const MODELS: [(&str, &[&str]); 6] = [
    ("tiny", &[]),
    ("llama-7b", &[]),
    ("llama-7b", &["layers=80", "hidden=8192", "heads=64", "kv_heads=8", "ffn=28672"]),
    ("tiny", &["model.name=gpt2", "model.config={vocab = 64, hidden = 32, layers = 2, heads = 2}"]),
    ("tiny", &["precision=bf16-sr"]),
    (concat!(env!("CARGO_MANIFEST_DIR"), "/data/masked.hal"), &[]),
];

fn compile(preset: &str, settings: &[&str]) -> Bundle {
    let mut session = Session::new();
    let settings: Vec<String> = ["target=trn1"].iter().chain(settings).map(|text| (*text).to_owned()).collect();
    let source = session.load(preset, &settings).unwrap_or_else(|errors| panic!("{errors:?}"));
    session.compile(&source, &CompileOptions::default()).unwrap_or_else(|errors| panic!("{errors:?}")).bundle
}

#[test]
fn modules_have_the_form_that_the_neuron_compiler_takes() {
    for (preset, settings) in MODELS {
        let bundle = compile(preset, settings);
        for entry in &bundle.manifest.modules {
            let bytes = bundle.hlo(entry).expect("the bundle has the file");
            let module = halite_hlo::decode(bytes).expect("the file decodes");
            assert!(halite_hlo::encode(&module) == bytes, "the file holds fields that are not looked at");
            let checked = Module { name: format!("{preset} {settings:?} {}", entry.name), module: &module };
            checked.numbers();
            checked.shapes();
            checked.entry(entry);
            checked.aliases(entry);
            checked.instructions(entry);
        }
    }
}

/// A module under test.
struct Module<'a> {
    name: String,
    module: &'a HloModuleProto,
}

impl Module<'_> {
    fn main(&self) -> &HloComputationProto {
        self.module.computations.last().expect("a module has an entry")
    }

    fn instructions_of_all(&self) -> impl Iterator<Item = &HloInstructionProto> {
        self.module.computations.iter().flat_map(|computation| &computation.instructions)
    }

    /// Ids count from 0 over the whole module; what is called comes first, the entry last.
    fn numbers(&self) {
        let Self { name, module } = self;
        let mut names = BTreeSet::new();
        for (number, computation) in module.computations.iter().enumerate() {
            assert_eq!(computation.id, number as i64, "{name}");
            let own: BTreeSet<i64> = computation.instructions.iter().map(|inst| inst.id).collect();
            assert!(own.contains(&computation.root_id), "{name}");
            for inst in &computation.instructions {
                assert!(inst.called_computation_ids.iter().all(|&called| called < computation.id), "{name}");
                assert!(inst.operand_ids.iter().all(|id| *id < inst.id && own.contains(id)), "{name}: {}", inst.name);
                assert!(inst.control_predecessor_ids.is_empty(), "{name}");
                assert!(names.insert(&inst.name), "{name}: {} is there twice", inst.name);
            }
        }
        assert!(self.instructions_of_all().map(|inst| inst.id).eq(0..names.len() as i64), "{name}");
        assert_eq!((module.id, module.entry_computation_name.as_str()), (0, "main"), "{name}");
        assert_eq!(module.entry_computation_id, self.main().id, "{name}");
        assert!(!module.name.is_empty() && !module.is_dynamic && module.buffer_donor.is_none(), "{name}");
    }

    /// Row-major, static, in element types that the cores take.
    fn shapes(&self) {
        let programs = self.module.computations.iter().filter_map(|computation| computation.program_shape.as_ref());
        let programs = programs.flat_map(|program| program.parameters.iter().chain(&program.result));
        let literals = self.instructions_of_all().filter_map(|inst| inst.literal.as_ref()?.shape.as_ref());
        let own = self.instructions_of_all().map(|inst| inst.shape.as_ref().expect("an instruction has a shape"));
        programs.chain(literals).chain(own).for_each(|shape| self.shape(shape));
    }

    fn shape(&self, shape: &ShapeProto) {
        if shape.element_type == TUPLE {
            assert!(shape.layout.is_none() && shape.dimensions.is_empty(), "{}", self.name);
            return shape.tuple_shapes.iter().for_each(|part| self.shape(part));
        }
        let rank = shape.dimensions.len();
        let element = element_type::name(shape.element_type).unwrap_or_default();
        assert!(ELEMENTS.contains(&element), "{}: {element}", self.name);
        assert_eq!(shape.is_dynamic_dimension, vec![false; rank], "{}", self.name);
        let layout = shape.layout.as_ref().expect("an array has a layout");
        assert!(layout.minor_to_major.iter().copied().eq((0..rank as i64).rev()), "{}", self.name);
        assert_eq!(layout.tail_padding_alignment_in_elements, 1, "{}", self.name);
    }

    /// Every parameter is read, has its name and a number that sorts; every result has a buffer of its own.
    fn entry(&self, entry: &ModuleEntry) {
        let (name, main) = (&self.name, self.main());
        let program = main.program_shape.as_ref().expect("the entry has a program shape");
        assert_eq!(self.module.host_program_shape.as_ref(), Some(program), "{name}");
        let ports: Vec<&str> = entry.inputs.iter().map(|port| port.name.as_str()).collect();
        assert_eq!(program.parameter_names, ports, "{name}");
        let read: BTreeSet<i64> = main.instructions.iter().flat_map(|inst| inst.operand_ids.iter().copied()).collect();
        let parameters: Vec<_> = main.instructions.iter().filter(|inst| inst.opcode == "parameter").collect();
        assert_eq!(parameters.len(), ports.len(), "{name}");
        let mut names = Vec::new();
        for (number, parameter) in parameters.iter().enumerate() {
            assert_eq!(parameter.parameter_number, number as i64, "{name}");
            assert!(read.contains(&parameter.id), "{name}: nothing reads {}", parameter.name);
            names.push(attribute(parameter, "neff_input_names"));
        }
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{name}: {names:?} do not sort");
        let root = main.instructions.iter().find(|inst| inst.id == main.root_id).expect("the root is there");
        assert_eq!((&*root.opcode, root.operand_ids.len()), ("tuple", entry.outputs.len()), "{name}");
        let distinct: BTreeSet<_> = root.operand_ids.iter().collect();
        assert_eq!(distinct.len(), root.operand_ids.len(), "{name}: a result is there twice");
        assert!(parameters.iter().all(|parameter| !distinct.contains(&parameter.id)), "{name}: a raw parameter");
        let names: Vec<&str> = attribute(root, "neff_output_names").split(',').collect();
        assert!(names.len() == entry.outputs.len() && names.windows(2).all(|pair| pair[0] < pair[1]), "{name}");
    }

    /// Every replaced buffer is an alias of the same type, and no other.
    fn aliases(&self, entry: &ModuleEntry) {
        let name = &self.name;
        let found = self.module.input_output_alias.iter().flat_map(|alias| &alias.entries).map(|alias| {
            assert_eq!((alias.kind, alias.parameter_shape_index.len()), (2, 0), "{name}");
            assert_eq!(alias.output_shape_index.len(), 1, "{name}");
            (alias.output_shape_index[0] as usize, alias.parameter_number as usize)
        });
        let replaced = entry.outputs.iter().enumerate().filter(|(_, port)| port.role == PortRole::Buffer);
        let expected = replaced.map(|(output, port)| (output, port.alias.expect("a replaced buffer is an input")));
        assert!(found.eq(expected), "{name}");
        let program = self.main().program_shape.as_ref().expect("the entry has a program shape");
        let results = &program.result.as_ref().expect("the entry has a result").tuple_shapes;
        for (output, port) in entry.outputs.iter().enumerate() {
            if let Some(input) = port.alias {
                assert_eq!(results[output], program.parameters[input], "{name}: {}", port.name);
            }
        }
    }

    /// No foreign opcodes, and others in the forms that are known: reductions of one operand, clamped positions, kernels with a
    /// decomposition.
    fn instructions(&self, entry: &ModuleEntry) {
        for computation in &self.module.computations {
            let by_id = |id: i64| computation.instructions.iter().find(|inst| inst.id == id);
            for inst in &computation.instructions {
                let case = format!("{}: {} {}", self.name, inst.opcode, inst.name);
                assert!(!FOREIGN.contains(&&*inst.opcode), "{case}");
                assert!(inst.exponent_bits == 0 && inst.mantissa_bits == 0 && inst.channel_id == 0, "{case}");
                match &*inst.opcode {
                    "reduce" => assert_eq!(inst.operand_ids.len(), 2, "{case}"),
                    "gather" => {
                        let positions = by_id(inst.operand_ids[1]).map(|inst| &*inst.opcode);
                        assert_eq!(positions, Some("clamp"), "{case}");
                    }
                    "custom-call" => {
                        let decomposition = attribute(inst, halite_hlo::DECOMPOSITION);
                        assert!(
                            entry.decompositions.iter().any(|known| known.name == decomposition),
                            "{case}: {decomposition}"
                        );
                        assert_eq!(inst.custom_call_api_version, 2, "{case}");
                        assert!(inst.backend_config.is_ascii() && !inst.custom_call_has_side_effect, "{case}");
                    }
                    _ => {}
                }
            }
        }
        let lines =
            self.main().instructions.iter().filter(|inst| {
                inst.metadata.as_ref().is_some_and(|data| !data.op_name.is_empty() && data.source_line > 0)
            });
        assert!(lines.count() > 0, "{}: no instruction names a line of the model", self.name);
    }
}

fn attribute<'a>(inst: &'a HloInstructionProto, key: &str) -> &'a str {
    let attributes = inst.frontend_attributes.as_ref();
    let found = attributes.and_then(|attributes| attributes.map.get(key));
    found.unwrap_or_else(|| panic!("{} has no `{key}`", inst.name))
}

/// The switches for what public sources leave open do not change what a program without collectives is.
#[test]
fn switches_of_collectives_leave_other_instructions_alone() {
    let plain = compile("tiny", &[]);
    let other = compile("tiny", &["neuron.emit={groups = 'collective_device_list', channels = true}"]);
    assert!(plain.files == other.files);
}

/// Ranks along `fsdp` and along `tensor`, of which each group is one that the target takes.
const MESH: [&str; 4] = ["parallel.fsdp=2", "parallel.fsdp_min_bytes=1", "parallel.tensor=2", "target=trn2"];

/// Each collective of a step takes the token of the one before it, in the order that the passes wrote, in the stream of its axis.
#[test]
fn a_token_goes_through_the_collectives_of_a_step() {
    let plain = compile("tiny", &MESH);
    let ordered = compile("tiny", &[&MESH[..], &["neuron.emit.tokens=true"]].concat());
    for entry in &ordered.manifest.modules {
        let decoded = |bundle: &Bundle| halite_hlo::decode(bundle.hlo(entry).unwrap()).unwrap();
        let (module, plain) = (decoded(&ordered), decoded(&plain));
        let main = module.computations.last().unwrap();
        let inst = |id: i64| main.instructions.iter().find(|inst| inst.id == id).unwrap();
        let (mut last, mut streams) = (None, BTreeSet::new());
        for collective in main.instructions.iter().filter(|inst| inst.has_token()) {
            let mut token = inst(*collective.operand_ids.last().unwrap());
            if token.opcode == "convert" {
                token = inst(token.operand_ids[0]);
            }
            match last {
                None => assert_eq!(token.opcode, "constant", "{}", entry.name),
                Some(last) => assert_eq!((&*token.opcode, token.operand_ids[0]), ("get-tuple-element", last)),
            }
            let stream = attribute(collective, "stream_id");
            let along = &collective.replica_groups[0].replica_ids[..];
            assert_eq!(stream, if along == [0, 1] { "0" } else { "1" }, "{}: {along:?}", collective.name);
            streams.insert(stream.to_owned());
            last = Some(collective.id);
        }
        assert_eq!(streams.into_iter().collect::<Vec<_>>(), ["0", "1"], "{}", entry.name);
        // The same collectives, in the same order.
        let listed = |module: &HloModuleProto| -> Vec<_> {
            let ops = ["all-gather", "all-reduce", "reduce-scatter"];
            let insts = &module.computations.last().unwrap().instructions;
            let insts = insts.iter().filter(|inst| ops.contains(&&*inst.opcode));
            insts.map(|inst| (inst.opcode.clone(), inst.replica_groups.clone())).collect()
        };
        assert_eq!(listed(&module), listed(&plain), "{}", entry.name);
        assert!(plain.computations.iter().flat_map(|own| &own.instructions).all(|inst| !inst.has_token()));
        halite_hlo::CheckedHlo::new(module).unwrap();
    }
}

/// CPU XLA takes no token: its target never writes one, whatever the table of another target says.
#[test]
fn no_other_target_has_tokens() {
    let settings = ["parallel.fsdp=2", "neuron.emit.tokens=true", "target=cpu"].map(str::to_owned);
    let mut session = Session::new();
    let source = session.load("tiny", &settings).unwrap();
    let bundle = session.compile(&source, &CompileOptions::default()).unwrap().bundle;
    for entry in &bundle.manifest.modules {
        let module = halite_hlo::decode(bundle.hlo(entry).unwrap()).unwrap();
        assert!(module.computations.iter().flat_map(|own| &own.instructions).all(|inst| !inst.has_token()));
    }
}
