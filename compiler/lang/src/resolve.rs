//! What can be checked without values: names, signatures, recursion, use.

mod recursion;
mod walk;

pub(crate) use walk::misfits;

use crate::ast::{Binding, Function, Ident, Item, Model};
use crate::ops;
use halite_ir::Registry;
use halite_support::{Code, Diagnostic, Diagnostics, Name, Span, codes};
use indexmap::{IndexMap, IndexSet};

/// A model with its definitions by name.
#[derive(Debug)]
pub(crate) struct Program<'m> {
    pub(crate) model: &'m Model,
    /// Config keys and `let`s, with their defining names.
    pub(crate) globals: IndexMap<&'m str, Global<'m>>,
    pub(crate) functions: IndexMap<&'m str, &'m Function>,
    /// Places of called names whose call was refused: unknown, with wrong arguments, or part of a recursion.
    pub(crate) refused: IndexSet<Span>,
    /// Places of called names that hold the function that is called.
    pub(crate) values: IndexSet<Span>,
}

/// A config key or a `let`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Global<'m> {
    pub(crate) binding: &'m Binding,
    pub(crate) is_config: bool,
}

impl Program<'_> {
    /// The names of the config keys, in order.
    pub(crate) fn config_keys(&self) -> impl Iterator<Item = &str> {
        self.globals.iter().filter(|(_, global)| global.is_config).map(|(name, _)| *name)
    }
}

/// Checks a model. The program is as whole as the errors allow.
pub(crate) fn resolve<'m>(model: &'m Model, registry: &Registry) -> (Program<'m>, Findings) {
    let mut findings = Findings::default();
    let mut program = collect(model, registry, &mut findings);
    let used = walk::walk(&program, registry, &mut findings);
    let recursive = recursion::check(&program, &used.calls, &mut findings);
    program.refused.clone_from(&used.refused);
    program.refused.extend(recursive);
    program.values.clone_from(&used.values);
    report_unused(&program, &used, &mut findings);
    (program, findings)
}

/// What resolving found.
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

fn collect<'m>(model: &'m Model, registry: &Registry, findings: &mut Findings) -> Program<'m> {
    let mut program = Program {
        model,
        globals: IndexMap::new(),
        functions: IndexMap::new(),
        refused: IndexSet::new(),
        values: IndexSet::new(),
    };
    let mut said = None;
    for item in &model.items {
        match item {
            Item::Config(keys) => keys.iter().for_each(|key| add_global(&mut program, key, true, findings)),
            Item::Let(binding) => add_global(&mut program, binding, false, findings),
            Item::Function(function) => add_function(&mut program, function, registry, findings),
            Item::Causal(causal) => match said {
                Some(first) => findings.said_twice(causal.span, first),
                None => said = Some(causal.span),
            },
            Item::Require(_) => {}
        }
    }
    if !program.functions.contains_key("main") {
        let message = format!("model `{}` has no `main`", model.name.name);
        let error = Diagnostic::error(codes::CONTRACT, message).at(model.name.span, "this model");
        findings.errors.push(error.help("add `fn main(tokens: s32[batch, seq + 1]) { .. return loss, count }`"));
    }
    program
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
        Some(first) => findings.duplicate(&function.name, first.name.span),
        None => _ = program.functions.insert(name, function),
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
    for (name, function) in &program.functions {
        if *name != "main" && !called.contains(name) {
            findings.unused("function", &function.name, "remove it");
        }
    }
}

/// Whether a name was chosen to say that it is not used.
fn is_ignored(name: &Name) -> bool {
    name.starts_with('_')
}
