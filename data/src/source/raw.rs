//! Token ids alone, of a width that the recipe states: `train.bin` of nanoGPT and, behind a header, the files of llm.c.
//!
//! The header of llm.c is that of its `dev/data/data_common.py`: 256 numbers of 32 bits, of which the first three are a magic number that
//! goes by the width of the ids, a version and how many ids follow.

use super::tokens::Ids;
use halite_disk::Readable;
use halite_support::files::cannot;
use halite_support::{Diagnostic, Result, codes};
use std::path::Path;

/// Bytes of the header of llm.c.
const HEADER: u64 = 4 * 256;

/// The first numbers of the headers of llm.c, with the width of the ids that follow.
const MAGIC: [(u32, Ids); 2] = [(20_240_520, Ids::U16), (20_240_801, Ids::U32)];

/// Where the ids of a file are.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    /// Where the first id is, in bytes.
    pub(crate) offset: u64,
    pub(crate) count: u64,
}

impl Extent {
    /// That of ids of a width which the recipe states.
    pub(crate) fn read(file: &Readable, path: &Path, ids: Ids) -> Result<Self> {
        let fault = |error: std::io::Error| cannot("read", path, &error);
        let length = file.size().map_err(fault)?;
        let mut start = [0; 12];
        if length >= HEADER {
            file.read_exact_at(&mut start, 0).map_err(fault)?;
        }
        let [magic, _, count] = [0, 4, 8].map(|at| u32::from_le_bytes([0, 1, 2, 3].map(|byte| start[at + byte])));
        let wrong = |what: String, help: String| {
            let message = format!("`{}` {what}", path.display());
            Err(Diagnostic::error(codes::DATA, message).help(help))
        };
        let stated = ids.bytes();
        match MAGIC.iter().find(|(own, _)| *own == magic) {
            Some((_, own)) if *own == ids => return Ok(Self { offset: HEADER, count: count.into() }),
            Some((_, own)) => {
                let what = format!("is of llm.c with ids of {} bytes, the recipe states {stated}", own.bytes());
                return wrong(what, format!("write `format = \"u{}\"`", 8 * own.bytes()));
            }
            None => {}
        }
        if length % stated as u64 != 0 {
            let what = format!("has {length} bytes, which are no whole ids of {stated} bytes");
            return wrong(what, "state the width that it was written with, `u16` or `u32`".to_owned());
        }
        Ok(Self { offset: 0, count: length / stated as u64 })
    }
}
