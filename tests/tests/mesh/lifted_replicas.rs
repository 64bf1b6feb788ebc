//! Findings of `halite hlo check --mesh`: none in HLO of the compiler, and faults in HLO at their place.

#![allow(clippy::unwrap_used, reason = "this is test code")]

use halite_analysis::{Moves, ReplicaFinding, replicas};
use halite_hlo::graph::Graph;
use halite_hlo::proto::{HloInstructionProto, HloModuleProto};
use halite_hlo::{CheckedHlo, decode};
use halite_ir::{LowerOptions, Module, lower, verify};
use halite_lift::{Claims, Lifted, claims, lift};
use halite_tensor::{DimShard, Mesh, Sharding};
use halite_tests::layouts::is_long;
use halite_tests::meshes::{LAYOUTS, MODELS, Model, OnMesh, Ranks, entry, layout};
use halite_tests::parallel::for_each;
use std::path::Path;

mod faults;
mod unfollowed;

use faults::FAULTS;

/// After `partition`: composites and calls written out, with nothing cleaned up.
const FLAT: &str = "expand-composites, inline, legalize";

/// The same as a compile does it.
const COMPILED: &str =
    "expand-composites, cut, inline, (cse, simplify, fold-constant, dce)*, annotate-rounding, cse, legalize";

/// The shardings of parameters and results in the layout of a module.
fn laid(module: &Module) -> Claims {
    let (layout, entry) = (layout(module), entry(module));
    let or_whole = |sharding: Option<&Sharding>, rank| sharding.cloned().unwrap_or_else(|| Sharding::replicated(rank));
    let params = entry.params.iter().map(|param| or_whole(layout.of_param(param), entry.ty(param.value).rank()));
    let results = entry.results.iter().map(|result| or_whole(layout.of_result(result), entry.ty(result.value).rank()));
    Claims { params: params.collect(), results: results.collect(), ranks: Vec::new() }
}

/// The claims of HLO, with the first dimension of the first parameter sharded along the first axis if `sharded`.
fn sharded_first(mesh: &Mesh, graph: &Graph, lifted: &Lifted, sharded: bool) -> Claims {
    let entry = lifted.module.entry().unwrap();
    let mut claims = claims(graph, entry, mesh).unwrap();
    if sharded {
        let stride = entry.ty(entry.params[0].value).shape()[0];
        let digit = DimShard { sub_axis: 0, size: mesh.sub_axes()[0].size, stride };
        claims.params[0] = claims.params[0].clone().with(0, digit);
    }
    claims
}

/// The findings in HLO whose ranks are said to hold this.
fn found(hlo: HloModuleProto, mesh: &Mesh, claims: &Claims) -> Vec<ReplicaFinding> {
    let hlo = CheckedHlo::new(hlo).unwrap();
    let mut lifted = lift(hlo.graph(), mesh.num_ranks()).unwrap();
    assert!(lifted.unfollowed.is_empty(), "{:?}", lifted.unfollowed);
    lifted.lay(mesh, claims).unwrap();
    replicas(&lifted.module, Moves::Unwritten)
}

/// The step of one rank after some passes, and its HLO.
fn lowered(step: &OnMesh, passes: &str) -> (Module, HloModuleProto) {
    let session = &step.loaded.session;
    let module = step.loaded.after(step.local.clone(), passes);
    let hlo = lower(verify(&module, &session.registry).unwrap(), &session.sources, LowerOptions::default()).unwrap();
    (module, hlo)
}

/// The findings in a model's IR and in its HLO.
fn of_model(model: Model, ranks: Ranks, passes: &str) -> [Vec<ReplicaFinding>; 2] {
    let (module, hlo) = lowered(&OnMesh::new(model, ranks), passes);
    [replicas(&module, Moves::Unwritten), found(hlo, &layout(&module).mesh, &laid(&module))]
}

/// Each model on every third layout, with `HALITE_LAYOUTS=all` on all.
fn cases() -> Vec<(Model, Ranks)> {
    let step = if is_long() { 1 } else { 3 };
    let layouts = move |at: usize| LAYOUTS.into_iter().skip(at % step).step_by(step);
    MODELS.into_iter().enumerate().flat_map(|(at, model)| layouts(at).map(move |ranks| (model, ranks))).collect()
}

#[test]
fn nothing_is_found_in_flat_hlo() {
    for_each(&cases(), |&(model, ranks)| {
        let [_, found] = of_model(model, ranks, FLAT);
        assert_eq!(found, [], "{model:?} {ranks:?}");
    });
}

/// A model whose heads share key heads, on more ranks than there are: the passes that clean up leave more readings of where heads lie
/// than the analysis follows, in the IR as in the HLO of it.
fn is_beyond_proof(model: Model, ranks: Ranks) -> bool {
    ranks.tensor == 4 && model == MODELS[3]
}

#[test]
fn nothing_is_found_in_what_is_compiled() {
    for_each(&cases(), |&(model, ranks)| {
        let [of_ir, of_hlo] = of_model(model, ranks, COMPILED);
        let expected = is_beyond_proof(model, ranks);
        assert_eq!([!of_ir.is_empty(), !of_hlo.is_empty()], [expected; 2], "{model:?} {ranks:?}: {:?}", of_hlo.first());
    });
}

#[test]
fn faults_in_hlo_are_found_at_their_lines() {
    let step = OnMesh::new(MODELS[0], Ranks::of(2, 2, true, 1, 1));
    let (module, hlo) = lowered(&step, FLAT);
    let (mesh, claims) = (&layout(&module).mesh, laid(&module));
    let mut tried = 0;
    for fault in FAULTS {
        let sums = sums(&hlo);
        for at in sums.iter().copied().step_by((sums.len() / 4).max(1)) {
            let mut wrong = hlo.clone();
            let name = wrong.computations.last().unwrap().instructions[at].name.clone();
            (fault.make)(wrong.computations.last_mut().unwrap(), at, mesh);
            let found = found(wrong, mesh, &claims);
            let first = found.first().unwrap_or_else(|| panic!("{} at `{name}` is not found", fault.name));
            let line = first.line.as_deref().unwrap_or_default();
            assert!(
                line.starts_with("<llama.hal>:") || line.starts_with("<blocks.hal>:") || !first.scope.is_empty(),
                "{}: {first:?}",
                fault.name
            );
            tried += 1;
        }
    }
    assert!(tried >= 4 * FAULTS.len(), "{tried}");
}

/// The positions of the sums over ranks in the entry.
fn sums(hlo: &HloModuleProto) -> Vec<usize> {
    let combiner = |inst: &HloInstructionProto| {
        let id = *inst.called_computation_ids.first()?;
        hlo.computations.iter().find(|computation| computation.id == id)?.instructions.last()
    };
    let is_sum = |inst: &HloInstructionProto| {
        inst.opcode == "all-reduce" && combiner(inst).is_some_and(|combiner| combiner.opcode == "add")
    };
    let insts = hlo.computations.last().unwrap().instructions.iter().enumerate();
    insts.filter(|(_, inst)| is_sum(inst)).map(|(at, _)| at).collect()
}

/// The findings in HLO that JAX made (`tests/jax/make_mesh_hlo.py`), which has its shardings.
fn of_jax(file: &str) -> Vec<(String, Option<String>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("jax/fixtures/mesh_{file}.hlo.pb"));
    let hlo = decode(&std::fs::read(&path).unwrap()).unwrap();
    let mesh = Mesh::new([("data", 2), ("tensor", 4)]).unwrap();
    let graph = Graph::new(hlo.clone());
    let lifted = lift(&graph, mesh.num_ranks()).unwrap();
    let claims = claims(&graph, lifted.module.entry().unwrap(), &mesh).unwrap();
    assert_eq!(claims.params.iter().filter(|own| !own.is_replicated()).count(), 4, "{file}");
    found(hlo, &mesh, &claims).into_iter().map(|finding| (finding.message, finding.line)).collect()
}

#[test]
fn what_jax_makes_is_held_to_what_it_says() {
    for right in ["step", "auto", "compiled"] {
        assert_eq!(of_jax(right), [], "{right}");
    }
    let wrong = [
        ("missing", "`result 0` is not the same on ranks along `data`", "weights[name] - RATE"),
        ("twice", "`all_reduce` sums what is the same on all ranks along `data` already", "lax.psum("),
        ("axis", "`all_reduce` combines shards along `tensor`", "lax.psum(gradients[\"down\"], \"tensor\")"),
        ("drift", "`result 1` is not the same on ranks along `data`", "lax.axis_index(\"data\")"),
    ];
    let script = include_str!("../../jax/make_mesh_hlo.py");
    for (file, message, code) in wrong {
        let found = of_jax(file);
        let (first, line) = found.first().unwrap_or_else(|| panic!("nothing is found in {file}"));
        assert!(first.starts_with(message), "{file}: {first}");
        let line = line.as_deref().and_then(|line| line.strip_prefix("make_mesh_hlo.py:")).unwrap();
        let line = script.lines().nth(line.parse::<usize>().unwrap() - 1).unwrap();
        assert!(line.contains(code), "{file}: {line}");
    }
}
