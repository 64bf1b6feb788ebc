//! The IR of modules for people.

use crate::context::{Context, Output, Result};
use halite::inspect::listing::{Listing, list};
use halite_bundle::{MANIFEST, ModuleRole};
use halite_support::{Diagnostic, codes, files};
use serde_json::json;
use std::path::Path;

/// Lists the module of a role of a recipe, or that of an `.ir` file.
pub(super) fn show(context: &mut Context, input: &str, set: &[String], role: &ModuleRole) -> Result<Output> {
    let listing = match () {
        () if input.ends_with(".ir") => of_file(context, input)?,
        () if Path::new(input).join(MANIFEST).is_file() => return Err(no_ir(input).into()),
        () => {
            let source = context.session.load(input, set)?;
            context.session.listing(&source, role)?
        }
    };
    let text: Vec<String> = listing.functions.iter().map(|function| function.lines.join("\n") + "\n").collect();
    Ok(Output { paged: true, ..Output::verbatim(text.join("\n"), json!({"modules": [listing]})) })
}

fn of_file(context: &mut Context, input: &str) -> Result<Listing> {
    let text = files::read_text(Path::new(input))?;
    let file = context.session.sources.add(input, text);
    let module = context.session.parse_ir(file)?;
    Ok(list(&module, &context.session.registry))
}

fn no_ir(input: &str) -> Diagnostic {
    let message = format!("`{input}` holds HLO, which is made from the IR and does not tell it");
    Diagnostic::error(codes::FILE, message).help("name the recipe that it was compiled from, or an `.ir` file")
}
