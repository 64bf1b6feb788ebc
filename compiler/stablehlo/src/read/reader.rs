//! The state of reading a text.

use super::attribute::Attribute;
use super::body::{Capture, Found, Frame, Place, Region, Takes, Val};
use super::location::Locations;
use super::program::Program;
use super::signature::Signature;
use super::types::{TypeId, Types};
use halite_hlo::Opcode;
use halite_hlo::proto::{HloModuleProto, Shared};
use halite_support::{Cursor, Diagnostic, Diagnostics, FileId, Result, codes};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// How deep regions, attributes and locations may nest.
pub(crate) const DEPTH: usize = 64;

/// The most bytes of a constant that is copied into the regions that read it.
const COPIED: usize = 1024;

/// An operation of CHLO on a type, with the number of elements that it keeps where it does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Instance<'t> {
    pub(crate) name: &'t str,
    pub(crate) ty: TypeId,
    pub(crate) count: i64,
}

/// A text and what was read of it.
#[derive(Debug)]
pub(crate) struct Reader<'t> {
    pub(crate) cursor: Cursor<'t>,
    pub(crate) types: Types<'t>,
    pub(crate) locations: Locations<'t>,
    /// Names of attributes.
    pub(crate) aliases: FxHashMap<&'t str, Attribute<'t>>,
    /// The places of the bytes of resources by their names.
    pub(crate) resources: FxHashMap<&'t str, (usize, usize)>,
    /// The function that is read, and the regions in it that are open.
    pub(crate) frames: Vec<Frame<'t>>,
    pub(crate) program: Program,
    /// The signatures of functions that were read.
    pub(crate) signatures: BTreeMap<usize, Signature<'t>>,
    /// The module, as far as it is said outside of functions.
    pub(crate) module: HloModuleProto,
    pub(crate) faults: Diagnostics,
    /// The functions that operations of CHLO became.
    pub(crate) decompositions: FxHashMap<Instance<'t>, usize>,
    /// Operations so far.
    pub(crate) operations: usize,
}

impl<'t> Reader<'t> {
    pub(crate) fn new(text: &'t str, file: FileId) -> Self {
        Self {
            cursor: Cursor::new(text, file),
            types: Types::default(),
            locations: Locations::default(),
            aliases: FxHashMap::default(),
            resources: FxHashMap::default(),
            frames: Vec::new(),
            program: Program::default(),
            signatures: BTreeMap::new(),
            decompositions: FxHashMap::default(),
            module: HloModuleProto::default(),
            faults: Diagnostics::new(),
            operations: 0,
        }
    }

    /// The innermost computation that is read.
    pub(crate) fn frame(&mut self) -> &mut Frame<'t> {
        self.frames.last_mut().expect("operations are read within functions")
    }

    /// The value whose name is next; `None` where it is the result of an operation with a fault.
    pub(crate) fn value(&mut self) -> Result<Option<Val>> {
        let start = self.cursor.at_next();
        let name = self.cursor.name(b'%', "a value such as `%0`")?;
        let index = match self.cursor.eat(b'#') {
            true => u32::try_from(self.cursor.integer()?).unwrap_or(u32::MAX),
            false => 0,
        };
        let place = (start, self.cursor.at);
        for level in (0..self.frames.len()).rev() {
            match self.frames[level].find(name, index) {
                None => {}
                Some(Found::Faulty) => return Ok(None),
                Some(Found::Value(value)) => return self.carried(value, level, place).map(Some),
                Some(Found::Only(count)) => {
                    let message = format!("`%{name}` has {count} values, found number {index}");
                    return Err(Diagnostic::error(codes::UNDEFINED_VALUE, message).at(self.cursor.span(place), "here"));
                }
            }
        }
        let message = format!("no value has the name `%{name}`");
        Err(Diagnostic::error(codes::UNDEFINED_VALUE, message).at(self.cursor.span(place), "this name"))
    }

    /// A value of an outer computation in the innermost one.
    fn carried(&mut self, value: Val, level: usize, place: (usize, usize)) -> Result<Val> {
        let mut value = value;
        for inner in level + 1..self.frames.len() {
            value = self.imported(value, inner, place)?;
        }
        Ok(value)
    }

    /// A value of a computation in the next one inside: a copy of a small constant, or a value that is handed in.
    fn imported(&mut self, outer: Val, inner: usize, place: (usize, usize)) -> Result<Val> {
        if let Some(&known) = self.frames[inner].imported.get(&outer.inst) {
            return Ok(known);
        }
        let around = &self.frames[inner - 1].body;
        let (original, its_place) = (&around.instructions[outer.inst as usize], around.places[outer.inst as usize]);
        let ty = self.types.array(outer.ty);
        let is_small = ty.shape.num_bytes(ty.dtype).is_some_and(|bytes| bytes <= COPIED);
        let constant = (original.opcode == Opcode::Constant.name() && is_small).then(|| original.clone());
        let shape = self.types.shape(outer.ty);
        let frame = &mut self.frames[inner];
        let inst = match (constant, frame.takes) {
            (Some(constant), _) => {
                frame.body.instructions.push(constant);
                frame.body.places.push(its_place);
                frame.body.instructions.len() as u32 - 1
            }
            (None, Takes::Tuple) => {
                let inst = frame.body.element(0, 0, shape, its_place);
                frame.captures.push(Capture { outer, inst });
                inst
            }
            (None, Takes::Each) => {
                let message = "what combines or compares two values reads a value of what is around it";
                return Err(Diagnostic::error(codes::FOREIGN, message)
                    .at(self.cursor.span(place), "this value")
                    .help("compute it inside, or make it a constant"));
            }
        };
        let value = Val { inst, ty: outer.ty };
        self.frames[inner].imported.insert(outer.inst, value);
        Ok(value)
    }

    /// `%a, %b`: values one after another, at least one. Whether all are without faults.
    pub(crate) fn values(&mut self, values: &mut Vec<Val>) -> Result<bool> {
        let mut is_whole = true;
        loop {
            match self.value()? {
                Some(value) => values.push(value),
                None => is_whole = false,
            }
            if !self.cursor.eat(b',') {
                return Ok(is_whole);
            }
        }
    }

    /// Opens a region whose block has these arguments.
    pub(crate) fn open(&mut self, takes: Takes, arguments: &[(&'t str, TypeId)], place: Place) {
        let mut frame = Frame::new(takes);
        if takes == Takes::Tuple {
            frame.body.parameter("state".to_owned(), Shared::default(), place);
        }
        for (number, &(name, ty)) in arguments.iter().enumerate() {
            let shape = self.types.shape(ty);
            let inst = match takes {
                Takes::Each => frame.body.parameter(name.to_owned(), shape, place),
                Takes::Tuple => frame.body.element(0, number, shape, place),
            };
            frame.define(name, std::iter::once(Some(Val { inst, ty })));
        }
        self.frames.push(frame);
    }

    /// Closes the innermost region.
    pub(crate) fn close(&mut self, arguments: Vec<TypeId>, returned: Option<Vec<Val>>, place: Place) -> Option<Region> {
        let frame = self.frames.pop()?;
        Some(Region { body: frame.body, captures: frame.captures, arguments, returned, place })
    }

    /// Makes the computation of a region that takes its values one by one.
    pub(crate) fn sealed(&mut self, region: Region) -> Option<usize> {
        let returned = region.returned?;
        let mut body = region.body;
        body.root = match returned[..] {
            [only] => only.inst,
            _ => body.tuple(&returned, &self.types, region.place),
        };
        Some(self.program.add(body))
    }
}
