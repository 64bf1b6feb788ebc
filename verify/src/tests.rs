//! Verification of programs for a target that is not here.

use super::program::Program;
use super::{Study, VerifyOptions, VerifyRow};
use halite::Session;
use halite_bundle::ModuleRole;
use halite_hlo::proto::{HloInstructionProto, HloModuleProto};
use halite_runtime::{ClientOptions, Pjrt, find_plugin};
use std::sync::Arc;

/// Changes an instruction in the first module where `change` finds something to change.
fn tamper(bytes: &mut Vec<u8>, mut change: impl FnMut(&mut HloInstructionProto) -> bool) -> bool {
    let mut module: HloModuleProto = halite_hlo::decode(bytes).unwrap();
    let mut insts = module.computations.iter_mut().flat_map(|computation| &mut computation.instructions);
    let changed = insts.any(&mut change);
    *bytes = halite_hlo::encode(&module);
    changed
}

/// A decomposition that adds where it multiplied.
fn other_decomposition(program: &mut Program) -> bool {
    let (_, decomposition) =
        program.decompositions.iter_mut().find(|(name, _)| name.starts_with("neuron.rms_norm")).unwrap();
    tamper(decomposition, |inst| {
        let found = inst.opcode == "multiply";
        if found {
            inst.opcode = "add".into();
        }
        found
    })
}

/// The softmax of the second layer on the operand of the first.
fn other_operand(program: &mut Program) -> bool {
    let mut first = None;
    tamper(&mut program.hlo, |inst| {
        let is_softmax = inst.custom_call_target == "AwsNeuronSoftmax";
        match first.take_if(|_| is_softmax) {
            Some(operands) => inst.operand_ids = operands,
            None if is_softmax => first = Some(inst.operand_ids.clone()),
            None => return false,
        }
        first.is_none()
    })
}

#[test]
fn a_wrong_decomposition_or_call_of_a_kernel_is_seen() {
    let mut session = Session::new();
    let source = session.load("tiny", &["target=trn1".to_owned()]).unwrap();
    let executor = Pjrt::open(&find_plugin(None).unwrap(), &ClientOptions::default()).unwrap();
    let options = VerifyOptions { role: ModuleRole::TRAIN_STEP, ..VerifyOptions::default() };
    let study = Study::new(&session, &source, &options, Arc::new(executor)).unwrap();
    let passes = |program: Program| study.rows(program, 1).unwrap().iter().all(VerifyRow::passed);
    assert!(passes(study.program(study.pipeline(), None).unwrap()));
    for tampering in [other_decomposition, other_operand] {
        let mut program = study.program(study.pipeline(), None).unwrap();
        assert!(tampering(&mut program), "there is nothing to tamper with");
        assert!(!passes(program));
    }
}
