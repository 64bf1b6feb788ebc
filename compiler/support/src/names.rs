//! Names that are told apart.

use crate::Name;
use rustc_hash::FxHashMap;

/// The names that are taken in one place, such as those of the functions of a module. Making `n` names takes time proportional to `n`,
/// however many of them are wanted alike.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Each with the largest number that was tried to tell another from it.
    taken: FxHashMap<Name, usize>,
}

impl Names {
    /// Takes `wanted`, or the first of `wanted.1`, `wanted.2` and so on that is not taken.
    pub fn unused(&mut self, wanted: &str) -> Name {
        let mut name = Name::from(wanted);
        if let Some(last) = self.taken.get(wanted) {
            let mut number = *last;
            while self.taken.contains_key(&name) {
                number += 1;
                name = format!("{wanted}.{number}").into();
            }
            self.taken.insert(wanted.into(), number);
        }
        self.take(name.clone());
        name
    }

    /// Takes a name.
    pub fn take(&mut self, name: Name) {
        self.taken.entry(name).or_default();
    }
}

impl Extend<Name> for Names {
    fn extend<T: IntoIterator<Item = Name>>(&mut self, names: T) {
        names.into_iter().for_each(|name| self.take(name));
    }
}

impl FromIterator<Name> for Names {
    fn from_iter<T: IntoIterator<Item = Name>>(names: T) -> Self {
        let mut all = Self::default();
        all.extend(names);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn the_first_name_that_is_free_is_taken() {
        let mut names: Names = ["x", "x.2", "y.1"].map(Into::into).into_iter().collect();
        let made: Vec<_> = ["x", "x", "x.2", "y", "y", "x"].iter().map(|wanted| names.unused(wanted)).collect();
        assert_eq!(made, ["x.1", "x.3", "x.2.1", "y", "y.2", "x.4"]);
    }
}
