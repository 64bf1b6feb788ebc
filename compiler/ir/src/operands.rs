//! The operands of composites: their names, which of them an application is given, and how a definition reads them.

use halite_support::{Diagnostic, Result, codes};
use smallvec::SmallVec;
use std::fmt;
use std::ops::Index;

/// Names in order.
type Names = &'static [&'static str];

/// The operands that a composite takes, by name and in order: required ones, optional ones, and for a few a rest of any number.
/// Whoever learns names when the program runs leaks them.
///
/// ```
/// use halite_ir::Operands;
///
/// const OPERANDS: Operands = Operands::of(&["x", "weight"]).optional(&["bias"]);
/// assert_eq!(OPERANDS.to_string(), "`x`, `weight` and perhaps `bias`");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operands {
    required: Names,
    optional: Names,
    rest: Option<&'static str>,
}

impl Operands {
    /// The most optional operands of a composite: a [`Given`] has a bit for each.
    pub(crate) const MAX_OPTIONAL: usize = u32::BITS as usize;

    /// Operands that must be given.
    pub const fn of(required: Names) -> Self {
        Self { required, optional: &[], rest: None }
    }

    /// The same and operands that may be left out, each independently of the others.
    #[must_use]
    pub const fn optional(self, optional: Names) -> Self {
        Self { optional, ..self }
    }

    /// The same and any number of further operands, by position behind the required ones.
    #[must_use]
    pub const fn rest(self, rest: &'static str) -> Self {
        Self { rest: Some(rest), ..self }
    }

    /// The names of the operands that must be given.
    pub fn required_names(&self) -> Names {
        self.required
    }

    /// The names of the operands that may be left out.
    pub fn optional_names(&self) -> Names {
        self.optional
    }

    /// The name of the further operands, if there may be any.
    pub fn rest_name(&self) -> Option<&'static str> {
        self.rest
    }

    /// The names by which an operand can be given, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.required.iter().chain(self.optional).copied()
    }

    /// No optional operand given.
    pub(crate) fn none_given(&self) -> Given {
        Given { names: self.optional, set: 0 }
    }

    /// The values of an application of `op` by operand: the required ones, the rest, and the optional ones that are given.
    ///
    /// # Errors
    /// When there are too few or too many.
    pub(crate) fn args<'a, T>(&self, op: &str, given: Given, values: &'a [T]) -> Result<Args<'a, T>> {
        let least = self.required.len() + given.count();
        let fits = if self.rest.is_some() { values.len() >= least } else { values.len() == least };
        if fits { Ok(Args { required: self.required, given, values }) } else { Err(self.arity(op, values.len())) }
    }

    /// Puts values that are given by position and by name in the order of an instruction. By position stand the required ones, then
    /// the rest or, where there is none, the optional ones.
    ///
    /// # Errors
    /// When one is missing, one too many, unknown or given twice.
    pub(crate) fn bind<T: Copy>(
        &self,
        op: &str,
        positional: &[T],
        named: &[(&str, T)],
    ) -> Result<(Given, SmallVec<[T; 4]>)> {
        let required = self.required.len();
        let count = required + self.optional.len();
        let by_position = if self.rest.is_some() { required } else { count };
        let (first, rest) = positional.split_at(positional.len().min(by_position));
        if self.rest.is_none() && !rest.is_empty() {
            return Err(self.arity(op, positional.len() + named.len()));
        }
        let mut slots: SmallVec<[Option<T>; 8]> = first.iter().copied().map(Some).collect();
        slots.resize(count, None);
        for &(name, value) in named {
            let at = self.names().position(|own| own == name).ok_or_else(|| self.unknown(op, name))?;
            if slots[at].replace(value).is_some() {
                return Err(Diagnostic::error(codes::DUPLICATE, format!("operand `{name}` of `{op}` is given twice"))
                    .help(format!("`{op}` takes {self}")));
            }
        }
        let (must, may) = slots.split_at(required);
        if let Some(missing) = must.iter().position(Option::is_none) {
            let error = self.arity(op, positional.len() + named.len());
            return Err(error.help(format!("give `{}` too", self.required[missing])));
        }
        let set = may.iter().enumerate().fold(0, |set, (at, value)| set | u32::from(value.is_some()) << at);
        let values = must.iter().flatten().chain(rest).chain(may.iter().flatten()).copied().collect();
        Ok((Given { names: self.optional, set }, values))
    }

    /// Checks that required operands stand by position and optional ones by name, as IR text has them.
    ///
    /// # Errors
    /// When one stands otherwise.
    pub(crate) fn check_form<'n>(
        &self,
        op: &str,
        positional: usize,
        mut named: impl Iterator<Item = &'n str>,
    ) -> Result<()> {
        let more = positional.checked_sub(self.required.len() + 1).filter(|_| self.rest.is_none());
        if let Some(first) = more.and(self.optional.first()) {
            let message = format!("`{op}` takes {self}; found {positional} operands without a name");
            let help = format!("write an optional operand with its name, e.g. `{first} = %value`");
            return Err(Diagnostic::error(codes::ARITY, message).help(help));
        }
        match named.find(|name| self.required.contains(name)) {
            None => Ok(()),
            Some(name) => Err(Diagnostic::error(codes::ARITY, format!("`{name}` of `{op}` stands by position"))
                .help(format!("write it without `{name} = `, before all that have a name"))),
        }
    }

    /// A complaint about the number of operands.
    fn arity(&self, op: &str, found: usize) -> Diagnostic {
        let plural = if found == 1 { "operand" } else { "operands" };
        Diagnostic::error(codes::ARITY, format!("`{op}` takes {self}; found {found} {plural}"))
    }

    /// A complaint about a name that no operand has.
    fn unknown(&self, op: &str, name: &str) -> Diagnostic {
        Diagnostic::error(codes::ARITY, format!("`{op}` has no operand `{name}`")).help(format!("it takes {self}"))
    }
}

impl fmt::Display for Operands {
    /// `` `x`, `weight` and perhaps `bias` ``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |names: Names| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
        let mut always = quoted(self.required);
        always.extend(self.rest.map(|rest| format!("any number of `{rest}` by position")));
        let perhaps = quoted(self.optional).join(", ");
        match (always.as_slice(), perhaps.as_str()) {
            ([], "") => f.write_str("no operands"),
            ([], _) => write!(f, "perhaps {perhaps}"),
            ([one], "") => f.write_str(one),
            ([first @ .., last], "") => write!(f, "{} and {last}", first.join(", ")),
            _ => write!(f, "{} and perhaps {perhaps}", always.join(", ")),
        }
    }
}

/// The optional operands of a composite, and which of them an application is given.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Given {
    names: Names,
    /// A bit for each name.
    set: u32,
}

impl Given {
    /// The number of those that are given.
    pub(crate) fn count(self) -> usize {
        self.set.count_ones() as usize
    }

    /// The names of those that are given, in order.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        self.names.iter().enumerate().filter(move |(at, _)| self.set >> at & 1 == 1).map(|(_, name)| *name)
    }

    /// The same with one more.
    ///
    /// # Errors
    /// When there is none of this name.
    pub(crate) fn with(self, op: &str, name: &str) -> Result<Self> {
        let at = self.names.iter().position(|own| *own == name);
        let unknown = || Diagnostic::error(codes::ARITY, format!("`{op}` has no optional operand `{name}`"));
        Ok(Self { set: self.set | 1 << at.ok_or_else(unknown)?, ..self })
    }

    /// The position of an operand among all `count` of an instruction, where it is given: the optional ones come last.
    pub(crate) fn position(self, name: &str, count: usize) -> Option<usize> {
        let at = self.names.iter().position(|own| *own == name)?;
        let from_here = self.set >> at;
        if from_here & 1 == 1 { count.checked_sub(from_here.count_ones() as usize) } else { None }
    }
}

/// The values of the operands of an application, as a definition reads them: required ones by position, optional ones by name.
///
/// `T` is what is known of an operand: its type, its value, whether its cotangent is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a, T> {
    required: Names,
    given: Given,
    values: &'a [T],
}

impl<'a, T: Copy> Args<'a, T> {
    /// All values, in the order of an instruction: the required ones, the rest, the optional ones that are given.
    pub fn values(self) -> &'a [T] {
        self.values
    }

    /// The values of the required operands: `let [x, weight] = args.required()?;`
    ///
    /// # Errors
    /// When the definition states another number of them, which is a bug of the composite.
    pub fn required<const N: usize>(self) -> Result<[T; N]> {
        let bug = |_| {
            let stated = self.required.len();
            Diagnostic::bug(format!("a composite states {stated} required operands and reads {N}"))
        };
        <[T; N]>::try_from(&self.values[..self.required.len()]).map_err(bug)
    }

    /// The values of the rest.
    pub fn rest(self) -> &'a [T] {
        &self.values[self.required.len()..self.values.len() - self.given.count()]
    }

    /// The value of an optional operand, where it is given.
    pub fn get(self, name: &str) -> Option<T> {
        self.position(name).map(|at| self.values[at])
    }

    /// The position of an optional operand among all values, where it is given.
    pub fn position(self, name: &str) -> Option<usize> {
        debug_assert!(self.given.names.contains(&name), "no optional operand is named `{name}`");
        self.given.position(name, self.values.len())
    }

    /// The optional operands that are given, by name.
    pub fn optional(self) -> SmallVec<[(&'static str, T); 2]> {
        let values = &self.values[self.values.len() - self.given.count()..];
        self.given.names().zip(values.iter().copied()).collect()
    }

    /// The same operands with other values, of which there are as many.
    pub(crate) fn with<'b, U>(self, values: &'b [U]) -> Args<'b, U> {
        debug_assert_eq!(self.values.len(), values.len());
        Args { required: self.required, given: self.given, values }
    }
}

/// The required operand at a position.
impl<T> Index<usize> for Args<'_, T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        &self.values[..self.required.len()][at]
    }
}
