//! Arrays of NumPy with one dimension. Documents end with `eos`.

use super::{Format, Holds, Request};
use crate::shard::Shard;
use crate::shard::tokens::{Ends, Extent, Ids};
use halite_disk::Readable;
use halite_support::files::cannot;
use halite_support::{Diagnostic, Result, codes};
use std::io::Read;
use std::path::Path;

pub(crate) const FORMAT: Format = Format {
    word: "npy",
    about: "An array of tokens of NumPy.",
    extensions: &["npy"],
    holds: Holds::Tokens { open, marks_ends: false },
};

fn open(request: &Request<'_>) -> Result<Box<dyn Shard>> {
    let file = request.origin.open()?;
    let extent = read(&file, &request.origin.path)?;
    Ok(request.shard(file, extent, Ends::After(request.eos)))
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// The most bytes of a header; NumPy's own are of some hundred.
const LONGEST: u64 = 1 << 16;

/// Reads the type, the place and the number of a file's ids from its header.
fn read(file: &Readable, path: &Path) -> Result<Extent> {
    let mut bytes = Vec::new();
    let read = file.clone().take(LONGEST).read_to_end(&mut bytes);
    read.map_err(|error| cannot("read", path, &error))?;
    parse(&bytes).map_err(|what| {
        let message = format!("`{}` {what}", path.display());
        Diagnostic::error(codes::DATA, message)
            .help("write it with `numpy.save`, as an array of one dimension of u16, u32, i32 or i64")
    })
}

fn parse(bytes: &[u8]) -> std::result::Result<Extent, String> {
    let not_npy = || "is not a file of NumPy".to_owned();
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(not_npy)?;
    // Version 1 states the length of what follows in two bytes, later ones in four.
    let size = if rest.first() == Some(&1) { 2 } else { 4 };
    let length = rest.get(2..2 + size).ok_or_else(not_npy)?;
    let length = length.iter().rev().fold(0, |length, byte| length << 8 | usize::from(*byte));
    let text = rest.get(2 + size..).and_then(|rest| rest.get(..length)).ok_or_else(not_npy)?;
    let text = std::str::from_utf8(text).map_err(|_| not_npy())?;
    let ids = match value(text, "descr").ok_or_else(not_npy)?.trim_matches('\'') {
        "<u2" => Ids::U16,
        "<u4" => Ids::U32,
        "<i4" => Ids::I32,
        "<i8" => Ids::I64,
        other => return Err(format!("has elements of type `{other}`")),
    };
    let shape = value(text, "shape").ok_or_else(not_npy)?;
    let count = shape.strip_prefix('(').and_then(|rest| rest.strip_suffix(",)")?.trim().parse().ok());
    let count = count.ok_or_else(|| format!("has the shape {shape}"))?;
    Ok(Extent { ids, offset: (MAGIC.len() + 2 + size + length) as u64, count })
}

/// The value of a key in the header, which is a Python dictionary.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("'{key}':"))?;
    let rest = rest.trim_start();
    let end = if rest.starts_with('(') { rest.find(')')? + 1 } else { rest.find([',', '}'])? };
    Some(rest[..end].trim())
}
