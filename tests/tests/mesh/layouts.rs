//! Steps on meshes, through all passes: what the ranks compute together is what one device computes.

use halite::pipelines::train_step;
use halite_ir::{Module, text};
use halite_recipe::MeshAxis;
use halite_runtime::evaluate_replicas;
use halite_support::{Diagnostic, Result};
use halite_tensor::HostTensor;
use halite_tensor::compare::difference;
use halite_test_kit::xla;
use halite_tests::layouts::{Case, Machine, Pair, asked, is_long};
use halite_tests::meshes::{
    ALL_MODELS, CLIP, Loaded, MODELS, Model, OnMesh, Ranks, along, entry, ignore_labels, together,
};
use halite_tests::parallel::for_each;
use halite_tests::stepping::{advance, first_inputs};
use halite_verify::VerifyOptions;
use std::collections::BTreeSet;

/// The number of updates that are compared: the first and what moments make of the next, or more in the long run.
fn updates() -> usize {
    if is_long() { 5 } else { 3 }
}

/// Runs all ranks, from whole inputs to whole results.
type Run<'a> = Box<dyn Fn(&[HostTensor]) -> Result<Vec<HostTensor>> + 'a>;

fn run<'a>(machine: Machine, loaded: &'a Loaded, local: &'a Module) -> Run<'a> {
    if machine == Machine::Interpreter {
        return Box::new(|inputs| loaded.on_ranks(local, inputs));
    }
    let executable = loaded.on_xla(local);
    let replicas = move |ranks: Vec<Vec<HostTensor>>| {
        let ranks: Vec<&[HostTensor]> = ranks.iter().map(Vec::as_slice).collect();
        Ok(evaluate_replicas(xla::client(), executable.as_ref(), &ranks)?)
    };
    Box::new(move |inputs| together(local, inputs, &replicas))
}

/// The passes before a program is that of one rank, and all others.
fn passes() -> (String, String) {
    let all = train_step().to_string();
    let (before, after) = all.split_once(", partition, ").expect("it partitions");
    (before.to_owned(), format!("partition, {after}"))
}

/// The value of a result, by its name.
fn number(module: &Module, results: &[HostTensor], name: &str) -> f64 {
    let at = entry(module).results.iter().position(|result| &*result.name == name);
    results[at.expect("a step returns it")].f64s()[0]
}

fn told(error: Diagnostic) -> String {
    error.to_string()
}

/// After each update in `f64`, with labels that do not count on some ranks and a clip that bites, the ranks have what one device has, which
/// runs the program as it is before it is that of one rank.
fn check(case: &Case) -> std::result::Result<(), String> {
    agree(case.model(), &case.settings("fp64"), case.machine)
}

fn agree(model: Model, settings: &[String], machine: Machine) -> std::result::Result<(), String> {
    let loaded = Loaded::new(model, settings);
    let (before, after) = passes();
    let whole = loaded.made(&before);
    let local = loaded.try_after(whole.clone(), &after).map_err(told)?;
    let run = run(machine, &loaded, &local);
    let mut alone = first_inputs(entry(&whole), 32);
    ignore_labels(entry(&whole), &mut alone);
    let mut ranks = alone.clone();
    for update in 0..updates() {
        let expected = loaded.alone(&whole, &alone).map_err(told)?;
        let found = run(&ranks).map_err(told)?;
        for ((result, expected), found) in entry(&whole).results.iter().zip(&expected).zip(&found) {
            let far = difference(found, expected).relative();
            if far.is_nan() || far >= 1e-9 {
                return Err(format!("`{}` is {far} off in update {update}", result.name));
            }
        }
        if number(&whole, &expected, "grad_norm") <= CLIP {
            return Err(format!("the clip does not bite in update {update}"));
        }
        advance(entry(&whole), &mut alone, expected);
        advance(entry(&whole), &mut ranks, found);
    }
    Ok(())
}

/// In CI cases in which choices meet, with `HALITE_LAYOUTS=all` all of them, with `HALITE_LAYOUTS=500` so many.
#[test]
fn ranks_compute_what_one_device_computes() {
    let cases = asked().of(Case::all, Case::covering);
    let failure = |case: &Case| check(case).err().map(|error| format!("{} {case:?}: {error}", case.model().0));
    let failed: Vec<String> = for_each(&cases, failure).into_iter().flatten().collect();
    assert!(failed.is_empty(), "{} of {} cases fail\n{}", failed.len(), cases.len(), failed.join("\n"));
}

/// Two ranks along each of any axes that there are, with shares of the sequence and of the state.
#[test]
fn any_axes_of_the_mesh_meet() {
    let sets = (0..1_usize << MeshAxis::ALL.len()).filter(|set| set.count_ones() > 1);
    let sets = sets.map(|set| MeshAxis::ALL.into_iter().enumerate().filter(move |(at, _)| set >> at & 1 == 1));
    let sets: Vec<Vec<MeshAxis>> = sets.map(|set| set.map(|(_, axis)| axis).collect()).collect();
    for_each(&sets, |axes| {
        for machine in [Machine::Interpreter, Machine::Xla] {
            let told = agree(MODELS[1], &along(axes, "fp64"), machine);
            assert_eq!(told, Ok(()), "{axes:?} on {machine:?}");
        }
    });
}

/// In `mixed`, a step of ranks errs as `halite verify` lets that of one device err.
#[test]
fn mixed_steps_of_ranks_are_held_to_the_rule_of_verify() {
    let cases: [(usize, Ranks, usize); 6] = [
        (1, Ranks::of(2, 4, true, 1, 2), 1),
        (3, Ranks::of(1, 8, false, 0, 1), 2),
        (5, Ranks::of(4, 2, true, 0, 2), 0),
        (6, Ranks::of(2, 4, true, 1, 2), 1),
        (8, Ranks::of(2, 2, true, 1, 1), 2),
        (12, Ranks::of(8, 1, false, 1, 2), 2),
    ];
    // All of them in the long run.
    let cases: Vec<_> = cases.into_iter().step_by(if is_long() { 1 } else { 2 }).collect();
    for_each(&cases, |&(model, ranks, recompute)| {
        let case = Case { model, ranks, recompute, machine: Machine::Xla };
        let Loaded { session, source } = Loaded::new(case.model(), &case.settings("mixed"));
        let options = VerifyOptions { full: true, ..VerifyOptions::default() };
        let report = halite_verify::verify(&session, &source, &options, xla::executor())
            .unwrap_or_else(|errors| panic!("{errors:?}"));
        let wrong: Vec<_> = report.rows.iter().filter(|row| !row.passed()).collect();
        assert!(report.passed() && report.rows.len() > 10, "{case:?}: {wrong:?} {:?}", report.causality);
    });
}

/// The pairs that some of these cases show.
fn pairs(cases: &[Case], of: impl Fn(&Case) -> Vec<Pair>) -> BTreeSet<Pair> {
    cases.iter().flat_map(of).collect()
}

#[test]
fn choices_meet_in_few_cases() {
    let (all, some) = (Case::all(), Case::covering());
    assert_eq!(all.len(), 20 * 71 * 2 * 3 * 2);
    assert!(some.len() <= Case::MOST, "{} cases", some.len());
    assert_eq!(pairs(&some, Case::pairs), pairs(&all, Case::pairs));
    assert_eq!(pairs(&some, Case::of_model), pairs(&all, Case::of_model));
    // Degrees with one another 30, for there are at most 8 ranks; with `sequence`, which is along `tensor` only, 21; with `zero`, which is
    // along `data` only, 39; these two 8; all of them with micro-batches 36, with computing again 54, with the machine 36; the last three 16.
    assert_eq!(pairs(&all, Case::pairs).len(), 30 + 21 + 39 + 8 + 36 + 54 + 36 + 16);
    assert_eq!(some.iter().map(|case| case.model).collect::<BTreeSet<_>>().len(), ALL_MODELS.len());
}

/// Shares of the sequence are along `tensor`, and shards of the state along `data`: with one rank there these settings say nothing.
#[test]
fn settings_of_one_rank_say_nothing() {
    let of = |ranks| text::print(&OnMesh::new(MODELS[0], ranks).local);
    for (plain, set) in [
        (Ranks::of(4, 1, false, 0, 1), Ranks::of(4, 1, true, 0, 1)),
        (Ranks::of(1, 4, false, 0, 1), Ranks::of(1, 4, false, 1, 1)),
    ] {
        assert!(of(plain) == of(set), "{plain:?} and {set:?}");
    }
    assert_ne!(of(Ranks::of(2, 2, false, 0, 1)), of(Ranks::of(2, 2, true, 1, 1)));
    // What `fsdp` shares, stage 3 of ZeRO shares along `data`.
    let along = |text: String, axis: &str| text.replace(&format!("\"{axis}\"["), "\"axis\"[");
    let (data, fsdp) = (of(Ranks::of(4, 2, true, 3, 1)), of(Ranks::of(1, 2, true, 0, 1).fsdp(4)));
    assert!(along(data, "data") == along(fsdp, "fsdp"));
}
