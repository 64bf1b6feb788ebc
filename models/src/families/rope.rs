//! The table `rope_scaling` of older files, `rope_parameters` of newer ones: rotary positions for long sequences.

use super::keys::Unstated::Model;
use super::keys::{Fixed, Key, Scaling, count, ignored, positive};

/// The form of a file that states none.
pub const DEFAULT: &str = "default";

/// The base of the frequencies, which newer files state here.
const THETA: Key = positive("rope_theta", "rope_theta").absent(Model);

/// No scaling, in models that know none.
pub(super) static UNSCALED: &[Scaling] = &[Scaling { rope_type: DEFAULT, keys: &[THETA], fixed: &[] }];

/// The forms of the table that the model `llama3` takes.
pub(super) static SCALED: &[Scaling] = &[
    Scaling { rope_type: DEFAULT, keys: &[THETA], fixed: &[("rope_factor", Fixed::Real(1.0))] },
    Scaling {
        rope_type: "linear",
        keys: &[THETA, positive("factor", "rope_factor"), ignored("original_max_position_embeddings")],
        fixed: &[("rope_trained", Fixed::Real(0.0))],
    },
    Scaling {
        rope_type: "llama3",
        keys: &[
            THETA,
            positive("factor", "rope_factor"),
            positive("low_freq_factor", "rope_low"),
            positive("high_freq_factor", "rope_high"),
            count("original_max_position_embeddings", "rope_trained"),
        ],
        fixed: &[],
    },
];
