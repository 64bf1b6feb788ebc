//! Machines that a file describes.

use crate::context::{Context, Result};
use halite_plan::ReferenceTarget;
use halite_support::files::read_text;
use halite_support::{Diagnostic, Span, codes};
use halite_target::estimate::time::Machine;
use halite_target::{Basis, Provenance};
use std::path::Path;
use std::sync::Arc;

/// Makes the machine of a file a target, and returns its name.
///
/// # Errors
/// When the file cannot be read, describes no machine, or has the name of a target.
pub(super) fn register(context: &mut Context, file: &Path) -> Result<String> {
    let machine = read(context, file)?;
    let name = machine.name.clone();
    let provenance = Provenance { source: file.display().to_string(), read: String::new(), basis: Basis::Inferred };
    context.session.register_target(Arc::new(ReferenceTarget::of(machine, provenance)))?;
    Ok(name)
}

fn read(context: &mut Context, file: &Path) -> halite_support::Result<Machine> {
    let (text, shown) = (read_text(file)?, file.display().to_string());
    let machine: Machine = toml::from_str(&text).map_err(|error| {
        let place = error.span().unwrap_or(0..0);
        let place = Span::new(context.session.sources.add(shown.clone(), text.clone()), place.start, place.end);
        Diagnostic::error(codes::USAGE, format!("this is no description of a machine: {}", error.message()))
            .at(place, "here")
            .help("`plan/data/reference.toml` has some to begin with, each under `[row.machine]`")
    })?;
    match machine.fault() {
        None => Ok(machine),
        Some(fault) => Err(Diagnostic::error(codes::USAGE, format!("no time can be told by `{shown}`: {fault}"))),
    }
}
