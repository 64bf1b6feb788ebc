//! Running a model on its configuration: numbers are computed, tensors become instructions.

mod assemble;
mod config;
mod expr;
mod frame;
mod function;
mod report;
mod spans;

use crate::ast::{Call, Causal, Expr, Item};
use crate::ops::{Callee, MAX_DEPTH, MAX_EVALUATIONS, Names, Ops, Place, Value, settle, too_long};
use crate::options::Options;
use crate::parse::parse;
use crate::resolve::{Program, resolve};
use frame::{Frame, Key, Known, NamedKey};
use halite_ir::{Builder, Module, Registry, TensorType};
use halite_recipe::ConfigValue;
use halite_support::{Code, Diagnostic, Diagnostics, FileId, Name, Span, codes};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashMap;
use spans::{Globals, Text};

/// A model made into IR.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Elaborated {
    /// The module, in phase `built`. Its entry `main` takes the batch, then the weights in the order of their first
    /// use, and returns the loss sum, the count, and the outputs the model names.
    pub module: Module,
    /// The configuration as it was used, in the model's order.
    pub config: IndexMap<String, ConfigValue>,
    /// What is suspicious but stops nothing.
    pub warnings: Diagnostics,
}

/// Makes a model text into IR. `file` is what spans refer to.
///
/// # Errors
/// Every mistake in the text, then every override that the model does not take and that another text states, each in
/// source order, the other texts in the order of the overrides. A text that leaves the grammar gives one diagnostic.
pub fn elaborate(file: FileId, text: &str, options: &Options, registry: &Registry) -> Result<Elaborated, Diagnostics> {
    let model = parse(file, text)?;
    let (program, findings) = resolve(&model, registry);
    let mut module = Module::new(model.name.name.clone());
    module.bidirectional = model.items.iter().any(|item| matches!(item, Item::Causal(Causal { holds: false, .. })));
    let mut elaborator =
        Elaborator::new(&program, options, Builder::new(&mut module, registry, "main"), findings.errors);
    let config = elaborator.config();
    if !elaborator.broken_config {
        elaborator.main();
    }
    elaborator.finish(file)?;
    settle(&mut module, registry)?;
    Ok(Elaborated { module, config, warnings: findings.warnings })
}

/// The mistake has been reported; what depends on it is skipped.
#[derive(Clone, Copy, Debug)]
struct Reported;

type Eval<T> = Result<T, Reported>;

type Locals = IndexMap<Name, Eval<Value>>;

/// The state of a run.
#[derive(Debug)]
struct Elaborator<'r, 'm> {
    program: &'r Program<'m>,
    options: &'r Options,
    ops: Ops<'r>,
    globals: Locals,
    /// Some setting or `require` failed, so that running `main` would only repeat the complaint.
    broken_config: bool,
    /// The types of the tensors among them.
    global_types: FxHashMap<Name, Vec<TensorType>>,
    frame: Frame,
    functions: FxHashMap<NamedKey, Known>,
    /// What is called of each: one, whatever names dimensions have.
    callees: FxHashMap<Key, Callee>,
    /// The calls of model functions around the current statement.
    calls: Vec<Span>,
    /// The names of batches, weights, outputs and metrics.
    names: Names<Declaration>,
    depth: usize,
    /// Expressions evaluated so far.
    evaluations: usize,
    /// A limit on depth or statements was reached and reported; what follows would only reach it again.
    limit_reached: bool,
    errors: Diagnostics,
    seen: IndexSet<(Span, &'static str)>,
}

/// Where something was declared, and the call that ran the declaration.
#[derive(Clone, Copy, Debug)]
struct Declaration {
    span: Span,
    call: Option<Span>,
}

impl<'r, 'm> Elaborator<'r, 'm> {
    fn new(program: &'r Program<'m>, options: &'r Options, b: Builder<'r>, errors: Diagnostics) -> Self {
        let seen = errors.iter().filter_map(|error| Some((error.primary()?.span, error.code().id))).collect();
        Self {
            program,
            options,
            ops: Ops::new(b, options.float),
            globals: IndexMap::new(),
            broken_config: false,
            global_types: FxHashMap::default(),
            frame: Frame::default(),
            functions: FxHashMap::default(),
            callees: FxHashMap::default(),
            calls: Vec::new(),
            names: Names::new(),
            depth: 0,
            evaluations: 0,
            limit_reached: false,
            errors,
            seen,
        }
    }

    /// Keeps a diagnostic unless the same kind was reported for the same place: unrolled code repeats its mistakes. Once
    /// the model has run too long, only the first limit that it reaches is kept.
    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        let is_limit = diagnostic.code() == codes::LIMIT && self.ops.is_exhausted();
        if is_limit && std::mem::replace(&mut self.limit_reached, true) {
            return Reported;
        }
        let place = diagnostic.primary().map(|label| label.span);
        if place.is_none_or(|span| self.seen.insert((span, diagnostic.code().id))) {
            let caller = self.calls.last().filter(|call| place.is_some_and(|span| span != **call));
            self.errors.push(match caller {
                Some(&call) => diagnostic.also(call, "called from here"),
                None => diagnostic,
            });
        }
        Reported
    }

    fn error(&mut self, code: Code, message: impl Into<String>, span: Span, label: impl Into<String>) -> Reported {
        self.report(Diagnostic::error(code, message).at(span, label))
    }

    /// Reports what went wrong, if anything did.
    fn check<T>(&mut self, result: halite_support::Result<T>) -> Eval<T> {
        result.map_err(|error| self.report(error))
    }

    /// Runs an operation that stands at `span` and has these parts.
    fn operate<T>(
        &mut self,
        span: Span,
        call: Option<&Call>,
        parts: Vec<&Expr>,
        run: impl FnOnce(&mut Ops<'r>, &Text<'_>) -> halite_support::Result<T>,
    ) -> Eval<T> {
        let globals = Globals { values: &self.globals, overrides: &self.options.overrides };
        let result = run(&mut self.ops, &Text { whole: span, parts, call, globals });
        self.check(result)
    }

    /// Runs `body` one level deeper.
    fn nested<T>(&mut self, span: Span, body: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.limit(format!("calls and expressions nest more than {MAX_DEPTH} deep"), span));
        }
        self.evaluations += 1;
        if self.is_exhausted() {
            let message =
                format!("the model evaluates more than {MAX_EVALUATIONS} expressions once its loops are unrolled");
            return Err(self.limit(message, span));
        }
        self.depth += 1;
        let result = body(self);
        self.depth -= 1;
        result
    }

    /// Reports the first limit that is reached.
    fn limit(&mut self, message: String, span: Span) -> Reported {
        if std::mem::replace(&mut self.limit_reached, true) {
            return Reported;
        }
        self.report(too_long(message, Place::whole(&span)))
    }

    fn is_exhausted(&self) -> bool {
        self.evaluations > MAX_EVALUATIONS
    }

    /// Counts a statement.
    fn step(&mut self, span: Span) -> Eval<()> {
        if self.is_exhausted() {
            return Err(Reported);
        }
        let counted = self.ops.step(Place::whole(&span));
        self.check(counted)
    }

    fn describe(&self, value: &Value) -> String {
        self.ops.describe(value)
    }

    fn wrong_kind(&mut self, expected: &str, found: &Value, at: &Expr) -> Reported {
        let error = self.ops.wrong_kind(expected, found, Place::whole(&at.span));
        self.report(error)
    }
}
