//! `lower`.

use super::Suite;
use super::opt::{Failure, Transformed, transform};
use crate::document::Anchor;
use crate::executions::Execution;
use crate::harness::{Case, Outcome, Tools};
use crate::inputs::{InputKind, seeded_inputs};
use crate::relation::{Tolerance, agree};
use halite_hlo::proto::HloModuleProto;
use halite_ir::{Interpreter, LowerOptions, Module, lower};
use halite_support::Severity;

/// The HLO of a module. CPU XLA must take it and compute what the interpreter does.
#[derive(Debug)]
pub(super) struct Lower;

impl Suite for Lower {
    fn name(&self) -> &str {
        "lower"
    }

    fn run(&self, case: &Case, tools: &Tools) -> Result<Outcome, String> {
        let module = case.module(tools)?;
        case.execute(&module, tools)?;
        let passes = case.directives.passes.as_deref().ok_or("the suite needs `//@ passes: ..`")?;
        let Transformed { after: legal, .. } =
            transform(case, tools, passes, &module).map_err(|failure| match failure {
                Failure::Refused(diagnostic) => case.show(&diagnostic),
                Failure::Wrong(error) => error,
            })?;
        let mut hlo = lower(&legal, &case.sources, LowerOptions::default()).map_err(|error| case.show(&error))?;
        if let Some(finding) = halite_hlo::check(&hlo).iter().find(|finding| finding.severity() >= Severity::Error) {
            return Err(format!("the HLO checker says {finding}\n{}", halite_hlo::text::print(&hlo)));
        }
        compare(case, tools, &legal, &hlo)?;
        if !case.directives.metadata {
            drop_metadata(&mut hlo);
        }
        Ok(Outcome { blocks: vec![(Anchor::End, halite_hlo::text::print(&hlo))], sibling: None })
    }
}

/// Runs the HLO and the module it comes from on the same operands.
fn compare(case: &Case, tools: &Tools, legal: &Module, hlo: &HloModuleProto) -> Result<(), String> {
    let entry = legal.entry().ok_or("there is no entry")?;
    let inputs = seeded_inputs(entry, InputKind::Plain, 1);
    let expected =
        Interpreter::of(legal, &tools.registry).run(entry, inputs.clone()).map_err(|error| case.show(&error))?;
    match tools.executions.run(&halite_hlo::encode(hlo), &inputs)? {
        Execution::Done(found) => agree(&found, &expected, Tolerance::Ulps(case.directives.tolerance))
            .map_err(|error| format!("CPU XLA and the interpreter differ: {error}")),
        Execution::Skipped => Ok(()),
    }
}

fn drop_metadata(hlo: &mut HloModuleProto) {
    for inst in hlo.computations.iter_mut().flat_map(|computation| &mut computation.instructions) {
        inst.metadata = None;
    }
}
