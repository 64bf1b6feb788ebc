//! A pattern, the conditions under which it means a composite, and that composite.

use super::bindings::Bindings;
use super::matcher::solve;
use super::pattern::Pattern;
use super::view::{DimMap, MatchCx};
use super::writer::Writer;
use halite_ir::{Attr, Op, Value};
use halite_support::Result;
use std::cmp::Reverse;
use std::mem::{Discriminant, discriminant};

/// Whether a rule applies; the error says what stands in the way.
pub(crate) type MatchResult = std::result::Result<(), String>;

/// What must hold besides the pattern.
pub(crate) type Condition = fn(&Bindings, &MatchCx<'_>) -> MatchResult;

/// The attributes of the composite.
pub(crate) type Attributes = fn(&Bindings, &MatchCx<'_>) -> Vec<(&'static str, Attr)>;

/// Writes what stands for a match, where that is more than one composite.
pub(crate) type Write = fn(&mut Writer<'_, '_>) -> Result<Value>;

/// A way to spell a composite.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// Its name, in kebab case; unique in its pass.
    pub(super) name: &'static str,
    pub(super) composite: &'static str,
    /// What the composite reads, in its order.
    pub(super) operands: Vec<Operand>,
    pub(super) attributes: Attributes,
    pub(super) write: Write,
    pattern: Pattern,
    roots: Vec<Discriminant<Op>>,
    conditions: Vec<Condition>,
    never: Option<&'static str>,
}

/// A tensor of a pattern that the composite reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub(super) name: &'static str,
    /// Whether it has one element for each position of the root's last dimension, instead of the root's shape.
    pub(super) vector: bool,
}

impl Rule {
    /// `pattern` spells `composite`.
    pub(crate) fn new(name: &'static str, composite: &'static str, pattern: Pattern) -> Self {
        let roots = pattern.roots();
        Self {
            name,
            composite,
            operands: Vec::new(),
            attributes: |_, _| Vec::new(),
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
        self.operands.push(Operand { name, vector: false });
        self
    }

    /// The next operand of the composite, a vector along the root's last dimension.
    #[must_use]
    pub(crate) fn vector(mut self, name: &'static str) -> Self {
        self.operands.push(Operand { name, vector: true });
        self
    }

    /// The attributes of the composite; those left out take their defaults.
    #[must_use]
    pub(crate) fn attributes(self, attributes: Attributes) -> Self {
        Self { attributes, ..self }
    }

    /// What must hold besides.
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

    /// How to write it, where that takes more than the composite.
    #[must_use]
    pub(crate) fn write(self, write: Write) -> Self {
        Self { write, ..self }
    }

    /// Whether an instruction of this op may be a root.
    pub(super) fn may_begin_at(&self, op: &Op) -> bool {
        self.roots.contains(&discriminant(op))
    }

    /// The best way in which the rule fits: the least in its way, then the most instructions, then the first.
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
        self.operands.iter().try_for_each(|operand| operand.check(bindings, cx))?;
        self.never.map_or(Ok(()), |why| Err(why.to_owned()))
    }

    /// The values that the composite reads.
    pub(super) fn reads(&self, bindings: &Bindings) -> impl Iterator<Item = Value> {
        self.operands.iter().filter_map(|operand| operand.value(bindings))
    }
}

impl Operand {
    /// The value that is read.
    pub(super) fn value(&self, bindings: &Bindings) -> Option<Value> {
        let bound = bindings.tensor(self.name)?;
        Some(if self.vector { bound.base.value } else { bound.view.value })
    }

    fn check(&self, bindings: &Bindings, cx: &MatchCx<'_>) -> MatchResult {
        let name = self.name;
        let bound = bindings.tensor(name).ok_or_else(|| format!("nothing is `{name}`"))?;
        if !self.vector {
            let shape = cx.function.ty(bound.view.value).shape();
            let fits = bound.view.dim_map == cx.aligned() && shape == cx.shape();
            return if fits { Ok(()) } else { Err(format!("`{name}` has not the shape of the result")) };
        }
        let last = cx.last().filter(|&last| cx.shape()[last] != 1);
        let places: DimMap = bound.base.dim_map.iter().copied().filter(Option::is_some).collect();
        let fits = places.iter().copied().eq(last.map(Some));
        if fits { Ok(()) } else { Err(format!("the {name} is not one vector along the last dimension")) }
    }
}
