//! The StableHLO of each instruction.

mod collective;
mod compare;
mod convolution;
mod dot;
mod indexing;
mod movement;
mod source;
mod structure;
mod windows;

use crate::literal;
use crate::op::Meaning;
use crate::site::Site;
use halite_hlo::Opcode;
use halite_support::Result;

/// The operations of an instruction, or the values that it stands for.
///
/// # Errors
/// When it has no form, or carries something that the form has no place for.
pub(crate) fn meaning(site: &Site<'_>) -> Result<Meaning> {
    site.require_plain()?;
    let op = match site.opcode()? {
        // Operands and results are all there is to say.
        Opcode::Unary(_)
        | Opcode::Binary(_)
        | Opcode::BitcastConvert
        | Opcode::Clamp
        | Opcode::Convert
        | Opcode::DynamicUpdateSlice
        | Opcode::OptimizationBarrier
        | Opcode::Reshape
        | Opcode::Select => site.op(),
        Opcode::Broadcast => movement::listed(site, "broadcast_dimensions"),
        Opcode::Reduce | Opcode::Reverse => movement::listed(site, "dimensions"),
        Opcode::Transpose => movement::listed(site, "permutation"),
        Opcode::Concatenate => movement::concatenate(site),
        Opcode::Pad => movement::pad(site),
        Opcode::Slice => movement::slice(site),
        Opcode::Compare => compare::compare(site),
        Opcode::Convolution => convolution::convolution(site),
        Opcode::Dot => dot::dot(site),
        Opcode::ReduceWindow => windows::reduce_window(site),
        Opcode::SelectAndScatter => windows::select_and_scatter(site),
        Opcode::DynamicSlice => indexing::dynamic_slice(site),
        Opcode::Gather => indexing::gather(site),
        Opcode::Scatter => indexing::scatter(site),
        Opcode::Constant => source::constant(site),
        Opcode::Iota => source::iota(site),
        Opcode::ReplicaId => source::replica_id(site),
        Opcode::RngBitGenerator => source::random_bits(site),
        Opcode::AllToAll => collective::all_to_all(site),
        Opcode::CollectivePermute => collective::permute(site),
        Opcode::Call => structure::call(site),
        Opcode::CustomCall => structure::custom_call(site),
        Opcode::AllGather => return collective::all_gather(site),
        Opcode::AllReduce => return collective::all_reduce(site),
        Opcode::ReduceScatter => return collective::reduce_scatter(site),
        // An argument, whose value its function has made.
        Opcode::Parameter => return Ok(Meaning::Values(site.values[site.at].clone())),
        Opcode::Copy => return site.operands().map(Meaning::Values),
        Opcode::Tuple => return structure::tuple(site),
        Opcode::GetTupleElement => return structure::element(site),
    };
    op.map(Meaning::from)
}

/// `array<i64: 1, 2>`.
fn array(numbers: &[i64]) -> String {
    let separator = if numbers.is_empty() { "" } else { ": " };
    format!("array<i64{separator}{}>", literal::list(numbers))
}

/// `2 : i64`.
fn int(number: i64) -> String {
    format!("{number} : i64")
}

/// `#stablehlo.dot<lhs = [1], rhs = [0]>`: lists of dimensions, without those that are empty.
fn dims(name: &str, lists: &[(&str, &[i64])], last: Option<(&str, i64)>) -> String {
    let list = |(key, numbers): &(&str, &[i64])| {
        (!numbers.is_empty()).then(|| format!("{key} = [{}]", literal::list(numbers)))
    };
    let last = last.map(|(key, number)| format!("{key} = {number}"));
    let parts: Vec<String> = lists.iter().filter_map(list).chain(last).collect();
    format!("#stablehlo.{name}<{}>", parts.join(", "))
}
