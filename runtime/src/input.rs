//! Checking the inputs of a call before anything runs.

use crate::{Executable, Input, Result, RuntimeError};

/// Checks number of replicas, number of inputs, element types, shapes and devices: what every [`Executable`] does first when it is
/// called.
///
/// # Errors
/// [`RuntimeError::InvalidInput`] naming the first input that does not fit, with what was found and what is needed.
pub fn check_inputs(executable: &dyn Executable, inputs: &[Vec<Input<'_>>]) -> Result<()> {
    let devices = executable.devices();
    if inputs.len() != devices.len() {
        let (needed, found) = (devices.len(), inputs.len());
        return Err(invalid(format!("the program has {needed} replicas, inputs are given for {found}")));
    }
    for (replica, (inputs, device)) in inputs.iter().zip(devices).enumerate() {
        let place = if devices.len() == 1 { String::new() } else { format!(" of replica {replica}") };
        check_replica(executable, inputs, *device, &place)?;
    }
    Ok(())
}

fn check_replica(executable: &dyn Executable, inputs: &[Input<'_>], device: usize, place: &str) -> Result<()> {
    let specs = &executable.signature().inputs;
    if inputs.len() != specs.len() {
        let (needed, found) = (specs.len(), inputs.len());
        return Err(invalid(format!("the program takes {needed} inputs, {found} are given{place}")));
    }
    for (index, (input, needed)) in inputs.iter().zip(specs).enumerate() {
        let (found, at) = (input.buffer().spec(), input.buffer().device());
        if found != needed {
            return Err(invalid(format!("input {index}{place} is `{found}`, the program takes `{needed}`")));
        }
        if at != device {
            return Err(invalid(format!(
                "input {index}{place} is on device {at}, the program runs on device {device}"
            )));
        }
    }
    Ok(())
}

fn invalid(reason: String) -> RuntimeError {
    RuntimeError::InvalidInput(reason)
}
