//! Programs that are compared, and their outputs by the names of the model.

use crate::choices::{Form, with_choices};
use crate::inputs;
use crate::outputs::{Output, Outputs};
use halite::Session;
use halite::compile::{CompileOptions, CompiledModule, locate};
use halite::compile::{Ranges, ranges};
use halite::source::Source;
use halite_bundle::tensors::Tensors;
use halite_bundle::{ModuleRole, link_decompositions, part_names};
use halite_ir::{FuncResult, Function, Layout, NamedParams, ParamRole, Products, ResultRole};
use halite_passes::{Audit, PassReport, Pipeline, RunnerOptions};
use halite_recipe::ConfigValue;
use halite_runtime::{Executable, Executor, evaluate_replicas};
use halite_support::{Diagnostic, Diagnostics, Name, Severity};
use halite_tensor::{HostTensor, Init};
use indexmap::IndexMap;
use std::sync::Arc;

/// One program, compiled for its target as far as the bytes of HLO.
pub(super) struct Program {
    /// The entry, with the types of whole tensors.
    pub(super) entry: Function,
    /// The ranks that run it.
    pub(super) layout: Layout,
    pub(super) config: IndexMap<String, ConfigValue>,
    /// Whether the model says that positions read later ones.
    pub(super) bidirectional: bool,
    /// The integers that its batch inputs must hold.
    pub(super) ranges: Ranges,
    pub(super) audit: Audit,
    /// Its HLO, as a bundle would hold it.
    pub(super) hlo: Vec<u8>,
    /// The decompositions of its kernels by name, in the same form.
    pub(super) decompositions: Vec<(Name, Vec<u8>)>,
    reports: Vec<PassReport>,
    /// Findings of its target.
    check: Diagnostics,
}

/// A program that XLA compiled, to be run on any inputs.
pub(super) struct Loaded {
    pub(super) program: Program,
    executable: Box<dyn Executable>,
}

impl Program {
    /// Compiles a role of a recipe with a pipeline, of which at most `limit` optimizations are run, and its choices in some
    /// form.
    ///
    /// # Errors
    /// When the recipe does not compile.
    pub(super) fn compile(
        session: &Session,
        source: &Source,
        role: &ModuleRole,
        pipeline: &Pipeline,
        limit: Option<usize>,
        form: Form,
    ) -> Result<Self, Diagnostics> {
        let elaborated = session.elaborate(source)?;
        let ranges = ranges(&elaborated.module, session.roles.get(role)?, &session.registry)?;
        let built = with_choices(&elaborated.module, &session.registry, form)?;
        let runner = RunnerOptions { limit, ..RunnerOptions::default() };
        let options = CompileOptions { runner, ..CompileOptions::default() };
        let target = session.vocabulary.targets.get(&source.recipe.target)?;
        let mut options = options.for_target(target, &source.recipe);
        // CPU XLA has no products of `bf16` in some forms that optimizations do not leave: of transposes.
        if limit.is_some() || !pipeline.optimizes() {
            options.lower.products = Products::Wide;
        }
        let compiled = session.compile_role(&built, &source.recipe, role, pipeline, &options);
        let CompiledModule { ir, hlo, decompositions, reports, audit, check, .. } = compiled?;
        let missing = || Diagnostic::bug("a compiled module without an entry");
        let layout = ir.layout.map(Arc::unwrap_or_clone).unwrap_or_default();
        let entry = layout.whole_signature(ir.functions.into_iter().next_back().ok_or_else(missing)?);
        let decompositions =
            decompositions.into_iter().map(|(name, decomposition)| (name, decomposition.encode())).collect();
        let (config, hlo) = (elaborated.config, hlo.encode());
        let bidirectional = elaborated.module.bidirectional;
        let check = check.findings.into_iter().map(|repeated| repeated.finding).collect();
        Ok(Self { entry, layout, config, bidirectional, ranges, hlo, decompositions, reports, audit, check })
    }

    /// Returns the program, if its target takes it. A program after only some of the optimizations need not be taken.
    ///
    /// # Errors
    /// The rules that it breaks.
    pub(super) fn legal(mut self, source: &Source) -> Result<Self, Diagnostics> {
        self.check.retain(|finding| finding.severity() >= Severity::Error);
        if self.check.is_empty() {
            return Ok(self);
        }
        Err(self.check.into_iter().map(|finding| locate(source, finding)).collect())
    }

    /// The optimizations that were run, in order.
    pub(super) fn optimizations(&self) -> impl Iterator<Item = &PassReport> {
        self.reports.iter().filter(|report| report.optimization)
    }

    /// The names of these.
    pub(super) fn names(&self) -> Vec<Name> {
        self.optimizations().map(|report| report.name.clone()).collect()
    }

    /// The program as XLA runs it: read back from its bytes, with the decompositions of its kernels in their place.
    ///
    /// # Errors
    /// When the bytes are no sound HLO, or XLA does not compile it.
    pub(super) fn load(&self, executor: &dyn Executor) -> Result<Box<dyn Executable>, Diagnostics> {
        let decomposition = |name: &str| {
            let missing = || Diagnostic::bug(format!("the program has no decomposition `{name}`"));
            self.decompositions
                .iter()
                .find(|(own, _)| **own == *name)
                .map(|(_, bytes)| bytes.as_slice())
                .ok_or_else(missing)
        };
        let linked = link_decompositions(&self.hlo, "the program", decomposition)?;
        let num_replicas = self.layout.mesh.num_ranks();
        let options = halite_runtime::CompileOptions { num_replicas, ..halite_runtime::CompileOptions::default() };
        let program = halite_runtime::Program::new(&linked, options)?.in_format(executor.format(), |hlo| {
            halite_stablehlo::translate(hlo, halite_stablehlo::Form::Program { num_replicas })
        })?;
        Ok(executor.compile(&program)?)
    }

    /// The whole results of the program on whole inputs, each rank taking and giving its part.
    ///
    /// # Errors
    /// When XLA fails; a bug when ranks differ in what should be the same on them.
    pub(super) fn evaluate(
        &self,
        executor: &dyn Executor,
        executable: &dyn Executable,
        inputs: &[HostTensor],
    ) -> Result<Vec<HostTensor>, Diagnostics> {
        let ranks = 0..self.layout.mesh.num_ranks();
        let inputs = ranks.map(|rank| self.layout.shard(&self.entry, inputs, rank));
        let inputs = inputs.collect::<halite_support::Result<Vec<_>>>()?;
        let inputs: Vec<&[HostTensor]> = inputs.iter().map(Vec::as_slice).collect();
        let results = evaluate_replicas(executor, executable, &inputs)?;
        Ok(self.layout.assemble(&self.entry, &results)?)
    }

    /// The inputs of the program for a seed.
    ///
    /// # Errors
    /// A bug when they cannot be made.
    pub(super) fn inputs(&self, source: &Source, seed: u64) -> Result<Vec<HostTensor>, Diagnostics> {
        Ok(inputs::inputs(&self.entry, source, &self.ranges, seed)?)
    }

    /// The tensors of the model in inputs of the program: those of its state, and those of the batch.
    ///
    /// # Errors
    /// A bug when an input does not hold what is packed into it.
    pub(super) fn tensors_in(&self, inputs: Vec<HostTensor>) -> halite_support::Result<(Tensors, Tensors)> {
        let (named, mut state, mut batch) = (NamedParams::of(&self.entry), Tensors::new(), Tensors::new());
        for (param, input) in self.entry.params.iter().zip(inputs) {
            match (&param.role, named.packing(param)) {
                (ParamRole::Batch, _) => _ = batch.insert(param.name.to_string(), input),
                (ParamRole::Argument | ParamRole::Known(_), _) => {}
                (_, None) => _ = state.insert(param.name.to_string(), input),
                (_, Some(packing)) => {
                    let parts = packing.unpack(&input).map_err(|error| error.into_bug("inputs of verification"))?;
                    state.extend(part_names(packing, &param.name, param.role.weight_of()).into_iter().zip(parts));
                }
            }
        }
        Ok((state, batch))
    }

    /// Returns the outputs in a result: the result itself, or the tensors of the model that are packed into it.
    fn outputs(
        &self,
        result: &FuncResult,
        written: HostTensor,
        (named, inputs): (&NamedParams<'_>, &[HostTensor]),
    ) -> halite_support::Result<Vec<(String, Output)>> {
        // A gradient is stored as its weight is, and replaces nothing.
        let (stored, replaces) = match &result.role {
            ResultRole::State(name) => (named.position(name), true),
            ResultRole::Gradient(name) => (named.position(name), false),
            _ => (None, false),
        };
        let Some(position) = stored else {
            return Ok(vec![(result.name.to_string(), Output::new(written, None))]);
        };
        let (param, old) = (&self.entry.params[position], replaces.then(|| &inputs[position]));
        let is_copy = matches!(&param.role, ParamRole::State(spec) if spec.init == Init::Weight);
        let Some(packing) = named.packing(param) else {
            let copy_of = param.role.weight_of().filter(|_| is_copy).map(Name::from);
            return Ok(vec![(result.name.to_string(), Output { copy_of, ..Output::new(written, old) })]);
        };
        let unpack = |tensor| packing.unpack(tensor).map_err(|error| error.into_bug("verification"));
        let old = old.map(unpack).transpose()?;
        let outputs = unpack(&written)?.into_iter().enumerate();
        let outputs = outputs.map(|(at, written)| {
            let copy_of = is_copy.then(|| packing.parts[at].name.as_str().into());
            Output { copy_of, ..Output::new(written, old.as_ref().map(|old| &old[at])) }
        });
        Ok(part_names(packing, &param.name, param.role.weight_of()).into_iter().zip(outputs).collect())
    }
}

impl Loaded {
    /// # Errors
    /// As [`Program::load`].
    pub(super) fn new(program: Program, executor: &dyn Executor) -> Result<Self, Diagnostics> {
        Ok(Self { executable: program.load(executor)?, program })
    }

    /// Runs the program once; each tensor of the model by its name. It chooses what it is given, where it is given choices.
    ///
    /// # Errors
    /// When XLA fails; a bug when copies of a tensor differ afterwards.
    pub(super) fn run(
        &self,
        executor: &dyn Executor,
        source: &Source,
        seed: u64,
        choices: &IndexMap<String, HostTensor>,
    ) -> Result<Outputs, Diagnostics> {
        let mut inputs = self.program.inputs(source, seed)?;
        for (param, input) in self.program.entry.params.iter().zip(&mut inputs) {
            if let Some(choice) = choices.get(&*param.name) {
                *input = choice.clone();
            }
        }
        let results = self.program.evaluate(executor, self.executable.as_ref(), &inputs)?;
        let (named, mut outputs) = (NamedParams::of(&self.program.entry), IndexMap::new());
        for (result, written) in self.program.entry.results.iter().zip(results) {
            outputs.extend(self.program.outputs(result, written, (&named, &inputs))?);
        }
        Ok(outputs)
    }
}
