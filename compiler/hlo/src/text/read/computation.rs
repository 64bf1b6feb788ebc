//! Computations.

use super::reader::Reader;
use crate::opcode::Opcode;
use crate::proto::{HloComputationProto, HloInstructionProto, ProgramShapeProto, ShapeProto, Shared};
use crate::shape::is_alike;
use halite_support::{Diagnostic, Result, check_cancelled, codes};

/// Instructions between looks at whether the work is cancelled.
const LOOK: usize = 256;

/// The line with which a computation begins.
struct Head<'t> {
    name: &'t str,
    is_entry: bool,
    signature: Option<ProgramShapeProto>,
    place: (usize, usize),
}

impl<'t> Reader<'t> {
    /// `ENTRY %name (a: f32[2]) -> f32[2] { .. }`.
    pub(super) fn computation(&mut self) -> Result<()> {
        let head = self.head()?;
        self.names.clear();
        let faults = self.faults.len();
        let root = self.instructions_up_to_end()?;
        while self.cursor.eat(b',') {
            self.name("the name of an attribute")?;
            self.cursor.expect(b'=')?;
            self.skip_value()?;
        }
        let instructions = std::mem::take(&mut self.instructions);
        if self.faults.len() > faults {
            return Ok(());
        }
        let at = self.module.computations.len();
        let computation = match self.assembled(&head, instructions, root) {
            Ok(computation) => computation,
            Err(fault) => return self.report(fault),
        };
        self.module.computations.push(computation);
        self.computations.insert(head.name, Some(at));
        if head.is_entry {
            self.entry = Some(at);
        }
        Ok(())
    }

    fn head(&mut self) -> Result<Head<'t>> {
        let start = self.cursor.at_next();
        let is_entry = self.cursor.eat_word("ENTRY");
        let name = self.name("a computation")?;
        let place = (start, self.cursor.at);
        if self.computations.insert(name, None).is_some() {
            let fault = Diagnostic::error(codes::DUPLICATE, format!("the computation `{name}` is defined twice"));
            return Err(fault.at(self.cursor.span(place), "the second"));
        }
        if is_entry && self.entry.is_some() {
            let fault = Diagnostic::error(codes::DUPLICATE, "a module has one entry");
            return Err(fault.at(self.cursor.span(place), "the second"));
        }
        let signature = if self.cursor.peek() == b'(' { Some(self.signature()?) } else { None };
        self.cursor.expect(b'{')?;
        Ok(Head { name, is_entry, signature, place })
    }

    /// `(a: f32[2], b: s32[]) -> f32[2]`.
    fn signature(&mut self) -> Result<ProgramShapeProto> {
        let mut program = ProgramShapeProto::default();
        self.cursor.expect(b'(')?;
        self.separated(b')', |reader| {
            reader.cursor.bare_name(b'%', "a parameter")?;
            reader.cursor.expect(b':')?;
            program.parameters.push(reader.shape()?.into());
            Ok(())
        })?;
        self.cursor.expect_all("->")?;
        program.result = Some(self.shape()?.into());
        Ok(program)
    }

    /// Reads instructions up to the end of the computation; the position of the root.
    fn instructions_up_to_end(&mut self) -> Result<Option<usize>> {
        let mut root = None;
        while !self.cursor.eat(b'}') {
            if self.cursor.is_at_end() {
                return Err(self.cursor.unexpected("`}`"));
            }
            if self.places.len().is_multiple_of(LOOK) {
                check_cancelled()?;
            }
            let start = self.cursor.at;
            match self.instruction() {
                Ok(false) => {}
                Ok(true) if root.is_none() => root = Some(self.instructions.len() - 1),
                Ok(true) => {
                    let fault = Diagnostic::error(codes::DUPLICATE, "a computation has one root");
                    self.report(fault.at(self.cursor.span((start, start + "ROOT".len())), "the second"))?;
                }
                // What follows from a text that ends early is not told.
                Err(fault) if self.cursor.is_at_end() => return Err(fault),
                Err(fault) => {
                    self.report(fault)?;
                    self.recover(start);
                }
            }
        }
        Ok(root)
    }

    /// Goes behind an instruction with a fault: to the next line that begins an instruction or ends the computation.
    fn recover(&mut self, start: usize) {
        self.cursor.at = start;
        loop {
            self.cursor.skip_line();
            let rest = self.cursor.rest();
            let Some((_, next)) = rest.split_first() else { return };
            let line = next.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_start();
            if line.starts_with(b"}") || is_begin(line) {
                return;
            }
            self.cursor.at += 1;
        }
    }

    /// The computation of its instructions.
    fn assembled(
        &self,
        head: &Head<'t>,
        instructions: Vec<HloInstructionProto>,
        root: Option<usize>,
    ) -> Result<HloComputationProto> {
        let span = self.cursor.span(head.place);
        let is_parameter = |inst: &&HloInstructionProto| inst.opcode == Opcode::Parameter.name();
        let mut parameters: Vec<_> = instructions.iter().filter(is_parameter).collect();
        parameters.sort_by_key(|inst| inst.parameter_number);
        let Some(root) = root.map_or(instructions.last(), |root| instructions.get(root)) else {
            let fault = Diagnostic::error(codes::SYNTAX, "a computation has no instruction");
            return Err(fault.at(span, "this computation"));
        };
        let program = ProgramShapeProto {
            parameters: parameters.iter().filter_map(|inst| inst.shape.clone()).collect(),
            result: root.shape.clone(),
            parameter_names: parameters.iter().map(|inst| inst.name.to_string()).collect(),
        };
        if let Some(what) = head.signature.as_ref().and_then(|stated| difference(stated, &program)) {
            let message = format!("the signature of `{}` states {what}", head.name);
            return Err(Diagnostic::error(codes::TYPE_MISMATCH, message).at(span, "this computation"));
        }
        Ok(HloComputationProto {
            name: head.name.to_owned(),
            id: self.module.computations.len() as i64,
            root_id: root.id,
            program_shape: Some(program),
            instructions,
            ..HloComputationProto::default()
        })
    }
}

/// Whether a line begins an instruction: a name and `=`.
fn is_begin(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"ROOT ").unwrap_or(line).trim_ascii_start();
    let line = line.strip_prefix(b"%").unwrap_or(line);
    let length = line.iter().position(|byte| !(byte.is_ascii_alphanumeric() || b"_.-".contains(byte)));
    length.is_some_and(|length| length > 0 && line[length..].trim_ascii_start().starts_with(b"="))
}

/// The part of a signature that is not so.
pub(super) fn difference(stated: &ProgramShapeProto, own: &ProgramShapeProto) -> Option<String> {
    let (expected, found) = (stated.parameters.len(), own.parameters.len());
    if expected != found {
        return Some(format!("{expected} parameters, found {found}"));
    }
    let differs = |(stated, own): (&Shared<ShapeProto>, &Shared<ShapeProto>)| !is_alike(stated, own);
    if let Some(number) = stated.parameters.iter().zip(&own.parameters).position(differs) {
        return Some(format!("another type of parameter {number}"));
    }
    let results = stated.result.as_ref().zip(own.result.as_ref());
    results.is_some_and(differs).then(|| "another type of the result".to_owned())
}
