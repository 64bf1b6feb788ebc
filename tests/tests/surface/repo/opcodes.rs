//! An elementwise opcode is its row in the table and the file of its op.

use crate::repo::{SHIPPED, production};
use halite_hlo::Opcode;
use halite_ir::Op;
use std::collections::BTreeSet;

/// The table of opcodes.
const TABLE: &str = "compiler/hlo/src/opcode.rs";

/// Crates in which a name in quotes is an opcode of HLO.
const NAMES: [&str; 4] = ["driver/", "compiler/hlo/", "compiler/lift/", "compiler/stablehlo/"];

/// Files that may name opcodes beside the table and their ops, each for a reason.
const MAY: [(&str, &str); 2] = [
    ("compiler/lift/src/ops/loops.rs", "a loop is counted by sums"),
    ("compiler/lift/src/ops/trial.rs", "what computations of opcodes like these keep is found by trying them"),
];

/// Production code of all targets that uses HLO: paths and texts without comments.
fn sources() -> Vec<(String, String)> {
    let has_hlo = |path: &str, code: &str| path.starts_with("compiler/hlo/") || code.contains("halite_hlo");
    let code = |text: &str| {
        text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
    };
    let of_all = production(&SHIPPED).filter(|(path, _)| !path.starts_with("targets/"));
    of_all.map(|(path, text)| (path, code(&text))).filter(|(path, code)| has_hlo(path, code)).collect()
}

/// Whether code holds this word, not as a part of a longer one.
fn holds(code: &str, word: &str) -> bool {
    let follows = |at: usize| code[at + word.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    code.match_indices(word).any(|(at, _)| !follows(at))
}

#[test]
fn an_elementwise_opcode_is_a_row_and_an_op() {
    let sources = sources();
    let mut used = BTreeSet::new();
    for &opcode in Opcode::ALL {
        let variant = match opcode {
            Opcode::Unary(op) => format!("UnaryOp::{op:?}"),
            Opcode::Binary(op) => format!("BinaryOp::{op:?}"),
            _ => continue,
        };
        let names = [opcode.name(), opcode.row().stablehlo.unwrap()].map(|name| format!("\"{name}\""));
        let is_named = |path: &str, code: &str| {
            let has_names = NAMES.iter().any(|own| path.starts_with(own));
            holds(code, &variant) || has_names && names.iter().any(|name| code.contains(name))
        };
        let found = sources.iter().filter(|(path, code)| is_named(path, code)).map(|(path, _)| path.as_str());
        let (let_, found): (BTreeSet<_>, BTreeSet<_>) = found.partition(|path| MAY.iter().any(|(own, _)| own == path));
        used.extend(let_);
        let op = Op::of_opcode(opcode).unwrap_or_else(|| panic!("no op is `{}`", opcode.name()));
        let file = format!("compiler/ir/src/ops/{}.rs", op.name());
        assert_eq!(found, BTreeSet::from([TABLE, &file]), "{variant}");
    }
    assert_eq!(used, MAY.iter().map(|(path, _)| *path).collect(), "what may name opcodes names some");
}
