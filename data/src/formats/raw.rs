//! Token ids alone, of a width that the recipe states: `train.bin` of nanoGPT and, behind a header, the files of llm.c.
//!
//! The header of llm.c is that of its `dev/data/data_common.py`: 256 numbers of 32 bits, of which the first three are a magic number that
//! goes by the width of the ids, a version and how many ids follow.

use super::{FORMATS, Format, Holds, Request};
use crate::shard::Shard;
use crate::shard::tokens::{Ends, Extent, Ids};
use halite_disk::Readable;
use halite_support::files::cannot;
use halite_support::{Diagnostic, Result, codes};
use std::path::Path;

/// Bytes of the header of llm.c.
const HEADER: u64 = 4 * 256;

/// Ids of one width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Width {
    pub(crate) ids: Ids,
    /// The first number of the header of llm.c before such ids.
    pub(crate) magic: u32,
}

/// The widths that recipes state, with their formats.
pub(super) fn widths() -> impl Iterator<Item = (Format, Width)> {
    FORMATS.into_iter().filter_map(|format| match format.holds {
        Holds::Ids(width) => Some((format, width)),
        _ => None,
    })
}

/// Opens a file of ids of a width.
pub(crate) fn open(request: &Request<'_>, width: Width) -> Result<Box<dyn Shard>> {
    let file = request.origin.open()?;
    let extent = extent(&file, &request.origin.path, width.ids)?;
    Ok(request.shard(file, extent, Ends::After(request.eos)))
}

/// The place and the number of a file's ids, of a width that the recipe states.
fn extent(file: &Readable, path: &Path, ids: Ids) -> Result<Extent> {
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
    match widths().find(|(_, own)| own.magic == magic) {
        Some((_, own)) if own.ids == ids => return Ok(Extent { ids, offset: HEADER, count: count.into() }),
        Some((format, own)) => {
            let what = format!("is of llm.c with ids of {} bytes, the recipe states {stated}", own.ids.bytes());
            return wrong(what, format!("write `format = \"{}\"`", format.word));
        }
        None => {}
    }
    if length % stated as u64 != 0 {
        let what = format!("has {length} bytes, which are no whole ids of {stated} bytes");
        let words: Vec<String> = widths().map(|(format, _)| format!("`{}`", format.word)).collect();
        return wrong(what, format!("state the width that it was written with, {}", words.join(" or ")));
    }
    Ok(Extent { ids, offset: 0, count: length / stated as u64 })
}
