//! Tensor files: what is taken is the same after it is written and read again.

use super::put;
use crate::judge::{Verdict, refused};
use crate::mutate::{Seeds, text};
use crate::random::Random;
use crate::repository;
use crate::target::{TEXT, Target};
use halite_bundle::tensors;
use halite_support::SourceMap;
use std::path::Path;

pub(crate) const TARGET: Target = Target {
    name: "safetensors",
    share: 119,
    seeds,
    mutate,
    prepare: |folder| {
        let folder = folder.to_path_buf();
        Box::new(move |input| run(input, &folder))
    },
    ..TEXT
};

/// The number of bytes that hold the length of the header.
const PREFIX: usize = 8;

/// Fixtures, and a file with each element type.
fn seeds() -> Vec<Vec<u8>> {
    let types = ["BOOL", "I8", "U8", "I16", "U16", "I32", "U32", "I64", "U64", "BF16", "F16", "F32", "F64", "F8_E4M3"];
    let each = types.map(|name| {
        let header =
            format!(r#"{{"__metadata__":{{"a":"b"}},"x":{{"dtype":"{name}","shape":[0,2],"data_offsets":[0,0]}}}}"#);
        with_prefix(header.as_bytes())
    });
    let fixtures = repository::contents(&repository::files("tests/hugging_face/fixtures", ".safetensors"));
    fixtures.into_iter().chain(each).collect()
}

fn with_prefix(header: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header].concat()
}

/// Changes header or data. Mostly the length before the header is right again, which is where all else begins.
fn mutate(seeds: &Seeds, random: &mut Random) -> Vec<u8> {
    let mut input = seeds.input(random).to_vec();
    let length = input.first_chunk::<PREFIX>().map_or(0, |prefix| u64::from_le_bytes(*prefix) as usize);
    let Some((header, data)) = input.get(PREFIX..).and_then(|rest| rest.split_at_checked(length)) else { return input };
    if random.once_in(8) {
        text::change(&mut input, seeds, random);
        return input;
    }
    let (mut header, data) = (header.to_vec(), data.to_vec());
    for _ in 0..1 + random.below(3) {
        text::change(&mut header, seeds, random);
    }
    [with_prefix(&header), data].concat()
}

fn run(input: &[u8], folder: &Path) -> Verdict {
    let (path, again) = (folder.join("x.safetensors"), folder.join("y.safetensors"));
    put(&path, input);
    let sources = SourceMap::new();
    let tensors = match tensors::read(&path) {
        Err(error) => return refused(&[error], &sources),
        Ok(tensors) => tensors,
    };
    // Files are written to the disk before they get their names, which takes its time.
    if !Random::of_content(input).once_in(50) {
        return Ok(true);
    }
    match tensors::write(&again, &tensors).and_then(|()| tensors::read(&again)) {
        Ok(read) if read == tensors => Ok(true),
        Ok(_) => Err("other tensors are read than were written".to_owned()),
        Err(error) => Err(format!("tensors that are written are not read: {error}")),
    }
}
