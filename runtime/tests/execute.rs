//! Compiling and running through the plugin.

use crate::common::{add, add_in_place, aliased, client, compile, module};
use halite_hlo::proto::{ShapeProto, Shared};
use halite_hlo::{ArrayType, DotDims, ReduceKind};
use halite_runtime::{
    CompileOptions, Executable, Executor, Input, Pjrt, Program, RuntimeError, evaluate, evaluate_replicas,
};
use halite_tensor::{DType, HostTensor, Shape};
use std::iter::{once, repeat_n};

fn vector(dtype: DType, values: [f64; 4]) -> HostTensor {
    HostTensor::from_f64s(dtype, [4], values)
}

#[test]
fn adds_in_each_dtype() {
    let executor = client(1);
    for dtype in DType::ALL.into_iter().filter(|dtype| *dtype != DType::Pred) {
        let executable = compile(&executor, &add(dtype));
        let inputs = [vector(dtype, [1.0, 2.0, 3.0, 4.0]), vector(dtype, [10.0, 20.0, 30.0, 40.0])];
        let outputs = evaluate(&executor, executable.as_ref(), &inputs).unwrap();
        assert_eq!(outputs, [vector(dtype, [11.0, 22.0, 33.0, 44.0])], "{dtype}");
    }
}

#[test]
fn every_dtype_and_rank_survives_a_round_trip() {
    let executor = client(1);
    for dtype in DType::ALL {
        for shape in [Shape::scalar(), [0].into(), [3].into(), [2, 3].into(), [2, 0, 3].into(), [2, 3, 4, 5].into()] {
            let values = (0..shape.num_elements()).map(|index| (index % 2) as f64);
            let tensor = HostTensor::from_f64s(dtype, shape, values);
            assert_eq!(executor.upload(&tensor, 0).unwrap().download().unwrap(), tensor);
        }
    }
}

#[test]
fn outputs_of_any_layout_come_back_row_major() {
    let executor = client(1);
    let ty = ArrayType::new(DType::F32, [2, 3]);
    let hlo = module(&[ty], |entry, x| Ok(vec![entry.transpose(x[0], &[1, 0])?, x[0]]));
    let input = HostTensor::from_ints(DType::F32, [2, 3], 0..6);
    let outputs = evaluate(&executor, compile(&executor, &hlo).as_ref(), std::slice::from_ref(&input)).unwrap();
    assert_eq!(outputs[0], HostTensor::from_ints(DType::F32, [3, 2], [0, 3, 1, 4, 2, 5]));
    assert_eq!(outputs[1], input);
}

#[test]
fn a_layout_that_is_not_row_major_changes_no_value() {
    let executor = client(1);
    let ty = ArrayType::new(DType::F32, [2, 3]);
    let hlo = module(&[ty], |entry, x| Ok(vec![entry.negate(x[0])?]));
    let mut message = halite_hlo::decode(&hlo).unwrap();
    let input = HostTensor::from_ints(DType::F32, [2, 3], 0..6);
    let expected = HostTensor::from_f64s(DType::F32, [2, 3], (0..6).map(|value| -f64::from(value)));
    let column_major = |shape: &mut Shared<ShapeProto>| {
        shape.layout.get_or_insert_default().minor_to_major = vec![0, 1];
    };
    let signature = message.host_program_shape.as_mut().unwrap();
    column_major(&mut signature.result.as_mut().unwrap().tuple_shapes[0]);
    signature.parameters.iter_mut().for_each(column_major);
    let executable = compile(&executor, &halite_hlo::encode(&message));
    assert_eq!(evaluate(&executor, executable.as_ref(), &[input]).unwrap(), [expected]);
}

#[test]
fn bf16_chains_are_exact_unless_excess_precision_is_asked_for() {
    let executor = client(1);
    let ty = ArrayType::scalar(DType::Bf16);
    let hlo = module(&[ty], |entry, x| {
        let square = entry.multiply(x[0], x[0])?;
        let sum = entry.add(square, x[0])?;
        Ok(vec![entry.convert(sum, DType::F32)?])
    });
    let run = |excess_precision| {
        let options = CompileOptions { excess_precision, ..Default::default() };
        let executable = executor.compile(&Program::new(&hlo, options).unwrap()).unwrap();
        let input = HostTensor::scalar(DType::Bf16, 1.234_567_8);
        evaluate(&executor, executable.as_ref(), &[input]).unwrap()[0].f64s()
    };
    assert_eq!(run(false), [2.75]);
    assert_eq!(run(true), [2.7578125]);
}

#[test]
fn every_optimization_level_compiles() {
    let executor = client(1);
    let hlo = add(DType::F32);
    for level in 0..=3 {
        let options = CompileOptions { optimization_level: Some(level), ..Default::default() };
        let executable = executor.compile(&Program::new(&hlo, options).unwrap()).unwrap();
        let ones = vector(DType::F32, [1.0; 4]);
        let outputs = evaluate(&executor, executable.as_ref(), &[ones.clone(), ones]).unwrap();
        assert_eq!(outputs, [vector(DType::F32, [2.0; 4])]);
    }
    let level = CompileOptions { optimization_level: Some(4), ..Default::default() };
    assert!(matches!(Program::new(&hlo, level), Err(RuntimeError::InvalidProgram(_))));
}

#[test]
fn donation_is_planned_and_feeds_the_next_call() {
    let executor = client(1);
    let executable = compile(&executor, &add_in_place());
    let stats = executable.memory_stats().unwrap();
    assert_eq!((stats.argument, stats.alias), (32, 16));
    let one = executor.upload(&vector(DType::F32, [1.0; 4]), 0).unwrap();
    let mut state = executor.upload(&vector(DType::F32, [0.0; 4]), 0).unwrap();
    for _ in 0..5 {
        let inputs = vec![Input::Donate(state), Input::Keep(one.as_ref())];
        state = executable.execute(inputs).unwrap().swap_remove(0);
    }
    assert_eq!(state.download().unwrap(), vector(DType::F32, [5.0; 4]));
    assert_eq!(one.download().unwrap(), vector(DType::F32, [1.0; 4]));
}

#[test]
fn a_kept_input_survives_although_the_program_aliases_it() {
    let executor = client(1);
    let executable = compile(&executor, &add_in_place());
    let [x, y] = [1.0, 2.0].map(|value| executor.upload(&vector(DType::F32, [value; 4]), 0).unwrap());
    for _ in 0..2 {
        let outputs = executable.execute(vec![Input::Keep(x.as_ref()), Input::Keep(y.as_ref())]).unwrap();
        assert_eq!(outputs[0].download().unwrap(), vector(DType::F32, [3.0; 4]));
    }
    let twice = executable.execute(vec![Input::Keep(x.as_ref()), Input::Keep(x.as_ref())]).unwrap();
    assert_eq!(twice[0].download().unwrap(), vector(DType::F32, [2.0; 4]));
    assert_eq!(x.download().unwrap(), vector(DType::F32, [1.0; 4]));
}

#[test]
fn an_input_may_be_donated_to_a_program_without_aliases() {
    let executor = client(1);
    let executable = compile(&executor, &add(DType::F32));
    let donated = || Input::Donate(executor.upload(&vector(DType::F32, [1.5; 4]), 0).unwrap());
    let outputs = executable.execute(vec![donated(), donated()]).unwrap();
    assert_eq!(outputs[0].download().unwrap(), vector(DType::F32, [3.0; 4]));
}

#[test]
fn outputs_of_one_value_do_not_share_memory() {
    let executor = client(1);
    let ty = ArrayType::new(DType::F32, [4]);
    let copies = compile(&executor, &module(std::slice::from_ref(&ty), |_, x| Ok(vec![x[0], x[0]])));
    let add_in_place = compile(&executor, &add_in_place());
    let x = executor.upload(&vector(DType::F32, [1.0; 4]), 0).unwrap();
    let mut outputs = copies.execute(vec![Input::Keep(x.as_ref())]).unwrap();
    let first = outputs.swap_remove(0);
    let sum = add_in_place.execute(vec![Input::Donate(first), Input::Keep(x.as_ref())]).unwrap();
    assert_eq!(sum[0].download().unwrap(), vector(DType::F32, [2.0; 4]));
    assert_eq!(outputs[0].download().unwrap(), vector(DType::F32, [1.0; 4]));
    assert_eq!(x.download().unwrap(), vector(DType::F32, [1.0; 4]));
}

#[test]
fn aliases_of_passed_on_and_swapped_state_work() {
    let executor = client(1);
    let ty = ArrayType::new(DType::F32, [4]);
    let swap = aliased(&[ty.clone(), ty], &[(0, 0), (1, 1)], |_, x| Ok(vec![x[1], x[0]]));
    let executable = compile(&executor, &swap);
    let donated = |value| Input::Donate(executor.upload(&vector(DType::F32, [value; 4]), 0).unwrap());
    let outputs = executable.execute(vec![donated(1.0), donated(2.0)]).unwrap();
    let outputs: Vec<_> = outputs.iter().map(|buffer| buffer.download().unwrap()).collect();
    assert_eq!(outputs, [vector(DType::F32, [2.0; 4]), vector(DType::F32, [1.0; 4])]);
}

fn refusal(executable: &dyn Executable, inputs: Vec<Input<'_>>) -> String {
    match executable.execute(inputs) {
        Err(RuntimeError::InvalidInput(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn inputs_that_do_not_fit_are_refused() {
    let executor = client(2);
    let executable = compile(&executor, &add(DType::F32));
    let upload = |tensor: &HostTensor, device| executor.upload(tensor, device).unwrap();
    let good = upload(&vector(DType::F32, [1.0; 4]), 0);
    let refuse = |tensor: &HostTensor, device| {
        let bad = upload(tensor, device);
        refusal(executable.as_ref(), vec![Input::Keep(good.as_ref()), Input::Donate(bad)])
    };
    assert_eq!(
        refusal(executable.as_ref(), vec![Input::Keep(good.as_ref())]),
        "the program takes 2 inputs, 1 are given"
    );
    assert_eq!(refuse(&vector(DType::S32, [1.0; 4]), 0), "input 1 is `s32[4]`, the program takes `f32[4]`");
    assert_eq!(refuse(&HostTensor::zeros(DType::F32, [2, 2]), 0), "input 1 is `f32[2,2]`, the program takes `f32[4]`");
    assert_eq!(refuse(&vector(DType::F32, [1.0; 4]), 1), "input 1 is on device 1, the program runs on device 0");
    assert!(executable.execute_replicas(vec![]).is_err());
    assert!(matches!(executor.upload(&good.download().unwrap(), 2), Err(RuntimeError::InvalidInput(_))));
}

#[test]
fn buffers_of_another_client_are_refused() {
    let (executor, other) = (client(1), client(1));
    let executable = compile(&executor, &add(DType::F32));
    let foreign = other.upload(&vector(DType::F32, [1.0; 4]), 0).unwrap();
    let text = refusal(executable.as_ref(), vec![Input::Keep(foreign.as_ref()), Input::Keep(foreign.as_ref())]);
    assert_eq!(text, "an input belongs to another executor");
}

#[test]
fn memory_statistics_count_arguments_and_outputs() {
    let executor = client(1);
    let stats = compile(&executor, &add(DType::F64)).memory_stats().unwrap();
    assert_eq!((stats.argument, stats.alias), (64, 0));
    assert!(stats.output >= 32, "{stats:?}");
    assert!(stats.peak >= 96, "{stats:?}");
}

#[test]
fn buffers_and_executables_outlive_the_executor() {
    let executor = client(1);
    let executable = compile(&executor, &add(DType::F32));
    let x = executor.upload(&vector(DType::F32, [1.0; 4]), 0).unwrap();
    drop(executor);
    let outputs = executable.execute(vec![Input::Keep(x.as_ref()), Input::Keep(x.as_ref())]).unwrap();
    drop(executable);
    assert_eq!(outputs[0].download().unwrap(), vector(DType::F32, [2.0; 4]));
}

fn all_reduce_in_halves() -> Vec<u8> {
    let ty = ArrayType::new(DType::F32, [4]);
    module(&[ty], |entry, x| {
        let groups = [vec![0, 1, 2, 3], vec![4, 5, 6, 7]];
        entry.all_reduce(ReduceKind::Add, x, &groups)
    })
}

fn in_replicas(executor: &Pjrt, hlo: &[u8], num_replicas: usize) -> halite_runtime::Result<Box<dyn Executable>> {
    executor.compile(&Program::new(hlo, CompileOptions { num_replicas, ..Default::default() })?)
}

#[test]
fn eight_replicas_reduce_in_two_groups() {
    let executor = client(8);
    let executable = in_replicas(&executor, &all_reduce_in_halves(), 8).unwrap();
    assert_eq!(executable.devices(), [0, 1, 2, 3, 4, 5, 6, 7]);
    let inputs: Vec<_> = (0..8).map(|rank| [vector(DType::F32, [f64::from(rank), 1.0, 0.0, -1.0])]).collect();
    let inputs: Vec<&[HostTensor]> = inputs.iter().map(|inputs| inputs.as_slice()).collect();
    let outputs = evaluate_replicas(&executor, executable.as_ref(), &inputs).unwrap();
    for (rank, outputs) in outputs.iter().enumerate() {
        let sum = if rank < 4 { 6.0 } else { 22.0 };
        assert_eq!(outputs, &[vector(DType::F32, [sum, 4.0, 0.0, -4.0])], "rank {rank}");
    }
}

#[test]
fn more_replicas_than_devices_are_refused() {
    let error = in_replicas(&client(2), &add(DType::F32), 3).err().unwrap();
    assert_eq!(error.to_string(), "not a program that can be run: 3 replicas need as many devices, there are 2");
    assert!(in_replicas(&client(1), &add(DType::F32), 0).is_err());
}

#[test]
fn two_clients_work_in_two_threads() {
    let work = |value: f64| {
        move || {
            let executor = client(1);
            let executable = compile(&executor, &add(DType::F32));
            for _ in 0..20 {
                let input = vector(DType::F32, [value; 4]);
                let outputs = evaluate(&executor, executable.as_ref(), &[input.clone(), input]).unwrap();
                assert_eq!(outputs, [vector(DType::F32, [2.0 * value; 4])]);
            }
        }
    };
    let threads = [1.0, 2.0].map(|value| std::thread::spawn(work(value)));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn one_executable_serves_two_threads() {
    let executor = client(1);
    let executable = compile(&executor, &add(DType::F32));
    std::thread::scope(|scope| {
        for value in [1.0, 2.0] {
            let (executor, executable) = (&executor, executable.as_ref());
            scope.spawn(move || {
                for _ in 0..20 {
                    let input = vector(DType::F32, [value; 4]);
                    let outputs = evaluate(executor, executable, &[input.clone(), input]).unwrap();
                    assert_eq!(outputs, [vector(DType::F32, [2.0 * value; 4])]);
                }
            });
        }
    });
}

/// CPU XLA would multiply by XNNPACK here, which packs the right side once and packs it anew only where it lies at another address.
#[test]
fn a_matrix_that_is_changed_in_its_place_is_read_anew() {
    let executor = client(1);
    let [x, w] = [[256, 256], [256, 128]].map(|sizes| ArrayType::new(DType::F32, sizes));
    let hlo = aliased(&[w.clone(), x.clone()], &[(0, 0)], |entry, p| {
        let x = entry.negate(p[1])?;
        let dims =
            DotDims { lhs_contracting: once(1).collect(), rhs_contracting: once(0).collect(), ..Default::default() };
        let product = entry.dot(x, p[0], &dims, DType::F32)?;
        Ok(vec![entry.add(p[0], product)?, product])
    });
    let executable = compile(&executor, &hlo);
    // An identity: the product is what the state was, negated, and the new state is zero.
    let identity = (0..256 * 256).map(|index| f64::from(index / 256 == index % 256));
    let x = executor.upload(&HostTensor::from_f64s(DType::F32, x.shape, identity), 0).unwrap();
    let mut state = executor.upload(&HostTensor::from_f64s(DType::F32, w.shape, repeat_n(1.0, 256 * 128)), 0).unwrap();
    for expected in [-1.0, 0.0, 0.0] {
        let mut outputs = executable.execute(vec![Input::Donate(state), Input::Keep(x.as_ref())]).unwrap();
        let product = outputs.swap_remove(1).download().unwrap().f64s();
        assert!(product.iter().all(|value| *value == expected), "{:?} for {expected}", &product[..4]);
        state = outputs.swap_remove(0);
    }
}
