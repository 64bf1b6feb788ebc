//! What a builder has so far.

use super::Caller;
use crate::ops::{MAX_DEPTH, Named, Names, Ops, Place, too_long};
use crate::parse::is_name;
use halite_ir::{Draft, LocId, LocKind, Module, Registry, Value};
use halite_recipe::ConfigValue;
use halite_support::{Diagnostic, Diagnostics, Name, Result, codes};
use halite_tensor::DType;
use indexmap::{IndexMap, IndexSet};

/// A model under way. Cloned when it is finished, so that the builder stays usable.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) module: Module,
    /// The entry; empty while an operation runs.
    pub(super) draft: Draft,
    statements: usize,
    /// A limit on statements was reached and reported.
    limit_reached: bool,
    scopes: Vec<Name>,
    /// The names of batches, parameters and outputs.
    names: Names<Caller>,
    pub(super) batches: IndexMap<Name, Value>,
    /// Each weight, with the place of its declaration.
    pub(super) weights: IndexMap<Name, (Value, Caller)>,
    /// What the model shows; `None` when that is poisoned.
    pub(super) outputs: IndexMap<Name, Option<Value>>,
    pub(super) config: IndexMap<String, ConfigValue>,
    pub(super) errors: Diagnostics,
    seen: IndexSet<(Caller, &'static str)>,
}

/// What was current before a scope was entered.
pub(super) struct Outer {
    loc: LocId,
    depth: usize,
}

impl State {
    pub(super) fn new(name: Name, caller: Caller) -> Self {
        let mut state = Self {
            module: Module::new(name.clone()),
            draft: Draft::new("main"),
            statements: 0,
            limit_reached: false,
            scopes: Vec::new(),
            names: Names::new(),
            batches: IndexMap::new(),
            weights: IndexMap::new(),
            outputs: IndexMap::new(),
            config: IndexMap::new(),
            errors: Diagnostics::new(),
            seen: IndexSet::new(),
        };
        state.check_name(&name, caller);
        state
    }

    /// Runs an operation on the entry; `None` when it failed.
    pub(super) fn run<T>(
        &mut self,
        registry: &Registry,
        float: DType,
        caller: Caller,
        operation: impl FnOnce(&mut Ops<'_>) -> Result<T>,
    ) -> Option<T> {
        let draft = std::mem::replace(&mut self.draft, Draft::new(""));
        let mut ops = Ops { b: draft.resume(&mut self.module, registry), float, statements: self.statements };
        let outer = ops.b.enter_code(file_name(caller), caller.line());
        let result = ops.step(Place::whole(&())).and_then(|()| operation(&mut ops));
        ops.b.set_loc(outer);
        let is_exhausted = ops.is_exhausted();
        self.statements = ops.statements;
        self.draft = ops.b.pause();
        match result {
            Ok(value) => Some(value),
            Err(_) if is_exhausted && std::mem::replace(&mut self.limit_reached, true) => None,
            Err(error) => {
                self.report(error, caller);
                None
            }
        }
    }

    /// Keeps a mistake unless the same kind was made at the same place: loops repeat theirs.
    pub(super) fn report(&mut self, error: Diagnostic, caller: Caller) {
        if self.seen.insert((caller, error.code().id)) {
            self.keep(error, caller);
        }
    }

    /// Keeps a mistake.
    pub(super) fn keep(&mut self, error: Diagnostic, caller: Caller) {
        let scope = self.scopes.join(".");
        let within = if scope.is_empty() { String::new() } else { format!(", in `{scope}`") };
        self.errors.push(error.note(format!("at `{}`{within}", place(caller))));
    }

    /// Enters a scope; [`leave_scope`](Self::leave_scope) goes back. One with a wrong name is entered all the same.
    pub(super) fn enter_scope(&mut self, name: String, caller: Caller) -> Outer {
        let is_text = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !name.split('.').all(is_text) {
            let error = Diagnostic::error(codes::SYNTAX, format!("`{name}` is not the name of a scope"));
            self.report(error.help("use letters, digits, `_` and dots: `layers.0`"), caller);
        }
        if self.scopes.len() >= MAX_DEPTH {
            let message = format!("calls and expressions nest more than {MAX_DEPTH} deep");
            self.report(too_long(message, Place::whole(&())), caller);
        }
        let outer = Outer { loc: self.draft.loc(), depth: self.scopes.len() };
        self.draft.set_loc(self.module.locs.add(outer.loc, LocKind::Scope(name.as_str().into())));
        self.scopes.push(name.into());
        outer
    }

    pub(super) fn leave_scope(&mut self, outer: Outer) {
        self.scopes.truncate(outer.depth);
        self.draft.set_loc(outer.loc);
    }

    /// Takes a name, `full` with its scopes; reports why it cannot be had.
    pub(super) fn claim(&mut self, name: &str, full: &Name, named: Named, caller: Caller) -> bool {
        self.check_name(name, caller);
        let Err((error, first)) = self.names.claim(full, named, caller, Place::whole(&())) else { return true };
        let error = match first {
            Some(first) => error.note(format!("first at `{}`", place(first))),
            None => error,
        };
        self.report(error, caller);
        false
    }

    /// The full name of a parameter.
    pub(super) fn parameter_name(&self, name: &str) -> Name {
        let mut parts: Vec<&str> = self.scopes.iter().map(|scope| &**scope).collect();
        parts.push(name);
        parts.join(".").into()
    }

    /// Reports a name that the model language does not take as one.
    pub(super) fn check_name(&mut self, name: &str, caller: Caller) {
        if is_name(name) {
            return;
        }
        let is_word = name.bytes().all(|byte| byte.is_ascii_lowercase()) && !name.is_empty();
        let help = match is_word {
            true => format!("choose another name: `{name}` is a word of the language"),
            false => "use letters, digits and `_`, not starting with a digit".to_owned(),
        };
        self.report(Diagnostic::error(codes::SYNTAX, format!("`{name}` is not a name")).help(help), caller);
    }
}

/// The file without its folders, so that a model gives the same bytes wherever it is built.
fn file_name(caller: Caller) -> &'static str {
    caller.file().rsplit(['/', '\\']).next().unwrap_or_default()
}

/// `model.rs:12`.
pub(super) fn place(caller: Caller) -> String {
    format!("{}:{}", file_name(caller), caller.line())
}
