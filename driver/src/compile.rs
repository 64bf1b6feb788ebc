//! Compilation of a recipe to a bundle.

mod asked;
mod built;
mod describe;
pub(crate) mod identity;
mod model_flops;
mod numbers;
mod pack;
mod policies;
mod ranges;
mod replicas;
mod resident;
mod role;
mod schedule;
mod stages;
mod vocabulary;

pub use ranges::{Ranges, ranges};

use crate::dump::{DumpFilter, Dumper};
use crate::libraries::known_libraries;
use crate::roles::{Returned, Role};
use crate::session::{Session, float};
use crate::source::{Model, Source, size};
use asked::step_roles;
use halite_analysis::CausalityReport;
use halite_bundle::{Bundle, ModuleRole};
use halite_hlo::CheckedHlo;
use halite_ir::{LowerOptions, Module, ResultRole};
use halite_lang::{Elaborated, Override};
use halite_passes::{Audit, Findings, PassCx, PassReport, Pipeline, Remark, Runner, RunnerOptions, Smaller};
use halite_recipe::{Calls, ConfigValue, Divides, MeshAxis, Recipe, batch_ranks};
use halite_support::nearest::{list, nearest};
use halite_support::{Caller, Diagnostic, Diagnostics, Name, Severity, check_cancelled, codes};
use halite_target::{ModuleCheck, Target, Vocabulary};
use halite_tensor::Mesh;
use indexmap::{IndexMap, IndexSet};
use pack::{BuiltRole, Packed, assemble, pack_all};
pub use replicas::Replicas;
pub use stages::{StageOf, Twin};
use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::thread::ScopedJoinHandle;
use tracing::Span;
pub use vocabulary::KnownIds;

/// Options of a compilation.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// The modules to make; the training step first.
    pub roles: Vec<ModuleRole>,
    /// Whether to add the HLO of each module as text.
    pub emit_hlo_text: bool,
    /// Whether to add each module as StableHLO.
    pub emit_stablehlo: bool,
    /// Whether to add the final IR of each module.
    pub emit_ir: bool,
    /// The intermediate modules to add.
    pub dumps: Option<DumpFilter>,
    /// The form of the HLO; in a bundle, kernels are called as its target wants it.
    pub lower: LowerOptions,
    /// Options for running and verifying passes.
    pub runner: RunnerOptions,
    /// Whether to keep the remarks of passes on their decisions.
    pub explain: bool,
}

impl CompileOptions {
    /// The same options with HLO in the form that a recipe's target takes.
    #[must_use]
    pub fn for_target(&self, target: &dyn Target, recipe: &Recipe) -> Self {
        let LowerOptions { rounding, without_positions, .. } = self.lower;
        let lower = LowerOptions { rounding, without_positions, ..LowerOptions::default() };
        let forms = target.forms(recipe, lower);
        let plain_calls = forms.plain_calls || recipe.emit.calls == Some(Calls::Compiler);
        Self { lower: LowerOptions { plain_calls, ..forms }, ..self.clone() }
    }
}

impl Default for CompileOptions {
    /// The training step, forward and evaluation, verified after each pass, HLO only.
    fn default() -> Self {
        Self {
            roles: ModuleRole::DEFAULT.to_vec(),
            emit_hlo_text: false,
            emit_stablehlo: false,
            emit_ir: false,
            dumps: None,
            lower: LowerOptions::default(),
            runner: RunnerOptions::default(),
            explain: false,
        }
    }
}

/// Name of the passes that all modules share, in dumps and remarks.
pub(crate) const MODEL: &str = halite_bundle::MODEL_DUMPS;

/// A model after the passes that all roles share.
struct PreparedModule {
    module: Module,
    reports: Vec<PassReport>,
    remarks: Vec<Remark>,
    causality: Option<CausalityReport>,
    warnings: Vec<Diagnostic>,
    dumps: IndexMap<String, String>,
}

/// A compiled recipe.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The bundle that is written to disk.
    pub bundle: Bundle,
    /// Warnings on the model, findings of the precision audit, and groups of passes that reached their bound.
    pub warnings: Diagnostics,
    /// Opcodes of the HLO that no document lists and that the target is presumed to take.
    pub presumed: BTreeSet<String>,
    /// The precision audit of all modules. Its counts are those of the first module.
    pub audit: Audit,
    /// Whether outputs at a position depend on later tokens and the loss on what it is to predict, by analysis of the model;
    /// `None` when no pass asked.
    pub causality: Option<CausalityReport>,
    /// Whether ranks hold what the layout says, in all modules.
    pub replicas: Replicas,
    /// Each pass that ran, by module.
    pub reports: Vec<(ModuleRole, Vec<PassReport>)>,
    /// Remarks of passes on their decisions: those of the passes that all modules share, then by module.
    pub remarks: Vec<(Name, Vec<Remark>)>,
}

/// One module in all its forms.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompiledModule {
    /// The role of the module.
    pub role: ModuleRole,
    /// The stage of a pipeline that runs it, and its task there; `None` where it does all of the role.
    pub stage: Option<StageOf>,
    /// The other programs of stages that it is too, but for names.
    pub twins: Vec<Twin>,
    /// The legal IR.
    pub ir: Module,
    /// The HLO that the bundle holds.
    pub hlo: CheckedHlo,
    /// The decompositions of the kernels that the HLO calls, by name.
    pub decompositions: Vec<(Name, CheckedHlo)>,
    /// The passes that ran.
    pub reports: Vec<PassReport>,
    /// Remarks of the passes of this role on their decisions.
    pub remarks: Vec<Remark>,
    /// The precision audit.
    pub audit: Audit,
    /// Whether ranks hold what the layout says.
    pub replicas: Replicas,
    /// Groups of passes of this role that reached their bound.
    pub warnings: Vec<Diagnostic>,
    /// The target's check of the HLO.
    pub check: ModuleCheck,
    /// Intermediate modules as text, by file name.
    pub dumps: IndexMap<String, String>,
}

impl Session {
    /// Compiles a recipe to a bundle. The same recipe gives the same bytes.
    ///
    /// # Errors
    /// Every mistake found in the model, the first one a pass finds, everything that the target does not take, or that the work was
    /// cancelled. A [`Bug`](halite_support::Severity::Bug) is a defect of Halite.
    pub fn compile(&self, source: &Source, options: &CompileOptions) -> Result<Compiled, Diagnostics> {
        let span = tracing::info_span!("compile", source = source.name).entered();
        let cancel = &options.runner.watch.cancel;
        // Errors found in cancelled work are not reported.
        cancel.within(|| self.compile_within(&span, source, options)).or_else(|found| {
            cancel.check()?;
            Err(found)
        })
    }

    fn compile_within(&self, span: &Span, source: &Source, options: &CompileOptions) -> Result<Compiled, Diagnostics> {
        let target = self.vocabulary.targets.get(&source.recipe.target).map_err(|error| locate(source, error))?;
        let options = &options.for_target(target, &source.recipe);
        let elaborated = self.elaborate(source)?;
        let data = self.data_ranks(source)?;
        let source = &built::with_batch(source.with_sizes(&elaborated.config), &elaborated.module, data)?;
        let fault = |error| Diagnostics::from(locate(source, error));
        source.recipe.sizes().map_err(fault)?;
        target.check_recipe(&source.recipe).map_err(fault)?;
        numbers::check(&elaborated.module, source)?;
        let roles = step_roles(&options.roles, &source.recipe, target).map_err(fault)?;
        let pipelines = self.role_pipelines(source, &elaborated.module, &roles).map_err(fault)?;
        let shared = pipelines.first().map(|(_, pipeline)| pipeline.split_at_phase().0).unwrap_or_default();
        let judged =
            pipelines.first().map(|(role, _)| vocabulary::check(&elaborated.module, role, &self.registry, source));
        let vocabulary = judged.transpose()?.unwrap_or_default();
        let made = elaborated.module.clone();
        let prepared = self.prepare(made, (&source.recipe, Some(source)), &shared, options).map_err(fault)?;
        let (shared, sources) = (&prepared, &*source.model.sources(&self.sources));
        let (built, caller) = (&elaborated.module, &Caller::in_span(span.clone()));
        // Modules do not depend on each other; they are joined in the order of roles.
        let packed_roles = std::thread::scope(|scope| {
            let compile = |(role, pipeline): (_, Pipeline)| {
                let work = move || {
                    let _span = span_of(role).entered();
                    let unfinished = self.begin_role(shared, &source.recipe, (role, &pipeline), options)?;
                    self.judge_replicas((role, &unfinished.findings), source, options)?;
                    let again = policies::are_open(&source.recipe).then(|| unfinished.again());
                    let compiled = self.finish_role(unfinished, &source.recipe, sources, options)?;
                    check_cancelled()?;
                    let ranges = ranges(built, role, &self.registry)?;
                    check_cancelled()?;
                    let whom = (target, &source.recipe);
                    let pack = |module| {
                        let built = BuiltRole { role, built, ranges: ranges.clone() };
                        pack_all(module, &built, whom, options)
                    };
                    let packed: Vec<Vec<Packed>> = compiled.into_iter().map(pack).collect::<Result<_, _>>()?;
                    Ok((packed.into_iter().flatten().collect(), again))
                };
                scope.spawn(move || caller.within(work))
            };
            let own = pipelines.iter().map(|(role, pipeline)| (*role, pipeline.split_at_phase().1));
            let workers: Vec<_> = own.map(compile).collect();
            let join = |worker: ScopedJoinHandle<'_, _>| worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            workers.into_iter().map(join).collect::<Result<Vec<(Vec<Packed>, _)>, Diagnostic>>()
        });
        let packed =
            self.in_order(packed_roles.map_err(fault)?, (target, &source.recipe), (sources, options)).map_err(fault)?;
        check_cancelled()?;
        let found = checked(&packed, target, source)?;
        check_cancelled()?;
        let model_flops = self.model_flops(&elaborated.module, &source.recipe, &roles, options).map_err(fault)?;
        let mut compiled = assemble(elaborated, source, target, prepared, (packed, model_flops)).map_err(fault)?;
        compiled.warnings.extend(vocabulary.into_iter().chain(found));
        if let Some(filter) = &options.dumps {
            filter.check(&compiled.reports)?;
        }
        Ok(compiled)
    }

    /// The pipeline of each role. All start with the same passes.
    fn role_pipelines(
        &self,
        source: &Source,
        built: &Module,
        roles: &IndexSet<ModuleRole>,
    ) -> Result<Vec<(&Role, Pipeline)>, Diagnostic> {
        let of = |role| {
            let role = self.roles.get(role)?;
            check_role(source, built, role)?;
            Ok((role, self.passes.pipeline(&role.pipeline)?))
        };
        let pipelines = roles.iter().map(of).collect::<Result<Vec<_>, Diagnostic>>()?;
        check_prefixes(&pipelines)?;
        Ok(pipelines)
    }

    /// The model of a recipe in phase `built`, with the warnings on its definition. Where neither recipe nor overrides say how long
    /// sequences are, those of a `config.json` are no longer than its checkpoint is made for.
    ///
    /// # Errors
    /// Every mistake found in the model: those in the recipe, in each override in order, in the model.
    pub fn elaborate(&self, source: &Source) -> Result<Elaborated, Diagnostics> {
        let options = halite_lang::Options {
            float: float(&source.recipe.precision),
            overrides: overrides(source, &self.vocabulary, self.data_ranks(source)?),
            libraries: known_libraries(),
        };
        let mut elaborated = match &source.model {
            Model::Text(text) => {
                let elaborated = halite_lang::elaborate_texts(text.texts(), &options, &self.registry);
                elaborated.map_err(|mut mistakes| {
                    source.sort(&mut mistakes);
                    mistakes
                })?
            }
            Model::Built(built) => {
                built::check(built, &options, &self.registry)?;
                Elaborated::clone(built)
            }
            Model::Program(program) => {
                let elaborated = program.elaborated(options.float)?;
                built::check(&elaborated, &options, &self.registry)?;
                elaborated
            }
        };
        // A checkpoint takes no longer sequences than it is made for, unless the recipe asks for them.
        let seq = size(&elaborated.config, "seq");
        if let Some(fewer) = source.positions.zip(seq).and_then(|(positions, seq)| positions.fewer_than(seq)) {
            return self.elaborate(&source.with_seq(fewer));
        }
        elaborated.warnings.extend(source.warnings.iter().cloned());
        Ok(elaborated)
    }

    /// The ranks that the programs of a recipe are made for.
    ///
    /// # Errors
    /// When the target is unknown or sizes disagree.
    pub fn ranks(&self, source: &Source) -> Result<Mesh, Diagnostics> {
        let mesh = self
            .vocabulary
            .targets
            .get(&source.recipe.target)
            .and_then(|target| source.recipe.ranks(target.ranks().is_some()));
        mesh.map_err(|error| Diagnostics::from(locate(source, error)))
    }

    /// The number of ranks that take different sequences.
    ///
    /// # Errors
    /// As [`ranks`](Self::ranks), or when a batch is not stated that several ranks are to share.
    fn data_ranks(&self, source: &Source) -> Result<usize, Diagnostics> {
        let fault = |error| Diagnostics::from(locate(source, error));
        let mesh = self.ranks(source)?;
        let data = batch_ranks(&mesh);
        if data > 1 && source.recipe.batch.is_none() && matches!(source.model, Model::Text(_)) {
            let axes = MeshAxis::that_divide(Divides::Batch).filter(|axis| mesh.size(axis.name()) > 1);
            let axes: Vec<MeshAxis> = axes.collect();
            let along = list(&axes.iter().map(|axis| axis.name()).collect::<Vec<_>>());
            let message = format!("`batch` is not stated, which {data} ranks of {along} each take");
            let help = "state the sequences of one rank: `batch = 1`";
            return Err(fault(Diagnostic::error(codes::RECIPE_CLASH, message).key(axes[0].key()).help(help)));
        }
        Ok(data)
    }

    /// Runs a pipeline on a built module and lowers it. The module is reduced to what the role returns where the pipeline
    /// leaves the phase `built` or defines new results: what comes before is the same for all roles. The HLO names the lines
    /// of those texts that are among the `sources` of this session: a module that another one elaborated has none.
    ///
    /// # Errors
    /// When there is no such role, a pass fails, or the recipe has a pipeline; a bug when the HLO breaks a rule of XLA.
    pub fn compile_role(
        &self,
        built: &Module,
        recipe: &Recipe,
        role: &ModuleRole,
        pipeline: &Pipeline,
        options: &CompileOptions,
    ) -> Result<CompiledModule, Diagnostic> {
        let role = self.roles.get(role)?;
        let (shared, own) = pipeline.split_at_phase();
        let prepared = self.prepare(built.clone(), (recipe, None), &shared, options)?;
        let _span = span_of(role).entered();
        let unfinished = self.begin_role(&prepared, recipe, (role, &own), options)?;
        let modules = self.finish_role(unfinished, recipe, &self.sources, options)?;
        <[CompiledModule; 1]>::try_from(modules).map(|[module]| module).map_err(|modules| {
            let message = format!("`{}` is {} programs of stages, not one module", role.name.name(), modules.len());
            Diagnostic::error(codes::NOT_SUPPORTED, message)
                .key("parallel.pipeline")
                .help("compile the recipe as a whole")
        })
    }

    /// Runs the passes that all roles share on a model, of whose source a smaller one can be made.
    fn prepare(
        &self,
        mut module: Module,
        (recipe, source): (&Recipe, Option<&Source>),
        pipeline: &Pipeline,
        options: &CompileOptions,
    ) -> Result<PreparedModule, Diagnostic> {
        let findings = findings(options);
        let smaller = || {
            let mut small = source?.clone();
            self.scale_down(&mut small).ok()?;
            Some(self.elaborate(&small).ok()?.module)
        };
        let cx = PassCx { smaller: Some(Smaller(&smaller)), ..self.pass_cx(Some(recipe), Some(&findings))? };
        let mut dumper = Dumper::new(MODEL, options.dumps.as_ref());
        let mut runner = Runner::new(options.runner.clone()).with_dump(&mut dumper);
        runner.run(pipeline, &mut module, &cx)?;
        let reports = runner.reports().to_vec();
        let (remarks, causality, warnings) = (findings.remarks(), findings.report(), findings.warnings());
        Ok(PreparedModule { module, reports, remarks, causality, warnings, dumps: dumper.into_files() })
    }
}

fn span_of(role: &Role) -> Span {
    tracing::debug_span!("module", role = role.name.name())
}

fn findings(options: &CompileOptions) -> Findings {
    if options.explain { Findings::with_remarks() } else { Findings::default() }
}

/// The configuration that the recipe sets: its own keys, then `batch` and `seq` where it states them.
fn overrides(source: &Source, vocabulary: &Vocabulary, data: usize) -> Vec<Override> {
    let Source { recipe, places, .. } = source;
    let config = recipe.model.config.iter();
    let mut overrides: Vec<_> = config
        .map(|(key, value)| Override {
            key: key.clone(),
            value: value.clone(),
            span: places.get(&format!("model.config.{key}")),
            hint: halite_recipe::hint(key, vocabulary, Some(&recipe.optimizer.rule.name)).map(|hint| hint.help),
        })
        .collect();
    // A model is that of all ranks, of each of which the recipe states the batch.
    for (key, size) in [("batch", recipe.batch.map(|batch| batch.saturating_mul(data))), ("seq", recipe.seq)] {
        let Some(size) = size else { continue };
        let value = ConfigValue::Int(i64::try_from(size).unwrap_or(i64::MAX));
        overrides.push(Override { span: places.get(key), ..Override::new(key, value) });
    }
    overrides
}

/// Points a diagnostic about an entry of the recipe at that entry, or also at it when it has a place in the model.
pub fn locate(source: &Source, diagnostic: Diagnostic) -> Diagnostic {
    let Some(span) = diagnostic.recipe_key().and_then(|key| source.places.nearest(key)) else { return diagnostic };
    match diagnostic.primary() {
        None => diagnostic.at(span, "stated here"),
        Some(_) => diagnostic.also(span, "the recipe states it here"),
    }
}

/// The module with only the results that a role returns.
pub(crate) fn for_role(built: &Module, role: &Role) -> Module {
    let mut module = built.clone();
    module.name = format!("{}_{}", built.name, role.name.name()).into();
    if let Some(entry) = module.functions.last_mut() {
        entry.results.retain(|result| role.returns(result));
    }
    module
}

/// The findings of the target on modules and on their bundle.
///
/// # Errors
/// When the target does not take them.
fn checked(packed: &[Packed<'_>], target: &dyn Target, source: &Source) -> Result<Diagnostics, Diagnostics> {
    let checks: Vec<_> = packed.iter().map(|module| (&module.role.name, &module.check)).collect();
    let mut found = halite_target::join(checks.iter().map(|(_, check)| *check));
    found.extend(target.check_bundle(&source.recipe, &checks));
    let found: Diagnostics = found.into_iter().map(|finding| locate(source, finding)).collect();
    if found.iter().any(|finding| finding.severity() >= Severity::Error) { Err(found) } else { Ok(found) }
}

/// Checks that pipelines start with the same passes: those before the first change of phase are run once for all roles.
fn check_prefixes(pipelines: &[(&Role, Pipeline)]) -> Result<(), Diagnostic> {
    let prefix = |pipeline: &Pipeline| {
        let shared = pipeline.split_at_phase().0;
        shared.passes().map(|pass| pass.info().name).collect::<Vec<_>>()
    };
    let [(first, pipeline), others @ ..] = pipelines else { return Ok(()) };
    let expected = prefix(pipeline);
    let Some((other, _)) = others.iter().find(|(_, other)| prefix(other) != expected) else { return Ok(()) };
    let message = format!(
        "the pipelines of `{}` and `{}` differ before the first pass that moves a module to another phase \
         or defines new results",
        first.name.name(),
        other.name.name()
    );
    Err(Diagnostic::error(codes::PIPELINE, message).help("insert the pass in both, or after that pass"))
}

/// Checks that a module has a weight to train where it is a part of updates, a result to return, and the values that its role names.
fn check_role(source: &Source, built: &Module, role: &Role) -> Result<(), Diagnostic> {
    let has_weight = built.entry().is_some_and(|entry| entry.params.iter().any(|param| param.weight().is_some()));
    if role.calls.is_some() && !has_weight {
        let (model, module) = (&built.name, role.name.name());
        let message = format!("the model `{model}` has no parameter for the module `{module}` to train");
        let error = Diagnostic::error(codes::CONTRACT, message).or_at(source.model.span(), "no `param` in this model");
        return Err(error.help(
            "declare one, e.g. `param weight: [vocab, hidden] = normal(0.02)`, or choose other modules with `--role`",
        ));
    }
    let results = built.entry().map_or(&[][..], |entry| &entry.results);
    let probes = results.iter().filter(|result| result.role == ResultRole::Probe);
    let probes: Vec<&str> = probes.map(|result| &*result.name).collect();
    let error = |what: &str, label: &str| {
        let (model, module) = (&built.name, role.name.name());
        let message = format!("the model `{model}` shows no value{what} for the module `{module}` to return");
        Diagnostic::error(codes::CONTRACT, message).or_at(source.model.span(), label)
    };
    if let Some(name) = role.returns.iter().filter_map(Returned::name).find(|name| !probes.contains(name)) {
        let near = nearest(name, probes).map(|near| format!("the model shows `{near}`"));
        let help = near.unwrap_or_else(|| match source.model {
            Model::Program(_) => format!("give it a result `{name}` of the role `shown`"),
            Model::Text(_) | Model::Built(_) => format!("add `output {name}` to `main`"),
        });
        return Err(error(&format!(" `{name}`"), "no such `output` in this model").help(help));
    }
    if results.iter().any(|result| role.returns(result)) {
        return Ok(());
    }
    let help = match source.model {
        Model::Program(_) => {
            "choose other modules, as `--role train_step`, or give the program a result of the role `shown`: \
             `outputs=` of `halite.jax.model`"
        }
        Model::Text(_) | Model::Built(_) => {
            "add e.g. `output logits` to `main`, or choose other modules with `--role`; a model that reads in both \
             directions, as an encoder does, says `causal = false` and may show what it likes"
        }
    };
    Err(error("", "no `output` in this model").help(help))
}
