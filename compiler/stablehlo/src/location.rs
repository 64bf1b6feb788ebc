//! Locations of operations: `loc("scope"("file":line:column))`, each place written once and named by a number.

use crate::quoted::string;
use halite_hlo::Origin;
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// The places so far, the first of which is unknown.
#[derive(Debug)]
pub(crate) struct Locations {
    texts: Vec<String>,
    numbers: FxHashMap<String, usize>,
}

impl Default for Locations {
    fn default() -> Self {
        let mut locations = Self { texts: Vec::new(), numbers: FxHashMap::default() };
        locations.number("unknown".to_owned());
        locations
    }
}

impl Locations {
    /// ` loc(#loc3)`: the end of an operation from this place.
    pub(crate) fn of(&mut self, origin: Option<&Origin<'_>>) -> String {
        reference(self.number(origin.map_or_else(|| "unknown".to_owned(), place)))
    }

    /// The end of something of this name that comes from no place.
    pub(crate) fn named(&mut self, name: &str) -> String {
        reference(self.number(string(name.as_bytes())))
    }

    /// The definitions that the text ends with.
    pub(crate) fn definitions(&self) -> String {
        let mut text = String::new();
        for (number, place) in self.texts.iter().enumerate() {
            writeln!(text, "#loc{number} = loc({place})").expect("writing to a string succeeds");
        }
        text
    }

    fn number(&mut self, text: String) -> usize {
        if let Some(&number) = self.numbers.get(&text) {
            return number;
        }
        let number = self.texts.len();
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        number
    }
}

fn reference(number: usize) -> String {
    format!(" loc(#loc{number})")
}

fn place(origin: &Origin<'_>) -> String {
    let scope = string(origin.scope.as_bytes());
    let file = || format!("{}:{}:{}", string(origin.file.as_bytes()), origin.line.max(0), origin.columns[0].max(0));
    match (origin.scope.is_empty(), origin.file.is_empty()) {
        (true, true) => "unknown".to_owned(),
        (true, false) => file(),
        (false, true) => scope,
        (false, false) => format!("{scope}({})", file()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_written_once() {
        let mut locations = Locations::default();
        let origin = |scope, file| Origin { scope, file, line: 3, columns: [0, 0] };
        assert_eq!(locations.of(None), " loc(#loc0)");
        assert_eq!(locations.of(Some(&origin("a", "m.hal"))), " loc(#loc1)");
        assert_eq!(locations.of(Some(&origin("a", ""))), " loc(#loc2)");
        assert_eq!(locations.of(Some(&origin("a", "m.hal"))), " loc(#loc1)");
        assert_eq!(locations.of(Some(&origin("", "m.hal"))), " loc(#loc3)");
        assert_eq!(locations.of(Some(&origin("", ""))), " loc(#loc0)");
        let expected =
            "#loc0 = loc(unknown)\n#loc1 = loc(\"a\"(\"m.hal\":3:0))\n#loc2 = loc(\"a\")\n#loc3 = loc(\"m.hal\":3:0)\n";
        assert_eq!(locations.definitions(), expected);
    }
}
