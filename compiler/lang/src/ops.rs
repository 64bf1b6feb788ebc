//! The operations of a model, however it is written: operators, builtins and composites on values.
//!
//! The model language and [`ModelBuilder`](crate::build::ModelBuilder) both end here, so that they take the same
//! arguments, emit the same instructions and make the same complaints. Where the parts of an operation stand is the
//! business of a [`Spans`].

mod arithmetic;
mod broadcast;
mod builtins;
mod division;
mod entry;
mod factors;
mod function;
mod infix;
mod init;
mod kind;
mod known;
mod names;
mod place;
mod report;
mod sizes;
mod slice;
mod value;

pub(crate) use arithmetic::{equal, finite};
pub use builtins::BuiltinDoc;
pub(crate) use builtins::{Given, builtin_docs, is_op, name_of_op, op_names, unknown_op};
pub use entry::is_needed;
pub(crate) use entry::{mask_role, unneeded};
pub(crate) use factors::{Factors, Sizes};
pub(crate) use function::{Callee, Declared, Weight, settle};
pub use init::by_fan;
pub(crate) use init::initial;
pub(crate) use kind::{Kind, Lists, Named as NamedSizes};
pub(crate) use names::{Named, Names};
pub(crate) use place::{Part, Place, Spans};
pub(crate) use report::{Report, Sums};
pub(crate) use sizes::KnownSizes;
pub use slice::Subscript;
pub(crate) use slice::{Indexed, from_end};
pub(crate) use value::{MAX_LIST_DEPTH, Value};

use halite_ir::{Builder, LocKind, Value as Tensor};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, Dims, Shape};

/// The depth to which calls, expressions and scopes may nest.
pub(crate) const MAX_DEPTH: usize = 160;

/// The most statements that a model may run after unrolling.
const MAX_STATEMENTS: usize = 200_000;

/// The most expressions that a model may evaluate after unrolling.
pub(crate) const MAX_EVALUATIONS: usize = 10 * MAX_STATEMENTS;

/// The most items that all lists together may have that are made by joining and cutting lists.
const MAX_ITEMS: usize = 10 * MAX_STATEMENTS;

/// The most dimensions that a tensor may have; NumPy has the same limit.
const MAX_RANK: usize = 64;

/// The most elements that a tensor may have.
const MAX_ELEMENTS: usize = 1 << 44;

/// A model under way.
#[derive(Debug)]
pub(crate) struct Ops<'r> {
    pub(crate) b: Builder<'r>,
    /// The element type of weights and of `float`.
    pub(crate) float: DType,
    /// Statements run so far.
    pub(crate) statements: usize,
    /// Items of lists that were made by joining and cutting lists so far.
    pub(crate) items: usize,
    /// The size factors of dimensions of tensors of the function being written.
    pub(crate) sizes: KnownSizes,
}

impl<'r> Ops<'r> {
    pub(crate) fn new(b: Builder<'r>, float: DType) -> Self {
        Self { b, float, statements: 0, items: 0, sizes: KnownSizes::default() }
    }

    /// Counts a statement.
    pub(crate) fn step(&mut self, place: Place<'_>) -> Result<()> {
        self.statements += 1;
        if !self.is_exhausted() {
            return Ok(());
        }
        let message = format!("the model runs more than {MAX_STATEMENTS} statements once its loops are unrolled");
        Err(too_long(message, place))
    }

    /// Counts the items of a list that was made of others.
    fn made(&mut self, value: Value, place: Place<'_>) -> Result<Value> {
        if let Value::List(list) = &value {
            self.items += list.items.len();
        }
        if self.items <= MAX_ITEMS {
            return Ok(value);
        }
        Err(too_long(format!("the model makes lists of more than {MAX_ITEMS} items in all"), place))
    }

    /// Counts the items of lists with tensors that are handed to a function: all of them are walked through for each call.
    pub(crate) fn hand(&mut self, args: &[Value], place: Place<'_>) -> Result<()> {
        self.items = self.items.saturating_add(args.iter().map(Value::walked).fold(0, usize::saturating_add));
        if self.items <= MAX_ITEMS {
            return Ok(());
        }
        Err(too_long(format!("the model makes and hands on lists of more than {MAX_ITEMS} items in all"), place))
    }

    /// Whether the model has run as many statements as it may.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.statements > MAX_STATEMENTS
    }

    /// Emits instructions that come from a place.
    fn emit<T>(&mut self, place: Place<'_>, build: impl FnOnce(&mut Builder<'r>) -> Result<T>) -> Result<T> {
        let (outer, first) = (self.b.loc(), self.b.function().insts.len());
        if let Some(span) = place.span() {
            self.b.enter(LocKind::Source(span));
        }
        let result = build(&mut self.b);
        self.b.set_loc(outer);
        let (registry, function) = (self.b.registry(), self.b.function());
        function.insts[first..].iter().for_each(|inst| self.sizes.follow(registry, function, inst));
        result.map_err(|error| place.mark(error, "here"))
    }

    /// As [`emit`](Self::emit) for one tensor of bounded size.
    fn emit_tensor(
        &mut self,
        place: Place<'_>,
        build: impl FnOnce(&mut Builder<'r>) -> Result<Tensor>,
    ) -> Result<Value> {
        let tensor = self.emit(place, build)?;
        self.check_size(tensor, place)?;
        Ok(Value::Tensor(tensor))
    }

    fn check_size(&self, tensor: Tensor, place: Place<'_>) -> Result<()> {
        let ty = self.b.ty(tensor);
        if elements(ty.shape()).is_some() {
            return Ok(());
        }
        let message = format!("`{ty}` has more than {MAX_ELEMENTS} elements");
        Err(place.mark(Diagnostic::error(codes::LIMIT, message), "this tensor"))
    }

    /// A value in words.
    pub(crate) fn describe(&self, value: &Value) -> String {
        value.describe(&self.b)
    }

    /// A value of one kind where another is needed.
    pub(crate) fn wrong_kind(&self, expected: &str, found: &Value, place: Place<'_>) -> Diagnostic {
        let found = self.describe(found);
        let error = Diagnostic::error(codes::KIND, format!("expected {expected}, found {found}"));
        place.mark(error, format!("this is {found}")).help(format!("write {expected} here"))
    }

    fn tensor(&self, value: &Value, place: Place<'_>) -> Result<Tensor> {
        match value {
            Value::Tensor(tensor) => Ok(*tensor),
            other => Err(self.wrong_kind("a tensor", other, place)),
        }
    }

    /// A list of whole numbers; one number stands for a list of one.
    pub(crate) fn ints_of(&self, value: &Value, place: Place<'_>) -> Result<Vec<i64>> {
        let items = match value {
            Value::List(list) => list.items.as_slice(),
            one => std::slice::from_ref(one),
        };
        let int = |(index, item): (usize, &Value)| match item {
            Value::Int(value, _) => Ok(*value),
            other => Err(self.wrong_kind("a whole number", other, place.item(index))),
        };
        items.iter().enumerate().map(int).collect()
    }

    /// A shape: sizes of at least 1 whose product is bounded.
    pub(crate) fn shape_of(&self, value: &Value, place: Place<'_>) -> Result<Shape> {
        self.shape_of_sizes(&self.ints_of(value, place)?, place)
    }

    /// The same of its sizes.
    pub(crate) fn shape_of_sizes(&self, sizes: &[i64], place: Place<'_>) -> Result<Shape> {
        let dims: Option<Vec<usize>> =
            sizes.iter().map(|&size| usize::try_from(size).ok().filter(|&size| size > 0)).collect();
        let refuse = |code, message, help| {
            let error = place.mark(Diagnostic::error(code, message), "this shape");
            Err(place.blame(&self.b, error).help(help))
        };
        match dims {
            _ if sizes.len() > MAX_RANK => {
                let message = format!("a tensor of {} dimensions, at most {MAX_RANK} are possible", sizes.len());
                refuse(codes::LIMIT, message, "choose a shape of fewer sizes")
            }
            Some(dims) if elements(&dims).is_some() => Ok(Shape::from(dims.as_slice())),
            Some(_) => {
                let message = format!("a tensor of shape {sizes:?} is too large");
                refuse(codes::LIMIT, message, "choose smaller sizes")
            }
            None => {
                let message = format!("the sizes of a tensor are at least 1, found {sizes:?}");
                refuse(codes::SHAPE, message, "choose sizes of at least 1")
            }
        }
    }

    /// Different dimensions below `rank`, each counted from the end when negative.
    fn dims(&self, value: &Value, rank: usize, place: Place<'_>) -> Result<Dims> {
        let mut dims = Dims::new();
        for dim in self.ints_of(value, place)? {
            match from_end(dim, rank).filter(|found| *found < rank && !dims.contains(found)) {
                Some(found) => dims.push(found),
                None => {
                    let message = format!("dimension {dim} is out of range for rank {rank} or named twice");
                    return Err(place.mark(Diagnostic::error(codes::SHAPE, message), "here"));
                }
            }
        }
        Ok(dims)
    }
}

/// The element type that is meant where `dtype` is stated: where the float is `f64`, `f32` means `f64` too.
pub(crate) fn stated(float: DType, dtype: DType) -> DType {
    if dtype == DType::F32 && float == DType::F64 { float } else { dtype }
}

/// The error for a model that nests too deeply or runs too long.
pub(crate) fn too_long(message: String, place: Place<'_>) -> Diagnostic {
    place.mark(Diagnostic::error(codes::LIMIT, message), "stopped here").help("shorten the loops or the chain of calls")
}

/// The product of the sizes if it is at most [`MAX_ELEMENTS`].
fn elements(sizes: &[usize]) -> Option<usize> {
    let product = sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size))?;
    (product <= MAX_ELEMENTS).then_some(product)
}
