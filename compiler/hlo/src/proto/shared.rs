//! Messages that many instructions have alike.

use prost::bytes::{Buf, BufMut};
use prost::encoding::{DecodeContext, WireType};
use prost::{DecodeError, Message};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A message that is kept once for all that have it. Whoever changes theirs has one of their own from then on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shared<M>(Arc<M>);

impl<M> From<M> for Shared<M> {
    fn from(message: M) -> Self {
        Self(Arc::new(message))
    }
}

impl<M> Deref for Shared<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.0
    }
}

impl<M: Clone> DerefMut for Shared<M> {
    fn deref_mut(&mut self) -> &mut M {
        Arc::make_mut(&mut self.0)
    }
}

impl<M: Message + Clone + Default> Message for Shared<M> {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        self.0.encode_raw(buf);
    }

    fn merge_field(
        &mut self,
        number: u32,
        wire: WireType,
        buf: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        self.deref_mut().merge_field(number, wire, buf, context)
    }

    fn encoded_len(&self) -> usize {
        self.0.encoded_len()
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}
