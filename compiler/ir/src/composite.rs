//! Composites: named decompositions into primitives, open to embedders.

use crate::attr::{Attr, AttrVisitor};
use crate::attrs::{AttrSpec, Attrs};
use crate::build::{Builder, Values};
use crate::cost::own_flops;
use crate::described;
use crate::described::Described;
use crate::dims::FactorMap;
use crate::domain::Domain;
use crate::effect::Effect;
use crate::infer::InferCx;
use crate::interpret::{EvalCx, Interpreter};
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, Vjp, VjpCx};
use crate::operands::{Args, Given, Operands};
use crate::registry::Registry;
use crate::syntax::{Function, Module, ParamRole, Value};
use crate::ty::{TensorType, Types};
use halite_support::{Diagnostic, Name, Result, codes};
use halite_tensor::{DType, HostTensor};
use smallvec::SmallVec;
use std::fmt;

described! {
    /// The op of a composite instruction: a name in the [`Registry`](crate::Registry) and attributes.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub struct Composite {
        /// The name in the registry.
        pub name: Name,
        /// Values for the keys of its schema.
        pub attrs: Attrs,
        /// Its optional operands that are given.
        pub(crate) given: Given,
    }
}

/// A gradient: the cotangents of the operands, from the attributes and what is known of the instruction.
///
/// It fails when an emitted instruction is ill-typed.
pub type VjpRule<'a> = Box<dyn Fn(&mut Builder<'_>, &Attrs, &VjpRuleCx<'_>) -> Result<Vjp> + 'a>;

/// The context of the gradient rule of a composite.
#[derive(Clone, Copy, Debug)]
pub struct VjpRuleCx<'a> {
    /// The operands of the primal instruction.
    pub args: Args<'a, Value>,
    /// The results of the primal instruction.
    pub results: &'a [Value],
    /// Cotangents of the results; `None` is a symbolic zero. At least one is present.
    pub cts: &'a [Option<Value>],
    /// For each operand, whether it needs a cotangent. Others may be answered with `None`.
    pub wanted: Args<'a, bool>,
}

impl VjpRuleCx<'_> {
    /// The cotangent of the only result.
    pub fn ct(&self) -> Option<Value> {
        self.cts[0]
    }

    /// The cotangents of the required operands in order, and of optional ones by name; zero for all others.
    pub fn cotangents(&self, required: impl IntoIterator<Item = Option<Value>>, optional: &[(&str, Value)]) -> Vjp {
        let mut cts: SmallVec<[Option<Value>; 4]> = required.into_iter().collect();
        cts.resize(self.args.values().len(), None);
        for &(name, ct) in optional {
            if let Some(at) = self.args.position(name) {
                cts[at] = Some(ct);
            }
        }
        Vjp::Cotangents(cts)
    }
}

/// The definition of a composite: its decomposition, from which most else derives, and methods that may be overridden.
///
/// The documentation of its struct, which [`described!`](crate::described!) declares, is its text in a reference. A composite from
/// outside is registered with a session's registry; models then call it by name:
///
/// ```
/// use halite_ir::{Args, Attrs, Builder, CompositeDef, InferCx, Operands, Policy, Registry, TensorType, Types, Value, Values};
/// use halite_support::Result;
/// use std::sync::Arc;
///
/// halite_ir::described! {
///     /// `x * x`, or `x * x + shift` of equal types.
///     #[derive(Debug)]
///     struct Square;
/// }
///
/// impl CompositeDef for Square {
///     fn name(&self) -> &str {
///         "square"
///     }
///
///     fn operands(&self) -> Operands {
///         Operands::of(&["x"]).optional(&["shift"])
///     }
///
///     fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
///         if let Some(shift) = args.get("shift") {
///             halite_ir::op::require_same("square", args[0], shift)?;
///         }
///         Ok(std::iter::once(args[0].clone()).collect())
///     }
///
///     fn expand(&self, b: &mut Builder<'_>, _: &Attrs, args: Args<'_, Value>) -> Result<Values> {
///         let mut y = b.multiply(args[0], args[0])?;
///         if let Some(shift) = args.get("shift") {
///             y = b.add(y, shift)?;
///         }
///         Ok(std::iter::once(y).collect())
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
pub trait CompositeDef: Described + fmt::Debug + Send + Sync {
    /// The name in IR text and in models.
    fn name(&self) -> &str;

    /// Its operands. What reads them is handed all that are required and optional ones as far as they are given.
    fn operands(&self) -> Operands;

    /// Its attributes, each made by its [`AttrKey`](crate::AttrKey); without them it has none.
    fn schema(&self) -> Vec<AttrSpec> {
        Vec::new()
    }

    /// The types of the results. Must agree with the decomposition.
    ///
    /// # Errors
    /// When the operands do not fit.
    fn infer(&self, cx: &InferCx<'_>, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Types>;

    /// Writes the decomposition, which is also its meaning.
    ///
    /// # Errors
    /// Only when an emitted instruction is ill-typed.
    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values>;

    /// A gradient better than that of the decomposition, which auto-diff differentiates where there is none.
    fn vjp(&self) -> Option<VjpRule<'_>> {
        None
    }

    /// The operands of whole numbers that have no meaning outside a range, with their ranges.
    ///
    /// # Errors
    /// As [`infer`](Self::infer).
    fn domains(&self, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Vec<Domain>> {
        let _ = (attrs, args);
        Ok(Vec::new())
    }

    /// The correspondence of its dimensions; where it is `None`, the decomposition gives it.
    fn dims(&self, args: Args<'_, &TensorType>, results: &[TensorType]) -> Option<FactorMap> {
        let _ = (args, results);
        None
    }

    /// Whether passes may remove, merge, move and reorder it.
    fn effect(&self) -> Effect {
        Effect::NONE
    }

    /// The policy of mixed precision for it as a whole.
    fn policy(&self) -> Policy;

    /// Small applications for tests, as [`OpDef::samples`](crate::OpDef::samples); `float` is their element type.
    fn samples(&self, float: DType) -> Vec<Sample> {
        let _ = float;
        Vec::new()
    }
}

impl Composite {
    /// An application of the composite of this name to its required operands; attributes left out take their defaults.
    ///
    /// # Errors
    /// When the name or an attribute is unknown.
    pub fn new(registry: &Registry, name: &str, attrs: &[(&str, Attr)]) -> Result<Self> {
        let def = registry.composite(name)?;
        Ok(Self::of(&**def, Attrs::with_defaults(name, &def.schema(), attrs)?))
    }

    /// An application of a definition to its required operands, with attributes of its schema.
    pub fn of(def: &dyn CompositeDef, attrs: Attrs) -> Self {
        Self { name: def.name().into(), attrs, given: def.operands().none_given() }
    }

    /// The same that is given an optional operand too. In an instruction, optional ones stand last, in the order of the definition.
    ///
    /// # Errors
    /// When it has none of this name.
    pub fn with_operand(self, name: &str) -> Result<Self> {
        Ok(Self { given: self.given.with(&self.name, name)?, ..self })
    }

    /// The operands of an instruction of it, as the definition reads them.
    ///
    /// # Errors
    /// When the name is unknown, or there are too few or too many.
    pub fn args<'a, T>(&self, registry: &Registry, args: &'a [T]) -> Result<Args<'a, T>> {
        registry.composite(&self.name)?.operands().args(&self.name, self.given, args)
    }

    /// An optional operand among those of an instruction of it, where it is given.
    pub fn optional<T: Copy>(&self, name: &str, args: &[T]) -> Option<T> {
        args.get(self.given.position(name, args.len())?).copied()
    }

    /// Whether it is an application of this definition.
    pub fn is(&self, def: &dyn CompositeDef) -> bool {
        &*self.name == def.name()
    }

    /// The composite and the types of its operands inside the conversions that mixed precision puts around it; see
    /// [`Builder::within_cast`].
    ///
    /// # Errors
    /// When the name is unknown.
    pub fn core(&self, registry: &Registry, args: &[&TensorType]) -> Result<(Composite, Types)> {
        let def = registry.composite(&self.name)?;
        match self.attrs.cast() {
            Some(cast) if cast.converts_operands(def.policy().class) => {
                let core = Self { attrs: self.attrs.clone().without_cast(), ..self.clone() };
                Ok((core, converted(args, cast.compute)))
            }
            _ => Ok((self.clone(), args.iter().map(|&ty| ty.clone()).collect())),
        }
    }

    /// The operands of whole numbers, all operands being of these types, that have no meaning outside a range, with their ranges.
    ///
    /// # Errors
    /// When the name is unknown or the operands do not fit.
    pub fn domains(&self, registry: &Registry, args: &[&TensorType]) -> Result<Vec<Domain>> {
        registry.composite(&self.name)?.domains(&self.attrs, self.args(registry, args)?)
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
        self.attrs.visit(visitor);
    }

    fn infer(&self, cx: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let def = cx.registry.composite(&self.name)?;
        let infer = |args: &[&TensorType]| def.infer(cx, &self.attrs, self.args(cx.registry, args)?);
        let Some(cast) = self.attrs.cast() else { return infer(args) };
        let mut types = if cast.converts_operands(def.policy().class) {
            let wide = converted(args, cast.compute);
            infer(&wide.iter().collect::<SmallVec<[_; 4]>>())?
        } else {
            infer(args)?
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
        let def = b.registry().composite(&self.name)?.clone();
        let rule = def.vjp().ok_or_else(|| Diagnostic::bug(format!("`{}` has no gradient of its own", self.name)))?;
        let args = self.args(b.registry(), cx.args)?;
        let &VjpCx { results, cts, wanted, .. } = cx;
        rule(b, &self.attrs, &VjpRuleCx { args, results, cts, wanted: args.with(wanted) })
    }

    fn policy(&self, cx: &InferCx<'_>) -> Policy {
        cx.registry.composite(&self.name).map_or(Policy::SENSITIVE, |def| def.policy())
    }

    fn effect(&self, cx: &InferCx<'_>) -> Effect {
        cx.registry.composite(&self.name).map_or(Effect::NONE, |def| def.effect())
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
