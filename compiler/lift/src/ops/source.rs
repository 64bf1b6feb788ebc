//! Ops without operands, and random bits.

use crate::site::{Site, one};
use halite_hlo::RngAlgorithm;
use halite_ir::ops::{Constant, Generator, Iota, ReplicaId, RngBitGenerator};
use halite_ir::{TensorType, Values};
use halite_tensor::{DType, HostTensor};

pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    match site.opcode() {
        "constant" => {
            let tensor = site.inst().literal.as_deref()?.tensor()?;
            site.apply(Constant::new(tensor))
        }
        "iota" => {
            let (dim, ty) = (site.dim()?, site.ty()?.clone());
            site.apply(Iota { dim, ty })
        }
        "replica-id" if site.ranks.are_partitions => {
            let zero = HostTensor::scalar(DType::U32, 0.0);
            site.apply(Constant::new(zero))
        }
        "replica-id" | "partition-id" => {
            let rank = site.emit(ReplicaId, &[])?;
            let dtype = site.ty().map(TensorType::dtype)?;
            site.converted(rank, dtype).map(one)
        }
        "rng-bit-generator" => {
            let bits = site.types.get(1)?.clone();
            // Of XLA's backends those of CPU and GPU take Philox where none is asked for.
            let generator = match RngAlgorithm::from_number(site.inst().rng_algorithm)? {
                RngAlgorithm::ThreeFry => Generator::ThreeFry,
                RngAlgorithm::Philox | RngAlgorithm::Default => Generator::Philox,
            };
            site.apply(RngBitGenerator { generator, bits })
        }
        _ => None,
    }
}
