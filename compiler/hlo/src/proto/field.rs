//! The byte form of the fields of an instruction, by their types.

use super::{Name, Numbers, ReplicaGroup, SharedList, SliceDimensions, SourceTarget};
use crate::opcode::Opcode;
use prost::bytes::{Buf, BufMut};
use prost::encoding::{self, DecodeContext, WireType, encode_key, encode_varint, encoded_len_varint, key_len};
use prost::{DecodeError, Message};
use std::borrow::Cow;

/// A field. One that is as it is by default has no bytes.
pub(super) trait Field {
    /// Writes the number of the field and what it is.
    fn write(&self, number: u32, buf: &mut impl BufMut);

    /// Reads what it is.
    fn read(&mut self, wire: WireType, buf: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError>;

    /// The number of bytes that [`write`](Self::write) writes.
    fn length(&self, number: u32) -> usize;
}

/// Fields of plain numbers.
macro_rules! scalar {
    ($($type:ty => $codec:ident),*) => {
        $(impl Field for $type {
            fn write(&self, number: u32, buf: &mut impl BufMut) {
                if *self != Self::default() {
                    encoding::$codec::encode(number, self, buf);
                }
            }

            fn read(&mut self, wire: WireType, buf: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
                encoding::$codec::merge(wire, self, buf, context)
            }

            fn length(&self, number: u32) -> usize {
                if *self == Self::default() { 0 } else { encoding::$codec::encoded_len(number, self) }
            }
        })*
    };
}

scalar!(i64 => int64, i32 => int32, bool => bool, String => string);

/// Fields of bytes, or of text that is no `String`.
fn encode_bytes(bytes: &[u8], number: u32, buf: &mut impl BufMut) {
    if !bytes.is_empty() {
        encode_key(number, WireType::LengthDelimited, buf);
        encode_varint(bytes.len() as u64, buf);
        buf.put_slice(bytes);
    }
}

fn len_of_bytes(bytes: &[u8], number: u32) -> usize {
    if bytes.is_empty() { 0 } else { key_len(number) + encoded_len_varint(bytes.len() as u64) + bytes.len() }
}

fn text(wire: WireType, buf: &mut impl Buf, context: DecodeContext) -> Result<String, DecodeError> {
    let mut text = String::new();
    encoding::string::merge(wire, &mut text, buf, context)?;
    Ok(text)
}

impl Field for Name {
    fn write(&self, number: u32, buf: &mut impl BufMut) {
        encode_bytes(self.as_bytes(), number, buf);
    }

    fn read(&mut self, wire: WireType, buf: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        *self = text(wire, buf, context)?.into();
        Ok(())
    }

    fn length(&self, number: u32) -> usize {
        len_of_bytes(self.as_bytes(), number)
    }
}

/// Names of opcodes: those of our set take no memory of their own.
impl Field for Cow<'static, str> {
    fn write(&self, number: u32, buf: &mut impl BufMut) {
        encode_bytes(self.as_bytes(), number, buf);
    }

    fn read(&mut self, wire: WireType, buf: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        let name = text(wire, buf, context)?;
        *self = Opcode::parse(&name).map_or_else(|| Cow::Owned(name), |opcode| Cow::Borrowed(opcode.name()));
        Ok(())
    }

    fn length(&self, number: u32) -> usize {
        len_of_bytes(self.as_bytes(), number)
    }
}

impl Field for Vec<u8> {
    fn write(&self, number: u32, buf: &mut impl BufMut) {
        encode_bytes(self, number, buf);
    }

    fn read(&mut self, wire: WireType, buf: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        encoding::bytes::merge(wire, self, buf, context)
    }

    fn length(&self, number: u32) -> usize {
        len_of_bytes(self, number)
    }
}

impl Field for Vec<i64> {
    fn write(&self, number: u32, buf: &mut impl BufMut) {
        encoding::int64::encode_packed(number, self, buf);
    }

    fn read(&mut self, wire: WireType, buf: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        encoding::int64::merge_repeated(wire, self, buf, context)
    }

    fn length(&self, number: u32) -> usize {
        encoding::int64::encoded_len_packed(number, self)
    }
}

impl Field for Numbers {
    fn write(&self, number: u32, buf: &mut impl BufMut) {
        encoding::int64::encode_packed(number, self, buf);
    }

    fn read(&mut self, wire: WireType, buf: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        let mut more = Vec::new();
        encoding::int64::merge_repeated(wire, &mut more, buf, context)?;
        self.extend_from_slice(&more);
        Ok(())
    }

    fn length(&self, number: u32) -> usize {
        encoding::int64::encoded_len_packed(number, self)
    }
}

/// A message that may lack: boxed, or shared.
impl<M: Message + Default> Field for Option<M> {
    fn write(&self, number: u32, buf: &mut impl BufMut) {
        if let Some(message) = self {
            encoding::message::encode(number, message, buf);
        }
    }

    fn read(&mut self, wire: WireType, buf: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        encoding::message::merge(wire, self.get_or_insert_default(), buf, context)
    }

    fn length(&self, number: u32) -> usize {
        self.as_ref().map_or(0, |message| encoding::message::encoded_len(number, message))
    }
}

/// Lists of messages.
macro_rules! list {
    ($($type:ty),*) => {
        $(impl Field for Vec<$type> {
            fn write(&self, number: u32, buf: &mut impl BufMut) {
                self.iter().for_each(|message| encoding::message::encode(number, message, buf));
            }

            fn read(&mut self, wire: WireType, buf: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
                encoding::message::merge_repeated(wire, self, buf, context)
            }

            fn length(&self, number: u32) -> usize {
                encoding::message::encoded_len_repeated(number, self)
            }
        })*
    };
}

list!(SliceDimensions, SourceTarget);

/// Groups of thousands of ranks are the same on most collectives of a program.
impl Field for SharedList<ReplicaGroup> {
    fn write(&self, number: u32, buf: &mut impl BufMut) {
        self.iter().for_each(|message| encoding::message::encode(number, message, buf));
    }

    fn read(&mut self, wire: WireType, buf: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        let messages: &mut Vec<ReplicaGroup> = self;
        encoding::message::merge_repeated(wire, messages, buf, context)
    }

    fn length(&self, number: u32) -> usize {
        self.len() * key_len(number) + self.bytes()
    }
}
