//! What makes an update: the calls that the manifest lists.

use halite_bundle::{Bundle, ModuleEntry, ModuleRole, ScheduledCall, contradiction};
use halite_support::Diagnostic;

/// The modules that make an update, in order, each as often as it is called.
///
/// # Errors
/// When the bundle has none.
pub(super) fn scheduled(bundle: &Bundle) -> Result<Vec<(&ModuleEntry, usize)>, Diagnostic> {
    if bundle.manifest.schedule.is_empty() {
        bundle.module_with_role(ModuleRole::TrainStep)?;
    }
    let find = |call: &ScheduledCall| {
        let entry = bundle.manifest.modules.iter().find(|entry| entry.name == call.module);
        let unknown = || contradiction(&format!("the schedule calls `{}`, which is no module", call.module));
        Ok((entry.ok_or_else(unknown)?, call.repeat))
    };
    bundle.manifest.schedule.iter().map(find).collect()
}
