//! `fuse-rope`.

mod halves;
mod pairs;
mod parts;
mod rotate_half;

use crate::framework::example::golden;
use crate::recognize::rewrite::Fusion;

/// Rotary position embeddings by halves, spelled out, become `rope`. The tables of sines and cosines must follow from the
/// positions 0, 1, 2, .. and the powers of one base. Where the positions are dimension 2, as in `[batch, heads, seq,
/// head_dim]`, the composite stands between two transposes.
///
/// ```text
/// %c = broadcast_in_dim %cosine ..
/// %kept = multiply %x, %c
/// %first = slice %x ..
/// %second = slice %x ..
/// %minus = negate %second                       =>    %y = rope %x {theta = 10000.0}
/// %rotated = concatenate %minus, %first ..
/// %s = broadcast_in_dim %sine ..
/// %turned = multiply %rotated, %s
/// %y = add %kept, %turned
/// ```
///
/// A rounding of an angle grows with the position, in the program as in the composite, and nothing says that they round
/// alike: the relation holds for positions below 64, and the difference grows in proportion.
pub(crate) fn pass() -> Fusion {
    let rules =
        vec![rotate_half::forward(), rotate_half::inverse(), halves::forward(), halves::inverse(), pairs::rule()];
    Fusion::new("fuse-rope", "recognize rotary position embeddings", 64, rules)
        .example(golden!("fuse_rope/rope" @ "rotate_half"))
}
