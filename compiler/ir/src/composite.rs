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
    }
}

/// A gradient: the cotangents of the operands, from the attributes and what is known of the instruction.
///
/// It fails when an emitted instruction is ill-typed.
pub type VjpRule<'a> = Box<dyn Fn(&mut Builder<'_>, &Attrs, &VjpCx<'_>) -> Result<Vjp> + 'a>;

/// The definition of a composite: its decomposition, from which most else derives, and methods that may be overridden.
///
/// The documentation of its struct, which [`described!`](crate::described!) declares, is its text in a reference. A composite from
/// outside is registered with a session's registry; models then call it by name:
///
/// ```
/// use halite_ir::{Attrs, Builder, CompositeDef, InferCx, Policy, Registry, TensorType, Types, Value, Values};
/// use halite_support::Result;
/// use std::sync::Arc;
///
/// halite_ir::described! {
///     /// `x * x`.
///     #[derive(Debug)]
///     struct Square;
/// }
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
pub trait CompositeDef: Described + fmt::Debug + Send + Sync {
    /// The name in IR text and in models.
    fn name(&self) -> &str;

    /// Its attributes, each made by its [`AttrKey`](crate::AttrKey); without them it has none.
    fn schema(&self) -> Vec<AttrSpec> {
        Vec::new()
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

    /// A gradient better than that of the decomposition, which auto-diff differentiates where there is none.
    fn vjp(&self) -> Option<VjpRule<'_>> {
        None
    }

    /// The operands of whole numbers that have no meaning outside a range, with their ranges.
    ///
    /// # Errors
    /// As [`infer`](Self::infer).
    fn domains(&self, attrs: &Attrs, args: &[&TensorType]) -> Result<Vec<Domain>> {
        let _ = (attrs, args);
        Ok(Vec::new())
    }

    /// The correspondence of its dimensions; where it is `None`, the decomposition gives it.
    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> Option<FactorMap> {
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
    /// An application of the composite of this name; attributes left out take their defaults.
    ///
    /// # Errors
    /// When the name or an attribute is unknown.
    pub fn new(registry: &Registry, name: &str, attrs: &[(&str, Attr)]) -> Result<Self> {
        let attrs = Attrs::with_defaults(name, &registry.composite(name)?.schema(), attrs)?;
        Ok(Self { name: name.into(), attrs })
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
                let core = Self { name: self.name.clone(), attrs: self.attrs.clone().without_cast() };
                Ok((core, converted(args, cast.compute)))
            }
            _ => Ok((self.clone(), args.iter().map(|&ty| ty.clone()).collect())),
        }
    }

    /// The operands of whole numbers, all operands being of these types, that have no meaning outside a range, with their ranges.
    ///
    /// # Errors
    /// When the name is unknown.
    pub fn domains(&self, registry: &Registry, args: &[&TensorType]) -> Result<Vec<Domain>> {
        registry.composite(&self.name)?.domains(&self.attrs, args)
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
        let Some(cast) = self.attrs.cast() else { return def.infer(cx, &self.attrs, args) };
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
        let def = b.registry().composite(&self.name)?.clone();
        let rule = def.vjp().ok_or_else(|| Diagnostic::bug(format!("`{}` has no gradient of its own", self.name)))?;
        rule(b, &self.attrs, cx)
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
