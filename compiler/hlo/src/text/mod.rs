//! Modules in XLA's text syntax, printed and read.
//!
//! Instructions are printed in the order of the message, without operand shapes. Opcodes outside our set are printed with whatever
//! attributes the messages have.

mod attributes;
mod literal;
mod nan;
mod precision;
mod read;
mod shape;
mod sharding;
mod window;

pub use read::{is_hlo, read};

use crate::opcode::Opcode;
use crate::proto::{
    HloComputationProto, HloInstructionProto, HloModuleProto, OpMetadata, ShapeProto, StackFrameIndexProto,
};
use rustc_hash::FxHashMap;
use std::fmt::{self, Display, Write};

/// The module as text, for people: constants of more than ten elements are left out.
pub fn print(module: &HloModuleProto) -> String {
    printed(module, literal::Most::FEW)
}

/// The module as text with all elements of its constants, which [`read`] takes; XLA's option for it is `print_large_constants`.
pub fn print_large_constants(module: &HloModuleProto) -> String {
    printed(module, literal::Most::ALL)
}

fn printed(module: &HloModuleProto, constants: literal::Most) -> String {
    let mut text = String::new();
    Printer::new(module, constants, &mut text).module().expect("writing to a string succeeds");
    text
}

/// The type that a shape is, without its layout.
fn shape_of(shape: &ShapeProto) -> String {
    let mut text = String::new();
    shape::bare(&mut text, Some(shape)).expect("writing to a string succeeds");
    text
}

/// Writes one module; ids that nothing has are printed as `?id`.
struct Printer<'a> {
    module: &'a HloModuleProto,
    instructions: FxHashMap<i64, &'a HloInstructionProto>,
    computations: FxHashMap<i64, &'a str>,
    constants: literal::Most,
    out: &'a mut String,
}

impl<'a> Printer<'a> {
    fn new(module: &'a HloModuleProto, constants: literal::Most, out: &'a mut String) -> Self {
        let all = module.computations.iter().flat_map(|computation| &computation.instructions);
        let instructions = all.map(|inst| (inst.id, inst)).collect();
        let computations = module.computations.iter().map(|computation| (computation.id, computation.name.as_str()));
        Self { module, instructions, computations: computations.collect(), constants, out }
    }

    fn module(&mut self) -> fmt::Result {
        write!(self.out, "HloModule {}", self.module.name)?;
        self.aliases()?;
        if let Some(program) = &self.module.host_program_shape {
            self.out.push_str(", entry_computation_layout={");
            shape::program(self.out, program)?;
            self.out.push('}');
        }
        if let Some(attributes) = &self.module.frontend_attributes {
            attributes::frontend(self.out, attributes)?;
        }
        self.out.push('\n');
        if let Some(frames) = &self.module.stack_frame_index {
            stack_frames(self.out, frames)?;
        }
        for computation in &self.module.computations {
            self.out.push('\n');
            self.computation(computation)?;
        }
        Ok(())
    }

    fn aliases(&mut self) -> fmt::Result {
        if let Some(alias) = self.module.input_output_alias.as_ref().filter(|alias| !alias.entries.is_empty()) {
            self.out.push_str(", input_output_alias={ ");
            separated(self.out, ", ", &alias.entries, |out, entry| {
                let kind = if entry.kind == 2 { "must-alias" } else { "may-alias" };
                let (output, index) = (Braced(&entry.output_shape_index), Braced(&entry.parameter_shape_index));
                write!(out, "{output}: ({}, {index}, {kind})", entry.parameter_number)
            })?;
            self.out.push_str(" }");
        }
        if let Some(donors) = self.module.buffer_donor.as_ref().filter(|donors| !donors.entries.is_empty()) {
            self.out.push_str(", buffer_donor={ ");
            separated(self.out, ", ", &donors.entries, |out, entry| {
                write!(out, "({}, {})", entry.parameter_number, Braced(&entry.parameter_shape_index))
            })?;
            self.out.push_str(" }");
        }
        Ok(())
    }

    fn computation(&mut self, computation: &HloComputationProto) -> fmt::Result {
        if computation.id == self.module.entry_computation_id {
            self.out.push_str("ENTRY ");
        }
        write!(self.out, "%{} ", computation.name)?;
        self.signature(computation)?;
        self.out.push_str(" {\n");
        for inst in &computation.instructions {
            self.out.push_str(if inst.id == computation.root_id { "  ROOT " } else { "  " });
            self.instruction(inst)?;
            self.out.push('\n');
        }
        self.out.push_str("}\n");
        Ok(())
    }

    fn signature(&mut self, computation: &HloComputationProto) -> fmt::Result {
        let is_parameter = |inst: &&HloInstructionProto| inst.opcode == Opcode::Parameter.name();
        let mut parameters: Vec<_> = computation.instructions.iter().filter(is_parameter).collect();
        parameters.sort_by_key(|inst| inst.parameter_number);
        self.out.push('(');
        separated(self.out, ", ", &parameters, |out, inst| {
            write!(out, "{}: ", inst.name)?;
            shape::bare(out, inst.shape.as_deref())
        })?;
        self.out.push_str(") -> ");
        let root = computation.instructions.iter().find(|inst| inst.id == computation.root_id);
        shape::bare(self.out, root.and_then(|inst| inst.shape.as_deref()))
    }

    fn instruction(&mut self, inst: &HloInstructionProto) -> fmt::Result {
        write!(self.out, "%{} = ", inst.name)?;
        shape::with_layout(self.out, inst.shape.as_deref())?;
        write!(self.out, " {}(", inst.opcode)?;
        self.operands(inst)?;
        self.out.push(')');
        self.attributes(inst)?;
        if let Some(sharding) = &inst.sharding {
            self.out.push_str(", sharding=");
            sharding::print(self.out, sharding)?;
        }
        if let Some(attributes) = &inst.frontend_attributes {
            attributes::frontend(self.out, attributes)?;
        }
        if !inst.control_predecessor_ids.is_empty() {
            self.out.push_str(", control-predecessors={");
            let instructions = &self.instructions;
            separated(self.out, ", ", &inst.control_predecessor_ids, |out, id| {
                reference(out, instructions.get(id).map(|inst| &*inst.name), *id)
            })?;
            self.out.push('}');
        }
        if let Some(metadata) = inst.metadata.as_deref().filter(|metadata| **metadata != OpMetadata::default()) {
            self::metadata(self.out, metadata)?;
        }
        attributes::backend_config(self.out, inst)
    }

    fn operands(&mut self, inst: &HloInstructionProto) -> fmt::Result {
        match (Opcode::parse(&inst.opcode), &inst.literal) {
            (Some(Opcode::Parameter), _) => write!(self.out, "{}", inst.parameter_number),
            (Some(Opcode::Constant), Some(literal)) => literal::print(self.out, literal, self.constants),
            _ => {
                for (position, id) in inst.operand_ids.iter().enumerate() {
                    self.out.push_str(if position > 0 { ", " } else { "" });
                    shape::index_comment(self.out, position)?;
                    reference(self.out, self.instructions.get(id).map(|inst| &*inst.name), *id)?;
                }
                Ok(())
            }
        }
    }
}

/// `%name` of what has an id.
fn reference(out: &mut String, name: Option<&str>, id: i64) -> fmt::Result {
    match name {
        Some(name) => write!(out, "%{name}"),
        None => write!(out, "%?{id}"),
    }
}

/// `{1,2}`.
struct Braced<'a, T>(&'a [T]);

impl<T: Display> Display for Braced<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (position, item) in self.0.iter().enumerate() {
            f.write_str(if position > 0 { "," } else { "" })?;
            item.fmt(f)?;
        }
        f.write_str("}")
    }
}

fn separated<T>(
    out: &mut String,
    separator: &str,
    items: &[T],
    mut print: impl FnMut(&mut String, &T) -> fmt::Result,
) -> fmt::Result {
    for (position, item) in items.iter().enumerate() {
        out.push_str(if position > 0 { separator } else { "" });
        print(out, item)?;
    }
    Ok(())
}

/// `<=[2,4]T(1,0)`: devices as a grid that is reshaped and transposed.
fn iota_devices(out: &mut String, reshape: &[i64], transpose: &[i32]) -> fmt::Result {
    out.push_str("<=[");
    separated(out, ",", reshape, |out, size| write!(out, "{size}"))?;
    out.push(']');
    if transpose.is_sorted() {
        return Ok(());
    }
    out.push_str("T(");
    separated(out, ",", transpose, |out, dim| write!(out, "{dim}"))?;
    out.push(')');
    Ok(())
}

/// `text` in quotes, as a literal of C.
fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\'' | b'\\' => out.extend(['\\', char::from(byte)]),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b' '..=b'~' => out.push(char::from(byte)),
            byte => write!(out, "\\{byte:03o}").expect("writing to a string succeeds"),
        }
    }
    out.push('"');
}

/// A text as it is where it looks like an object of JSON, in quotes otherwise.
fn object_or_quoted(out: &mut String, text: &str) {
    if is_object(text.as_bytes()) { out.push_str(text) } else { quoted(out, text) }
}

/// Whether a text is in braces that close at its end, those in strings left out.
fn is_object(text: &[u8]) -> bool {
    let (mut depth, mut is_string, mut at) = (0_usize, false, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' if is_string => at += 1,
            b'"' if at == 0 => return false,
            b'"' => is_string = !is_string,
            b'{' if !is_string => depth += 1,
            b'}' if !is_string && depth > 0 => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return at == text.len() && text.starts_with(b"{");
        }
    }
    false
}

fn metadata(out: &mut String, metadata: &OpMetadata) -> fmt::Result {
    out.push_str(", metadata={");
    let start = out.len();
    let texts =
        [("op_type", &metadata.op_type), ("op_name", &metadata.op_name), ("source_file", &metadata.source_file)];
    for (key, text) in texts {
        if !text.is_empty() {
            write!(out, "{}{key}=", if out.len() > start { " " } else { "" })?;
            quoted(out, text);
        }
    }
    let numbers = [
        ("source_line", metadata.source_line),
        ("source_end_line", metadata.source_end_line),
        ("source_column", metadata.source_column),
        ("source_end_column", metadata.source_end_column),
        ("stack_frame_id", metadata.stack_frame_id),
    ];
    for (key, number) in numbers {
        if number != 0 {
            write!(out, "{}{key}={number}", if out.len() > start { " " } else { "" })?;
        }
    }
    out.push('}');
    Ok(())
}

fn stack_frames(out: &mut String, frames: &StackFrameIndexProto) -> fmt::Result {
    for (title, names) in [("FileNames", &frames.file_names), ("FunctionNames", &frames.function_names)] {
        writeln!(out, "\n{title}")?;
        for (position, name) in names.iter().enumerate() {
            write!(out, "{} ", position + 1)?;
            quoted(out, name);
            out.push('\n');
        }
    }
    out.push_str("\nFileLocations\n");
    for (position, place) in frames.file_locations.iter().enumerate() {
        let (file, function) = (place.file_name_id, place.function_name_id);
        write!(out, "{} {{file_name_id={file} function_name_id={function} ", position + 1)?;
        write!(out, "line={} end_line={} ", place.line, place.end_line)?;
        writeln!(out, "column={} end_column={}}}", place.column, place.end_column)?;
    }
    out.push_str("\nStackFrames\n");
    for (position, frame) in frames.stack_frames.iter().enumerate() {
        // XLA shifts parents by one, so that 1 means none.
        let (place, parent) = (frame.file_location_id, i64::from(frame.parent_frame_id) + 1);
        writeln!(out, "{} {{file_location_id={place} parent_frame_id={parent}}}", position + 1)?;
    }
    out.push('\n');
    Ok(())
}
