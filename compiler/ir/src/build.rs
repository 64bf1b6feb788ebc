//! Building functions: every instruction is inferred and checked as it is made.

mod composites;
mod flags;

use crate::infer::InferCx;
use crate::loc::{Derivation, LocId, LocKind, LocTable};
use crate::ops::Op;
use crate::registry::Registry;
use crate::rounding::{narrows, widened};
use crate::size::check_size;
use crate::syntax::{
    Def, FuncId, FuncResult, Function, Inst, Module, Param, ParamRole, ResultRole, Rounding, Value, ValueData,
};
use crate::ty::{TensorType, Types};
use halite_support::{Diagnostic, Name, Names, Result, check_cancelled};
use halite_tensor::{DType, Shape};
use smallvec::SmallVec;

pub(crate) use crate::syntax::Values;

/// Builds one function of a module. Op files add a method for each op.
#[derive(Debug)]
pub struct Builder<'a> {
    module: &'a mut Module,
    registry: &'a Registry,
    function: Function,
    /// The names of its parameters, once one was told from others.
    params: Option<Names>,
    loc: LocId,
}

/// A function under way without its module.
#[derive(Clone, Debug)]
pub struct Draft {
    function: Function,
    params: Option<Names>,
    loc: LocId,
}

impl Draft {
    /// An empty function.
    pub fn new(name: impl Into<Name>) -> Self {
        let function = Function { name: name.into(), ..Function::default() };
        Self { function, params: None, loc: LocTable::unknown() }
    }

    /// The function so far.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// The same with these results, which have no names.
    #[must_use]
    pub fn with_results(mut self, results: &[Value]) -> Self {
        let result = |&value: &Value| FuncResult { value, name: Name::default(), role: ResultRole::Value };
        self.function.results = results.iter().map(result).collect();
        self
    }

    /// Gives a value a name to print it under, unless it has one.
    pub fn name_value(&mut self, value: Value, name: impl Into<Name>) {
        self.function.values[value.index()].hint.get_or_insert_with(|| name.into());
    }

    /// The current location.
    pub fn loc(&self) -> LocId {
        self.loc
    }

    /// Sets the current location and returns the old one.
    pub fn set_loc(&mut self, loc: LocId) -> LocId {
        std::mem::replace(&mut self.loc, loc)
    }

    /// Goes on with it, in the module where it was begun.
    pub fn resume<'a>(self, module: &'a mut Module, registry: &'a Registry) -> Builder<'a> {
        Builder { module, registry, function: self.function, params: self.params, loc: self.loc }
    }
}

impl<'a> Builder<'a> {
    /// Starts a function that `finish` adds to `module`.
    pub fn new(module: &'a mut Module, registry: &'a Registry, name: impl Into<Name>) -> Self {
        Draft::new(name).resume(module, registry)
    }

    /// Goes on with the entry of a module, for a pass that only adds to it: its values stay what they are. Its results are handed
    /// over, for the pass to give them anew.
    ///
    /// # Errors
    /// A bug when there is no entry: a verified module has one.
    pub fn on_entry(module: &'a mut Module, registry: &'a Registry) -> Result<(Self, Vec<FuncResult>)> {
        let mut function = module.take_entry()?;
        let results = std::mem::take(&mut function.results);
        Ok((Self { module, registry, function, params: None, loc: LocTable::unknown() }, results))
    }

    /// Goes on with another function of the module, and sets this one aside.
    pub fn swap(&mut self, draft: Draft) -> Draft {
        let function = std::mem::replace(&mut self.function, draft.function);
        let params = std::mem::replace(&mut self.params, draft.params);
        Draft { function, params, loc: std::mem::replace(&mut self.loc, draft.loc) }
    }

    /// Adds a function that was made aside to the module.
    pub fn add_function(&mut self, draft: Draft) -> FuncId {
        self.module.functions.push(draft.function);
        FuncId::new(self.module.functions.len() - 1)
    }

    /// Sets the function aside; [`Draft::resume`] goes on with it.
    pub fn pause(self) -> Draft {
        Draft { function: self.function, params: self.params, loc: self.loc }
    }

    /// Adds a parameter.
    pub fn param(&mut self, name: impl Into<Name>, ty: TensorType, role: ParamRole) -> Value {
        let name = name.into();
        let position = u32::try_from(self.function.params.len()).expect("parameters fit in 32 bits");
        let value = self.define(ty, Def::Param(position), Some(name.clone()));
        if let Some(params) = &mut self.params {
            params.take(name.clone());
        }
        self.function.params.push(Param { value, name, role });
        value
    }

    /// Adds an argument, called `wanted` or, where that is taken, `wanted.1`, `wanted.2` and so on.
    pub fn argument(&mut self, wanted: &str, ty: TensorType) -> Value {
        let function = &self.function;
        let name = self.params.get_or_insert_with(|| function.param_names()).unused(wanted);
        self.param(name, ty, ParamRole::Argument)
    }

    /// Gives a parameter that nothing has read yet another element type.
    pub fn retype_param(&mut self, param: Value, dtype: DType) {
        let ty = &mut self.function.values[param.index()].ty;
        *ty = ty.with_dtype(dtype);
    }

    /// Names the function otherwise than it was begun.
    pub fn rename(&mut self, name: impl Into<Name>) {
        self.function.name = name.into();
    }

    /// Adds an unnamed result.
    pub fn result(&mut self, value: Value) {
        self.named_result(value, Name::default(), ResultRole::Value);
    }

    /// Adds a result with a name and a role.
    pub fn named_result(&mut self, value: Value, name: impl Into<Name>, role: ResultRole) {
        self.function.results.push(FuncResult { value, name: name.into(), role });
    }

    /// Adds results as they are.
    pub fn results(&mut self, results: Vec<FuncResult>) {
        self.function.results.extend(results);
    }

    /// The function, which is not added to the module.
    pub fn into_function(self) -> Function {
        self.function
    }

    /// Adds the function to the module under its name among `names`, unless one of those already is the same in all but its name, which
    /// then stands for it.
    pub fn finish_or(mut self, those: &[FuncId], names: &mut Names) -> FuncId {
        let same = |id: &&FuncId| self.module.functions[id.index()].is_same(&self.function);
        if let Some(known) = those.iter().find(same) {
            return *known;
        }
        self.function.name = names.unused(&self.function.name);
        self.finish()
    }

    /// Adds the function to the module.
    pub fn finish(self) -> FuncId {
        self.module.functions.push(self.function);
        FuncId::new(self.module.functions.len() - 1)
    }

    /// Applies an op and returns all results.
    ///
    /// # Errors
    /// When the operands do not fit, with the current source position, the function becomes too large, or the work was cancelled.
    pub fn emit_all(&mut self, op: impl Into<Op>, args: &[Value]) -> Result<Values> {
        check_cancelled()?;
        check_size(&self.function.name, self.function.values.len()).map_err(|error| self.locate(error))?;
        let op = op.into();
        let types = {
            let cx = self.infer_cx();
            let types: SmallVec<[&TensorType; 4]> = args.iter().map(|&arg| self.function.ty(arg)).collect();
            op.def().infer(&cx, &types).map_err(|diagnostic| self.locate(diagnostic))?
        };
        let rounding = self.default_rounding(&op, args, &types);
        Ok(self.push(op, Values::from_slice(args), types, rounding))
    }

    /// Applies the op of `inst` to other arguments and rounds as it does, where there still is something to round.
    ///
    /// # Errors
    /// As [`emit_all`](Self::emit_all).
    pub fn emit_like(&mut self, inst: &Inst, args: &[Value]) -> Result<Values> {
        let results = self.emit_all(inst.op.clone(), args)?;
        self.round_like(inst);
        Ok(results)
    }

    /// Makes the last instruction round at random if `inst` does and there is something to round.
    pub fn round_like(&mut self, inst: &Inst) {
        if inst.rounds_at_random() {
            self.round_last(inst.rounding.clone().unwrap_or_default());
        }
    }

    /// Sets how the last instruction rounds, if it does.
    pub fn round_last(&mut self, rounding: Rounding) {
        if let Some(own) = self.function.insts.last_mut().and_then(|inst| inst.rounding.as_mut()) {
            *own = rounding;
        }
    }

    /// Emits an instruction in two steps: `emit` computes it wide, then every narrow result is one convert, which rounds as
    /// the instruction says.
    ///
    /// # Errors
    /// Those of `emit`.
    pub fn round_apart(
        &mut self,
        inst: &Inst,
        args: &[Value],
        types: &[TensorType],
        emit: impl FnOnce(&mut Self, &Op, &[Value]) -> Result<Values>,
    ) -> Result<Values> {
        let mut wide = self.compute_wide(&inst.op, args, emit)?;
        for (value, ty) in wide.iter_mut().zip(types) {
            if self.dtype(*value) != ty.dtype() {
                *value = self.convert(*value, ty.dtype())?;
                self.round_like(inst);
            }
        }
        Ok(wide)
    }

    /// Computes the results of an op that narrows, in `f32` and before they are rounded: the operand of a convert, or the results of
    /// `emit` for the op with wide results.
    ///
    /// # Errors
    /// Those of `emit`.
    pub fn compute_wide(
        &mut self,
        op: &Op,
        args: &[Value],
        emit: impl FnOnce(&mut Self, &Op, &[Value]) -> Result<Values>,
    ) -> Result<Values> {
        match widened(op, DType::F32) {
            None => self.convert_floats(args, DType::F32),
            Some(wide) if wide.converts_operands => {
                let args = self.convert_floats(args, DType::F32)?;
                emit(self, &wide.op, &args)
            }
            Some(wide) => emit(self, &wide.op, args),
        }
    }

    /// The values, those that are floats in another element type.
    fn convert_floats(&mut self, values: &[Value], dtype: DType) -> Result<Values> {
        let convert = |&value: &Value| {
            if self.dtype(value).is_float() { self.convert(value, dtype) } else { Ok(value) }
        };
        values.iter().map(convert).collect()
    }

    /// To nearest, for an instruction that rounds at all.
    fn default_rounding(&self, op: &Op, args: &[Value], types: &[TensorType]) -> Option<Rounding> {
        let args: SmallVec<[&TensorType; 4]> = args.iter().map(|&arg| self.function.ty(arg)).collect();
        narrows(&self.infer_cx(), op, &args, types).then_some(Rounding::Nearest)
    }

    /// Adds an instruction whose result types are known.
    pub(crate) fn push(&mut self, op: Op, args: Values, types: Types, rounding: Option<Rounding>) -> Values {
        let index = u32::try_from(self.function.insts.len()).expect("instructions fit in 32 bits");
        self.function.effect = self.function.effect.join(op.def().effect(&self.infer_cx()));
        let define = |(position, ty)| self.define(ty, Def::Inst(index, position), None);
        let results: Values = (0u16..).zip(types).map(define).collect();
        self.function.insts.push(Inst { op, args, results: Values::from_slice(&results), rounding, loc: self.loc });
        results
    }

    /// Makes room for the instructions and values of `source`.
    pub(crate) fn reserve(&mut self, source: &Function) {
        (self.function.noinline, self.function.rounds) = (source.noinline, source.rounds);
        self.function.task = source.task;
        self.function.insts.reserve(source.insts.len());
        self.function.values.reserve(source.values.len());
    }

    /// Applies an op with a single result.
    ///
    /// # Errors
    /// When the operands do not fit, with the current source position.
    pub fn emit(&mut self, op: impl Into<Op>, args: &[Value]) -> Result<Value> {
        let results = self.emit_all(op, args)?;
        match results.as_slice() {
            [value] => Ok(*value),
            _ => Err(Diagnostic::bug("an op with a single result was expected")),
        }
    }

    /// Writes the body of `source` in place of a call with `args`. `emit` writes each instruction, given its mapped arguments.
    ///
    /// # Errors
    /// Those of `emit`.
    pub fn copy_body(
        &mut self,
        source: &Function,
        args: &[Value],
        mut emit: impl FnMut(&mut Self, &Inst, &[Value]) -> Result<Values>,
    ) -> Result<Values> {
        let mut map: Vec<Option<Value>> = vec![None; source.values.len()];
        for (param, &arg) in source.params.iter().zip(args) {
            map[param.value.index()] = Some(arg);
        }
        let lookup = |map: &[Option<Value>], value: Value| {
            map[value.index()].ok_or_else(|| Diagnostic::bug(format!("{value:?} of `@{}` is not defined", source.name)))
        };
        for inst in &source.insts {
            let args = inst.args.iter().map(|&arg| lookup(&map, arg)).collect::<Result<SmallVec<[Value; 4]>>>()?;
            let results = emit(self, inst, &args)?;
            for (&old, &new) in inst.results.iter().zip(&results) {
                map[old.index()] = Some(new);
            }
        }
        source.results.iter().map(|result| lookup(&map, result.value)).collect()
    }

    /// Starts another function of the module while this one is being built.
    pub fn nested(&mut self, name: impl Into<Name>) -> Builder<'_> {
        Builder::new(self.module, self.registry, name)
    }

    /// The context of type inference at this point.
    pub fn infer_cx(&self) -> InferCx<'_> {
        InferCx { functions: &self.module.functions, registry: self.registry }
    }

    /// Moves to a location inside the callee of a call, seen from the call site `outer`; the returned location restores
    /// the old one.
    pub fn enter_call(&mut self, inner: LocId, outer: LocId) -> LocId {
        let nested = self.module.locs.nest(inner, outer);
        self.set_loc(nested)
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> &TensorType {
        self.function.ty(value)
    }

    /// The element type of a value.
    pub fn dtype(&self, value: Value) -> DType {
        self.ty(value).dtype()
    }

    /// The shape of a value.
    pub fn shape(&self, value: Value) -> &Shape {
        self.ty(value).shape()
    }

    /// The function so far.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// The module without the function being built.
    pub fn module(&self) -> &Module {
        self.module
    }

    /// The known composites.
    pub fn registry(&self) -> &'a Registry {
        self.registry
    }

    /// Gives a value a name to print it under.
    pub fn name_value(&mut self, value: Value, name: impl Into<Name>) {
        self.function.values[value.index()].hint = Some(name.into());
    }

    /// The current location.
    pub fn loc(&self) -> LocId {
        self.loc
    }

    /// Sets the current location and returns the old one.
    pub fn set_loc(&mut self, loc: LocId) -> LocId {
        std::mem::replace(&mut self.loc, loc)
    }

    /// Moves into what a location kind says, inside the current location; the returned location, given to
    /// [`set_loc`](Self::set_loc), leaves it.
    pub fn enter(&mut self, kind: LocKind) -> LocId {
        let inner = self.module.locs.add(self.loc, kind);
        self.set_loc(inner)
    }

    /// Enters a scope; the returned location, given to [`set_loc`](Self::set_loc), leaves it.
    pub fn enter_scope(&mut self, name: impl Into<Name>) -> LocId {
        self.enter(LocKind::Scope(name.into()))
    }

    /// Moves to what is derived from `loc`; the returned location restores the old one.
    pub fn enter_derived(&mut self, kind: Derivation, loc: LocId) -> LocId {
        let inner = self.module.locs.derived(kind, loc);
        self.set_loc(inner)
    }

    fn define(&mut self, ty: TensorType, def: Def, hint: Option<Name>) -> Value {
        self.function.values.push(ValueData { ty, def, hint });
        Value::new(self.function.values.len() - 1)
    }

    /// Says of a diagnostic without a place that it is about the current location.
    #[must_use]
    pub fn locate(&self, diagnostic: Diagnostic) -> Diagnostic {
        let path = self.module.locs.path(self.loc);
        let label = if path.is_empty() { String::new() } else { format!("in `{path}`") };
        diagnostic.or_at(self.module.locs.span(self.loc), label)
    }
}

/// Fails with a bug diagnostic when a rule refers to a cotangent that is not there.
///
/// # Errors
/// When `value` is `None`.
pub fn present(value: Option<Value>) -> Result<Value> {
    value.ok_or_else(|| Diagnostic::bug("a gradient rule was called without a cotangent"))
}
