//! The module of all that was read.

use super::reader::Reader;
use crate::checked::CheckedHlo;
use crate::proto::HloModuleProto;
use halite_support::{Diagnostic, Diagnostics, Names};
use rustc_hash::FxHashSet;

impl Reader<'_> {
    /// The module, checked.
    pub(super) fn finished(mut self) -> Result<CheckedHlo, Diagnostics> {
        let mut module = std::mem::take(&mut self.module);
        if let Some(entry) = self.entry.and_then(|entry| module.computations.get(entry)) {
            module.entry_computation_id = entry.id;
            module.entry_computation_name.clone_from(&entry.name);
            let own = entry.program_shape.clone();
            let names = own.as_ref().map(|own| own.parameter_names.clone()).unwrap_or_default();
            let mut program = module.host_program_shape.take().or(own).unwrap_or_default();
            program.parameter_names = names;
            module.host_program_shape = Some(program);
        }
        mark_fusions(&mut module);
        tell_apart(&mut module);
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

/// Gives a name of its own to each instruction that has that of one in an earlier computation.
fn tell_apart(module: &mut HloModuleProto) {
    let all = || module.computations.iter().flat_map(|computation| &computation.instructions);
    let mut seen = FxHashSet::default();
    if all().all(|inst| seen.insert(inst.name.as_str())) {
        return;
    }
    let mut names: Names = all().map(|inst| inst.name.as_str().into()).collect();
    let mut seen = FxHashSet::default();
    for inst in module.computations.iter_mut().flat_map(|computation| &mut computation.instructions) {
        if !seen.insert(inst.name.clone()) {
            inst.name = names.unused(&inst.name).to_string();
        }
    }
}
