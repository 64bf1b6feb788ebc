//! Structure and types.

use super::Errors;
use crate::dim_names::{DimName, product_of};
use crate::dims::FactorKind;
use crate::infer::InferCx;
use crate::layout::Layout;
use crate::registry::Registry;
use crate::rounding::narrows;
use crate::syntax::{
    Def, FuncId, FuncResult, Function, Inst, Module, Param, ParamRole, ResultRole, Rounding, Value, WeightInfo,
};
use crate::ty::TensorType;
use halite_support::{Code, Diagnostic, codes};
use halite_tensor::{Content, DType, Init, Packing, StreamKeys};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Checks every function of a module.
pub(super) fn check(module: &Module, registry: &Registry, errors: &mut Errors<'_>) {
    if module.functions.is_empty() {
        errors.at_module(
            broken(codes::UNDEFINED_VALUE, "the module has no function".to_owned())
                .help("write at least `func @main(..) -> (..) {`, `return ..` and `}`"),
        );
    }
    let mut names = FxHashSet::default();
    for (index, function) in module.functions.iter().enumerate() {
        let id = FuncId::new(index);
        if !names.insert(&*function.name) {
            let message = format!("two functions are named `@{}`", function.name);
            errors.at_signature(id, broken(codes::DUPLICATE, message));
        }
        // Only earlier functions can be called, so a callee that comes later is not found.
        let cx = InferCx { functions: &module.functions[..index], registry };
        let callees_hold = errors.list.is_empty();
        let defined = vec![false; function.values.len()];
        let mut checker = Checker { module, id, function, cx, callees_hold, defined, errors };
        checker.check_params();
        for (at, inst) in function.insts.iter().enumerate() {
            checker.check_inst(at, inst);
        }
        checker.check_results();
        checker.check_rounds();
        checker.check_all_defined();
    }
}

fn broken(code: Code, message: String) -> Diagnostic {
    Diagnostic::error(code, message)
}

struct Checker<'a, 'e, 'm> {
    module: &'a Module,
    id: FuncId,
    function: &'a Function,
    cx: InferCx<'a>,
    /// Whether earlier functions are sound: calls are only inferred then.
    callees_hold: bool,
    defined: Vec<bool>,
    errors: &'e mut Errors<'m>,
}

impl<'a> Checker<'a, '_, '_> {
    fn check_params(&mut self) {
        let mut names = FxHashSet::default();
        for (position, param) in self.function.params.iter().enumerate() {
            let name = &param.name;
            if !names.insert(&**name) {
                let message = format!("two parameters are named `{name}`");
                self.errors.at_signature(self.id, broken(codes::DUPLICATE, message));
            }
            self.check_role(param, &mut names);
            let def = u32::try_from(position).map(Def::Param).ok();
            if let Err(message) = self.define(param.value, def) {
                self.errors
                    .at_signature(self.id, broken(codes::UNDEFINED_VALUE, format!("parameter `{name}` {message}")));
            }
        }
    }

    /// Checks that a function that rounds its first parameter works on it element by element, and returns one tensor of its shape.
    fn check_rounds(&mut self) {
        let function = self.function;
        if !function.rounds || !self.errors.list.is_empty() {
            return;
        }
        let ([first, ..], [result]) = (&function.params[..], &function.results[..]) else {
            return self.refuse_rounds("it takes no parameter, or gives more than one result");
        };
        let (from, to) = (function.ty(first.value), function.ty(result.value));
        if !from.dtype().is_float() || !to.dtype().is_float() || from.shape() != to.shape() {
            return self.refuse_rounds("its result is no tensor of reals of the shape of its first parameter");
        }
        let mut follows = vec![false; function.values.len()];
        follows[first.value.index()] = true;
        for inst in &function.insts {
            let read: Vec<usize> = (0..inst.args.len()).filter(|&at| follows[inst.args[at].index()]).collect();
            if read.is_empty() {
                continue;
            }
            let types = |values: &[Value]| -> Vec<TensorType> {
                values.iter().map(|&value| function.ty(value).clone()).collect()
            };
            let (args, results) = (types(&inst.args), types(&inst.results));
            let map = inst.op.def().dims(&args.iter().collect::<Vec<_>>(), &results);
            let alike = |at: &usize| map.results.iter().all(|dims| *dims == map.operands[*at]);
            let parallel = map.factors.iter().all(|factor| factor.kind == FactorKind::Parallel);
            if !parallel || !read.iter().all(alike) {
                return self.refuse_rounds(&format!("`{}` does not work on it element by element", inst.op.name()));
            }
            inst.results.iter().for_each(|result| follows[result.index()] = true);
        }
    }

    fn refuse_rounds(&mut self, why: &str) {
        let message = format!("`@{}` does not round its first parameter: {why}", self.function.name);
        let error = broken(codes::CONTRACT, message).help("leave out `rounds`");
        self.errors.at_signature(self.id, error);
    }

    /// Checks that the role of a parameter agrees with its type and its other attributes.
    fn check_role(&mut self, param: &'a Param, names: &mut FxHashSet<&'a str>) {
        if self.id.index() + 1 == self.module.functions.len() {
            self.check_sharding(param);
        }
        match &param.role {
            ParamRole::Argument | ParamRole::Batch => {}
            ParamRole::Known(Content::Causal) => self.check_mask(param),
            ParamRole::Known(Content::Ranks) => self.check_ranks(param),
            ParamRole::Known(Content::MicroBatch) => self.check_micro_batch(param),
            ParamRole::Known(Content::Keys(keys)) => self.check_keys(param, keys),
            ParamRole::Weight(WeightInfo { init, output, packing, dims, .. }) => {
                if *init == Init::Weight {
                    let message = format!("weight `{}` starts as a weight, which only state can", param.name);
                    let error = broken(codes::ATTRIBUTE, message).help("give it a start of its own, e.g. `zeros`");
                    self.errors.at_signature(self.id, error);
                }
                let rank = self.function.values.get(param.value.index()).map_or(0, |data| data.ty.rank());
                if *output != 0 && *output >= rank {
                    let message = format!("`out = {output}` of weight `{}`, which has {rank} dimensions", param.name);
                    let error = broken(codes::ATTRIBUTE, message).help("name one of its dimensions, counted from 0");
                    self.errors.at_signature(self.id, error);
                }
                if let Some(packing) = packing {
                    self.check_packing(param, packing, names);
                }
                if let Some(dims) = dims {
                    self.check_dims(param, dims);
                }
            }
            ParamRole::State(spec) => {
                if let Err(error) = spec.check() {
                    self.errors.at_signature(self.id, error.context(format!("parameter `{}`", param.name)));
                }
            }
        }
    }

    /// Only a predicate over as many keys as queries can be causal.
    fn check_mask(&mut self, param: &Param) {
        if let Some(data) = self.function.values.get(param.value.index()).filter(|data| !data.ty.is_mask()) {
            let message = format!("`{}` is declared causal, but `{}` is no mask", param.name, data.ty);
            let error = broken(codes::TYPE_MISMATCH, message).help("declare a mask as `pred[.., size, size]`");
            self.errors.at_signature(self.id, error);
        }
    }

    /// Each rank of the mesh has its own number.
    fn check_ranks(&mut self, param: &Param) {
        let ranks = self.module.layout.as_ref().map_or(1, |layout| layout.mesh.num_ranks());
        let expected = TensorType::new(DType::S32, [ranks]);
        if let Some(ty) = self.whole(param).filter(|ty| *ty != expected) {
            let message = format!("`{}` holds the numbers of {ranks} ranks, but is `{ty}` in all", param.name);
            let error = broken(codes::TYPE_MISMATCH, message).help("give each rank one number, `s32[1]`");
            self.errors.at_signature(self.id, error);
        }
    }

    /// The number of a micro-batch is one number.
    fn check_micro_batch(&mut self, param: &Param) {
        let expected = TensorType::scalar(DType::S32);
        if let Some(data) = self.function.values.get(param.value.index()).filter(|data| data.ty != expected) {
            let message = format!("`{}` is the number of the micro-batch, but is `{}`", param.name, data.ty);
            let error = broken(codes::TYPE_MISMATCH, message).help("make it `s32[]`");
            self.errors.at_signature(self.id, error);
        }
    }

    /// Each stream has one key.
    fn check_keys(&mut self, param: &Param, keys: &StreamKeys) {
        let expected = TensorType::new(DType::U32, [keys.streams().len()]);
        if let Some(ty) = self.whole(param).filter(|ty| *ty != expected) {
            let message = format!("`{}` holds the keys of {} streams, but is `{ty}`", param.name, keys.streams().len());
            let error = broken(codes::TYPE_MISMATCH, message).help(format!("make it `{expected}`"));
            self.errors.at_signature(self.id, error);
        }
    }

    /// A parameter that stores several tensors has the shape of their packing, and no name stands for two tensors.
    fn check_packing(&mut self, param: &'_ Param, packing: &'a Packing, names: &mut FxHashSet<&'a str>) {
        if let Some(twice) = packing.parts.iter().find(|part| !names.insert(&part.name)) {
            let message = format!("two parameters are named `{}`", twice.name);
            self.errors.at_signature(self.id, broken(codes::DUPLICATE, message));
        }
        let Some(ty) = self.whole(param) else { return };
        match packing.shape() {
            Err(diagnostic) => self.errors.at_signature(self.id, diagnostic),
            Ok(shape) if shape != *ty.shape() => {
                let (name, packed) = (&param.name, ty.with_shape(shape));
                let message = format!("parameter `{name}` is `{ty}`, what it packs makes `{packed}`");
                self.errors.at_signature(self.id, broken(codes::SHAPE, message));
            }
            Ok(_) => {}
        }
    }

    /// Checks that the sharding of a parameter of the entry divides it evenly.
    fn check_sharding(&mut self, param: &Param) {
        let sharding = self.module.layout.as_ref().and_then(|layout| layout.of_param(param));
        let (Some(sharding), Some(ty)) = (sharding, self.whole(param)) else { return };
        if !sharding.fits(ty.shape()) {
            let message =
                format!("the layout does not shard parameter `{}` evenly, which is `{ty}` in all", param.name);
            self.errors.at_signature(self.id, broken(codes::SHAPE, message));
        }
    }

    /// The type of a whole parameter, of which each rank may hold a shard.
    fn whole(&self, param: &Param) -> Option<TensorType> {
        let data = self.function.values.get(param.value.index())?;
        let sharding = self.module.layout.as_ref().and_then(|layout| layout.of_param(param));
        Some(Layout::whole(sharding, &data.ty))
    }

    /// The names of dimensions are as many as these, and what they are products of makes their sizes.
    fn check_dims(&mut self, param: &Param, dims: &[DimName]) {
        let Some(ty) = self.whole(param) else { return };
        let sizes: Vec<_> = dims.iter().map(|dim| product_of(dim)).collect();
        if !sizes.iter().copied().eq(ty.shape().iter().map(|&size| Some(size))) {
            let message = format!("the names of its dimensions do not make parameter `{}`: `{ty}`", param.name);
            let error = broken(codes::SHAPE, message).help("name each dimension by factors whose product is its size");
            self.errors.at_signature(self.id, error);
        }
    }

    /// Notes the definition of a value.
    fn define(&mut self, value: Value, def: Option<Def>) -> Result<(), &'static str> {
        let Some(data) = self.function.values.get(value.index()) else {
            return Err("is no value of this function");
        };
        if std::mem::replace(&mut self.defined[value.index()], true) {
            return Err("is defined a second time");
        }
        if Some(data.def) != def { Err("is recorded as defined elsewhere") } else { Ok(()) }
    }

    fn check_inst(&mut self, at: usize, inst: &Inst) {
        if !self.module.locs.contains(inst.loc) {
            self.inst_error(at, codes::UNDEFINED_VALUE, || {
                format!("the location of `{}` does not exist", inst.op.name())
            });
        }
        let mut sound = true;
        let mut types: SmallVec<[&TensorType; 8]> = SmallVec::new();
        for (position, arg) in inst.args.iter().enumerate() {
            match self.function.values.get(arg.index()) {
                Some(data) if self.defined[arg.index()] => types.push(&data.ty),
                data => {
                    let what =
                        if data.is_none() { "no value of this function" } else { "not defined before it is read" };
                    let op = inst.op.name();
                    self.inst_error(at, codes::UNDEFINED_VALUE, || format!("operand {position} of `{op}` is {what}"));
                    sound = false;
                }
            }
        }
        for (position, &result) in inst.results.iter().enumerate() {
            let def = u32::try_from(at).ok().zip(u16::try_from(position).ok());
            if let Err(message) = self.define(result, def.map(|(at, position)| Def::Inst(at, position))) {
                let op = inst.op.name();
                self.inst_error(at, codes::UNDEFINED_VALUE, || format!("result {position} of `{op}` {message}"));
                sound = false;
            }
        }
        if sound {
            self.check_types(at, inst, &types);
        }
    }

    fn check_types(&mut self, at: usize, inst: &Inst, args: &[&TensorType]) {
        if !self.callees_hold && inst.op.callee().is_some() {
            return;
        }
        let inferred = match inst.op.def().infer(&self.cx, args) {
            Ok(inferred) => inferred,
            Err(diagnostic) => return self.errors.at_inst(self.id, at, diagnostic),
        };
        let op = inst.op.name();
        if inferred.len() != inst.results.len() {
            let (expected, found) = (inferred.len(), inst.results.len());
            return self.inst_error(at, codes::ARITY, || format!("`{op}` has {expected} results, found {found}"));
        }
        for (expected, &result) in inferred.iter().zip(&inst.results) {
            let found = self.function.ty(result);
            if expected != found {
                self.inst_error(at, codes::TYPE_MISMATCH, || {
                    format!("`{op}` gives `{expected}`, recorded is `{found}`")
                });
            }
        }
        self.check_rounding(at, inst, args, &inferred);
    }

    /// An instruction has a rounding exactly when it rounds.
    fn check_rounding(&mut self, at: usize, inst: &Inst, args: &[&TensorType], results: &[TensorType]) {
        let (op, rounds) = (inst.op.name(), narrows(&self.cx, &inst.op, args, results));
        match &inst.rounding {
            Some(_) if !rounds => {
                self.inst_error(at, codes::ROUNDING, || format!("`{op}` has a rounding, but nothing to round"));
            }
            Some(Rounding::Stochastic(_) | Rounding::Switched) if !results.iter().any(|ty| ty.dtype().is_narrow()) => {
                let message = || format!("`{op}` rounds at random, which is possible to `bf16` and `f16` only");
                self.inst_error(at, codes::ROUNDING, message);
            }
            None if rounds => {
                self.inst_error(at, codes::ROUNDING, || format!("`{op}` rounds, but does not say how"));
            }
            _ => {}
        }
    }

    fn check_results(&mut self) {
        let mut names = FxHashSet::default();
        for (position, result) in self.function.results.iter().enumerate() {
            let name = &result.name;
            if !name.is_empty() && !names.insert(&**name) {
                let message = format!("two results are named `{name}`");
                self.errors.at_return(self.id, broken(codes::DUPLICATE, message));
            }
            if self.defined.get(result.value.index()) != Some(&true) {
                let message = format!("result {position} is not defined");
                self.errors.at_return(self.id, broken(codes::UNDEFINED_VALUE, message));
            }
            self.check_over(result);
        }
    }

    /// Checks that the divisor of a sum names a sum among the results, and that no other result does.
    fn check_over(&mut self, result: &FuncResult) {
        let ResultRole::Over(of) = &result.role else { return };
        let results = &self.function.results;
        if !results.iter().any(|other| other.role == ResultRole::Sum && other.name == *of) {
            let message = format!("`{}` is what `{of}` is divided by, which is no sum among the results", result.name);
            self.errors.at_return(self.id, broken(codes::ATTRIBUTE, message));
        }
        if results.iter().filter(|other| other.role == result.role).count() > 1 {
            let message = format!("`{of}` is divided by two results");
            self.errors.at_return(self.id, broken(codes::DUPLICATE, message));
        }
    }

    fn check_all_defined(&mut self) {
        let missing = self.defined.iter().filter(|&&defined| !defined).count();
        if missing > 0 {
            let message = format!("{missing} values of `@{}` are never defined", self.function.name);
            self.errors.at_signature(self.id, broken(codes::UNDEFINED_VALUE, message));
        }
    }

    fn inst_error(&mut self, at: usize, code: Code, message: impl FnOnce() -> String) {
        self.errors.at_inst(self.id, at, broken(code, message()));
    }
}
