//! The state of a builder.

use super::frame::{Frame, Handle, Owner};
use super::identity::Identity;
use crate::build::Caller;
use crate::ops::{Callee, MAX_DEPTH, Named, Names, Ops, Place, Report, too_long};
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
    pub(super) owner: Owner,
    pub(super) module: Module,
    /// The function being written.
    pub(super) frame: Frame,
    /// Those around it, the entry first.
    outer: Vec<Frame>,
    /// The names of all functions that were begun, each call anew.
    begun: Vec<Name>,
    /// The callees of the functions that were written.
    pub(super) functions: FxHashMap<Identity, Callee>,
    statements: usize,
    /// A limit on statements was reached and reported.
    limit_reached: bool,
    scopes: Vec<Name>,
    /// The names of batches, parameters, outputs and metrics.
    names: Names<Caller>,
    pub(super) batches: IndexMap<Name, Value>,
    /// The outputs of the model; `None` for one that is poisoned.
    pub(super) outputs: IndexMap<Name, Option<Value>>,
    /// The metrics and the added losses.
    pub(super) reports: Vec<Report>,
    pub(super) config: IndexMap<String, ConfigValue>,
    pub(super) errors: Diagnostics,
    seen: IndexSet<(Caller, &'static str)>,
}

/// A scope that was entered, with what was current before.
#[derive(Debug)]
#[must_use = "a scope is left with `leave_scope`"]
pub struct Scope {
    owner: Owner,
    /// The function that it was entered in.
    frame: usize,
    loc: LocId,
    depth: usize,
}

impl State {
    pub(super) fn new(name: Name, caller: &Caller) -> Self {
        let mut state = Self {
            owner: Owner::new(),
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
            reports: Vec::new(),
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
        caller: &Caller,
        operation: impl FnOnce(&mut Ops<'_>) -> Result<T>,
    ) -> Option<T> {
        let draft = std::mem::replace(&mut self.frame.draft, Draft::new(""));
        let mut ops = Ops { statements: self.statements, ..Ops::new(draft.resume(&mut self.module, registry), float) };
        let outer = ops.b.enter(LocKind::Code { file: caller.file(), line: caller.line() });
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
    pub(super) fn report(&mut self, error: Diagnostic, caller: &Caller) {
        if self.seen.insert((caller.clone(), error.code().id)) {
            self.keep(error, caller);
        }
    }

    /// Keeps a mistake, which points at the caller's line where the text of that is at hand.
    pub(super) fn keep(&mut self, error: Diagnostic, caller: &Caller) {
        let scope = self.scopes.join(".");
        let within = (!scope.is_empty()).then(|| format!("in `{scope}`"));
        let error = error.or_at(caller.span(), "here");
        let note = match (caller.span(), within) {
            (None, Some(within)) => Some(format!("at `{}`, {within}", caller.place())),
            (None, None) => Some(format!("at `{}`", caller.place())),
            (Some(_), within) => within,
        };
        self.errors.push(match note {
            Some(note) => error.note(note),
            None => error,
        });
    }

    /// Enters a scope; [`leave_scope`](Self::leave_scope) goes back. One with a wrong name is entered all the same.
    pub(super) fn enter_scope(&mut self, name: String, caller: &Caller) -> Scope {
        let is_text = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !name.split('.').all(is_text) {
            let error = Diagnostic::error(codes::SYNTAX, format!("`{name}` is not the name of a scope"));
            self.report(error.help("use letters, digits, `_` and dots: `layers.0`"), caller);
        }
        self.check_depth(caller);
        let (frame, loc) = (self.frame.number(), self.frame.draft.loc());
        let scope = Scope { owner: self.owner, frame, loc, depth: self.scopes.len() };
        self.frame.draft.set_loc(self.module.locs.add(scope.loc, LocKind::Scope(name.as_str().into())));
        self.scopes.push(name.into());
        scope
    }

    /// Leaves a scope, which is the one that was entered last: a mistake otherwise.
    pub(super) fn leave_scope(&mut self, scope: Scope, caller: &Caller) {
        let is_own = scope.owner == self.owner && scope.frame == self.frame.number();
        if !is_own || scope.depth + 1 != self.scopes.len() {
            let error =
                Diagnostic::error(codes::CONTRACT, "scopes are left in another order than they were entered in");
            self.report(error.help("leave the scope first that was entered last"), caller);
        }
        if is_own && scope.depth < self.scopes.len() {
            self.scopes.truncate(scope.depth);
            self.frame.draft.set_loc(scope.loc);
        }
    }

    fn check_depth(&mut self, caller: &Caller) {
        if self.scopes.len() + self.outer.len() >= MAX_DEPTH {
            let message = format!("calls and expressions nest more than {MAX_DEPTH} deep");
            self.report(too_long(message, Place::whole(&())), caller);
        }
    }

    /// Begins a function, in which no scope is entered yet, and gives its number; [`end_function`](Self::end_function) goes back.
    pub(super) fn begin_function(&mut self, name: Name, caller: &Caller) -> usize {
        self.check_depth(caller);
        let number = self.begun.len();
        let frame = Frame::new(number, name.clone(), self.scopes.len());
        self.begun.push(name);
        self.outer.push(std::mem::replace(&mut self.frame, frame));
        number
    }

    /// Goes on with the function of this number, without what was begun in it; says whether it is still being written.
    pub(super) fn return_to(&mut self, number: usize) -> bool {
        if self.frame.number() == number {
            return true;
        }
        if self.position(number).is_none() {
            return false;
        }
        while self.frame.number() != number && self.end_function().is_some() {}
        true
    }

    /// Ends the function being written.
    pub(super) fn end_function(&mut self) -> Option<Frame> {
        let frame = std::mem::replace(&mut self.frame, self.outer.pop()?);
        self.scopes.truncate(frame.scopes);
        Some(frame)
    }

    /// Whether the function being written is the entry.
    pub(super) fn is_entry(&self) -> bool {
        self.outer.is_empty()
    }

    /// A value of the function being written as tensors hold it.
    pub(super) fn handle(&self, value: Value) -> Handle {
        Handle { owner: self.owner, frame: self.frame.number(), value }
    }

    /// Whether a handle is one of this model.
    fn owns(&self, handle: Handle) -> bool {
        handle.owner == self.owner
    }

    /// The function that a handle is of, unless it has returned or is one of another model.
    pub(super) fn frame(&self, handle: Handle) -> Option<&Frame> {
        if handle.frame == self.frame.number() {
            return Some(&self.frame).filter(|_| self.owns(handle));
        }
        self.position(handle.frame).map(|at| &self.outer[at]).filter(|_| self.owns(handle))
    }

    /// The same to change it.
    pub(super) fn frame_mut(&mut self, handle: Handle) -> Option<&mut Frame> {
        if !self.owns(handle) {
            return None;
        }
        if handle.frame == self.frame.number() {
            return Some(&mut self.frame);
        }
        self.position(handle.frame).map(|at| &mut self.outer[at])
    }

    /// The index in `outer` of a function around the one being written.
    fn position(&self, number: usize) -> Option<usize> {
        self.outer.binary_search_by_key(&number, Frame::number).ok()
    }

    /// Reports the use of a value that is none of a function under way: its function has returned, or it is another model's.
    pub(super) fn report_outside(&mut self, handle: Handle, caller: &Caller) {
        let error = match self.begun.get(handle.frame).filter(|_| self.owns(handle)) {
            Some(name) => {
                let message = format!("this tensor is one of a call of `{name}` that has returned");
                Diagnostic::error(codes::KIND, message).help(format!("return it from the body of `{name}`"))
            }
            None => Diagnostic::error(codes::KIND, "this tensor is one of another model")
                .help("use tensors of the builder that made them"),
        };
        self.report(error, caller);
    }

    /// Whether the entry is being written; if not, reports that `what` stands outside of it.
    pub(super) fn check_entry(&mut self, what: &str, help: &str, caller: &Caller) -> bool {
        if !self.is_entry() {
            let error = Diagnostic::error(codes::CONTRACT, format!("`{what}` stands outside `main`"));
            self.report(error.help(help), caller);
        }
        self.is_entry()
    }

    /// Takes a name, `full` with its scopes; reports why it cannot be had.
    pub(super) fn claim(&mut self, name: &str, full: &Name, named: Named, caller: &Caller) -> bool {
        self.check_name(name, caller);
        let Err((error, first)) = self.names.claim(full, named, caller.clone(), Place::whole(&())) else { return true };
        let error = match first {
            Some(first) => match first.span() {
                Some(span) => error.also(span, "first here"),
                None => error.note(format!("first at `{}`", first.place())),
            },
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
    pub(super) fn check_name(&mut self, name: &str, caller: &Caller) {
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
