//! Finding what was probably meant.

/// The candidate most like `word`, if at most a third of its letters are wrong.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |candidate: &str| strsim::damerau_levenshtein(word, candidate);
    let best = candidates.into_iter().map(|candidate| (distance(candidate), candidate)).min();
    best.filter(|(distance, candidate)| distance * 3 <= candidate.len().max(word.len())).map(|(_, candidate)| candidate)
}

/// "did you mean `x`?" when something is near, else the list of what there is.
pub fn suggestion(word: &str, candidates: &[&str]) -> String {
    match nearest(word, candidates.iter().copied()) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => format!("there is {}", list(candidates)),
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
    fn typing_errors_are_recognized_and_others_are_not() {
        assert_eq!(nearest("bacth", ["seq", "batch"]), Some("batch"));
        assert_eq!(suggestion("zzz", &["seq", "batch"]), "there is `seq` and `batch`");
    }
}
