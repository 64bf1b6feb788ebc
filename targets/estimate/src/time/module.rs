//! The time of one execution of a module.

use super::wire::sent;
use super::Machine;
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
    /// Collectives that nothing hides, by the axes of the mesh along which they go.
    pub wire: IndexMap<String, f64>,
    /// Collectives that run beside what else the module does.
    pub hidden: f64,
    /// What an execution takes beside its work.
    pub launch: f64,
}

impl ModuleTime {
    /// The seconds of products and all other arithmetic.
    pub fn compute(&self) -> f64 {
        self.products + self.other
    }

    /// The seconds from begin to end.
    pub fn total(&self) -> f64 {
        self.compute() + self.wire.values().sum::<f64>() + self.launch
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
    if beside > hidden {
        *wire.entry(ahead.join(", ")).or_default() += beside - hidden;
    }
    ModuleTime { products, other, wire, hidden, launch: machine.launch }
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
    let crosses = |&(low, high): &(u64, u64)| group.iter().any(|&(count, distance)| distance < high && distance * count > low);
    let names = mesh.axes().iter().zip(&strides).filter(|(_, own)| crosses(own)).map(|(axis, _)| axis.name.as_str());
    names.collect::<Vec<_>>().join(", ")
}
