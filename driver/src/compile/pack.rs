//! Compiled modules, reduced to the parts that stay, and joined to a bundle.

use super::describe::{Called, Figures, Laid, buffers, figures, micro_batches, module_entry, statistics};
use super::identity::identity;
use super::ranges::{self, Ranges};
use super::replicas::Replicas;
use super::schedule::Update;
use super::{CompileOptions, Compiled, CompiledModule, MODEL, PreparedModule, StageOf, Twin, locate};
use crate::roles::{Calls, Role};
use crate::source::Source;
use halite_analysis::CausalityReport;
use halite_bundle::arguments;
use halite_bundle::estimate::Estimate;
use halite_bundle::{
    Buffer, Bundle, DECOMPOSITIONS, Decomposition, MANIFEST_VERSION, Manifest, ModelInfo, ModuleEntry, ModuleRole,
    Port, PortRole, RoundingChoice, sha256,
};
use halite_ir::{Module, StageTask};
use halite_lang::Elaborated;
use halite_passes::{Audit, PassReport, Remark};
use halite_recipe::{Recipe, Waiver};
use halite_stablehlo::Form;
use halite_support::{Diagnostic, Diagnostics, Name, check_cancelled};
use halite_target::{ModuleCheck, PolicyNeed, RunSettings, Target};
use halite_tensor::{Mesh, Packing};
use indexmap::{IndexMap, IndexSet};
use std::collections::BTreeSet;
use std::mem::take;

/// The parts of a module that a bundle keeps, so that the module itself can be dropped.
pub(super) struct Packed<'a> {
    pub(super) role: &'a Role,
    /// The stage of a pipeline that runs it.
    stage: Option<StageOf>,
    /// The ranks that run it.
    mesh: Mesh,
    entry: ModuleEntry,
    buffers: Vec<Buffer>,
    figures: Figures,
    files: IndexMap<String, Vec<u8>>,
    /// The HLO of decompositions by name.
    decompositions: Vec<(Name, Vec<u8>)>,
    reports: Vec<PassReport>,
    remarks: Vec<Remark>,
    audit: Audit,
    replicas: Replicas,
    warnings: Vec<Diagnostic>,
    pub(super) check: ModuleCheck,
    /// The needs of the module under policies that recompute more.
    pub(super) policies: Vec<PolicyNeed>,
    /// Bytes of state that stay on the core while the module runs, beside its own parameters.
    resident: u64,
}

/// A role, with the model as it was built for it and the ranges of the integers in its inputs.
pub(super) struct BuiltRole<'a, 'b> {
    pub(super) role: &'a Role,
    pub(super) built: &'b Module,
    pub(super) ranges: Ranges,
}

/// Packs a module, and then its twins.
pub(super) fn pack_all<'a>(
    mut module: CompiledModule,
    built: &BuiltRole<'a, '_>,
    whom: (&dyn Target, &Recipe),
    options: &CompileOptions,
) -> Result<Vec<Packed<'a>>, Diagnostic> {
    let twins = take(&mut module.twins);
    let first = pack(module, built, whom, options)?;
    let twins = twins.iter().map(|twin| first.twin(twin)).collect::<Result<Vec<_>, _>>()?;
    Ok(std::iter::once(first).chain(twins).collect())
}

fn pack<'a>(
    module: CompiledModule,
    BuiltRole { role, built, ranges }: &BuiltRole<'a, '_>,
    (target, recipe): (&dyn Target, &Recipe),
    options: &CompileOptions,
) -> Result<Packed<'a>, Diagnostic> {
    let name = module.name();
    let missing = || Diagnostic::bug("a compiled module without an entry");
    let (built, entry) = (built.entry().ok_or_else(missing)?, module.ir.entry().ok_or_else(missing)?);
    let bytes = module.hlo.encode();
    check_cancelled()?;
    let laid = Laid { entry, layout: module.ir.layout.as_deref() };
    let figures = figures(&module.ir, laid, module.hlo.graph())?;
    check_cancelled()?;
    let micro_batches = micro_batches(built, laid);
    let called = Called { name: &name, role: &role.name, stage: module.stage.map(|of| of.stage) };
    let ranges = ranges::repeated(ranges.clone(), entry, micro_batches);
    let (mut described, buffers) =
        (module_entry(called, laid, ranges, &bytes), buffers(laid, micro_batches, module.stage.is_some()));
    described.estimate = estimate((&described, &buffers), &module, target, recipe)?;
    let mesh = laid.layout.map(|layout| layout.mesh.clone()).unwrap_or_default();
    check_cancelled()?;
    let mut files = IndexMap::new();
    if options.emit_hlo_text {
        files.insert(format!("{name}.hlo.txt"), halite_hlo::text::print(&module.hlo).into_bytes());
    }
    if options.emit_stablehlo {
        let text = halite_stablehlo::print(&module.hlo, Form::Program { num_replicas: mesh.num_ranks() })?;
        files.insert(format!("{name}.mlir"), text.into_bytes());
    }
    if options.emit_ir {
        files.insert(format!("{name}.ir"), halite_ir::text::print(&module.ir).into_bytes());
    }
    files.extend(module.dumps.into_iter().map(|(file, text)| (file, text.into_bytes())));
    files.insert(format!("{name}.hlo.pb"), bytes);
    let decompositions =
        module.decompositions.iter().map(|(name, decomposition)| (name.clone(), decomposition.encode())).collect();
    let CompiledModule { stage, reports, remarks, audit, replicas, warnings, check, .. } = module;
    Ok(Packed {
        role,
        stage,
        mesh,
        entry: described,
        buffers,
        figures,
        files,
        decompositions,
        reports,
        remarks,
        audit,
        replicas,
        warnings,
        check,
        policies: Vec::new(),
        resident: 0,
    })
}

/// The estimate of a module, which tells apart the memory of its parameters by their roles; `None` where its target has no estimates.
fn estimate(
    (entry, buffers): (&ModuleEntry, &[Buffer]),
    module: &CompiledModule,
    target: &dyn Target,
    recipe: &Recipe,
) -> Result<Option<Estimate>, Diagnostic> {
    if !target.has_estimates() {
        return Ok(None);
    }
    let (arguments, flags) = (arguments(entry, buffers), target.settings(recipe).flags);
    Ok(Some(target.analyze(module.hlo.graph(), &recipe.target, &flags, &arguments)?.estimate))
}

impl<'a> Packed<'a> {
    /// A twin: the same program, which reads and makes other buffers and values.
    fn twin(&self, twin: &Twin) -> Result<Self, Diagnostic> {
        let entry = twin.module.entry().ok_or_else(|| Diagnostic::bug("a program without an entry"))?;
        let laid = Laid { entry, layout: twin.module.layout.as_deref() };
        let renamed = |port: &Port| Port {
            name: twin.names.get(port.name.as_str()).map_or_else(|| port.name.clone(), Name::to_string),
            ..port.clone()
        };
        let entry = ModuleEntry {
            name: twin.stage.name(&self.role.name),
            stage: twin.stage.stage,
            inputs: self.entry.inputs.iter().map(renamed).collect(),
            outputs: self.entry.outputs.iter().map(renamed).collect(),
            ..self.entry.clone()
        };
        let read: IndexSet<&str> = entry.inputs.iter().map(|port| port.name.as_str()).collect();
        let mut buffers = buffers(laid, 1, true);
        buffers.retain(|buffer| read.contains(buffer.name.as_str()));
        Ok(Self {
            role: self.role,
            stage: Some(twin.stage),
            mesh: self.mesh.clone(),
            entry,
            buffers,
            figures: Figures { hlo_instructions: 0, ..self.figures },
            files: IndexMap::new(),
            decompositions: self.decompositions.clone(),
            reports: Vec::new(),
            remarks: Vec::new(),
            audit: Audit::default(),
            replicas: self.replicas.clone(),
            warnings: Vec::new(),
            check: ModuleCheck::default(),
            policies: Vec::new(),
            resident: 0,
        })
    }
}

impl Packed<'_> {
    /// The name of the module.
    pub(super) fn name(&self) -> &str {
        &self.entry.name
    }

    /// The estimate of the module, where its target has estimates.
    pub(super) fn estimate(&self) -> Option<&Estimate> {
        self.entry.estimate.as_ref()
    }

    /// The stage that runs the module.
    pub(super) fn stage(&self) -> usize {
        self.entry.stage
    }

    /// Whether it runs in turn with the forwards and backwards of a stage.
    pub(super) fn takes_turns(&self) -> bool {
        self.role.calls == Some(Calls::PerMicroBatch)
    }

    /// Whether it is the backward of a part of the model, or a half of it.
    pub(super) fn is_backward(&self) -> bool {
        let is_one = |task| {
            use StageTask::{Backward, BackwardInput, BackwardWeights};
            matches!(task, Backward { .. } | BackwardInput { .. } | BackwardWeights { .. })
        };
        self.takes_turns() && self.stage.is_some_and(|of| is_one(of.task))
    }

    /// The bytes of what other modules make and it reads, on one rank.
    pub(super) fn value_bytes(&self) -> u64 {
        let values = self.entry.inputs.iter().filter(|port| port.role == PortRole::Value);
        let bytes = values.map(|port| (port.dtype.size() * port.local_shape().num_elements()) as u64);
        bytes.fold(0, u64::saturating_add)
    }

    /// The buffers of the module, which modules of a bundle share.
    pub(super) fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// The names of its parameters.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &str> {
        self.entry.inputs.iter().map(|port| port.name.as_str())
    }

    /// Sets the bytes of state that stay on the core while the module runs.
    pub(super) fn set_resident(&mut self, bytes: u64, target: &dyn Target, recipe: &Recipe) {
        self.resident = bytes;
        if let Some(estimate) = &mut self.entry.estimate {
            beside(estimate, bytes, target, recipe);
        }
    }

    /// The estimate of another module with the same parameters.
    pub(super) fn estimate_of(
        &self,
        module: &CompiledModule,
        target: &dyn Target,
        recipe: &Recipe,
    ) -> Result<Option<Estimate>, Diagnostic> {
        let mut estimate = estimate((&self.entry, &self.buffers), module, target, recipe)?;
        if let Some(estimate) = &mut estimate {
            beside(estimate, self.resident, target, recipe);
        }
        Ok(estimate)
    }

    /// Floating-point operations of the matrix products of one call on all ranks.
    pub(super) fn matmul_flops(&self) -> u128 {
        self.figures.matmul_flops
    }
}

/// Adds the state that stays on the core to the estimate of a module, in bytes.
fn beside(estimate: &mut Estimate, bytes: u64, target: &dyn Target, recipe: &Recipe) {
    estimate.memory.resident = bytes;
    estimate.memory.peak.resident = bytes;
    estimate.fit = target.fit(estimate, &recipe.target, &target.settings(recipe).flags);
}

/// Joins the modules of a bundle. Each buffer stands once, in the order of first use; the figures are those of the
/// training step, or of the first module without one. `model_flops` are those of a micro-batch.
pub(super) fn assemble(
    elaborated: Elaborated,
    source: &Source,
    target: &dyn Target,
    prepared: PreparedModule,
    (packed, model_flops): (Vec<Packed<'_>>, u128),
) -> Result<Compiled, Diagnostic> {
    let steps = recipe_steps(&source.recipe)?;
    let scheduled: Vec<_> = packed.iter().filter_map(|module| Some((module, repeats(module.role, steps)?))).collect();
    let counts: IndexMap<String, usize> =
        scheduled.iter().map(|(module, repeats)| (module.entry.name.clone(), *repeats)).collect();
    let mut calls: Vec<_> = scheduled.into_iter().map(|(module, repeats)| (module.figures, repeats)).collect();
    if calls.is_empty() {
        calls.extend(packed.first().map(|module| (module.figures, 1)));
    }
    let read = read_by(&packed, &counts);
    let stages: Vec<Option<StageOf>> = packed.iter().map(|module| module.stage).collect();
    let mesh = packed.first().map(|module| module.mesh.clone()).unwrap_or_default();
    let mut joined = Joined::of(prepared, packed);
    let (flops, peak) = ((&calls[..], model_flops), target.peak_flops(&source.recipe));
    let statistics = statistics(&source.recipe, flops, (&joined.buffers, &read), &mesh, peak)?;
    let RunSettings { environment, flags, launch, platform } = target.settings(&source.recipe);
    let model = ModelInfo {
        name: elaborated.module.name.to_string(),
        sha256: identity(&elaborated.module),
        config: elaborated.config.clone(),
    };
    let manifest = Manifest {
        version: MANIFEST_VERSION,
        model,
        recipe: source.recipe.clone(),
        mesh,
        buffers: take(&mut joined.buffers).into_values().collect(),
        modules: take(&mut joined.modules),
        schedule: Vec::new(),
        roles: IndexMap::new(),
        transfers: Vec::new(),
        rounding: RoundingChoice::of(&source.recipe.precision),
        environment,
        flags,
        launch,
        platform,
        statistics,
    };
    let Update { schedule, roles, transfers } = Update::of(&manifest, &counts, &stages)?;
    let manifest = Manifest { schedule, roles, transfers, ..manifest };
    let mut warnings = elaborated.warnings;
    warnings.extend(target.warnings(&source.recipe).into_iter().map(|warning| locate(source, warning)));
    warnings.extend(source.places.told());
    warnings.extend(target.advice(&manifest, &joined.policies));
    warnings.extend(joined.warnings(source));
    let Joined { files, presumed, audit, causality, replicas, reports, remarks, .. } = joined;
    let audit = audit.unwrap_or_default();
    let bundle = Bundle::assembled(manifest, files);
    Ok(Compiled { bundle, warnings, presumed, audit, causality, replicas, reports, remarks })
}

/// The buffers that modules of an update read, or the first module where there is none.
fn read_by(packed: &[Packed<'_>], counts: &IndexMap<String, usize>) -> IndexSet<String> {
    let is_called = |module: &&Packed<'_>| counts.contains_key(module.name());
    let called = packed.iter().filter(is_called).flat_map(Packed::inputs);
    let first = packed.iter().take(if counts.is_empty() { 1 } else { 0 }).flat_map(Packed::inputs);
    called.chain(first).map(str::to_owned).collect()
}

/// The modules of a bundle, joined.
struct Joined {
    files: IndexMap<String, Vec<u8>>,
    buffers: IndexMap<String, Buffer>,
    modules: Vec<ModuleEntry>,
    reports: Vec<(ModuleRole, Vec<PassReport>)>,
    remarks: Vec<(Name, Vec<Remark>)>,
    /// Warnings of passes, each once: modules of one model have much in common.
    told: Vec<Diagnostic>,
    replicas: Replicas,
    /// The audit of the first module with its counts, and the findings of the others.
    audit: Option<Audit>,
    causality: Option<CausalityReport>,
    presumed: BTreeSet<String>,
    policies: Vec<PolicyNeed>,
}

impl Joined {
    fn of(prepared: PreparedModule, packed: Vec<Packed<'_>>) -> Self {
        let mut joined = Self {
            files: prepared.dumps.into_iter().map(|(file, text)| (file, text.into_bytes())).collect(),
            buffers: IndexMap::new(),
            modules: Vec::new(),
            reports: Vec::new(),
            remarks: vec![(Name::from(MODEL), prepared.remarks)],
            told: prepared.warnings,
            replicas: Replicas::OneRank,
            audit: None,
            causality: prepared.causality,
            presumed: BTreeSet::new(),
            policies: Vec::new(),
        };
        packed.into_iter().for_each(|module| joined.add(module));
        joined.pack_as_weights();
        joined
    }

    /// Packs the state of weights as these. A module that reads such state without the weight does not say how.
    fn pack_as_weights(&mut self) {
        let packed = self.buffers.values().filter(|buffer| buffer.is_weight());
        let packings: IndexMap<String, Packing> =
            packed.filter_map(|weight| Some((weight.name.clone(), weight.packing.clone()?))).collect();
        for buffer in self.buffers.values_mut() {
            if let Some(packing) = buffer.of().and_then(|of| packings.get(of)) {
                buffer.packing = Some(packing.clone());
            }
        }
    }

    fn add(&mut self, module: Packed<'_>) {
        self.policies.extend(module.policies);
        self.presumed.extend(module.check.presumed);
        self.files.extend(module.files);
        for buffer in module.buffers {
            self.buffers.entry(buffer.name.clone()).or_insert(buffer);
        }
        let add = |(name, bytes): (Name, _)| add_decomposition(&mut self.files, &module.role.name, &name, bytes);
        let decompositions = module.decompositions.into_iter().map(add).collect();
        self.modules.push(ModuleEntry { decompositions, ..module.entry });
        self.reports.push((module.role.name.clone(), module.reports));
        self.remarks.push((module.role.name.name().into(), module.remarks));
        self.replicas = std::mem::replace(&mut self.replicas, Replicas::OneRank).and(module.replicas);
        for warning in module.warnings {
            if !self.told.contains(&warning) {
                self.told.push(warning);
            }
        }
        match &mut self.audit {
            Some(audit) => audit.merge(module.audit),
            audit => *audit = Some(module.audit),
        }
    }

    /// The warnings of analyses and passes, at their places in the recipe.
    fn warnings(&self, source: &Source) -> Diagnostics {
        let is_waived = source.recipe.check.waive.contains(&Waiver::Causality);
        let causality = self.causality.iter().filter(|_| !is_waived).flat_map(CausalityReport::diagnostics);
        let located = |warning| locate(source, warning);
        let audit = self.audit.iter().flat_map(Audit::diagnostics).map(located);
        let told = self.told.iter().cloned().map(located);
        causality.chain(self.replicas.diagnostic()).chain(audit).chain(told).collect()
    }
}

/// Micro-batches in one update.
fn recipe_steps(recipe: &Recipe) -> Result<usize, Diagnostic> {
    Ok(recipe.sizes()?.accumulate as usize)
}

/// The number of calls of a module in one update of so many micro-batches.
fn repeats(role: &Role, steps: usize) -> Option<usize> {
    Some(match role.calls? {
        Calls::Once => 1,
        Calls::PerMicroBatch => steps,
    })
}

/// Adds the file of a decomposition. Modules that call a kernel on the same types share the file of its decomposition.
fn add_decomposition(
    files: &mut IndexMap<String, Vec<u8>>,
    role: &ModuleRole,
    name: &str,
    bytes: Vec<u8>,
) -> Decomposition {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-') { c } else { '_' };
    let stem: String = name.chars().map(allowed).collect();
    let shared = format!("{DECOMPOSITIONS}/{stem}.hlo.pb");
    let is_free = files.get(&shared).is_none_or(|known| *known == bytes);
    let file = if is_free { shared } else { format!("{DECOMPOSITIONS}/{}.{stem}.hlo.pb", role.name()) };
    let decomposition = Decomposition { name: name.to_owned(), file: file.clone(), sha256: sha256(&bytes) };
    files.insert(file, bytes);
    decomposition
}
