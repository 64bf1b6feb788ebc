//! What XLA would reject, or abort the process on, found in the messages beforehand.
//!
//! Checked for every module: ids and names are unique, operands and callees are defined before use, roots exist, stated
//! program shapes are those of parameters and root, layouts are permutations, literals have as many elements as their
//! shape, aliases and donations join existing arrays of one type. For every opcode of our set, the type is
//! inferred again from operands and attributes and compared with the stated one. Opcodes and element types beyond our set
//! give a warning that they were not checked: a module is sound when no finding is an error.

mod callee;
mod instruction;

use crate::opcode::Opcode;
use crate::proto::{
    HloComputationProto, HloInstructionProto, HloModuleProto, LayoutProto, ProgramShapeProto, ShapeProto,
};
use crate::types::{self, TUPLE, Type};
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that is wrong with the module, in its order.
pub fn check(module: &HloModuleProto) -> Diagnostics {
    let mut checker = Checker::default();
    for computation in &module.computations {
        checker.computation(computation);
    }
    checker.entry(module);
    checker.findings
}

/// Types of a checked computation; `None` where they are wrong or outside our set.
struct Checked {
    parameters: Vec<Option<Type>>,
    result: Option<Type>,
    /// Instructions other than parameters.
    ops: usize,
}

/// The type of an instruction: inside our set, or XLA's but not ours.
type Stated = Option<Type>;

/// Instructions so far of the computation at hand; looked up only, never walked.
type Defined = FxHashMap<i64, Stated>;

#[derive(Default)]
struct Checker<'a> {
    findings: Diagnostics,
    computations: FxHashMap<i64, Checked>,
    computation_names: FxHashSet<&'a str>,
    instruction_ids: FxHashSet<i64>,
    instruction_names: FxHashSet<&'a str>,
}

impl<'a> Checker<'a> {
    fn keep<T>(&mut self, context: impl FnOnce() -> String, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(finding) => {
                self.findings.push(finding.context(context()));
                None
            }
        }
    }

    fn computation(&mut self, computation: &'a HloComputationProto) {
        let context = || format!("computation `{}`", computation.name);
        if !self.computation_names.insert(&computation.name) {
            self.findings
                .push(Diagnostic::error(codes::DUPLICATE, "another computation has this name").context(context()));
        }
        let mut defined = Defined::default();
        for inst in &computation.instructions {
            let ty = self.instruction(inst, &defined);
            defined.insert(inst.id, ty);
        }
        let parameters = self.keep(context, parameters(computation, &defined)).unwrap_or_default();
        let result = defined.get(&computation.root_id).cloned();
        if result.is_none() {
            let message = format!("the root {} is not one of its instructions", computation.root_id);
            self.findings.push(Diagnostic::error(codes::UNDEFINED_VALUE, message).context(context()));
        }
        let result = result.flatten();
        let program = computation.program_shape.as_ref();
        self.keep(context, program_matches(program, &parameters, result.as_ref()));
        let ops = computation.instructions.iter().filter(|inst| inst.opcode != Opcode::Parameter.name()).count();
        let checked = Checked { parameters, result, ops };
        if self.computations.insert(computation.id, checked).is_some() {
            let message = format!("another computation has the id {}", computation.id);
            self.findings.push(Diagnostic::error(codes::DUPLICATE, message).context(context()));
        }
    }

    fn instruction(&mut self, inst: &'a HloInstructionProto, defined: &Defined) -> Stated {
        let context = || format!("instruction `{}`", inst.name);
        if !self.instruction_ids.insert(inst.id) {
            let message = format!("another instruction has the id {}", inst.id);
            self.findings.push(Diagnostic::error(codes::DUPLICATE, message).context(context()));
        }
        if inst.name.is_empty() || !self.instruction_names.insert(&inst.name) {
            self.findings
                .push(Diagnostic::error(codes::DUPLICATE, "names must be unique and not empty").context(context()));
        }
        let stated = self.keep(context, stated_type(inst.shape.as_ref()))?;
        let operands = self.keep(context, operands(inst, defined))?;
        let inferred = self.keep(context, self.infer(inst, stated.as_ref(), &operands))?;
        match (&stated, inferred) {
            (Some(stated), Some(inferred)) if *stated != inferred => {
                let message = format!("`{}` gives `{inferred}`, but `{stated}` is stated", inst.opcode);
                self.findings.push(Diagnostic::error(codes::TYPE_MISMATCH, message).context(context()));
            }
            (Some(_), Some(_)) => {}
            (None, _) | (_, None) => {
                let message = format!("`{}` on these types is outside the checked set", inst.opcode);
                self.findings.push(Diagnostic::warning(codes::UNKNOWN_OP, message).context(context()));
            }
        }
        stated
    }

    fn entry(&mut self, module: &HloModuleProto) {
        let context = || format!("module `{}`", module.name);
        if module.name.is_empty() {
            self.findings.push(Diagnostic::error(codes::UNDEFINED_VALUE, "the module has no name"));
        }
        let entry = module.computations.iter().find(|computation| computation.id == module.entry_computation_id);
        let Some(entry) = entry else {
            let message = format!("the entry {} is not one of its computations", module.entry_computation_id);
            self.findings.push(Diagnostic::error(codes::UNDEFINED_VALUE, message).context(context()));
            return;
        };
        if entry.name != module.entry_computation_name {
            let message = format!("the entry is `{}`, but `{}` is stated", entry.name, module.entry_computation_name);
            self.findings.push(Diagnostic::error(codes::UNDEFINED_VALUE, message).context(context()));
        }
        let Some(checked) = self.computations.get(&entry.id) else { return };
        let program = program_matches(module.host_program_shape.as_ref(), &checked.parameters, checked.result.as_ref());
        let aliases = aliases(module, checked).and_then(|()| donors(module, checked));
        self.keep(context, program);
        self.keep(context, aliases);
    }
}

/// The type a shape states; `None` when some element type is XLA's but not ours.
fn stated_type(shape: Option<&ShapeProto>) -> Result<Stated> {
    let shape = shape.ok_or_else(|| Diagnostic::error(codes::SHAPE, "it has no shape"))?;
    require_layouts(shape)?;
    if has_foreign_element(shape) { Ok(None) } else { Type::from_proto(shape).map(Some) }
}

fn has_foreign_element(shape: &ShapeProto) -> bool {
    let number = shape.element_type;
    match number {
        TUPLE => shape.tuple_shapes.iter().any(has_foreign_element),
        _ => types::dtype(number).is_none() && types::element_name(number).is_some(),
    }
}

fn require_layouts(shape: &ShapeProto) -> Result<()> {
    shape.tuple_shapes.iter().try_for_each(require_layouts)?;
    let Some(LayoutProto { minor_to_major, .. }) = &shape.layout else { return Ok(()) };
    let mut dims = minor_to_major.clone();
    dims.sort_unstable();
    if dims.iter().copied().eq(0..shape.dimensions.len() as i64) {
        return Ok(());
    }
    let message = format!("the layout {minor_to_major:?} is no permutation of {} dimensions", shape.dimensions.len());
    Err(Diagnostic::error(codes::SHAPE, message))
}

fn operands<'t>(inst: &HloInstructionProto, defined: &'t Defined) -> Result<Vec<Option<&'t Type>>> {
    for id in &inst.control_predecessor_ids {
        if !defined.contains_key(id) {
            let message = format!("the control predecessor {id} is not defined before it");
            return Err(Diagnostic::error(codes::UNDEFINED_VALUE, message));
        }
    }
    let find = |id: &i64| {
        let missing =
            || Diagnostic::error(codes::UNDEFINED_VALUE, format!("the operand {id} is not defined before it"));
        defined.get(id).map(Option::as_ref).ok_or_else(missing)
    };
    inst.operand_ids.iter().map(find).collect()
}

/// Parameter types by number: dense from 0.
fn parameters(computation: &HloComputationProto, defined: &Defined) -> Result<Vec<Stated>> {
    let mut numbered = BTreeMap::new();
    let is_parameter = |inst: &&HloInstructionProto| inst.opcode == Opcode::Parameter.name();
    for inst in computation.instructions.iter().filter(is_parameter) {
        let ty = defined.get(&inst.id).cloned().flatten();
        if numbered.insert(inst.parameter_number, ty).is_some() {
            let message = format!("two parameters have the number {}", inst.parameter_number);
            return Err(Diagnostic::error(codes::DUPLICATE, message));
        }
    }
    if !numbered.keys().copied().eq(0..numbered.len() as i64) {
        let message = format!("its {} parameters are not numbered from 0 without gaps", numbered.len());
        return Err(Diagnostic::error(codes::ATTRIBUTE, message));
    }
    Ok(numbered.into_values().collect())
}

fn program_matches(program: Option<&ProgramShapeProto>, parameters: &[Stated], result: Option<&Type>) -> Result<()> {
    let program = program.ok_or_else(|| Diagnostic::error(codes::SHAPE, "it has no program shape"))?;
    if program.parameters.len() != parameters.len() {
        let message =
            format!("the program shape has {} parameters, found {}", program.parameters.len(), parameters.len());
        return Err(Diagnostic::error(codes::TYPE_MISMATCH, message));
    }
    let differs = |stated: &Stated, found: Option<&Type>| matches!((stated, found), (Some(a), Some(b)) if a != b);
    for (number, (shape, found)) in program.parameters.iter().zip(parameters).enumerate() {
        if differs(&stated_type(Some(shape))?, found.as_ref()) {
            let message = format!("the program shape gives parameter {number} another type");
            return Err(Diagnostic::error(codes::TYPE_MISMATCH, message));
        }
    }
    if differs(&stated_type(program.result.as_ref())?, result) {
        return Err(Diagnostic::error(codes::TYPE_MISMATCH, "the program shape gives the result another type"));
    }
    Ok(())
}

fn aliases(module: &HloModuleProto, entry: &Checked) -> Result<()> {
    let (mut outputs, mut inputs) = (BTreeSet::new(), BTreeSet::new());
    for alias in module.input_output_alias.iter().flat_map(|alias| &alias.entries) {
        let fault = |what: &str| {
            let (parameter, output) = (alias.parameter_number, &alias.output_shape_index);
            Err(Diagnostic::error(
                codes::ATTRIBUTE,
                format!("the alias of parameter {parameter} and result {output:?} {what}"),
            ))
        };
        let parameter = usize::try_from(alias.parameter_number).ok().and_then(|number| entry.parameters.get(number));
        let Some(parameter) = parameter else { return fault("names something that does not exist") };
        if !(0..=2).contains(&alias.kind) {
            return fault("is of an unknown kind");
        }
        if !outputs.insert(&alias.output_shape_index) {
            return fault("names a result that is already aliased");
        }
        if !inputs.insert((alias.parameter_number, &alias.parameter_shape_index)) {
            return fault("names a parameter that is already aliased");
        }
        let (Some(parameter), Some(result)) = (parameter, &entry.result) else { continue };
        match (element(parameter, &alias.parameter_shape_index), element(result, &alias.output_shape_index)) {
            (Some(Type::Array(from)), Some(Type::Array(to))) if from == to => {}
            (Some(_), Some(_)) => return fault("joins different types"),
            _ => return fault("names something that does not exist"),
        }
    }
    Ok(())
}

fn donors(module: &HloModuleProto, entry: &Checked) -> Result<()> {
    for donor in module.buffer_donor.iter().flat_map(|donor| &donor.entries) {
        let parameter = usize::try_from(donor.parameter_number).ok().and_then(|number| entry.parameters.get(number));
        let exists = match parameter {
            Some(Some(ty)) => element(ty, &donor.parameter_shape_index).is_some(),
            other => other.is_some(),
        };
        if !exists {
            let message = format!("the donated parameter {} does not exist", donor.parameter_number);
            return Err(Diagnostic::error(codes::ATTRIBUTE, message));
        }
    }
    Ok(())
}

/// The part of a type that an index into nested tuples names.
fn element<'t>(ty: &'t Type, index: &[i64]) -> Option<&'t Type> {
    index.iter().try_fold(ty, |ty, position| match ty {
        Type::Tuple(items) => items.get(usize::try_from(*position).ok()?),
        Type::Array(_) => None,
    })
}
