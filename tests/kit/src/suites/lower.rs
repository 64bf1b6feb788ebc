//! `lower`.

use super::Suite;
use super::opt::{Failure, Transformed, transform};
use crate::document::Anchor;
use crate::handed;
use crate::inputs::{InputKind, seeded_inputs};
use crate::kit::{Case, Outcome};
use crate::relation::{Tolerance, agree};
use crate::xla;
use halite::Session;
use halite_hlo::CheckedHlo;
use halite_hlo::proto::HloModuleProto;
use halite_ir::{Interpreter, KernelForm, LowerOptions, Module, lower, lower_decompositions, verify};
use halite_runtime::ProgramFormat;
use halite_stablehlo::Form;
use halite_support::{Diagnostic, Name};

/// The HLO of a module. CPU XLA must take it and compute what the interpreter does.
#[derive(Debug)]
pub(super) struct Lower;

impl Suite for Lower {
    fn name(&self) -> &str {
        "lower"
    }

    fn run(&self, case: &Case, session: &Session) -> Result<Outcome, String> {
        let module = case.module(session)?;
        case.execute(&module, session)?;
        let Lowered { legal, modules: mut printed, runnable } = lowered(case, session)?;
        check(&printed[0])?;
        compare(case, session, &legal, &runnable)?;
        if !case.directives.metadata {
            printed.iter_mut().for_each(drop_metadata);
        }
        let translated: Vec<_> =
            printed.iter().map(stablehlo).collect::<Result<_, _>>().map_err(|error| case.show(&error))?;
        let printed: Vec<_> = match case.directives.stablehlo {
            true => translated,
            false => printed.iter().map(halite_hlo::text::print).collect(),
        };
        Ok(Outcome::new([(Anchor::End, printed.join("\n"))]))
    }
}

/// The lowering of a golden file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Lowered {
    /// The module that is lowered, after the passes of the file.
    pub legal: Module,
    /// Its HLO, and where its kernels are custom calls, that of their decompositions.
    pub modules: Vec<HloModuleProto>,
    /// Its HLO without custom calls.
    pub runnable: HloModuleProto,
}

/// Lowers a golden file of the suite `lower`.
///
/// # Errors
/// A message for people about an error of passes or lowering.
pub fn lowered(case: &Case, session: &Session) -> Result<Lowered, String> {
    let module = case.module(session)?;
    let passes = case.directives.passes.as_deref().ok_or("the suite needs `//@ passes: ..`")?;
    let Transformed { after: legal, .. } =
        transform(case, session, passes, &module).map_err(|failure| match failure {
            Failure::Refused(diagnostic) => case.show(&diagnostic),
            Failure::Wrong(error) => error,
        })?;
    let options = LowerOptions { kernels: case.directives.kernels, ..LowerOptions::default() };
    let verified =
        verify(&legal, &session.registry).map_err(|errors| case.show(&errors.into_bug("before lowering")))?;
    let hlo = lower(verified, &case.sources, options).map_err(|error| case.show(&error))?;
    if options.kernels != KernelForm::CustomCalls {
        return Ok(Lowered { legal, modules: vec![hlo.clone()], runnable: hlo });
    }
    let decompositions = lower_decompositions(verified, &case.sources).map_err(|error| case.show(&error))?;
    let runnable = linked(&hlo, &decompositions).map_err(|error| case.show(&error))?;
    let decompositions = decompositions.into_iter().map(|(_, decomposition)| decomposition);
    Ok(Lowered { legal, modules: std::iter::once(hlo).chain(decompositions).collect(), runnable })
}

/// The module with its decompositions in the place of kernels, which CPU XLA does not have.
fn linked(hlo: &HloModuleProto, decompositions: &[(Name, HloModuleProto)]) -> Result<HloModuleProto, Diagnostic> {
    halite_hlo::link_decompositions(hlo, |name| {
        let decomposition =
            decompositions.iter().find(|(own, _)| **own == *name).map(|(_, decomposition)| decomposition.clone());
        decomposition.ok_or_else(|| Diagnostic::bug(format!("no decomposition is named `{name}`")))
    })
}

/// The StableHLO of a module, which is kept where that is asked for.
fn stablehlo(hlo: &HloModuleProto) -> Result<String, Diagnostic> {
    let hlo = CheckedHlo::new(hlo.clone())?;
    let text = halite_stablehlo::print(&hlo, Form::Program { num_replicas: 1 })?;
    handed::keep(&hlo.encode(), &text);
    Ok(text)
}

fn check(hlo: &HloModuleProto) -> Result<(), String> {
    let explain = |finding| format!("the HLO checker says {finding}\n{}", halite_hlo::text::print(hlo));
    CheckedHlo::new(hlo.clone()).map(|_| ()).map_err(explain)
}

/// Runs the HLO and the module it comes from on the same operands.
fn compare(case: &Case, session: &Session, legal: &Module, hlo: &HloModuleProto) -> Result<(), String> {
    check(hlo)?;
    let entry = legal.entry().ok_or("there is no entry")?;
    let inputs = seeded_inputs(entry, InputKind::Plain, 1);
    let expected =
        Interpreter::of(legal, &session.registry).run(entry, inputs.clone()).map_err(|error| case.show(&error))?;
    let hlo = halite_hlo::encode(hlo);
    let [found, translated] = ProgramFormat::OF_PLUGINS.map(|format| xla::evaluate_in(format, &hlo, &inputs));
    let (found, translated) = (found?, translated.map_err(|error| format!("as StableHLO: {error}"))?);
    if found != translated {
        return Err("CPU XLA does not give the same bits of HLO and StableHLO".to_owned());
    }
    agree(&found, &expected, Tolerance::Ulps(case.directives.tolerance))
        .map_err(|error| format!("CPU XLA and the interpreter differ: {error}"))
}

fn drop_metadata(hlo: &mut HloModuleProto) {
    for inst in hlo.computations.iter_mut().flat_map(|computation| &mut computation.instructions) {
        inst.metadata = None;
    }
}
