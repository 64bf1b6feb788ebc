//! State that stays on the cores while a module runs that does not read it.

use super::pack::Packed;
use halite_bundle::ModuleRole;
use halite_recipe::Recipe;
use halite_schedule::{Schedule, Transport};
use halite_support::{Diagnostic, Result};
use halite_target::Target;
use indexmap::IndexMap;
use std::collections::{BTreeMap, HashSet};

/// Adds what stays on the cores of a stage beside a module to its estimate, for each module of an update and of the evaluation between
/// updates: the state that only other modules of the stage read, such as moments of the optimizer while gradients are added up, and what
/// backwards still wait for of other micro-batches.
///
/// # Errors
/// When the recipe has no such schedule.
pub(super) fn add_resident(packed: &mut [Packed<'_>], target: &dyn Target, recipe: &Recipe) -> Result<()> {
    let mut state: IndexMap<(usize, String), u64> = IndexMap::new();
    for module in packed.iter().filter(|module| stays_beside(module)) {
        let own = module.buffers().iter().filter(|buffer| !buffer.is_batch());
        state.extend(own.map(|buffer| ((module.stage(), buffer.name.clone()), buffer.local_bytes())));
    }
    let waiting = waiting(packed, recipe)?;
    for module in packed.iter_mut().filter(|module| stays_beside(module)) {
        let (own, stage): (HashSet<&str>, usize) = (module.inputs().collect(), module.stage());
        let others = state.iter().filter(|((of, name), _)| *of == stage && !own.contains(name.as_str()));
        let beside = others.map(|(_, bytes)| *bytes).fold(0, u64::saturating_add);
        let waits = if module.takes_turns() { waiting.get(&stage).copied().unwrap_or(0) } else { 0 };
        module.set_resident(beside.saturating_add(waits), target, recipe);
    }
    Ok(())
}

/// For each stage of a pipeline, the bytes that its backwards wait for of micro-batches other than the one that is computed.
fn waiting(packed: &[Packed<'_>], recipe: &Recipe) -> Result<BTreeMap<usize, u64>> {
    let mut values: BTreeMap<usize, u64> = BTreeMap::new();
    for module in packed.iter().filter(|module| module.is_backward()) {
        let most = values.entry(module.stage()).or_default();
        *most = module.value_bytes().max(*most);
    }
    if values.is_empty() {
        return Ok(values);
    }
    let (pipeline, kind) = recipe.pipeline()?;
    let schedule = Schedule::new(kind, pipeline, Transport::Buffered);
    let schedule = schedule.map_err(|error| Diagnostic::bug(format!("a schedule that was refused: {error}")))?;
    for (stage, bytes) in &mut values {
        let others = schedule.in_flight(*stage).saturating_sub(1);
        *bytes = bytes.saturating_mul(others as u64);
    }
    Ok(values)
}

/// Whether the state of a run is on the cores while a module runs.
fn stays_beside(module: &Packed<'_>) -> bool {
    module.role.calls.is_some() || module.role.name == ModuleRole::EVAL
}
