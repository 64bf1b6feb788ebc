//! Dialects: the kernels that targets offer in the place of composites.
//!
//! An entry says which composite a kernel computes, for which targets, on which operands, and how it is called. The
//! decomposition of the composite stays with the program as the twin of the kernel. Declining an entry is always right.

mod neuron;

use halite_ir::{Attrs, TensorType};
use halite_spec::Target;
use halite_support::{Diagnostic, Result, codes};
use std::fmt;

/// A kernel that targets offer for a composite.
#[derive(Clone, Debug)]
pub struct DialectEntry {
    /// Its name: the dialect, a dot, the kernel, e.g. `neuron.softmax`.
    pub name: &'static str,
    /// The composite that it computes.
    pub composite: &'static str,
    /// Of several kernels that fit, the one with the highest priority is taken; of equal ones, the first registered.
    pub priority: i32,
    /// The targets that have it.
    pub targets: &'static [Target],
    /// How well its interface is known.
    pub trust: Trust,
    /// Whether it is used without being asked for.
    pub enabled: bool,
    /// How it is called at a place, or why it cannot be.
    pub kernel: fn(&Site<'_>) -> std::result::Result<Kernel, String>,
}

/// How well the interface of a kernel is known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Trust {
    /// Operands are guessed by analogy; the documentation has the name alone.
    Presumed,
    /// Operands are those of a single unofficial source.
    SingleSource,
    /// Documented, or called alike by several public projects.
    Documented,
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Trust::Presumed => "its operands are presumed",
            Trust::SingleSource => "its operands are known from a single source",
            Trust::Documented => "it is documented",
        })
    }
}

/// An application of a composite, without the conversions that mixed precision puts around it.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The attributes of the composite.
    pub attrs: &'a Attrs,
    /// The types of its operands.
    pub args: &'a [TensorType],
}

/// How a kernel is called.
#[derive(Clone, PartialEq, Debug)]
pub struct Kernel {
    /// The name by which the target knows it.
    pub target: &'static str,
    /// Its configuration, in its own format.
    pub config: String,
    /// Its operands in order.
    pub operands: Vec<Operand>,
    /// The operand of the composite that the kernel leaves out, because all results are proportional to it: what the
    /// kernel gives is multiplied by it.
    pub factor: Option<usize>,
}

/// An operand of a kernel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Operand {
    /// The operand of the composite at this position.
    Arg(usize),
    /// A scalar of the element type of the composite's first operand. The twin holds its value as a constant.
    Scalar(f64),
}

/// The dialects that a session knows. A value owned by the session, never global state.
#[derive(Clone, Debug, Default)]
pub struct DialectRegistry {
    entries: Vec<DialectEntry>,
}

impl DialectRegistry {
    /// The built-in dialects: `neuron`.
    pub fn builtin() -> Self {
        Self { entries: neuron::entries() }
    }

    /// Adds a kernel.
    ///
    /// # Errors
    /// When another has its name.
    pub fn register(&mut self, entry: DialectEntry) -> Result<()> {
        if self.entries.iter().any(|known| known.name == entry.name) {
            let message = format!("a kernel named `{}` is registered already", entry.name);
            return Err(Diagnostic::error(codes::DUPLICATE, message));
        }
        self.entries.push(entry);
        Ok(())
    }

    /// All kernels in order of registration.
    pub fn entries(&self) -> &[DialectEntry] {
        &self.entries
    }
}
