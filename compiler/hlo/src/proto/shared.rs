//! Messages that many instructions have alike.

use prost::bytes::{Buf, BufMut};
use prost::encoding::{DecodeContext, WireType, encoded_len_varint};
use prost::{DecodeError, Message};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

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

/// A list of messages that is kept once for all that have it. Whoever changes theirs has one of their own from then on.
#[derive(Clone, Debug)]
pub struct SharedList<M>(Arc<List<M>>);

/// Messages, and the bytes of them all with their lengths, once these are counted.
#[derive(Clone, Debug)]
struct List<M> {
    messages: Vec<M>,
    bytes: OnceLock<usize>,
}

impl<M: Message> SharedList<M> {
    /// The bytes of all messages, each behind its length.
    pub(super) fn bytes(&self) -> usize {
        let of = |message: &M| encoded_len_varint(message.encoded_len() as u64) + message.encoded_len();
        *self.0.bytes.get_or_init(|| self.iter().map(of).sum())
    }
}

impl<M> Default for SharedList<M> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<M> From<Vec<M>> for SharedList<M> {
    fn from(messages: Vec<M>) -> Self {
        Self(Arc::new(List { messages, bytes: OnceLock::new() }))
    }
}

impl<M> FromIterator<M> for SharedList<M> {
    fn from_iter<I: IntoIterator<Item = M>>(messages: I) -> Self {
        Vec::from_iter(messages).into()
    }
}

impl<M: PartialEq> PartialEq for SharedList<M> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.messages == other.0.messages
    }
}

impl<M> Deref for SharedList<M> {
    type Target = Vec<M>;

    fn deref(&self) -> &Vec<M> {
        &self.0.messages
    }
}

impl<M: Clone> DerefMut for SharedList<M> {
    fn deref_mut(&mut self) -> &mut Vec<M> {
        let list = Arc::make_mut(&mut self.0);
        list.bytes = OnceLock::new();
        &mut list.messages
    }
}
