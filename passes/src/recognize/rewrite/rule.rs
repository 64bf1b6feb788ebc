//! A pattern, the conditions under which it means a composite, and that composite.

use super::bindings::{Bindings, MatchResult};
use super::matcher::solve;
use super::pattern::Pattern;
use super::replacement::{Attributes, Operand, Replacement};
use super::view::MatchCx;
use super::writer::Writer;
use halite_ir::{Op, Rewriter, Value};
use halite_support::Result;
use std::cmp::Reverse;
use std::mem::{Discriminant, discriminant};

/// A condition on a match besides the pattern.
pub(crate) type Condition = fn(&Bindings, &MatchCx<'_>) -> MatchResult;

/// Writes the replacement of a match, where that is more than one composite.
pub(crate) type Write = fn(&mut Writer<'_, '_>) -> Result<Value>;

/// A way to spell a composite.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(super) replacement: Replacement,
    write: Write,
    pattern: Pattern,
    roots: Vec<Discriminant<Op>>,
    conditions: Vec<Condition>,
    never: Option<&'static str>,
}

impl Rule {
    /// `pattern` spells `composite`.
    pub(crate) fn new(name: &'static str, composite: &'static str, pattern: Pattern) -> Self {
        let roots = pattern.roots();
        Self {
            replacement: Replacement { rule: name, composite, operands: Vec::new(), attributes: |_, _| Vec::new() },
            write: |writer| writer.whole(),
            pattern,
            roots,
            conditions: Vec::new(),
            never: None,
        }
    }

    /// The next operand of the composite, of the root's shape.
    #[must_use]
    pub(crate) fn operand(mut self, name: &'static str) -> Self {
        self.replacement.operands.push(Operand { name, vector: false });
        self
    }

    /// The next operand of the composite, a vector along the root's last dimension.
    #[must_use]
    pub(crate) fn vector(mut self, name: &'static str) -> Self {
        self.replacement.operands.push(Operand { name, vector: true });
        self
    }

    /// The attributes of the composite; those left out take their defaults.
    #[must_use]
    pub(crate) fn attributes(mut self, attributes: Attributes) -> Self {
        self.replacement.attributes = attributes;
        self
    }

    /// Adds a condition.
    #[must_use]
    pub(crate) fn when(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    /// Explains a spelling that looks like the composite but does not mean it.
    #[must_use]
    pub(crate) fn never(self, why: &'static str) -> Self {
        Self { never: Some(why), ..self }
    }

    /// Sets the function that writes it, where that takes more than the composite.
    #[must_use]
    pub(crate) fn write(self, write: Write) -> Self {
        Self { write, ..self }
    }

    /// Whether an instruction of this op may be a root.
    pub(super) fn may_begin_at(&self, op: &Op) -> bool {
        self.roots.contains(&discriminant(op))
    }

    /// The best way in which the rule fits: the fewest obstacles, then the most instructions, then the first.
    pub(super) fn fit(&self, cx: &MatchCx<'_>) -> Option<Bindings> {
        let mut ways = solve(*cx, &self.pattern);
        for bindings in &mut ways {
            if bindings.obstacles.is_empty()
                && let Err(obstacle) = self.check(bindings, cx)
            {
                bindings.block(obstacle);
            }
        }
        ways.into_iter().min_by_key(|bindings| (bindings.obstacles.len(), Reverse(bindings.insts.len())))
    }

    fn check(&self, bindings: &Bindings, cx: &MatchCx<'_>) -> MatchResult {
        self.conditions.iter().try_for_each(|condition| condition(bindings, cx))?;
        self.replacement.operands.iter().try_for_each(|operand| operand.check(bindings, cx))?;
        self.never.map_or(Ok(()), |why| Err(why.to_owned()))
    }

    /// Writes what stands for the root of a match, in its element type.
    pub(super) fn emit(&self, b: &mut Rewriter<'_>, bindings: &Bindings, cx: MatchCx<'_>) -> Result<Value> {
        let value = (self.write)(&mut Writer { b, bindings, cx, replacement: &self.replacement })?;
        b.convert(value, cx.dtype())
    }
}
