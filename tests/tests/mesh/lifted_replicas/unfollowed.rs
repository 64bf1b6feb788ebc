//! Ops that the IR lacks.

use super::{Moves, replicas, sharded_first};
use halite_hlo::{ArrayType, CustomCall, ModuleBuilder, Type};
use halite_lift::lift;
use halite_tensor::{DType, Mesh};

/// The finding where a call of `target` reads a parameter that is sharded along `data` if `sharded`, and the number of the rank if
/// `numbered`.
fn found(sharded: bool, numbered: bool) -> Option<(String, String)> {
    let mut module = ModuleBuilder::new("unfollowed");
    let mut hlo = module.computation("main");
    let ty = ArrayType::new(DType::U32, [4]);
    let mut read = hlo.parameter("x", ty.clone()).unwrap();
    if numbered {
        let rank = hlo.replica_id().unwrap();
        read = hlo.broadcast(rank, &ty.shape, &[]).unwrap();
    }
    let kernel =
        CustomCall { target: "Sorted".into(), backend_config: String::new(), api_version: 2, has_side_effect: false };
    let sorted = hlo.custom_call(&kernel, &[read], Type::Array(ty)).unwrap();
    let root = hlo.root_tuple(&[sorted]).unwrap();
    hlo.finish(root).unwrap();
    let graph = halite_hlo::graph::Graph::new(module.finish().unwrap());
    let mesh = Mesh::new([("data", 2)]).unwrap();
    let mut lifted = lift(&graph, 2).unwrap();
    assert_eq!(
        lifted.unfollowed.iter().map(|(name, count)| (name.as_str(), *count)).collect::<Vec<_>>(),
        [("Sorted", 1)]
    );
    lifted.lay(&mesh, &sharded_first(&mesh, &graph, &lifted, sharded)).unwrap();
    let first = replicas(&lifted.module, Moves::Unwritten).into_iter().next()?;
    Some((first.message, first.remedy.to_owned()))
}

#[test]
fn what_is_not_followed_gives_the_same_where_it_is_given_the_same() {
    assert_eq!(found(false, false), None);
    let (message, remedy) = found(true, false).unwrap();
    assert!(message.ends_with("it comes from `Sorted`, which cannot be followed"), "{message}");
    assert!(remedy.starts_with("see by hand"), "{remedy}");
    let (message, _) = found(false, true).unwrap();
    assert!(message.ends_with("it is computed from the number of the rank"), "{message}");
}
