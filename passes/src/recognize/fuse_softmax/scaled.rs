//! `exp(s * (x - max(x))) / sum(exp(s * (x - max(x))))`, the softmax of `s * x`.

use super::parts::{Peak, dim, normalized, one_dim, shifted};
use crate::recognize::rewrite::{
    Bindings, MatchCx, MatchResult, Rule, Writer, divide, either, exponential, multiply, number,
};
use halite_ir::Value;
use halite_support::Result;

/// Scaled after the maximum is subtracted, by a number above 0 and not above 1: the maximum of `s * x` is then that of `x`
/// times `s`, and no product overflows.
pub(super) fn rule() -> Rule {
    let scaled = |peak| either([multiply(shifted(peak), number("scale")), divide(shifted(peak), number("divisor"))]);
    let pattern = Peak::each(|peak| normalized(|| exponential(scaled(peak))));
    let rule = Rule::new("scaled-softmax", "softmax", pattern).operand("x").when(one_dim).when(shrinks);
    rule.attributes(dim).write(write)
}

fn shrinks(bindings: &Bindings, _: &MatchCx<'_>) -> MatchResult {
    let (scale, divisor) = (bindings.number("scale"), bindings.number("divisor"));
    let shrinks = scale.is_none_or(|scale| scale > 0.0 && scale <= 1.0) && divisor.is_none_or(|divisor| divisor >= 1.0);
    if shrinks { Ok(()) } else { Err("scaling the operand itself by this number could overflow".to_owned()) }
}

fn write(writer: &mut Writer<'_, '_>) -> Result<Value> {
    let x = writer.operand("x")?;
    let x = match (writer.bindings.number("scale"), writer.bindings.number("divisor")) {
        (Some(scale), _) => writer.b.multiply_scalar(x, scale)?,
        (None, Some(divisor)) => {
            let divisor = writer.b.splat_like(x, divisor)?;
            writer.b.divide(x, divisor)?
        }
        (None, None) => x,
    };
    writer.composite(&[x])
}
