//! Examples that show a pass to people.

/// A function of a golden file, before and after a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Example {
    /// The file, below the folder of the golden files of passes and without extension.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
    /// The function, without `@`.
    pub function: &'static str,
}

/// The [`Example`] that is this function of a golden file of Halite: `golden!("cse" @ "merges")`.
macro_rules! golden {
    ($file:literal @ $function:literal) => {
        $crate::framework::example::Example {
            file: $file,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/opt/", $file, ".ir")),
            function: $function,
        }
    };
}
pub(crate) use golden;
