//! What a builder has so far.

use super::Caller;
use super::frame::{Frame, Handle};
use super::identity::Identity;
use crate::ops::{Callee, MAX_DEPTH, Named, Names, Ops, Place, too_long};
use crate::parse::is_name;
use halite_ir::{Draft, LocId, LocKind, Module, Registry, Value};
use halite_recipe::ConfigValue;
use halite_support::{Diagnostic, Diagnostics, Name, Result, codes};
use halite_tensor::DType;
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashMap;

/// A model under way. Cloned when it is finished, so that the builder stays usable.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) module: Module,
    /// The function being written.
    pub(super) frame: Frame,
    /// Those around it, the entry first.
    outer: Vec<Frame>,
    /// The names of all functions that were begun, each call anew.
    begun: Vec<Name>,
    /// How functions are called that were written.
    pub(super) functions: FxHashMap<Identity, Callee>,
    statements: usize,
    /// A limit on statements was reached and reported.
    limit_reached: bool,
    scopes: Vec<Name>,
    /// The names of batches, parameters and outputs.
    names: Names<Caller>,
    pub(super) batches: IndexMap<Name, Value>,
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
            frame: Frame::new(0, "main".into(), 0),
            outer: Vec::new(),
            begun: vec!["main".into()],
            functions: FxHashMap::default(),
            statements: 0,
            limit_reached: false,
            scopes: Vec::new(),
            names: Names::new(),
            batches: IndexMap::new(),
            outputs: IndexMap::new(),
            config: IndexMap::new(),
            errors: Diagnostics::new(),
            seen: IndexSet::new(),
        };
        state.check_name(&name, caller);
        state
    }

    /// Runs an operation on the function being written; `None` when it failed.
    pub(super) fn run<T>(
        &mut self,
        registry: &Registry,
        float: DType,
        caller: Caller,
        operation: impl FnOnce(&mut Ops<'_>) -> Result<T>,
    ) -> Option<T> {
        let draft = std::mem::replace(&mut self.frame.draft, Draft::new(""));
        let mut ops = Ops { statements: self.statements, ..Ops::new(draft.resume(&mut self.module, registry), float) };
        let outer = ops.b.enter_code(file_name(caller), caller.line());
        let result = ops.step(Place::whole(&())).and_then(|()| operation(&mut ops));
        ops.b.set_loc(outer);
        let is_exhausted = ops.is_exhausted();
        self.statements = ops.statements;
        self.frame.draft = ops.b.pause();
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
        self.check_depth(caller);
        let draft = &mut self.frame.draft;
        let outer = Outer { loc: draft.loc(), depth: self.scopes.len() };
        draft.set_loc(self.module.locs.add(outer.loc, LocKind::Scope(name.as_str().into())));
        self.scopes.push(name.into());
        outer
    }

    pub(super) fn leave_scope(&mut self, outer: Outer) {
        self.scopes.truncate(outer.depth);
        self.frame.draft.set_loc(outer.loc);
    }

    fn check_depth(&mut self, caller: Caller) {
        if self.scopes.len() + self.outer.len() >= MAX_DEPTH {
            let message = format!("calls and expressions nest more than {MAX_DEPTH} deep");
            self.report(too_long(message, Place::whole(&())), caller);
        }
    }

    /// Begins a function, in which no scope is entered yet; [`end_function`](Self::end_function) goes back.
    pub(super) fn begin_function(&mut self, name: Name, caller: Caller) {
        self.check_depth(caller);
        let frame = Frame::new(self.begun.len(), name.clone(), self.scopes.len());
        self.begun.push(name);
        self.outer.push(std::mem::replace(&mut self.frame, frame));
    }

    /// The function that was begun last.
    pub(super) fn end_function(&mut self) -> Option<Frame> {
        Some(std::mem::replace(&mut self.frame, self.outer.pop()?))
    }

    /// Whether the function being written is the entry.
    pub(super) fn is_entry(&self) -> bool {
        self.outer.is_empty()
    }

    /// The function that a handle is of, unless it has returned.
    pub(super) fn frame(&self, handle: Handle) -> Option<&Frame> {
        if handle.frame == self.frame.number() {
            return Some(&self.frame);
        }
        self.position(handle).map(|at| &self.outer[at])
    }

    /// The same to change it.
    pub(super) fn frame_mut(&mut self, handle: Handle) -> Option<&mut Frame> {
        if handle.frame == self.frame.number() {
            return Some(&mut self.frame);
        }
        self.position(handle).map(|at| &mut self.outer[at])
    }

    fn position(&self, handle: Handle) -> Option<usize> {
        self.outer.binary_search_by_key(&handle.frame, Frame::number).ok()
    }

    /// Reports the use of a value whose function has returned.
    pub(super) fn report_returned(&mut self, handle: Handle, caller: Caller) {
        let name = &self.begun[handle.frame];
        let message = format!("this tensor is one of a call of `{name}` that has returned");
        let error = Diagnostic::error(codes::KIND, message);
        self.report(error.help(format!("return it: `let [y] = m.function(\"{name}\", [x], |[x]| [y])`")), caller);
    }

    /// Whether what may only stand in the entry does; reports where not.
    pub(super) fn check_entry(&mut self, what: &str, help: &str, caller: Caller) -> bool {
        if !self.is_entry() {
            let error = Diagnostic::error(codes::CONTRACT, format!("`{what}` stands outside `main`"));
            self.report(error.help(help), caller);
        }
        self.is_entry()
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
    pub(super) fn full_name(&self, name: &str) -> Name {
        below(&self.scopes, name)
    }

    /// Its name in the function being written: below the scope of the call.
    pub(super) fn own_name(&self, name: &str) -> Name {
        below(&self.scopes[self.frame.scopes..], name)
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

fn below(scopes: &[Name], name: &str) -> Name {
    let parts: Vec<&str> = scopes.iter().map(|scope| &**scope).chain([name]).collect();
    parts.join(".").into()
}

/// The file without its folders, so that a model gives the same bytes wherever it is built.
fn file_name(caller: Caller) -> &'static str {
    caller.file().rsplit(['/', '\\']).next().unwrap_or_default()
}

/// `model.rs:12`.
pub(super) fn place(caller: Caller) -> String {
    format!("{}:{}", file_name(caller), caller.line())
}
