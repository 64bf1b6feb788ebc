//! Operations without operands, and random bits.

use super::int;
use crate::literal;
use crate::op::Op;
use crate::site::Site;
use halite_hlo::RngAlgorithm;
use halite_support::Result;

pub(super) fn constant(site: &Site<'_>) -> Result<Op> {
    let tensor = site.inst().literal.as_deref().and_then(|literal| literal.tensor());
    let tensor = site.needed(tensor, "elements of an array")?;
    Ok(site.op()?.with("value", literal::dense(&tensor)))
}

pub(super) fn iota(site: &Site<'_>) -> Result<Op> {
    let dimension = site.needed(site.inst().dimensions.first(), "dimension")?;
    Ok(site.op()?.with("iota_dimension", int(*dimension)))
}

/// The rank among replicas, or among the partitions of a program that has them.
pub(super) fn replica_id(site: &Site<'_>) -> Result<Op> {
    let op = site.op()?;
    Ok(match site.form.partitions() {
        None => op,
        Some(_) => Op { name: "stablehlo.partition_id", ..op },
    })
}

pub(super) fn random_bits(site: &Site<'_>) -> Result<Op> {
    let algorithm = match site.needed(RngAlgorithm::from_number(site.inst().rng_algorithm), "known algorithm")? {
        RngAlgorithm::Default => "DEFAULT",
        RngAlgorithm::ThreeFry => "THREE_FRY",
        RngAlgorithm::Philox => "PHILOX",
    };
    let algorithm = format!("#stablehlo<rng_algorithm {algorithm}>");
    Ok(site.op()?.with("rng_algorithm", algorithm))
}
