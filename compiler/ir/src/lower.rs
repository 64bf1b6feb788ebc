//! Lowering: a module in phase `legal` becomes an HLO module.

mod metadata;

use crate::graph;
use crate::ops::Op;
use crate::syntax::{FuncId, FuncResult, Function, Inst, Module, Phase, ResultRole, Value};
use crate::ty::TensorType;
use crate::verify::Verified;
use halite_hlo::proto::HloModuleProto;
use halite_hlo::{
    ArrayType, CollectiveForm, ComputationBuilder, ComputationId, INPUT_NAMES, Id, ModuleBuilder, OUTPUT_NAMES, Type,
};
use halite_support::{Diagnostic, Name, Result, SourceMap, check_cancelled};
use halite_tensor::Groups;
use metadata::Metadata;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;

/// HLO ids of an op's results.
pub type Ids = SmallVec<[halite_hlo::Id; 1]>;

/// The options of lowering: the form of the HLO.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LowerOptions {
    /// The form of calls of kernels.
    pub kernels: KernelForm,
    /// The form of `take` and `take_along_axis`.
    pub reads: Indexing,
    /// The form of `take_grad` and `take_along_axis_grad`.
    pub sums: Indexing,
    /// The form of collectives.
    pub collectives: CollectiveForm,
    /// The types of the operands of products.
    pub products: Products,
    /// Whether calls are left to the compiler that reads the HLO. Otherwise those of `noinline` functions carry the frontend
    /// attribute `inlineable = "false"`, without which XLA's CPU pipeline inlines every call.
    pub plain_calls: bool,
    /// Whether every narrowing says how it rounds, in the frontend attribute `halite.rounding`.
    pub rounding: bool,
    /// Whether files and lines are left out of the metadata; scopes stay. Models that differ only in where they are
    /// written then give the same bytes.
    pub without_positions: bool,
}

/// The form of reads or sums at positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Indexing {
    /// As `gather` or `scatter` with clamped indices.
    #[default]
    Native,
    /// As products with one-hot matrices.
    OneHot,
}

/// The types of the operands of products. They are converted to the type that is accumulated in for compilers that do not have products
/// of narrow operands in every form: the numbers are the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Products {
    /// Their own.
    #[default]
    Narrow,
    /// The wider one where batch dimensions do not come first, in order and in both operands.
    WideUnlessBatchLeads,
    /// The wider one.
    Wide,
}

/// The form of calls of kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum KernelForm {
    /// Calls of their decompositions, which any XLA runs.
    #[default]
    Decompositions,
    /// Custom calls, which the target knows. Each names its decomposition in the frontend attribute [`halite_hlo::DECOMPOSITION`]; see
    /// [`lower_decompositions`].
    CustomCalls,
}

/// The context of the lowering of an op.
#[derive(Debug)]
pub struct LowerCx<'m> {
    /// The computation being built.
    pub hlo: ComputationBuilder<'m>,
    /// Choices of form.
    pub options: LowerOptions,
    /// Types of the results.
    pub results: SmallVec<[TensorType; 1]>,
    /// The computations of the functions before this one.
    computations: &'m [Option<ComputationId>],
    functions: &'m [Function],
    /// Groups that were listed.
    groups: FxHashMap<Groups, Rc<Vec<Vec<usize>>>>,
}

impl<'m> LowerCx<'m> {
    /// The ranks of each group, listed once for all instructions that have them.
    pub(crate) fn lists(&mut self, groups: &Groups) -> Rc<Vec<Vec<usize>>> {
        if let Some(lists) = self.groups.get(groups) {
            return Rc::clone(lists);
        }
        let lists = Rc::new(groups.lists());
        self.groups.insert(groups.clone(), Rc::clone(&lists));
        lists
    }

    /// Emits an instruction with a single result.
    ///
    /// # Errors
    /// Those of the builder.
    pub fn one(&mut self, emit: impl FnOnce(&mut ComputationBuilder<'m>) -> Result<Id>) -> Result<Ids> {
        Ok(smallvec![emit(&mut self.hlo)?])
    }

    /// The computation of a function that can be called here.
    pub fn computation(&self, function: FuncId) -> Option<ComputationId> {
        self.computations.get(function.index()).copied().flatten()
    }

    /// Whether calls of a function stay calls.
    pub fn is_noinline(&self, function: FuncId) -> bool {
        self.functions.get(function.index()).is_some_and(|function| function.noinline)
    }

    /// The name of a function of the module.
    ///
    /// # Errors
    /// When there is no such function.
    pub fn function_name(&self, function: FuncId) -> Result<&'m str> {
        let missing = || Diagnostic::bug(format!("{function:?} is lowered, but is no function of the module"));
        self.functions.get(function.index()).map(|function| &*function.name).ok_or_else(missing)
    }

    /// The result type of a callee: one result as it is, several as a tuple.
    pub fn result_type(&self) -> Type {
        match self.results.as_slice() {
            [only] => Type::Array(array_type(only)),
            several => Type::Tuple(several.iter().map(|ty| Type::Array(array_type(ty))).collect()),
        }
    }

    /// The results out of the value that a call returns.
    ///
    /// # Errors
    /// When it returns others.
    pub fn elements(&mut self, called: Id) -> Result<Ids> {
        if self.results.len() == 1 {
            return Ok(smallvec![called]);
        }
        (0..self.results.len()).map(|index| self.hlo.get_tuple_element(called, index)).collect()
    }
}

/// The HLO of a module: one computation for each function that the entry reaches, callees first, the entry last.
///
/// The entry is named `main`, the others as their functions. The entry's parameters keep their order and names; each of its
/// results that replaces a parameter aliases it. Its parameters and its root name what they are in the
/// compiled program, in names that sort in their order ([`INPUT_NAMES`], [`OUTPUT_NAMES`]). Every instruction says which scope and which
/// line of `sources` it comes from.
///
/// # Errors
/// When the module is not in phase `legal`, or an op has no HLO form.
pub fn lower(module: Verified<'_>, sources: &SourceMap, options: LowerOptions) -> Result<HloModuleProto> {
    lower_last(&module, &module.functions, &module.name, sources, options)
}

/// The HLO of each decomposition of a kernel that the entry of a module calls, a module of its own: the name of the decomposition, and what
/// [`lower`] makes of it as an entry.
///
/// # Errors
/// As [`lower`].
pub fn lower_decompositions(module: Verified<'_>, sources: &SourceMap) -> Result<Vec<(Name, HloModuleProto)>> {
    let lower_decomposition = |decomposition: FuncId| {
        let name = &module.function(decomposition).name;
        let functions = &module.functions[..=decomposition.index()];
        Ok((name.clone(), lower_last(&module, functions, name, sources, LowerOptions::default())?))
    };
    graph::decompositions(&module).into_iter().map(lower_decomposition).collect()
}

/// The HLO module `name` of the last of some functions of a module, and of those before that it reaches.
fn lower_last(
    module: &Module,
    functions: &[Function],
    name: &str,
    sources: &SourceMap,
    options: LowerOptions,
) -> Result<HloModuleProto> {
    let split = functions.split_last().filter(|_| module.phase == Phase::Legal);
    let (entry, others) = split.ok_or_else(|| Diagnostic::bug("only a module in phase `legal` can be lowered"))?;
    let mut lowering = Lowering {
        // XLA refuses a module without a name.
        hlo: ModuleBuilder::new(if name.is_empty() { "module" } else { name }).with_collectives(options.collectives),
        functions,
        computations: Vec::with_capacity(others.len()),
        metadata: Metadata::new(&module.locs, sources, !options.without_positions),
        options,
    };
    let is_lowered = |op: &Op| options.kernels == KernelForm::Decompositions || !matches!(op, Op::KernelCall(_));
    for (function, reached) in others.iter().zip(graph::reached_through(functions, is_lowered)) {
        let computation = if reached { Some(lowering.callee(function)?) } else { None };
        lowering.computations.push(computation);
    }
    lowering.entry(entry)?;
    for (parameter, output) in aliases(entry) {
        lowering.hlo.alias(parameter, output);
    }
    lowering.hlo.finish()
}

/// A module on its way to HLO.
struct Lowering<'a> {
    hlo: ModuleBuilder,
    functions: &'a [Function],
    /// Those of the functions so far; `None` for one that the entry does not reach.
    computations: Vec<Option<ComputationId>>,
    metadata: Metadata<'a>,
    options: LowerOptions,
}

impl Lowering<'_> {
    fn callee(&mut self, function: &Function) -> Result<ComputationId> {
        let (mut hlo, ids) = self.body(&function.name, function)?;
        let root = hlo.root_results(&results(function, &ids)?)?;
        hlo.finish(root)
    }

    fn entry(&mut self, entry: &Function) -> Result<ComputationId> {
        let (mut hlo, ids) = self.body("main", entry)?;
        for (index, param) in entry.params.iter().enumerate() {
            let name = numbered("input", index, entry.params.len());
            hlo.set_frontend_attribute(defined(&ids, param.value)?, INPUT_NAMES, name)?;
        }
        let results = results(entry, &ids)?;
        let root = hlo.root_tuple(&results)?;
        let names: Vec<_> = (0..results.len()).map(|index| numbered("output", index, results.len())).collect();
        hlo.set_frontend_attribute(root, OUTPUT_NAMES, names.join(","))?;
        hlo.finish(root)
    }

    /// The computation of a function up to its root, and what stands for each value.
    fn body(&mut self, name: &str, function: &Function) -> Result<(ComputationBuilder<'_>, Vec<Option<Id>>)> {
        let mut cx = LowerCx {
            hlo: self.hlo.computation(name),
            options: self.options,
            results: SmallVec::new(),
            computations: &self.computations,
            functions: self.functions,
            groups: FxHashMap::default(),
        };
        let mut ids = vec![None; function.values.len()];
        for param in &function.params {
            ids[param.value.index()] = Some(cx.hlo.parameter(&*param.name, array_type(function.ty(param.value)))?);
        }
        self.metadata.reset();
        for inst in &function.insts {
            check_cancelled()?;
            self.metadata.enter(&mut cx.hlo, inst.loc);
            lower_inst(&mut cx, function, inst, &mut ids)?;
        }
        cx.hlo.set_metadata(None);
        Ok((cx.hlo, ids))
    }
}

/// Pairs of parameter and result positions that share memory.
pub fn aliases(entry: &Function) -> Vec<(usize, usize)> {
    let positions: FxHashMap<&str, usize> =
        entry.params.iter().enumerate().map(|(position, param)| (&*param.name, position)).collect();
    let alias = |(output, result): (usize, &FuncResult)| match &result.role {
        ResultRole::State(name) => positions.get(&**name).map(|&parameter| (parameter, output)),
        _ => None,
    };
    entry.results.iter().enumerate().filter_map(alias).collect()
}

/// The type in HLO.
pub(crate) fn array_type(ty: &TensorType) -> ArrayType {
    ArrayType::new(ty.dtype(), ty.shape().clone())
}

/// `input007`: a name that sorts like its position among `count`.
fn numbered(word: &str, index: usize, count: usize) -> String {
    let width = count.saturating_sub(1).to_string().len();
    format!("{word}{index:0width$}")
}

fn results(function: &Function, ids: &[Option<Id>]) -> Result<Vec<Id>> {
    function.results.iter().map(|result| defined(ids, result.value)).collect()
}

fn defined(ids: &[Option<Id>], value: Value) -> Result<Id> {
    ids[value.index()].ok_or_else(|| Diagnostic::bug(format!("{value:?} is lowered before it is defined")))
}

fn lower_inst(cx: &mut LowerCx<'_>, function: &Function, inst: &Inst, ids: &mut [Option<Id>]) -> Result<()> {
    let args = inst.args.iter().map(|&arg| defined(ids, arg)).collect::<Result<SmallVec<[Id; 4]>>>()?;
    cx.results = inst.results.iter().map(|&result| function.ty(result).clone()).collect();
    let lowered = inst.op.def().lower(cx, &args)?;
    for (&result, &id) in inst.results.iter().zip(&lowered) {
        let (expected, found) = (array_type(function.ty(result)), cx.hlo.array(id)?);
        if &expected != found {
            let message = format!("`{}` lowers to `{found}`, inferred `{expected}`", inst.op.name());
            return Err(Diagnostic::bug(message));
        }
        ids[result.index()] = Some(id);
    }
    if let (true, Some(rounding), Some(&id)) = (cx.options.rounding, &inst.rounding, lowered.first()) {
        cx.hlo.set_frontend_attribute(id, "halite.rounding", rounding.to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Builder;
    use crate::registry::Registry;
    use crate::syntax::ParamRole;
    use crate::verify::verify;
    use halite_tensor::DType;

    /// A chain of functions, each calling the one before, all of whose instructions come from the scope `helper`.
    fn chain(names: [&str; 3]) -> Module {
        let registry = Registry::default();
        let mut module = Module::new("chain");
        let mut callee = None;
        for name in names {
            let mut b = Builder::new(&mut module, &registry, name);
            let x = b.param("x", TensorType::new(DType::F32, [2]), ParamRole::Argument);
            b.enter_scope("helper");
            let y = match callee {
                Some(callee) => b.call(callee, &[x]).unwrap()[0],
                None => b.negate(x).unwrap(),
            };
            b.result(y);
            callee = Some(b.finish());
        }
        module.phase = Phase::Legal;
        module
    }

    fn sound(module: &Module) -> Verified<'_> {
        verify(module, &Registry::default()).unwrap()
    }

    #[test]
    fn every_computation_says_where_it_comes_from() {
        let mut module = chain(["main", "b", "c"]);
        let first = module.functions[0].insts[0].loc;
        module.functions.iter_mut().flat_map(|function| &mut function.insts).for_each(|inst| inst.loc = first);
        let hlo = lower(sound(&module), &SourceMap::new(), LowerOptions::default()).unwrap();
        let names: Vec<_> = hlo.computations.iter().map(|computation| computation.name.as_str()).collect();
        assert_eq!(names, ["main", "b", "main.1"]);
        for computation in &hlo.computations {
            let inst = &computation.instructions[1];
            assert_eq!(inst.metadata.as_ref().map(|metadata| &*metadata.op_name), Some("helper"), "{}", inst.name);
        }
    }

    #[test]
    fn narrowings_say_how_they_round_when_asked() {
        let registry = Registry::default();
        let mut module = Module::new("narrow");
        let mut b = Builder::new(&mut module, &registry, "main");
        let x = b.param("x", TensorType::new(DType::F32, [2]), ParamRole::Argument);
        let y = b.convert(x, DType::Bf16).unwrap();
        let z = b.convert(y, DType::F32).unwrap();
        b.result(z);
        b.finish();
        module.phase = Phase::Legal;
        let stated = |rounding| {
            let options = LowerOptions { rounding, ..LowerOptions::default() };
            let hlo = lower(sound(&module), &SourceMap::new(), options).unwrap();
            halite_hlo::text::print(&hlo).matches("halite.rounding=\"rne\"").count()
        };
        assert_eq!((stated(true), stated(false)), (1, 0));
    }

    #[test]
    fn only_legal_modules_are_lowered() {
        let mut module = chain(["a", "b", "c"]);
        module.phase = Phase::Step;
        assert!(lower(sound(&module), &SourceMap::new(), LowerOptions::default()).is_err());
    }
}
