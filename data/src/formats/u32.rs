//! Token ids of four bytes each, alone or behind the header of llm.c. Documents end with `eos`.

use super::{Format, Holds};
use crate::source::raw::{self, Width};
use crate::source::tokens::Ids;

pub(crate) const FORMAT: Format = Format {
    word: "u32",
    about: "The same of four bytes.",
    extensions: &[],
    holds: Holds::Tokens { open: |request| raw::open(request, WIDTH), marks_ends: false },
};

pub(crate) const WIDTH: Width = Width { ids: Ids::U32, magic: 20_240_801 };
