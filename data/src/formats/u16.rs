//! Token ids of two bytes each, alone or behind the header of llm.c. Documents end with `eos`.

use super::{Format, Holds};
use crate::source::raw::{self, Width};
use crate::source::tokens::Ids;

pub(crate) const FORMAT: Format = Format {
    word: "u16",
    about: "Tokens of two bytes each, little-endian, alone or behind the header of llm.c: `train.bin` of nanoGPT.",
    extensions: &[],
    holds: Holds::Tokens { open: |request| raw::open(request, WIDTH), marks_ends: false },
};

pub(crate) const WIDTH: Width = Width { ids: Ids::U16, magic: 20_240_520 };
