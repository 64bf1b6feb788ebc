use super::*;
use halite_ir::{Function, Interpreter, Module, ParamRole, Registry, TensorType, text};
use halite_tensor::{HostTensor, Shape};
use proptest::prelude::*;

const SHAPE: [usize; 3] = [12, 24, 8];

/// The dimension that each sub-axis shards, if any, and whether it shards blocks of a half of it.
type Choices = Vec<(usize, bool)>;

/// The sharding in which each sub-axis of a mesh shards what it is said to, as far as it divides it.
fn sharding(mesh: &Mesh, choices: &Choices) -> Sharding {
    let mut left = SHAPE.map(|size| vec![size]);
    let mut sharding = Sharding::replicated(SHAPE.len());
    for (sub_axis, &(dim, halves)) in choices.iter().enumerate().filter(|(_, (dim, _))| *dim < SHAPE.len()) {
        let size = mesh.sub_axes()[sub_axis].size;
        let blocks = left[dim][0] / if halves { 2 } else { 1 };
        if blocks > 0 && blocks.is_multiple_of(size) {
            left[dim][0] = blocks / size;
            sharding = sharding.with(dim, DimShard { sub_axis, size, stride: blocks / size });
        }
    }
    sharding
}

/// The parts of ranks after a value moved from one placement to another, and the program.
fn moved_on_ranks(mesh: &Mesh, whole: &HostTensor, [from, to]: [&Sharding; 2]) -> (Vec<HostTensor>, String) {
    let registry = Registry::builtin();
    let mut module = Module::new("moves");
    let mut b = Builder::new(&mut module, &registry, "main");
    let ty = TensorType::new(DType::S32, from.local_shape(&Shape::from(SHAPE)));
    let x = b.param("x", ty, ParamRole::Argument);
    let placements = [from, to].map(|sharding| Placement::of(sharding.clone()));
    let y = Reshard { mesh, reduce: DType::F32 }.go(&mut b, x, &placements[0], &placements[1]).unwrap();
    b.result(y);
    b.finish();
    let function: &Function = module.functions.last().unwrap();
    let inputs = (0..mesh.num_ranks()).map(|rank| vec![from.shard(mesh, whole, rank).unwrap()]).collect();
    let found = Interpreter::of(&module, &registry).run_ranks(function, inputs).unwrap();
    (found.into_iter().map(|mut results| results.remove(0)).collect(), text::print(&module))
}

fn whole() -> HostTensor {
    HostTensor::from_ints(DType::S32, Shape::from(SHAPE), (0..SHAPE.iter().product::<usize>()).map(|at| at as i128))
}

proptest! {
    /// Each rank has its part of the whole, however it was placed before and is to be.
    #[test]
    fn each_rank_has_its_part(
        from in prop::collection::vec((0..4usize, any::<bool>()), 3),
        to in prop::collection::vec((0..4usize, any::<bool>()), 3),
        three in any::<bool>(),
    ) {
        let mesh = Mesh::new([("data", 2), ("tensor", if three { 6 } else { 4 })]).unwrap();
        let (from, to) = (sharding(&mesh, &from), sharding(&mesh, &to));
        let (found, text) = moved_on_ranks(&mesh, &whole(), [&from, &to]);
        for (rank, found) in found.iter().enumerate() {
            prop_assert_eq!(found, &to.shard(&mesh, &whole(), rank).unwrap(), "rank {} of\n{}", rank, text);
        }
    }
}

/// Where other dimensions are sharded, parts are exchanged, and nothing is gathered.
#[test]
fn what_shards_another_dimension_is_exchanged() {
    let mesh = Mesh::new([("tensor", 4)]).unwrap();
    for (from, to, halves) in [(0, 1, false), (1, 0, false), (2, 1, false), (1, 2, true), (0, 2, true)] {
        let of = |dim| sharding(&mesh, &vec![(dim, halves), (dim, false)]);
        let (found, text) = moved_on_ranks(&mesh, &whole(), [&of(from), &of(to)]);
        assert!(text.contains("all_to_all") && !text.contains("all_gather"), "from {from} to {to}:\n{text}");
        assert_eq!(found[3], of(to).shard(&mesh, &whole(), 3).unwrap(), "from {from} to {to}:\n{text}");
    }
}
