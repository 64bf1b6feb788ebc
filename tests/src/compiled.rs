//! What tests ask of compilers that must not refuse.

use halite::Bundle;
use halite_support::Diagnostics;

/// The value, which must be there.
///
/// # Panics
/// With what stands in its way.
pub fn expect<T>(result: Result<T, Diagnostics>) -> T {
    result.unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// The HLO of each module of a bundle, by the module's name.
///
/// # Panics
/// When the bundle lacks a file of its own.
pub fn hlo(bundle: &Bundle) -> Vec<(&str, &[u8])> {
    bundle.manifest.modules.iter().map(|module| (module.name.as_str(), bundle.hlo(module).expect("a file"))).collect()
}
