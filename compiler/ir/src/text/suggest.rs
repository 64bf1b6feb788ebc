//! The known name that is nearest to a mistyped one.

/// The first of `known` with the fewest edits from `name`, when a third of its letters or less differ.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = name.chars().count().div_ceil(3).min(4);
    let close = known.into_iter().filter(|other| other.len().abs_diff(name.len()) <= limit);
    let (edits, near) = close.map(|other| (distance(name, other), other)).min_by_key(|&(edits, _)| edits)?;
    (edits <= limit).then_some(near)
}

/// The number of letters to insert, remove, replace or swap with their neighbour to get from one word to the other.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows = vec![vec![0; to.len() + 1]; from.len() + 1];
    for i in 0..=from.len() {
        for j in 0..=to.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
                let swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
                let swapped = if swapped { rows[i - 2][j - 2] + 1 } else { usize::MAX };
                (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(replaced).min(swapped)
            };
        }
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(nearest("tnah", ["tan", "tanh"]), Some("tanh"));
        assert_eq!(nearest("dot_genral", ["add", "dot_general"]), Some("dot_general"));
        assert_eq!(nearest("banana", ["add", "tanh"]), None);
    }
}
