//! The tables of call stacks that stand between the first line and the computations.

use super::reader::Reader;
use crate::proto::{FileLocation, StackFrame, StackFrameIndexProto};
use halite_support::Result;

impl<'t> Reader<'t> {
    /// `FileNames`, `FunctionNames`, `FileLocations` and `StackFrames`, as far as they are there.
    pub(super) fn frames(&mut self) -> Result<()> {
        let mut frames = StackFrameIndexProto::default();
        if self.cursor.eat_word("FileNames") {
            self.table(|reader| reader.string().map(|name| frames.file_names.push(name)))?;
        }
        if self.cursor.eat_word("FunctionNames") {
            self.table(|reader| reader.string().map(|name| frames.function_names.push(name)))?;
        }
        if self.cursor.eat_word("FileLocations") {
            self.table(|reader| reader.location().map(|location| frames.file_locations.push(location)))?;
        }
        if self.cursor.eat_word("StackFrames") {
            self.table(|reader| reader.frame().map(|frame| frames.stack_frames.push(frame)))?;
        }
        self.module.stack_frame_index = (frames != StackFrameIndexProto::default()).then_some(frames);
        Ok(())
    }

    /// Rows that are numbered from 1.
    fn table(&mut self, mut row: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        let mut next = 1;
        while self.cursor.peek().is_ascii_digit() {
            let start = self.cursor.at;
            if self.cursor.integer()? != next {
                let place = (start, self.cursor.at);
                return Err(self.cursor.fault(place, &format!("expected the row {next}"), "this row"));
            }
            next += 1;
            row(self)?;
        }
        Ok(())
    }

    /// `{key=1 key=2}`.
    fn keyed(&mut self, mut entry: impl FnMut(&str, i32)) -> Result<()> {
        self.cursor.expect(b'{')?;
        while !self.cursor.eat(b'}') {
            let key = self.cursor.word()?;
            self.cursor.expect(b'=')?;
            entry(key, self.small()?);
        }
        Ok(())
    }

    fn location(&mut self) -> Result<FileLocation> {
        let mut location = FileLocation::default();
        self.keyed(|key, number| match key {
            "file_name_id" => location.file_name_id = number,
            "function_name_id" => location.function_name_id = number,
            "line" => location.line = number,
            "column" => location.column = number,
            "end_line" => location.end_line = number,
            "end_column" => location.end_column = number,
            _ => {}
        })?;
        Ok(location)
    }

    fn frame(&mut self) -> Result<StackFrame> {
        let mut frame = StackFrame::default();
        self.keyed(|key, number| match key {
            "file_location_id" => frame.file_location_id = number,
            // XLA shifts parents by one, so that 1 means none.
            "parent_frame_id" => frame.parent_frame_id = number.saturating_sub(1),
            _ => {}
        })?;
        Ok(frame)
    }
}
