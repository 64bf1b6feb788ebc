//! Views of functions and modules as petgraph graphs. The instruction list stays the truth.

mod dot;

pub use dot::{dot, dot_function};

use crate::infer::InferCx;
use crate::ops::Op;
use crate::syntax::{Def, FuncId, Function, Module, Phase, Value};
use halite_support::{Diagnostic, Result, codes};
use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, IntoNeighbors, Reversed, Visitable};
use rustc_hash::FxHashSet;

/// A node of a function's dependency graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Node {
    /// The parameter at this position.
    Param(usize),
    /// The instruction at this position.
    Inst(usize),
    /// The result at this position.
    Result(usize),
}

/// The dependencies of a function: an edge for each operand and each result, from where the value is defined to where it
/// is read.
#[derive(Clone, Debug)]
pub struct Dependencies {
    graph: DiGraph<Node, Value>,
    params: usize,
    insts: usize,
}

impl Dependencies {
    /// The dependencies of a verified function.
    pub fn new(function: &Function) -> Self {
        let (params, insts) = (function.params.len(), function.insts.len());
        let edges = function.insts.iter().map(|inst| inst.args.len()).sum::<usize>() + function.results.len();
        let graph = DiGraph::with_capacity(params + insts + function.results.len(), edges);
        let mut view = Self { graph, params, insts };
        let nodes = (0..params).map(Node::Param).chain((0..insts).map(Node::Inst));
        for node in nodes.chain((0..function.results.len()).map(Node::Result)) {
            view.graph.add_node(node);
        }
        for (at, inst) in function.insts.iter().enumerate() {
            for &arg in &inst.args {
                view.graph.add_edge(view.definition(function, arg), view.index(Node::Inst(at)), arg);
            }
        }
        for (at, result) in function.results.iter().enumerate() {
            let from = view.definition(function, result.value);
            view.graph.add_edge(from, view.index(Node::Result(at)), result.value);
        }
        view
    }

    /// The nodes, with an edge from what makes a value to each that reads it.
    pub fn graph(&self) -> &DiGraph<Node, Value> {
        &self.graph
    }

    /// The index of a node in the graph.
    pub fn index(&self, node: Node) -> NodeIndex {
        NodeIndex::new(match node {
            Node::Param(at) => at,
            Node::Inst(at) => self.params + at,
            Node::Result(at) => self.params + self.insts + at,
        })
    }

    fn definition(&self, function: &Function, value: Value) -> NodeIndex {
        self.index(match function.values[value.index()].def {
            Def::Param(at) => Node::Param(at as usize),
            Def::Inst(at, _) => Node::Inst(at as usize),
        })
    }

    /// Flags of the nodes that are reached along edges from any of `start`, these included; indexed as the graph.
    pub fn reached_from(&self, start: impl IntoIterator<Item = Node>) -> Vec<bool> {
        self.reach(&self.graph, start)
    }

    /// Flags of the nodes that reach any of `end` along edges, these included; indexed as the graph.
    pub fn reaching(&self, end: impl IntoIterator<Item = Node>) -> Vec<bool> {
        self.reach(Reversed(&self.graph), end)
    }

    fn reach<G>(&self, graph: G, start: impl IntoIterator<Item = Node>) -> Vec<bool>
    where
        G: IntoNeighbors<NodeId = NodeIndex> + Visitable,
    {
        let mut reached = vec![false; self.graph.node_count()];
        let mut search = Dfs::empty(graph);
        search.stack = start.into_iter().map(|node| self.index(node)).collect();
        while let Some(node) = search.next(graph) {
            reached[node.index()] = true;
        }
        reached
    }
}

/// Flags of the instructions that a function needs: those that a result depends on, and those that may not be removed, with all that
/// they depend on. Indexed by position.
pub fn live_insts(cx: &InferCx<'_>, function: &Function) -> Vec<bool> {
    let mut read = vec![false; function.values.len()];
    function.results.iter().for_each(|result| read[result.value.index()] = true);
    let mut live = vec![false; function.insts.len()];
    for (inst, live) in function.insts.iter().zip(&mut live).rev() {
        let is_read = || inst.results.iter().any(|result| read[result.index()]);
        *live = is_read() || !inst.op.def().effect(cx).removable;
        if *live {
            inst.args.iter().for_each(|arg| read[arg.index()] = true);
        }
    }
    live
}

/// Flags of the values that depend on any of the given values, these included; indexed by value. A value that does not depend on a
/// trained weight is frozen.
pub fn depends_on(function: &Function, sources: &[Value]) -> Vec<bool> {
    let view = Dependencies::new(function);
    let given: FxHashSet<Value> = sources.iter().copied().collect();
    let readers = (0..function.insts.len()).filter(|&at| function.insts[at].args.iter().any(|arg| given.contains(arg)));
    let reached = view.reached_from(readers.map(Node::Inst));
    let depends = |value: usize| {
        let value = Value::new(value);
        let is_inst = function.def(value).is_some();
        given.contains(&value) || is_inst && reached[view.definition(function, value).index()]
    };
    (0..function.values.len()).map(depends).collect()
}

/// Flags of the functions that the entry of a verified module names, directly or through others; the entry counts as one. Indexed by
/// function.
pub fn reached_functions(module: &Module) -> Vec<bool> {
    reached_through(&module.functions, |_| true)
}

/// Flags of the functions that the last one names in ops for which `follows` holds, directly or through others; the last counts as one.
/// Callees come before callers.
pub(crate) fn reached_through(functions: &[Function], follows: impl Fn(&Op) -> bool) -> Vec<bool> {
    let mut reached = vec![false; functions.len()];
    if let Some(entry) = reached.last_mut() {
        *entry = true;
    }
    for (at, function) in functions.iter().enumerate().rev() {
        if reached[at] {
            let followed = function.insts.iter().filter(|inst| follows(&inst.op));
            followed.filter_map(|inst| inst.op.callee()).for_each(|callee| reached[callee.index()] = true);
        }
    }
    reached
}

/// Flags of the functions that state their gradients, until these are taken; indexed by function.
pub fn stating_gradients(module: &Module) -> Vec<bool> {
    let mut states = vec![false; module.functions.len()];
    if module.phase == Phase::Built {
        let ops = module.functions.iter().flat_map(|function| &function.insts).map(|inst| &inst.op);
        let calls = ops.filter_map(|op| if let Op::CallWithGradient(call) = op { Some(call.callee) } else { None });
        calls.for_each(|callee| states[callee.index()] = true);
    }
    states
}

/// The functions that give kernels their meaning, where the entry of a verified module reaches one; in their order.
pub fn decompositions(module: &Module) -> Vec<FuncId> {
    let mut is_decomposition = vec![false; module.functions.len()];
    for (function, _) in module.functions.iter().zip(reached_functions(module)).filter(|(_, reached)| *reached) {
        for inst in &function.insts {
            for edge in inst.edges().filter(|edge| !edge.runs) {
                is_decomposition[edge.callee.index()] = true;
            }
        }
    }
    (0..is_decomposition.len()).filter(|&at| is_decomposition[at]).map(FuncId::new).collect()
}

/// The functions of a module, callees before callers.
///
/// # Errors
/// When a function calls itself, directly or through others, or one that does not exist.
pub fn call_order(module: &Module) -> Result<Vec<FuncId>> {
    let mut graph: DiGraph<FuncId, ()> = DiGraph::new();
    let nodes: Vec<_> = (0..module.functions.len()).map(|at| graph.add_node(FuncId::new(at))).collect();
    for (function, &caller) in module.functions.iter().zip(&nodes) {
        for callee in function.insts.iter().filter_map(|inst| inst.op.callee()) {
            let missing = || {
                let message = format!("`@{}` calls a function that does not exist", function.name);
                Diagnostic::error(codes::UNDEFINED_VALUE, message)
            };
            graph.update_edge(*nodes.get(callee.index()).ok_or_else(missing)?, caller, ());
        }
    }
    let order = toposort(&graph, None).map_err(|cycle| {
        let name = &module.function(graph[cycle.node_id()]).name;
        Diagnostic::error(codes::UNDEFINED_VALUE, format!("`@{name}` calls itself")).help("unroll the recursion")
    })?;
    Ok(order.into_iter().map(|node| graph[node]).collect())
}
