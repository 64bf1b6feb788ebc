//! Operations in the short forms that StableHLO, CHLO and the dialect of functions print.

use super::attribute::{Attribute, Value};
use super::body::{Place, Takes};
use super::op::Op;
use super::reader::Reader;
use super::string::symbol;
use super::types::TypeId;
use halite_support::{Diagnostic, Result, codes};

/// The reader of a short form, from behind the name up to the location.
pub(crate) type Pretty = for<'t> fn(&mut Reader<'t>, &mut Op<'t>, usize) -> Result<()>;

/// `%a, %b, key = value, WORD {..} : types`, or the same in marks.
pub(crate) fn plain<'t>(reader: &mut Reader<'t>, op: &mut Op<'t>, _: usize) -> Result<()> {
    let has_marks = reader.cursor.eat(b'(');
    reader.items(op)?;
    if has_marks {
        reader.cursor.expect(b')')?;
    }
    reader.attributes_of(op)?;
    reader.cursor.expect(b':')?;
    reader.types_of(op)
}

/// As [`plain`], where types without an arrow are those of the condition and of the result.
pub(crate) fn select<'t>(reader: &mut Reader<'t>, op: &mut Op<'t>, depth: usize) -> Result<()> {
    plain(reader, op, depth)?;
    op.results = op.results.split_off(op.results.len().saturating_sub(1));
    Ok(())
}

/// `dense<..> : tensor<..>`.
pub(crate) fn constant<'t>(reader: &mut Reader<'t>, op: &mut Op<'t>, _: usize) -> Result<()> {
    reader.attributes_of(op)?;
    let value = reader.attribute(0)?;
    match value.value {
        Value::Dense(_, ty) | Value::Resource(_, ty) => op.results.push(ty),
        _ => return Err(reader.cursor.fault(value.place, "expected `dense<..>` and its type", "here")),
    }
    op.attributes.push("value", value);
    Ok(())
}

/// `@name(%a) {..} : (..) -> ..`.
pub(crate) fn call<'t>(reader: &mut Reader<'t>, op: &mut Op<'t>, _: usize) -> Result<()> {
    let start = reader.cursor.at_next();
    let name = symbol(&mut reader.cursor)?;
    op.attributes.push("callee", Attribute { value: Value::Symbol(name), place: (start, reader.cursor.at) });
    reader.cursor.expect(b'(')?;
    if !reader.cursor.eat(b')') {
        op.is_whole = reader.values(&mut op.operands)?;
        reader.cursor.expect(b')')?;
    }
    reader.attributes_of(op)?;
    reader.cursor.expect(b':')?;
    reader.types_of(op)
}

/// `"name" %a, %b {..} : (..) -> ..`.
pub(crate) fn composite<'t>(reader: &mut Reader<'t>, op: &mut Op<'t>, depth: usize) -> Result<()> {
    let start = reader.cursor.at_next();
    let name = reader.cursor.raw_string()?;
    op.attributes.push("name", Attribute { value: Value::Text(name), place: (start, reader.cursor.at) });
    plain(reader, op, depth)
}

/// `(%name = %a, ..) : types cond {..} do {..}`.
pub(crate) fn loops<'t>(reader: &mut Reader<'t>, op: &mut Op<'t>, depth: usize) -> Result<()> {
    let mut names = Vec::new();
    reader.cursor.expect(b'(')?;
    if !reader.cursor.eat(b')') {
        loop {
            names.push(reader.cursor.name(b'%', "a value that the loop carries")?);
            reader.cursor.expect(b'=')?;
            match reader.value()? {
                Some(value) => op.operands.push(value),
                None => op.is_whole = false,
            }
            if reader.cursor.eat(b')') {
                break;
            }
            reader.cursor.expect(b',')?;
        }
        reader.cursor.expect(b':')?;
        reader.types_of(op)?;
    }
    if op.results.len() != names.len() {
        let message = format!("the loop carries {} values, and {} types are stated", names.len(), op.results.len());
        let place = reader.cursor.span((op.place.bytes().0, reader.cursor.at));
        return Err(Diagnostic::error(codes::ARITY, message).at(place, "here"));
    }
    if reader.cursor.eat_word("attributes") {
        reader.attributes_of(op)?;
    }
    let arguments: Vec<(&str, TypeId)> = names.into_iter().zip(op.results.iter().copied()).collect();
    for word in ["cond", "do"] {
        if !reader.cursor.eat_word(word) {
            return Err(reader.cursor.unexpected(&format!("`{word}`")));
        }
        op.regions.extend(reader.region(Takes::Tuple, &arguments, depth + 1)?);
    }
    Ok(())
}

/// `(%a init: %b), (%c init: %d) applies name across dimensions = [1] : types`, or with `reducer(%a: type, %b: type) .. {..}` behind.
pub(crate) fn reduce<'t>(reader: &mut Reader<'t>, op: &mut Op<'t>, depth: usize) -> Result<()> {
    let mut starts = Vec::new();
    loop {
        reader.cursor.expect(b'(')?;
        for into in [&mut op.operands, &mut starts] {
            match reader.value()? {
                Some(value) => into.push(value),
                None => op.is_whole = false,
            }
            reader.cursor.eat_all("init:");
        }
        reader.cursor.expect(b')')?;
        if !reader.cursor.eat(b',') {
            break;
        }
    }
    let count = starts.len();
    op.operands.extend(starts);
    let applied = match reader.cursor.eat_word("applies") {
        true => Some((reader.cursor.at_next(), reader.cursor.word()?)),
        false => None,
    };
    for word in ["across", "dimensions"] {
        if !reader.cursor.eat_word(word) {
            return Err(reader.cursor.unexpected(&format!("`{word}`")));
        }
    }
    reader.cursor.expect(b'=')?;
    let dimensions = reader.attribute(0)?;
    op.attributes.push("dimensions", dimensions);
    reader.attributes_of(op)?;
    reader.cursor.expect(b':')?;
    reader.types_of(op)?;
    if let Some((start, name)) = applied {
        return reader.applied(op, name, (start, start + name.len()));
    }
    reader.reducer(op, count, depth)
}

impl<'t> Reader<'t> {
    /// Reads all between the name of an operation and its types.
    fn items(&mut self, op: &mut Op<'t>) -> Result<()> {
        loop {
            match self.cursor.peek() {
                b'%' => {
                    match self.value()? {
                        Some(value) => op.operands.push(value),
                        None => op.is_whole = false,
                    }
                    if op.name == "stablehlo.slice" && self.cursor.peek() == b'[' {
                        self.ranges(op)?;
                    }
                }
                b':' | b'{' | b')' => return Ok(()),
                _ => self.item(op)?,
            }
            if !self.cursor.eat(b',') {
                return Ok(());
            }
        }
    }

    /// `key = value`, or a word that is the direction or type of a comparison.
    fn item(&mut self, op: &mut Op<'t>) -> Result<()> {
        let start = self.cursor.at_next();
        let word = self.cursor.word()?;
        if !self.cursor.eat(b'=') {
            let place = (start, self.cursor.at);
            let key = match op.attributes.is_empty() {
                true => "comparison_direction",
                false => "compare_type",
            };
            op.attributes.push(key, Attribute { value: Value::Other(word), place });
            return Ok(());
        }
        let mut attribute = match self.cursor.peek() {
            // The types of the operation follow, not that of the number.
            b'-' | b'0'..=b'9' => self.bare_number()?,
            _ => self.attribute(0)?,
        };
        if self.cursor.eat_word("x") {
            let second = self.attribute(0)?;
            let numbers = [self.ints(&attribute)?, self.ints(&second)?];
            let [first, second] = numbers;
            attribute.value = Value::Pairs(first, second);
        }
        op.attributes.push(word, attribute);
        Ok(())
    }

    fn bare_number(&mut self) -> Result<Attribute<'t>> {
        let start = self.cursor.at_next();
        let number = self.cursor.integer()?;
        Ok(Attribute { value: Value::Int(number), place: (start, self.cursor.at) })
    }

    /// `[0:4, 0:8:2]` of slices.
    fn ranges(&mut self, op: &mut Op<'t>) -> Result<()> {
        let start = self.cursor.at_next();
        let [mut starts, mut limits, mut strides] = [const { Vec::new() }; 3];
        self.cursor.expect(b'[')?;
        while !self.cursor.eat(b']') {
            starts.push(self.cursor.integer()?);
            self.cursor.expect(b':')?;
            limits.push(self.cursor.integer()?);
            strides.push(if self.cursor.eat(b':') { self.cursor.integer()? } else { 1 });
            if !self.cursor.eat(b',') && self.cursor.peek() != b']' {
                return Err(self.cursor.unexpected("`,` or `]`"));
            }
        }
        let place = (start, self.cursor.at);
        for (key, numbers) in [("start_indices", starts), ("limit_indices", limits), ("strides", strides)] {
            op.attributes.push(key, Attribute { value: Value::Ints(numbers), place });
        }
        Ok(())
    }

    /// Makes the region of a reduction that names the operation by which it combines.
    fn applied(&mut self, op: &mut Op<'t>, name: &'t str, place: (usize, usize)) -> Result<()> {
        let entry = self.entry(name, place)?;
        let Some(&ty) = op.results.first() else { return Ok(()) };
        let dtype = self.types.array(ty).dtype;
        let scalar = self.types.of(halite_hlo::ArrayType::scalar(dtype));
        self.open(Takes::Each, &[("lhs", scalar), ("rhs", scalar)], Place::default());
        let shape = self.types.shape(scalar);
        let inst = self.frame().body.push(entry.opcode, &[0, 1], shape, op.place);
        let returned = vec![super::body::Val { inst, ty: scalar }];
        op.regions.extend(self.close(vec![scalar; 2], Some(returned), op.place));
        Ok(())
    }

    /// `reducer(%a: type, %b: type) (%c: type, %d: type) {..}`: the first of each pair is what was combined so far.
    fn reducer(&mut self, op: &mut Op<'t>, count: usize, depth: usize) -> Result<()> {
        if !self.cursor.eat_word("reducer") {
            return Err(self.cursor.unexpected("`applies` or `reducer`"));
        }
        let (mut firsts, mut seconds) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let mut pair = Vec::new();
            self.cursor.expect(b'(')?;
            self.arguments(&mut pair)?;
            let [first, second] = pair[..] else { return Err(self.cursor.unexpected("two arguments")) };
            firsts.push(first);
            seconds.push(second);
        }
        firsts.extend(seconds);
        op.regions.extend(self.region(Takes::Each, &firsts, depth + 1)?);
        Ok(())
    }
}
