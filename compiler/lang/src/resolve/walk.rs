//! The walk over all expressions and statements that resolves names.

use super::listing::listing;
use super::signature::form;
use super::{Findings, Program, Used, is_ignored};
use crate::ast::{Call, Expr, ExprKind, Function, Ident, If, Item, Over, Statement};
use crate::ops::{self, Place};
use crate::options::KnownLibrary;
use crate::suggest::suggest;
use crate::type_word::type_word;
use halite_ir::Registry;
use halite_support::nearest::nearest;
use halite_support::{Diagnostic, Diagnostics, Name, Span, codes};
use indexmap::{IndexMap, IndexSet};

/// Resolves every name and says which are used.
pub(super) fn walk<'m>(
    program: &Program<'m>,
    known: &[KnownLibrary],
    registry: &Registry,
    findings: &mut Findings,
) -> Used<'m> {
    let mut walk = Walk {
        program,
        known,
        registry,
        findings,
        used: Used::default(),
        locals: IndexMap::new(),
        function: None,
        misspelled: IndexSet::new(),
    };
    let mut visible = 0;
    for item in &program.model.items {
        walk.locals.clear();
        match item {
            Item::Config(keys) => {
                for key in keys {
                    walk.global_expr(&key.value, visible);
                    visible = program.globals.get_index_of(&*key.name.name).map_or(visible, |at| visible.max(at + 1));
                }
            }
            Item::Let(binding) => {
                walk.global_expr(&binding.value, visible);
                visible = program.globals.get_index_of(&*binding.name.name).map_or(visible, |at| visible.max(at + 1));
            }
            Item::Require(require) => walk.global_expr(&require.condition, visible),
            Item::Function(function) => walk.function(function),
            Item::Causal(_) => {}
        }
    }
    walk.used
}

/// Only so many of the first mistakes come with what was probably meant.
pub(super) const MAX_SUGGESTIONS: usize = 64;

struct Walk<'w, 'm> {
    program: &'w Program<'m>,
    /// The libraries that it may use.
    known: &'w [KnownLibrary],
    registry: &'w Registry,
    findings: &'w mut Findings,
    used: Used<'m>,
    locals: IndexMap<&'m str, Local>,
    /// The function being walked.
    function: Option<&'m str>,
    /// Unknown names that globals are taken to be.
    misspelled: IndexSet<Name>,
}

/// A local name.
#[derive(Clone, Copy)]
struct Local {
    kind: LocalKind,
    span: Span,
    read: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LocalKind {
    Argument,
    Variable,
    Param,
    Counter,
}

impl<'m> Walk<'_, 'm> {
    /// An expression outside functions sees the globals before it.
    fn global_expr(&mut self, expr: &'m Expr, visible: usize) {
        if let ExprKind::Name(name) = &expr.kind {
            let defined = self.program.globals.get_index_of(&**name);
            if defined.is_some_and(|at| at >= visible) {
                let message = format!("`{name}` is used before it is defined");
                self.findings.error(codes::UNKNOWN_NAME, message, expr.span, "defined further down");
                return;
            }
        }
        match &expr.kind {
            ExprKind::Name(_) => self.expr(expr),
            ExprKind::Call(call) => {
                self.call(call);
                expr.kind.for_each_part(|part| self.global_expr(part, visible));
            }
            kind => kind.for_each_part(|part| self.global_expr(part, visible)),
        }
    }

    fn function(&mut self, function: &'m Function) {
        self.function = Some(&function.name.name);
        self.used.calls.entry(&function.name.name).or_default();
        for argument in &function.arguments {
            match &argument.default {
                Some(default) if self.function == Some("main") => self.content(default),
                Some(default) => self.expr(default),
                None => {}
            }
            argument.presence.iter().for_each(|presence| self.presence(presence));
            if let Some(first) = self.locals.get(&*argument.name.name) {
                let first = first.span;
                self.findings.duplicate(&argument.name, first);
            }
            self.define(&argument.name, LocalKind::Argument);
        }
        for ty in function.arguments.iter().filter_map(|argument| argument.ty.as_ref()) {
            if type_word(&ty.dtype.name).is_none() {
                let message = format!("`{}` is not an element type", ty.dtype.name);
                let error = Diagnostic::error(codes::UNKNOWN_NAME, message).at(ty.dtype.span, "here");
                self.findings.errors.push(error.help("write `float` for the model's float type, or e.g. `s32`"));
            }
            self.expr(&ty.shape);
        }
        self.statements(&function.body);
        function.results.iter().for_each(|result| self.expr(result));
        let locals = std::mem::take(&mut self.locals);
        locals.into_iter().for_each(|(name, local)| self.leave(name, local));
        self.function = None;
    }

    /// Checks the expression in place of a default at an argument of `main`, which the host feeds.
    fn content(&mut self, content: &Expr) {
        if !content.is_causal() {
            let message = "an argument of `main` has no default: the host feeds it".to_owned();
            let error = Diagnostic::error(codes::CONTRACT, message).at(content.span, "here");
            self.findings.errors.push(error.help("remove it; a mask that is always causal is declared by `= causal`"));
        }
    }

    /// The condition under which an argument of `main` is there: the configuration decides it, before there is any argument.
    fn presence(&mut self, condition: &'m Expr) {
        if self.function != Some("main") {
            let message = "only an argument of `main` is there under a condition".to_owned();
            let error = Diagnostic::error(codes::CONTRACT, message).at(condition.span, "here");
            self.findings
                .errors
                .push(error.help("remove the condition: what a caller does not have is handed on all the same"));
        }
        let locals = std::mem::take(&mut self.locals);
        self.expr(condition);
        self.locals = locals;
    }

    fn statements(&mut self, statements: &'m [Statement]) {
        for statement in statements {
            match statement {
                Statement::Assign(assign) => {
                    self.expr(&assign.value);
                    assign.targets.iter().for_each(|target| self.define(target, LocalKind::Variable));
                }
                Statement::Param(param) => {
                    self.expr(&param.shape);
                    param.init_arguments.iter().for_each(|argument| self.expr(argument));
                    self.define(&param.name, LocalKind::Param);
                }
                Statement::For(each) => {
                    match &each.over {
                        Over::Range(from, to) => [from, to].into_iter().for_each(|bound| self.expr(bound)),
                        Over::List(list) => self.expr(list),
                    }
                    let outside = self.locals.len();
                    self.define(&each.variable, LocalKind::Counter);
                    self.statements(&each.body);
                    let inside = self.locals.split_off(outside);
                    inside.into_iter().for_each(|(name, local)| self.leave(name, local));
                }
                Statement::If(branch) => self.branch(branch),
                Statement::Output(names) => names.iter().for_each(|name| {
                    self.read(&name.name, name.span);
                    self.only_in_main("output", name);
                }),
                Statement::Metric(metric) => {
                    self.expr(&metric.sum);
                    metric.over.iter().for_each(|over| self.expr(over));
                    self.only_in_main("metric", &metric.name);
                }
                Statement::Loss(loss) => {
                    self.expr(&loss.value);
                    loss.weight.iter().for_each(|weight| self.expr(weight));
                    self.only_in_main("loss", &loss.name);
                }
            }
        }
    }

    /// Walks the bodies of an `if`. Names that all of them define are there after them.
    fn branch(&mut self, branch: &'m If) {
        branch.arms.iter().for_each(|(condition, _)| self.expr(condition));
        let outside = self.locals.len();
        let mut kept: IndexMap<&'m str, Local> = IndexMap::new();
        for body in branch.arms.iter().map(|(_, body)| body).chain([&branch.otherwise]) {
            self.statements(body);
            for (name, local) in self.locals.split_off(outside) {
                if !branch.defined.contains(name) {
                    self.leave(name, local);
                    continue;
                }
                let known = kept.entry(name).or_insert(local);
                known.read |= local.read;
                if local.kind == LocalKind::Param {
                    known.kind = local.kind;
                }
            }
        }
        self.locals.extend(kept);
    }

    fn only_in_main(&mut self, word: &str, name: &Ident) {
        let has_main = self.program.model.is_library || self.program.functions.contains_key("main");
        if self.function != Some("main") && has_main {
            let message = format!("`{word} {}` stands outside `main`", name.name);
            let error = Diagnostic::error(codes::CONTRACT, message).at(name.span, "return it to `main` instead");
            self.findings.errors.push(error.help(format!("return the value to `main`, and say `{word}` there")));
        }
    }

    /// Defines or rebinds a local name. It hides what is outside of functions.
    fn define(&mut self, name: &'m Ident, kind: LocalKind) {
        match self.locals.get_mut(&*name.name) {
            Some(local) if kind == LocalKind::Param || local.kind == LocalKind::Param => {
                let first = local.span;
                self.findings.duplicate(name, first);
            }
            Some(local) => local.span = name.span,
            None => _ = self.locals.insert(&name.name, Local { kind, span: name.span, read: false }),
        }
    }

    /// Reports a local name that went out of sight without being read.
    fn leave(&mut self, name: &'m str, local: Local) {
        let ident = Ident { name: name.into(), span: local.span };
        if local.read || is_ignored(&ident.name) {
            return;
        }
        match local.kind {
            LocalKind::Param => {
                let message = format!("parameter `{name}` is never used");
                self.findings.error(codes::UNUSED, message, local.span, "declared here");
            }
            LocalKind::Argument => self.findings.unused("argument", &ident, "remove it or begin its name with `_`"),
            LocalKind::Variable => self.findings.unused("variable", &ident, "remove it or begin its name with `_`"),
            LocalKind::Counter => {}
        }
    }

    fn expr(&mut self, expr: &'m Expr) {
        match &expr.kind {
            ExprKind::Name(name) => self.read(name, expr.span),
            ExprKind::Call(call) => self.call(call),
            _ => {}
        }
        expr.kind.for_each_part(|part| self.expr(part));
    }

    fn read(&mut self, name: &str, span: Span) {
        if let Some(local) = self.locals.get_mut(name) {
            local.read = true;
        } else if let Some((&global, _)) = self.program.globals.get_key_value(name) {
            self.used.globals.insert(global);
        } else if let Some((&function, _)) = self.program.functions.get_key_value(name) {
            self.used.calls.entry(self.function.unwrap_or_default()).or_default().push((function, span));
        } else if type_word(name).is_none() && !ops::is_op(name, self.registry) && !self.program.missing.contains(name)
        {
            let candidates = self.locals.keys().copied().chain(self.program.globals.keys().copied());
            let error = Diagnostic::error(codes::UNKNOWN_NAME, format!("no `{name}` is defined here"));
            let meant = if self.suggests() { nearest(name, candidates) } else { None };
            let is_local = meant.is_none_or(|meant| self.locals.contains_key(meant));
            // A name that is misspelled where the model defines it is one mistake, however often it is used.
            if is_local || self.misspelled.insert(name.into()) {
                let error = error.at(span, "unknown name");
                let listed = listing(name, self.program.model, self.known);
                self.findings.errors.push(match (listed, meant) {
                    (Some(listed), _) => error.help(listed),
                    (None, Some(meant)) => error.help(format!("did you mean `{meant}`?")),
                    (None, None) => error,
                });
            }
            // The name that was probably meant counts as read: a warning that it is not would only repeat the complaint.
            let Some(meant) = meant else { return };
            if let Some(local) = self.locals.get_mut(meant) {
                local.read = true;
            } else if let Some((&global, _)) = self.program.globals.get_key_value(meant) {
                self.used.globals.insert(global);
            }
        }
    }

    fn call(&mut self, call: &'m Call) {
        let name = &call.function;
        if self.is_value(&name.name) {
            self.read(&name.name, name.span);
            self.used.values.insert(name.span);
        } else if let Some((&own, callable)) = self.program.functions.get_key_value(&*name.name) {
            if let Some(caller) = self.function {
                self.used.calls.entry(caller).or_default().push((own, name.span));
            }
            self.signature(call, callable.function);
        } else if self.program.missing.contains(&*name.name) {
            self.used.refused.insert(name.span);
        } else if !ops::is_op(&name.name, self.registry) {
            let suggests = self.suggests();
            let own = self.program.functions.keys().copied().filter(|_| suggests);
            let error = ops::unknown_op(&name.name, own, self.registry, Place::whole(&name.span));
            let listed = listing(&name.name, self.program.model, self.known);
            self.findings.errors.push(listed.into_iter().fold(error, Diagnostic::help));
            self.used.refused.insert(name.span);
        }
    }

    /// Whether a name that is called holds a function: an argument, or a name that no function has.
    fn is_value(&self, name: &str) -> bool {
        let is_function = self.program.functions.contains_key(name) || ops::is_op(name, self.registry);
        match self.locals.get(name) {
            Some(local) => local.kind == LocalKind::Argument || !is_function,
            None => self.program.globals.contains_key(name) && !is_function,
        }
    }

    /// Whether suggestions are looked for: comparing each unknown name with each known one takes long where there are many of both,
    /// and nobody reads so far.
    fn suggests(&self) -> bool {
        self.findings.errors.len() < MAX_SUGGESTIONS
    }

    /// Checks the arguments of a call of a function of the model.
    fn signature(&mut self, call: &Call, function: &Function) {
        let mut errors = misfits(call, function, self.suggests());
        if !errors.is_empty() {
            self.used.refused.insert(call.function.span);
        }
        self.findings.errors.append(&mut errors);
    }
}

/// The errors of a call that does not fit the arguments of a function of the model; `suggests` says whether suggestions are looked
/// for.
pub(crate) fn misfits(call: &Call, function: &Function, suggests: bool) -> Diagnostics {
    let mut given: Vec<bool> = vec![false; function.arguments.len()];
    let mut errors = Diagnostics::new();
    let name = &function.name.name;
    for (at, argument) in call.given.iter().enumerate() {
        let found = match &argument.name {
            None => (at < given.len()).then_some(at),
            Some(keyword) => function.position(&keyword.name),
        };
        let span = argument.name.as_ref().map_or(argument.value.span, |keyword| keyword.span);
        match (found, &argument.name) {
            (Some(at), _) if !given[at] => given[at] = true,
            (Some(at), _) => {
                let message = format!("argument `{}` of `{name}` is given twice", function.arguments[at].name.name);
                errors.push(Diagnostic::error(codes::CALL, message).at(span, "again here").note(form(function)));
            }
            (None, Some(keyword)) => {
                let message = format!("`{name}` has no argument `{}`", keyword.name);
                let error = Diagnostic::error(codes::CALL, message).at(span, "unknown argument");
                let suggests = suggests && errors.len() < MAX_SUGGESTIONS;
                let known = function.arguments.iter().map(|own| &*own.name.name).filter(|_| suggests);
                let error = suggest(error, &keyword.name, known).also(function.name.span, "defined here");
                errors.push(error.note(form(function)));
            }
            (None, None) => {
                let message = format!("`{name}` takes {} arguments, found {}", given.len(), call.given.len());
                let error = Diagnostic::error(codes::CALL, message).at(span, "one too many");
                errors.push(error.also(function.name.span, "defined here").note(form(function)));
                break;
            }
        }
    }
    let missing = function.arguments.iter().zip(&given).find(|(own, given)| own.default.is_none() && !**given);
    if let (Some((own, _)), true) = (missing, errors.is_empty()) {
        let message = format!("argument `{}` of `{name}` is missing", own.name.name);
        let error = Diagnostic::error(codes::CALL, message).at(call.function.span, "in this call");
        errors.push(error.also(own.name.span, "defined here").note(form(function)));
    }
    errors
}
