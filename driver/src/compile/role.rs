//! The module of one role, from what all roles share to HLO.

use super::replicas::Replicas;
use super::{CompileOptions, CompiledModule, PreparedModule, StageOf, Twin, findings, for_role};
use crate::dump::Dumper;
use crate::roles::Role;
use crate::session::Session;
use halite_analysis::CausalityReport;
use halite_bundle::ModuleRole;
use halite_hlo::CheckedHlo;
use halite_ir::{KernelForm, Module, Phase, are_alike, lower, lower_decompositions};
use halite_passes::{
    Findings, Milestone, PassCx, PassReport, Pipeline, Runner, StageProgram, UnreadInputs, stage_programs,
};
use halite_recipe::Recipe;
use halite_support::{Diagnostic, SourceMap, check_cancelled, codes};
use indexmap::IndexMap;

/// The module of one role, with the passes that are still to run, and the reports and findings of those that ran.
pub(super) struct Unfinished<'a> {
    pub(super) role: &'a Role,
    module: Module,
    left: Pipeline,
    reports: Vec<PassReport>,
    pub(super) findings: Findings,
    dumper: Dumper<'a>,
}

impl<'a> Unfinished<'a> {
    /// A copy for another recipe, without dumps and remarks.
    pub(super) fn again(&self) -> Self {
        let findings = Findings::default();
        if let Some(report) = self.findings.report::<CausalityReport>() {
            findings.keep(report);
        }
        Self {
            role: self.role,
            module: self.module.clone(),
            left: self.left.clone(),
            reports: self.reports.clone(),
            findings,
            dumper: Dumper::new(self.role.name.name(), None),
        }
    }
}

/// The programs that are one but for names together, in the order of their first. Where every narrowing rounds stochastically, by streams that
/// are named after the place of the instruction, each is by itself.
fn alike(programs: Vec<StageProgram>, recipe: &Recipe) -> Vec<Vec<StageProgram>> {
    if recipe.precision.rounds_everywhere() {
        return programs.into_iter().map(|program| vec![program]).collect();
    }
    let mut groups: Vec<Vec<StageProgram>> = Vec::new();
    for program in programs {
        let is_twin = |group: &&mut Vec<StageProgram>| {
            group.first().is_some_and(|first| are_alike(&first.module, &program.module))
        };
        match groups.iter_mut().find(is_twin) {
            Some(group) => group.push(program),
            None => groups.push(vec![program]),
        }
    }
    groups
}

impl Session {
    /// Runs the passes of one role up to the first that reads recompute policies.
    pub(super) fn begin_role<'a>(
        &self,
        prepared: &PreparedModule,
        recipe: &Recipe,
        (role, pipeline): (&'a Role, &Pipeline),
        options: &'a CompileOptions,
    ) -> Result<Unfinished<'a>, Diagnostic> {
        let (pipeline, left) = pipeline.split_before(&[Milestone::Recompute, Milestone::WritesOut]);
        let findings = findings(options);
        if let Some(report) = &prepared.causality {
            findings.keep(report.clone());
        }
        let mut module = for_role(&prepared.module, role);
        let mut dumper = Dumper::new(role.name.name(), options.dumps.as_ref());
        let cx = self.cx_of(role, recipe, &findings)?;
        let mut runner = Runner::new(options.runner.clone()).after(&prepared.reports).with_dump(&mut dumper);
        runner.run(&pipeline, &mut module, &cx)?;
        let reports = runner.reports().to_vec();
        Ok(Unfinished { role, module, left, reports, findings, dumper })
    }

    /// The context of the passes of a role. A forward has no loss, so that it does not keep labels that it does not read.
    fn cx_of<'s>(&'s self, role: &Role, recipe: &'s Recipe, findings: &'s Findings) -> Result<PassCx<'s>, Diagnostic> {
        let mut cx = self.pass_cx(Some(recipe), Some(findings))?;
        if role.name == ModuleRole::FORWARD && cx.target.unread_inputs == UnreadInputs::Stay {
            cx.target.unread_inputs = UnreadInputs::FedGo;
        }
        Ok(cx)
    }

    /// Runs the passes of one role that are left and lowers the module, which comes from `sources`; where its work is cut into programs of
    /// stages, each of them.
    pub(super) fn finish_role(
        &self,
        unfinished: Unfinished<'_>,
        recipe: &Recipe,
        sources: &SourceMap,
        options: &CompileOptions,
    ) -> Result<Vec<CompiledModule>, Diagnostic> {
        let (cut, left) = unfinished.left.split_before(&[Milestone::WritesOut]);
        let Unfinished { role, mut module, reports, findings, mut dumper, .. } = unfinished;
        let cx = self.cx_of(role, recipe, &findings)?;
        let mut runner = Runner::new(options.runner.clone()).after(&reports).with_dump(&mut dumper);
        runner.run(&cut, &mut module, &cx)?;
        let reports = runner.reports().to_vec();
        let stages = if recipe.stages() > 1 { Some(recipe.pipeline()?.0) } else { None };
        let stage_of = |part| stages.map_or(0, |stages| stages.stage_of(part));
        let programs = stage_programs(&module, &self.registry, role.name.name(), stage_of)?;
        let whom = (recipe, sources);
        if programs.is_empty() {
            let whole = Unfinished { role, module, left, reports, findings, dumper };
            return Ok(vec![self.finish_module(whole, None, whom, options)?]);
        }
        // What was found and dumped of the whole goes to the first of its programs.
        let mut whole = Some((findings, dumper.into_files()));
        let finish = |programs: Vec<StageProgram>| {
            let mut programs = programs.into_iter();
            let Some(StageProgram { task, stage, module }) = programs.next() else {
                return Err(Diagnostic::bug("a program of no stage"));
            };
            let stage = StageOf { task, stage };
            let twins = programs.map(|twin| Twin::of(&module, twin)).collect();
            let dumper = Dumper::new(stage.name(&role.name), options.dumps.as_ref());
            let (findings, dumps) = whole.take().unwrap_or_else(|| (super::findings(options), IndexMap::new()));
            let unfinished =
                Unfinished { role, module, left: left.clone(), reports: reports.clone(), findings, dumper };
            let mut compiled = self.finish_module(unfinished, Some(stage), whom, options)?;
            compiled.dumps.extend(dumps);
            compiled.twins = twins;
            Ok(compiled)
        };
        alike(programs, recipe).into_iter().map(finish).collect()
    }

    /// Runs the passes that are left on a module and lowers it.
    fn finish_module(
        &self,
        unfinished: Unfinished<'_>,
        stage: Option<StageOf>,
        (recipe, sources): (&Recipe, &SourceMap),
        options: &CompileOptions,
    ) -> Result<CompiledModule, Diagnostic> {
        let Unfinished { role, mut module, left, reports, findings, mut dumper } = unfinished;
        let cx = self.cx_of(role, recipe, &findings)?;
        let mut runner = Runner::new(options.runner.clone()).after(&reports).with_dump(&mut dumper);
        let verified = runner.run(&left, &mut module, &cx)?;
        let reports = runner.reports().to_vec();
        if verified.phase != Phase::Legal {
            let message = format!("the pipeline ends in phase `{}`, HLO is made from `legal`", verified.phase);
            return Err(Diagnostic::error(codes::PIPELINE, message).help("end it with `legalize`"));
        }
        let span = tracing::debug_span!("lower", role = role.name.name()).entered();
        let hlo = lower(verified, sources, options.lower)?;
        let decompositions = match options.lower.kernels {
            KernelForm::Decompositions => Vec::new(),
            KernelForm::CustomCalls => lower_decompositions(verified, sources)?,
        };
        span.exit();
        check_cancelled()?;
        let checked = |hlo| CheckedHlo::new(hlo).map_err(|broken| broken.into_bug("lowering"));
        let hlo = checked(hlo)?;
        check_cancelled()?;
        let decompositions = decompositions
            .into_iter()
            .map(|(name, decomposition)| checked(decomposition).map(|decomposition| (name, decomposition)));
        let decompositions = decompositions.collect::<Result<_, _>>()?;
        let check = self.vocabulary.targets.get(&recipe.target)?.check_module(hlo.graph(), recipe, sources);
        let (remarks, warnings) = (findings.remarks(), findings.warnings());
        let replicas = Replicas::of(&module, &findings);
        Ok(CompiledModule {
            role: role.name.clone(),
            stage,
            twins: Vec::new(),
            ir: module,
            hlo,
            decompositions,
            reports,
            remarks,
            audit: findings.report().unwrap_or_default(),
            replicas,
            warnings,
            check,
            dumps: dumper.into_files(),
        })
    }
}
