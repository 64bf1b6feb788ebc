//! The names of functions.

use crate::form::{Form, Functions};
use crate::quoted::symbol;
use halite_hlo::graph::Graph;
use rustc_hash::FxHashSet;

/// The name of the entry of a program.
const MAIN: &str = "main";

/// The functions of a module: the entry and the computations that it calls, by their own names where these are free. Those for another
/// program have its prefix.
#[derive(Debug)]
pub(crate) struct Symbols(Vec<Option<String>>);

impl Symbols {
    pub(crate) fn new(graph: &Graph, form: Form<'_>) -> Self {
        let (entry, prefix) = match form {
            Form::Program { .. } => (MAIN, String::new()),
            Form::Functions(Functions { prefix, .. }) => (prefix, format!("{prefix}_")),
        };
        let mut taken: FxHashSet<String> = [entry.to_owned()].into_iter().collect();
        let name = |(number, times): (usize, u64)| {
            if graph.entry_number() == Some(number) {
                return Some(symbol(entry));
            }
            let name = || format!("{prefix}{}", graph.module().computations[number].name);
            (times > 0).then(|| symbol(&free(&name(), &mut taken)))
        };
        Self(graph.executions().into_iter().enumerate().map(name).collect())
    }

    /// The name of a computation that is a function.
    pub(crate) fn of(&self, computation: usize) -> Option<&str> {
        self.0.get(computation)?.as_deref()
    }
}

/// A name, with a number where another has it.
fn free(name: &str, taken: &mut FxHashSet<String>) -> String {
    let numbered = (1..).map(|number| format!("{name}.{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    let name = names.find(|name| !taken.contains(name)).expect("there is always another number");
    taken.insert(name.clone());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_given_once() {
        let mut taken = [MAIN.to_owned()].into_iter().collect();
        let names = ["f", "main", "f", "f.1"].map(|name| free(name, &mut taken));
        assert_eq!(names, ["f", "main.1", "f.1", "f.1.1"]);
    }
}
