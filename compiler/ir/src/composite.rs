//! Composites: named decompositions into primitives, open to embedders.

use crate::attr::AttrVisitor;
use crate::attr::{Attr, Real};
use crate::build::{Builder, Values};
use crate::cost::own_flops;
use crate::dims::FactorMap;
use crate::domain::Domain;
use crate::interpret::{EvalCx, Interpreter};
use crate::lower::LowerCx;
use crate::op::{Cost, Ids, InferCx, OpDef, Policy, Sample, Vjp, VjpCx};
use crate::policy::{OpClass, loses};
use crate::registry::Registry;
use crate::syntax::{Function, Module, ParamRole, Value};
use crate::ty::{TensorType, Types};
use halite_support::{Diagnostic, Name, Result, codes};
use halite_tensor::{DType, HostTensor};
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;

/// What an attribute of a composite may be.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct AttrSpec {
    /// Its name.
    pub name: Name,
    /// Its value when left out; also fixes its kind. `None` makes it required and a whole number.
    pub default: Option<Attr>,
    /// Whether text leaves it out at its default.
    pub implied: bool,
    /// One line for people.
    pub doc: String,
}

impl AttrSpec {
    /// A required whole number.
    pub fn required(name: impl Into<Name>, doc: impl Into<String>) -> Self {
        Self { name: name.into(), default: None, implied: false, doc: doc.into() }
    }

    /// An optional attribute.
    pub fn optional(name: impl Into<Name>, default: Attr, doc: impl Into<String>) -> Self {
        Self { default: Some(default), ..Self::required(name, doc) }
    }

    /// An optional attribute that most applications do without: text shows it only where it differs from its default.
    pub fn refinement(name: impl Into<Name>, default: Attr, doc: impl Into<String>) -> Self {
        Self { implied: true, ..Self::optional(name, default, doc) }
    }
}

/// The attributes of a composite instruction, in the order of its schema.
///
/// Values were checked against the schema when the instruction was made. A definition that asks for an attribute which its
/// schema does not list, or by another kind, panics: that is a mistake in its code.
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
    /// What it computes in. Operands are converted to it, except those of a matmul, which stay narrow: there it is the
    /// type of what lies between two contractions.
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

    /// The same with another value of an attribute of the schema.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: Attr) -> Self {
        let mut values = Arc::make_mut(&mut self.values).iter_mut();
        values.find(|given| given.name == name).expect("the schema of a composite lists what it sets").attr = value;
        self
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

    /// What mixed precision has it compute in.
    pub fn compute(&self) -> Option<DType> {
        self.cast.as_ref().map(|cast| cast.compute)
    }

    fn get(&self, name: &str) -> &Attr {
        let found = self.values.iter().find(|given| given.name == name);
        &found.expect("the schema of a composite lists every attribute it reads").attr
    }

    /// A whole number.
    pub fn int(&self, name: &str) -> i64 {
        if let Attr::Int(value) = self.get(name) { *value } else { unreachable!("checked against the schema") }
    }

    /// A real number.
    pub fn real(&self, name: &str) -> f64 {
        if let Attr::Real(value) = self.get(name) { value.0 } else { unreachable!("checked against the schema") }
    }

    /// A truth value.
    pub fn flag(&self, name: &str) -> bool {
        if let Attr::Bool(value) = self.get(name) { *value } else { unreachable!("checked against the schema") }
    }

    /// A word.
    pub fn word(&self, name: &str) -> &str {
        if let Attr::Word(value) = self.get(name) { value } else { unreachable!("checked against the schema") }
    }

    /// A list of whole numbers.
    pub fn ints(&self, name: &str) -> &[i64] {
        if let Attr::Ints(list) = self.get(name) { list } else { unreachable!("checked against the schema") }
    }

    /// A dimension of `ty`, counted from the end when negative.
    ///
    /// # Errors
    /// When it is out of range.
    pub fn dim(&self, name: &str, ty: &TensorType) -> Result<usize> {
        let (dim, rank) = (self.int(name), ty.rank() as i64);
        let from_start = if dim < 0 { dim + rank } else { dim };
        if (0..rank).contains(&from_start) {
            return Ok(from_start as usize);
        }
        Err(Diagnostic::error(codes::ATTRIBUTE, format!("`{name}` is {dim}, but `{ty}` has rank {rank}")))
    }
}

/// The op of a composite instruction: a name in the [`Registry`](crate::Registry) and attributes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Composite {
    /// Its name.
    pub name: Name,
    /// Its attributes.
    pub attrs: Attrs,
}

/// A composite: what everything but the decomposition derives from, and what may be overridden.
///
/// One from outside is registered with a session's registry; models then call it by name:
///
/// ```
/// use halite_ir::{Attrs, Builder, CompositeDef, InferCx, Policy, Registry, TensorType, Types, Value, Values};
/// use halite_support::Result;
/// use std::sync::Arc;
///
/// /// `x * x`
/// #[derive(Debug)]
/// struct Square;
///
/// impl CompositeDef for Square {
///     fn name(&self) -> &str {
///         "square"
///     }
///
///     fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: &[&TensorType]) -> Result<Types> {
///         Ok(args.iter().take(1).map(|&ty| ty.clone()).collect())
///     }
///
///     fn expand(&self, b: &mut Builder<'_>, _: &Attrs, args: &[Value]) -> Result<Values> {
///         Ok(std::iter::once(b.multiply(args[0], args[0])?).collect())
///     }
///
///     fn policy(&self) -> Policy {
///         Policy::ELEMENTWISE
///     }
/// }
///
/// let mut registry = Registry::builtin();
/// registry.register(Arc::new(Square)).unwrap();
/// assert!(registry.register(Arc::new(Square)).is_err());
/// ```
pub trait CompositeDef: fmt::Debug + Send + Sync {
    /// The name in IR text and in models.
    fn name(&self) -> &str;

    /// Its attributes; without them it has none.
    fn schema(&self) -> &[AttrSpec] {
        &[]
    }

    /// The types of the results. Must agree with the decomposition.
    ///
    /// # Errors
    /// When the operands do not fit.
    fn infer(&self, cx: &InferCx<'_>, attrs: &Attrs, args: &[&TensorType]) -> Result<Types>;

    /// Writes the decomposition, which is also its meaning.
    ///
    /// # Errors
    /// Only when an emitted instruction is ill-typed.
    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: &[Value]) -> Result<Values>;

    /// Whether [`vjp`](Self::vjp) is a rule of its own. Without one, auto-diff differentiates the decomposition.
    fn has_vjp(&self) -> bool {
        false
    }

    /// A gradient better than that of the decomposition.
    ///
    /// # Errors
    /// When there is no such rule, or an emitted instruction is ill-typed.
    fn vjp(&self, b: &mut Builder<'_>, attrs: &Attrs, cx: &VjpCx<'_>) -> Result<Vjp> {
        let _ = (b, attrs, cx);
        Err(Diagnostic::bug(format!("`{}` has no gradient of its own", self.name())))
    }

    /// Which whole numbers its operands have to hold, where others have no meaning.
    fn domains(&self, attrs: &Attrs, args: &[&TensorType]) -> Vec<Domain> {
        let _ = (attrs, args);
        Vec::new()
    }

    /// How mixed precision treats it as a whole.
    fn policy(&self) -> Policy;

    /// Small applications for tests, as [`OpDef::samples`](crate::OpDef::samples); `float` is their element type.
    fn samples(&self, float: DType) -> Vec<Sample> {
        let _ = float;
        Vec::new()
    }
}

impl Composite {
    /// An application of the composite of this name; attributes left out take their defaults.
    ///
    /// # Errors
    /// When the name or an attribute is unknown.
    pub fn new(registry: &Registry, name: &str, attrs: &[(&str, Attr)]) -> Result<Self> {
        let attrs = Attrs::with_defaults(name, registry.composite(name)?.schema(), attrs)?;
        Ok(Self { name: name.into(), attrs })
    }

    /// What is left of it, on operands of which types, when the conversions that mixed precision puts around it are taken
    /// off; see [`Builder::within_cast`].
    ///
    /// # Errors
    /// When the name is unknown.
    pub fn core(&self, registry: &Registry, args: &[&TensorType]) -> Result<(Composite, Types)> {
        let def = registry.composite(&self.name)?;
        match self.attrs.cast() {
            Some(cast) if cast.converts_operands(def.policy().class) => {
                let core = Self { name: self.name.clone(), attrs: self.attrs.clone().without_cast() };
                Ok((core, converted(args, cast.compute)))
            }
            _ => Ok((self.clone(), args.iter().map(|&ty| ty.clone()).collect())),
        }
    }

    /// Which whole numbers its operands, of these types, have to hold, where others have no meaning.
    ///
    /// # Errors
    /// When the name is unknown.
    pub fn domains(&self, registry: &Registry, args: &[&TensorType]) -> Result<Vec<Domain>> {
        Ok(registry.composite(&self.name)?.domains(&self.attrs, args))
    }

    /// The decomposition as a function of operands of these types.
    ///
    /// # Errors
    /// When the operands do not fit.
    pub fn decompose(&self, registry: &Registry, args: &[&TensorType]) -> Result<Function> {
        let mut module = Module::default();
        let mut b = Builder::new(&mut module, registry, self.name.clone());
        let param =
            |(index, ty): (usize, &&TensorType)| b.param(format!("x{index}"), (*ty).clone(), ParamRole::Argument);
        let args: Vec<_> = args.iter().enumerate().map(param).collect();
        for value in b.expand(self, &args)? {
            b.result(value);
        }
        let id = b.finish();
        Ok(module.functions.swap_remove(id.index()))
    }
}

/// A composite instruction behaves as its definition in the registry says; what that leaves open is derived from the
/// decomposition.
impl OpDef for Composite {
    fn name(&self) -> &str {
        &self.name
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        for Given { name, attr, implied } in Arc::make_mut(&mut self.attrs.values) {
            match implied {
                Some(implied) => visitor.refinement(name, attr, implied),
                None => visitor.attr(name, attr),
            }
        }
        if let Some(cast) = &mut self.attrs.cast {
            visitor.attr("compute", &mut cast.compute);
        }
    }

    fn infer(&self, cx: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let def = cx.registry.composite(&self.name)?;
        let Some(cast) = &self.attrs.cast else { return def.infer(cx, &self.attrs, args) };
        let mut types = if cast.converts_operands(def.policy().class) {
            let wide = converted(args, cast.compute);
            def.infer(cx, &self.attrs, &wide.iter().collect::<SmallVec<[_; 4]>>())?
        } else {
            def.infer(cx, &self.attrs, args)?
        };
        for (ty, &dtype) in types.iter_mut().zip(&cast.results) {
            *ty = cast_result(&self.name, ty, dtype)?;
        }
        Ok(types)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let types: Vec<_> = args.iter().map(|arg| TensorType::new(arg.dtype(), arg.shape().clone())).collect();
        let function = self.decompose(cx.registry, &types.iter().collect::<Vec<_>>())?;
        let inputs = args.iter().map(|&arg| arg.clone()).collect();
        Interpreter::new(cx.functions, cx.registry).run(&function, inputs)
    }

    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let def = b.registry().composite(&self.name)?;
        def.vjp(b, &self.attrs, cx)
    }

    fn policy(&self, cx: &InferCx<'_>) -> Policy {
        cx.registry.composite(&self.name).map_or(Policy::SENSITIVE, |def| def.policy())
    }

    fn cost(&self, cx: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        let flops = self.decompose(cx.registry, args).map_or(0, |body| own_flops(cx, &body));
        Cost::new(flops, args, results)
    }

    /// None is stated: analyses that need more look at the decomposition.
    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::opaque(args, results)
    }

    fn lower(&self, _: &mut LowerCx<'_>, _: &[halite_hlo::Id]) -> Result<Ids> {
        Err(Diagnostic::bug(format!("composite `{}` reached lowering; `expand-composites` runs before", self.name)))
    }

    /// Those of its definition; see [`CompositeDef::samples`].
    fn samples(&self, _: DType) -> Vec<Sample> {
        Vec::new()
    }
}

/// The types with another element type where they have floats.
fn converted(types: &[&TensorType], dtype: DType) -> Types {
    let convert = |ty: &&TensorType| if ty.dtype().is_float() { ty.with_dtype(dtype) } else { (*ty).clone() };
    types.iter().map(convert).collect()
}

/// A result in the element type that mixed precision gives it: another float for a float.
fn cast_result(name: &str, ty: &TensorType, dtype: DType) -> Result<TensorType> {
    if ty.dtype() == dtype || (ty.dtype().is_float() && dtype.is_float()) {
        return Ok(ty.with_dtype(dtype));
    }
    let message = format!("a result of `{name}` is `{ty}`, which cannot be given as `{dtype}`");
    Err(Diagnostic::error(codes::TYPE_MISMATCH, message))
}
