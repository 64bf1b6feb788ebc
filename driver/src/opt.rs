//! Running passes on IR text.

use crate::dump::{DumpFilter, Dumper};
use crate::session::Session;
use halite_analysis::ReplicaFinding;
use halite_ir::{Module, VerifyErrors, text, verify};
use halite_passes::{Audit, Findings, MadeBy, PassCx, PassReport, PipelineSpec, Remark, Runner, RunnerOptions};
use halite_recipe::Recipe;
use halite_support::{Diagnostic, Diagnostics, FileId, Span, codes};
use indexmap::IndexMap;

/// Options for running passes.
#[derive(Clone, Debug, Default)]
pub struct OptOptions {
    /// The passes; none by default.
    pub passes: PipelineSpec,
    /// The recipe, for passes that need one.
    pub recipe: Option<Recipe>,
    /// The intermediate modules to keep.
    pub dumps: Option<DumpFilter>,
    /// Options for running and verifying passes.
    pub runner: RunnerOptions,
    /// Whether to keep the remarks of passes on their decisions.
    pub explain: bool,
}

/// A module after its passes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Optimized {
    /// The module after the last pass.
    pub module: Module,
    /// The warnings.
    pub warnings: Diagnostics,
    /// The passes that ran.
    pub reports: Vec<PassReport>,
    /// Remarks of passes on their decisions, if they were asked for.
    pub remarks: Vec<Remark>,
    /// Intermediate modules as text, by file name.
    pub dumps: IndexMap<String, String>,
}

impl Session {
    /// Parses the module in a text, and verifies it.
    ///
    /// # Errors
    /// When the text is not among the `sources` of this session; every mistake of it, or every broken rule of the module.
    pub fn parse_ir(&self, file: FileId) -> Result<Module, Diagnostics> {
        let module = text::parse(self.sources.known(file)?.text(), file, &self.registry)?;
        let located = |error: Diagnostic| error.or_at(Some(Span::new(file, 0, 0)), "in this module");
        let into_located =
            |errors: VerifyErrors| errors.into_diagnostics().into_iter().map(located).collect::<Diagnostics>();
        verify(&module, &self.registry).map_err(into_located)?;
        Ok(module)
    }

    /// Runs passes on the module in a text.
    ///
    /// # Errors
    /// As [`parse_ir`](Self::parse_ir); then when the pipeline is wrong, or a pass fails.
    pub fn optimize(&self, file: FileId, options: &OptOptions) -> Result<Optimized, Diagnostics> {
        let mut module = self.parse_ir(file)?;
        let mut dumper = Dumper::new("opt", options.dumps.as_ref());
        let findings = if options.explain { Findings::with_remarks() } else { Findings::default() };
        let pipeline = self.passes.pipeline(&options.passes)?;
        let recipe = options.recipe.as_ref();
        let cx = PassCx { made_by: MadeBy::Hand, ..self.pass_cx(recipe, Some(&findings))? };
        let mut runner = Runner::new(options.runner.clone()).with_dump(&mut dumper);
        let in_module = |error: Diagnostic| match error.code() {
            codes::PHASE => error.or_at(Some(Span::new(file, 0, 0)), "in this module"),
            _ => error,
        };
        runner.run(&pipeline, &mut module, &cx).map_err(in_module)?;
        let reports = runner.reports().to_vec();
        let remarks = findings.remarks();
        let mut warnings = Diagnostics::from(findings.warnings());
        warnings.extend(findings.report::<ReplicaFinding>().map(|finding| finding.not_followed()));
        warnings.extend(findings.report::<Audit>().unwrap_or_default().diagnostics());
        Ok(Optimized { module, warnings, reports, remarks, dumps: dumper.into_files() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IR: &str = "func @main(%x: f32[4]) -> (f32[4]) {\n  %0 = tanh %x : f32[4]\n  %1 = tanh %x : f32[4]\n  \
                      %2 = add %0, %1 : f32[4]\n  return %2\n}\n";

    fn optimize(ir: &str, passes: &str) -> Result<Optimized, Diagnostics> {
        let mut session = Session::new();
        let file = session.sources.add("a.ir", ir);
        session.optimize(file, &OptOptions { passes: passes.parse()?, ..OptOptions::default() })
    }

    #[test]
    fn passes_run_in_order_and_are_reported() {
        let optimized = optimize(IR, "cse, dce").unwrap();
        assert_eq!(optimized.module.num_insts(), 2);
        assert_eq!(optimized.reports.iter().map(|report| &*report.name).collect::<Vec<_>>(), ["cse", "dce"]);
    }

    #[test]
    fn a_group_that_reaches_its_bound_is_warned_of() {
        let unsettled = optimize(IR, "tidy(cse, dce)*1").unwrap().warnings;
        assert_eq!((unsettled.len(), unsettled[0].code()), (1, codes::UNSETTLED));
        assert_eq!(unsettled[0].message(), "`tidy(cse, dce)*1` ran once and still changed the module");
        assert!(optimize(IR, "(cse, dce)*2").unwrap().warnings.is_empty());
    }

    #[test]
    fn wrong_texts_and_pipelines_are_refused() {
        assert!(optimize(IR, "csee").unwrap_err()[0].to_string().contains("E0601"));
        assert!(optimize(&IR.replace("add %0, %1", "add %0"), "cse").is_err());
        assert!(optimize("func", "cse").is_err());
    }
}
