//! Products of choices: all cases of a law. The first tier runs a few in which any two choices meet; the long run all, or as many as it is
//! asked for.

/// The cases of a product that a run takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// A few in which choices meet.
    Covering,
    /// So many of all, as far apart as can be.
    Spread(usize),
    /// All.
    All,
}

impl Asked {
    /// The cases that a variable of the environment asks for: `all`, a number of cases, or nothing.
    ///
    /// # Panics
    /// When it is another word.
    pub fn by(variable: &str) -> Self {
        match std::env::var(variable) {
            Err(_) => Self::Covering,
            Ok(value) if value == "all" => Self::All,
            Ok(value) => match value.parse() {
                Ok(count) => Self::Spread(count),
                Err(_) => panic!("`{variable}` is `{value}`, and neither `all` nor a number of cases"),
            },
        }
    }

    /// The cases of a product, given those in which choices meet.
    pub fn of<T>(self, all: impl FnOnce() -> Vec<T>, covering: impl FnOnce() -> Vec<T>) -> Vec<T> {
        match self {
            Self::Covering => covering(),
            Self::All => all(),
            Self::Spread(count) => {
                let all = all();
                let (len, count) = (all.len(), count.max(1));
                // The number of cases taken grows by one where this one is.
                let is_taken = |at: usize| (at + 1) * count / len > at * count / len;
                all.into_iter()
                    .enumerate()
                    .filter(|(at, _)| count >= len || is_taken(*at))
                    .map(|(_, case)| case)
                    .collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_as_many_cases_as_are_asked_for() {
        let all = || Vec::from_iter(0..100);
        let spread = |count| Asked::Spread(count).of(all, Vec::new);
        assert_eq!(spread(4), [24, 49, 74, 99]);
        for count in 1..=100 {
            assert_eq!(spread(count).len(), count);
        }
        assert_eq!(spread(1000), all());
        assert_eq!(Asked::All.of(all, Vec::new), all());
        assert_eq!(Asked::Covering.of(all, || vec![7]), [7]);
    }
}
