//! What an epoch of data comes to.

use crate::dataset::Skipped;
use crate::encoder::Encoder;
use crate::pack::Documents;
use crate::packed::{Layout, read_window};
use crate::reader::Reader;
use halite_support::Result;

/// What one epoch of a source is.
#[derive(Clone, PartialEq, Debug)]
pub struct Statistics {
    /// The name of the source.
    pub source: String,
    /// Documents that were read.
    pub documents: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Rows that they were packed into.
    pub rows: u64,
    /// The share of the tokens of rows that is not padding; 0 without rows.
    pub efficiency: f64,
    /// What was left out.
    pub skipped: Vec<Skipped>,
}

/// Reads and packs a source once.
pub(crate) fn of(source: String, mut reader: Reader, encoder: &Encoder, layout: &Layout) -> Result<Statistics> {
    let (mut documents, mut tokens, mut rows, mut used) = (0, 0, 0, 0);
    let mut carried = Vec::new();
    loop {
        let (window, is_end) = read_window(&mut reader, encoder, &carried, layout.buffer)?;
        let carried_tokens: usize = carried.iter().map(|piece| piece.tokens.len()).sum();
        documents += window.documents().len() - carried.len();
        tokens += window.tokens().len() - carried_tokens;
        let goes_on = reader.cursor().is_within();
        let packed = layout.pack.pack(&Documents::of(&window, goes_on, is_end, layout));
        rows += packed.rows.len();
        used += packed.rows.iter().flatten().map(|piece| piece.len()).sum::<usize>();
        carried = packed.carried.iter().map(|range| window.carry(range)).collect();
        if is_end {
            break;
        }
    }
    let efficiency = if rows == 0 { 0.0 } else { used as f64 / (rows * layout.width) as f64 };
    let (documents, tokens, rows) = (documents as u64, tokens as u64, rows as u64);
    Ok(Statistics { source, documents, tokens, rows, efficiency, skipped: reader.skipped() })
}
