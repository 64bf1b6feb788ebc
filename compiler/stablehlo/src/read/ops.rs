//! The operations that are read, each with its short form and its instructions of HLO.

mod chlo;
mod collective;
mod control;
mod convolution;
mod dot;
mod indexing;
mod movement;
mod plain;
mod source;
mod structure;
mod windows;

use super::body::{Takes, Val};
use super::op::Op;
use super::pretty::{self, Pretty};
use super::reader::Reader;
use halite_hlo::Opcode;
use halite_support::{Diagnostic, Result, codes};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// The maker of the instructions of an operation; the values of its results.
type Lower = for<'t> fn(&mut Reader<'t>, Op<'t>) -> Result<Vec<Val>>;

/// How an operation is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The opcode of HLO, where there is one for it alone.
    pub(crate) opcode: &'static str,
    pub(crate) pretty: Pretty,
    pub(crate) lower: Lower,
    /// How its regions take values.
    pub(crate) takes: Takes,
}

/// Every operation that is read, by its name.
static ENTRIES: LazyLock<FxHashMap<&'static str, Entry>> = LazyLock::new(entries);

fn entries() -> FxHashMap<&'static str, Entry> {
    let of_table = Opcode::ALL.iter().filter_map(|&opcode| Some((opcode.row().stablehlo?, of_opcode(opcode)?)));
    let each = |opcode, pretty, lower| Entry { opcode, pretty, lower, takes: Takes::Each };
    let loops = |opcode, pretty, lower| Entry { opcode, pretty, lower, takes: Takes::Tuple };
    let others: [(&str, Entry); 12] = [
        ("call", each(Opcode::Call.name(), pretty::call, structure::call)),
        ("chlo.top_k", each("", pretty::plain, chlo::top_k)),
        ("sdy.sharding_constraint", each("", structure::claimed, structure::same)),
        ("stablehlo.case", loops("conditional", pretty::plain, control::branches)),
        ("stablehlo.composite", each(Opcode::Call.name(), pretty::composite, structure::composite)),
        ("stablehlo.dot", each(Opcode::Dot.name(), pretty::plain, dot::dot)),
        ("stablehlo.if", loops("conditional", pretty::plain, control::branches)),
        ("stablehlo.partition_id", each("partition-id", pretty::plain, plain::plain)),
        ("stablehlo.reduce_precision", each("reduce-precision", pretty::plain, plain::reduce_precision)),
        ("stablehlo.sort", each("sort", pretty::plain, structure::sort)),
        ("stablehlo.while", loops("while", pretty::loops, control::repeated)),
        ("stablehlo.get_dimension_size", each("", pretty::plain, source::dimension_size)),
    ];
    let chlo = chlo::NAMES.iter().map(|&name| (name, each("", pretty::plain as Pretty, chlo::decomposed as Lower)));
    of_table.chain(others).chain(chlo).collect()
}

/// The entry of an opcode of the table.
fn of_opcode(opcode: Opcode) -> Option<Entry> {
    let (pretty, lower): (Pretty, Lower) = match opcode {
        Opcode::Unary(_)
        | Opcode::Binary(_)
        | Opcode::BitcastConvert
        | Opcode::Convert
        | Opcode::DynamicUpdateSlice
        | Opcode::ReplicaId
        | Opcode::Reshape => (pretty::plain, plain::plain),
        Opcode::Clamp => (pretty::plain, plain::clamp),
        Opcode::Select => (pretty::select, plain::select),
        Opcode::Compare => (pretty::plain, plain::compare),
        Opcode::OptimizationBarrier => (pretty::plain, structure::barrier),
        Opcode::Broadcast => (pretty::plain, movement::broadcast),
        Opcode::Reverse => (pretty::plain, movement::reverse),
        Opcode::Transpose => (pretty::plain, movement::transpose),
        Opcode::Concatenate => (pretty::plain, movement::concatenate),
        Opcode::Pad => (pretty::plain, movement::pad),
        Opcode::Slice => (pretty::plain, movement::slice),
        Opcode::Convolution => (convolution::pretty, convolution::convolution),
        Opcode::Dot => (pretty::plain, dot::dot_general),
        Opcode::DynamicSlice => (pretty::plain, indexing::dynamic_slice),
        Opcode::Gather => (pretty::plain, indexing::gather),
        Opcode::Scatter => (pretty::plain, indexing::scatter),
        Opcode::Constant => (pretty::constant, source::constant),
        Opcode::Iota => (pretty::plain, source::iota),
        Opcode::RngBitGenerator => (pretty::plain, source::random_bits),
        Opcode::Reduce => (pretty::reduce, structure::reduce),
        Opcode::ReduceWindow => (pretty::plain, windows::reduce_window),
        Opcode::SelectAndScatter => (pretty::plain, windows::select_and_scatter),
        Opcode::Call => (pretty::call, structure::call),
        Opcode::CustomCall => (pretty::call, structure::custom_call),
        Opcode::AllGather => (pretty::plain, collective::all_gather),
        Opcode::AllReduce => (pretty::plain, collective::all_reduce),
        Opcode::AllToAll => (pretty::plain, collective::all_to_all),
        Opcode::CollectivePermute => (pretty::plain, collective::permute),
        Opcode::ReduceScatter => (pretty::plain, collective::reduce_scatter),
        Opcode::Copy | Opcode::GetTupleElement | Opcode::Parameter | Opcode::Tuple => return None,
    };
    Some(Entry { opcode: opcode.name(), pretty, lower, takes: Takes::Each })
}

/// Dialects whose operations are read, and that from which StableHLO came.
const DIALECTS: [&str; 4] = ["stablehlo", "chlo", "func", "sdy"];

impl<'t> Reader<'t> {
    /// The entry of an operation, or the fault that it is none that is read.
    pub(crate) fn entry(&self, name: &str, place: (usize, usize)) -> Result<Entry> {
        ENTRIES.get(name).copied().ok_or_else(|| {
            let dialect = name.split_once('.').map_or("func", |(dialect, _)| dialect);
            let fault = |message: String, help: &str| {
                Diagnostic::error(codes::FOREIGN, message).at(self.cursor.span(place), "this operation").help(help)
            };
            match dialect {
                "vhlo" => fault(
                    format!("`{name}` is of the serialized form of StableHLO"),
                    "turn it into StableHLO: `stablehlo-translate --deserialize`",
                ),
                "mhlo" => fault(
                    format!("`{name}` is of a dialect that is not read"),
                    "turn it into StableHLO: `mlir-hlo-opt --hlo-legalize-to-stablehlo`",
                ),
                _ if DIALECTS.contains(&dialect) => fault(
                    format!("Halite has no form of `{name}`"),
                    "write this part of the program with other operations; the guide to StableHLO lists those that are read",
                ),
                _ => fault(
                    format!("`{name}` is of the dialect `{dialect}`, which is not read"),
                    "export the program as StableHLO",
                ),
            }
        })
    }
}
