//! Dialects: the kernels that targets offer in the place of ops.
//!
//! An entry says which op a kernel computes, most often a composite, for which targets, on which operands, and how it is
//! called. What the op means stays with the program as the decomposition of the kernel. Declining an entry is always right.

use halite_ir::{AttrKey, AttrValue, Attrs, Op, TensorType};
use halite_recipe::TargetName;
use halite_support::{Diagnostic, Name, Result, codes};
use halite_tensor::DType;
use std::fmt;
use std::sync::Arc;

/// Returns the call of a kernel at a place, or the reason why there is none.
type Call = dyn Fn(&Site<'_>) -> std::result::Result<KernelUse, String> + Send + Sync;

/// A kernel that targets offer for an op.
#[derive(Clone)]
#[non_exhaustive]
pub struct DialectEntry {
    /// Its name: the dialect, a dot, the kernel, e.g. `own.softmax`.
    pub name: Name,
    /// The name of the op that it computes.
    pub op: Name,
    /// The name by which the target knows it.
    pub kernel: Name,
    /// Of several kernels that fit, the one with the highest priority is taken; of equal ones, the first registered.
    pub priority: i32,
    /// The targets that have it; empty for all.
    pub targets: Vec<TargetName>,
    /// Whether it is used without being asked for.
    pub enabled: bool,
    /// How well its interface is known, a clause without capital and full stop.
    pub known: String,
    call: Arc<Call>,
}

impl fmt::Debug for DialectEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, op, kernel, priority, targets, enabled, known, call: _ } = self;
        f.debug_struct("DialectEntry")
            .field("name", name)
            .field("op", op)
            .field("kernel", kernel)
            .field("priority", priority)
            .field("targets", targets)
            .field("enabled", enabled)
            .field("known", known)
            .finish_non_exhaustive()
    }
}

impl DialectEntry {
    /// A kernel that every target has, at priority 0, used without being asked for. Its name, the op that it computes, the
    /// name by which targets know it, and how it is called at a place or why it cannot be.
    ///
    /// ```
    /// use halite_passes::{DialectEntry, DialectRegistry, KernelUse, Operand};
    ///
    /// let mut kernels = DialectRegistry::default();
    /// let entry = DialectEntry::new("own.relu", "relu", "OwnRelu", |site| {
    ///     let x = site.args.first().ok_or("it has no operand")?;
    ///     if x.rank() < 2 {
    ///         return Err(format!("`{x}` has rank {}, the kernel takes 2 and more", x.rank()));
    ///     }
    ///     Ok(KernelUse::new("", [Operand::Arg(0)]))
    /// });
    /// kernels.register(entry.priority(20).targets(["cpu"])).unwrap();
    /// assert!(kernels.entries().iter().any(|entry| entry.name == "own.relu"));
    /// ```
    pub fn new(
        name: impl Into<Name>,
        op: impl Into<Name>,
        kernel: impl Into<Name>,
        call: impl Fn(&Site<'_>) -> std::result::Result<KernelUse, String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            op: op.into(),
            kernel: kernel.into(),
            priority: 0,
            targets: Vec::new(),
            enabled: true,
            known: "no source of it is known".to_owned(),
            call: Arc::new(call),
        }
    }

    /// The same at this priority.
    #[must_use]
    pub fn priority(self, priority: i32) -> Self {
        Self { priority, ..self }
    }

    /// The same for these targets only.
    #[must_use]
    pub fn targets<T: Into<TargetName>>(self, targets: impl IntoIterator<Item = T>) -> Self {
        Self { targets: targets.into_iter().map(Into::into).collect(), ..self }
    }

    /// The same, used only where the recipe asks for it (`dialect.on`).
    #[must_use]
    pub fn off(self) -> Self {
        Self { enabled: false, ..self }
    }

    /// Returns the call of the kernel at a place.
    ///
    /// # Errors
    /// The reason why there is none, for `--explain`.
    pub fn call(&self, site: &Site<'_>) -> std::result::Result<KernelUse, String> {
        (self.call)(site)
    }

    /// The same with a word on how well its interface is known, a clause without capital and full stop.
    #[must_use]
    pub fn known(self, known: impl Into<String>) -> Self {
        Self { known: known.into(), ..self }
    }

    /// Whether a target has it.
    pub fn is_for(&self, target: &TargetName) -> bool {
        self.targets.is_empty() || self.targets.contains(target)
    }
}

/// An application of an op, without the conversions that mixed precision puts around a composite.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Site<'a> {
    /// The op, attributes included.
    pub op: &'a Op,
    /// The types of its operands.
    pub args: &'a [TensorType],
}

impl<'a> Site<'a> {
    /// An application of `op` to operands of these types, in order. The compiler makes its own; this one is for tests of how a
    /// kernel is called.
    ///
    /// ```
    /// use halite_ir::{Op, TensorType};
    /// use halite_passes::{DialectEntry, KernelUse, Operand, Site};
    /// use halite_tensor::DType;
    ///
    /// let entry = DialectEntry::new("own.tanh", "tanh", "OwnTanh", |site| match site.args {
    ///     [x] if x.rank() > 1 => Ok(KernelUse::new("", [Operand::Arg(0)])),
    ///     _ => Err("it takes matrices".to_owned()),
    /// });
    /// let tanh = Op::primitive("tanh").unwrap();
    /// let calls = |ty: TensorType| entry.call(&Site::new(&tanh, &[ty])).is_ok();
    /// assert!(calls(TensorType::new(DType::F32, [2, 3])));
    /// assert!(!calls(TensorType::scalar(DType::F32)));
    /// ```
    pub fn new(op: &'a Op, args: &'a [TensorType]) -> Self {
        Self { op, args }
    }

    /// The attributes of the composite.
    ///
    /// # Errors
    /// When the op is none.
    pub fn attrs(&self) -> std::result::Result<&Attrs, String> {
        match self.op {
            Op::Composite(composite) => Ok(&composite.attrs),
            op => Err(format!("`{}` is no composite", op.name())),
        }
    }

    /// The value of an attribute of the composite.
    ///
    /// # Errors
    /// When the op is no composite, or one without this attribute.
    pub fn attr<T: AttrValue>(&self, key: &AttrKey<T>) -> std::result::Result<T, String> {
        self.attrs()?.get(key).map_err(|error| error.message().to_owned())
    }
}

/// A call of a kernel at a place.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct KernelUse {
    /// Its configuration, in its own format.
    pub config: String,
    /// Its operands in order.
    pub operands: Vec<Operand>,
    /// The operand of the op that the kernel leaves out, because all results are proportional to it: the result of the kernel is
    /// multiplied by it.
    pub factor: Option<usize>,
    /// Whether it returns as `u32` what the op returns as `s32`; its result is converted.
    pub unsigned: bool,
}

impl KernelUse {
    /// A kernel with this configuration on these operands, which gives what the op gives.
    pub fn new(config: impl Into<String>, operands: impl IntoIterator<Item = Operand>) -> Self {
        Self { config: config.into(), operands: operands.into_iter().collect(), factor: None, unsigned: false }
    }

    /// The same for a kernel that leaves out the operand of the op at this position; see [`factor`](Self::factor).
    #[must_use]
    pub fn times(self, operand: usize) -> Self {
        Self { factor: Some(operand), ..self }
    }

    /// The same for a kernel that gives positions as `u32`; see [`unsigned`](Self::unsigned).
    #[must_use]
    pub fn unsigned(self) -> Self {
        Self { unsigned: true, ..self }
    }
}

/// An operand of a kernel.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Operand {
    /// The operand of the op at this position.
    Arg(usize),
    /// A scalar with this value, of the element type of the op's first operand, or `f32` where it has none. The decomposition does not
    /// read it: it holds the value as a constant.
    Scalar(f64),
}

impl Operand {
    /// The element type of a scalar for an op on operands of these types.
    pub(crate) fn scalar_dtype<'a>(args: impl IntoIterator<Item = &'a TensorType>) -> DType {
        args.into_iter().next().map_or(DType::F32, TensorType::dtype)
    }
}

/// The dialects that a session knows. A value owned by the session, never global state.
#[derive(Clone, Debug, Default)]
pub struct DialectRegistry {
    entries: Vec<DialectEntry>,
}

impl DialectRegistry {
    /// Adds a kernel. Patterns of the recipe and decompositions know it by its name: an ASCII letter, then ASCII letters, digits, `.`,
    /// `-` and `_`.
    ///
    /// # Errors
    /// When its name is not of that form, or another has it.
    pub fn register(&mut self, entry: DialectEntry) -> Result<()> {
        entry.name.check("kernel", ".-_")?;
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
