//! Collectives that a token puts in one order, each in a stream.

use super::{ComputationBuilder, Id};
use crate::frontend::{COLLECTIVE_TYPE, HAS_TOKEN, STREAM};
use crate::opcode::Opcode;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

/// The streams in which collectives run beside each other. Those of the ranks along one axis of the mesh run in stream 0, all others in
/// stream 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Streams {
    /// The number of ranks along the axis of stream 0.
    pub ranks: u32,
    /// The distance between neighbours along it.
    pub stride: u32,
}

impl Streams {
    /// The kind and the stream of an opcode over these groups.
    pub(super) fn of(self, opcode: Opcode, groups: &[Vec<usize>]) -> (String, &'static str) {
        let (ranks, stride) = (self.ranks.max(1) as usize, self.stride.max(1) as usize);
        let first = |rank: usize| rank - rank / stride % ranks * stride;
        let is_inside = groups.iter().all(|group| group.windows(2).all(|pair| first(pair[0]) == first(pair[1])));
        let (owner, stream) = if is_inside { ("tp", "0") } else { ("fsdp", "1") };
        (format!("{owner}_{}", opcode.name().replace('-', "_")), stream)
    }
}

impl ComputationBuilder<'_> {
    /// The token that a collective on elements of this type takes: that of the one before it, or zero where there is none.
    pub(super) fn take_token(&mut self, dtype: DType) -> Result<Id> {
        let Some((tuple, element)) = self.token else { return self.constant(&HostTensor::zeros(dtype, [])) };
        let token = self.get_tuple_element(tuple, element)?;
        if self.array(token)?.dtype == dtype { Ok(token) } else { self.convert(token, dtype) }
    }

    /// States the kind and the stream of a collective whose last operand is a token, and hands that on as its result `element`.
    pub(super) fn hand_on(&mut self, tuple: Id, element: usize, (kind, stream): (String, &str)) -> Result<()> {
        self.set_frontend_attribute(tuple, COLLECTIVE_TYPE, kind)?;
        self.set_frontend_attribute(tuple, HAS_TOKEN, "1")?;
        self.set_frontend_attribute(tuple, STREAM, stream)?;
        self.token = Some((tuple, element));
        Ok(())
    }
}
