//! Programs on parts of the devices, which run at once and hand values on: what stages of a pipeline do.

#![allow(clippy::unwrap_used, reason = "this is test code")]

use crate::common::{client, module};
use halite_hlo::{ArrayType, ReduceKind};
use halite_runtime::{Buffer, CompileOptions, Executable, Executor, Input, Pjrt, Program, RuntimeError};
use halite_tensor::{DType, HostTensor};
use std::sync::mpsc::channel;
use std::thread::scope;

/// The times that two stages hand values on: `HALITE_STAGE_ROUNDS`, or 60.
fn rounds() -> usize {
    let variable = std::env::var("HALITE_STAGE_ROUNDS").ok();
    variable.map_or(60, |text| text.parse().expect("`HALITE_STAGE_ROUNDS` is a whole number"))
}

fn vector(values: [f64; 2]) -> HostTensor {
    HostTensor::from_f64s(DType::F32, [2], values)
}

/// The sum over groups of replicas, and once more of what that gives.
fn summed_twice(groups: &[Vec<usize>]) -> Vec<u8> {
    module(&[ArrayType::new(DType::F32, [2])], |entry, x| {
        let once = entry.all_reduce(ReduceKind::Add, x, groups)?;
        entry.all_reduce(ReduceKind::Add, &once, groups)
    })
}

fn on(executor: &Pjrt, hlo: &[u8], devices: &[usize]) -> halite_runtime::Result<Box<dyn Executable>> {
    let options = CompileOptions { num_replicas: devices.len(), devices: devices.to_vec(), ..Default::default() };
    executor.compile(&Program::new(hlo, options)?)
}

/// One output of each replica of a program that takes and gives one value.
fn run(executable: &dyn Executable, inputs: &[Buffer]) -> Vec<Buffer> {
    let inputs = inputs.iter().map(|input| vec![Input::Keep(input.as_ref())]).collect();
    executable.execute_replicas(inputs).unwrap().into_iter().map(|mut outputs| outputs.remove(0)).collect()
}

fn upload(executor: &Pjrt, devices: &[usize], value: f64) -> Vec<Buffer> {
    devices.iter().map(|&device| executor.upload(&vector([value, 1.0]), device).unwrap()).collect()
}

#[test]
fn a_program_runs_on_the_devices_that_are_stated() {
    let executor = client(8);
    for devices in [vec![4, 5, 6, 7], vec![6, 1], vec![3]] {
        let all: Vec<usize> = (0..devices.len()).collect();
        let executable = on(&executor, &summed_twice(&[all]), &devices).unwrap();
        assert_eq!(executable.devices(), devices);
        let count = devices.len() as f64;
        for (output, device) in run(executable.as_ref(), &upload(&executor, &devices, 2.0)).iter().zip(&devices) {
            assert_eq!(
                (output.device(), output.download().unwrap()),
                (*device, vector([2.0 * count * count, count * count]))
            );
        }
    }
}

#[test]
fn devices_that_there_are_not_are_refused() {
    let executor = client(2);
    let hlo = summed_twice(&[vec![0, 1]]);
    let refused = |devices: &[usize]| on(&executor, &hlo, devices).err().unwrap();
    assert!(matches!(refused(&[1, 2]), RuntimeError::InvalidInput(reason) if reason.contains("no device 2")));
    assert!(matches!(refused(&[1, 1]), RuntimeError::InvalidProgram(reason) if reason.contains("a device each")));
    assert!(executor.copy(upload(&executor, &[0], 1.0)[0].as_ref(), 2).is_err());
    assert!(executor.copy(upload(&client(1), &[0], 1.0)[0].as_ref(), 1).is_err());
}

#[test]
fn a_copy_is_on_its_device_and_outlives_what_it_was_made_of() {
    let executor = client(3);
    let first = executor.upload(&vector([1.0, 2.0]), 0).unwrap();
    let second = executor.copy(first.as_ref(), 2).unwrap();
    let third = executor.copy(second.as_ref(), 2).unwrap();
    drop((first, second));
    assert_eq!((third.device(), third.download().unwrap()), (2, vector([1.0, 2.0])));
}

/// Two stages on the halves of eight devices, each a thread, with sums over replicas in both of their programs: what one makes the other reads, as
/// copies from device to device. After some rounds a program of all devices sums across both, as the gradient of a tied weight is, while neither
/// runs its own. Every value is what the arithmetic says.
#[test]
fn two_stages_run_at_once_and_hand_values_on() {
    const BETWEEN_SUMS: usize = 10;
    let executor = client(8);
    let halves = [[0, 1, 2, 3], [4, 5, 6, 7]];
    let programs = halves.map(|devices| on(&executor, &summed_twice(&[vec![0, 1, 2, 3]]), &devices).unwrap());
    let pairs: Vec<Vec<usize>> = (0..4).map(|rank| vec![rank, rank + 4]).collect();
    let across = on(&executor, &summed_twice(&pairs), &[0, 1, 2, 3, 4, 5, 6, 7]).unwrap();
    for since in (0..rounds()).step_by(BETWEEN_SUMS) {
        let (there, arrives) = channel::<Vec<Buffer>>();
        let (back, returns) = channel::<Vec<Buffer>>();
        let handed_on = |values: Vec<Buffer>, devices: [usize; 4]| -> Vec<Buffer> {
            let copied = values.iter().zip(devices).map(|(value, device)| executor.copy(value.as_ref(), device));
            copied.collect::<Result<_, _>>().unwrap()
        };
        let (first, second, own) = (&programs[0], &programs[1], &executor);
        let last = scope(|scope| {
            scope.spawn(move || {
                for values in arrives {
                    back.send(handed_on(run(second.as_ref(), &values), halves[0])).unwrap();
                }
            });
            let first = scope.spawn(move || {
                for round in since..since + BETWEEN_SUMS {
                    let made = run(first.as_ref(), &upload(own, &halves[0], round as f64));
                    there.send(handed_on(made, halves[1])).unwrap();
                }
                drop(there);
                returns.into_iter().last().unwrap()
            });
            first.join().unwrap()
        });
        let round = (since + BETWEEN_SUMS - 1) as f64;
        let expected = [256.0 * round, 256.0];
        assert!(last.iter().all(|value| value.download().unwrap() == vector(expected)), "round {round}");
        let all: Vec<Buffer> = last.into_iter().chain(upload(&executor, &halves[1], 0.0)).collect();
        let sums = run(across.as_ref(), &all);
        assert!(sums.iter().all(|sum| sum.download().unwrap() == vector([512.0 * round, 514.0])), "round {round}");
    }
}
