//! `opt`.

use super::Suite;
use crate::annotation::{Annotation, match_diagnostics};
use crate::document::{Anchor, compare_texts};
use crate::executable::executable;
use crate::inputs::{InputKind, seeded_inputs};
use crate::kit::{Case, Outcome};
use crate::packed::stored_as;
use crate::relation::{Tolerance, agree, check_relation, is_comparable};
use crate::xla;
use halite::Session;
use halite_analysis::ReplicaFinding;
use halite_ir::text::{PrintOptions, print_function, print_with};
use halite_ir::{Function, Interpreter, Module, TensorType};
use halite_passes::{
    Audit, Changed, Dump, DumpPoint, Findings, Kind, MadeBy, Pass, PassCx, Relation, Remark, Runner, RunnerOptions,
};
use halite_recipe::Recipe;
use halite_support::{Diagnostic, Diagnostics};
use halite_tensor::HostTensor;

/// A pipeline, each function after it, and the relations that its passes declare.
#[derive(Debug)]
pub(super) struct Opt;

impl Suite for Opt {
    fn name(&self) -> &str {
        "opt"
    }

    fn run(&self, case: &Case, session: &Session) -> Result<Outcome, String> {
        let passes = case.directives.passes.as_deref().ok_or("the suite needs `//@ passes: ..`")?;
        let before = case.module(session)?;
        case.execute(&before, session)?;
        let Transformed { after, warnings, remarks } = match transform(case, session, passes, &before) {
            Ok(done) => done,
            Err(error) => return refused(case, error),
        };
        match_diagnostics(&case.text, &warnings, &case.sources)?;
        let mut blocks = blocks(case, &before, &after);
        if case.directives.remarks {
            blocks.extend(remarks.iter().map(|remark| remark_block(case, &before, remark)));
        }
        Ok(Outcome::new(blocks))
    }
}

/// The output of a pipeline.
pub(super) struct Transformed {
    pub(super) after: Module,
    /// The warnings of passes.
    pub(super) warnings: Diagnostics,
    /// The remarks of passes on their decisions.
    pub(super) remarks: Vec<Remark>,
}

/// Why a module did not come out.
pub(super) enum Failure {
    /// A pass refused the input.
    Refused(Diagnostic),
    /// The harness found fault.
    Wrong(String),
}

/// A refusal is fine when the file expects it.
fn refused(case: &Case, failure: Failure) -> Result<Outcome, String> {
    match failure {
        Failure::Wrong(error) => Err(error),
        Failure::Refused(diagnostic) if Annotation::parse_all(&case.text).is_empty() => Err(case.show(&diagnostic)),
        Failure::Refused(diagnostic) => {
            match_diagnostics(&case.text, &[diagnostic], &case.sources)?;
            Ok(Outcome::default())
        }
    }
}

/// Runs a pipeline and checks what it promises.
pub(super) fn transform(case: &Case, session: &Session, passes: &str, before: &Module) -> Result<Transformed, Failure> {
    let recipe = case.directives.recipe().map_err(Failure::Wrong)?;
    let pipeline = session.passes.parse(passes).map_err(Failure::Refused)?;
    let mut watch = Watch { case, session, recipe: recipe.as_ref(), before: None, recast: false, problem: None };
    let mut after = before.clone();
    let options = RunnerOptions { check_changed: true, ..RunnerOptions::default() };
    let findings = Findings::with_remarks();
    let cx = session.pass_cx(recipe.as_ref(), Some(&findings)).expect("the target is known");
    let cx = PassCx { made_by: MadeBy::Hand, ..cx };
    Runner::new(options).with_dump(&mut watch).run(&pipeline, &mut after, &cx).map_err(Failure::Refused)?;
    let Watch { recast, problem, .. } = watch;
    match problem {
        Some(problem) => Err(problem),
        None if recast => as_annotated(case, session, &after),
        None => compare_on_xla(case, session, before, &after),
    }
    .map_err(Failure::Wrong)?;
    let remarks = findings.remarks();
    let unproven = findings.report::<ReplicaFinding>().map(|finding| finding.not_followed());
    let warnings = unproven.into_iter().chain(findings.report::<Audit>().unwrap_or_default().diagnostics()).collect();
    Ok(Transformed { after, warnings, remarks })
}

/// The word in the names of passes that scale the loss, and so change what results are.
const SCALES: &str = "scale";

/// Checks the relation of each pass as it runs.
struct Watch<'a> {
    case: &'a Case,
    session: &'a Session,
    recipe: Option<&'a Recipe>,
    before: Option<Module>,
    /// Whether a pass changed element types, or what results are.
    recast: bool,
    problem: Option<String>,
}

impl Dump for Watch<'_> {
    fn dump(&mut self, _: usize, pass: &str, point: DumpPoint, module: &Module) {
        if point == DumpPoint::Before {
            self.before = Some(module.clone());
            return;
        }
        let (Some(before), Ok(known)) = (self.before.take(), self.session.passes.get(pass)) else { return };
        let relation = known.info().relation;
        self.recast |= relation == Relation::WithinRecipe || pass.contains(SCALES);
        let defined = match self.recipe {
            Some(recipe) => self.check_defined(pass, relation, &before, module, recipe),
            None => Ok(()),
        };
        let related = match relation {
            Relation::Defines => Ok(()),
            relation => check_relation(relation, &before, module, &self.session.registry),
        };
        let outcome = defined.and(related);
        let outcome = outcome.map_err(|problem| format!("`{pass}` declares {relation:?}: {problem}"));
        if let Err(problem) = outcome.and_then(|()| self.check_idempotent(&**known, module)) {
            self.problem.get_or_insert(problem);
        }
    }
}

impl Watch<'_> {
    /// Checks that a pass made what it defines, where there is a model of it. What defines something has one.
    fn check_defined(
        &self,
        pass: &str,
        relation: Relation,
        before: &Module,
        after: &Module,
        recipe: &Recipe,
    ) -> Result<(), String> {
        let mut told = self.case.oracles.iter().filter_map(|one| one.check(pass, before, after, recipe, self.session));
        match told.next() {
            Some(found) => found,
            None if relation == Relation::Defines => {
                Err("nothing models what it defines; give the kit an `Oracle` that does".to_owned())
            }
            None => Ok(()),
        }
    }

    /// Checks that an optimization leaves alone what it made.
    fn check_idempotent(&self, pass: &dyn Pass, module: &Module) -> Result<(), String> {
        let (name, mut again) = (pass.info().name, module.clone());
        if pass.info().kind == Kind::Required {
            return Ok(());
        }
        let cx = self.session.pass_cx(self.recipe, None).expect("the target is known");
        let changed = pass.run(&mut again, &cx).map_err(|error| format!("`{name}` on its own result: {error}"))?;
        let same = compare_texts(&print_with(module, PRINTED), &print_with(&again, PRINTED));
        same.map_err(|diff| format!("`{name}` is not idempotent: on its own result\n{diff}"))?;
        if changed == Changed::No { Ok(()) } else { Err(format!("`{name}` reports a change of its own result")) }
    }
}

/// The options by which modules are printed to be compared.
const PRINTED: PrintOptions = PrintOptions { locations: false };

/// Runs each function that the passes changed, before and after, on CPU XLA and compares common results.
fn compare_on_xla(case: &Case, session: &Session, before: &Module, after: &Module) -> Result<(), String> {
    for old in &before.functions {
        let Some(new) = after.find(&old.name).map(|id| after.function(id)) else { continue };
        if !is_comparable(before, old, new) {
            continue;
        }
        let inputs: Vec<_> =
            (0..num_ranks(before)).map(|rank| seeded_inputs(old, InputKind::Plain, 1 + rank)).collect();
        let stored = inputs.iter().map(|inputs| stored_as(old, new, inputs.clone())).collect::<Result<Vec<_>, _>>();
        let Ok(stored) = stored else { continue };
        let types = |inputs: &[HostTensor]| -> Vec<TensorType> {
            inputs.iter().map(|input| TensorType::new(input.dtype(), input.shape().clone())).collect()
        };
        if types(&stored[0]) != new.param_types() {
            continue;
        }
        let at = |error| format!("`@{}` on CPU XLA: {error}", old.name);
        let program = |module| executable(module, &old.name, &session.registry).map_err(|error| at(case.show(&error)));
        let (was, is) = (program(before)?, program(after)?);
        if was == is {
            continue;
        }
        let run = |hlo: &[u8], inputs: &[Vec<HostTensor>]| xla::evaluate_ranks(hlo, inputs).map_err(at);
        for (was, mut is) in run(&was, &inputs)?.into_iter().zip(run(&is, &stored)?) {
            is.truncate(was.len());
            agree(&is, &was, Tolerance::Ulps(case.directives.tolerance)).map_err(at)?;
        }
    }
    Ok(())
}

/// On how many ranks a module runs.
fn num_ranks(module: &Module) -> u64 {
    module.layout.as_ref().map_or(1, |layout| layout.mesh.num_ranks() as u64)
}

/// Runs each function on CPU XLA and on the interpreter, every rounding as it is annotated.
fn as_annotated(case: &Case, session: &Session, after: &Module) -> Result<(), String> {
    for function in &after.functions {
        let at = |error| format!("`@{}` on CPU XLA: {error}", function.name);
        let hlo = executable(after, &function.name, &session.registry).map_err(|error| at(case.show(&error)))?;
        let inputs = seeded_inputs(function, InputKind::Plain, 1);
        let expected = Interpreter::of(after, &session.registry).run(function, inputs.clone());
        let expected = expected.map_err(|error| case.show(&error))?;
        let found = xla::evaluate(&hlo, &inputs).map_err(at)?;
        agree(&found, &expected, Tolerance::Ulps(case.directives.tolerance)).map_err(at)?;
    }
    Ok(())
}

/// The functions of a transformed module, each under the function of the file that it comes from; new ones before the
/// next one that the file has.
pub(super) fn blocks(case: &Case, before: &Module, after: &Module) -> Vec<(Anchor, String)> {
    let options = PrintOptions { locations: case.directives.locations };
    let mut blocks = Vec::new();
    if before.phase != after.phase {
        blocks.push((Anchor::Top, format!("// phase: {}", after.phase)));
    }
    let mut pending = Vec::new();
    for function in &after.functions {
        pending.push(print_function(after, function, options));
        if case.document.functions().any(|name| *name == *function.name) {
            blocks.push((Anchor::Function(function.name.to_string()), std::mem::take(&mut pending).join("\n")));
        }
    }
    if !pending.is_empty() {
        blocks.push((Anchor::End, pending.join("\n")));
    }
    for name in case.document.functions().filter(|name| after.find(name).is_none()) {
        blocks.push((Anchor::Function(name.to_owned()), "// removed".to_owned()));
    }
    blocks
}

/// A remark under the function that it is about; one about none of the file at its end.
fn remark_block(case: &Case, before: &Module, remark: &Remark) -> (Anchor, String) {
    let inside = |function: &&Function| {
        let mut spans = function.insts.iter().filter_map(|inst| before.locs.span(inst.loc));
        remark.span.is_some_and(|span| spans.any(|own| own == span))
    };
    let function = before.functions.iter().find(inside).map(|function| function.name.to_string());
    let line = remark.span.and_then(|span| Some(case.sources.position(span)?.line));
    let anchor = function.map_or(Anchor::End, Anchor::Function);
    let at = line.map_or(String::new(), |line| case.text.lines().nth(line - 1).map_or(String::new(), defined));
    (anchor, format!("// {at}{remark}"))
}

/// The names that a line of IR text defines: `%y: `.
fn defined(line: &str) -> String {
    line.split_once(" = ").map_or(String::new(), |(names, _)| format!("{}: ", names.trim()))
}
