//! Every bound is a number of standard errors of what independent fair bits would give.

use super::*;

const SIGMAS: f64 = 5.0;

/// Bits of a matrix of `side` rows and columns, row by row.
fn matrix(key: u32, step: u32, side: u32) -> Vec<u32> {
    (0..side * side).map(|at| random_bits(key, step, &[at / side, at % side])).collect()
}

/// How often each bit is set is `count / 2` within the bound; the standard error is `sqrt(count) / 2`.
fn assert_balanced(what: &str, words: impl IntoIterator<Item = u32>) {
    let (mut set, mut count) = ([0u32; 32], 0u32);
    for word in words {
        set.iter_mut().enumerate().for_each(|(bit, set)| *set += word >> bit & 1);
        count += 1;
    }
    let bound = SIGMAS * f64::from(count).sqrt() / 2.0;
    for (bit, set) in set.into_iter().enumerate() {
        let apart = (f64::from(set) - f64::from(count) / 2.0).abs();
        assert!(apart <= bound, "{what}: bit {bit} is set {set} times of {count}");
    }
}

#[test]
fn each_bit_is_set_half_the_time() {
    assert_balanced("matrix", matrix(1, 0, 512));
    assert_balanced("vector", (0..1 << 18).map(|at| random_bits(2, 5, &[at])));
    assert_balanced("scalar over steps", (0..1 << 18).map(|step| random_bits(3, step, &[])));
    assert_balanced("scalar over keys", (0..1 << 18).map(|key| random_bits(key, 0, &[])));
}

#[test]
fn each_input_bit_flips_half_of_the_output() {
    // The inputs are key, step and three coordinates; single bits of each are flipped in many random places.
    let trials = 4096u32;
    let mean_bound = SIGMAS * (32.0 / 4.0 / f64::from(trials)).sqrt();
    let bits = |inputs: &[u32]| random_bits(inputs[0], inputs[1], &inputs[2..]);
    for (input, width) in [(0, 32), (1, 32), (2, 24), (3, 24), (4, 24)] {
        for bit in 0..width {
            let flips: Vec<u32> = (0..trials)
                .map(|trial| {
                    let mut inputs = [0, 1, 2, 3, 4].map(|word| stream_key(u64::from(trial), "inputs") ^ mix(word));
                    inputs[2..].iter_mut().for_each(|word| *word %= MAX_COORDINATE);
                    let before = bits(&inputs);
                    inputs[input] ^= 1 << bit;
                    before ^ bits(&inputs)
                })
                .collect();
            let mean = flips.iter().map(|flips| f64::from(flips.count_ones())).sum::<f64>() / f64::from(trials);
            assert!((mean - 16.0).abs() <= mean_bound, "bit {bit} of input {input} flips {mean} bits");
            assert_balanced(&format!("flips by bit {bit} of input {input}"), flips);
        }
    }
}

/// Two lists of words have no correlation, as numbers and bit by bit.
fn assert_independent(what: &str, x: &[u32], y: &[u32]) {
    let apart = correlation(x, y).abs();
    assert!(apart <= SIGMAS / (x.len() as f64).sqrt(), "{what}: correlation {apart}");
    assert_balanced(what, x.iter().zip(y).map(|(x, y)| x ^ y));
}

/// The correlation of two lists of independent words has the standard error `1 / sqrt(length)`.
fn correlation(x: &[u32], y: &[u32]) -> f64 {
    let centre = |word: &u32| (f64::from(*word) + 0.5) / f64::from(u32::MAX) - 0.5;
    let variance = 1.0 / 12.0;
    x.iter().zip(y).map(|(x, y)| centre(x) * centre(y)).sum::<f64>() / (x.len() as f64 * variance)
}

#[test]
fn neighbours_are_not_correlated() {
    let side = 256;
    let here = matrix(11, 4, side);
    let shifted = |rows, columns| -> Vec<u32> {
        (0..side * side).map(|at| random_bits(11, 4, &[at / side + rows, at % side + columns])).collect()
    };
    assert_independent("next row", &here, &shifted(1, 0));
    assert_independent("next column", &here, &shifted(0, 1));
}

#[test]
fn streams_and_steps_are_independent_over_elements() {
    // The sums before the rounds differ by one word for all elements of two streams.
    let side = 256;
    for at in 0..8 {
        let (key, step) = (stream_key(at, "key"), stream_key(at, "step") % 100_000);
        let here = matrix(key, step, side);
        assert_independent("next step", &here, &matrix(key, step + 1, side));
        assert_independent("next key", &here, &matrix(key + 1, step, side));
        assert_independent("other key", &here, &matrix(stream_key(at, "other key"), step, side));
    }
}

#[test]
fn elements_are_independent_over_steps() {
    let over_steps = |key, coordinates: [u32; 2], from: u32| -> Vec<u32> {
        (from..from + (1 << 16)).map(|step| random_bits(key, step, &coordinates)).collect()
    };
    for at in 0..3 {
        let (key, other) = (stream_key(at, "key"), stream_key(at, "other key"));
        let [row, column, ..] = stream_key(at, "place").to_le_bytes().map(u32::from);
        let here = over_steps(key, [row, column], 0);
        assert_balanced("one element", here.iter().copied());
        assert_independent("a step later", &here, &over_steps(key, [row, column], 1));
        assert_independent("other key", &here, &over_steps(other, [row, column], 0));
        let (right, below) = (over_steps(key, [row, column + 1], 0), over_steps(key, [row + 1, column], 0));
        let across = over_steps(key, [row + 1, column + 1], 0);
        assert_independent("next column", &here, &right);
        assert_independent("next row", &here, &below);
        assert_independent("diagonal", &right, &below);
        let sum = |x: &[u32], y: &[u32]| -> Vec<u32> { x.iter().zip(y).map(|(x, y)| x ^ y).collect() };
        assert_independent("corners", &sum(&here, &right), &sum(&below, &across));
    }
}

/// Sums of coordinate words collide, but not for the same elements in every step.
#[test]
fn no_two_elements_have_equal_bits_in_two_steps() {
    let pairs = |step| {
        let mut words: Vec<_> = matrix(1, step, 1024).into_iter().zip(0..).collect();
        words.sort_unstable();
        let pairs = words.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| [pair[0].1, pair[1].1]);
        pairs.collect::<Vec<[usize; 2]>>()
    };
    let (first, second) = (pairs(0), pairs(1));
    // 2^20 words have 2^39 pairs, of which 128 are expected to be equal.
    assert!((64..192).contains(&first.len()) && (64..192).contains(&second.len()));
    assert!(first.iter().all(|pair| !second.contains(pair)));
}

#[test]
fn the_corners_of_rectangles_are_independent() {
    // Words that rows and columns only add to each other by exclusive or would give zero here.
    let rectangle = |at: u32| {
        let random = stream_key(u64::from(at), "corners").to_le_bytes().map(u32::from);
        let (rows, columns) = ([random[0], 256 + random[1]], [random[2], 256 + random[3]]);
        let corners = rows.into_iter().flat_map(|row| columns.map(|column| [row, column]));
        corners.fold(0, |sum, at| sum ^ random_bits(5, 6, &at))
    };
    assert_balanced("corners", (0..1 << 16).map(rectangle));
}

/// The words of two streams differ by one word, for all elements of a step. Each bit of one against that of the other gives a number that is
/// a standard normal one if they are independent: `z = (agreements - count / 2) / (sqrt(count) / 2)`. Of 20,528 differences of 32 bits one
/// is beyond 6.5 once in 19,000 trials of fair bits: 656,896 * 8.0e-11.
///
/// With `HALITE_RANDOM_BITS` so many random differences, those of one bit and all of two, on 2^20 words each.
#[test]
fn bits_of_two_streams_are_independent() {
    let (random, words) = match std::env::var("HALITE_RANDOM_BITS") {
        Ok(count) => (count.parse().unwrap(), 1_u32 << 20),
        Err(_) => (64, 1 << 14),
    };
    let words: Vec<u32> = (0..words).map(|at| stream_key(u64::from(at), "words")).collect();
    let hashed: Vec<u32> = words.iter().map(|&word| rounds(word, &ELEMENT_ROUNDS)).collect();
    let one = (0..32).map(|bit| 1 << bit);
    let two = (0..32).flat_map(|high| (0..high).map(move |low| 1 << high | 1 << low));
    let differences = one.chain(two.step_by(if random > 64 { 1 } else { 7 }));
    let differences = differences.chain((0..random).map(|at| stream_key(at, "differences")));
    let (mut greatest, mut squares, mut tests) = (0.0_f64, 0.0, 0_u32);
    for difference in differences {
        let mut set = [0_u32; 32];
        for (word, hashed) in words.iter().zip(&hashed) {
            let agree = hashed ^ rounds(word ^ difference, &ELEMENT_ROUNDS);
            set.iter_mut().enumerate().for_each(|(bit, set)| *set += agree >> bit & 1);
        }
        let count = words.len() as f64;
        for set in set {
            let z = (2.0 * f64::from(set) - count) / count.sqrt();
            (greatest, squares, tests) = (greatest.max(z.abs()), squares + z * z, tests + 1);
        }
    }
    let variance = squares / f64::from(tests);
    println!("{tests} numbers, the largest {greatest:.2}, their variance {variance:.4}");
    assert!(greatest < 6.5, "{greatest}");
    // The standard error of a variance of so many is the root of 2 over their number.
    let bound = (SIGMAS * (2.0 / f64::from(tests)).sqrt()).max(0.01);
    assert!((variance - 1.0).abs() < bound, "{variance}");
}

#[test]
fn halves_of_words_are_uniform() {
    // Chi-square with 65,535 degrees of freedom has that mean, and twice that variance.
    let words = matrix(21, 9, 1024);
    for shift in [0, 16] {
        let mut cells = vec![0u32; 1 << 16];
        words.iter().for_each(|word| cells[(word >> shift & 0xffff) as usize] += 1);
        let expected = words.len() as f64 / cells.len() as f64;
        let square = cells.iter().map(|&found| (f64::from(found) - expected).powi(2) / expected).sum::<f64>();
        let freedom = cells.len() as f64 - 1.0;
        assert!((square - freedom).abs() <= SIGMAS * (2.0 * freedom).sqrt(), "bits from {shift}: {square}");
    }
}

#[test]
fn mixing_loses_no_word() {
    let mut words: Vec<u32> = (0..1 << 20).map(|word| mix(word << 12 ^ word)).collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), 1 << 20);
}

#[test]
fn keys_follow_seed_and_name() {
    let names = ["", "a", "b", "aa", "model.layers.0.norm.weight", "model.layers.1.norm.weight"];
    let mut keys: Vec<u32> = (0..100).flat_map(|seed| names.map(|name| stream_key(seed, name))).collect();
    assert_balanced("keys", keys.iter().copied());
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 100 * names.len());
}

/// A run resumes, and a report is repeated, with the same bits: whoever changes them changes every program that rounds at random or drops out.
#[test]
fn the_bits_are_fixed() {
    assert_eq!(stream_key(0, "model.norm.weight"), 0xa51d_3fa8);
    assert_eq!(random_bits(1, 2, &[]), 0x97ec_88b6);
    assert_eq!(random_bits(1, u32::MAX, &[3]), 0xab4e_0cbb);
    assert_eq!(random_bits(1, 2, &[3, MAX_COORDINATE - 1]), 0xce62_0f91);
}
