//! Collectives made at once: fewer of them, the same bits, and none of more bytes than the target takes.

use halite_ir::{Function, Inst, Module, Op, TensorType};
use halite_tests::meshes::{LAYOUTS, MODELS, OnMesh, entry};
use halite_tests::parallel::for_each;
use halite_tests::stepping::first_inputs;

fn is_collective(inst: &&Inst) -> bool {
    matches!(inst.op, Op::AllReduce(_) | Op::AllGather(_) | Op::ReduceScatter(_))
}

fn collectives(module: &Module) -> usize {
    module.functions.iter().map(|function| function.insts.iter().filter(is_collective).count()).sum()
}

/// The most bytes of whole tensors of a collective of several operands.
fn largest(module: &Module) -> u64 {
    let bytes = |function: &Function, inst: &Inst| {
        let whole = if matches!(inst.op, Op::AllGather(_)) { &inst.results } else { &inst.args };
        whole.iter().map(|&value| function.ty(value)).map(TensorType::bytes).sum::<u64>()
    };
    let of = |function: &Function| {
        let several = function.insts.iter().filter(is_collective).filter(|inst| inst.args.len() > 1);
        several.map(|inst| bytes(function, inst)).max()
    };
    module.functions.iter().filter_map(of).max().unwrap_or(0)
}

#[test]
fn buckets_keep_every_bit() {
    let layouts = |at: usize| LAYOUTS.into_iter().skip(at % 3).step_by(3);
    let cases = MODELS.into_iter().enumerate().flat_map(|(at, model)| layouts(at).map(move |ranks| (model, ranks)));
    for_each(&Vec::from_iter(cases), |&(model, ranks)| {
        let OnMesh { loaded, whole, local } = OnMesh::with_precision(model, ranks, "mixed");
        let combined = loaded.after(local.clone(), "combine-collectives");
        let name = format!("{} {ranks:?}", model.0);
        // Without replicas of gradients there may be none that no other waits for.
        let (before, after) = (collectives(&local), collectives(&combined));
        let has_replicas = ranks.data > 1 && ranks.zero < 3;
        assert!(if has_replicas { after < before } else { after <= before }, "{name}: {before} became {after}");
        assert!(largest(&combined) <= 1 << 20, "{name}: {} bytes", largest(&combined));
        let inputs = first_inputs(entry(&whole), 32);
        let run = |module: &Module| loaded.on_ranks(module, &inputs).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(run(&local) == run(&combined), "{name}: other bits");
    });
}
