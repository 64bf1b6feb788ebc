//! Operations in the generic form, and what both forms share.

use super::attribute::Attributes;
use super::body::{Place, Region, Takes, Val};
use super::op::{Op, Stated};
use super::ops::Entry;
use super::reader::{DEPTH, Reader};
use super::types::TypeId;
use halite_support::{Diagnostic, Result, check_cancelled, codes};

/// Operations between looks at whether the work is cancelled.
const LOOK: usize = 256;

/// The most faults that are told of one text.
const FAULTS: usize = 100;

/// The outcome of an operation.
enum Step {
    /// One whose values have names now.
    Values,
    /// The end of the block, with what it returns.
    Returned(Option<Vec<Val>>),
}

/// The names of results, with as many values as each has.
type Names<'t> = Vec<(&'t str, u32)>;

impl<'t> Reader<'t> {
    /// Reads operations up to the end of a block; what it returns, `None` where a fault was told.
    pub(crate) fn block(&mut self, depth: usize) -> Result<Option<Vec<Val>>> {
        if depth > DEPTH {
            return Err(self.too_deep(self.cursor.at));
        }
        let mut returned = None;
        let mut has_ended = false;
        loop {
            match self.cursor.peek() {
                b'}' => {
                    if !has_ended && self.faults.is_empty() {
                        return Err(self.cursor.unexpected("an operation that returns"));
                    }
                    return Ok(returned);
                }
                b'^' => return Err(self.several_blocks()),
                0 => return Err(self.cursor.unexpected("`}`")),
                _ if has_ended => return Err(self.cursor.unexpected("`}` behind what returns")),
                _ => {}
            }
            self.operations += 1;
            if self.operations.is_multiple_of(LOOK) {
                check_cancelled()?;
            }
            if let Step::Returned(values) = self.step(depth)? {
                (returned, has_ended) = (values, true);
            }
        }
    }

    /// Reads one operation. A fault in it is kept, and reading goes on behind it.
    fn step(&mut self, depth: usize) -> Result<Step> {
        let (start, open) = (self.cursor.at, self.frames.len());
        let mut names = Names::new();
        match self.result_names(&mut names).and_then(|()| self.operation(&names, depth)) {
            Ok(step) => Ok(step),
            Err(fault) if fault.code() == codes::CANCELLED || fault.code() == codes::LIMIT => Err(fault),
            Err(fault) => {
                self.frames.truncate(open);
                self.report(fault)?;
                self.recover(start);
                let frame = self.frame();
                for (name, count) in names {
                    frame.define(name, (0..count).map(|_| None));
                }
                Ok(Step::Values)
            }
        }
    }

    /// Keeps a fault. There are only so many.
    pub(crate) fn report(&mut self, fault: Diagnostic) -> Result<()> {
        self.faults.push(fault);
        if self.faults.len() < FAULTS {
            return Ok(());
        }
        Err(Diagnostic::error(codes::LIMIT, format!("reading ended after {FAULTS} faults")))
    }

    /// `%a, %b:2 = `.
    fn result_names(&mut self, names: &mut Names<'t>) -> Result<()> {
        if self.cursor.peek() != b'%' {
            return Ok(());
        }
        loop {
            let name = self.cursor.name(b'%', "a value")?;
            let count = match self.cursor.eat(b':') {
                true => u32::try_from(self.cursor.integer()?).ok().filter(|count| *count <= 1 << 16),
                false => Some(1),
            };
            names.push((name, count.ok_or_else(|| self.cursor.unexpected("fewer results"))?));
            if !self.cursor.eat(b',') {
                return self.cursor.expect(b'=');
            }
        }
    }

    /// An operation from its name on.
    fn operation(&mut self, names: &Names<'t>, depth: usize) -> Result<Step> {
        let start = self.cursor.at_next();
        let is_generic = self.cursor.peek() == b'"';
        let name = if is_generic { self.cursor.raw_string()? } else { self.cursor.word()? };
        if let "return" | "func.return" | "stablehlo.return" = name {
            return self.returned(is_generic).map(Step::Returned);
        }
        let entry = self.entry(name, (start, self.cursor.at))?;
        let mut op = Op {
            name,
            opcode: entry.opcode,
            place: Place::new(start, self.cursor.at),
            operands: Vec::new(),
            attributes: Attributes::default(),
            regions: Vec::new(),
            results: Vec::new(),
            is_whole: true,
        };
        match is_generic {
            true => self.generic(&mut op, entry.takes, depth)?,
            false => (entry.pretty)(self, &mut op, depth)?,
        }
        op.place = Place::new(start, self.cursor.at);
        op.place.location = self.trailing_location()?;
        // What an operation combines by may stand in its own words, and is where it is.
        let of_op = |place: &&mut Place| place.bytes().0 == op.place.bytes().0;
        let inner = op.regions.iter_mut().flat_map(|region| &mut region.body.places);
        inner.filter(of_op).for_each(|place| *place = op.place);
        self.lowered(op, entry, names)
    }

    /// Makes instructions of an operation, and names their values.
    fn lowered(&mut self, op: Op<'t>, entry: Entry, names: &Names<'t>) -> Result<Step> {
        let place = op.place.bytes();
        let expected: usize = names.iter().map(|(_, count)| *count as usize).sum();
        let values = match op.is_whole && op.regions.iter().all(|region| region.returned.is_some()) {
            true => Some((entry.lower)(self, op)?),
            false => None,
        };
        if let Some(found) = values.as_ref().map(Vec::len).filter(|&found| found != expected) {
            let message = format!("the operation has {found} results, and {expected} have names");
            return Err(Diagnostic::error(codes::ARITY, message).at(self.cursor.span(place), "this operation"));
        }
        let mut rest = values.map(Vec::into_iter);
        for &(name, count) in names {
            let own: Vec<Option<Val>> = (0..count).map(|_| rest.as_mut().and_then(Iterator::next)).collect();
            if !self.frame().define(name, own.into_iter()) {
                let message = format!("`%{name}` is defined twice");
                return Err(Diagnostic::error(codes::DUPLICATE, message).at(self.cursor.span(place), "the second"));
            }
        }
        Ok(Step::Values)
    }

    /// The values that a block returns; `None` where a fault of one was told.
    fn returned(&mut self, is_generic: bool) -> Result<Option<Vec<Val>>> {
        let mut values = Vec::new();
        let has_marks = is_generic && self.cursor.eat(b'(');
        let mut is_whole = true;
        if self.cursor.peek() == b'%' {
            is_whole = self.values(&mut values)?;
        }
        if has_marks {
            self.cursor.expect(b')')?;
        }
        self.dictionary(0)?;
        if self.cursor.eat(b':') {
            let mut stated = Stated::default();
            self.signature(&mut stated)?;
        }
        self.trailing_location()?;
        Ok(is_whole.then_some(values))
    }

    /// `(%a) <{..}> ({..}) {..} : (..) -> ..`.
    fn generic(&mut self, op: &mut Op<'t>, takes: Takes, depth: usize) -> Result<()> {
        self.cursor.expect(b'(')?;
        if !self.cursor.eat(b')') {
            op.is_whole = self.values(&mut op.operands)?;
            self.cursor.expect(b')')?;
        }
        if self.cursor.peek() == b'[' {
            return Err(self.several_blocks());
        }
        if self.cursor.eat_all("<{") {
            self.entries(&mut op.attributes, 0)?;
            self.cursor.expect(b'>')?;
        }
        if self.cursor.eat(b'(') {
            loop {
                let region = self.region(takes, &[], depth + 1)?;
                op.regions.extend(region);
                if !self.cursor.eat(b',') {
                    break;
                }
            }
            self.cursor.expect(b')')?;
        }
        self.attributes_of(op)?;
        self.cursor.expect(b':')?;
        self.types_of(op)
    }

    /// Attributes in marks, if they are next.
    pub(crate) fn attributes_of(&mut self, op: &mut Op<'t>) -> Result<()> {
        if self.cursor.eat(b'{') {
            self.entries(&mut op.attributes, 0)?;
        }
        Ok(())
    }

    /// A region: `{ ^bb0(%a: type): .. }`. Its arguments are named before it, or by its block.
    pub(crate) fn region(&mut self, takes: Takes, named: &[(&'t str, TypeId)], depth: usize) -> Result<Option<Region>> {
        let start = self.cursor.at_next();
        self.cursor.expect(b'{')?;
        let mut arguments = named.to_vec();
        if self.cursor.peek() == b'^' {
            self.cursor.name(b'^', "a block")?;
            if self.cursor.eat(b'(') {
                self.arguments(&mut arguments)?;
            }
            self.cursor.expect(b':')?;
        }
        let place = Place::new(start, start + 1);
        self.open(takes, &arguments, place);
        let returned = self.block(depth)?;
        self.cursor.expect(b'}')?;
        Ok(self.close(arguments.into_iter().map(|(_, ty)| ty).collect(), returned, place))
    }

    /// `%a: type, %b: type)`: arguments in marks that are open, and their end.
    pub(crate) fn arguments(&mut self, arguments: &mut Vec<(&'t str, TypeId)>) -> Result<()> {
        if self.cursor.eat(b')') {
            return Ok(());
        }
        loop {
            let name = self.cursor.name(b'%', "an argument")?;
            self.cursor.expect(b':')?;
            arguments.push((name, self.types.read(&mut self.cursor)?));
            self.trailing_location()?;
            if self.cursor.eat(b')') {
                return Ok(());
            }
            self.cursor.expect(b',')?;
        }
    }

    /// The types of operands and results, held to what is known of operands.
    pub(crate) fn types_of(&mut self, op: &mut Op<'t>) -> Result<()> {
        let start = self.cursor.at_next();
        let mut stated = Stated::default();
        self.signature(&mut stated)?;
        let place = (start, self.cursor.at);
        match stated.results {
            Some(results) => {
                if op.is_whole {
                    self.require_types(op, &stated.types, place)?;
                }
                op.results = results;
            }
            None => op.results = stated.types,
        }
        Ok(())
    }

    fn require_types(&self, op: &Op<'t>, stated: &[TypeId], place: (usize, usize)) -> Result<()> {
        let fault = |message: String| {
            Err(Diagnostic::error(codes::TYPE_MISMATCH, message).at(self.cursor.span(place), "these types"))
        };
        if op.operands.len() != stated.len() {
            return fault(format!(
                "`{}` has {} operands, and {} types are stated",
                op.name,
                op.operands.len(),
                stated.len()
            ));
        }
        match op.operands.iter().zip(stated).position(|(operand, &ty)| operand.ty != ty) {
            None => Ok(()),
            Some(at) => {
                let types = [op.operands[at].ty, stated[at]].map(|ty| self.types.array(ty));
                fault(format!("operand {at} of `{}` is `{}`, and `{}` is stated", op.name, types[0], types[1]))
            }
        }
    }

    /// `(a, b) -> c`, `a -> b`, or types alone.
    pub(crate) fn signature(&mut self, stated: &mut Stated) -> Result<()> {
        if self.cursor.peek() == b'(' {
            self.types_in_marks(&mut stated.types)?;
            self.cursor.expect_all("->")?;
        } else {
            loop {
                stated.types.push(self.types.read(&mut self.cursor)?);
                if !self.cursor.eat(b',') {
                    break;
                }
            }
            if !self.cursor.eat_all("->") {
                return Ok(());
            }
        }
        let mut results = Vec::new();
        match self.cursor.peek() {
            b'(' => self.types_in_marks(&mut results)?,
            _ => results.push(self.types.read(&mut self.cursor)?),
        }
        stated.results = Some(results);
        Ok(())
    }

    fn types_in_marks(&mut self, types: &mut Vec<TypeId>) -> Result<()> {
        self.cursor.expect(b'(')?;
        if self.cursor.eat(b')') {
            return Ok(());
        }
        loop {
            types.push(self.types.read(&mut self.cursor)?);
            if self.cursor.eat(b')') {
                return Ok(());
            }
            self.cursor.expect(b',')?;
        }
    }

    fn several_blocks(&self) -> Diagnostic {
        let message = "a region of several blocks is not taken";
        let place = (self.cursor.at, self.cursor.at + 1);
        Diagnostic::error(codes::FOREIGN, message)
            .at(self.cursor.span(place), "the second block")
            .help("export the program with `while` and `case` in place of branches")
    }

    /// Goes behind an operation that begins at a byte: to the end of its line, or of the lines that its brackets span.
    pub(crate) fn recover(&mut self, start: usize) {
        self.cursor.at = start;
        let mut depth = 0_usize;
        loop {
            match self.cursor.rest().first() {
                None if depth > 0 => {
                    // Something is never closed: the rest of the line is all that is given up.
                    self.cursor.at = start;
                    return self.cursor.skip_line();
                }
                None => return,
                Some(b'}') if depth == 0 => return,
                Some(b'(' | b'[' | b'{') => depth += 1,
                Some(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                Some(b'"') if self.cursor.raw_string().is_ok() => continue,
                Some(b'/') if self.cursor.rest().starts_with(b"//") => {
                    self.cursor.skip_line();
                    continue;
                }
                Some(b'\n') if depth == 0 && !matches!(self.cursor.peek_word(), "cond" | "do" | "reducer") => return,
                _ => {}
            }
            self.cursor.at += 1;
        }
    }
}
