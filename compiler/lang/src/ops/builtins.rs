//! The ops a model can call: builtins from one table, and the composites of the registry.

mod dropout;
mod einsum;
mod lists;
mod movement;
mod numbers;
mod positions;
mod reductions;
mod table;

use super::{Ops, Part, Place, Spans, Value};
use crate::suggest::suggest;
use halite_ir::ops::Reduction;
use halite_ir::{Attr, Builder, CompositeDef, Real, Registry, Value as Tensor};
use halite_support::nearest::nearest;
use halite_support::{Diagnostic, Name, Result, codes};
use table::BUILTINS;

/// One builtin.
#[derive(Debug)]
struct Builtin {
    name: &'static str,
    /// Names of the arguments; those after the first `required` may be left out.
    arguments: &'static [&'static str],
    required: usize,
    run: Run,
    about: About,
}

/// The reference entry of a builtin.
#[derive(Clone, Copy, Debug)]
struct About {
    /// Its meaning, in a sentence or two.
    text: &'static str,
    /// Statements of a function with the tensors of [`example_model`](crate::reference::example_model); `// f32[2]` after one is the
    /// type of its result.
    example: &'static str,
    /// Other names and words for it.
    aliases: &'static [&'static str],
}

/// A builtin, for a reference.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BuiltinDoc {
    /// Its name in models.
    pub name: &'static str,
    /// The form of its calls: `sum(x, dims = .., keep = ..)`, with `..` for arguments that may be left out.
    pub signature: String,
    /// Its meaning, in a sentence or two.
    pub about: &'static str,
    /// Statements of a function with the tensors of [`example_model`](crate::reference::example_model); `// f32[2]` after one is the
    /// type of its result.
    pub example: &'static str,
    /// Other names and words for it.
    pub aliases: &'static [&'static str],
}

/// A builtin without its reference entry.
struct Unexplained {
    name: &'static str,
    arguments: &'static [&'static str],
    required: usize,
    run: Run,
}

impl Unexplained {
    const fn is(self, text: &'static str, example: &'static str, aliases: &'static [&'static str]) -> Builtin {
        let Self { name, arguments, required, run } = self;
        Builtin { name, arguments, required, run, about: About { text, example, aliases } }
    }
}

type Unary = fn(&mut Builder<'_>, Tensor) -> Result<Tensor>;
type Binary = fn(&mut Builder<'_>, Tensor, Tensor) -> Result<Tensor>;

/// The implementation of a builtin.
#[derive(Clone, Copy, Debug)]
enum Run {
    /// Element by element on tensors, the function on numbers.
    Unary(Unary, fn(f64) -> f64),
    /// The same where numbers become whole ones.
    Rounded(Unary, fn(f64) -> f64),
    /// Element by element on tensors alone.
    Tensor(Unary),
    /// Element by element on two operands; the last function where whole numbers have a whole result.
    Binary(Binary, fn(f64, f64) -> f64, fn(i64, i64) -> Option<i64>),
    Reduce(Reduction),
    Other(fn(&mut Ops<'_>, &Bound<'_>) -> Result<Vec<Value>>),
}

/// An argument of a call: `value` or `name = value`.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) name: Option<Name>,
    pub(crate) value: Value,
}

impl Given {
    pub(crate) fn positional(value: Value) -> Self {
        Self { name: None, value }
    }
}

/// The arguments of a call in the order of the builtin's own; `None` where left out.
#[derive(Debug)]
struct Bound<'s> {
    values: Vec<Option<(Value, Place<'s>)>>,
    whole: Place<'s>,
}

impl<'s> Bound<'s> {
    /// An argument that must be given.
    fn required(&self, at: usize) -> (&Value, Place<'s>) {
        self.optional(at).expect("binding checks that required arguments are given")
    }

    fn optional(&self, at: usize) -> Option<(&Value, Place<'s>)> {
        self.values[at].as_ref().map(|(value, place)| (value, *place))
    }
}

fn find(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}

/// Whether a builtin has this name.
fn is_builtin(name: &str) -> bool {
    find(name).is_some()
}

/// Whether a builtin or a composite has this name.
pub(crate) fn is_op(name: &str, registry: &Registry) -> bool {
    is_builtin(name) || registry.composite(name).is_ok()
}

/// The error for a function of a model with this name, where an op has it.
pub(crate) fn name_of_op(name: &str, registry: &Registry) -> Option<Diagnostic> {
    let message = || format!("`{name}` is the name of an op and cannot be defined again");
    is_op(name, registry).then(|| Diagnostic::error(codes::DUPLICATE, message()))
}

/// The names of all that can be called: builtins, then composites.
pub(crate) fn op_names(registry: &Registry) -> impl Iterator<Item = &str> {
    BUILTINS.iter().map(|builtin| builtin.name).chain(registry.composites().map(|composite| composite.name()))
}

/// A call of something that is neither a builtin, a composite, nor one of the functions `own` of the model.
pub(crate) fn unknown_op<'n>(
    name: &'n str,
    own: impl IntoIterator<Item = &'n str>,
    registry: &'n Registry,
    place: Place<'_>,
) -> Diagnostic {
    let error = Diagnostic::error(codes::UNKNOWN_NAME, format!("no function or op is named `{name}`"));
    let error = place.mark(error, "unknown function");
    if let Some(builtin) = BUILTINS.iter().find(|builtin| builtin.about.aliases.contains(&name)) {
        return error.help(format!("here that is `{0}`; `halite help {0}` describes it", builtin.name));
    }
    match nearest(name, own.into_iter().chain(op_names(registry))) {
        Some(near) if op_names(registry).any(|op| op == near) => {
            error.help(format!("did you mean `{near}`? `halite help {near}` describes it"))
        }
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error.help(format!("define it, or see what `halite help {name}` finds")),
    }
}

impl Ops<'_> {
    /// A call of a builtin or a composite.
    pub(crate) fn call(&mut self, name: &str, given: Vec<Given>, spans: &dyn Spans) -> Result<Vec<Value>> {
        let Some(builtin) = find(name) else { return self.composite(name, given, spans) };
        let bound = bind(builtin, given, spans)?;
        match builtin.run {
            Run::Unary(emit, number) => self.unary(emit, number, &bound),
            Run::Rounded(emit, number) => self.rounded(emit, number, &bound),
            Run::Tensor(emit) => {
                let x = self.tensor_of(bound.required(0))?;
                self.emit_tensor(bound.whole, |b| emit(b, x)).map(|value| vec![value])
            }
            Run::Binary(emit, number, whole) => self.pairwise(emit, number, whole, &bound),
            Run::Reduce(reduction) => reductions::reduce(self, reduction, &bound),
            Run::Other(run) => run(self, &bound),
        }
    }

    /// A composite: operands by position or by name, attributes by name.
    fn composite(&mut self, name: &str, given: Vec<Given>, spans: &dyn Spans) -> Result<Vec<Value>> {
        let Ok(def) = self.b.registry().composite(name).cloned() else {
            return Err(unknown_op(name, [], self.b.registry(), Place::new(spans, Part::Function)));
        };
        let schema = def.schema();
        let (mut args, mut named, mut attrs) = (Vec::new(), Vec::new(), Vec::<(&str, Attr)>::new());
        for (at, Given { name: keyword, value }) in given.iter().enumerate() {
            let place = Place::new(spans, Part::Given(at));
            let Some(keyword) = keyword else {
                args.push(self.tensor(value, place)?);
                continue;
            };
            if given[..at].iter().any(|earlier| earlier.name.as_ref() == Some(keyword)) {
                let error = Diagnostic::error(codes::CALL, format!("`{keyword}` of `{name}` is given twice"));
                return Err(place.mark(error, "again here"));
            }
            if def.operands().names().any(|own| own == &**keyword) {
                named.push((&**keyword, self.tensor(value, place)?));
            } else if schema.iter().any(|spec| spec.name == *keyword) {
                let wrong = || self.wrong_kind("the value of an attribute", value, place);
                attrs.push((&**keyword, to_attr(value).ok_or_else(wrong)?));
            } else {
                return Err(unknown_argument(&*def, keyword, Place::new(spans, Part::Keyword(at))));
            }
        }
        let whole = Place::whole(spans);
        let results = self.emit(whole, |b| b.composite_with(name, &attrs, &args, &named))?;
        results.iter().try_for_each(|&result| self.check_size(result, whole))?;
        Ok(results.into_iter().map(Value::Tensor).collect())
    }
}

/// A name that a call gives and a composite does not take.
fn unknown_argument(def: &dyn CompositeDef, keyword: &str, place: Place<'_>) -> Diagnostic {
    let (name, operands, schema) = (def.name(), def.operands(), def.schema());
    let error = Diagnostic::error(codes::CALL, format!("`{name}` has no operand or attribute `{keyword}`"));
    let attributes: Vec<_> = schema.iter().map(|spec| format!("`{}`", spec.name)).collect();
    let takes = match attributes.as_slice() {
        [] => "no attribute".to_owned(),
        [one] => format!("the attribute {one}"),
        _ => format!("the attributes {}", attributes.join(", ")),
    };
    let mut known: Vec<&str> = operands.names().collect();
    known.extend(schema.iter().map(|spec| &*spec.name));
    let error = place.mark(error, "unknown argument");
    suggest(error, keyword, known).note(format!("it takes {operands}, and {takes}"))
}

/// Puts arguments in the order of the builtin's own.
fn bind<'s>(builtin: &Builtin, given: Vec<Given>, spans: &'s dyn Spans) -> Result<Bound<'s>> {
    let (name, arguments, count) = (builtin.name, builtin.arguments, given.len());
    let place = |part| Place::new(spans, part);
    let error = |message: String| Diagnostic::error(codes::CALL, message);
    let mut values: Vec<Option<(Value, Place<'s>)>> = vec![None; arguments.len()];
    for (at, given) in given.into_iter().enumerate() {
        let position = match &given.name {
            None => (at < arguments.len()).then_some(at),
            Some(keyword) => arguments.iter().position(|own| *keyword == **own),
        };
        let here = place(Part::Given(at));
        match (position, &given.name) {
            (Some(position), _) if values[position].is_none() => values[position] = Some((given.value, here)),
            (Some(position), _) => {
                let error = error(format!("argument `{}` of `{name}` is given twice", arguments[position]));
                return Err(here.mark(error, "again here"));
            }
            (None, Some(keyword)) => {
                let error = error(format!("`{name}` has no argument `{keyword}`"));
                let error = place(Part::Keyword(at)).mark(error, "unknown argument");
                return Err(suggest(error, keyword, arguments.iter().copied()).note(signature(builtin)));
            }
            (None, None) => {
                let error = error(format!("`{name}` takes {} arguments, found {count}", arguments.len()));
                return Err(here.mark(error, "one too many").note(signature(builtin)));
            }
        }
    }
    if let Some(missing) = values.iter().take(builtin.required).position(Option::is_none) {
        let error = error(format!("argument `{}` of `{name}` is missing", arguments[missing]));
        return Err(place(Part::Function).mark(error, "in this call").note(signature(builtin)));
    }
    Ok(Bound { values, whole: Place::whole(spans) })
}

/// The form of a builtin's calls, as a note.
fn signature(builtin: &Builtin) -> String {
    format!("it is `{}`", builtin.form())
}

impl Builtin {
    /// `reshape(x, shape)`, with `..` for what may be left out.
    fn form(&self) -> String {
        let optional =
            |(at, name): (usize, &&str)| if at < self.required { (*name).to_owned() } else { format!("{name} = ..") };
        let arguments: Vec<_> = self.arguments.iter().enumerate().map(optional).collect();
        format!("{}({})", self.name, arguments.join(", "))
    }
}

/// The reference entries of the builtins, in order.
pub(crate) fn builtin_docs() -> impl Iterator<Item = BuiltinDoc> {
    BUILTINS.iter().map(|builtin| {
        let About { text, example, aliases } = builtin.about;
        BuiltinDoc { name: builtin.name, signature: builtin.form(), about: text, example, aliases }
    })
}

fn to_attr(value: &Value) -> Option<Attr> {
    Some(match value {
        Value::Int(value, _) => Attr::Int(*value),
        Value::Real(value) => Attr::Real(Real(*value)),
        Value::Bool(value) => Attr::Bool(*value),
        Value::Text(text) => Attr::Word(text.clone()),
        Value::Type(dtype) => Attr::Word(Name::from(dtype.name())),
        Value::List(list) => {
            let int = |item: &Value| if let Value::Int(value, _) = item { Some(*value) } else { None };
            Attr::Ints(list.items.iter().map(int).collect::<Option<_>>()?)
        }
        Value::Tensor(_) | Value::Function(..) | Value::Absent(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtins_are_unique_and_need_no_more_than_they_take() {
        let mut names: Vec<_> = BUILTINS.iter().map(|builtin| builtin.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(BUILTINS.iter().all(|builtin| builtin.required <= builtin.arguments.len()));
    }
}
