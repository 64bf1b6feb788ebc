//! Reports of `main`: metrics, and losses that it adds.

use super::{Elaborator, Eval, Locals};
use crate::ast::{AddedLoss, Expr, Ident, Metric};
use crate::ops::{Named, Place, Report};
use halite_ir::Value as Tensor;

impl Elaborator<'_, '_> {
    pub(super) fn metric(&mut self, metric: &Metric, locals: &Locals) -> Eval<()> {
        let sum = self.reported(&metric.sum, false, locals);
        let over = metric.over.as_ref().map(|over| self.reported(over, false, locals)).transpose();
        let (name, sum, over) = (self.report_name(&metric.name)?, sum?, over?);
        self.frame.reports.push(Report::metric(name, sum, over));
        Ok(())
    }

    pub(super) fn added_loss(&mut self, loss: &AddedLoss, locals: &Locals) -> Eval<()> {
        let value = self.reported(&loss.value, true, locals);
        let weight = loss.weight.as_ref().map_or(Ok(1.0), |weight| self.weight_of_loss(weight, locals));
        let (name, value, weight) = (self.report_name(&loss.name)?, value?, weight?);
        self.frame.reports.push(Report::loss(name, value, weight));
        Ok(())
    }

    fn reported(&mut self, expr: &Expr, is_mean: bool, locals: &Locals) -> Eval<Tensor> {
        let value = self.expr(expr, locals)?;
        let tensor = self.ops.scalar(&value, is_mean, Place::whole(&expr.span));
        self.check(tensor)
    }

    fn weight_of_loss(&mut self, expr: &Expr, locals: &Locals) -> Eval<f64> {
        let value = self.expr(expr, locals)?;
        value.as_real().ok_or_else(|| self.wrong_kind("a number", &value, expr))
    }

    fn report_name(&mut self, name: &Ident) -> Eval<halite_support::Name> {
        let at = self.declaration(name.span);
        self.claim(&name.name, Named::Metric, at)?;
        Ok(name.name.clone())
    }
}
