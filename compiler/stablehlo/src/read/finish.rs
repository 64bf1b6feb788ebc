//! The module of all that was read.

use super::attribute::{Attributes, Value};
use super::body::{Body, Place};
use super::location::Origins;
use super::reader::Reader;
use halite_hlo::proto::{
    AliasEntryProto, BufferDonorEntryProto, FrontendAttributes, HloBufferDonorProto, HloComputationProto,
    HloInputOutputAliasProto, HloInstructionProto, HloModuleProto, ProgramShapeProto,
};
use halite_hlo::{CheckedHlo, OUTPUT_NAMES, Opcode, identifier};
use halite_support::{Cursor, Diagnostic, Diagnostics, Names, Result, check_cancelled, codes};
use std::fmt::Write;

/// The name of the entry.
const MAIN: &str = "main";

/// The frontend attribute of the entry's root that has what JAX says of results, where it is more than names.
const RESULTS: &str = "jax.result_info";

/// The alias kind "may alias" of the schema.
const MAY_ALIAS: i32 = 1;

/// How far a computation is put in order.
#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    /// Its callees are put in order.
    Open,
    Done,
}

/// A computation whose callees are looked at one after another.
struct Visit {
    number: usize,
    /// The instruction to look at next.
    next: usize,
}

impl Reader<'_> {
    /// The computations of a text that was read, by their numbers, with the roots of functions. All of them are read.
    pub(crate) fn bodies(&mut self) -> Vec<Body> {
        self.roots(usize::MAX);
        std::mem::take(&mut self.program.bodies).into_iter().flatten().collect()
    }

    /// The module, checked.
    pub(crate) fn finished(mut self, file: &str) -> std::result::Result<CheckedHlo, Diagnostics> {
        let entry = self.entry_number()?;
        let order = self.order(entry)?;
        self.roots(entry);
        let mut module = std::mem::take(&mut self.module);
        if module.name.is_empty() {
            let stem = file.rsplit('/').next().unwrap_or(file).split('.').next().unwrap_or(file);
            module.name = if stem.is_empty() { MAIN } else { stem }.to_owned();
        }
        module.frontend_attributes = module.frontend_attributes.filter(|attributes| !attributes.map.is_empty());
        self.of_entry(&mut module, entry);
        let mut linked = Linked {
            origins: std::mem::take(&mut self.locations).into_origins(),
            places: Vec::new(),
            numbers: vec![0; self.program.bodies.len()],
        };
        let mut names = Names::default();
        for number in order {
            check_cancelled()?;
            let Some(body) = self.program.bodies[number].take() else { continue };
            let id = module.computations.len() as i64;
            linked.numbers[number] = id;
            let name = match self.program.functions.get(&number) {
                Some(function) => identifier(&function.name),
                None => "region".to_owned(),
            };
            module.computations.push(linked.computation(body, id, names.unused(&name).to_string()));
        }
        if let Some(last) = module.computations.last() {
            module.entry_computation_id = last.id;
            module.entry_computation_name.clone_from(&last.name);
            module.host_program_shape.clone_from(&last.program_shape);
        }
        let (cursor, places) = (self.cursor, linked.places);
        // The module is all that is needed now, and takes the most memory while it is checked.
        drop((self, linked.origins));
        CheckedHlo::or_each(module).map_err(|faults| placed(faults, &places, cursor))
    }

    /// The number of the entry.
    pub(crate) fn entry_number(&self) -> Result<usize> {
        let is_read = |number: &usize| self.program.bodies[*number].is_some();
        if let Some(main) = self.program.number(MAIN).filter(is_read) {
            return Ok(main);
        }
        let public = |number: &usize| self.program.functions.get(number).is_some_and(|function| !function.is_private);
        let mut open = (0..self.program.bodies.len()).filter(is_read).filter(public);
        match (open.next(), open.next()) {
            (Some(only), None) => Ok(only),
            (first, _) => {
                let found = if first.is_some() { "several functions are public" } else { "no function is public" };
                let message = format!("the text has no function `@{MAIN}`, and {found}");
                let fault = Diagnostic::error(codes::UNDEFINED_VALUE, message);
                Err(fault.help("name the function that is the program `@main`"))
            }
        }
    }

    /// All that the entry calls, callees first, and as far as that allows in the order of the text.
    fn order(&self, entry: usize) -> std::result::Result<Vec<usize>, Diagnostics> {
        let mut states = vec![State::New; self.program.bodies.len()];
        let (mut order, mut faults) = (Vec::new(), Diagnostics::new());
        let is_called = self.called(entry);
        for first in (0..states.len()).filter(|&number| is_called[number]) {
            let mut open = Vec::new();
            self.visit(first, &mut states, &mut open, &mut faults);
            while let Some(Visit { number, next }) = open.pop() {
                match self.callee(number, next, &states) {
                    None => {
                        states[number] = State::Done;
                        order.push(number);
                    }
                    Some((at, callee)) => {
                        open.push(Visit { number, next: at });
                        self.visit(callee, &mut states, &mut open, &mut faults);
                    }
                }
            }
        }
        if faults.is_empty() { Ok(order) } else { Err(faults) }
    }

    /// Begins with a computation, or tells why it cannot be called.
    fn visit(&self, number: usize, states: &mut [State], open: &mut Vec<Visit>, faults: &mut Diagnostics) {
        match (states[number], self.program.bodies[number].is_some()) {
            (State::New, true) => {
                states[number] = State::Open;
                open.push(Visit { number, next: 0 });
            }
            (State::New, false) | (State::Open, _) => {
                faults.push(self.uncallable(number, states[number] == State::Open));
                states[number] = State::Done;
            }
            (State::Done, _) => {}
        }
    }

    /// The first callee that is not done of an instruction at a position or behind it, and its position.
    fn callee(&self, number: usize, next: usize, states: &[State]) -> Option<(usize, usize)> {
        let instructions = self.program.bodies[number].as_ref().map_or(&[][..], |body| &body.instructions);
        let callees = |at: usize| instructions[at].called_computation_ids.iter().map(|&id| id as usize);
        let undone = |at: usize| Some((at, callees(at).find(|&id| states[id] != State::Done)?));
        (next..instructions.len()).find_map(undone)
    }

    /// Which computations the entry calls, by itself or through others.
    fn called(&self, entry: usize) -> Vec<bool> {
        let mut is_called = vec![false; self.program.bodies.len()];
        let mut open = vec![entry];
        while let Some(number) = open.pop() {
            if !std::mem::replace(&mut is_called[number], true) {
                let instructions = self.program.bodies[number].iter().flat_map(|body| &body.instructions);
                open.extend(instructions.flat_map(|inst| &inst.called_computation_ids).map(|&id| id as usize));
            }
        }
        is_called
    }

    fn uncallable(&self, callee: usize, is_open: bool) -> Diagnostic {
        let function = self.program.functions.get(&callee);
        let (name, place) = function.map_or(("", (0, 0)), |function| (function.name.as_str(), function.place));
        let span = self.cursor.span(place);
        match is_open {
            true => Diagnostic::error(codes::FOREIGN, format!("the function `{name}` calls itself")).at(span, "here"),
            false => Diagnostic::error(codes::UNDEFINED_VALUE, format!("no function has the name `@{name}`"))
                .at(span, "this name"),
        }
    }

    /// Makes the results of functions their roots: a tuple of those of the entry, and of others that have not just one.
    pub(crate) fn roots(&mut self, entry: usize) {
        for (&number, signature) in &self.signatures {
            let Some(body) = self.program.bodies[number].as_mut() else { continue };
            body.root = match signature.returned[..] {
                [only] if number != entry => only.inst,
                _ => body.tuple(&signature.returned, &self.types, Place::default()),
            };
        }
    }

    /// Keeps the attributes of arguments and results of the entry.
    fn of_entry(&mut self, module: &mut HloModuleProto, entry: usize) {
        let Some(signature) = self.signatures.get(&entry) else { return };
        let (mut aliases, mut donors) = (Vec::new(), Vec::new());
        for (number, argument) in signature.arguments.iter().enumerate() {
            let (alias, donates) = gives(&argument.attributes);
            let parameter_number = number as i64;
            aliases.extend(alias.map(|output| AliasEntryProto {
                output_shape_index: vec![output],
                parameter_number,
                parameter_shape_index: Vec::new(),
                kind: MAY_ALIAS,
            }));
            donors
                .extend(donates.then(|| BufferDonorEntryProto { parameter_number, parameter_shape_index: Vec::new() }));
        }
        module.input_output_alias = (!aliases.is_empty()).then_some(HloInputOutputAliasProto { entries: aliases });
        module.buffer_donor = (!donors.is_empty()).then_some(HloBufferDonorProto { entries: donors });
        let named = signature.results.iter().map_while(|result| result.get(RESULTS).and_then(|info| info.text()));
        let named: Vec<String> = named.collect();
        if named.is_empty() {
            return;
        }
        let is_plain = |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let (key, text) = match named.iter().all(is_plain) {
            true => (OUTPUT_NAMES, named.join(",")),
            false => (RESULTS, named.join("; ")),
        };
        if let Some(body) = self.program.bodies[entry].as_mut() {
            let root = body.root;
            let attributes: &mut FrontendAttributes = body.inst(root).frontend_attributes.get_or_insert_default();
            attributes.map.insert(key.to_owned(), text);
        }
    }
}

/// The common part of the computations of a module.
struct Linked<'t> {
    origins: Origins<'t>,
    /// The places of the instructions so far.
    places: Vec<Place>,
    /// The ids of computations by their numbers.
    numbers: Vec<i64>,
}

impl Linked<'_> {
    /// A computation with ids that are unique in the module.
    fn computation(&mut self, body: Body, id: i64, name: String) -> HloComputationProto {
        let first = self.places.len() as i64;
        let mut program = ProgramShapeProto::default();
        let mut instructions = body.instructions;
        for (at, (inst, place)) in instructions.iter_mut().zip(&body.places).enumerate() {
            inst.id = first + at as i64;
            inst.operand_ids.iter_mut().for_each(|operand| *operand += first);
            inst.called_computation_ids.iter_mut().for_each(|callee| *callee = self.numbers[*callee as usize]);
            inst.metadata = self.origins.of(place.location);
            let base = match inst.opcode == Opcode::Parameter.name() {
                true => identifier(body.parameters.get(inst.parameter_number as usize).map_or("", String::as_str)),
                false => inst.opcode.to_string(),
            };
            inst.name = numbered(base, inst).into();
        }
        let is_parameter = |inst: &&HloInstructionProto| inst.opcode == Opcode::Parameter.name();
        self.places.extend_from_slice(&body.places);
        program.parameters = instructions.iter().filter(is_parameter).filter_map(|inst| inst.shape.clone()).collect();
        program.result = instructions.get(body.root as usize).and_then(|root| root.shape.clone());
        program.parameter_names = body.parameters;
        HloComputationProto {
            name,
            id,
            root_id: first + i64::from(body.root),
            program_shape: Some(program),
            instructions,
            ..HloComputationProto::default()
        }
    }
}

/// Faults of the module at their places in the text.
fn placed(faults: Vec<(Option<usize>, Diagnostic)>, places: &[Place], cursor: Cursor<'_>) -> Diagnostics {
    let placed = |(at, fault): (Option<usize>, Diagnostic)| match at.and_then(|at| places.get(at)) {
        Some(place) => fault.at(cursor.span(place.bytes()), "this operation"),
        None => fault,
    };
    faults.into_iter().map(placed).collect()
}

/// `base.id`.
fn numbered(mut base: String, inst: &HloInstructionProto) -> String {
    write!(base, ".{}", inst.id).expect("writing to a string succeeds");
    base
}

/// The result whose buffer an argument gives, or that it gives it to any; of arguments of the entry.
fn gives(attributes: &Attributes<'_>) -> (Option<i64>, bool) {
    let alias = attributes.get("tf.aliasing_output").and_then(|alias| match alias.value {
        Value::Int(output) => Some(output),
        _ => None,
    });
    let donates = attributes.get("jax.buffer_donor").is_some_and(|donor| donor.value != Value::Bool(false));
    (alias, donates)
}
