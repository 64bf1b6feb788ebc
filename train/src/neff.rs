//! The NEFF of a module of a bundle, for libnrt.

use halite_bundle::{Bundle, ModuleEntry};
use halite_hlo::graph::Graph;
use halite_hlo::{INPUT_NAMES, OUTPUT_NAMES, decode};
use halite_runtime::Neff;
use halite_support::{Diagnostic, Result, codes};

/// The NEFF of a module whose HLO this is, with the names that the HLO gives its tensors.
///
/// # Errors
/// When there is none that is of this module, or the HLO names no tensors.
pub(super) fn of<'b>(bundle: &'b Bundle, entry: &ModuleEntry, hlo: &[u8]) -> Result<Neff<'b>> {
    let bytes = bundle.neff(entry)?;
    let (inputs, outputs) = names(hlo)?.ok_or_else(|| {
        let message = format!("the HLO of `{}` does not name the tensors of its NEFF", entry.name);
        Diagnostic::error(codes::BUNDLE, message).help("compile the bundle again")
    })?;
    Ok(Neff { bytes, inputs, outputs, aliases: entry.outputs.iter().map(|port| port.alias).collect() })
}

/// The names of inputs and outputs, where the HLO has them.
fn names(hlo: &[u8]) -> Result<Option<(Vec<String>, Vec<String>)>> {
    let graph = Graph::new(decode(hlo)?);
    let (Some(entry), Some(number)) = (graph.entry(), graph.entry_number()) else { return Ok(None) };
    let attribute = |at: usize, key: &str| {
        let attributes = graph.inst(at).frontend_attributes.as_deref()?;
        attributes.map.get(key).cloned()
    };
    let parameters =
        entry.range().filter_map(|at| Some((graph.inst(at).parameter_number, attribute(at, INPUT_NAMES)?)));
    let mut parameters: Vec<(i64, String)> = parameters.collect();
    parameters.sort_by_key(|(number, _)| *number);
    let outputs = graph.root(number).and_then(|root| attribute(root, OUTPUT_NAMES));
    let outputs = outputs.map(|names| names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect());
    let inputs = parameters.into_iter().map(|(_, name)| name).collect();
    Ok(outputs.map(|outputs| (inputs, outputs)))
}
