//! The executor on the crate `xla`: programs, donation, replicas, exchange with the types of that crate, refusals.

#[path = "../../tests/common/mod.rs"]
mod common;

use common::{add, add_in_place, aliased, compile, module};
use halite_hlo::{ArrayType, ReduceKind};
use halite_runtime::{CompileOptions, Executable, Executor, Input, Program, RuntimeError, evaluate, evaluate_replicas};
use halite_tensor::{DType, HostTensor, Shape};
use halite_xla_rs::{EXACT_FLAGS, XlaBuffer, XlaExecutable, XlaRs, computation, from_literal, to_literal, xla};
use std::process::Command;

/// The devices that the suite's `XLA_FLAGS` ask for.
const NUM_DEVICES: usize = 8;

fn executor() -> XlaRs {
    XlaRs::cpu().expect("the crate brings a CPU client")
}

fn vector(values: [f64; 4]) -> HostTensor {
    HostTensor::from_f64s(DType::F32, [4], values)
}

fn program(hlo: &[u8]) -> Program<'_> {
    Program::new(hlo, CompileOptions::default()).expect("the module has a signature")
}

fn load(executor: &XlaRs, hlo: &[u8]) -> XlaExecutable {
    executor.load(&program(hlo)).expect("the program compiles")
}

#[test]
fn the_suite_sets_the_environment_up() {
    assert_eq!(executor().num_devices(), NUM_DEVICES, "run `bash tests/xla-rs.sh`");
    assert_eq!(executor().platform(), "cpu");
}

#[test]
fn an_executor_knows_its_buffers() {
    let (one, other) = (executor(), executor());
    let buffer = one.upload(&vector([0.0; 4]), 0).unwrap();
    assert!(one.owns(buffer.as_ref()) && one.clone().owns(buffer.as_ref()));
    assert!(!other.owns(buffer.as_ref()) && !common::client(1).owns(buffer.as_ref()));
}

#[test]
fn adds_in_each_dtype() {
    let executor = executor();
    for dtype in DType::ALL.into_iter().filter(|dtype| *dtype != DType::Pred) {
        let values = |factor: f64| HostTensor::from_f64s(dtype, [4], (1..5).map(|value| f64::from(value) * factor));
        let executable = compile(&executor, &add(dtype));
        let outputs = evaluate(&executor, executable.as_ref(), &[values(1.0), values(10.0)]).unwrap();
        assert_eq!(outputs, [values(11.0)], "{dtype}");
    }
}

#[test]
fn every_dtype_and_rank_survives_a_round_trip() {
    let executor = executor();
    for dtype in DType::ALL {
        for shape in [Shape::scalar(), [0].into(), [3].into(), [2, 3].into(), [2, 0, 3].into(), [2, 3, 4, 5].into()] {
            let values = (0..shape.num_elements()).map(|index| (index % 2) as f64);
            let tensor = HostTensor::from_f64s(dtype, shape, values);
            assert_eq!(executor.upload(&tensor, NUM_DEVICES - 1).unwrap().download().unwrap(), tensor);
        }
    }
}

#[test]
fn tensors_go_through_literals() {
    for dtype in DType::ALL {
        for shape in [Shape::scalar(), [0].into(), [2, 3].into()] {
            let values = (0..shape.num_elements()).map(|index| (index % 2) as f64);
            let tensor = HostTensor::from_f64s(dtype, shape, values);
            assert_eq!(from_literal(&to_literal(&tensor).unwrap()).unwrap(), tensor, "{dtype}");
        }
    }
    let tuple = xla::Literal::tuple(vec![xla::Literal::scalar(1.0f32)]);
    let complex = xla::Literal::create_from_shape(xla::PrimitiveType::C64, &[2]);
    for literal in [tuple, complex] {
        assert!(matches!(from_literal(&literal), Err(RuntimeError::Transfer(_))));
    }
}

#[test]
fn outputs_come_back_row_major() {
    let executor = executor();
    let ty = ArrayType::new(DType::F32, [2, 3]);
    let hlo = module(&[ty], |entry, x| Ok(vec![entry.transpose(x[0], &[1, 0])?, x[0]]));
    let input = HostTensor::from_ints(DType::F32, [2, 3], 0..6);
    let outputs = evaluate(&executor, compile(&executor, &hlo).as_ref(), std::slice::from_ref(&input)).unwrap();
    assert_eq!(outputs, [HostTensor::from_ints(DType::F32, [3, 2], [0, 3, 1, 4, 2, 5]), input]);
}

#[test]
fn a_stated_layout_changes_no_value() {
    let executor = executor();
    let ty = ArrayType::new(DType::F32, [2, 3]);
    let hlo = module(&[ty], |entry, x| Ok(vec![entry.negate(x[0])?]));
    let input = HostTensor::from_ints(DType::F32, [2, 3], 0..6);
    let expected = HostTensor::from_f64s(DType::F32, [2, 3], (0..6).map(|value| -f64::from(value)));
    let column_major = |shape: &mut halite_hlo::proto::ShapeProto| {
        shape.layout.get_or_insert_default().minor_to_major = vec![0, 1];
    };
    for (of_parameter, of_result) in [(true, false), (false, true), (true, true)] {
        let mut message = halite_hlo::decode(&hlo).unwrap();
        let signature = message.host_program_shape.as_mut().unwrap();
        if of_parameter {
            signature.parameters.iter_mut().for_each(|shape| column_major(shape));
        }
        if of_result {
            column_major(&mut signature.result.as_mut().unwrap().tuple_shapes[0]);
        }
        let executable = compile(&executor, &halite_hlo::encode(&message));
        let outputs = evaluate(&executor, executable.as_ref(), std::slice::from_ref(&input)).unwrap();
        assert_eq!(outputs, std::slice::from_ref(&expected), "{of_parameter} {of_result}");
    }
}

#[test]
fn donation_feeds_the_next_call_and_what_is_kept_survives() {
    let executor = executor();
    let executable = load(&executor, &add_in_place());
    assert_eq!(executable.donated_inputs().collect::<Vec<_>>(), [0]);
    let one = executor.upload(&vector([1.0; 4]), 0).unwrap();
    let mut state = executor.upload(&vector([0.0; 4]), 0).unwrap();
    for _ in 0..5 {
        let inputs = vec![Input::Donate(state), Input::Keep(one.as_ref())];
        state = executable.execute(inputs).unwrap().swap_remove(0);
    }
    assert_eq!(state.download().unwrap(), vector([5.0; 4]));
    for _ in 0..2 {
        let sums = executable.execute(vec![Input::Keep(state.as_ref()), Input::Keep(state.as_ref())]).unwrap();
        assert_eq!(sums[0].download().unwrap(), vector([10.0; 4]));
    }
    assert_eq!(state.download().unwrap(), vector([5.0; 4]));
    assert_eq!(one.download().unwrap(), vector([1.0; 4]));
}

#[test]
fn an_input_may_be_donated_to_a_program_without_aliases() {
    let executor = executor();
    let executable = load(&executor, &add(DType::F32));
    assert_eq!(executable.donated_inputs().count(), 0);
    let donated = || Input::Donate(executor.upload(&vector([1.5; 4]), 0).unwrap());
    assert_eq!(executable.execute(vec![donated(), donated()]).unwrap()[0].download().unwrap(), vector([3.0; 4]));
}

#[test]
fn aliases_of_passed_on_and_swapped_state_work() {
    let executor = executor();
    let ty = ArrayType::new(DType::F32, [4]);
    let swap = aliased(&[ty.clone(), ty], &[(0, 0), (1, 1)], |_, x| Ok(vec![x[1], x[0]]));
    let executable = compile(&executor, &swap);
    let donated = |value| Input::Donate(executor.upload(&vector([value; 4]), 0).unwrap());
    let outputs = executable.execute(vec![donated(1.0), donated(2.0)]).unwrap();
    let outputs: Vec<_> = outputs.iter().map(|buffer| buffer.download().unwrap()).collect();
    assert_eq!(outputs, [vector([2.0; 4]), vector([1.0; 4])]);
}

#[test]
fn outputs_of_one_value_do_not_share_memory() {
    let executor = executor();
    let ty = ArrayType::new(DType::F32, [4]);
    let copies = compile(&executor, &module(std::slice::from_ref(&ty), |_, x| Ok(vec![x[0], x[0]])));
    let add_in_place = compile(&executor, &add_in_place());
    let x = executor.upload(&vector([1.0; 4]), 0).unwrap();
    let mut outputs = copies.execute(vec![Input::Keep(x.as_ref())]).unwrap();
    let first = outputs.swap_remove(0);
    let sum = add_in_place.execute(vec![Input::Donate(first), Input::Keep(x.as_ref())]).unwrap();
    assert_eq!(sum[0].download().unwrap(), vector([2.0; 4]));
    assert_eq!(outputs[0].download().unwrap(), vector([1.0; 4]));
    assert_eq!(x.download().unwrap(), vector([1.0; 4]));
}

#[test]
fn the_types_of_the_crate_go_in_and_out() {
    let client = xla::PjRtClient::cpu().unwrap();
    let executor = XlaRs::new(client.clone());
    let hlo = add_in_place();
    // A computation, compiled and run by the crate alone.
    let compiled = client.compile(&computation(&program(&hlo)).unwrap()).unwrap();
    let upload = |value: f32| client.buffer_from_host_buffer(&[value; 4], &[4], None).unwrap();
    let (x, y) = (upload(1.0), upload(2.0));
    let mut outputs = compiled.execute_b(&[&x, &y]).unwrap().swap_remove(0);
    assert!(x.to_literal_sync().is_err(), "the call took x");
    // The result goes into an executable of this crate, whose result goes back.
    let sum = executor.adopt(outputs.swap_remove(0), 0).unwrap();
    let y = executor.adopt(y, 0).unwrap();
    let inputs = vec![Input::Donate(Box::new(sum)), Input::Keep(&y)];
    let sum = load(&executor, &hlo).execute(inputs).unwrap().swap_remove(0);
    assert_eq!(
        XlaBuffer::of(sum.as_ref()).unwrap().as_xla().to_literal_sync().unwrap().to_vec::<f32>().unwrap(),
        [5.0; 4]
    );
    let sum = XlaBuffer::take(sum).unwrap().into_xla();
    // Both kinds of buffers go into the crate's executable.
    let outputs = load(&executor, &hlo).as_xla().execute_b(&[&sum, y.as_xla()]).unwrap();
    let literal = outputs[0][0].to_literal_sync().unwrap();
    assert_eq!(from_literal(&literal).unwrap(), vector([7.0; 4]));
    assert_eq!(to_literal(&vector([7.0; 4])).unwrap().to_vec::<f32>().unwrap(), [7.0; 4]);
}

#[test]
fn eight_replicas_reduce_in_two_groups() {
    let executor = executor();
    let hlo = module(&[ArrayType::new(DType::F32, [4])], |entry, x| {
        entry.all_reduce(ReduceKind::Add, x, &[vec![0, 1, 2, 3], vec![4, 5, 6, 7]])
    });
    let options = CompileOptions { num_replicas: NUM_DEVICES, ..Default::default() };
    let executable = executor.load(&Program::new(&hlo, options).unwrap()).unwrap();
    assert_eq!(executable.devices(), [0, 1, 2, 3, 4, 5, 6, 7]);
    let inputs: Vec<_> = (0..8).map(|rank| [vector([f64::from(rank), 1.0, 0.0, -1.0])]).collect();
    let inputs: Vec<&[HostTensor]> = inputs.iter().map(|inputs| inputs.as_slice()).collect();
    let outputs = evaluate_replicas(&executor, &executable, &inputs).unwrap();
    for (rank, outputs) in outputs.iter().enumerate() {
        let sum = if rank < 4 { 6.0 } else { 22.0 };
        assert_eq!(outputs, &[vector([sum, 4.0, 0.0, -4.0])], "rank {rank}");
    }
}

fn refusal(executable: &dyn Executable, inputs: Vec<Input<'_>>) -> String {
    match executable.execute(inputs) {
        Err(RuntimeError::InvalidInput(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn inputs_that_do_not_fit_are_refused() {
    let executor = executor();
    let executable = load(&executor, &add(DType::F32));
    let good = executor.upload(&vector([1.0; 4]), 0).unwrap();
    let refuse = |tensor: &HostTensor, device| {
        let bad = executor.upload(tensor, device).unwrap();
        refusal(&executable, vec![Input::Keep(good.as_ref()), Input::Donate(bad)])
    };
    let text = refusal(&executable, vec![Input::Keep(good.as_ref())]);
    assert_eq!(text, "the program takes 2 inputs, 1 are given");
    let text = refuse(&HostTensor::zeros(DType::S32, [4]), 0);
    assert_eq!(text, "input 1 is `s32[4]`, the program takes `f32[4]`");
    let text = refuse(&HostTensor::zeros(DType::F32, [2, 2]), 0);
    assert_eq!(text, "input 1 is `f32[2,2]`, the program takes `f32[4]`");
    assert_eq!(refuse(&vector([1.0; 4]), 1), "input 1 is on device 1, the program runs on device 0");
    assert!(executable.execute_replicas(vec![]).is_err());
}

#[test]
fn buffers_of_others_are_refused() {
    let (executor, other) = (executor(), executor());
    let executable = load(&executor, &add(DType::F32));
    let foreign = other.upload(&vector([1.0; 4]), 0).unwrap();
    let text = refusal(&executable, vec![Input::Keep(foreign.as_ref()), Input::Keep(foreign.as_ref())]);
    assert_eq!(text, "an input belongs to another executor");
    // Whose it is and where it is nobody can tell until XLA sees it.
    let foreign = XlaBuffer::take(foreign).unwrap().into_xla();
    let elsewhere = XlaBuffer::take(executor.upload(&vector([1.0; 4]), 1).unwrap()).unwrap().into_xla();
    for buffer in [foreign, elsewhere] {
        let adopted = executor.adopt(buffer, 0).unwrap();
        let run = executable.execute(vec![Input::Keep(&adopted), Input::Keep(&adopted)]);
        assert!(matches!(run, Err(RuntimeError::Execute(_))), "{run:?}");
    }
}

#[test]
fn devices_that_are_not_there_are_refused() {
    let executor = executor();
    let tensor = vector([1.0; 4]);
    assert!(matches!(executor.upload(&tensor, NUM_DEVICES), Err(RuntimeError::InvalidInput(_))));
    let buffer = XlaBuffer::take(executor.upload(&tensor, 0).unwrap()).unwrap().into_xla();
    assert!(matches!(executor.adopt(buffer, NUM_DEVICES), Err(RuntimeError::InvalidInput(_))));
    let hlo = add(DType::F32);
    let options = CompileOptions { num_replicas: NUM_DEVICES + 1, ..Default::default() };
    let error = executor.load(&Program::new(&hlo, options).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "not a program that can be run: 9 replicas need as many devices, there are 8");
}

#[test]
fn what_the_crate_cannot_do_is_refused() {
    let executor = executor();
    let hlo = add(DType::F32);
    let level = CompileOptions { optimization_level: Some(0), ..Default::default() };
    let refused = executor.load(&Program::new(&hlo, level).unwrap());
    assert!(matches!(refused, Err(RuntimeError::Unsupported(_))), "{refused:?}");
    let stats = load(&executor, &hlo).memory_stats();
    assert!(matches!(stats, Err(RuntimeError::Unsupported(_))), "{stats:?}");
}

#[test]
fn bytes_that_are_no_program_end_in_an_error() {
    let executor = executor();
    let refused = |hlo: &[u8]| match Program::new(hlo, CompileOptions::default()) {
        Err(RuntimeError::InvalidProgram(_)) => (),
        Ok(program) => {
            let error = executor.load(&program).unwrap_err();
            assert!(matches!(error, RuntimeError::Compile(_) | RuntimeError::InvalidProgram(_)), "{error:?}");
        }
        Err(other) => panic!("{other:?}"),
    };
    let good = add(DType::F32);
    refused(b"");
    refused(&[0xff; 64]);
    refused(&good[..good.len() / 2]);
    let changed = |change: &dyn Fn(&mut halite_hlo::proto::HloModuleProto)| {
        let mut message = halite_hlo::decode(&good).expect("the bytes were just encoded");
        change(&mut message);
        refused(&halite_hlo::encode(&message));
    };
    changed(&|module| module.host_program_shape = None);
    changed(&|module| module.host_program_shape.as_mut().unwrap().parameters[0].dimensions = vec![8]);
    changed(&|module| module.host_program_shape.as_mut().unwrap().parameters.truncate(1));
    let outputs = |module: &mut halite_hlo::proto::HloModuleProto, change: &dyn Fn(&mut Vec<_>)| {
        change(&mut module.host_program_shape.as_mut().unwrap().result.as_mut().unwrap().tuple_shapes);
    };
    changed(&|module| outputs(module, &|shapes| shapes.push(shapes[0].clone())));
    changed(&|module| outputs(module, &|shapes| shapes.clear()));
    changed(&|module| module.computations.clear());
    changed(&|module| module.entry_computation_id = 99);
    changed(&|module| module.computations[0].instructions.clear());
    changed(&|module| module.computations[0].instructions[0].opcode = "no-such-opcode".into());
    changed(&|module| module.computations[0].root_id = 99);
}

/// Set in the process that [`exact_rounding_is_refused_where_xla_does_not_promise_it`] starts.
const CHILD: &str = "HALITE_TEST_XLA_RS_CHILD";

#[test]
fn exact_rounding_is_refused_where_xla_does_not_promise_it() {
    let name = "exact_rounding_is_refused_where_xla_does_not_promise_it";
    if std::env::var_os(CHILD).is_none() {
        for flags in ["", EXACT_FLAGS[0], EXACT_FLAGS[1]] {
            let mut child = Command::new(std::env::current_exe().unwrap());
            let output = child.args(["--exact", name]).env(CHILD, "1").env("XLA_FLAGS", flags).output().unwrap();
            assert!(output.status.success(), "{flags}: {}", String::from_utf8_lossy(&output.stdout));
        }
        return;
    }
    let executor = executor();
    let hlo = add(DType::F32);
    let error = executor.load(&program(&hlo)).unwrap_err();
    assert!(matches!(&error, RuntimeError::Unsupported(text) if text.contains(EXACT_FLAGS[0])), "{error}");
    let options = CompileOptions { excess_precision: true, ..Default::default() };
    let executable = executor.load(&Program::new(&hlo, options).unwrap()).unwrap();
    let outputs = evaluate(&executor, &executable, &[vector([1.0; 4]), vector([2.0; 4])]).unwrap();
    assert_eq!(outputs, [vector([3.0; 4])]);
}

#[test]
fn buffers_and_executables_outlive_the_executor() {
    let executor = executor();
    let executable = compile(&executor, &add(DType::F32));
    let x = executor.upload(&vector([1.0; 4]), 0).unwrap();
    drop(executor);
    let outputs = executable.execute(vec![Input::Keep(x.as_ref()), Input::Keep(x.as_ref())]).unwrap();
    drop(executable);
    assert_eq!(outputs[0].download().unwrap(), vector([2.0; 4]));
}

#[test]
fn one_executable_serves_two_threads() {
    let executor = executor();
    let executable = compile(&executor, &add(DType::F32));
    std::thread::scope(|scope| {
        for value in [1.0, 2.0] {
            let (executor, executable) = (&executor, executable.as_ref());
            scope.spawn(move || {
                for _ in 0..20 {
                    let outputs = evaluate(executor, executable, &[vector([value; 4]), vector([value; 4])]).unwrap();
                    assert_eq!(outputs, [vector([2.0 * value; 4])]);
                }
            });
        }
    });
}
