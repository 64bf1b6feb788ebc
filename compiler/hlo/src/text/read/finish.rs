//! The module of all that was read.

use super::computation::difference;
use super::reader::Reader;
use crate::checked::CheckedHlo;
use crate::opcode::Opcode;
use crate::proto::{HloInstructionProto, HloModuleProto, ProgramShapeProto};
use halite_support::{Diagnostic, Diagnostics, Names, codes};
use rustc_hash::FxHashSet;

impl Reader<'_> {
    /// The module, checked.
    pub(super) fn finished(mut self) -> Result<CheckedHlo, Diagnostics> {
        let mut module = std::mem::take(&mut self.module);
        if let Some(entry) = self.entry.and_then(|entry| module.computations.get(entry)) {
            module.entry_computation_id = entry.id;
            module.entry_computation_name.clone_from(&entry.name);
            let own = entry.program_shape.clone().unwrap_or_default();
            if let Some(what) = module.host_program_shape.as_ref().and_then(|stated| difference(stated, &own)) {
                let message = format!("the first line states {what} of the entry");
                let fault = Diagnostic::error(codes::TYPE_MISMATCH, message);
                return Err(fault.at(self.cursor.span(self.layout), "these types").into());
            }
            let stated = module.host_program_shape.take().unwrap_or_else(|| own.clone());
            module.host_program_shape = Some(ProgramShapeProto { parameter_names: own.parameter_names, ..stated });
        }
        mark_fusions(&mut module);
        tell_apart(&mut module);
        name_parameters(&mut module);
        CheckedHlo::or_each(module).map_err(|faults| self.placed(faults))
    }

    /// Faults of the module at their places in the text.
    fn placed(&self, faults: Vec<(Option<usize>, Diagnostic)>) -> Diagnostics {
        let placed = |(at, fault): (Option<usize>, Diagnostic)| match at.and_then(|at| self.places.get(at)) {
            Some(&place) => fault.at(self.cursor.span(place), "this instruction"),
            None => fault,
        };
        faults.into_iter().map(placed).collect()
    }
}

/// Marks the computations that fusions call.
fn mark_fusions(module: &mut HloModuleProto) {
    let all = module.computations.iter().flat_map(|computation| &computation.instructions);
    let fusions = all.filter(|inst| inst.opcode == "fusion");
    let fused: FxHashSet<i64> = fusions.flat_map(|inst| inst.called_computation_ids.iter().copied()).collect();
    for computation in &mut module.computations {
        computation.is_fusion_computation = fused.contains(&computation.id);
    }
}

/// The parameters of computations under the names that their instructions have in the end.
fn name_parameters(module: &mut HloModuleProto) {
    let entry = module.entry_computation_id;
    for computation in &mut module.computations {
        let is_parameter = |inst: &&HloInstructionProto| inst.opcode == Opcode::Parameter.name();
        let mut parameters: Vec<_> = computation.instructions.iter().filter(is_parameter).collect();
        parameters.sort_by_key(|inst| inst.parameter_number);
        let names: Vec<String> = parameters.into_iter().map(|inst| inst.name.to_string()).collect();
        let host = module.host_program_shape.as_mut().filter(|_| computation.id == entry);
        host.into_iter().for_each(|shape| shape.parameter_names.clone_from(&names));
        computation.program_shape.iter_mut().for_each(|shape| shape.parameter_names.clone_from(&names));
    }
}

/// Gives a name of its own to each instruction that has that of one in an earlier computation.
fn tell_apart(module: &mut HloModuleProto) {
    let all = || module.computations.iter().flat_map(|computation| &computation.instructions);
    let mut seen = FxHashSet::default();
    if all().all(|inst| seen.insert(&*inst.name)) {
        return;
    }
    let mut names: Names = all().map(|inst| (&*inst.name).into()).collect();
    let mut seen = FxHashSet::default();
    for inst in module.computations.iter_mut().flat_map(|computation| &mut computation.instructions) {
        if !seen.insert(inst.name.clone()) {
            inst.name = names.unused(&inst.name).to_string().into();
        }
    }
}
