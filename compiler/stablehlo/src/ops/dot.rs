//! Products.

use super::dims;
use crate::op::Op;
use crate::site::Site;
use halite_hlo::proto::PrecisionConfig;
use halite_support::Result;

pub(super) fn dot(site: &Site<'_>) -> Result<Op> {
    let numbers = site.needed(site.inst().dot_dimension_numbers.as_deref(), "dimensions")?;
    let lists: [(&str, &[i64]); 4] = [
        ("lhs_batching_dimensions", &numbers.lhs_batch_dimensions),
        ("rhs_batching_dimensions", &numbers.rhs_batch_dimensions),
        ("lhs_contracting_dimensions", &numbers.lhs_contracting_dimensions),
        ("rhs_contracting_dimensions", &numbers.rhs_contracting_dimensions),
    ];
    let op = site.op()?.with("dot_dimension_numbers", dims("dot", &lists, None));
    with_precision(site, op)
}

/// The operation with the precision of its operands, where one is said.
pub(super) fn with_precision(site: &Site<'_>, op: Op) -> Result<Op> {
    match site.inst().precision_config.as_deref() {
        Some(config) if *config != PrecisionConfig::default() => {
            Ok(op.with("precision_config", precision(site, config)?))
        }
        _ => Ok(op),
    }
}

/// The precision at which a backend that has a choice multiplies each operand.
fn precision(site: &Site<'_>, config: &PrecisionConfig) -> Result<String> {
    if config.algorithm != 0 {
        return Err(site.fault("it asks for an algorithm of products"));
    }
    let word = |precision: &i32| match precision {
        0 => Ok("DEFAULT"),
        1 => Ok("HIGH"),
        2 => Ok("HIGHEST"),
        _ => Err(site.fault("its precision is none that there is")),
    };
    let words = config.operand_precision.iter().map(word).collect::<Result<Vec<_>>>()?;
    let words: Vec<_> = words.iter().map(|word| format!("#stablehlo<precision {word}>")).collect();
    Ok(format!("[{}]", words.join(", ")))
}
