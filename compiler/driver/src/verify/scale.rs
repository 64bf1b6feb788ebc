//! Making a model small without changing its structure.

use crate::session::Session;
use crate::source::Source;
use halite_lang::ConfigValue;
use halite_spec::Recipe;
use halite_support::Diagnostics;

/// Largest sizes of a small model, by the names that the built-in models and Hugging Face use for them.
const LIMITS: [(&str, i64); 6] =
    [("vocab", 96), ("hidden", 64), ("layers", 2), ("heads", 4), ("ffn", 112), ("positions", 32)];
/// Largest degree of tensor parallelism: that of the most heads.
const RANKS: u32 = 4;
/// Largest batch and sequence.
const BATCH: usize = 2;
const SEQ: usize = 32;

/// Shrinks the sizes it knows, keeping the ratio of heads to key-value heads, and returns key, old and new value of each
/// that changed. Keys it does not know stay.
///
/// # Errors
/// When the recipe's own configuration is wrong.
pub(super) fn scale_down(session: &Session, source: &mut Source) -> Result<Vec<(String, i64, i64)>, Diagnostics> {
    let config = session.elaborate(source)?.config;
    let size = |key: &str| match config.get(key) {
        Some(&ConfigValue::Int(value)) => Some(value),
        _ => None,
    };
    let mut scaled = Vec::new();
    for (key, limit) in LIMITS {
        if let Some(old) = size(key).filter(|&old| old > limit) {
            scaled.push((key.to_owned(), old, limit));
        }
    }
    if let (Some(heads), Some(kv_heads)) = (size("heads"), size("kv_heads")) {
        let new = (heads.min(4) * kv_heads / heads.max(1)).max(1);
        if new != kv_heads {
            scaled.push(("kv_heads".to_owned(), kv_heads, new));
        }
    }
    for (key, _, new) in &scaled {
        source.recipe.model.config.insert(key.clone(), halite_spec::ConfigValue::Int(*new));
    }
    let Recipe { batch, seq, .. } = source.with_sizes(&config).recipe;
    for (key, size, limit) in [("batch", batch, BATCH), ("seq", seq, SEQ)] {
        let Some(old) = size.filter(|&old| old > limit) else { continue };
        scaled.push((key.to_owned(), old as i64, limit as i64));
        let stated = if key == "seq" { &mut source.recipe.seq } else { &mut source.recipe.batch };
        *stated = Some(limit);
    }
    if let Some(parallel) = source.recipe.parallel.as_mut().filter(|parallel| parallel.tensor > RANKS) {
        scaled.push(("parallel.tensor".to_owned(), parallel.tensor.into(), RANKS.into()));
        parallel.tensor = RANKS;
    }
    Ok(scaled)
}
