//! Attributes of composites: what a schema lists, typed keys that read them, and the values of an instruction.

use crate::attr::{Attr, AttrVisitor, Real};
use crate::policy::{OpClass, loses};
use crate::ty::TensorType;
use halite_support::{Diagnostic, Name, Result, codes};
use halite_tensor::DType;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::Arc;

/// The specification of an attribute of a composite; an [`AttrKey`] makes it.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct AttrSpec {
    /// The name in text.
    pub name: Name,
    /// Its value when left out; also fixes its kind. `None` makes it required and a whole number.
    pub default: Option<Attr>,
    /// Whether text leaves it out at its default.
    pub implied: bool,
    /// One line for people.
    pub doc: String,
}

/// An attribute of a composite by its name and the type of its value. Schemas list it, and values are read by it.
///
/// ```
/// use halite_ir::{AttrKey, AttrSpec, Attrs};
///
/// static EPS: AttrKey<f64> = AttrKey::optional("eps", 1e-5, "added to the variance");
///
/// let schema: Vec<AttrSpec> = vec![EPS.spec()];
/// let attrs = Attrs::with_defaults("norm", &schema, &[EPS.to(1e-6)]).unwrap();
/// assert_eq!(attrs.get(&EPS).unwrap(), 1e-6);
/// ```
#[derive(Clone, Debug)]
pub struct AttrKey<T> {
    name: Cow<'static, str>,
    default: Option<T>,
    implied: bool,
    doc: Cow<'static, str>,
}

impl<T> AttrKey<T> {
    /// An optional attribute.
    pub const fn optional(name: &'static str, default: T, doc: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), default: Some(default), implied: false, doc: Cow::Borrowed(doc) }
    }

    /// An optional attribute that most applications do without: text shows it only where it differs from its default.
    pub const fn refinement(name: &'static str, default: T, doc: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), default: Some(default), implied: true, doc: Cow::Borrowed(doc) }
    }

    /// The same under a name that is made when the program runs.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Cow::Owned(name.into()), ..self }
    }

    /// The name in text.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn unlisted(&self) -> Diagnostic {
        Diagnostic::bug(format!("a composite reads its attribute `{}`, which its schema does not list", self.name))
    }
}

impl AttrKey<i64> {
    /// A required whole number.
    pub const fn required(name: &'static str, doc: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), default: None, implied: false, doc: Cow::Borrowed(doc) }
    }
}

impl<T: AttrValue> AttrKey<T> {
    /// Its line in a schema.
    pub fn spec(&self) -> AttrSpec {
        let default = self.default.as_ref().map(AttrValue::to_attr);
        AttrSpec { name: self.name().into(), default, implied: self.implied, doc: self.doc.clone().into_owned() }
    }

    /// The attribute with this value, as what makes an instruction takes it.
    pub fn to(&self, value: T) -> (&str, Attr) {
        (self.name(), value.to_attr())
    }
}

/// A type that an attribute of a composite may have.
pub trait AttrValue: Sized {
    /// The value as an attribute.
    fn to_attr(&self) -> Attr;

    /// The value of an attribute; `None` for one of another kind.
    fn of_attr(attr: &Attr) -> Option<Self>;
}

/// `AttrValue` for a type: how an attribute is made from a value, and the value from an attribute.
macro_rules! attr_value {
    ($($ty:ty: $value:ident => $to:expr, $pattern:pat => $of:expr;)*) => {$(
        impl AttrValue for $ty {
            fn to_attr(&self) -> Attr {
                let $value = self;
                $to
            }

            fn of_attr(attr: &Attr) -> Option<Self> {
                if let $pattern = attr { Some($of) } else { None }
            }
        }
    )*};
}

attr_value! {
    i64: value => Attr::Int(*value), Attr::Int(found) => *found;
    f64: value => Attr::Real(Real(*value)), Attr::Real(found) => found.0;
    bool: value => Attr::Bool(*value), Attr::Bool(found) => *found;
    Cow<'static, str>: value => Attr::Word(value.as_ref().into()), Attr::Word(found) => Cow::Owned(found.to_string());
    Vec<i64>: value => Attr::Ints(value.as_slice().into()), Attr::Ints(found) => found.to_vec();
}

/// The attributes of a composite instruction, in the order of its schema.
///
/// Values were checked against the schema when the instruction was made; an [`AttrKey`] of the schema reads one.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Attrs {
    /// Shared by the copies of an instruction.
    values: Arc<[Given]>,
    cast: Option<Cast>,
}

/// One attribute.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Given {
    name: Name,
    attr: Attr,
    /// The value at which text leaves it out.
    implied: Option<Attr>,
}

/// The element types that mixed precision gives a composite instruction. Its operands keep theirs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Cast {
    /// The type that it computes in. Operands are converted to it, except those of a matmul, which stay narrow: there it is the type of
    /// values between two contractions.
    pub compute: DType,
    /// The element type of each result.
    pub results: SmallVec<[DType; 4]>,
}

impl Cast {
    /// Whether operands of a composite of this class are converted before it is expanded.
    pub(crate) fn converts_operands(&self, class: OpClass) -> bool {
        class != OpClass::Matmul
    }
}

impl Attrs {
    /// Checks `given` against a schema and fills in defaults.
    ///
    /// # Errors
    /// On an unknown or missing attribute, or one of the wrong kind.
    pub fn with_defaults(composite: &str, schema: &[AttrSpec], given: &[(&str, Attr)]) -> Result<Self> {
        let error = |message| Diagnostic::error(codes::ATTRIBUTE, message);
        for (name, _) in given {
            if !schema.iter().any(|spec| spec.name == *name) {
                let known: Vec<_> = schema.iter().map(|spec| format!("`{}`", spec.name)).collect();
                let takes = if known.is_empty() { "no attribute: remove it".to_owned() } else { known.join(", ") };
                return Err(error(format!("`{composite}` has no attribute `{name}`")).help(format!("it takes {takes}")));
            }
        }
        let mut values = Vec::with_capacity(schema.len());
        for spec in schema {
            let found = given.iter().find(|(name, _)| spec.name == *name).map(|(_, attr)| attr.clone());
            let attr = match (found, &spec.default) {
                (Some(Attr::Int(value)), Some(Attr::Real(_))) => Attr::Real(Real(value as f64)),
                (Some(attr), default) => {
                    let expected = default.as_ref().unwrap_or(&Attr::Int(0));
                    if std::mem::discriminant(&attr) != std::mem::discriminant(expected) {
                        return Err(
                            error(format!("`{}` of `{composite}` has the wrong kind", spec.name)).note(&*spec.doc)
                        );
                    }
                    attr
                }
                (None, Some(default)) => default.clone(),
                (None, None) => {
                    return Err(error(format!("`{composite}` needs attribute `{}`", spec.name)).note(&*spec.doc));
                }
            };
            let implied = spec.default.clone().filter(|_| spec.implied);
            values.push(Given { name: spec.name.clone(), attr, implied });
        }
        Ok(Self { values: values.into(), cast: None })
    }

    /// Name and value of each, in schema order.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &Attr)> {
        self.values.iter().map(|given| (&given.name, &given.attr))
    }

    /// The same with another value of an attribute.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub(crate) fn with<T: AttrValue>(mut self, key: &AttrKey<T>, value: T) -> Result<Self> {
        let mut values = Arc::make_mut(&mut self.values).iter_mut();
        values.find(|given| given.name == *key.name()).ok_or_else(|| key.unlisted())?.attr = value.to_attr();
        Ok(self)
    }

    /// Shows each value to a visitor, and lets it change them.
    pub(crate) fn visit(&mut self, visitor: &mut dyn AttrVisitor) {
        for Given { name, attr, implied } in Arc::make_mut(&mut self.values) {
            match implied {
                Some(implied) => visitor.refinement(name, attr, implied),
                None => visitor.attr(name, attr),
            }
        }
        if let Some(cast) = &mut self.cast {
            visitor.attr("compute", &mut cast.compute);
        }
    }

    /// The same with element types of mixed precision.
    #[must_use]
    pub fn with_cast(self, cast: Cast) -> Self {
        Self { cast: Some(cast), ..self }
    }

    /// The element types that mixed precision gave it.
    pub fn cast(&self) -> Option<&Cast> {
        self.cast.as_ref()
    }

    /// The same without element types of mixed precision.
    #[must_use]
    pub fn without_cast(self) -> Self {
        Self { cast: None, ..self }
    }

    /// The element type that mixed precision gives result `index`.
    pub fn result_dtype(&self, index: usize) -> Option<DType> {
        self.cast.as_ref()?.results.get(index).copied()
    }

    /// Gives every narrow result the type `engine`; false when mixed precision has not cast it.
    pub(crate) fn widen_results(&mut self, engine: DType) -> bool {
        let Some(cast) = &mut self.cast else { return false };
        for dtype in cast.results.iter_mut().filter(|dtype| loses(engine, **dtype)) {
            *dtype = engine;
        }
        true
    }

    /// The type in which mixed precision has it compute.
    pub fn compute(&self) -> Option<DType> {
        self.cast.as_ref().map(|cast| cast.compute)
    }

    /// The value of an attribute.
    ///
    /// # Errors
    /// When the schema does not list the key, which is a bug of the composite.
    pub fn get<T: AttrValue>(&self, key: &AttrKey<T>) -> Result<T> {
        let found = self.values.iter().find(|given| given.name == *key.name());
        found.and_then(|given| T::of_attr(&given.attr)).ok_or_else(|| key.unlisted())
    }

    /// A dimension of `ty`, counted from the end when negative.
    ///
    /// # Errors
    /// When it is out of range.
    pub fn dim(&self, key: &AttrKey<i64>, ty: &TensorType) -> Result<usize> {
        let (dim, rank) = (self.get(key)?, ty.rank() as i64);
        let from_start = if dim < 0 { dim + rank } else { dim };
        if (0..rank).contains(&from_start) {
            return Ok(from_start as usize);
        }
        Err(Diagnostic::error(codes::ATTRIBUTE, format!("`{}` is {dim}, but `{ty}` has rank {rank}", key.name())))
    }
}
