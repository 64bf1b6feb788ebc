//! Data of consecutive numbers.

use halite_data::{Data, Dataset, HeldOut, Opened, Position, Rows, Takes};
use halite_support::Result;
use std::collections::BTreeMap;
use std::ops::Range;

/// Rows of consecutive numbers out of a range, over and over; what is held out follows.
pub(super) struct Numbers {
    pub(super) train: Range<u32>,
    pub(super) held_out: Range<u32>,
}

impl Data for Numbers {
    fn open(&self, takes: &Takes, _seed: u64) -> Result<Opened> {
        let width = takes.width()?;
        let cycle = |numbers: &Range<u32>| Box::new(Cycle { numbers: numbers.clone(), width, given: 0 });
        let held_out = HeldOut { name: String::new(), data: cycle(&self.held_out) };
        Ok(Opened { train: cycle(&self.train), held_out: vec![held_out] })
    }
}

struct Cycle {
    numbers: Range<u32>,
    width: usize,
    /// Rows so far.
    given: u64,
}

impl Cycle {
    fn in_epoch(&self) -> u64 {
        self.numbers.len() as u64 / self.width as u64
    }
}

impl Dataset for Cycle {
    fn next(&mut self, rows: usize) -> Result<Rows> {
        let width = self.width;
        let mut all = Rows { rows, width, ..Rows::default() };
        for row in self.given..self.given + rows as u64 {
            let start = self.numbers.start as i32 + (row % self.in_epoch()) as i32 * width as i32;
            all.tokens.extend(start..start + width as i32);
            all.segments.extend(std::iter::repeat_n(1, width));
            all.positions.extend((0..).take(width));
        }
        self.given += rows as u64;
        Ok(all)
    }

    fn position(&self) -> Position {
        Position(self.given.into())
    }

    fn seek(&mut self, position: &Position) -> Result<()> {
        self.given = position.0.as_u64().expect("a number of rows");
        Ok(())
    }

    fn epochs(&self) -> u64 {
        self.given / self.in_epoch()
    }

    fn identity(&self) -> BTreeMap<String, String> {
        BTreeMap::from([("numbers".to_owned(), format!("{:?}", self.numbers))])
    }

    fn vocabulary(&self) -> u64 {
        256
    }
}
