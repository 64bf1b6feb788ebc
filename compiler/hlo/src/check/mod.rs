//! Checks of messages for faults that XLA would reject, or abort the process on.
//!
//! Checked for every module: ids and names are unique, operands and callees are defined before use, roots exist, stated
//! program shapes are those of parameters and root, layouts are permutations, literals have as many elements as their
//! shape, aliases and donations join existing arrays of one type. For every opcode of our set, the type is
//! inferred again from operands and attributes and compared with the stated one. Opcodes and element types beyond our set
//! give a warning that they were not checked: a module is sound when no finding is an error.

mod callee;
mod rules;
mod site;
mod stated;

use crate::attributes::ReplicaGroups;
use crate::graph::{Computation, Graph};
use crate::proto::{HloComputationProto, HloInstructionProto, HloModuleProto, ProgramShapeProto, ShapeProto, Shared};
use crate::shape::is_alike;
use crate::types::Type;
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use rustc_hash::FxHashSet;
use stated::{Stated, StatedTypes, stated_type};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Everything that is wrong with the module, in its order.
pub fn check(graph: &Graph) -> Diagnostics {
    check_each(graph).into_iter().map(|(_, finding)| finding).collect()
}

/// Everything that is wrong with the module, in its order, each with the position of its instruction in the graph where it is about one.
pub fn check_each(graph: &Graph) -> Vec<(Option<usize>, Diagnostic)> {
    let module = graph.module();
    let mut checker = Checker {
        stated: StatedTypes::with_capacity(graph.len()),
        is_numbered: is_numbered(graph),
        graph,
        findings: Vec::new(),
        at: None,
        computations: Vec::with_capacity(module.computations.len()),
        computation_ids: FxHashSet::default(),
        computation_names: FxHashSet::default(),
        instruction_ids: FxHashSet::default(),
        instruction_names: FxHashSet::default(),
        groups: RefCell::default(),
    };
    for (computation, proto) in graph.computations().iter().zip(&module.computations) {
        checker.computation(computation, proto);
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

struct Checker<'a> {
    graph: &'a Graph,
    findings: Vec<(Option<usize>, Diagnostic)>,
    /// The instruction that is checked.
    at: Option<usize>,
    /// The types of the instructions so far.
    stated: StatedTypes,
    /// Whether no two instructions have one id or one name.
    is_numbered: bool,
    /// The computations so far.
    computations: Vec<Checked>,
    computation_ids: FxHashSet<i64>,
    computation_names: FxHashSet<&'a str>,
    instruction_ids: FxHashSet<i64>,
    instruction_names: FxHashSet<&'a str>,
    /// Groups that were read lately, with an instruction that has them: a module of thousands of ranks has few lists of them, many times.
    groups: RefCell<Vec<(usize, Rc<ReplicaGroups>)>>,
}

impl<'a> Checker<'a> {
    fn find(&mut self, finding: Diagnostic) {
        self.findings.push((self.at, finding));
    }

    fn keep<T>(&mut self, context: impl FnOnce() -> String, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(finding) => {
                self.find(finding.context(context()));
                None
            }
        }
    }

    fn computation(&mut self, computation: &Computation, proto: &'a HloComputationProto) {
        let context = || format!("computation `{}`", proto.name);
        if !self.computation_names.insert(&proto.name) {
            self.find(Diagnostic::error(codes::DUPLICATE, "another computation has this name").context(context()));
        }
        for at in computation.range() {
            self.at = Some(at);
            self.instruction(at);
        }
        self.at = None;
        let parameters = self.keep(context, self.parameters(computation)).unwrap_or_default();
        if computation.root.is_none() {
            let message = format!("the root {} is not one of its instructions", proto.root_id);
            self.find(Diagnostic::error(codes::UNDEFINED_VALUE, message).context(context()));
        }
        let result = computation.root.and_then(|root| self.stated.of(root).cloned());
        self.keep(context, program_matches(proto.program_shape.as_ref(), &parameters, result.as_ref()));
        let ops = computation.range().len() - computation.parameters.len();
        self.computations.push(Checked { parameters, result, ops });
        if !self.computation_ids.insert(proto.id) {
            let message = format!("another computation has the id {}", proto.id);
            self.find(Diagnostic::error(codes::DUPLICATE, message).context(context()));
        }
    }

    /// Checks an instruction, whose type is known from then on.
    fn instruction(&mut self, at: usize) {
        let inst = self.graph.inst(at);
        let context = || format!("instruction `{}`", inst.name);
        if !self.is_numbered {
            self.unique(inst);
        }
        let stated = self.stated.add(inst.shape.as_deref());
        if self.keep(context, stated).is_none() {
            return;
        }
        let stated = self.stated.of(at);
        let inferred = self.operands(at).and_then(|operands| self.infer(at, stated, &operands));
        let finding = match (stated, inferred) {
            (_, Err(finding)) => Some(finding),
            (Some(stated), Ok(Some(inferred))) if *stated != inferred => {
                let message = format!("`{}` gives `{inferred}`, but `{stated}` is stated", inst.opcode);
                Some(Diagnostic::error(codes::TYPE_MISMATCH, message))
            }
            (Some(_), Ok(Some(_))) => None,
            (None, _) | (_, Ok(None)) => {
                let message = format!("`{}` on these types is outside the checked set", inst.opcode);
                Some(Diagnostic::warning(codes::UNKNOWN_OP, message))
            }
        };
        if let Some(finding) = finding {
            self.find(finding.context(context()));
        }
    }

    /// Keeps the id and the name of an instruction, which no other may have.
    fn unique(&mut self, inst: &'a HloInstructionProto) {
        let context = || format!("instruction `{}`", inst.name);
        if !self.instruction_ids.insert(inst.id) {
            let message = format!("another instruction has the id {}", inst.id);
            self.find(Diagnostic::error(codes::DUPLICATE, message).context(context()));
        }
        if inst.name.is_empty() || !self.instruction_names.insert(&inst.name) {
            self.find(Diagnostic::error(codes::DUPLICATE, "names must be unique and not empty").context(context()));
        }
    }

    /// The types of the operands, which stand before an instruction as what it waits for does.
    fn operands(&self, at: usize) -> Result<Vec<Option<&Type>>> {
        let inst = self.graph.inst(at);
        if let Some(missing) = self.graph.control_predecessors(at).position(|before| before.is_none()) {
            let message =
                format!("the control predecessor {} is not defined before it", inst.control_predecessor_ids[missing]);
            return Err(Diagnostic::error(codes::UNDEFINED_VALUE, message));
        }
        let find = |(operand, id): (Option<usize>, &i64)| {
            let missing =
                || Diagnostic::error(codes::UNDEFINED_VALUE, format!("the operand {id} is not defined before it"));
            operand.map(|operand| self.stated.of(operand)).ok_or_else(missing)
        };
        self.graph.operands(at).zip(&inst.operand_ids).map(find).collect()
    }

    /// Parameter types by number: dense from 0.
    fn parameters(&self, computation: &Computation) -> Result<Vec<Stated>> {
        let mut numbered = BTreeMap::new();
        for &at in &computation.parameters {
            let number = self.graph.inst(at).parameter_number;
            if numbered.insert(number, at).is_some() {
                let message = format!("two parameters have the number {number}");
                return Err(Diagnostic::error(codes::DUPLICATE, message));
            }
        }
        if !numbered.keys().copied().eq(0..numbered.len() as i64) {
            let message = format!("its {} parameters are not numbered from 0 without gaps", numbered.len());
            return Err(Diagnostic::error(codes::ATTRIBUTE, message));
        }
        Ok(numbered.into_values().map(|at| self.stated.of(at).cloned()).collect())
    }

    fn entry(&mut self, module: &HloModuleProto) {
        let context = || format!("module `{}`", module.name);
        if module.name.is_empty() {
            self.find(Diagnostic::error(codes::UNDEFINED_VALUE, "the module has no name"));
        }
        let graph = self.graph;
        let Some((entry, proto)) = graph.entry_number().map(|entry| (entry, &module.computations[entry])) else {
            let message = format!("the entry {} is not one of its computations", module.entry_computation_id);
            self.find(Diagnostic::error(codes::UNDEFINED_VALUE, message).context(context()));
            return;
        };
        if proto.name != module.entry_computation_name {
            let (name, stated) = (&proto.name, &module.entry_computation_name);
            let message = format!("the entry is `{name}`, but `{stated}` is stated");
            self.find(Diagnostic::error(codes::UNDEFINED_VALUE, message).context(context()));
        }
        let checked = &self.computations[entry];
        let program = program_matches(module.host_program_shape.as_ref(), &checked.parameters, checked.result.as_ref());
        let aliases = aliases(module, checked).and_then(|()| donors(module, checked));
        self.keep(context, program.and_then(|()| is_of_entry(module, proto)));
        self.keep(context, aliases);
    }
}

/// Whether the program shape of a module is that of its entry, also where types are outside our set: XLA ends the process where it is not.
fn is_of_entry(module: &HloModuleProto, entry: &HloComputationProto) -> Result<()> {
    let (Some(program), Some(own)) = (&module.host_program_shape, &entry.program_shape) else { return Ok(()) };
    let results = [program, own].map(|program| program.result.as_slice());
    let is_one = |one: &[Shared<ShapeProto>], other: &[Shared<ShapeProto>]| {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_alike(one, other))
    };
    if is_one(&program.parameters, &own.parameters) && is_one(results[0], results[1]) {
        return Ok(());
    }
    Err(Diagnostic::error(codes::TYPE_MISMATCH, "the program shape is not that of the entry"))
}

/// Whether ids ascend, and each name ends in the id of its instruction: then none is there twice.
fn is_numbered(graph: &Graph) -> bool {
    let ends_in = |name: &str, id: i64| {
        let number = name.rsplit_once('.').map_or("", |(_, number)| number);
        !number.starts_with(['0', '+', '-']) && number.parse() == Ok(id) || (number == "0" && id == 0)
    };
    (0..graph.len())
        .all(|at| (at == 0 || graph.id(at - 1) < graph.id(at)) && ends_in(&graph.inst(at).name, graph.id(at)))
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
    if differs(&stated_type(program.result.as_deref())?, result) {
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
