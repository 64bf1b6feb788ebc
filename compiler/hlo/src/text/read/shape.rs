//! Types.

use super::reader::{DEPTH, Reader};
use crate::proto::{LayoutProto, ShapeProto};
use crate::shape::require_permutation;
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::element_type::{self, TUPLE};

impl Reader<'_> {
    /// `f32[2,3]{1,0}`, or a tuple of types in marks.
    pub(super) fn shape(&mut self) -> Result<ShapeProto> {
        let mut open: Vec<ShapeProto> = Vec::new();
        loop {
            let mut done = if self.cursor.eat(b'(') {
                let tuple = ShapeProto { element_type: TUPLE, ..ShapeProto::default() };
                if !self.cursor.eat(b')') {
                    if open.len() >= DEPTH {
                        let message = format!("types nest more than {DEPTH} deep");
                        let place = self.cursor.span((self.cursor.at - 1, self.cursor.at));
                        return Err(Diagnostic::error(codes::LIMIT, message).at(place, "here"));
                    }
                    open.push(tuple);
                    continue;
                }
                tuple
            } else {
                self.array()?
            };
            loop {
                let Some(mut around) = open.pop() else { return Ok(done) };
                around.tuple_shapes.push(done.into());
                if self.cursor.eat(b',') {
                    open.push(around);
                    break;
                }
                if !self.cursor.eat(b')') {
                    return Err(self.cursor.unexpected("`,` or `)`"));
                }
                done = around;
            }
        }
    }

    /// Whether a type is next, and no name.
    pub(super) fn is_shape(&mut self) -> bool {
        let next = self.cursor.peek();
        let length = self.cursor.peek_word().len();
        next == b'(' || length > 0 && self.cursor.rest().get(length) == Some(&b'[')
    }

    fn array(&mut self) -> Result<ShapeProto> {
        let start = self.cursor.at_next();
        let word = self.cursor.peek_word();
        if word.is_empty() || !self.is_shape() {
            return Err(self.cursor.unexpected("a type such as `f32[2,3]`"));
        }
        self.cursor.at += word.len();
        let Some(number) = element_type::numbered(word) else {
            let fault = Diagnostic::error(codes::DTYPE, format!("`{word}` is no type of elements"));
            let names: Vec<&str> = element_type::names().collect();
            let place = self.cursor.span((start, start + word.len()));
            return Err(fault.at(place, "this type").help(suggestion(word, &names)));
        };
        let mut shape = ShapeProto { element_type: number, ..ShapeProto::default() };
        self.cursor.expect(b'[')?;
        self.separated(b']', |reader| reader.size(&mut shape))?;
        let place = (start, self.cursor.at);
        let element = element_type::bytes(number).unwrap_or(0) as i64;
        let sizes = shape.dimensions.iter().filter(|size| **size > 0);
        if sizes.copied().try_fold(element, i64::checked_mul).is_none() {
            let message = format!("`{}` has more bytes than fit in 63 bits", self.cursor.slice(place.0, place.1));
            return Err(Diagnostic::error(codes::SHAPE, message).at(self.cursor.span(place), "this type"));
        }
        if element == 0 {
            return Ok(shape);
        }
        let layout = self.layout()?;
        shape.layout = Some(layout.unwrap_or_else(|| LayoutProto {
            minor_to_major: (0..shape.dimensions.len() as i64).rev().collect(),
            tail_padding_alignment_in_elements: 1,
        }));
        require_permutation(&shape)
            .map_err(|fault| fault.at(self.cursor.span((start, self.cursor.at)), "this type"))?;
        Ok(shape)
    }

    /// `4`, or `<=4` of a size that may be less.
    fn size(&mut self, shape: &mut ShapeProto) -> Result<()> {
        let start = self.cursor.at_next();
        if self.cursor.eat(b'?') {
            let fault = Diagnostic::error(codes::FOREIGN, "a size is not known before the program runs");
            let place = self.cursor.span((start, self.cursor.at));
            return Err(fault.at(place, "this size").help("export the program with fixed sizes"));
        }
        shape.is_dynamic_dimension.push(self.cursor.eat_all("<="));
        let size = self.cursor.integer()?;
        if size < 0 {
            return Err(self.cursor.fault((start, self.cursor.at), "a size is negative", "this size"));
        }
        shape.dimensions.push(size);
        Ok(())
    }

    /// `{1,0:T(8,128)}` close behind a type, if it is there; what is said of tiles and memory spaces is not kept.
    fn layout(&mut self) -> Result<Option<LayoutProto>> {
        let is_next = |next: &[u8]| matches!(next, [b'{', b'0'..=b'9' | b':' | b'}', ..]);
        if !is_next(self.cursor.rest()) {
            return Ok(None);
        }
        let start = self.cursor.at;
        self.cursor.at += 1;
        let mut layout = LayoutProto { minor_to_major: Vec::new(), tail_padding_alignment_in_elements: 1 };
        while self.cursor.peek().is_ascii_digit() {
            layout.minor_to_major.push(self.cursor.integer()?);
            self.cursor.eat(b',');
        }
        if self.cursor.eat(b':') {
            self.tiles(&mut layout, start)?;
        }
        self.cursor.expect(b'}')?;
        Ok(Some(layout))
    }

    /// `T(8,128)(2,1)L(2)S(1)`, of which the alignment of the end is kept.
    fn tiles(&mut self, layout: &mut LayoutProto, start: usize) -> Result<()> {
        while let Some(&byte) = self.cursor.rest().first() {
            match byte {
                b'}' => return Ok(()),
                b'L' if self.cursor.rest().starts_with(b"L(") => {
                    self.cursor.at += 2;
                    layout.tail_padding_alignment_in_elements = self.cursor.integer()?.max(1);
                    self.cursor.expect(b')')?;
                }
                b'(' => drop(self.cursor.group()?),
                _ => self.cursor.at += 1,
            }
        }
        Err(self.cursor.fault((start, start + 1), "what opens here is not closed", "this layout"))
    }
}
