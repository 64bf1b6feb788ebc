//! Modules from XLA's text syntax.
//!
//! A text is read once from its begin to its end: each instruction is one as soon as its last attribute is read. What is wrong with it is
//! kept while reading goes on at the next line that begins one. Nothing recurses but types, which may nest so deep and no deeper.

mod attributes;
mod callees;
mod computation;
mod devices;
mod finish;
mod frames;
mod header;
mod instruction;
mod lists;
mod literal;
mod metadata;
mod opcodes;
mod reader;
mod shape;
mod sharding;
mod skip;
mod strings;
mod window;

use crate::checked::CheckedHlo;
use halite_support::{Cursor, Diagnostics, FileId, SourceFile};
use reader::Reader;

/// The word with which a text of HLO begins.
const BEGIN: &str = "HloModule";

/// Whether a text is one of HLO: its first word says so.
pub fn is_hlo(text: &str) -> bool {
    Cursor::new(text, FileId::of("", "")).eat_word(BEGIN)
}

/// The module that a text of HLO means, as XLA prints it: with or without `%`, types of operands, layouts and signatures.
///
/// Ids are numbers in the order of the text. Names stay, and are told apart where two computations use the same. A type without a layout
/// is row-major. What [`crate::proto`] has no field for is dropped, as it is from bytes.
///
/// ```
/// use halite_support::SourceFile;
///
/// let text = "HloModule example
///
/// ENTRY main {
///   x = f32[4] parameter(0)
///   ROOT y = f32[4] tanh(x)
/// }";
/// let hlo = halite_hlo::text::read(&SourceFile::new("example.hlo", text))?;
/// assert_eq!(hlo.computations.len(), 1);
/// # Ok::<(), halite_support::Diagnostics>(())
/// ```
///
/// # Errors
/// Every fault of the text that does not follow from another, at its place, up to a hundred: what is no HLO, opcodes and attributes that XLA
/// does not have, constants that were left out when it was printed, and instructions whose types do not fit. And when the work is cancelled.
pub fn read(file: &SourceFile) -> Result<CheckedHlo, Diagnostics> {
    let mut reader = Reader::new(file);
    if let Err(fault) = reader.text() {
        reader.faults.push(fault);
    }
    if reader.faults.is_empty() { reader.finished() } else { Err(reader.faults) }
}
