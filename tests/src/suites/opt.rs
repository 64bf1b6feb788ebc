//! `opt`.

use super::Suite;
use crate::annotation::{Annotation, match_diagnostics};
use crate::document::Anchor;
use crate::executable::executable;
use crate::executions::Execution;
use crate::harness::{Case, Outcome, Tools};
use crate::inputs::{InputKind, seeded_inputs};
use crate::optimizer::check_update;
use crate::relation::{Tolerance, agree, check_relation};
use halite_ir::text::{PrintOptions, print_function};
use halite_ir::{Interpreter, Module};
use halite_passes::{Dump, Findings, Moment, PassCx, Relation, Runner, RunnerOptions};
use halite_spec::Recipe;
use halite_support::{Diagnostic, Diagnostics};

/// A pipeline, each function after it, and the relations that its passes declare.
#[derive(Debug)]
pub(super) struct Opt;

impl Suite for Opt {
    fn name(&self) -> &str {
        "opt"
    }

    fn run(&self, case: &Case, tools: &Tools) -> Result<Outcome, String> {
        let passes = case.directives.passes.as_deref().ok_or("the suite needs `//@ passes: ..`")?;
        let before = case.module(tools)?;
        case.execute(&before, tools)?;
        let (after, warnings) = match transform(case, tools, passes, &before) {
            Ok(done) => done,
            Err(error) => return refused(case, error),
        };
        match_diagnostics(&case.text, &warnings, &case.sources)?;
        Ok(Outcome { blocks: blocks(case, &before, &after), sibling: None })
    }
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

/// Runs a pipeline and checks what it promises: the module after it, and what passes warn of.
pub(super) fn transform(
    case: &Case,
    tools: &Tools,
    passes: &str,
    before: &Module,
) -> Result<(Module, Diagnostics), Failure> {
    let recipe = case.directives.recipe().map_err(Failure::Wrong)?;
    let pipeline = tools.passes.pipeline(passes).map_err(Failure::Refused)?;
    let mut watch = Watch { tools, recipe: recipe.as_ref(), before: None, recast: false, problem: None };
    let mut after = before.clone();
    let options = RunnerOptions { verify_each: true, check_changed: true, limit: None };
    let findings = Findings::default();
    let cx = PassCx { registry: &tools.registry, recipe: recipe.as_ref(), findings: Some(&findings) };
    Runner::new(options).with_dump(&mut watch).run(&pipeline, &mut after, &cx).map_err(Failure::Refused)?;
    let Watch { recast, problem, .. } = watch;
    match problem {
        Some(problem) => Err(problem),
        None if recast => as_annotated(case, tools, &after),
        None => compare_on_xla(case, tools, before, &after),
    }
    .map_err(Failure::Wrong)?;
    Ok((after, findings.into_audit().diagnostics()))
}

/// Checks the relation of each pass as it runs.
struct Watch<'a> {
    tools: &'a Tools,
    recipe: Option<&'a Recipe>,
    before: Option<Module>,
    /// Whether a pass changed element types.
    recast: bool,
    problem: Option<String>,
}

impl Dump for Watch<'_> {
    fn dump(&mut self, _: usize, pass: &str, moment: Moment, module: &Module) {
        if moment == Moment::Before {
            self.before = Some(module.clone());
            return;
        }
        let (Some(before), Ok(known)) = (self.before.take(), self.tools.passes.get(pass)) else { return };
        let relation = known.info().relation;
        self.recast |= relation == Relation::WithinRecipe;
        let outcome = match (relation, self.recipe) {
            (Relation::Defines, Some(recipe)) => check_update(&before, module, recipe, &self.tools.registry),
            _ => check_relation(relation, &before, module, &self.tools.registry),
        };
        if let Err(problem) = outcome {
            self.problem.get_or_insert(format!("`{pass}` declares {relation:?}: {problem}"));
        }
    }
}

/// Runs each function that the passes changed, before and after, on CPU XLA and compares common results.
fn compare_on_xla(case: &Case, tools: &Tools, before: &Module, after: &Module) -> Result<(), String> {
    for old in &before.functions {
        let Some(new) = after.find(&old.name).map(|id| after.function(id)) else { continue };
        if old.param_types() != new.param_types() {
            continue;
        }
        let at = |error| format!("`@{}` on CPU XLA: {error}", old.name);
        let program = |module| executable(module, &old.name, &tools.registry).map_err(|error| at(case.show(&error)));
        let (was, is) = (program(before)?, program(after)?);
        if was == is {
            continue;
        }
        let inputs = seeded_inputs(old, InputKind::Plain, 1);
        let run = |hlo: &[u8]| tools.executions.run(hlo, &inputs).map_err(at);
        if let (Execution::Done(was), Execution::Done(mut is)) = (run(&was)?, run(&is)?) {
            is.truncate(was.len());
            agree(&is, &was, Tolerance::Ulps(case.directives.tolerance)).map_err(at)?;
        }
    }
    Ok(())
}

/// Runs each function on CPU XLA and on the interpreter, every rounding as it is annotated.
fn as_annotated(case: &Case, tools: &Tools, after: &Module) -> Result<(), String> {
    for function in &after.functions {
        let at = |error| format!("`@{}` on CPU XLA: {error}", function.name);
        let hlo = executable(after, &function.name, &tools.registry).map_err(|error| at(case.show(&error)))?;
        let inputs = seeded_inputs(function, InputKind::Plain, 1);
        let expected = Interpreter::of(after, &tools.registry).run(function, inputs.clone());
        let expected = expected.map_err(|error| case.show(&error))?;
        if let Execution::Done(found) = tools.executions.run(&hlo, &inputs).map_err(at)? {
            agree(&found, &expected, Tolerance::Ulps(case.directives.tolerance)).map_err(at)?;
        }
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
