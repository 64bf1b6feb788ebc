//! Names of files that are no text.
//!
//! Manifests, indices, scripts and JSON hold names as text. So that no name is ever written as another, names that are not
//! UTF-8 are taken nowhere.

use crate::context::Result;
use halite_support::{Diagnostic, codes};

/// Variables that are paths.
const VARIABLES: [&str; 4] = ["HALITE_PJRT_PLUGIN", "HALITE_NEURONX_CC", "XDG_CACHE_HOME", "HOME"];

/// Refuses arguments and surroundings that are not UTF-8.
pub(super) fn check() -> Result<()> {
    let arguments = std::env::args_os().skip(1).map(|value| ("the argument".to_owned(), value));
    let variables = VARIABLES.iter().filter_map(|name| Some((format!("the variable {name}"), std::env::var_os(name)?)));
    let folder = std::env::current_dir().ok().map(|path| ("the current folder".to_owned(), path.into_os_string()));
    match arguments.chain(variables).chain(folder).find(|(_, value)| value.to_str().is_none()) {
        None => Ok(()),
        Some((what, value)) => {
            let error = Diagnostic::error(codes::USAGE, format!("{what} `{}` is not UTF-8", value.display()));
            Err(error.help("choose a name in UTF-8").into())
        }
    }
}
