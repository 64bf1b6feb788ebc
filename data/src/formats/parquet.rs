//! Tables in Parquet: each row of a column of text is a document.

#[cfg(feature = "parquet")]
mod table;

#[cfg(all(test, feature = "parquet"))]
pub(crate) use table::ParquetShard;

use super::{Format, Holds, Request};
use crate::shard::Shard;
use halite_support::Result;

pub(crate) const FORMAT: Format = Format {
    word: "parquet",
    about: "A table in Parquet.",
    extensions: &["parquet"],
    holds: Holds::Text { open, may_be_compressed: false },
};

#[cfg(feature = "parquet")]
fn open(request: &Request<'_>) -> Result<Box<dyn Shard>> {
    Ok(Box::new(table::ParquetShard::open(request.origin, request.column, request.part)?))
}

#[cfg(not(feature = "parquet"))]
fn open(request: &Request<'_>) -> Result<Box<dyn Shard>> {
    let what = format!("`{}` is a table in Parquet", request.origin.path.display());
    Err(crate::features::lacking(&what, "parquet", "write it as JSON lines"))
}
