//! Random bits of streams, for batteries of tests that others made: words of 32 bits, little-endian, to standard output until it is closed.
//!
//! ```sh
//! cargo run --release -p halite-tensor --example random_words -- 64 2    # 64 streams of a matrix
//! ```
//!
//! The streams are interleaved, as the roundings of many weights of an update are: of each element a word of every stream, element by element,
//! then those of the next step. What is rounded has no dimension, one of 1024 elements, or two.

use halite_tensor::rounding::{random_bits, stream_key};
use std::io::{self, BufWriter, ErrorKind, Write};

/// The size of each dimension.
const SIZE: u32 = 1024;

fn main() -> io::Result<()> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u32>());
    let (Some(Ok(streams)), Some(Ok(rank @ 0..=2)), None) = (numbers.next(), numbers.next(), numbers.next()) else {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "expected how many streams, and of how many dimensions, 0 to 2",
        ));
    };
    let keys: Vec<u32> = (0..streams).map(|stream| stream_key(0, &format!("layers.{stream}.weight"))).collect();
    let mut out = BufWriter::new(io::stdout().lock());
    for step in 0.. {
        for at in 0..SIZE.pow(rank) {
            let coordinates = [at / SIZE, at % SIZE];
            for &key in &keys {
                let word = random_bits(key, step, &coordinates[2 - rank as usize..]);
                match out.write_all(&word.to_le_bytes()) {
                    Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
                    written => written?,
                }
            }
        }
    }
    Ok(())
}
