//! Writing what stands for a match.

use super::bindings::Bindings;
use super::replacement::Replacement;
use super::view::MatchCx;
use halite_ir::{Rewriter, Value, loses};
use halite_support::{Diagnostic, Result};
use halite_tensor::DType;

/// Writes the composite that a match stands for.
#[derive(Debug)]
pub(crate) struct Writer<'w, 'm> {
    /// The function that is made.
    pub(crate) b: &'w mut Rewriter<'m>,
    /// The bindings of the match.
    pub(crate) bindings: &'w Bindings,
    /// The place of the match.
    pub(crate) cx: MatchCx<'w>,
    pub(super) replacement: &'w Replacement,
}

impl Writer<'_, '_> {
    /// The composite of the operands that the rule names.
    pub(super) fn whole(&mut self) -> Result<Value> {
        let replacement = self.replacement;
        let operands: Result<Vec<_>> = replacement.operands.iter().map(|operand| self.operand(operand.name)).collect();
        self.composite(&operands?)
    }

    /// The composite of these operands.
    pub(crate) fn composite(&mut self, operands: &[Value]) -> Result<Value> {
        let attributes = (self.replacement.attributes)(self.bindings, &self.cx);
        Ok(self.b.composite(self.replacement.composite, &attributes, operands)?[0])
    }

    /// An operand, in the widest of the element types that the operands have.
    pub(crate) fn operand(&mut self, name: &str) -> Result<Value> {
        let missing = || Diagnostic::bug(format!("`{}` has no operand `{name}`", self.replacement.rule));
        let operand = self.replacement.operands.iter().find(|operand| operand.name == name).ok_or_else(missing)?;
        let old = operand.value(self.bindings).ok_or_else(missing)?;
        let dtype = self.widest();
        let mut value = self.b.value(old)?;
        if operand.vector && self.b.shape(value).rank() != 1 {
            value = self.b.reshape(value, [self.cx.shape().last().copied().unwrap_or(1)])?;
        }
        self.b.convert(value, dtype)
    }

    fn widest(&self) -> DType {
        let dtypes = self.replacement.reads(self.bindings).map(|value| self.cx.function.ty(value).dtype());
        dtypes.fold(self.cx.dtype(), |widest, dtype| if loses(dtype, widest) { dtype } else { widest })
    }
}
