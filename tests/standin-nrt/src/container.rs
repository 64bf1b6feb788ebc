//! The file that stands in for a NEFF.

use serde::{Deserialize, Serialize};

/// The beginning of the header, before the version of the format.
const MAGIC: &[u8] = b"HALITE STAND-IN NEFF ";

/// The version of the format that is written and read.
const VERSION: u8 = b'1';

/// The bytes of the header, as many as those of a NEFF.
const HEADER: usize = 1024;

/// A tensor of a program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: usize,
    /// Of a result: the position of the input whose memory it may take.
    pub alias: Option<usize>,
}

/// A program for the stand-in: HLO with the names that a compiler would have given its tensors.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StandInNeff {
    /// The hardware that it is for.
    pub target: String,
    /// The cores that it needs.
    pub cores: u32,
    /// The ranks that run it together.
    pub ranks: u32,
    /// The entry's parameters, in order.
    pub inputs: Vec<Named>,
    /// The entry's results, in order.
    pub outputs: Vec<Named>,
    /// The serialized `HloModuleProto`.
    #[serde(skip)]
    pub hlo: Vec<u8>,
}

/// Why bytes are no program for the stand-in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// They are none, such as a real NEFF.
    NotOne,
    /// They are one of another version of the format.
    OtherVersion,
}

impl StandInNeff {
    /// The file: a header, the size of the description, the description as JSON, the HLO.
    pub fn to_bytes(&self) -> Vec<u8> {
        let description = serde_json::to_vec(self).unwrap_or_default();
        let mut bytes = [MAGIC, &[VERSION]].concat();
        bytes.resize(HEADER, b'.');
        bytes.extend((description.len() as u64).to_le_bytes());
        bytes.extend(description);
        bytes.extend(&self.hlo);
        bytes
    }

    /// Reads a file.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        let (header, rest) = bytes.split_at_checked(HEADER).ok_or(Refusal::NotOne)?;
        let version = header.strip_prefix(MAGIC).and_then(<[u8]>::first).ok_or(Refusal::NotOne)?;
        if *version != VERSION {
            return Err(Refusal::OtherVersion);
        }
        let (size, rest) = rest.split_first_chunk::<8>().ok_or(Refusal::NotOne)?;
        let size = usize::try_from(u64::from_le_bytes(*size)).map_err(|_| Refusal::NotOne)?;
        let (description, hlo) = rest.split_at_checked(size).ok_or(Refusal::NotOne)?;
        let read: Self = serde_json::from_slice(description).map_err(|_| Refusal::NotOne)?;
        Ok(Self { hlo: hlo.to_vec(), ..read })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let neff = StandInNeff {
            target: "trn1".into(),
            cores: 1,
            ranks: 1,
            inputs: vec![Named { name: "input0".into(), bytes: 4, alias: None }],
            outputs: vec![Named { name: "output0".into(), bytes: 4, alias: Some(0) }],
            hlo: vec![1, 2, 3],
        };
        let bytes = neff.to_bytes();
        assert_eq!(StandInNeff::parse(&bytes), Ok(neff));
        let mut other = bytes.clone();
        other[MAGIC.len()] = b'2';
        assert_eq!(StandInNeff::parse(&other), Err(Refusal::OtherVersion));
        for end in [0, 10, HEADER, HEADER + 7, HEADER + 20] {
            assert_eq!(StandInNeff::parse(&bytes[..end]), Err(Refusal::NotOne), "{end}");
        }
        assert_eq!(StandInNeff::parse(&[7; 4000]), Err(Refusal::NotOne));
    }
}
