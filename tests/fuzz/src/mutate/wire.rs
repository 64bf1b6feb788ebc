//! Changing protobuf messages by their wire format, so that what comes out is still one: fields go, come twice, change
//! places and values, and take those of other messages. What the fields mean is not known here.

use super::{MOST, NUMBERS, Seeds, text, times};
use crate::random::Random;

/// A field with its value.
#[derive(Clone, PartialEq, Debug)]
enum Value {
    Number(u64),
    Fixed64([u8; 8]),
    Bytes(Vec<u8>),
    Fixed32([u8; 4]),
}

type Field = (u64, Value);

/// A changed seed. One that is no message is changed as a text.
pub(crate) fn mutate(seeds: &Seeds, random: &mut Random) -> Vec<u8> {
    let mut bytes = seeds.input(random).to_vec();
    for _ in 0..times(random) {
        match read(&bytes) {
            Some(mut fields) if !fields.is_empty() && !random.once_in(40) => {
                let donor = read(seeds.input(random)).unwrap_or_default();
                change(&mut fields, &donor, seeds, random);
                bytes = write(&fields);
            }
            _ => text::change(&mut bytes, seeds, random),
        }
        bytes.truncate(MOST);
    }
    bytes
}

/// Changes one field of a message, or of one inside it.
fn change(fields: &mut Vec<Field>, donor: &[Field], seeds: &Seeds, random: &mut Random) {
    let at = random.below(fields.len());
    let number = fields[at].0;
    let same: Vec<&Field> = donor.iter().filter(|field| field.0 == number).collect();
    let same = if same.is_empty() { None } else { Some((*random.pick(&same)).clone()) };
    if let Value::Bytes(bytes) = &mut fields[at].1
        && let Some(mut inner) = read(bytes).filter(|inner| !inner.is_empty())
        && !random.once_in(8)
    {
        let donor = match &same {
            Some((_, Value::Bytes(bytes))) => read(bytes).unwrap_or_default(),
            _ => inner.clone(),
        };
        change(&mut inner, &donor, seeds, random);
        *bytes = write(&inner);
        return;
    }
    match (random.below(8), same) {
        (0, _) => _ = fields.remove(at),
        (1, _) => fields.insert(random.below(fields.len() + 1), fields[at].clone()),
        (2, _) => {
            let other = random.below(fields.len());
            fields.swap(at, other);
        }
        (3 | 4, Some(field)) => fields[at] = field,
        (5, _) if !donor.is_empty() => fields.push(random.pick(donor).clone()),
        _ => change_value(&mut fields[at].1, seeds, random),
    }
}

fn change_value(value: &mut Value, seeds: &Seeds, random: &mut Random) {
    match value {
        Value::Number(number) => *number = other(*number, random),
        Value::Fixed64(bytes) => bytes[random.below(8)] = random.below(256) as u8,
        Value::Fixed32(bytes) => bytes[random.below(4)] = random.below(256) as u8,
        // Lists of whole numbers stand in one field.
        Value::Bytes(bytes) => match numbers(bytes).filter(|list| !list.is_empty() && !random.once_in(4)) {
            Some(mut list) => {
                let at = random.below(list.len());
                match random.below(5) {
                    0 => _ = list.remove(at),
                    1 => list.insert(at, list[random.below(list.len())]),
                    _ => list[at] = other(list[at], random),
                }
                bytes.clear();
                list.into_iter().for_each(|number| put(bytes, number));
            }
            None if random.once_in(2) => *bytes = seeds.word(random).to_vec(),
            None => text::change(bytes, seeds, random),
        },
    }
}

fn other(number: u64, random: &mut Random) -> u64 {
    match random.below(5) {
        0 => number.wrapping_add(1),
        1 => number.wrapping_sub(1),
        2 | 3 => random.below(24) as u64,
        _ => *random.pick(&NUMBERS) as u64,
    }
}

fn read(mut bytes: &[u8]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = take(&mut bytes)?;
        let value = match tag & 7 {
            0 => Value::Number(take(&mut bytes)?),
            1 => Value::Fixed64(split(&mut bytes, 8)?.try_into().ok()?),
            2 => {
                let length = usize::try_from(take(&mut bytes)?).ok()?;
                Value::Bytes(split(&mut bytes, length)?.to_vec())
            }
            5 => Value::Fixed32(split(&mut bytes, 4)?.try_into().ok()?),
            _ => return None,
        };
        // Numbers of fields begin with 1; those of messages that are in use are small.
        if !(1..2000).contains(&(tag >> 3)) {
            return None;
        }
        fields.push((tag >> 3, value));
    }
    Some(fields)
}

fn numbers(mut bytes: &[u8]) -> Option<Vec<u64>> {
    let mut list = Vec::new();
    while !bytes.is_empty() {
        list.push(take(&mut bytes)?);
    }
    Some(list)
}

fn split<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (front, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(front)
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = split(bytes, 1)?[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn write(fields: &[Field]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, value) in fields {
        let tag = |kind: u64| number << 3 | kind;
        match value {
            Value::Number(value) => [tag(0), *value].into_iter().for_each(|number| put(&mut bytes, number)),
            Value::Fixed64(value) => {
                put(&mut bytes, tag(1));
                bytes.extend(value);
            }
            Value::Bytes(value) => {
                [tag(2), value.len() as u64].into_iter().for_each(|number| put(&mut bytes, number));
                bytes.extend(value);
            }
            Value::Fixed32(value) => {
                put(&mut bytes, tag(5));
                bytes.extend(value);
            }
        }
    }
    bytes
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_back() {
        let inner = write(&[(1, Value::Number(300)), (2, Value::Bytes(b"add".to_vec()))]);
        let fields = [(3, Value::Bytes(inner)), (4, Value::Fixed64([7; 8])), (5, Value::Fixed32([1; 4]))];
        assert_eq!(read(&write(&fields)).as_deref(), Some(&fields[..]));
        assert_eq!(read(b"\x0a\xff"), None);
    }
}
