//! Libraries: what a text uses of them, and what they must not hold.

use super::walk::MAX_SUGGESTIONS;
use super::{Callable, Findings, Program};
use crate::ast::{Ident, Item, Model, Use};
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Span, codes};

/// Brings what a text lists into its sight. `uses` says which of the programs before it each `use` names.
pub(super) fn list<'m>(program: &mut Program<'m>, uses: &[usize], programs: &[Program<'m>], findings: &mut Findings) {
    for (at, used) in program.model.uses.iter().enumerate() {
        let library = uses.get(at).and_then(|&library| programs.get(library));
        if library.is_none() {
            findings.errors.push(not_at_hand(used));
        }
        for name in &used.names {
            let found = library.and_then(|library| library.own(&name.name));
            match (found, library) {
                (Some(callable), _) => add(program, name, callable, findings),
                (None, library) => {
                    let suggests = findings.errors.len() < MAX_SUGGESTIONS;
                    findings.errors.extend(library.map(|library| lacks(library, name, suggests)));
                    program.missing.insert(&name.name);
                }
            }
        }
    }
}

impl<'m> Program<'m> {
    /// The function of this name that stands in it.
    fn own(&self, name: &str) -> Option<Callable<'m>> {
        self.functions.get(name).copied().filter(|callable| callable.home == self.home)
    }
}

fn add<'m>(program: &mut Program<'m>, name: &'m Ident, callable: Callable<'m>, findings: &mut Findings) {
    match program.functions.get(&*name.name) {
        Some(first) => findings.duplicate(name, first.named.span),
        None => _ = program.functions.insert(&name.name, Callable { named: name, ..callable }),
    }
}

fn not_at_hand(used: &Use) -> Diagnostic {
    let error = Diagnostic::error(codes::LIBRARY, format!("the library `{}` is not at hand", used.library.name));
    error.at(used.library.span, "used here").help("write its functions in this text")
}

fn lacks(library: &Program<'_>, name: &Ident, suggests: bool) -> Diagnostic {
    let of = &library.model.name;
    let error = Diagnostic::error(codes::LIBRARY, format!("the library `{}` has no function `{}`", of.name, name.name));
    let error = error.at(name.span, "unknown function");
    if !suggests {
        return error;
    }
    let own = library.functions.iter().filter(|(_, callable)| callable.home == library.home);
    let own: Vec<&str> = own.map(|(name, _)| *name).collect();
    error.help(suggestion(&name.name, &own))
}

/// A library stands in the place of a model.
pub(super) fn alone(library: &Model) -> Diagnostic {
    let name = &library.name;
    let error = Diagnostic::error(codes::LIBRARY, format!("`{}` is a library, and no model", name.name));
    error.at(name.span, "this library").help("name a model that uses it")
}

/// Refuses what only a model has.
pub(super) fn check(library: &Model, findings: &mut Findings) {
    let mut refuse = |what: &str, span: Span, help: &str| {
        let message = format!("`{what}` stands in the library `{}`", library.name.name);
        findings.errors.push(Diagnostic::error(codes::LIBRARY, message).at(span, "only a model has it").help(help));
    };
    for item in &library.items {
        match item {
            Item::Config(keys) => {
                if let Some(key) = keys.first() {
                    refuse("config", key.name.span, "let functions take what they need as arguments");
                }
            }
            Item::Require(require) => {
                refuse("require", require.condition.span, "write it in the models that use the library");
            }
            Item::Causal(causal) => refuse("causal", causal.span, "say it in the models that use the library"),
            Item::Function(function) if &*function.name.name == "main" => {
                refuse("main", function.name.span, "give the function another name: `main` is what a model runs");
            }
            Item::Function(_) | Item::Let(_) => {}
        }
    }
}
