//! Modules for the rules of Neuron targets: for each rule one that breaks it and one that breaks nothing.

mod collectives;
mod computations;
mod elements;
mod entry;
mod indices;
mod integers;
mod kernels;
mod opcodes;
mod windows;

use halite_hlo::graph::Graph;
use halite_hlo::proto::{HloInstructionProto, HloModuleProto, ShapeProto};
use halite_hlo::{ArrayType, ComputationBuilder, Id, ModuleBuilder};
use halite_neuron::Generation;
use halite_neuron::legality::{Finding, Profile, check};
use halite_support::Result;
use halite_tensor::DType;
use std::fmt::Write;

/// A case that a rule is tried on.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The name of the rule.
    pub rule: &'static str,
    /// The generation whose rules hold.
    pub target: Generation,
    /// Other rules that both modules may break.
    pub allow: &'static [&'static str],
    /// Ops whose integers the compiler may cast down.
    pub downcasts: &'static [&'static str],
    /// Makes a module that breaks the rule.
    pub breaks: fn() -> Result<HloModuleProto>,
    /// Makes a module that breaks none.
    pub keeps: fn() -> Result<HloModuleProto>,
}

/// A case for trn1.
const fn case(
    rule: &'static str,
    breaks: fn() -> Result<HloModuleProto>,
    keeps: fn() -> Result<HloModuleProto>,
) -> Case {
    Case { rule, target: Generation::Trn1, allow: &[], downcasts: &[], breaks, keeps }
}

/// All cases, by family of rules.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    let families = [
        elements::CASES,
        opcodes::CASES,
        computations::CASES,
        integers::CASES,
        indices::CASES,
        windows::CASES,
        kernels::CASES,
        collectives::CASES,
        entry::CASES,
    ];
    families.into_iter().flatten()
}

impl Case {
    /// Both modules as text, each with what is found in it.
    ///
    /// # Errors
    /// When a module cannot be made, the one does not break the rule, or the other breaks any.
    pub fn describe(&self) -> std::result::Result<String, String> {
        let make = |make: fn() -> Result<HloModuleProto>| make().map_err(|error| format!("{}: {error}", self.rule));
        let (breaks, keeps) = (Graph::new(make(self.breaks)?), Graph::new(make(self.keeps)?));
        let (found, clean) = (self.findings(&breaks), self.findings(&keeps));
        if !found.iter().any(|finding| finding.rule.id == self.rule) {
            return Err(format!(
                "the module does not break `{}`:\n{}",
                self.rule,
                halite_hlo::text::print(breaks.module())
            ));
        }
        if let Some(finding) = clean.first() {
            let text = halite_hlo::text::print(keeps.module());
            return Err(format!("the other module breaks `{}`: {}\n{text}", finding.rule.id, finding.found));
        }
        let mut text = format!("{}, breaks it:\n\n{}\n", self.target, halite_hlo::text::print(breaks.module()));
        found.iter().for_each(|finding| text.push_str(&render(finding)));
        write!(text, "\nbreaks nothing:\n\n{}", halite_hlo::text::print(keeps.module()))
            .map_err(|error| error.to_string())?;
        Ok(text)
    }

    fn findings<'a>(&self, graph: &'a Graph) -> Vec<Finding<'a>> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let (allow, downcasts) = (owned(self.allow), owned(self.downcasts));
        let profile = Profile { allow, downcasts, ..Profile::new(self.target) };
        check(graph, &profile).into_iter().filter(|finding| !finding.allowed).collect()
    }
}

fn render(finding: &Finding<'_>) -> String {
    let Finding { rule, found, code, provenance, instruction, .. } = finding;
    let place = instruction.map_or_else(|| "the module".to_owned(), |inst| format!("%{}", inst.name));
    let code = code.map_or_else(String::new, |code| format!(" (NCC_{code})"));
    let (level, source, basis) = (rule.level.name(), &provenance.source, provenance.basis.name());
    format!("{level} {} at {place}{code}: {found}\n  source: {source} ({basis}, read {})\n", rule.id, provenance.read)
}

/// A module with these parameters, named `a`, `b` and so on; `make` gives its results.
fn module(
    params: &[ArrayType],
    make: impl FnOnce(&mut ComputationBuilder<'_>, &[Id]) -> Result<Vec<Id>>,
) -> Result<HloModuleProto> {
    let mut module = ModuleBuilder::new("module");
    let mut entry = module.computation("main");
    let names = ('a'..='z').map(String::from);
    let params = params.iter().zip(names).map(|(ty, name)| entry.parameter(name, ty.clone()));
    let params = params.collect::<Result<Vec<_>>>()?;
    let results = make(&mut entry, &params)?;
    let root = entry.root_tuple(&results)?;
    entry.finish(root)?;
    module.finish()
}

/// A module that does one thing with one parameter.
fn single(ty: ArrayType, make: impl FnOnce(&mut ComputationBuilder<'_>, Id) -> Result<Id>) -> Result<HloModuleProto> {
    module(&[ty], |b, params| Ok(vec![make(b, params[0])?]))
}

/// An array type.
fn array<const N: usize>(dtype: DType, shape: [usize; N]) -> ArrayType {
    ArrayType::new(dtype, shape)
}

/// `f32[4,8]`.
fn matrix() -> ArrayType {
    array(DType::F32, [4, 8])
}

/// `x` between 0 and a bound.
fn clamped(b: &mut ComputationBuilder<'_>, x: Id, bound: f64) -> Result<Id> {
    let ArrayType { dtype, shape } = b.array(x)?.clone();
    let mut filled = |value| {
        let value = b.constant_scalar(dtype, value)?;
        b.broadcast(value, &shape, &[])
    };
    let (low, high) = (filled(0.0)?, filled(bound)?);
    b.clamp(low, x, high)
}

/// Changes the first instruction of this opcode in the entry.
fn edit(
    module: Result<HloModuleProto>,
    opcode: &str,
    change: impl FnOnce(&mut HloInstructionProto),
) -> Result<HloModuleProto> {
    let mut module = module?;
    let entry = module.computations.iter_mut().next_back();
    let inst = entry.and_then(|entry| entry.instructions.iter_mut().find(|inst| inst.opcode == opcode));
    change(inst.expect("the module was made with an instruction of this opcode"));
    Ok(module)
}

/// Gives the first instruction of an opcode in the entry another one, which the builder does not have.
fn renamed(module: Result<HloModuleProto>, opcode: &str, other: &str) -> Result<HloModuleProto> {
    edit(module, opcode, |inst| {
        inst.opcode = other.to_owned().into();
        inst.name = format!("{other}.{}", inst.id).into();
    })
}

/// Changes every shape of the module.
fn reshaped(module: Result<HloModuleProto>, change: impl Fn(&mut ShapeProto) + Copy) -> Result<HloModuleProto> {
    fn walk(shape: &mut ShapeProto, change: impl Fn(&mut ShapeProto) + Copy) {
        change(shape);
        shape.tuple_shapes.iter_mut().for_each(|part| walk(part, change));
    }
    let mut module = module?;
    let programs = module.computations.iter_mut().filter_map(|computation| computation.program_shape.as_mut());
    for program in programs.chain(&mut module.host_program_shape) {
        program.parameters.iter_mut().chain(&mut program.result).for_each(|shape| walk(shape, change));
    }
    let all = module.computations.iter_mut().flat_map(|computation| &mut computation.instructions);
    all.filter_map(|inst| inst.shape.as_mut()).for_each(|shape| walk(shape, change));
    Ok(module)
}
