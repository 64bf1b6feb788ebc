//! The interface of the entry, and the order of the module.

use super::Checker;
use super::describe::describe;
use crate::tables::Condition;
use halite_hlo::Opcode;
use halite_hlo::graph::{Computation, Lifetimes};
use halite_hlo::proto::ShapeProto;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// The number of an instruction, if the finding is about one, and the problem.
type Found = (Option<usize>, String);

impl Checker<'_, '_> {
    /// Everything in the module as a whole that meets a condition.
    pub(super) fn module_breaks(&self, condition: &Condition) -> Vec<Found> {
        match (condition, self.graph.entry()) {
            (Condition::Order, _) => self.order(),
            (Condition::GroupLists, _) => self.group_lists().into_iter().collect(),
            (Condition::Layout, Some(entry)) => self.layout(entry),
            (Condition::ResultType(refused), Some(entry)) => self.result_type(entry, refused),
            (Condition::UnusedParameter, Some(entry)) => self.unused_parameters(entry),
            (Condition::Passthrough, Some(entry)) => self.passthrough(entry),
            (Condition::AliasedRead, Some(entry)) => self.aliased_reads(entry),
            _ => Vec::new(),
        }
    }

    /// The instructions that give the results: the operands of a tuple, or the root itself.
    fn results(&self, entry: &Computation) -> Vec<usize> {
        match entry.root {
            Some(root) if self.graph.is(root, Opcode::Tuple) => self.graph.operands(root).flatten().collect(),
            root => root.into_iter().collect(),
        }
    }

    fn layout(&self, entry: &Computation) -> Vec<Found> {
        let of = |at: usize| {
            self.graph.shape(at).into_iter().flat_map(ShapeProto::arrays).find(|shape| !is_row_major(shape))
        };
        let stated = self.graph.module().host_program_shape.iter();
        let stated = stated
            .flat_map(|program| program.parameters.iter().chain(&program.result))
            .flat_map(|shape| shape.arrays());
        let ports = entry.parameters.iter().copied().chain(self.results(entry));
        let mut found: Vec<Found> = ports.filter_map(|at| of(at).map(|shape| (Some(at), laid_out(shape)))).collect();
        if found.is_empty() {
            found.extend(stated.filter(|shape| !is_row_major(shape)).map(|shape| (None, laid_out(shape))));
        }
        found
    }

    fn result_type(&self, entry: &Computation, refused: &[String]) -> Vec<Found> {
        let of = |at: usize| {
            let shape = self.graph.shape(at)?;
            let refused = refused.iter().any(|refused| refused == shape.element_name());
            refused.then(|| (Some(at), format!("a result is `{}`", describe(Some(shape)))))
        };
        self.results(entry).into_iter().filter_map(of).collect()
    }

    /// When the results of the entry's instructions are last read; what the root reads counts if asked for.
    fn lives(&self, entry: &Computation, with_root: bool) -> Lifetimes {
        let counts = move |at: usize| entry.root != Some(at) || with_root;
        Lifetimes::new(entry.range().len(), 0..entry.range().len(), |node| {
            let at = entry.first + node;
            let operands = self.graph.operands(at).flatten().map(|operand| operand - entry.first);
            operands.filter(move |_| counts(at))
        })
    }

    fn unused_parameters(&self, entry: &Computation) -> Vec<Found> {
        let lives = self.lives(entry, true);
        let is_read =
            |at: usize| Some(at) == entry.root || lives.last(at - entry.first) > lives.begin(at - entry.first);
        let say =
            |at: usize| (Some(at), format!("parameter {} is read by nothing", self.graph.inst(at).parameter_number));
        entry.parameters.iter().filter(|&&at| !is_read(at)).map(|&at| say(at)).collect()
    }

    fn passthrough(&self, entry: &Computation) -> Vec<Found> {
        let parameter = |&at: &usize| self.graph.is(at, Opcode::Parameter);
        let say =
            |at: usize| (Some(at), format!("parameter {} is a result as it is", self.graph.inst(at).parameter_number));
        self.results(entry).into_iter().filter(parameter).map(say).collect()
    }

    fn aliased_reads(&self, entry: &Computation) -> Vec<Found> {
        let lives = self.lives(entry, false);
        let number = |&at: &usize| (self.graph.inst(at).parameter_number, at);
        let parameters: BTreeMap<i64, usize> = entry.parameters.iter().map(number).collect();
        let results = self.results(entry);
        let aliases = self.graph.module().input_output_alias.iter().flat_map(|alias| &alias.entries);
        let read_late = |alias: &halite_hlo::proto::AliasEntryProto| {
            let index = alias.output_shape_index.first().map_or(Some(0), |index| usize::try_from(*index).ok())?;
            let (written, parameter) = (*results.get(index)?, *parameters.get(&alias.parameter_number)?);
            let read = entry.first + lives.last(parameter - entry.first) as usize;
            if read <= written {
                return None;
            }
            let (read_name, written_name) = (&self.graph.inst(read).name, &self.graph.inst(written).name);
            let number = alias.parameter_number;
            let message = format!("parameter {number} is read by `{read_name}`, after `{written_name}` replaces it");
            Some((Some(read), message))
        };
        aliases.filter_map(read_late).collect()
    }

    fn order(&self) -> Vec<Found> {
        let mut found = Vec::new();
        let module = self.graph.module();
        if module.computations.last().is_some_and(|last| last.id != module.entry_computation_id) {
            found.push((None, "the entry is not the last computation".to_owned()));
        }
        let mut ids = FxHashSet::default();
        ids.reserve(self.graph.len());
        for at in 0..self.graph.len() {
            if !ids.insert(self.graph.id(at)) {
                found.push((Some(at), format!("another instruction has the id {}", self.graph.id(at))));
            }
            if self.graph.callees(at).any(|callee| callee.is_none()) {
                let opcode = self.graph.opcode(at);
                found.push((Some(at), format!("`{opcode}` calls a computation that does not stand before it")));
            }
        }
        found
    }
}

fn is_row_major(shape: &ShapeProto) -> bool {
    let order = shape.layout.as_ref().map_or(&[][..], |layout| &layout.minor_to_major);
    order.is_empty() || order.iter().rev().copied().eq(0..order.len() as i64)
}

fn laid_out(shape: &ShapeProto) -> String {
    let order = shape.layout.as_ref().map_or(&[][..], |layout| &layout.minor_to_major);
    format!("`{}` has the layout {order:?}, minor to major", describe(Some(shape)))
}
