//! Lifting a module.

use crate::aliases::replaced;
use crate::arrays::{Arrays, types};
use crate::lifted::Lifted;
use crate::location;
use crate::opaque::{Opaque, stated_name};
use crate::ops::{self, loops::rounds};
use crate::parameters;
use crate::ranks::Ranks;
use crate::site::Site;
use halite_hlo::graph::{Computation, Graph};
use halite_ir::{Builder, FuncId, Module, ParamRole, Registry, ResultRole, TensorType, Value};
use halite_support::{Diagnostic, Name, Result, codes};
use std::collections::{BTreeMap, BTreeSet};

/// A module of HLO as one of the IR, to run on `ranks`. The HLO is sound: [`halite_hlo::check`] finds no error in it.
///
/// # Errors
/// When it has no entry, or the size of an array is not static.
pub fn lift(graph: &Graph, ranks: usize) -> Result<Lifted> {
    let entry = graph.entry_number().ok_or_else(|| broken("the module has no entry"))?;
    let registry = Registry::builtin();
    let mut lifting = Lifting {
        graph,
        registry: &registry,
        ranks: Ranks::new(graph, ranks),
        functions: vec![None; graph.computations().len()],
        opaque: Opaque::default(),
        unfollowed: BTreeMap::new(),
    };
    let mut module = Module::new(graph.module().name.as_str());
    let followed = followed(graph, entry);
    for &number in &followed {
        lifting.function(&mut module, number, number == entry)?;
    }
    let instructions = followed.iter().flat_map(|&number| graph.computations()[number].range());
    let bodies = instructions.filter(|&at| rounds(graph, at).is_some()).filter_map(|at| graph.callee(at, 0));
    let rounds = bodies.filter_map(|body| lifting.functions[body]).collect::<BTreeSet<_>>().into_iter().collect();
    Ok(Lifted { module, unfollowed: lifting.unfollowed, rounds })
}

fn broken(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(codes::SHAPE, message)
}

/// The computations that the entry reaches by calls, fusions, branches and loops that are counted, callees first, the entry last.
fn followed(graph: &Graph, entry: usize) -> Vec<usize> {
    let mut reached = vec![false; entry + 1];
    reached[entry] = true;
    for number in (0..=entry).rev() {
        if !reached[number] {
            continue;
        }
        for at in graph.computations()[number].range() {
            match graph.opcode(at) {
                "call" | "fusion" | "conditional" => {
                    graph.callees(at).flatten().for_each(|callee| reached[callee] = true)
                }
                "while" if rounds(graph, at).is_some() => {
                    graph.callee(at, 0).iter().for_each(|&body| reached[body] = true)
                }
                _ => {}
            }
        }
    }
    (0..=entry).filter(|&number| reached[number]).collect()
}

struct Lifting<'a> {
    graph: &'a Graph,
    registry: &'a Registry,
    ranks: Ranks,
    /// The functions that computations have become.
    functions: Vec<Option<FuncId>>,
    opaque: Opaque,
    unfollowed: BTreeMap<String, usize>,
}

impl Lifting<'_> {
    fn function(&mut self, module: &mut Module, number: usize, is_entry: bool) -> Result<()> {
        let computation = &self.graph.computations()[number];
        let name = self.graph.module().computations[number].name.as_str();
        let mut b = Builder::new(module, self.registry, name);
        let mut values: Vec<Option<Arrays>> = vec![None; computation.range().len()];
        self.parameters(&mut b, computation, &mut values)?;
        for at in computation.range().filter(|&at| self.graph.opcode(at) != "parameter") {
            let result = self.instruction(&mut b, computation, at, &values)?;
            values[at - computation.first] = Some(result);
        }
        let root = computation.root.and_then(|root| values[root - computation.first].clone());
        let root = root.ok_or_else(|| broken(format!("`{name}` has no root")))?;
        let names = if is_entry { self.result_names(&b, root.values.len()) } else { Vec::new() };
        for (at, &value) in root.values.iter().enumerate() {
            b.named_result(value, names.get(at).cloned().unwrap_or_default(), ResultRole::Value);
        }
        self.functions[number] = Some(b.finish());
        Ok(())
    }

    /// Names of the results of the entry: their numbers, with the parameters whose place they take.
    fn result_names(&self, b: &Builder<'_>, count: usize) -> Vec<Name> {
        let (replaced, params) = (replaced(self.graph), &b.function().params);
        let name = |at: usize| match replaced.get(&at).and_then(|&param| params.get(param)) {
            Some(param) => format!("result {at} ({})", param.name).into(),
            None => format!("result {at}").into(),
        };
        (0..count).map(name).collect()
    }

    /// The parameters in the order of their numbers, each array of one a parameter of the function.
    fn parameters(&self, b: &mut Builder<'_>, computation: &Computation, values: &mut [Option<Arrays>]) -> Result<()> {
        for (at, names) in parameters::named(self.graph, computation) {
            let types = self.types(at)?.into_iter().zip(names);
            let params: Vec<Value> = types.map(|(ty, name)| b.param(name, ty, ParamRole::Argument)).collect();
            values[at - computation.first] = self.graph.shape(at).and_then(|shape| Arrays::new(shape, &params));
        }
        Ok(())
    }

    fn types(&self, at: usize) -> Result<Vec<TensorType>> {
        self.graph.shape(at).and_then(types).ok_or_else(|| {
            let help = "give HLO of static shapes";
            broken(format!("`{}` has a size that is not static", self.graph.inst(at).name)).help(help)
        })
    }

    fn instruction(
        &mut self,
        b: &mut Builder<'_>,
        computation: &Computation,
        at: usize,
        values: &[Option<Arrays>],
    ) -> Result<Arrays> {
        let graph = self.graph;
        let missing = || broken(format!("an operand of `{}` is not defined before it", graph.inst(at).name));
        let operands = graph.operands(at).map(|operand| values[operand? - computation.first].as_ref());
        let operands = operands.collect::<Option<Vec<&Arrays>>>().ok_or_else(missing)?;
        location::enter(b, graph, at);
        let types = self.types(at)?;
        let args = match (graph.opcode(at), operands.as_slice()) {
            ("get-tuple-element", [tuple]) => {
                let element = usize::try_from(graph.inst(at).tuple_index).ok();
                element.and_then(|element| tuple.element(element)).ok_or_else(missing)?.to_vec()
            }
            _ => operands.iter().flat_map(|operand| operand.values.iter().copied()).collect(),
        };
        let (ranks, functions) = (&self.ranks, self.functions.as_slice());
        let mut site = Site { graph, at, b, args: &args, types: &types, ranks, functions };
        let made = ops::lifted(&mut site).filter(|made| {
            made.len() == types.len() && made.iter().zip(&types).all(|(&value, ty)| site.b.ty(value) == ty)
        });
        let made = match made {
            Some(made) => made,
            None => {
                *self.unfollowed.entry(stated_name(graph, at).to_owned()).or_default() += 1;
                self.opaque.lifted(&mut site).ok_or_else(missing)?
            }
        };
        graph.shape(at).and_then(|shape| Arrays::new(shape, &made)).ok_or_else(missing)
    }
}
