//! Running a model on its configuration: numbers are computed, tensors become instructions.

mod assemble;
mod config;
mod expr;
mod frame;
mod function;
mod report;
mod spans;

use crate::ast::{Call, Causal, Expr, Item, Model};
use crate::ops::{Callee, Lists, MAX_DEPTH, MAX_EVALUATIONS, Names, Ops, Place, Value, settle, too_long};
use crate::options::Options;
use crate::parse::parse;
use crate::resolve::{Program, resolve};
use crate::texts::Texts;
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
    /// Warnings, which do not stop elaboration.
    pub warnings: Diagnostics,
}

impl Elaborated {
    /// A model without configuration.
    pub fn new(module: Module) -> Self {
        Self { module, config: IndexMap::new(), warnings: Diagnostics::new() }
    }
}

/// Makes a model text that uses no library into IR. `file` is what spans refer to.
///
/// # Errors
/// As [`elaborate_texts`].
pub fn elaborate(file: FileId, text: &str, options: &Options, registry: &Registry) -> Result<Elaborated, Diagnostics> {
    elaborate_parsed(&[(parse(file, text)?, &[])], &[file], options, registry)
}

/// Makes a model with the libraries that it uses into IR.
///
/// # Errors
/// Every mistake in the texts, that of the model first, then every override that the model does not take and that another text states,
/// each in source order, the other texts in the order of the overrides. A text that leaves the grammar gives one diagnostic.
pub fn elaborate_texts(texts: &Texts, options: &Options, registry: &Registry) -> Result<Elaborated, Diagnostics> {
    let (mut parsed, mut errors) = (Vec::new(), Diagnostics::new());
    for (source, uses) in texts.linked() {
        match parse(source.id(), source.text()) {
            Ok(model) => parsed.push((model, uses)),
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let files: Vec<FileId> = texts.files().map(|file| file.id()).collect();
    elaborate_parsed(&parsed, &files, options, registry)
}

/// The last of the texts is the model; `files` has it first.
fn elaborate_parsed(
    texts: &[(Model, &[usize])],
    files: &[FileId],
    options: &Options,
    registry: &Registry,
) -> Result<Elaborated, Diagnostics> {
    let (programs, findings) = resolve(texts, &options.libraries, registry);
    let Some(Program { model, .. }) = programs.last() else {
        return Err(Diagnostic::bug("a model without a text").into());
    };
    let mut module = Module::new(model.name.name.clone());
    module.bidirectional = model.items.iter().any(|item| matches!(item, Item::Causal(Causal { holds: false, .. })));
    let mut elaborator =
        Elaborator::new(&programs, options, Builder::new(&mut module, registry, "main"), findings.errors);
    let config = elaborator.config();
    if !elaborator.broken_config {
        elaborator.main();
    }
    elaborator.finish(files)?;
    settle(&mut module, registry)?;
    Ok(Elaborated { module, config, warnings: findings.warnings })
}

/// The mistake has been reported; what depends on it is skipped.
#[derive(Clone, Copy, Debug)]
struct Reported;

type Eval<T> = Result<T, Reported>;

type Locals = IndexMap<Name, Eval<Value>>;

/// A name outside of functions, after the text that it stands in.
type Global = (usize, Name);

/// The state of a run.
#[derive(Debug)]
struct Elaborator<'r, 'm> {
    /// The programs of the libraries, then that of the model.
    programs: &'r [Program<'m>],
    /// The index of the program that is being run.
    here: usize,
    options: &'r Options,
    ops: Ops<'r>,
    /// For each text the names that it defines outside of functions.
    globals: Vec<Locals>,
    /// Some setting or `require` failed, so that running `main` would only repeat the complaint.
    broken_config: bool,
    /// The types of the tensors among them.
    global_types: FxHashMap<Global, Vec<TensorType>>,
    frame: Frame,
    functions: FxHashMap<NamedKey, Known>,
    lists: Lists,
    /// The callee of each function: one for all names of dimensions.
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
    /// Of each call of a function, or of `main`, and each op that refused a shape there: which of the errors says so.
    refused_shapes: FxHashMap<(Option<Span>, Name), usize>,
}

/// The place of a declaration, and the call that ran it.
#[derive(Clone, Copy, Debug)]
struct Declaration {
    span: Span,
    call: Option<Span>,
}

impl<'r, 'm> Elaborator<'r, 'm> {
    fn new(programs: &'r [Program<'m>], options: &'r Options, b: Builder<'r>, errors: Diagnostics) -> Self {
        let seen = errors.iter().filter_map(|error| Some((error.primary()?.span, error.code().id))).collect();
        Self {
            programs,
            here: programs.len() - 1,
            options,
            ops: Ops::new(b, options.float),
            globals: vec![IndexMap::new(); programs.len()],
            broken_config: false,
            global_types: FxHashMap::default(),
            frame: Frame::default(),
            functions: FxHashMap::default(),
            lists: Lists::default(),
            callees: FxHashMap::default(),
            calls: Vec::new(),
            names: Names::new(),
            depth: 0,
            evaluations: 0,
            limit_reached: false,
            errors,
            seen,
            refused_shapes: FxHashMap::default(),
        }
    }

    /// The program that is being run.
    fn program(&self) -> &'r Program<'m> {
        &self.programs[self.here]
    }

    /// The model.
    fn model(&self) -> &'r Program<'m> {
        &self.programs[self.programs.len() - 1]
    }

    /// Runs `body` with another text as the one that is being run.
    fn within<T>(&mut self, home: usize, body: impl FnOnce(&mut Self) -> T) -> T {
        let here = std::mem::replace(&mut self.here, home);
        let result = body(self);
        self.here = here;
        result
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
            let callers = self.callers(place);
            self.errors.push(callers.into_iter().fold(diagnostic, |error, call| error.also(call, "called from here")));
        }
        Reported
    }

    /// The call that ran what stands at a place and, where that call stands in a library, the one in the model that led there.
    fn callers(&self, place: Option<Span>) -> Vec<Span> {
        let home = self.model().model.name.span.file;
        let nearest = self.calls.last().copied().filter(|call| place.is_some_and(|span| span != *call));
        let of_model = self.calls.iter().rev().copied().find(|call| call.file == home);
        let of_model = of_model.filter(|_| nearest.is_some_and(|nearest| nearest.file != home));
        nearest.into_iter().chain(of_model).collect()
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
        let globals = Globals::of(self.program(), &self.globals, self.options);
        let result = run(&mut self.ops, &Text { whole: span, parts, call, globals });
        result.map_err(|error| match call {
            Some(call) if error.code() == codes::SHAPE => self.refused_shape(error, &call.function.name),
            _ => self.report(error),
        })
    }

    /// Reports a shape that an op refuses. Further shapes that it refuses in the same run of a function mostly have the same cause, as
    /// where queries, keys and values come from one input: they become further places of the first error.
    fn refused_shape(&mut self, error: Diagnostic, op: &Name) -> Reported {
        let run = (self.calls.last().copied(), op.clone());
        let (Some(&first), Some(place)) = (self.refused_shapes.get(&run), error.primary().map(|label| label.span))
        else {
            let at = self.errors.len();
            let reported = self.report(error);
            if self.errors.len() > at {
                self.refused_shapes.insert(run, at);
            }
            return reported;
        };
        if self.seen.insert((place, codes::SHAPE.id)) {
            let first = &mut self.errors[first];
            let is_same = first.message() == error.message();
            let label = if is_same { "here too".to_owned() } else { format!("here too: {}", error.message()) };
            *first = first.clone().also(place, label);
        }
        Reported
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
