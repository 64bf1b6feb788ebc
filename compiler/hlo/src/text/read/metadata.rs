//! The origin of an instruction.

use super::reader::Reader;
use crate::proto::OpMetadata;
use halite_support::Result;

impl Reader<'_> {
    /// `{op_name="a/b" source_file="f.py" source_line=3}`. What else it says is not kept.
    pub(super) fn metadata(&mut self) -> Result<OpMetadata> {
        let mut metadata = OpMetadata::default();
        self.cursor.expect(b'{')?;
        while !self.cursor.eat(b'}') {
            let key = self.cursor.word()?;
            self.cursor.expect(b'=')?;
            match key {
                "op_type" => metadata.op_type = self.string()?,
                "op_name" => metadata.op_name = self.string()?,
                "source_file" => metadata.source_file = self.string()?,
                "source_line" => metadata.source_line = self.small()?,
                "source_end_line" => metadata.source_end_line = self.small()?,
                "source_column" => metadata.source_column = self.small()?,
                "source_end_column" => metadata.source_end_column = self.small()?,
                "stack_frame_id" => metadata.stack_frame_id = self.small()?,
                _ => match self.cursor.peek() {
                    b'"' => drop(self.cursor.raw_string()?),
                    b'{' => drop(self.string_or_object()?),
                    _ => drop(self.joined()),
                },
            }
        }
        Ok(metadata)
    }
}
