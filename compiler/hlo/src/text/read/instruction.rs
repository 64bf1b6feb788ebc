//! Instructions.

use super::opcodes::{is_foreign, names};
use super::reader::Reader;
use crate::builder::comparison_type;
use crate::opcode::Opcode;
use crate::proto::{HloInstructionProto, ShapeProto};
use crate::shape::is_alike;
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Result, codes};

/// An instruction while it is read.
pub(super) struct Line {
    pub(super) inst: HloInstructionProto,
    /// `None` outside of our set.
    pub(super) opcode: Option<Opcode>,
    /// The computations that it calls, with their numbers among these.
    pub(super) callees: Vec<(usize, i64)>,
    pub(super) place: (usize, usize),
}

impl<'t> Reader<'t> {
    /// `ROOT %name = f32[2] opcode(..), key=value`. Whether it is the root.
    pub(super) fn instruction(&mut self) -> Result<bool> {
        let start = self.cursor.at_next();
        let is_root = self.cursor.eat_word("ROOT");
        let from = self.cursor.at_next();
        let name = self.name("an instruction")?;
        let named = (from, self.cursor.at);
        // Until it is read it is one with a fault, so that what follows from that is not told.
        let is_second = self.names.insert(name, None).is_some();
        self.cursor.expect(b'=')?;
        if is_second {
            let fault = Diagnostic::error(codes::DUPLICATE, format!("`{name}` is defined twice"));
            return Err(fault.at(self.cursor.span(named), "the second").help("rename one of the two"));
        }
        let shape = self.stated_shape()?;
        let mut line = Line {
            inst: HloInstructionProto { name: name.into(), ..HloInstructionProto::default() },
            opcode: None,
            callees: Vec::new(),
            place: named,
        };
        self.opcode(&mut line)?;
        self.operands(&mut line, &shape)?;
        self.attributes(&mut line)?;
        line.inst.shape = Some(shape.into());
        self.completed(&mut line);
        line.inst.id = self.places.len() as i64;
        self.places.push((start, self.cursor.at));
        self.names.insert(name, Some(self.instructions.len()));
        self.instructions.push(line.inst);
        Ok(is_root)
    }

    fn stated_shape(&mut self) -> Result<ShapeProto> {
        let word = self.cursor.peek_dashed();
        let is_opcode = self.cursor.rest().get(word.len()) == Some(&b'(') && !word.is_empty();
        if is_opcode {
            let place = (self.cursor.at, self.cursor.at + word.len());
            let fault = self.cursor.fault(place, "expected the type of the result", "before this opcode");
            return Err(fault.help("print the text with types, or write it: `%x = f32[2] add(%a, %b)`"));
        }
        self.shape()
    }

    fn opcode(&mut self, line: &mut Line) -> Result<()> {
        let start = self.cursor.at_next();
        let word = self.name("an opcode")?;
        line.opcode = Opcode::parse(word);
        line.inst.opcode = line.opcode.map_or_else(|| word.to_owned().into(), |opcode| opcode.name().into());
        if line.opcode.is_some() || is_foreign(word) {
            return Ok(());
        }
        let place = self.cursor.span((start, self.cursor.at));
        let is_begin = ["-start", "-update", "-done"].iter().any(|end| word.ends_with(end));
        Err(match is_begin {
            true => Diagnostic::error(codes::FOREIGN, format!("the asynchronous form `{word}` is not read"))
                .at(place, "this opcode")
                .help("dump the module before instructions are made asynchronous, or as a proto"),
            false => Diagnostic::error(codes::UNKNOWN_OP, format!("no opcode has the name `{word}`"))
                .at(place, "this opcode")
                .help(suggestion(word, &names())),
        })
    }

    /// The operands in the marks behind an opcode, or what parameters and constants have in their place.
    fn operands(&mut self, line: &mut Line, shape: &ShapeProto) -> Result<()> {
        self.cursor.expect(b'(')?;
        match line.opcode {
            Some(Opcode::Parameter) => line.inst.parameter_number = self.cursor.integer()?,
            Some(Opcode::Constant) => line.inst.literal = Some(Box::new(self.literal(shape)?)),
            _ => {
                return self.separated(b')', |reader| {
                    if let Some(at) = reader.operand()? {
                        line.inst.operand_ids.push(reader.instructions[at].id);
                    }
                    Ok(())
                });
            }
        }
        self.cursor.expect(b')')
    }

    /// `%name`, or `f32[2] %name`: the position of the instruction, `None` where that has a fault.
    fn operand(&mut self) -> Result<Option<usize>> {
        if !self.is_shape() {
            return self.defined();
        }
        let start = self.cursor.at_next();
        let stated = self.shape()?;
        let place = (start, self.cursor.at);
        let at = self.defined()?;
        let found = at.and_then(|at| self.instructions[at].shape.as_ref());
        match found.filter(|found| !is_alike(found, &stated)) {
            None => Ok(at),
            Some(found) => {
                let message = format!("the operand has the type `{}`, another is stated", crate::text::shape_of(found));
                Err(Diagnostic::error(codes::TYPE_MISMATCH, message).at(self.cursor.span(place), "this type"))
            }
        }
    }

    /// The position of an instruction that is named, `None` where that has a fault.
    pub(super) fn defined(&mut self) -> Result<Option<usize>> {
        let start = self.cursor.at_next();
        let name = self.name("an instruction such as `%add`")?;
        match self.names.get(name) {
            Some(&at) => Ok(at),
            None => {
                let message = format!("no instruction before this one has the name `{name}`");
                let fault = Diagnostic::error(codes::UNDEFINED_VALUE, message);
                Err(fault.at(self.cursor.span((start, self.cursor.at)), "this name"))
            }
        }
    }

    /// Fills in what a text leaves out where it has its usual value, as XLA does.
    fn completed(&self, line: &mut Line) {
        let (inst, callees) = (&mut line.inst, &mut line.callees);
        callees.sort_unstable();
        inst.called_computation_ids = callees.iter().map(|(_, id)| *id).collect();
        match line.opcode {
            Some(Opcode::Dot) => drop(inst.dot_dimension_numbers.get_or_insert_default()),
            Some(opcode @ (Opcode::Convolution | Opcode::CustomCall)) => {
                inst.feature_group_count = inst.feature_group_count.max(1);
                inst.batch_group_count = inst.batch_group_count.max(1);
                match opcode {
                    // The first version is the one that is not printed.
                    Opcode::CustomCall => inst.custom_call_api_version = inst.custom_call_api_version.max(1),
                    _ => drop(inst.window.get_or_insert_default()),
                }
            }
            Some(Opcode::ReduceWindow | Opcode::SelectAndScatter) => drop(inst.window.get_or_insert_default()),
            Some(Opcode::Compare) if inst.comparison_type.is_empty() => {
                self.usual_order(inst).clone_into(&mut inst.comparison_type);
            }
            _ => {}
        }
    }

    /// The order by which a comparison compares where it says no other.
    pub(super) fn usual_order(&self, inst: &HloInstructionProto) -> &'static str {
        let first = inst.operand_ids.first().and_then(|id| self.at_id(*id));
        let dtype = first.and_then(|first| first.shape.as_ref()?.dtype());
        dtype.map(comparison_type).unwrap_or_default()
    }

    /// The instruction with an id, of the computation that is read.
    fn at_id(&self, id: i64) -> Option<&HloInstructionProto> {
        let first = self.instructions.first()?.id;
        self.instructions.get(usize::try_from(id.checked_sub(first)?).ok()?)
    }
}
