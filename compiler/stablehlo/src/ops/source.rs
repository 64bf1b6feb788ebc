//! What reads nothing, and random bits.

use super::int;
use crate::literal;
use crate::op::{Meaning, Op};
use crate::site::Site;
use halite_hlo::{Opcode, RngAlgorithm};
use halite_support::Result;

pub(super) fn meaning(site: &Site<'_>) -> Option<Result<Meaning>> {
    let op = match Opcode::parse(site.opcode())? {
        Opcode::Constant => constant(site),
        Opcode::Iota => iota(site),
        Opcode::ReplicaId => site.op(match site.form.partitions() {
            None => "stablehlo.replica_id",
            Some(_) => "stablehlo.partition_id",
        }),
        Opcode::RngBitGenerator => random_bits(site),
        _ => return None,
    };
    Some(op.map(Meaning::from))
}

fn constant(site: &Site<'_>) -> Result<Op> {
    let tensor = site.inst().literal.as_deref().and_then(|literal| literal.tensor());
    let tensor = site.needed(tensor, "elements of an array")?;
    Ok(site.op("stablehlo.constant")?.with("value", literal::dense(&tensor)))
}

fn iota(site: &Site<'_>) -> Result<Op> {
    let dimension = site.needed(site.inst().dimensions.first(), "dimension")?;
    Ok(site.op("stablehlo.iota")?.with("iota_dimension", int(*dimension)))
}

fn random_bits(site: &Site<'_>) -> Result<Op> {
    let algorithm = match site.needed(RngAlgorithm::from_number(site.inst().rng_algorithm), "known algorithm")? {
        RngAlgorithm::Default => "DEFAULT",
        RngAlgorithm::ThreeFry => "THREE_FRY",
        RngAlgorithm::Philox => "PHILOX",
    };
    let algorithm = format!("#stablehlo<rng_algorithm {algorithm}>");
    Ok(site.op("stablehlo.rng_bit_generator")?.with("rng_algorithm", algorithm))
}
