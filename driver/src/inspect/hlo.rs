//! Figures and pictures of HLO modules.

use super::{Figures, Summary};
use halite_hlo::graph::{Computation, Graph};
use halite_hlo::proto::ShapeProto;
use halite_hlo::{Opcode, Type, cost};
use halite_support::{Diagnostic, Result, codes};
use std::fmt::Write as _;

/// The figures of a module's entry; scopes are cut to `depth` levels. In place of each call stand the instructions of its
/// callee, in their own scopes.
///
/// # Errors
/// When the module has no entry.
pub fn summarize(graph: &Graph, depth: usize) -> Result<Summary> {
    let mut summary = Summary::new(&graph.module().name);
    for (computation, times) in executed(graph)? {
        for at in counted(graph, computation) {
            let path = graph.inst(at).metadata.as_ref().map_or("", |metadata| &metadata.op_name);
            let figures = Figures::of(cost::flops(graph, at), graph.shape(at).map_or(0, ShapeProto::num_bytes));
            summary.add(graph.opcode(at), path, depth, figures.times(times));
        }
    }
    summary.sort();
    Ok(summary)
}

/// The number of instructions that the entry and its callees have as they are written: those of a callee count once, however often it
/// is called; those of reducers do not count.
///
/// # Errors
/// When the module has no entry.
pub(crate) fn num_instructions(graph: &Graph) -> Result<u64> {
    Ok(executed(graph)?.into_iter().map(|(computation, _)| computation.range().len() as u64).sum())
}

/// The instructions that figures are about: calls hand values over, and so do the parameters of their callees.
fn counted<'g>(graph: &'g Graph, computation: &Computation) -> impl Iterator<Item = usize> + 'g {
    let is_entry = graph.entry().is_some_and(|entry| entry.first == computation.first);
    let passes_on = move |at: usize| graph.is(at, Opcode::Call) || !is_entry && graph.is(at, Opcode::Parameter);
    computation.range().filter(move |&at| !passes_on(at))
}

/// The computations that the entry calls, directly or through others, itself included, with how often each is executed.
fn executed(graph: &Graph) -> Result<Vec<(&Computation, u64)>> {
    entry(graph)?;
    Ok(graph.computations().iter().zip(graph.executions()).filter(|(_, times)| *times > 0).collect())
}

fn entry(graph: &Graph) -> Result<&Computation> {
    graph.entry().ok_or_else(|| {
        Diagnostic::error(codes::FILE, "the HLO module has no entry").help("give the `.hlo.pb` file of a bundle")
    })
}

/// The entry as a graph in the DOT language.
///
/// # Errors
/// When the module has no entry.
pub fn dot(graph: &Graph) -> Result<String> {
    let mut text =
        format!("digraph \"{}\" {{\n  node [shape=box, fontname=\"Helvetica\"];\n", escape(&graph.module().name));
    for at in entry(graph)?.range() {
        let inst = graph.inst(at);
        let ty = graph.shape(at).and_then(|shape| Type::from_proto(shape).ok());
        let ty = ty.map(|ty| ty.to_string()).unwrap_or_default();
        let label = format!("{}\\n{}\\n{}", escape(&inst.name), escape(&inst.opcode), escape(&ty));
        writeln!(text, "  n{} [label=\"{label}\"];", inst.id).expect("writing to a string cannot fail");
        for operand in &inst.operand_ids {
            writeln!(text, "  n{operand} -> n{};", inst.id).expect("writing to a string cannot fail");
        }
    }
    text.push_str("}\n");
    Ok(text)
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_hlo::proto::HloModuleProto;
    use halite_hlo::{ArrayType, DotDims, ModuleBuilder, UnaryOp};
    use halite_tensor::DType;

    fn example() -> Graph {
        let mut module = ModuleBuilder::new("m");
        let mut main = module.computation("main");
        let x = main.parameter("x", ArrayType::new(DType::F32, [4, 8])).unwrap();
        let w = main.parameter("w", ArrayType::new(DType::F32, [16, 8])).unwrap();
        let dims = DotDims {
            lhs_contracting: [1].as_slice().into(),
            rhs_contracting: [1].as_slice().into(),
            ..DotDims::default()
        };
        let y = main.dot(x, w, &dims, DType::F32).unwrap();
        let y = main.unary(UnaryOp::Tanh, y).unwrap();
        let root = main.root_tuple(&[y]).unwrap();
        main.finish(root).unwrap();
        Graph::new(module.finish().unwrap())
    }

    #[test]
    fn products_count_two_operations_each() {
        let summary = summarize(&example(), 3).unwrap();
        let figures = |op: &str| (summary.by_op[op].flops, summary.by_op[op].bytes);
        assert_eq!(figures("dot"), (2 * 4 * 16 * 8, 4 * 16 * 4));
        assert_eq!(figures("tanh"), (64, 256));
        assert_eq!(figures("parameter").0, 0);
        assert_eq!(summary.total.instructions, 5);
        assert_eq!(summary.by_op.keys().next().unwrap(), "dot");
    }

    #[test]
    fn callees_are_run_at_each_call_and_written_once() {
        let mut module = ModuleBuilder::new("m");
        let ty = || ArrayType::new(DType::F32, [4]);
        let mut twice = module.computation("twice");
        let x = twice.parameter("x", ty()).unwrap();
        let root = twice.add(x, x).unwrap();
        let twice = twice.finish(root).unwrap();
        let mut four_times = module.computation("four_times");
        let x = four_times.parameter("x", ty()).unwrap();
        let y = four_times.call(twice, &[x]).unwrap();
        let root = four_times.call(twice, &[y]).unwrap();
        let four_times = four_times.finish(root).unwrap();
        let mut main = module.computation("main");
        let x = main.parameter("x", ty()).unwrap();
        let y = main.call(four_times, &[x]).unwrap();
        let z = main.call(twice, &[y]).unwrap();
        let root = main.root_tuple(&[z]).unwrap();
        main.finish(root).unwrap();

        let module = Graph::new(module.finish().unwrap());
        assert_eq!(num_instructions(&module).unwrap(), 2 + 3 + 4);
        let summary = summarize(&module, 3).unwrap();
        let expected = Figures { instructions: 3, flops: 12, bytes: 48 };
        assert_eq!(summary.by_op["add"], expected);
        assert_eq!(summary.by_op["parameter"].instructions, 1);
        assert_eq!(summary.total.instructions, 5);
        assert!(!summary.by_op.contains_key("call"));
    }

    #[test]
    fn graphs_have_nodes_and_edges() {
        let text = dot(&example()).unwrap();
        assert!(text.starts_with("digraph") && text.contains("->") && text.contains("f32[4,16]"), "{text}");
        assert!(dot(&Graph::new(HloModuleProto::default())).is_err());
    }
}
