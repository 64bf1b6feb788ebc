//! The known name that is nearest to a mistyped one.

/// The first of `known` with the fewest edits from `name`, when a third of its letters or less differ.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = name.chars().count().div_ceil(3).min(4);
    let close = known.into_iter().filter(|other| other.len().abs_diff(name.len()) <= limit);
    let (edits, near) = close.map(|other| (distance(name, other), other)).min_by_key(|&(edits, _)| edits)?;
    (edits <= limit).then_some(near)
}

/// The number of letters to insert, remove or replace to get from one word to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (above, letter) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above + 1);
        for (column, &other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(nearest("dot_genral", ["add", "dot_general"]), Some("dot_general"));
        assert_eq!(nearest("banana", ["add", "tanh"]), None);
    }
}
