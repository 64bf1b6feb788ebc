//! The line with which a module begins.

use super::reader::Reader;
use crate::proto::{
    AliasEntryProto, BufferDonorEntryProto, HloBufferDonorProto, HloInputOutputAliasProto, ProgramShapeProto,
};
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Result, codes};

/// The attributes of modules that are read.
const READ: [&str; 4] = ["entry_computation_layout", "input_output_alias", "buffer_donor", "frontend_attributes"];

/// The attributes of modules that say how a program was or is to be compiled.
const SKIPPED: [&str; 12] = [
    "is_scheduled",
    "num_partitions",
    "replica_count",
    "alias_passthrough_params",
    "allow_spmd_sharding_propagation_to_parameters",
    "allow_spmd_sharding_propagation_to_output",
    "allow_separate_sharding_programs",
    "cross_program_prefetches",
    "entry_computation_layout_is_set",
    "knobs",
    "origin_recovery_table",
    "intra_op_parallelism_threads",
];

impl Reader<'_> {
    /// `name, key=value, ..`, from behind the first word.
    pub(super) fn header(&mut self) -> Result<()> {
        self.cursor.skip();
        let rest = self.cursor.rest();
        let length = rest.iter().position(|byte| b", \t\r\n".contains(byte)).unwrap_or(rest.len());
        let name = self.cursor.slice(self.cursor.at, self.cursor.at + length);
        if name.is_empty() {
            return Err(self.cursor.unexpected("the name of the module"));
        }
        name.clone_into(&mut self.module.name);
        self.cursor.at += length;
        while self.cursor.eat(b',') {
            let start = self.cursor.at_next();
            let key = self.cursor.word()?;
            let place = (start, self.cursor.at);
            self.cursor.expect(b'=')?;
            match key {
                "entry_computation_layout" => {
                    self.module.host_program_shape = Some(self.layout_of_entry()?);
                    self.layout = (place.0, self.cursor.at);
                }
                "input_output_alias" => self.aliases()?,
                "buffer_donor" => self.donors()?,
                "frontend_attributes" => self.module.frontend_attributes = self.frontend_attributes()?,
                key if SKIPPED.contains(&key) => self.skip_value()?,
                key => {
                    let fault = Diagnostic::error(codes::ATTRIBUTE, format!("no module has an attribute `{key}`"));
                    let known: Vec<&str> = READ.into_iter().chain(SKIPPED).collect();
                    return Err(fault.at(self.cursor.span(place), "this attribute").help(suggestion(key, &known)));
                }
            }
        }
        Ok(())
    }

    /// `{(f32[2]{0}, ..)->f32[2]{0}}`.
    fn layout_of_entry(&mut self) -> Result<ProgramShapeProto> {
        let mut program = ProgramShapeProto::default();
        self.cursor.expect(b'{')?;
        self.cursor.expect(b'(')?;
        self.separated(b')', |reader| {
            program.parameters.push(reader.shape()?.into());
            Ok(())
        })?;
        self.cursor.expect_all("->")?;
        program.result = Some(self.shape()?.into());
        self.cursor.expect(b'}')?;
        Ok(program)
    }

    /// `{ {0}: (1, {}, may-alias), .. }`.
    fn aliases(&mut self) -> Result<()> {
        let mut aliases = HloInputOutputAliasProto::default();
        self.cursor.expect(b'{')?;
        self.separated(b'}', |reader| {
            let output_shape_index = reader.integers()?;
            reader.cursor.expect(b':')?;
            reader.cursor.expect(b'(')?;
            let parameter_number = reader.cursor.integer()?;
            reader.cursor.expect(b',')?;
            let parameter_shape_index = reader.integers()?;
            let kind = if reader.cursor.eat(b',') { reader.kind_of_alias()? } else { 1 };
            reader.cursor.expect(b')')?;
            aliases.entries.push(AliasEntryProto { output_shape_index, parameter_number, parameter_shape_index, kind });
            Ok(())
        })?;
        self.module.input_output_alias = Some(aliases).filter(|aliases| !aliases.entries.is_empty());
        Ok(())
    }

    fn kind_of_alias(&mut self) -> Result<i32> {
        let kind = match self.cursor.peek_dashed() {
            "may-alias" => 1,
            "must-alias" => 2,
            _ => return Err(self.cursor.unexpected("`may-alias` or `must-alias`")),
        };
        self.name("a kind of alias")?;
        Ok(kind)
    }

    /// `{ (0, {}), .. }`.
    fn donors(&mut self) -> Result<()> {
        let mut donors = HloBufferDonorProto::default();
        self.cursor.expect(b'{')?;
        self.separated(b'}', |reader| {
            reader.cursor.expect(b'(')?;
            let parameter_number = reader.cursor.integer()?;
            reader.cursor.expect(b',')?;
            let parameter_shape_index = reader.integers()?;
            reader.cursor.expect(b')')?;
            donors.entries.push(BufferDonorEntryProto { parameter_number, parameter_shape_index });
            Ok(())
        })?;
        self.module.buffer_donor = Some(donors).filter(|donors| !donors.entries.is_empty());
        Ok(())
    }
}
