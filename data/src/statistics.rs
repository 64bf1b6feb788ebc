//! Statistics of an epoch of data.

use crate::counted::Counted;
use crate::encoder::Encoder;
use crate::layout::Layout;
use crate::pack::Documents;
use crate::packed::read_window;
use crate::reader::Reader;
use halite_support::Result;

/// The statistics of one epoch of a source, or of its beginning.
#[derive(Clone, PartialEq, Debug)]
pub struct Statistics {
    /// The counts of the documents and tokens that were read.
    pub counted: Counted,
    /// Whether that is all there is.
    pub is_whole: bool,
    /// Rows that it was packed into.
    pub rows: u64,
    /// The share of the tokens of rows that is not padding; 0 without rows.
    pub efficiency: f64,
    /// The first row, as the tokens of each document or piece in it; empty without rows.
    pub first: Vec<Vec<i32>>,
}

/// Reads and packs a source once, or until there are so many rows.
pub(crate) fn of(
    source: &str,
    mut reader: Reader,
    encoder: &Encoder,
    layout: &Layout,
    most: u64,
    observe: &mut dyn FnMut(&Counted),
) -> Result<Statistics> {
    let mut counted = Counted::new(source, &reader);
    let (mut rows, mut used, mut first, mut carried) = (0, 0, Vec::new(), Vec::new());
    loop {
        let (window, is_end) = read_window(&mut reader, encoder, &carried, layout.buffer)?;
        let carried_tokens: usize = carried.iter().map(|piece| piece.tokens.len()).sum();
        counted.documents += (window.documents().len() - carried.len()) as u64;
        counted.tokens += (window.tokens().len() - carried_tokens) as u64;
        counted.skipped = reader.skipped();
        observe(&counted);
        let goes_on = reader.cursor().is_within();
        let packed = layout.pack.pack(&Documents::of(&window, goes_on, is_end, layout));
        if let (0, Some(row)) = (rows, packed.rows.first()) {
            first = row.iter().map(|piece| window.tokens()[piece.clone()].to_vec()).collect();
        }
        rows += packed.rows.len() as u64;
        used += packed.rows.iter().flatten().map(|piece| piece.len() as u64).sum::<u64>();
        carried = packed.carried.iter().map(|range| window.carry(range)).collect();
        if is_end || rows >= most {
            let efficiency = if rows == 0 { 0.0 } else { used as f64 / (rows * layout.width as u64) as f64 };
            return Ok(Statistics { counted, is_whole: is_end, rows, efficiency, first });
        }
    }
}
