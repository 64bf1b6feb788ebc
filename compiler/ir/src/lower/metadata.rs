//! Metadata of lowered instructions.

use crate::loc::{LocId, LocKind, LocTable};
use crate::op_name::OpName;
use halite_hlo::ComputationBuilder;
use halite_hlo::proto::OpMetadata;
use halite_support::{FileId, SourceMap, Span};
use rustc_hash::FxHashMap;

/// Turns locations into `OpMetadata`, remembering the last one: neighbours share it.
#[derive(Debug)]
pub(super) struct Metadata<'a> {
    locs: &'a LocTable,
    sources: &'a SourceMap,
    /// Whether files and lines are written.
    positions: bool,
    last: Option<LocId>,
    lines: LineIndex,
}

impl<'a> Metadata<'a> {
    /// Without `positions`, only scopes are written.
    pub(super) fn new(locs: &'a LocTable, sources: &'a SourceMap, positions: bool) -> Self {
        Self { locs, sources, positions, last: None, lines: LineIndex::default() }
    }

    /// Forgets the last location: a new computation has none.
    pub(super) fn reset(&mut self) {
        self.last = None;
    }

    /// Gives the instructions that follow in the computation the metadata of `loc`.
    pub(super) fn enter(&mut self, hlo: &mut ComputationBuilder<'_>, loc: LocId) {
        if self.last == Some(loc) {
            return;
        }
        self.last = Some(loc);
        let mut metadata = OpMetadata { op_name: OpName::write(self.locs, loc), ..OpMetadata::default() };
        if self.positions
            && let Some((file, line)) = self.position(loc)
        {
            (metadata.source_file, metadata.source_line) = (file, line);
        }
        hlo.set_metadata(Some(metadata));
    }

    /// The innermost position: a line of a source text, or of the program that built the module.
    fn position(&mut self, loc: LocId) -> Option<(String, i32)> {
        let (locs, sources) = (self.locs, self.sources);
        locs.chain(loc).find_map(|kind| match kind {
            LocKind::Source(span) => {
                let file = sources.file(span.file)?;
                let name = file.name().rsplit('/').next().unwrap_or_default();
                Some((name.to_owned(), self.lines.line(file.text(), *span)))
            }
            LocKind::Code { file, line } => Some((file.to_string(), i32::try_from(*line).unwrap_or(i32::MAX))),
            LocKind::Scope(_)
            | LocKind::Part(_)
            | LocKind::Layer(_)
            | LocKind::Composite(_)
            | LocKind::Derived(_)
            | LocKind::Unknown => None,
        })
    }
}

/// Starts of the lines of each file, so that a line number costs a binary search.
#[derive(Debug, Default)]
struct LineIndex(FxHashMap<FileId, Vec<u32>>);

impl LineIndex {
    fn line(&mut self, text: &str, span: Span) -> i32 {
        let starts = self.0.entry(span.file).or_insert_with(|| {
            let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(breaks.map(|(at, _)| at as u32 + 1)).collect()
        });
        i32::try_from(starts.partition_point(|&start| start <= span.start)).unwrap_or(i32::MAX)
    }
}
