//! Writing what stands for a match.

use super::bindings::Bindings;
use super::rule::Rule;
use super::view::MatchCx;
use halite_ir::{Rewriter, Value, loses};
use halite_support::{Diagnostic, Result};
use halite_tensor::DType;

/// What writes the composite that a match means.
#[derive(Debug)]
pub(crate) struct Writer<'w, 'm> {
    /// The function that is made.
    pub(crate) b: &'w mut Rewriter<'m>,
    /// What was matched.
    pub(crate) bindings: &'w Bindings,
    /// Where.
    pub(crate) cx: MatchCx<'w>,
    rule: &'w Rule,
}

impl<'w, 'm> Writer<'w, 'm> {
    /// Writes what stands for the root of a match, in its element type.
    pub(super) fn write(b: &mut Rewriter<'_>, rule: &Rule, bindings: &Bindings, cx: MatchCx<'_>) -> Result<Value> {
        let value = (rule.write)(&mut Writer { b, bindings, cx, rule })?;
        b.convert(value, cx.dtype())
    }

    /// The composite of the operands that the rule names.
    pub(super) fn whole(&mut self) -> Result<Value> {
        let rule = self.rule;
        let operands: Result<Vec<_>> = rule.operands.iter().map(|operand| self.operand(operand.name)).collect();
        self.composite(&operands?)
    }

    /// The composite of these operands.
    pub(crate) fn composite(&mut self, operands: &[Value]) -> Result<Value> {
        let attributes = (self.rule.attributes)(self.bindings, &self.cx);
        Ok(self.b.composite(self.rule.composite, &attributes, operands)?[0])
    }

    /// An operand, in the widest of the element types that the operands have.
    pub(crate) fn operand(&mut self, name: &str) -> Result<Value> {
        let missing = || Diagnostic::bug(format!("`{}` has no operand `{name}`", self.rule.name));
        let operand = self.rule.operands.iter().find(|operand| operand.name == name).ok_or_else(missing)?;
        let old = operand.value(self.bindings).ok_or_else(missing)?;
        let dtype = self.widest();
        let mut value = self.b.value(old)?;
        if operand.vector && self.b.shape(value).rank() != 1 {
            value = self.b.reshape(value, [self.cx.shape().last().copied().unwrap_or(1)])?;
        }
        self.b.convert(value, dtype)
    }

    fn widest(&self) -> DType {
        let dtypes = self.rule.reads(self.bindings).map(|value| self.cx.function.ty(value).dtype());
        dtypes.fold(self.cx.dtype(), |widest, dtype| if loses(dtype, widest) { dtype } else { widest })
    }
}
