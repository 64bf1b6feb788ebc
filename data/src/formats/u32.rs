//! Token ids of four bytes each, alone or behind the header of llm.c. Documents end with `eos`.

use super::raw::Width;
use super::{Format, Holds};
use crate::shard::tokens::Ids;

pub(crate) const FORMAT: Format = Format {
    word: "u32",
    about: "The same of four bytes.",
    extensions: &[],
    holds: Holds::Ids(Width { ids: Ids::U32, magic: 20_240_801 }),
};
