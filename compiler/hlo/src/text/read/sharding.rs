//! Shardings.

use super::reader::Reader;
use crate::proto::OpSharding;
use crate::text::sharding::{KINDS, MAXIMAL, OTHER, TUPLE};
use halite_support::{Diagnostic, Result, codes};

impl Reader<'_> {
    /// `{devices=[2,4]<=[8]}`, or a tuple of such in braces.
    pub(super) fn sharding(&mut self) -> Result<OpSharding> {
        self.cursor.expect(b'{')?;
        if self.cursor.peek() != b'{' {
            return self.of_array();
        }
        let mut tuple = OpSharding { r#type: TUPLE, ..OpSharding::default() };
        self.separated(b'}', |reader| {
            reader.cursor.expect(b'{')?;
            tuple.tuple_shardings.push(reader.of_array()?);
            Ok(())
        })?;
        Ok(tuple)
    }

    /// The sharding of an array, behind its brace.
    fn of_array(&mut self) -> Result<OpSharding> {
        let start = self.cursor.at_next();
        let mut sharding = OpSharding { r#type: OTHER, ..OpSharding::default() };
        while !self.cursor.eat(b'}') {
            let at = self.cursor.at_next();
            let word = self.cursor.word()?;
            match word {
                "devices" => self.devices(&mut sharding)?,
                "device" => {
                    self.cursor.expect(b'=')?;
                    sharding.tile_assignment_dimensions = vec![1];
                    sharding.tile_assignment_devices = vec![self.cursor.integer()?];
                }
                "last_tile_dim_replicate" => sharding.replicate_on_last_tile_dim = true,
                "last_tile_dims" => self.last_tile_dims(&mut sharding)?,
                // Wishes to the partitioner, and where a sharding comes from.
                "shard_as" | "shard_like" => drop(self.cursor.integer()?),
                "metadata" => {
                    self.cursor.expect(b'=')?;
                    self.string_or_object()?;
                }
                _ => match kind(word) {
                    Some(kind) => sharding.r#type = kind,
                    None => {
                        let fault = Diagnostic::error(
                            codes::FOREIGN,
                            format!("`{word}` is nothing that a sharding is read of"),
                        );
                        return Err(fault.at(self.cursor.span((at, self.cursor.at)), "here"));
                    }
                },
            }
            self.cursor.eat(b',');
        }
        let (sizes, devices) = (&sharding.tile_assignment_dimensions[..], sharding.tile_assignment_devices.len());
        let has_last = sharding.replicate_on_last_tile_dim || !sharding.last_tile_dims.is_empty();
        let message = match sharding.r#type {
            OTHER if sizes.is_empty() => "the sharding has no devices",
            MAXIMAL if (sizes, devices) != (&[1], 1) => "a sharding that is maximal has one device",
            kind if kind != OTHER && has_last => "this kind of sharding has no tiles",
            kind if ![OTHER, MAXIMAL].contains(&kind) && !sizes.is_empty() => "this kind of sharding has no devices",
            _ => return Ok(sharding),
        };
        Err(self.misfit((start, self.cursor.at - 1), message))
    }

    /// `=[2,4]<=[8]` or `=[2,2]0,1,2,3`.
    fn devices(&mut self, sharding: &mut OpSharding) -> Result<()> {
        self.cursor.expect(b'=')?;
        self.cursor.expect(b'[')?;
        sharding.tile_assignment_dimensions = self.integers_up_to(b']')?;
        if self.cursor.eat_all("<=") {
            let grid = self.grid()?;
            (sharding.iota_reshape_dims, sharding.iota_transpose_perm) = (grid.reshape, grid.transpose);
            return Ok(());
        }
        loop {
            sharding.tile_assignment_devices.push(self.cursor.integer()?);
            if !self.cursor.eat(b',') {
                return Ok(());
            }
        }
    }

    /// `={manual, replicated}`.
    fn last_tile_dims(&mut self, sharding: &mut OpSharding) -> Result<()> {
        self.cursor.expect(b'=')?;
        self.cursor.expect(b'{')?;
        self.separated(b'}', |reader| {
            let kind = kind(reader.cursor.peek_word()).ok_or_else(|| reader.cursor.unexpected("a kind of sharding"))?;
            reader.cursor.word()?;
            sharding.last_tile_dims.push(kind);
            Ok(())
        })
    }
}

fn kind(word: &str) -> Option<i32> {
    KINDS.iter().find(|(_, name)| *name == word).map(|&(kind, _)| kind)
}
