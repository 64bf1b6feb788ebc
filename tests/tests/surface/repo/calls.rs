//! Calls are edges: what an instruction runs is asked of it (`Inst::call`, `Inst::edges`), and its op is not looked at.

use crate::repo::{SHIPPED, production};

/// Files that may tell an op that names functions from others, each for a reason.
const MAY: &[(&str, &str)] = &[
    ("compiler/ir/src/edge.rs", "edges are made here"),
    ("compiler/ir/src/ops/call.rs", "the op"),
    ("compiler/ir/src/ops/kernel_call.rs", "the op"),
    ("compiler/ir/src/lower.rs", "kernels are lowered as calls of a target or as their decompositions"),
    ("compiler/analysis/src/replicas/transfer.rs", "a kernel says itself how its dimensions correspond"),
    ("compiler/analysis/src/replicas/finding.rs", "what a kernel says of itself is part of a finding"),
    ("passes/src/transform/auto_cast/caster.rs", "a kernel has the types that its target takes"),
    ("passes/src/transform/dispatch_dialect.rs", "kernels are made here"),
];

#[test]
fn calls_are_edges() {
    let (mut found, mut used) = (Vec::new(), Vec::new());
    for (path, text) in production(&SHIPPED) {
        let looks = |line: &&str| line.contains("Op::Call(") || line.contains("Op::KernelCall(");
        let Some(line) = text.lines().find(looks) else { continue };
        match MAY.iter().find(|(own, _)| *own == path) {
            Some((own, _)) => used.push(*own),
            None => found.push(format!("{path}: {}", line.trim())),
        }
    }
    assert!(found.is_empty(), "these match calls; ask `Inst::call` or `Inst::edges`:\n{}", found.join("\n"));
    let unused: Vec<_> = MAY.iter().filter(|(own, _)| !used.contains(own) && !own.contains("/ops/")).collect();
    assert!(unused.is_empty(), "these match no call: {unused:?}");
}
