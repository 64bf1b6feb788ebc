//! State that stays on the cores while a module runs that does not read it.

use super::pack::Packed;
use halite_bundle::ModuleRole;
use halite_recipe::Recipe;
use halite_target::Target;
use indexmap::IndexMap;
use std::collections::HashSet;

/// Adds the state that only other modules of the bundle read to the estimate of each module of an update, and of the evaluation between
/// updates: moments of the optimizer while gradients are added up.
pub(super) fn add_resident(packed: &mut [Packed<'_>], target: &dyn Target, recipe: &Recipe) {
    let mut state: IndexMap<String, u64> = IndexMap::new();
    for module in packed.iter().filter(|module| stays_beside(module)) {
        let own = module.buffers().iter().filter(|buffer| !buffer.is_batch());
        state.extend(own.map(|buffer| (buffer.name.clone(), buffer.local_bytes())));
    }
    for module in packed.iter_mut().filter(|module| stays_beside(module)) {
        let own: HashSet<&str> = module.inputs().collect();
        let others = state.iter().filter(|(name, _)| !own.contains(name.as_str()));
        let resident = others.map(|(_, bytes)| *bytes).fold(0, u64::saturating_add);
        module.set_resident(resident, target, recipe);
    }
}

/// Whether the state of a run is on the cores while a module runs.
fn stays_beside(module: &Packed<'_>) -> bool {
    module.role.calls.is_some() || module.role.name == ModuleRole::EVAL
}
