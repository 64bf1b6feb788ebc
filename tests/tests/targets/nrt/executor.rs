//! The executor by itself, on small programs.

#[path = "../../../../runtime/tests/common/mod.rs"]
#[allow(unreachable_pub, reason = "the file is that of the runtime's tests")]
mod common;

use halite_runtime::{
    Buffer, CompileOptions, Executable, Executor, Input, Neff, Nrt, NrtOptions, Program, RuntimeError, Signature,
};
use halite_standin_nrt::{Named, StandInNeff};
use halite_tensor::{DType, HostTensor};
use halite_test_kit::xla;
use halite_tests::standin_nrt;
use std::process::Command;

fn open() -> Nrt {
    Nrt::open(&standin_nrt::library(), &NrtOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// `x + y`, the sum taking the memory of x where the compiler was told so.
fn sum(alias: Option<usize>) -> StandInNeff {
    let hlo = common::add_in_place();
    let signature = Signature::of_hlo(&hlo).unwrap();
    let named = |name: &str, alias| Named { name: name.to_owned(), bytes: signature.inputs[0].size(), alias };
    let inputs = vec![named("input0", None), named("input1", None)];
    StandInNeff { target: "trn1".into(), cores: 1, ranks: 1, inputs, outputs: vec![named("output0", alias)], hlo }
}

/// Loads it as a program whose sum may take the memory of x.
fn load(executor: &Nrt, neff: &StandInNeff) -> Result<Box<dyn Executable>, RuntimeError> {
    let options = CompileOptions { num_replicas: neff.ranks as usize, ..CompileOptions::default() };
    let bytes = neff.to_bytes();
    let named = |named: &[Named]| named.iter().map(|named| named.name.clone()).collect();
    let (inputs, outputs) = (named(&neff.inputs), named(&neff.outputs));
    let given = Neff { bytes: &bytes, inputs, outputs, aliases: vec![Some(0)] };
    executor.compile(&Program::new(&neff.hlo, options)?.with_neff(given)?)
}

fn vector(values: [f64; 4]) -> HostTensor {
    HostTensor::from_f64s(DType::F32, [4], values)
}

fn uploaded(executor: &dyn Executor) -> [Buffer; 2] {
    [[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]].map(|values| executor.upload(&vector(values), 0).unwrap())
}

const SUM: [f64; 4] = [11.0, 22.0, 33.0, 44.0];

#[test]
fn what_is_kept_stays_and_what_is_given_is_shared() {
    let executor = open();
    let program = load(&executor, &sum(Some(0))).unwrap();
    let [x, y] = uploaded(&executor);
    let kept = program.execute(vec![Input::Keep(x.as_ref()), Input::Keep(y.as_ref())]).unwrap();
    assert_eq!(kept[0].download().unwrap(), vector(SUM));
    assert_eq!(x.download().unwrap(), vector([1.0, 2.0, 3.0, 4.0]));
    let given = program.execute(vec![Input::Donate(x), Input::Donate(y)]).unwrap();
    assert_eq!(given[0].download().unwrap(), vector(SUM));

    // A program that was not compiled for it refuses the shared tensor: so it is one that is given.
    let apart = load(&executor, &sum(None)).unwrap();
    let [x, y] = uploaded(&executor);
    apart.execute(vec![Input::Keep(x.as_ref()), Input::Keep(y.as_ref())]).unwrap();
    let refused = apart.execute(vec![Input::Donate(x), Input::Keep(y.as_ref())]).unwrap_err().to_string();
    assert!(refused.contains("`nrt_execute`") && refused.contains("NRT_INVALID"), "{refused}");
}

#[test]
fn buffers_of_others_are_refused() {
    let executor = open();
    let program = load(&executor, &sum(Some(0))).unwrap();
    let [foreign, _] = uploaded(xla::client());
    let [x, _] = uploaded(&executor);
    assert!(executor.owns(x.as_ref()) && !executor.owns(foreign.as_ref()));
    let refused = program.execute(vec![Input::Keep(x.as_ref()), Input::Keep(foreign.as_ref())]).unwrap_err();
    assert_eq!(refused.to_string(), "an input belongs to another executor");
    let wrong = executor.upload(&HostTensor::zeros(DType::F32, [5]), 0).unwrap();
    let refused = program.execute(vec![Input::Keep(x.as_ref()), Input::Keep(wrong.as_ref())]).unwrap_err();
    assert_eq!(refused.to_string(), "input 1 is `f32[5]`, the program takes `f32[4]`");
    assert!(executor.upload(&vector(SUM), 1).unwrap_err().to_string().contains("there is no device 1"));
}

#[test]
fn programs_that_are_no_neffs_are_refused() {
    let executor = open();
    let hlo = common::add_in_place();
    let program = |ranks| Program::new(&hlo, CompileOptions { num_replicas: ranks, ..CompileOptions::default() });
    let refused = |program: &Program<'_>| executor.compile(program).err().unwrap().to_string();
    assert!(refused(&program(1).unwrap()).contains("libnrt runs NEFFs"));
    assert!(refused(&program(2).unwrap()).contains("the program is of 2 ranks, this process is one of 1"));

    let names = |count: usize| (0..count).map(|at| format!("tensor{at}")).collect::<Vec<_>>();
    let with = |inputs, outputs, aliases| {
        let neff = Neff { bytes: &[], inputs: names(inputs), outputs: names(outputs), aliases };
        program(1).unwrap().with_neff(neff).map(drop).map_err(|error| error.to_string())
    };
    with(2, 1, vec![Some(1)]).unwrap();
    assert!(with(1, 1, vec![None]).unwrap_err().contains("a name for each"));
    assert!(with(2, 1, vec![]).unwrap_err().contains("a name for each"));
    assert!(with(2, 1, vec![Some(2)]).unwrap_err().contains("cannot take the memory of input 2"));
    let taken = xla::client().compile(
        &program(1)
            .unwrap()
            .with_neff(Neff { bytes: &[], inputs: names(2), outputs: names(1), aliases: vec![None] })
            .unwrap(),
    );
    taken.expect("a plugin takes the HLO");
}

#[test]
fn names_that_c_cannot_have_are_refused() {
    let executor = open();
    for name in ["zero\0inside".to_owned(), "x".repeat(256)] {
        let mut neff = sum(Some(0));
        neff.inputs[1].name = name;
        let refused = load(&executor, &neff).err().unwrap().to_string();
        assert!(refused.contains("a tensor of a NEFF cannot be called"), "{refused}");
    }
}

#[test]
fn a_process_has_one_runtime() {
    let first = open();
    let second = open();
    let [x, _] = uploaded(&first);
    // Executors that share the runtime share its tensors only as clones of one do.
    assert!(first.clone().owns(x.as_ref()) && !second.owns(x.as_ref()));
    assert_eq!(first.version().to_string(), "2.0.0.0");
    assert_eq!(first.version().detail, "the stand-in of Halite's tests");
    drop(first);
    assert_eq!(x.download().unwrap(), vector([1.0, 2.0, 3.0, 4.0]));

    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("libnrt.so.1");
    std::fs::copy(standin_nrt::library(), &other).unwrap();
    let refused = Nrt::open(&other, &NrtOptions::default()).err().unwrap().to_string();
    assert!(refused.contains("this process uses `"), "{refused}");
    let rank = Nrt::open(&standin_nrt::library(), &NrtOptions { rank: (2, 2), ..NrtOptions::default() });
    assert_eq!(rank.err().unwrap().to_string(), "there is no rank 2 of 2");
}

/// The test of a rank of two, in a process of its own that the tests below start. The variable `CASE` chooses it; without one nothing
/// is tested.
#[test]
fn one_of_two() {
    let said = |name: &str| std::env::var(name).unwrap_or_default();
    if said("CASE").is_empty() {
        return;
    }
    let rank = said("RANK").parse().unwrap();
    let executor =
        Nrt::open(&standin_nrt::library(), &NrtOptions { rank: (rank, 2), ..NrtOptions::default() }).unwrap();
    assert_eq!(executor.rank(), Some((rank as usize, 2)));
    let mut neff = sum(Some(0));
    let refused = load(&executor, &neff).err().unwrap().to_string();
    assert!(refused.contains("the program is of 1 ranks, this process is one of 2"), "{refused}");
    neff.ranks = 2;
    match said("CASE").as_str() {
        "both" => {
            let program = load(&executor, &neff).unwrap();
            let scale = f64::from(rank + 1);
            let x = executor.upload(&vector([scale; 4]), 0).unwrap();
            let y = executor.upload(&vector([1.0, 2.0, 3.0, 4.0]), 0).unwrap();
            let sums = program.execute(vec![Input::Donate(x), Input::Keep(y.as_ref())]).unwrap();
            let expected = [1.0, 2.0, 3.0, 4.0].map(|value| value + scale);
            assert_eq!(sums[0].download().unwrap(), vector(expected));
        }
        "other-program" => {
            neff.inputs[0].name = format!("of{rank}");
            let refused = load(&executor, &neff).err().unwrap().to_string();
            assert!(refused.contains("`nrt_load_collectives` failed") && refused.contains("NRT_INVALID"), "{refused}");
        }
        "other-order" => {
            let (first, second) = (load(&executor, &neff).unwrap(), load(&executor, &neff).unwrap());
            let [x, y] = uploaded(&executor);
            let program = if rank == 0 { first } else { second };
            let refused =
                program.execute(vec![Input::Keep(x.as_ref()), Input::Keep(y.as_ref())]).unwrap_err().to_string();
            assert!(refused.contains("NRT_EXEC_HW_ERR_COLLECTIVES"), "{refused}");
        }
        status => {
            let refused = load(&executor, &neff).err().unwrap().to_string();
            assert!(refused.contains("`nrt_load_collectives` failed") && refused.contains(status), "{refused}");
        }
    }
}

/// Starts ranks of two, and waits until they have found what they should.
fn ranks(ranks: &[&str], case: &str, root: Option<&str>) {
    let start = |rank: &&str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "nrt::executor::one_of_two", "--quiet"]);
        command.env("RANK", rank).env("CASE", case).env("HALITE_STANDIN_NRT_TIMEOUT", "20");
        command.env_remove("NEURON_RT_ROOT_COMM_ID").envs(root.map(|root| ("NEURON_RT_ROOT_COMM_ID", root)));
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().unwrap()
    };
    let started: Vec<_> = ranks.iter().map(start).collect();
    for process in started {
        let output = process.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && said.contains("1 passed"), "{case}: {said}");
    }
}

#[test]
fn two_processes_run_one_program() {
    for case in ["both", "other-program", "other-order"] {
        ranks(&["0", "1"], case, Some(&crate::nrt::bench::root()));
    }
}

#[test]
fn ranks_that_do_not_meet_are_told() {
    ranks(&["0"], "NRT_INVALID", None);
    ranks(&["1"], "NRT_INVALID", Some("nowhere"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    ranks(&["0"], "NRT_RESOURCE", Some(&taken.local_addr().unwrap().to_string()));
}
