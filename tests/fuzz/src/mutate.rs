//! Making a new input of those that are there.

pub(crate) mod text;
pub(crate) mod wire;

use crate::random::Random;
use std::collections::BTreeSet;

/// The most bytes of an input: more than the columns that 16 bits count.
pub(crate) const MOST: usize = 80_000;

/// Whole numbers at which programs break.
pub(crate) const NUMBERS: [i64; 22] = [
    0,
    1,
    -1,
    2,
    3,
    7,
    8,
    64,
    127,
    128,
    255,
    256,
    65_535,
    65_536,
    1 << 20,
    i32::MAX as i64,
    1 << 31,
    u32::MAX as i64,
    1 << 40,
    1 << 53,
    i64::MAX,
    i64::MIN,
];

/// Inputs to start from, and the words in them.
#[derive(Debug)]
pub(crate) struct Seeds {
    inputs: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
}

impl Seeds {
    /// Seeds with their words. Inputs that are too long are left out.
    pub(crate) fn new(inputs: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let mut seen = BTreeSet::new();
        let fits = |input: &Vec<u8>| input.len() <= MOST && seen.insert(input.clone());
        let inputs: Vec<Vec<u8>> = inputs.into_iter().filter(fits).collect();
        let words = inputs.iter().flat_map(|input| text::tokens(input).into_iter().map(|token| input[token].to_vec()));
        let words = words.filter(|word| (2..40).contains(&word.len())).collect::<BTreeSet<_>>().into_iter().collect();
        Self { inputs, words }
    }

    /// The number of inputs.
    pub(crate) fn len(&self) -> usize {
        self.inputs.len()
    }

    /// One of the inputs.
    pub(crate) fn input(&self, random: &mut Random) -> &[u8] {
        random.pick::<Vec<u8>>(&self.inputs)
    }

    /// One of the words; nothing where there is none.
    pub(crate) fn word(&self, random: &mut Random) -> &[u8] {
        if self.words.is_empty() { b"" } else { random.pick::<Vec<u8>>(&self.words) }
    }
}

/// The number of changes to an input: mostly one or two.
pub(crate) fn times(random: &mut Random) -> usize {
    let mut times = 1;
    while times < 8 && random.once_in(2) {
        times += 1;
    }
    times
}
