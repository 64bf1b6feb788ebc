//! Recomputation in a backward is still there in the HLO that CPU XLA makes of a step: nothing merges it with what it repeats.

use halite_bundle::ModuleRole;
use halite_hlo::proto::{HloComputationProto, HloModuleProto};
use halite_runtime::{CompileOptions, Executor, Program};
use halite_test_kit::xla;
use halite_tests::compiled;
use halite_tests::optimized::optimized_by;
use std::collections::HashMap;

const LAYERS: usize = 4;

/// Policies of recomputation, and the number of times that the backward then executes instructions again in each layer: the
/// exponential is that of the softmax, `tanh` that of GELU. The core of attention has two products, scores and their result; a block
/// two more in the projections around it, and one before the activation. What the last projection gives is read by no gradient.
const RECOMPUTE: [(&str, [usize; 3]); 2] = [("[\"attention\", \"activation\"]", [1, 1, 2]), ("[\"block\"]", [1, 1, 5])];

const OPCODES: [&str; 3] = ["exponential", "tanh", "dot"];

/// Set in the process whose XLA writes what it makes of a step: the value for `recompute`.
const CHILD: &str = "HALITE_TEST_RECOMPUTE";

/// The number of times that a run executes instructions of an opcode.
fn executed(module: &HloModuleProto, opcode: &str) -> usize {
    let computations = module.computations.iter().map(|computation| (computation.id, computation)).collect();
    executed_by(&computations, module.entry_computation_id, opcode)
}

fn executed_by(computations: &HashMap<i64, &HloComputationProto>, id: i64, opcode: &str) -> usize {
    let insts = computations[&id].instructions.iter();
    let each = insts.map(|inst| {
        let called = inst.called_computation_ids.iter().map(|&callee| executed_by(computations, callee, opcode));
        usize::from(inst.opcode == opcode) + called.sum::<usize>()
    });
    each.sum()
}

/// The training step of a GPT-2, as bytes of HLO.
fn step(recompute: &str) -> Vec<u8> {
    let sizes = ["hidden=16", "heads=4", "positions=8", "vocab=29", "seq=8", "batch=2"];
    let fixed = ["precision=fp32", "emit.calls=keep"];
    let more = [format!("layers={LAYERS}"), format!("recompute={recompute}")];
    let settings: Vec<String> = sizes.iter().chain(&fixed).map(|set| (*set).to_owned()).chain(more).collect();
    halite_hlo::encode(&compiled::module("gpt2", &ModuleRole::TRAIN_STEP, &settings).hlo)
}

/// The optimized HLO of a step.
fn optimized(recompute: &str) -> HloModuleProto {
    optimized_by("optimized_hlo::what_is_computed_again_stays_so", (CHILD, recompute)).swap_remove(0)
}

#[test]
fn what_is_computed_again_stays_so() {
    if let Ok(recompute) = std::env::var(CHILD) {
        let hlo = step(&recompute);
        // No machine code is run.
        let options = CompileOptions { optimization_level: Some(0), ..CompileOptions::default() };
        let program = Program::new(&hlo, options).unwrap_or_else(|error| panic!("{error}"));
        xla::client().compile(&program).unwrap_or_else(|error| panic!("{error}"));
        return;
    }
    let counts = |recompute| {
        let module = optimized(recompute);
        OPCODES.map(|opcode| executed(&module, opcode))
    };
    let none = counts("[\"none\"]");
    for (recompute, again) in RECOMPUTE {
        let (found, expected) = (counts(recompute), [0, 1, 2].map(|at| none[at] + LAYERS * again[at]));
        assert_eq!(found, expected, "{OPCODES:?} under {recompute}, {none:?} where nothing is");
    }
}
