//! The metrics of a model, from what micro-batches and ranks have added up.

use halite_ir::ops::Direction;
use halite_ir::{Builder, FuncResult, ResultRole, Value, engine};
use halite_support::{Name, Result};

/// Each by its name: its sum, divided by what that is over where the model says so, in the type of scalar arithmetic. It is 0 where
/// there is nothing that it could be over.
pub(super) fn metrics(b: &mut Builder<'_>, results: &[FuncResult]) -> Result<Vec<(Name, Value)>> {
    let sums = results.iter().filter(|result| result.role == ResultRole::Sum);
    sums.map(|sum| Ok((sum.name.clone(), metric(b, results, sum)?))).collect()
}

fn metric(b: &mut Builder<'_>, results: &[FuncResult], sum: &FuncResult) -> Result<Value> {
    let float = engine(b.dtype(sum.value));
    let value = b.convert(sum.value, float)?;
    let is_over = |result: &&FuncResult| matches!(&result.role, ResultRole::Over(of) if *of == sum.name);
    let Some(over) = results.iter().find(is_over) else { return Ok(value) };
    let over = b.convert(over.value, float)?;
    let (zero, one) = (b.splat_like(over, 0.0)?, b.splat_like(over, 1.0)?);
    let is_nothing = b.compare(over, zero, Direction::Eq)?;
    let divisor = b.select(is_nothing, one, over)?;
    let quotient = b.divide(value, divisor)?;
    b.select(is_nothing, zero, quotient)
}
