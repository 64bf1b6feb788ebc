//! Files of examples.

use crate::input::Input;
use halite_support::Result;

/// A file of examples that is open.
pub(crate) trait ExampleFile: Send {
    /// The number of examples that it holds.
    fn count(&self) -> u64;

    /// The values of an input, which is the one at this position, in one example, added to what is there already.
    ///
    /// # Errors
    /// When it cannot be read, or holds what the input cannot.
    fn read(&self, input: (usize, &Input), example: u64, into: &mut Vec<u8>) -> Result<()>;
}
