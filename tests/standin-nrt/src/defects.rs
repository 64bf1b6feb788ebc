//! Defects of a device: programs that are run as other programs. The self-test has to name each.

mod integers;
mod ranks;
mod rewrite;
mod rounding;
mod structure;
mod tokens;

use crate::orders;
use crate::statuses::INVALID;
use halite_hlo::proto::HloModuleProto;
use std::ffi::c_int;

/// Changes a program.
type Change = fn(&mut HloModuleProto);

/// Leaves what replaces inputs as it was.
const STALE: &str = "alias-stale";

/// Rounding by the switch does nothing.
const NO_SWITCH: &str = "switch-ignored";

/// Loads a program that gathers in no second process.
const NOT_AGAIN: &str = "all-gather-again";

/// The defects that `HALITE_STANDIN_NRT_DEFECT` may name, several with commas between them.
pub const DEFECTS: [&str; 19] = [
    "u32-product",
    "u32-sum",
    "shift-left",
    STALE,
    "all-reduce-bf16",
    "all-gather-order",
    NOT_AGAIN,
    "reduce-scatter-shard",
    "permute-still",
    "stream-order",
    NO_SWITCH,
    "truncates",
    "call-arguments",
    "barrier-swapped",
    "rank-ignored",
    "expm1-cancels",
    "logistic-bf16",
    "dot-bf16",
    "u32-compare",
];

/// The change that a defect makes to a program; `None` for a defect that is implemented elsewhere.
fn change(name: &str) -> Option<Change> {
    Some(match name {
        "u32-product" => integers::product,
        "u32-sum" => integers::sum,
        "shift-left" => integers::shift_left,
        "u32-compare" => integers::compare,
        "all-reduce-bf16" => ranks::narrow_sum,
        "all-gather-order" => ranks::gather_backwards,
        "reduce-scatter-shard" => ranks::scatter_backwards,
        "permute-still" => ranks::permute_still,
        "stream-order" => tokens::scatter_backwards,
        "truncates" => rounding::truncate,
        "logistic-bf16" => rounding::narrow_logistic,
        "dot-bf16" => rounding::narrow_dot,
        "expm1-cancels" => rounding::cancelling_expm1,
        "call-arguments" => structure::swap_arguments,
        "barrier-swapped" => structure::swap_barriers,
        "rank-ignored" => structure::ignore_rank,
        _ => return None,
    })
}

/// The HLO that is run in the place of this one: tokens are dropped, what is to round at random does, and what is ordered is wrong.
pub(crate) fn run_as(hlo: &[u8]) -> Result<Vec<u8>, c_int> {
    let defects = asked();
    if defects.iter().any(|defect| !DEFECTS.contains(&defect.as_str())) {
        return Err(INVALID);
    }
    let is_switched = rounding::is_switched() && !defects.iter().any(|defect| defect == NO_SWITCH);
    let changes: Vec<Change> = defects.iter().filter_map(|defect| change(defect)).collect();
    let mut module = halite_hlo::decode(hlo).map_err(|_| INVALID)?;
    let has_tokens = tokens::has_any(&module);
    if !is_switched && changes.is_empty() && !has_tokens {
        return Ok(hlo.to_vec());
    }
    if is_switched {
        rounding::at_random(&mut module);
    }
    for change in changes {
        change(&mut module);
    }
    if has_tokens {
        tokens::drop(&mut module);
    }
    Ok(halite_hlo::encode(&module))
}

/// Whether what replaces an input is lost.
pub(crate) fn keeps_aliases() -> bool {
    asked().iter().any(|defect| defect == STALE)
}

/// Whether a program that gathers is to be loaded by the first process of its rank alone.
pub(crate) fn loads_once() -> bool {
    asked().iter().any(|defect| defect == NOT_AGAIN)
}

/// The defects that it is to have.
fn asked() -> Vec<String> {
    orders::variable("DEFECT").map_or_else(Vec::new, |names| names.split(',').map(str::to_owned).collect())
}
