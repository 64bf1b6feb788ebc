//! The rewriting of one function.

use super::callee::{Callees, Context, Fact, ReadAs};
use super::overrides::Overrides;
use super::types::Types;
use super::wants::Readers;
use halite_ir::composites::Transfer;
use halite_ir::ops::Call;
use halite_ir::paths::nested;
use halite_ir::{
    Cast, Composite, Derivation, Follows, FuncId, Function, Inst, Op, OpClass, ParamRole, Policy, ResultRole, Rewriter,
    Value, Values, engine, loses, set_accumulate,
};
use halite_support::Result;
use halite_tensor::DType;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The float operands of an instruction.
struct FloatOperands {
    floats: Values,
    /// The widest type that one was made in.
    made: DType,
    /// The widest type as which one is seen.
    read_as: ReadAs,
    /// The type that the widest operand resolves to.
    widest: DType,
}

/// The place of a function that is rewritten.
pub(super) enum Place {
    /// Nothing calls it: its weights arrive in the type of their slot, gradients leave in the type of gradients.
    Entry,
    /// Nothing calls it and it is not the entry: it takes and returns what is written.
    Apart,
    /// It is called with values of these facts.
    Callee(Vec<Fact>),
}

/// A function that is rewritten, as its callers see it.
pub(super) struct Site {
    pub(super) place: Place,
    /// The scope of the call.
    pub(super) scope: String,
    pub(super) readers: Readers,
}

/// Rewrites one function.
pub(super) struct Caster<'a, 'b, 'c> {
    b: &'a mut Rewriter<'b>,
    source: &'a Function,
    overrides: &'a Overrides<'c>,
    callees: &'a mut dyn Callees,
    place: Place,
    scope: String,
    recipe: Types,
    readers: Readers,
    /// For each old value, how readers see it.
    read_as: Vec<ReadAs>,
    /// Converts made so far.
    casts: FxHashMap<(Value, DType), Value>,
}

impl<'a, 'b, 'c> Caster<'a, 'b, 'c> {
    pub(super) fn new(
        b: &'a mut Rewriter<'b>,
        source: &'a Function,
        overrides: &'a Overrides<'c>,
        callees: &'a mut dyn Callees,
        Site { place, scope, readers }: Site,
    ) -> Self {
        let read_as = source.values.iter().map(|value| ReadAs::Type(value.ty.dtype())).collect();
        let recipe = Types::of(overrides.precision);
        Self { b, source, overrides, callees, place, scope, recipe, readers, read_as, casts: FxHashMap::default() }
    }

    /// Rewrites it; what is known of its results.
    pub(super) fn run(mut self) -> Result<Vec<Fact>> {
        self.params()?;
        let source = self.source;
        for inst in &source.insts {
            let outer = self.b.set_loc(inst.loc);
            self.inst(inst)?;
            self.b.set_loc(outer);
        }
        self.results()
    }

    fn params(&mut self) -> Result<()> {
        for (at, param) in self.source.params.iter().enumerate() {
            if !self.source.ty(param.value).dtype().is_float() {
                continue;
            }
            let (value, mut read_as) = (self.b.value(param.value)?, ReadAs::Type(self.recipe.operand));
            match &self.place {
                Place::Entry if matches!(param.role, ParamRole::Weight(_)) => {
                    self.b.retype_param(value, self.overrides.weight(param)?);
                }
                Place::Callee(args) => {
                    self.b.retype_param(value, args[at].made);
                    read_as = args[at].read_as;
                }
                Place::Entry | Place::Apart => {}
            }
            self.read_as[param.value.index()] = read_as;
        }
        Ok(())
    }

    /// Gradients leave in the type of gradients; a callee returns what it made.
    fn results(&mut self) -> Result<Vec<Fact>> {
        let mut facts = Vec::with_capacity(self.source.results.len());
        for result in &self.source.results {
            let written = self.source.ty(result.value).dtype();
            let dtype = match (&self.place, &result.role) {
                _ if !written.is_float() => None,
                (Place::Callee(_), _) => None,
                (_, ResultRole::Gradient(_)) => Some(self.recipe.gradient),
                (Place::Entry, role) if role.is_sum() => Some(self.recipe.sensitive),
                (Place::Entry, _) => None,
                (Place::Apart, _) => Some(written),
            };
            if let Some(dtype) = dtype {
                let value = self.cast(result.value, dtype)?;
                self.b.replace(result.value, value);
            }
            facts.push(self.fact(result.value)?);
        }
        Ok(facts)
    }

    fn fact(&self, old: Value) -> Result<Fact> {
        Ok(Fact {
            made: self.b.dtype(self.b.value(old)?),
            read_as: self.read_as[old.index()],
            readers: self.readers.of(old),
        })
    }

    fn inst(&mut self, inst: &Inst) -> Result<()> {
        if let Some(edge) = inst.call() {
            return self.call(inst, edge.callee);
        }
        let is_float = |&value: &Value| self.source.ty(value).dtype().is_float();
        if !inst.args.iter().chain(&inst.results).any(is_float) {
            return self.b.copy(self.source, inst);
        }
        let policy = inst.op.def().policy(&self.b.infer_cx());
        let types = self.overrides.types(inst, &policy, &self.b.module().locs, &self.scope)?;
        match &inst.op {
            Op::Constant(constant) => {
                let exact =
                    |value: f64| halite_tensor::rounding::round_to(types.operand, value).to_bits() == value.to_bits();
                self.literal(inst, constant.value.f64s().into_iter().all(exact))
            }
            Op::Convert(convert) => self.convert(inst, convert.dtype),
            Op::KernelCall(_) => self.kernel(inst),
            Op::OptimizationBarrier(_) => self.each_as_it_comes(inst),
            _ if Transfer::ends(&inst.op).is_some() => self.each_as_it_comes(inst),
            // Numbers made from positions and counts: they lose their meaning at low precision.
            _ if !inst.args.iter().any(is_float) => self.wide(inst),
            _ if policy.class == OpClass::Integer => self.as_written(inst),
            _ if policy.class == OpClass::Storage => self.movement(inst),
            Op::Composite(composite) => self.composite(inst, composite, &policy, &types),
            _ => self.primitive(inst, &policy, &types),
        }
    }

    /// A literal has no type of its own.
    fn literal(&mut self, inst: &Inst, exact: bool) -> Result<()> {
        self.b.copy(self.source, inst)?;
        self.set_read_as(inst, |_| ReadAs::Literal { exact });
        Ok(())
    }

    fn wide(&mut self, inst: &Inst) -> Result<()> {
        let args = self.as_they_come(inst)?;
        self.emit(inst, inst.op.clone(), &args)?;
        self.see_as_made(inst)
    }

    /// A stated convert is the model's own choice; it reads the most precise version there is.
    fn convert(&mut self, inst: &Inst, dtype: DType) -> Result<()> {
        let arg = self.b.value(inst.args[0])?;
        let value = if self.b.dtype(arg) == dtype {
            arg
        } else {
            let value = self.b.convert(arg, dtype)?;
            self.b.round_like(inst);
            value
        };
        self.b.keep_names(self.source, inst, &[value]);
        self.b.replace_all(inst, &[value]);
        self.see_as_made(inst)
    }

    /// The callee as it is for these operands and readers; they are handed over as they come.
    fn call(&mut self, inst: &Inst, callee: FuncId) -> Result<()> {
        let args = self.as_they_come(inst)?;
        let facts = inst.args.iter().map(|&arg| self.fact(arg)).collect::<Result<_>>()?;
        let results: Vec<_> = inst.results.iter().map(|&result| self.readers.of(result)).collect();
        let scope = match self.overrides.name_scopes() {
            true => nested(&self.scope, self.b.module().locs.scope(inst.loc)),
            false => String::new(),
        };
        let cast = self.callees.callee(self.b, Context { callee, args: facts, results, scope })?;
        self.emit(inst, Call { callee: cast.id }.into(), &args)?;
        for (result, fact) in inst.results.iter().zip(&cast.results) {
            self.read_as[result.index()] = fact.read_as;
            self.readers.set(*result, fact.readers);
        }
        Ok(())
    }

    /// A kernel with the types that are written.
    fn kernel(&mut self, inst: &Inst) -> Result<()> {
        let mut inst = inst.clone();
        self.callees.renumber(&mut inst.op)?;
        self.as_written(&inst)
    }

    /// With the element types of the model: kernels and reinterpreted bits.
    fn as_written(&mut self, inst: &Inst) -> Result<()> {
        let args =
            inst.args.iter().map(|&arg| self.cast(arg, self.source.ty(arg).dtype())).collect::<Result<Values>>()?;
        self.emit(inst, inst.op.clone(), &args)?;
        self.set_read_as(inst, |caster| ReadAs::Type(caster.recipe.operand));
        Ok(())
    }

    fn each_as_it_comes(&mut self, inst: &Inst) -> Result<()> {
        let args = self.as_they_come(inst)?;
        self.emit(inst, inst.op.clone(), &args)?;
        for (result, arg) in inst.results.iter().zip(&inst.args) {
            self.read_as[result.index()] = self.read_as[arg.index()];
        }
        Ok(())
    }

    /// Data is moved in the narrow type unless a reader wants it wide, or moving it first moves less.
    fn movement(&mut self, inst: &Inst) -> Result<()> {
        let read_as = self.widest(&inst.args);
        let size = |value: Value| self.source.ty(value).shape().num_elements();
        let (result, floats) = (inst.results[0], self.floats(&inst.args));
        let shrinks = floats.len() == 1 && size(result) < size(floats[0]);
        let dtype = match read_as {
            ReadAs::Literal { .. } => self.made(&floats)?,
            ReadAs::Type(_) if self.readers.of(result).some_wide() || shrinks => self.made(&floats)?,
            ReadAs::Type(narrow) => self.room_for_literals(&floats, narrow)?,
        };
        let args = self.cast_floats(&inst.args, |_| dtype)?;
        self.emit(inst, inst.op.clone(), &args)?;
        self.set_read_as(inst, |_| read_as);
        Ok(())
    }

    fn primitive(&mut self, inst: &Inst, policy: &Policy, types: &Types) -> Result<()> {
        let FloatOperands { floats, made, read_as, widest } = self.read(inst, types)?;
        let args = match policy.operand {
            Follows::Own => self.as_they_come(inst)?,
            Follows::Widest if self.readers.on_the_way(&inst.results) && !types.forced => {
                let dtype = engine(made);
                self.cast_floats(&inst.args, |_| dtype)?
            }
            Follows::Widest => {
                let dtype = self.room_for_literals(&floats, widest)?;
                self.cast_floats(&inst.args, |_| dtype)?
            }
            follows => {
                let dtype = types.resolve(follows, widest);
                self.cast_floats(&inst.args, |_| dtype)?
            }
        };
        let mut op = inst.op.clone();
        let given = args.iter().map(|&arg| self.b.dtype(arg)).filter(|dtype| dtype.is_float());
        let given = given.max_by_key(|dtype| dtype.size()).unwrap_or(made);
        let sums = policy.accumulate.map_or(given, |follows| types.resolve(follows, given));
        set_accumulate(&mut op, if loses(given, sums) { given } else { sums });
        self.emit(inst, op, &args)?;
        self.set_read_as(inst, |_| match policy.result(0) {
            Follows::Widest if matches!(read_as, ReadAs::Literal { .. }) => read_as,
            follows => ReadAs::Type(types.resolve(follows, widest)),
        });
        Ok(())
    }

    /// Operands as narrow as readers see them; sensitive ones as precise as there are.
    fn composite(&mut self, inst: &Inst, composite: &Composite, policy: &Policy, types: &Types) -> Result<()> {
        let FloatOperands { widest, .. } = self.read(inst, types)?;
        let args = self.composite_operands(inst, policy, types, widest)?;
        let compute = types.resolve(policy.compute, widest);
        let read_as = |index: usize| types.resolve(policy.result(index), widest);
        let wide = if policy.class == OpClass::Matmul { types.accumulate } else { compute };
        let given = |(index, &result): (usize, &Value)| {
            let dtype = self.source.ty(result).dtype();
            match dtype.is_float() {
                false => dtype,
                true if self.readers.of(result).some_wide() && !loses(wide, read_as(index)) => read_as(index),
                true if self.readers.of(result).some_wide() => wide,
                true => read_as(index),
            }
        };
        let results: SmallVec<[DType; 4]> = inst.results.iter().enumerate().map(given).collect();
        let all = args.iter().map(|&arg| self.b.dtype(arg)).chain(results.iter().copied());
        // A matmul that is told nothing computes wide between its contractions.
        let unstated = if policy.class == OpClass::Matmul { engine(widest) } else { compute };
        let uniform = compute == unstated && all.filter(|dtype| dtype.is_float()).all(|dtype| dtype == compute);
        let mut composite = composite.clone();
        if !uniform {
            composite.attrs = composite.attrs.with_cast(Cast { compute, results });
        }
        self.emit(inst, composite.into(), &args)?;
        for (index, result) in inst.results.iter().enumerate() {
            if self.source.ty(*result).dtype().is_float() {
                self.read_as[result.index()] = ReadAs::Type(read_as(index));
            }
        }
        Ok(())
    }

    /// Sensitive ones and those on their way to a wide reader as they come, others as readers see them.
    fn composite_operands(&mut self, inst: &Inst, policy: &Policy, types: &Types, widest: DType) -> Result<Values> {
        match policy.operand {
            Follows::Sensitive | Follows::Own => self.as_they_come(inst),
            Follows::Widest if self.readers.on_the_way(&inst.results) => self.as_they_come(inst),
            Follows::Widest => {
                let taken = |&arg: &Value| match self.read_as[arg.index()] {
                    _ if self.readers.of(arg).alone() && !types.forced => Ok(self.b.dtype(self.b.value(arg)?)),
                    ReadAs::Type(dtype) if !loses(dtype, widest) => Ok(dtype),
                    _ => Ok(widest),
                };
                let taken = inst.args.iter().map(taken).collect::<Result<SmallVec<[DType; 4]>>>()?;
                self.cast_floats(&inst.args, |position| taken[position])
            }
            follows => {
                let dtype = types.resolve(follows, widest);
                self.cast_floats(&inst.args, |_| dtype)
            }
        }
    }

    /// The float operands of an instruction, with their types.
    fn read(&self, inst: &Inst, types: &Types) -> Result<FloatOperands> {
        let floats = self.floats(&inst.args);
        let (made, read_as) = (self.made(&floats)?, self.widest(&inst.args));
        let widest = match read_as {
            ReadAs::Type(dtype) => types.resolve(Follows::Widest, dtype),
            ReadAs::Literal { .. } => made,
        };
        Ok(FloatOperands { floats, made, read_as, widest })
    }

    fn emit(&mut self, inst: &Inst, op: Op, args: &[Value]) -> Result<()> {
        let results = self.b.emit_all(op, args)?;
        self.b.round_like(inst);
        self.b.keep_names(self.source, inst, &results);
        self.b.replace_all(inst, &results);
        Ok(())
    }

    fn set_read_as(&mut self, inst: &Inst, read_as: impl Fn(&Self) -> ReadAs) {
        for result in &inst.results {
            if self.source.ty(*result).dtype().is_float() {
                self.read_as[result.index()] = read_as(self);
            }
        }
    }

    fn see_as_made(&mut self, inst: &Inst) -> Result<()> {
        for &result in &inst.results {
            self.read_as[result.index()] = ReadAs::Type(self.b.dtype(self.b.value(result)?));
        }
        Ok(())
    }

    fn floats(&self, values: &[Value]) -> Values {
        values.iter().copied().filter(|&value| self.source.ty(value).dtype().is_float()).collect()
    }

    /// The widest of the types as which the float operands are seen; literals count only among themselves.
    fn widest(&self, values: &[Value]) -> ReadAs {
        let mut all_exact = true;
        let mut widest: Option<DType> = None;
        for value in self.floats(values) {
            match self.read_as[value.index()] {
                ReadAs::Type(dtype) => widest = Some(widest.map_or(dtype, |own| wider(own, dtype))),
                ReadAs::Literal { exact } => all_exact &= exact,
            }
        }
        widest.map_or(ReadAs::Literal { exact: all_exact }, ReadAs::Type)
    }

    /// `narrow`, or the type that literals were written in when one of them would be rounded.
    fn room_for_literals(&self, floats: &[Value], narrow: DType) -> Result<DType> {
        let mut dtype = narrow;
        for &value in floats {
            if self.read_as[value.index()] == (ReadAs::Literal { exact: false }) {
                dtype = wider(dtype, self.b.dtype(self.b.value(value)?));
            }
        }
        Ok(dtype)
    }

    /// The widest type that float operands were made in.
    fn made(&self, floats: &[Value]) -> Result<DType> {
        let mut widest = self.recipe.operand;
        for &value in floats {
            widest = wider(widest, self.b.dtype(self.b.value(value)?));
        }
        Ok(widest)
    }

    fn as_they_come(&self, inst: &Inst) -> Result<Values> {
        self.b.values(&inst.args)
    }

    /// The operands, floats in the type that `dtype` says for their position.
    fn cast_floats(&mut self, values: &[Value], dtype: impl Fn(usize) -> DType) -> Result<Values> {
        let cast = |(position, &value): (usize, &Value)| {
            if self.source.ty(value).dtype().is_float() {
                self.cast(value, dtype(position))
            } else {
                self.b.value(value)
            }
        };
        values.iter().enumerate().map(cast).collect()
    }

    /// An old value in a type, converted once for all readers.
    fn cast(&mut self, old: Value, dtype: DType) -> Result<Value> {
        let value = self.b.value(old)?;
        if self.b.dtype(value) == dtype {
            return Ok(value);
        }
        if let Some(&cast) = self.casts.get(&(value, dtype)) {
            return Ok(cast);
        }
        let reader = self.b.loc();
        let outer = self.b.enter_derived(Derivation::Cast, reader);
        let cast = self.b.convert(value, dtype)?;
        self.b.set_loc(outer);
        self.casts.insert((value, dtype), cast);
        Ok(cast)
    }
}

fn wider(x: DType, y: DType) -> DType {
    if y.size() > x.size() { y } else { x }
}
