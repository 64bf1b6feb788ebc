//! The computations that an instruction calls.

use super::instruction::Line;
use super::reader::Reader;
use halite_support::{Diagnostic, Result, codes};

impl Reader<'_> {
    /// A computation, which is called as the one with this number among those of the instruction.
    pub(super) fn callee(&mut self, line: &mut Line, number: usize) -> Result<()> {
        let start = self.cursor.at_next();
        let name = self.name("a computation")?;
        match self.computations.get(name) {
            Some(&Some(at)) => {
                line.callees.push((number, at as i64));
                Ok(())
            }
            Some(None) => Ok(()),
            None => {
                let message = format!("no computation before this one has the name `{name}`");
                let fault = Diagnostic::error(codes::UNDEFINED_VALUE, message);
                Err(fault.at(self.cursor.span((start, self.cursor.at)), "this name"))
            }
        }
    }

    /// `{%a, %b}`, or one without braces.
    pub(super) fn callees(&mut self, line: &mut Line) -> Result<()> {
        if !self.cursor.eat(b'{') {
            return self.callee(line, 0);
        }
        let mut number = 0;
        self.separated(b'}', |reader| {
            reader.callee(line, number)?;
            number += 1;
            Ok(())
        })
    }
}
