//! Finding what was probably meant by a misspelled word.

use std::cmp::Reverse;
use strsim::osa_distance;

/// Longer words are compared with none: comparing two takes as many steps as their lengths multiplied.
const MAX_LETTERS: usize = 100;

/// In words of so many letters or fewer, another first letter makes another word.
const SHORT: usize = 3;

/// The candidate most like `word`, if about a third of its letters or less is wrong: by insertions, removals, replacements and swaps of
/// neighbors. In words of three letters or fewer the first is not replaced: `jax` is not meant to be `max`. Of equals, the one with the
/// longer common beginning, then the one whose length is nearer, then the first.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = word.chars().take(MAX_LETTERS + 1).count();
    if letters > MAX_LETTERS {
        return None;
    }
    let limit = (letters / 3).max(1);
    let may_be = |candidate: &&str| {
        let own = candidate.chars().take(2 * MAX_LETTERS).count();
        let is_other = letters <= SHORT && word != *candidate && word.chars().skip(1).eq(candidate.chars().skip(1));
        own.abs_diff(letters) <= limit && !is_other
    };
    let common = |candidate: &str| word.chars().zip(candidate.chars()).take_while(|(a, b)| a == b).count();
    let close = candidates.into_iter().filter(may_be).filter_map(|candidate| {
        let distance = osa_distance(word, candidate);
        let order = (distance, Reverse(common(candidate)), candidate.chars().count().abs_diff(letters));
        (distance <= limit).then_some((order, candidate))
    });
    close.min_by_key(|(order, _)| *order).map(|(_, candidate)| candidate)
}

/// The candidates, those most like `word` first, in which `*` stands for any text; equals in their own order.
pub fn nearest_first<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let (stem, is_open) = (word.replace('*', ""), word.contains('*'));
    let is_long = |word: &str| word.chars().nth(MAX_LETTERS).is_some();
    let far = |candidate: &&str| {
        if is_long(&stem) || is_long(candidate) {
            return usize::MAX;
        }
        let distance = osa_distance(&stem, candidate);
        let longer = candidate.chars().count().saturating_sub(stem.chars().count());
        if is_open { distance - longer } else { distance }
    };
    let mut candidates: Vec<_> = candidates.into_iter().collect();
    candidates.sort_by_cached_key(far);
    candidates
}

/// "did you mean `x`?" when something is near, else what there is to choose from.
pub fn suggestion(word: &str, candidates: &[&str]) -> String {
    match nearest(word, candidates.iter().copied()) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None if candidates.len() == 1 => format!("choose {}", list(candidates)),
        None => format!("choose one of {}", list(candidates)),
    }
}

/// `a`, `b` and `c` in backticks.
pub fn list(words: &[&str]) -> String {
    match words {
        [] => "nothing".to_owned(),
        [only] => format!("`{only}`"),
        [init @ .., last] => {
            let init: Vec<String> = init.iter().map(|word| format!("`{word}`")).collect();
            format!("{} and `{last}`", init.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_words_are_found_and_far_ones_are_not() {
        let keys = ["hidden", "heads", "kv_heads"];
        assert_eq!(nearest("hiden", keys), Some("hidden"));
        assert_eq!(nearest("haeds", keys), Some("heads"));
        assert_eq!(nearest("kv_head", keys), Some("kv_heads"));
        assert_eq!(nearest("vocab", keys), None);
        assert_eq!(nearest("banana", ["add", "tanh"]), None);
        assert_eq!(nearest("jax", ["max", "tanh"]), None);
        assert_eq!(nearest("mix", ["max", "tanh"]), Some("max"));
        assert_eq!(nearest("esq", ["eps", "seq"]), Some("seq"));
    }

    #[test]
    fn a_suggestion_is_what_is_near_or_all() {
        assert_eq!(suggestion("bacth", &["seq", "batch"]), "did you mean `batch`?");
        assert_eq!(suggestion("zzz", &["seq", "batch"]), "choose one of `seq` and `batch`");
    }

    #[test]
    fn candidates_are_sorted_by_likeness() {
        assert_eq!(nearest_first("rsqt", ["tanh", "sqrt", "rsqrt"]), ["rsqrt", "sqrt", "tanh"]);
        assert_eq!(nearest_first("*nrm*", ["head.weight", "norm.weight"]), ["norm.weight", "head.weight"]);
    }

    #[test]
    fn of_equals_the_likelier_one_is_found() {
        assert_eq!(nearest("tahn", ["tan", "tanh"]), Some("tanh"));
        assert_eq!(nearest("hlat-7bb", ["hlat-70b", "hlat-7b"]), Some("hlat-7b"));
    }
}
