//! Checks that need no values: names, signatures, recursion, use.

mod library;
mod listing;
mod recursion;
mod signature;
mod walk;

pub(crate) use walk::misfits;

use crate::ast::{Binding, Function, Ident, Item, Model};
use crate::ops;
use crate::options::KnownLibrary;
use halite_ir::Registry;
use halite_support::{Code, Diagnostic, Diagnostics, Name, Span, codes};
use indexmap::{IndexMap, IndexSet};

/// A text with its definitions by name.
#[derive(Debug)]
pub(crate) struct Program<'m> {
    pub(crate) model: &'m Model,
    /// Its index among the texts of a model, of which that of the model is the last one.
    pub(crate) home: usize,
    /// Config keys and `let`s, with their defining names.
    pub(crate) globals: IndexMap<&'m str, Global<'m>>,
    /// The functions that it can call, by name: its own, and those of libraries that it lists.
    pub(crate) functions: IndexMap<&'m str, Callable<'m>>,
    /// Names that it lists and that no library has.
    pub(crate) missing: IndexSet<&'m str>,
    /// Places of called names whose call was refused: unknown, with wrong arguments, or part of a recursion.
    pub(crate) refused: IndexSet<Span>,
    /// Places of called names that hold the function that is called.
    pub(crate) values: IndexSet<Span>,
}

/// A function as a text can call it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Callable<'m> {
    pub(crate) function: &'m Function,
    /// The text that it stands in.
    pub(crate) home: usize,
    /// The name that brings it into scope: its own, or that in the `use` that lists it.
    pub(crate) named: &'m Ident,
}

/// A config key or a `let`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Global<'m> {
    pub(crate) binding: &'m Binding,
    pub(crate) is_config: bool,
}

impl<'m> Program<'m> {
    /// Of a text of which nothing is known yet.
    fn new(model: &'m Model, home: usize) -> Self {
        Self {
            model,
            home,
            globals: IndexMap::new(),
            functions: IndexMap::new(),
            missing: IndexSet::new(),
            refused: IndexSet::new(),
            values: IndexSet::new(),
        }
    }

    /// The names of the config keys, in order.
    pub(crate) fn config_keys(&self) -> impl Iterator<Item = &str> {
        self.globals.iter().filter(|(_, global)| global.is_config).map(|(name, _)| *name)
    }
}

/// Checks the texts of a model, each with the indices of those that it uses, which are before it. `known` are libraries that it may
/// use. Programs are as whole as the errors allow.
pub(crate) fn resolve<'m>(
    texts: &'m [(Model, &[usize])],
    known: &[KnownLibrary],
    registry: &Registry,
) -> (Vec<Program<'m>>, Findings) {
    let mut findings = Findings::default();
    let mut programs: Vec<Program<'m>> = Vec::with_capacity(texts.len());
    for (model, uses) in texts {
        let mut program = Program::new(model, programs.len());
        library::list(&mut program, uses, &programs, &mut findings);
        resolve_one(&mut program, known, registry, &mut findings);
        programs.push(program);
    }
    if let Some(model) = programs.last().map(|program| program.model).filter(|model| model.is_library) {
        findings.errors.push(library::alone(model));
    }
    (programs, findings)
}

fn resolve_one(program: &mut Program<'_>, known: &[KnownLibrary], registry: &Registry, findings: &mut Findings) {
    collect(program, registry, findings);
    let used = walk::walk(program, known, registry, findings);
    let recursive = recursion::check(program, &used.calls, findings);
    report_unused(program, &used, findings);
    let Used { refused, values, .. } = used;
    program.refused = refused;
    program.refused.extend(recursive);
    program.values = values;
}

/// The errors and warnings of resolution.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) errors: Diagnostics,
    pub(crate) warnings: Diagnostics,
}

impl Findings {
    fn error(&mut self, code: Code, message: String, span: Span, label: &str) {
        self.errors.push(Diagnostic::error(code, message).at(span, label));
    }

    fn duplicate(&mut self, name: &Ident, first: Span) {
        let message = format!("`{}` is defined twice", name.name);
        self.errors
            .push(Diagnostic::error(codes::DUPLICATE, message).at(name.span, "again here").also(first, "first here"));
    }

    fn said_twice(&mut self, again: Span, first: Span) {
        let error = Diagnostic::error(codes::DUPLICATE, "`causal` is said twice").at(again, "again here");
        self.errors.push(error.also(first, "first here").help("keep one of them"));
    }

    fn unused(&mut self, what: &str, name: &Ident, help: &str) {
        let message = format!("{what} `{}` is never used", name.name);
        self.warnings.push(Diagnostic::warning(codes::UNUSED, message).at(name.span, "defined here").help(help));
    }
}

fn collect(program: &mut Program<'_>, registry: &Registry, findings: &mut Findings) {
    let model = program.model;
    let mut said = None;
    for item in &model.items {
        match item {
            Item::Config(keys) => keys.iter().for_each(|key| add_global(program, key, !model.is_library, findings)),
            Item::Let(binding) => add_global(program, binding, false, findings),
            Item::Function(function) => add_function(program, function, registry, findings),
            Item::Causal(causal) => match said {
                Some(first) => findings.said_twice(causal.span, first),
                None => said = Some(causal.span),
            },
            Item::Require(_) => {}
        }
    }
    if model.is_library {
        library::check(model, findings);
    } else if !program.functions.contains_key("main") {
        let message = format!("model `{}` has no `main`", model.name.name);
        let error = Diagnostic::error(codes::CONTRACT, message).at(model.name.span, "this model");
        findings.errors.push(error.help("add `fn main(tokens: s32[batch, seq + 1]) { .. return loss, count }`"));
    }
}

fn add_global<'m>(program: &mut Program<'m>, binding: &'m Binding, is_config: bool, findings: &mut Findings) {
    let name: &str = &binding.name.name;
    match program.globals.get(name) {
        Some(first) => findings.duplicate(&binding.name, first.binding.name.span),
        None => _ = program.globals.insert(name, Global { binding, is_config }),
    }
}

fn add_function<'m>(program: &mut Program<'m>, function: &'m Function, registry: &Registry, findings: &mut Findings) {
    let name: &str = &function.name.name;
    if let Some(error) = ops::name_of_op(name, registry) {
        findings.errors.push(error.at(function.name.span, "choose another name"));
    }
    match program.functions.get(name) {
        Some(first) => findings.duplicate(&function.name, first.named.span),
        None => {
            let own = Callable { function, home: program.home, named: &function.name };
            program.functions.insert(name, own);
        }
    }
}

/// The names that something refers to.
#[derive(Debug, Default)]
struct Used<'m> {
    globals: IndexSet<&'m str>,
    /// For each function what it calls, with the place.
    calls: IndexMap<&'m str, Vec<(&'m str, Span)>>,
    /// Places of called names whose call was refused.
    refused: IndexSet<Span>,
    /// Places of called names that hold the function that is called.
    values: IndexSet<Span>,
}

/// A config key without effect is an error, since setting it would silently do nothing; the rest are warnings.
fn report_unused(program: &Program<'_>, used: &Used<'_>, findings: &mut Findings) {
    for (name, global) in &program.globals {
        if used.globals.contains(name) {
            continue;
        }
        let defined = &global.binding.name;
        if global.is_config {
            let message = format!("config key `{name}` has no effect");
            let error = Diagnostic::error(codes::UNUSED, message).at(defined.span, "never used");
            findings.errors.push(error.help("remove it or use it"));
        } else {
            findings.unused("`let`", defined, "remove it");
        }
    }
    let called: IndexSet<&str> = used.calls.values().flatten().map(|(callee, _)| *callee).collect();
    for (name, callable) in &program.functions {
        let is_own = callable.home == program.home;
        if *name == "main" || called.contains(name) || (is_own && program.model.is_library) {
            continue;
        }
        match is_own {
            true => findings.unused("function", callable.named, "remove it"),
            false => findings.unused("listed function", callable.named, "take it off the list"),
        }
    }
}

/// Whether a name was chosen to say that it is not used.
fn is_ignored(name: &Name) -> bool {
    name.starts_with('_')
}
