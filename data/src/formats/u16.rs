//! Token ids of two bytes each, alone or behind the header of llm.c. Documents end with `eos`.

use super::raw::Width;
use super::{Format, Holds};
use crate::shard::tokens::Ids;

pub(crate) const FORMAT: Format = Format {
    word: "u16",
    about: "Tokens of two bytes each, little-endian, alone or behind the header of llm.c: `train.bin` of nanoGPT.",
    extensions: &[],
    holds: Holds::Ids(Width { ids: Ids::U16, magic: 20_240_520 }),
};
