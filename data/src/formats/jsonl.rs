//! JSON lines: an object on each line, or one array of objects, whose text stands under a key.

mod array;

use super::{Format, Holds, Request};
use crate::documents::Documents;
use crate::files::Origin;
use crate::part::Part;
use crate::shard::{
    BYTE_ORDER_MARK, Block, Blocks, Coding, Content, Fault, Found, Input, LONGEST, Place, Reason, Shard, locate,
};
use array::{ArrayShard, is_array};
use halite_support::{Diagnostic, Result, codes, units};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::Path;

/// The number of bytes that are read at once of lines that are not longer.
const READ: usize = 1 << 18;

pub(crate) const FORMAT: Format = Format {
    word: "jsonl",
    about: "An object of JSON on each line, or one array of objects.",
    extensions: &["jsonl", "json"],
    holds: Holds::Text { open, may_be_compressed: true },
};

fn open(request: &Request<'_>) -> Result<Box<dyn Shard>> {
    let (origin, coding, column) = (request.origin.clone(), request.coding, request.column.to_owned());
    if !is_array(&origin, coding)? {
        return Ok(Box::new(JsonlShard { origin, coding, column, range: request.range(Documents::Line)? }));
    }
    if request.part != Part::ALL {
        let message = format!("`{}` is one array of JSON, of which no part can be taken", origin.path.display());
        return Err(Diagnostic::error(codes::NOT_SUPPORTED, message)
            .help("write each object on a line of its own, or use it as a whole"));
    }
    Ok(Box::new(ArrayShard { origin, coding, column }))
}

/// A file of JSON lines, or the part of one that is used.
struct JsonlShard {
    origin: Origin,
    coding: Coding,
    /// The key that the text stands under.
    column: String,
    /// The bytes that are used.
    range: Range<u64>,
}

impl Shard for JsonlShard {
    fn path(&self) -> &Path {
        &self.origin.path
    }

    fn locate(&self, at: u64) -> String {
        locate(&self.origin, self.coding, at)
    }

    fn open(&self) -> Result<Box<dyn Blocks>> {
        let input = Input::open(&self.origin, self.coding, self.range.clone())?;
        Ok(Box::new(JsonlBlocks { input, column: self.column.clone() }))
    }
}

struct JsonlBlocks {
    input: Input,
    column: String,
}

/// The next line.
enum Line {
    /// Bytes of its text, and with its end.
    Whole(usize, usize),
    TooLong,
    Broken(Fault),
}

impl JsonlBlocks {
    /// Reads on until a whole line is there.
    fn line(&mut self) -> Result<Line> {
        let mut wanted = READ;
        loop {
            if let Some(fault) = self.input.fill(wanted)? {
                return Ok(Line::Broken(fault));
            }
            let text = self.input.unused();
            match text.iter().position(|byte| *byte == b'\n') {
                Some(end) => return Ok(Line::Whole(end, end + 1)),
                None if text.len() < wanted => return Ok(Line::Whole(text.len(), text.len())),
                None if wanted >= LONGEST => return Ok(Line::TooLong),
                None => wanted *= 2,
            }
        }
    }

    /// Goes behind the end of the line.
    fn skip_line(&mut self) -> Result<Option<Fault>> {
        loop {
            let fault = self.input.fill(READ)?;
            let text = self.input.unused();
            let end = text.iter().position(|byte| *byte == b'\n');
            let (is_last, bytes) = (text.is_empty(), end.map_or(text.len(), |end| end + 1));
            self.input.consume(bytes);
            if fault.is_some() || end.is_some() || is_last {
                return Ok(fault);
            }
        }
    }
}

impl Blocks for JsonlBlocks {
    fn next(&mut self) -> Result<Found> {
        let place = self.place();
        let (text, whole) = match self.line()? {
            Line::Whole(text, whole) => (text, whole),
            Line::Broken(fault) => return Ok(Found::Fault(fault)),
            Line::TooLong => {
                let fault = self.skip_line()?;
                let detail = format!("the line is longer than {}", units::bytes(LONGEST as u64));
                return Ok(Found::Fault(fault.unwrap_or(Fault { reason: Reason::TooLong, at: place.at, detail })));
            }
        };
        if whole == 0 {
            return Ok(Found::End);
        }
        let line = &self.input.unused()[..text];
        let line = if place.at == 0 { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line };
        let found = document(place, line, &self.column, "line");
        self.input.consume(whole);
        Ok(found)
    }

    fn place(&self) -> Place {
        Place { at: self.input.at(), within: false }
    }

    fn seek(&mut self, place: Place) -> Result<()> {
        self.input.seek(place.at)
    }
}

/// The document of an object, which is a line or an element of an array.
fn document(place: Place, object: &[u8], column: &str, what: &str) -> Found {
    let fault = |reason, detail| Found::Fault(Fault { reason, at: place.at, detail });
    let object = match std::str::from_utf8(object) {
        Ok(object) => object,
        Err(error) => return Found::Fault(Fault::not_utf8(place.at, &error)),
    };
    if object.trim().is_empty() {
        return Found::Fault(Fault::empty(place.at));
    }
    let mut deserializer = serde_json::Deserializer::from_str(object);
    let value = Column(column).deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    match value {
        Err(error) => {
            let text = error.to_string();
            let text = text.split(" at line ").next().unwrap_or_default();
            let line = if error.line() > 1 { format!("its line {}, ", error.line()) } else { String::new() };
            fault(Reason::NotJson, format!("the {what} is no JSON object: {text} at {line}column {}", error.column()))
        }
        Ok(None) => match chat_in(object) {
            Some(key) => {
                fault(Reason::Chat, format!("the object has no `{column}`, and `{key}` is a list of messages"))
            }
            None => fault(Reason::NoColumn, format!("the object has no `{column}`")),
        },
        Ok(Some(Value::String(text))) if text.trim().is_empty() => Found::Fault(Fault::empty(place.at)),
        Ok(Some(Value::String(text))) => Found::Block(Block { place, last: true, content: Content::Text(text) }),
        Ok(Some(other)) if is_chat(&other) => {
            fault(Reason::Chat, format!("`{column}` is a list of messages, expected a string"))
        }
        Ok(Some(other)) => fault(Reason::NoColumn, format!("`{column}` is {}, expected a string", kind(&other))),
    }
}

/// The key of an object that holds a conversation.
fn chat_in(object: &str) -> Option<String> {
    let object: serde_json::Map<String, Value> = serde_json::from_str(object).ok()?;
    object.into_iter().find(|(_, value)| is_chat(value)).map(|(key, _)| key)
}

/// Whether a value is a list of messages, each with its speaker and its text, in one of the two usual forms.
fn is_chat(value: &Value) -> bool {
    let is_message = |message: &Value| {
        let has = |key: &str| message.get(key).is_some();
        (has("role") && has("content")) || (has("from") && has("value"))
    };
    value.as_array().is_some_and(|messages| !messages.is_empty() && messages.iter().all(is_message))
}

/// The type of a value, in words.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Reads the value under one key of an object and passes over the others.
struct Column<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for Column<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Column<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<Key<'de>>()? {
            if key.0 == self.0 {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// A key, borrowed where it holds no escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
