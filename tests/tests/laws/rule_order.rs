//! The result of passes made of rules does not depend on the order of the rules.

use halite_ir::text::{PrintOptions, parse, print_with};
use halite_ir::{Module, Registry};
use halite_passes::{Findings, Fusion, Pass, PassCx, fusions};
use halite_support::FileId;
use halite_test_kit::numeric::Random;
use std::path::{Path, PathBuf};

/// The number of times that the rules of each pass are shuffled.
const SHUFFLES: u64 = 100;

/// The golden files of a pass, by name.
fn goldens(pass: &Fusion) -> Vec<PathBuf> {
    let folder = pass.info().name.replace('-', "_");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/opt").join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    files.sort();
    files
}

fn module(file: &Path, registry: &Registry) -> Module {
    let text = std::fs::read_to_string(file).expect("a readable file");
    parse(&text, FileId::of("test.ir", &text), registry).expect("a golden file parses")
}

/// The module that a pass makes, and its remarks, as text.
fn outcome(pass: &Fusion, module: &Module, registry: &Registry) -> String {
    let (mut module, findings) = (module.clone(), Findings::with_remarks());
    let cx = PassCx { findings: Some(&findings), ..PassCx::new(registry) };
    let changed = pass.run(&mut module, &cx).expect("the pass takes its goldens");
    let remarks: Vec<_> = findings.remarks().iter().map(ToString::to_string).collect();
    format!("{changed:?}\n{}\n{}", print_with(&module, PrintOptions { locations: true }), remarks.join("\n"))
}

/// The numbers below `count` in random order.
fn shuffled(count: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<_> = (0..count).collect();
    for at in (1..count).rev() {
        order.swap(at, random.below(at + 1));
    }
    order
}

#[test]
fn rules_in_any_order_do_the_same() {
    let registry = Registry::builtin();
    for pass in fusions() {
        let name = pass.info().name;
        let mut random = Random::new(1);
        let orders: Vec<_> = (0..SHUFFLES).map(|_| shuffled(pass.rules().len(), &mut random)).collect();
        let files = goldens(&pass);
        assert!(!files.is_empty(), "`{name}` has no golden files");
        for file in files {
            let module = module(&file, &registry);
            let expected = outcome(&pass, &module, &registry);
            for order in &orders {
                let found = outcome(&pass.reordered(order), &module, &registry);
                assert!(found == expected, "{}: `{name}` with rules in the order {order:?}", file.display());
            }
        }
    }
}

/// A rule that no golden file takes or explains is not tested.
#[test]
fn goldens_have_every_rule() {
    let registry = Registry::builtin();
    for pass in fusions() {
        let findings = Findings::with_remarks();
        let cx = PassCx { findings: Some(&findings), ..PassCx::new(&registry) };
        for file in goldens(&pass) {
            pass.run(&mut module(&file, &registry), &cx).expect("the pass takes its goldens");
        }
        let remarks = findings.remarks();
        let idle: Vec<_> = pass.rules().filter(|rule| remarks.iter().all(|remark| remark.rule != *rule)).collect();
        assert!(idle.is_empty(), "no golden file of `{}` has {idle:?}", pass.info().name);
    }
}

#[test]
fn rules_of_a_pass_have_different_names() {
    for pass in fusions() {
        let mut names: Vec<_> = pass.rules().collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
