//! Running a model on its configuration: numbers are computed, tensors become instructions.

mod arithmetic;
mod assemble;
pub(crate) mod builtins;
mod config;
mod expr;
mod function;
mod tensor;
mod value;

use crate::ast::Expr;
use crate::options::{ConfigValue, Options};
use crate::parse::parse;
use crate::resolve::{Program, resolve};
use halite_ir::{Builder, Module, Op, Registry, Value as Tensor};
use halite_support::{Code, Diagnostic, Diagnostics, FileId, Name, Span, codes};
use halite_tensor::DType;
use indexmap::{IndexMap, IndexSet};
use value::Value;

/// A model made into IR.
#[derive(Debug)]
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
/// Every mistake in the text, and every override that the model does not take, in source order. A text that leaves the
/// grammar gives one diagnostic.
pub fn elaborate(file: FileId, text: &str, options: &Options, registry: &Registry) -> Result<Elaborated, Diagnostics> {
    let model = parse(file, text).map_err(|diagnostic| vec![diagnostic])?;
    let (program, findings) = resolve(&model, registry);
    let mut module = Module::new(model.name.name.clone());
    let mut elaborator =
        Elaborator::new(&program, options, Builder::new(&mut module, registry, "main"), findings.errors);
    let config = elaborator.config();
    if !elaborator.broken_config {
        elaborator.main();
    }
    elaborator.finish()?;
    Ok(Elaborated { module, config, warnings: findings.warnings })
}

/// The element type a word names; `Some(None)` stands for the module's float type.
pub(crate) fn type_word(word: &str) -> Option<Option<DType>> {
    if word == "float" { Some(None) } else { DType::parse(word).map(Some) }
}

/// The mistake has been reported; what depends on it is skipped.
#[derive(Clone, Copy, Debug)]
struct Reported;

type Eval<T> = Result<T, Reported>;

type Locals = IndexMap<Name, Eval<Value>>;

/// How deep calls and expressions may nest while a model runs.
const MAX_DEPTH: usize = 160;

/// How many statements a model may run after unrolling.
const MAX_STATEMENTS: usize = 200_000;

/// How many elements a tensor may have.
const MAX_ELEMENTS: usize = 1 << 44;

/// The state of a run.
#[derive(Debug)]
struct Elaborator<'r, 'm> {
    program: &'r Program<'m>,
    options: &'r Options,
    b: Builder<'r>,
    /// Every primitive with default attributes.
    primitives: Vec<Op>,
    globals: Locals,
    /// Some setting or `require` failed, so that running `main` would only repeat the complaint.
    broken_config: bool,
    /// The scopes around the current statement.
    scopes: Vec<Name>,
    /// The calls of model functions around the current statement.
    calls: Vec<Span>,
    /// Each weight, with its declaration and the call that ran it.
    weights: IndexMap<Name, Weight>,
    outputs: IndexMap<Name, Eval<Tensor>>,
    depth: usize,
    statements: usize,
    /// A limit on depth or statements was reached and reported; what follows would only reach it again.
    limit_reached: bool,
    errors: Diagnostics,
    seen: IndexSet<(Span, &'static str)>,
}

/// Where a weight was declared.
#[derive(Clone, Copy, Debug)]
struct Weight {
    declaration: Span,
    call: Option<Span>,
    value: Tensor,
}

impl<'r, 'm> Elaborator<'r, 'm> {
    fn new(program: &'r Program<'m>, options: &'r Options, b: Builder<'r>, errors: Diagnostics) -> Self {
        Self {
            program,
            options,
            b,
            primitives: Op::primitives(),
            globals: IndexMap::new(),
            broken_config: false,
            scopes: Vec::new(),
            calls: Vec::new(),
            weights: IndexMap::new(),
            outputs: IndexMap::new(),
            depth: 0,
            statements: 0,
            limit_reached: false,
            errors,
            seen: IndexSet::new(),
        }
    }

    /// Keeps a diagnostic unless the same kind was reported for the same place: unrolled code repeats its mistakes.
    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        let place = diagnostic.primary().map(|label| label.span);
        if place.is_none_or(|span| self.seen.insert((span, diagnostic.code().id))) {
            let caller = self.calls.last().filter(|_| place.is_some());
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

    /// Runs `body` one level deeper.
    fn nested<T>(&mut self, span: Span, body: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        if self.depth >= MAX_DEPTH {
            let message = format!("calls and expressions nest more than {MAX_DEPTH} deep");
            return Err(self.limit(message, span));
        }
        self.depth += 1;
        let result = body(self);
        self.depth -= 1;
        result
    }

    /// Counts a statement.
    fn step(&mut self, span: Span) -> Eval<()> {
        self.statements += 1;
        if self.statements <= MAX_STATEMENTS {
            return Ok(());
        }
        let message = format!("the model runs more than {MAX_STATEMENTS} statements once its loops are unrolled");
        Err(self.limit(message, span))
    }

    fn limit(&mut self, message: String, span: Span) -> Reported {
        if !std::mem::replace(&mut self.limit_reached, true) {
            let error = Diagnostic::error(codes::LIMIT, message).at(span, "stopped here");
            self.report(error.help("shorten the loops or the chain of calls"));
        }
        Reported
    }

    /// Emits instructions at a source position.
    fn emit<T>(&mut self, span: Span, build: impl FnOnce(&mut Builder<'r>) -> halite_support::Result<T>) -> Eval<T> {
        let outer = self.b.enter_span(span);
        let result = build(&mut self.b);
        self.b.set_loc(outer);
        result.map_err(|diagnostic| self.report(diagnostic.or_at(Some(span), "here")))
    }

    /// As [`emit`](Self::emit) for one tensor of bounded size.
    fn emit_tensor(
        &mut self,
        span: Span,
        build: impl FnOnce(&mut Builder<'r>) -> halite_support::Result<Tensor>,
    ) -> Eval<Value> {
        let tensor = self.emit(span, build)?;
        self.check_size(tensor, span)?;
        Ok(Value::Tensor(tensor))
    }

    fn check_size(&mut self, tensor: Tensor, span: Span) -> Eval<()> {
        let ty = self.b.ty(tensor);
        if elements(ty.shape()).is_some() {
            return Ok(());
        }
        let message = format!("`{ty}` has more than {MAX_ELEMENTS} elements");
        Err(self.error(codes::LIMIT, message, span, "this tensor"))
    }

    fn describe(&self, value: &Value) -> String {
        value.describe(&self.b)
    }

    fn wrong_kind(&mut self, expected: &str, found: &Value, at: &Expr) -> Reported {
        let found = self.describe(found);
        let message = format!("expected {expected}, found {found}");
        let error = Diagnostic::error(codes::KIND, message).at(at.span, format!("this is {found}"));
        self.report(error.help(format!("write {expected} here")))
    }
}

/// The product of the sizes if it is at most [`MAX_ELEMENTS`].
fn elements(sizes: &[usize]) -> Option<usize> {
    let product = sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size))?;
    (product <= MAX_ELEMENTS).then_some(product)
}
