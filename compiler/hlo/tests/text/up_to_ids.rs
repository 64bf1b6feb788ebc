//! Modules as far as a text says them.

use halite_hlo::encode;
use halite_hlo::proto::{HloInstructionProto, HloModuleProto, OpMetadata, PrecisionConfig, StackFrameIndexProto};
use std::collections::BTreeMap;

/// The bytes of a module with ids in its order, parameters called as their instructions are, and one form of what has several of one meaning. Left out
/// is what XLA prints of no module. Bytes are compared since a constant may be NaN.
pub(crate) fn up_to_ids(module: &HloModuleProto) -> Vec<u8> {
    let mut module = module.clone();
    (module.id, module.is_dynamic) = (0, false);
    (module.spmd_output_sharding, module.spmd_parameters_shardings) = (None, Vec::new());
    module.input_output_alias = module.input_output_alias.filter(|alias| !alias.entries.is_empty());
    module.buffer_donor = module.buffer_donor.filter(|donors| !donors.entries.is_empty());
    module.frontend_attributes = module.frontend_attributes.filter(|attributes| !attributes.map.is_empty());
    module.stack_frame_index = module.stack_frame_index.filter(|frames| *frames != StackFrameIndexProto::default());
    let computations = numbered(module.computations.iter().map(|computation| computation.id));
    let all = module.computations.iter().flat_map(|computation| &computation.instructions);
    let instructions = numbered(all.map(|inst| inst.id));
    let new = |numbers: &BTreeMap<i64, i64>, id: i64| numbers.get(&id).copied().unwrap_or(-1);
    for computation in &mut module.computations {
        computation.id = new(&computations, computation.id);
        computation.root_id = new(&instructions, computation.root_id);
        computation.execution_thread.clear();
        let mut names = BTreeMap::new();
        for inst in &mut computation.instructions {
            inst.id = new(&instructions, inst.id);
            inst.operand_ids.iter_mut().for_each(|id| *id = new(&instructions, *id));
            inst.control_predecessor_ids.iter_mut().for_each(|id| *id = new(&instructions, *id));
            inst.called_computation_ids.iter_mut().for_each(|id| *id = new(&computations, *id));
            plain(inst);
            if inst.opcode == "parameter" {
                names.insert(inst.parameter_number, inst.name.to_string());
            }
        }
        let names: Vec<String> = names.into_values().collect();
        computation.program_shape.iter_mut().for_each(|program| program.parameter_names.clone_from(&names));
    }
    module.host_program_shape.iter_mut().for_each(|program| program.parameter_names.clear());
    module.entry_computation_id = new(&computations, module.entry_computation_id);
    encode(&module)
}

fn numbered(ids: impl Iterator<Item = i64>) -> BTreeMap<i64, i64> {
    ids.zip(0..).collect()
}

fn plain(inst: &mut HloInstructionProto) {
    let groups = inst.groups().unwrap_or_default().into_owned();
    (inst.iota_collective_device_list, inst.mesh_axes_replica_group_list) = (None, None);
    (inst.collective_device_list, inst.replica_groups) = (None, groups.into());
    inst.metadata = inst.metadata.take().filter(|metadata| **metadata != OpMetadata::default());
    inst.frontend_attributes = inst.frontend_attributes.take().filter(|attributes| !attributes.map.is_empty());
    let is_usual =
        |config: &PrecisionConfig| config.algorithm == 0 && config.operand_precision.iter().all(|own| *own == 0);
    inst.precision_config = inst.precision_config.take().filter(|config| !is_usual(config));
    if inst.opcode == "custom-call" {
        inst.constrain_layout = false;
        inst.custom_call_api_version = inst.custom_call_api_version.max(1);
        inst.feature_group_count = inst.feature_group_count.max(1);
        inst.batch_group_count = inst.batch_group_count.max(1);
    }
}
