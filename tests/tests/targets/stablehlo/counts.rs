//! The number of programs that XLA compiles to the same from either format, and of those that give the same bits.

use super::programs::{KINDS, Program};
use halite_hlo::OUTPUT_NAMES;
use halite_hlo::proto::HloModuleProto;
use halite_runtime::{ProgramFormat, evaluate_replicas};
use halite_tensor::HostTensor;
use halite_test_kit::xla;
use halite_tests::optimized::optimized_by;
use halite_tests::structure::structure;

/// Set in the process whose XLA writes what it makes of programs: the file that gets a line for each program, whether bits are equal.
const CHILD: &str = "HALITE_TEST_STABLEHLO_COUNTS";

/// Of how many programs of each kind XLA makes the same, in the order of kinds. `tests/jax/README.md` says in what others differ.
const LEAST_EQUAL: [usize; 3] = [143, 15, 0];

/// Programs, those that XLA makes the same of, and those whose results are the same bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Count {
    programs: usize,
    equal_modules: usize,
    equal_bits: usize,
}

/// That the bits are equal is held for samples, goldens and steps by tests of their own too.
#[test]
#[ignore = "second tier: XLA compiles each program twice"]
fn xla_makes_the_same_of_both_formats() {
    if let Some(file) = std::env::var_os(CHILD) {
        let lines = KINDS.iter().flat_map(|(kind, programs)| {
            programs().iter().map(|program| format!("{kind}\t{}\n", has_equal_bits(program))).collect::<Vec<_>>()
        });
        return std::fs::write(file, lines.collect::<String>()).expect("the file can be written");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("bits");
    let name = "stablehlo::counts::xla_makes_the_same_of_both_formats";
    let modules = optimized_by(name, (CHILD, &file.to_string_lossy()));
    let bits = std::fs::read_to_string(&file).expect("the other process writes it");
    assert_eq!(modules.len(), 2 * bits.lines().count(), "each program is compiled from each format");
    let pairs = modules.chunks(2).map(|pair| structure(&comparable(&pair[0])) == structure(&comparable(&pair[1])));
    let found: Vec<_> = bits.lines().zip(pairs).collect();
    let counts = KINDS.map(|(kind, _)| (kind, count(&found, kind)));
    let table = table(&counts);
    println!("{table}");
    for ((kind, count), least) in counts.iter().zip(LEAST_EQUAL) {
        assert!(
            count.programs > 0 && count.equal_bits == count.programs,
            "{kind}: not all give the same bits\n{table}"
        );
        assert!(count.equal_modules >= least, "{kind}: XLA made the same of {least}\n{table}");
    }
}

/// Whether a program gives the same bits from either format. It is compiled once from each.
fn has_equal_bits(program: &Program) -> bool {
    let [expected, found] = ProgramFormat::OF_PLUGINS.map(|format| {
        let executable = xla::compile_in(format, &program.hlo, program.inputs.len());
        let executable = executable.unwrap_or_else(|error| panic!("{error}"));
        let inputs: Vec<&[HostTensor]> = program.inputs.iter().map(Vec::as_slice).collect();
        evaluate_replicas(xla::client(), executable.as_ref(), &inputs).unwrap_or_else(|error| panic!("{error}"))
    });
    let (expected, found) = (expected.iter().flatten(), found.iter().flatten());
    expected.map(HostTensor::bytes).eq(found.map(HostTensor::bytes))
}

/// A module without what formats say differently: one result is a tuple in HLO, whose names are an attribute of it, and HLO says of a
/// result that it must take a buffer, where StableHLO says that it may.
fn comparable(module: &HloModuleProto) -> HloModuleProto {
    let mut module = module.clone();
    let entry = module.entry_computation_id;
    let entry = module.computations.iter_mut().find(|computation| computation.id == entry).expect("it has an entry");
    let root = entry.root_id;
    let root = entry.instructions.iter_mut().find(|inst| inst.id == root).expect("it has a root");
    if let ("tuple", [only]) = (&*root.opcode, &root.operand_ids[..]) {
        entry.root_id = *only;
    }
    // XLA hands the attribute on to what it makes of the root.
    for inst in module.computations.iter_mut().flat_map(|computation| &mut computation.instructions) {
        inst.frontend_attributes.iter_mut().for_each(|attributes| drop(attributes.map.remove(OUTPUT_NAMES)));
        inst.frontend_attributes = inst.frontend_attributes.take().filter(|attributes| !attributes.map.is_empty());
    }
    for alias in module.input_output_alias.iter_mut().flat_map(|aliases| &mut aliases.entries) {
        alias.kind = 0;
        alias.output_shape_index = vec![alias.output_shape_index.first().copied().unwrap_or(0)];
    }
    module
}

fn count(found: &[(&str, bool)], kind: &str) -> Count {
    let own = found.iter().filter_map(|(line, same)| Some((line.strip_prefix(kind)?.trim() == "true", *same)));
    own.fold(Count::default(), |count, (bits, same)| Count {
        programs: count.programs + 1,
        equal_modules: count.equal_modules + usize::from(same),
        equal_bits: count.equal_bits + usize::from(bits),
    })
}

fn table(counts: &[(&str, Count)]) -> String {
    let head = format!("{:24}{:>10}{:>16}{:>14}{:>14}", "", "programs", "equal in XLA", "equal bits", "other bits");
    let row = |(kind, count): &(&str, Count)| {
        let Count { programs, equal_modules, equal_bits } = count;
        format!("{kind:24}{programs:>10}{equal_modules:>16}{equal_bits:>14}{:>14}", programs - equal_bits)
    };
    std::iter::once(head).chain(counts.iter().map(row)).collect::<Vec<_>>().join("\n")
}
