//! Origins of instructions of HLO.

use crate::proto::{HloInstructionProto, HloModuleProto, OpMetadata, StackFrameIndexProto};
use halite_support::{SourceMap, Span};

/// The origin of an instruction, by its metadata.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Origin<'a> {
    /// The scopes that it stands in.
    pub scope: &'a str,
    /// The file as the metadata names it; empty when it is not known.
    pub file: &'a str,
    /// The line from 1; 0 when it is not known.
    pub line: i32,
    /// The first column from 1 and the one after the last; 0 when they are not known.
    pub columns: [i32; 2],
}

/// The origin of an instruction: the one in its metadata itself, or the innermost frame of its call stack.
pub fn origin<'a>(inst: &'a HloInstructionProto, module: &'a HloModuleProto) -> Option<Origin<'a>> {
    let metadata: &OpMetadata = inst.metadata.as_deref()?;
    let own = Origin {
        scope: &metadata.op_name,
        file: &metadata.source_file,
        line: metadata.source_line,
        columns: [metadata.source_column, metadata.source_end_column],
    };
    if !own.file.is_empty() {
        return Some(own);
    }
    let framed = module.stack_frame_index.as_ref().and_then(|index| frame(index, metadata.stack_frame_id));
    Some(framed.map_or(own, |(file, line)| Origin { file, line, ..own }))
}

fn frame(index: &StackFrameIndexProto, id: i32) -> Option<(&str, i32)> {
    let at = |id: i32| usize::try_from(id).ok()?.checked_sub(1);
    let location = index.file_locations.get(at(index.stack_frames.get(at(id)?)?.file_location_id)?)?;
    Some((index.file_names.get(at(location.file_name_id)?)?, location.line))
}

impl Origin<'_> {
    /// The place in a registered text; files are told by their name without folder.
    pub fn span(&self, sources: &SourceMap) -> Option<Span> {
        let stem = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
        let file = sources.files().find(|file| stem(file.name()) == stem(self.file))?;
        let line = usize::try_from(self.line).ok()?.checked_sub(1)?;
        let text = file.text().split_inclusive('\n').nth(line)?;
        let start: usize = file.text().split_inclusive('\n').take(line).map(str::len).sum();
        let indent = text.len() - text.trim_start().len();
        let byte = |column: i32| {
            let column = usize::try_from(column).ok()?.checked_sub(1)?;
            text.char_indices().nth(column).map(|(at, _)| at)
        };
        let [first, end] = self.columns.map(byte);
        let first = first.unwrap_or(indent);
        let end = end.filter(|&end| end > first).unwrap_or_else(|| text.trim_end().len().max(first));
        Some(Span::new(file.id(), start + first, start + end))
    }
}
