//! The time of one execution of a module.

use super::Machine;
use super::wire::sent;
use halite_bundle::work::{Products, Work};
use halite_tensor::Mesh;
use indexmap::IndexMap;

/// The time of one execution of a module on a rank, by cause, in seconds.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ModuleTime {
    /// Products of matrices.
    pub products: f64,
    /// All other arithmetic, and moving data in device memory.
    pub other: f64,
    /// Collectives that all else waits for, by the axes of the mesh along which they go.
    pub wire: IndexMap<String, f64>,
    /// Collectives that are written ahead of time, as far as nothing is left to run beside them.
    pub exposed: f64,
    /// Collectives that are written ahead of time and run beside what else the module does.
    pub hidden: f64,
    /// The time of an execution beside its work.
    pub launch: f64,
}

impl ModuleTime {
    /// The seconds of products and all other arithmetic.
    pub fn compute(&self) -> f64 {
        self.products + self.other
    }

    /// The seconds from begin to end.
    pub fn total(&self) -> f64 {
        self.compute() + self.wire.values().sum::<f64>() + self.exposed + self.launch
    }
}

/// The time of a module with this work on a mesh. Collectives along the axes named `ahead` are written ahead of time.
pub fn module_time(work: &Work, machine: &Machine, mesh: &Mesh, ahead: &[&str]) -> ModuleTime {
    let products = work.products.iter().map(|own| product_seconds(own, machine) * own.count as f64).sum();
    let elements = work.elements as f64 / (machine.elements * machine.efficiency.elements);
    let other = elements.max(work.bytes as f64 / (machine.memory * machine.efficiency.memory));
    let (mut wire, mut beside) = (IndexMap::<String, f64>::new(), 0.0);
    for own in &work.collectives {
        let seconds = sent(own, machine).iter().map(|sent| sent.seconds).sum::<f64>() * own.count as f64;
        let along = along(&own.group, mesh);
        match ahead.contains(&along.as_str()) {
            true => beside += seconds,
            false => *wire.entry(along).or_default() += seconds,
        }
    }
    let hidden = f64::min(beside, products + other);
    ModuleTime { products, other, wire, exposed: beside - hidden, hidden, launch: machine.launch }
}

/// The seconds of one product: of its operations on whole tiles.
fn product_seconds(own: &Products, machine: &Machine) -> f64 {
    let [inner, stays, moves] = machine.tile;
    let whole = |size: u64, tile: u64| (size.div_ceil(tile.max(1)) * tile.max(1)) as f64;
    // Either side may stay; what takes less is done.
    let sides = |rows: u64, columns: u64| whole(rows, stays) * whole(columns, moves);
    let sides = sides(own.rows, own.columns).min(sides(own.columns, own.rows));
    let flops = 2.0 * own.batch as f64 * whole(own.inner, inner) * sides;
    flops / (machine.peak(&own.dtype.to_string()) * machine.efficiency.products)
}

/// The axes of a mesh along which the ranks of a group differ, the major one first: `tensor`, or `data, tensor`.
fn along(group: &[(u64, u64)], mesh: &Mesh) -> String {
    let strides: Vec<(u64, u64)> = mesh
        .axes()
        .iter()
        .enumerate()
        .map(|(at, axis)| {
            let below: usize = mesh.axes()[at + 1..].iter().map(|axis| axis.size).product();
            (below as u64, (below * axis.size) as u64)
        })
        .collect();
    // A step of some distance and count spans digits from the one to the product of both.
    let crosses =
        |&(low, high): &(u64, u64)| group.iter().any(|&(count, distance)| distance < high && distance * count > low);
    let names = mesh.axes().iter().zip(&strides).filter(|(_, own)| crosses(own)).map(|(axis, _)| axis.name.as_str());
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::testing::machine;
    use halite_bundle::work::{CollectiveKind, Collectives};
    use halite_tensor::DType;

    fn mesh() -> Mesh {
        Mesh::new([("data", 2), ("fsdp", 4), ("tensor", 4)]).unwrap()
    }

    /// 128 x 128 x 512 is one tile, and 129 of anything takes two; either side may stay.
    #[test]
    fn products_take_whole_tiles() {
        let seconds = |rows, inner, columns| {
            let own = Products { dtype: DType::Bf16, batch: 3, rows, inner, columns, count: 1 };
            product_seconds(&own, &machine()) * 1e12 / (3.0 * 2.0 * 128.0 * 128.0 * 512.0)
        };
        assert_eq!(seconds(128, 128, 512), 1.0);
        assert_eq!(seconds(512, 128, 128), 1.0);
        assert_eq!(seconds(1, 1, 1), 1.0);
        assert_eq!(seconds(128, 129, 512), 2.0);
        assert_eq!(seconds(129, 128, 512), 2.0);
    }

    #[test]
    fn groups_are_told_by_the_axes_that_they_cross() {
        let along = |group: &[(u64, u64)]| along(group, &mesh());
        assert_eq!(along(&[(4, 1)]), "tensor");
        assert_eq!(along(&[(2, 2)]), "tensor");
        assert_eq!(along(&[(4, 4)]), "fsdp");
        assert_eq!(along(&[(2, 8)]), "fsdp");
        assert_eq!(along(&[(2, 16)]), "data");
        assert_eq!(along(&[(16, 1)]), "fsdp, tensor");
        assert_eq!(along(&[(8, 4)]), "data, fsdp");
        assert_eq!(along(&[(2, 16), (4, 1)]), "data, tensor");
        assert_eq!(along(&[(32, 1)]), "data, fsdp, tensor");
    }

    /// A gather that is written ahead runs beside other work, and beyond that takes time of its own.
    #[test]
    fn what_is_ahead_is_hidden_as_far_as_work_lasts() {
        let gather =
            Collectives { kind: CollectiveKind::AllGather, bytes: 4_000_000_000, group: vec![(4, 4)], count: 1 };
        // 1 to 8 ranks of an instance have 2 of the 4, which lie 4 apart: half at 5e8 bytes a second, a quarter at 1e8.
        let takes = 4.0 + 10.0;
        let work = |elements| Work { elements, collectives: vec![gather.clone()], ..Work::default() };
        let time = |elements, ahead: &[&str]| module_time(&work(elements), &machine(), &mesh(), ahead);
        assert_eq!(time(3_000_000_000, &[]).total(), 3.0 + takes + 1e-3);
        let (short, long) = (time(3_000_000_000, &["fsdp"]), time(20_000_000_000, &["fsdp"]));
        assert_eq!((short.hidden, short.exposed, short.total()), (3.0, 11.0, 14.0 + 1e-3));
        assert_eq!((long.hidden, long.exposed, long.total()), (14.0, 0.0, 20.0 + 1e-3));
    }
}
