//! Figures and pictures of HLO modules.

use super::{Figures, Summary};
use halite_hlo::proto::{HloComputationProto, HloInstructionProto, HloModuleProto};
use halite_hlo::{ArrayType, BinaryOp, Type, UnaryOp};
use halite_support::{Diagnostic, Result, codes};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The opcode of calls.
const CALL: &str = "call";
/// The opcode of parameters.
const PARAMETER: &str = "parameter";

/// The figures of a module's entry; scopes are cut to `depth` levels. In place of each call stand the instructions of its
/// callee, in their own scopes.
///
/// # Errors
/// When the module has no entry.
pub fn summarize(module: &HloModuleProto, depth: usize) -> Result<Summary> {
    let mut summary = Summary::new(&module.name);
    for (computation, times) in executions(module)? {
        let types = types(computation);
        for inst in counted(module, computation) {
            let path = inst.metadata.as_ref().map_or("", |metadata| &metadata.op_name);
            let bytes = types.get(&inst.id).map_or(0, bytes);
            summary.add(&inst.opcode, path, depth, Figures::of(flops(inst, &types), bytes).times(times));
        }
    }
    summary.sort();
    Ok(summary)
}

/// How many instructions the entry has, those of a callee counted at each call; reducers not counted.
///
/// # Errors
/// When the module has no entry.
pub(crate) fn num_instructions(module: &HloModuleProto) -> Result<u64> {
    let of = |(computation, times): (&HloComputationProto, u64)| {
        times.saturating_mul(counted(module, computation).count() as u64)
    };
    Ok(executions(module)?.into_iter().map(of).fold(0, u64::saturating_add))
}

/// The instructions that figures are about: calls hand values over, and so do the parameters of their callees.
fn counted<'m>(
    module: &HloModuleProto,
    computation: &'m HloComputationProto,
) -> impl Iterator<Item = &'m HloInstructionProto> {
    let is_entry = computation.id == module.entry_computation_id;
    let passes_on = move |inst: &HloInstructionProto| inst.opcode == CALL || inst.opcode == PARAMETER && !is_entry;
    computation.instructions.iter().filter(move |inst| !passes_on(inst))
}

/// The computations that the entry calls, directly or through others, itself included, with how often each is executed.
/// Callees come before callers in a sound module; other calls are not followed.
fn executions(module: &HloModuleProto) -> Result<Vec<(&HloComputationProto, u64)>> {
    let entry = entry(module)?;
    let mut times = BTreeMap::from([(entry.id, 1u64)]);
    let mut executed = Vec::new();
    for computation in module.computations.iter().rev() {
        let Some(&own) = times.get(&computation.id) else { continue };
        for call in computation.instructions.iter().filter(|inst| inst.opcode == CALL) {
            for id in &call.called_computation_ids {
                let count = times.entry(*id).or_default();
                *count = count.saturating_add(own);
            }
        }
        executed.push((computation, own));
    }
    Ok(executed)
}

/// The entry as a graph in the DOT language.
///
/// # Errors
/// When the module has no entry.
pub fn dot(module: &HloModuleProto) -> Result<String> {
    let entry = entry(module)?;
    let types = types(entry);
    let mut text = format!("digraph \"{}\" {{\n  node [shape=box, fontname=\"Helvetica\"];\n", escape(&module.name));
    for inst in &entry.instructions {
        let ty = types.get(&inst.id).map(|ty| ty.to_string()).unwrap_or_default();
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

fn entry(module: &HloModuleProto) -> Result<&HloComputationProto> {
    let found = module.computations.iter().find(|computation| computation.id == module.entry_computation_id);
    found.ok_or_else(|| {
        Diagnostic::error(codes::FILE, "the HLO module has no entry").help("give the `.hlo.pb` file of a bundle")
    })
}

type Types = BTreeMap<i64, Type>;

fn types(computation: &HloComputationProto) -> Types {
    let ty = |inst: &HloInstructionProto| Some((inst.id, Type::from_proto(inst.shape.as_ref()?).ok()?));
    computation.instructions.iter().filter_map(ty).collect()
}

fn elements(array: &ArrayType) -> u64 {
    array.num_elements().unwrap_or(usize::MAX) as u64
}

fn bytes(ty: &Type) -> u64 {
    match ty {
        Type::Array(array) => elements(array).saturating_mul(array.dtype.size() as u64),
        Type::Tuple(items) => items.iter().map(bytes).fold(0, u64::saturating_add),
    }
}

/// Operations on floats; comparisons, moves and integers count as none.
fn flops(inst: &HloInstructionProto, types: &Types) -> u64 {
    let array = |id: &i64| match types.get(id) {
        Some(Type::Array(array)) if array.dtype.is_float() => Some(array),
        _ => None,
    };
    let (result, first) = (array(&inst.id), inst.operand_ids.first().and_then(array));
    match (inst.opcode.as_str(), result, first) {
        ("dot", Some(result), Some(lhs)) => {
            let contracted = inst.dot_dimension_numbers.iter().flat_map(|dims| &dims.lhs_contracting_dimensions);
            let sizes = contracted.map(|dim| usize::try_from(*dim).ok().and_then(|dim| lhs.shape.get(dim)).copied());
            sizes.fold(elements(result).saturating_mul(2), |flops, size| flops.saturating_mul(size.unwrap_or(1) as u64))
        }
        ("reduce", Some(_), Some(operand)) => elements(operand),
        (opcode, Some(result), Some(_)) if is_arithmetic(opcode) => elements(result),
        _ => 0,
    }
}

fn is_arithmetic(opcode: &str) -> bool {
    BinaryOp::parse(opcode).is_some() || UnaryOp::parse(opcode).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_hlo::{DotDims, ModuleBuilder};
    use halite_tensor::DType;

    fn example() -> HloModuleProto {
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
        module.finish().unwrap()
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
    fn callees_count_once_for_each_call() {
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

        let module = module.finish().unwrap();
        assert_eq!(num_instructions(&module).unwrap(), 5);
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
        assert!(dot(&HloModuleProto::default()).is_err());
    }
}
