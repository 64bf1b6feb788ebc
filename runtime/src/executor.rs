//! The traits that each back end implements to run programs.

use crate::{Program, ProgramFormat, Result, RuntimeError, Signature, TensorSpec};
use halite_tensor::HostTensor;
use std::any::Any;
use std::fmt;

/// Compiles programs and owns devices.
pub trait Executor: Send + Sync {
    /// Name of the platform, e.g. `cpu`.
    fn platform(&self) -> String;

    /// Number of devices. Replica r of a program runs on device r unless the back end says otherwise.
    fn num_devices(&self) -> usize;

    /// The one rank of a program that runs here, and of how many it is, where each rank is a process of its own; `None` where all
    /// ranks run on devices of this executor.
    fn rank(&self) -> Option<(usize, usize)> {
        None
    }

    /// The language in which it takes programs: whoever compiles has the program in it.
    fn format(&self) -> ProgramFormat {
        ProgramFormat::Hlo
    }

    /// Whether a buffer lives on a device of this executor, so that a program compiled by it takes it. Programs refuse
    /// buffers of others, but a call that is refused has used up what was donated to it.
    fn owns(&self, buffer: &dyn DeviceBuffer) -> bool;

    /// Compiles a program for its replicas, each on the device that its options state.
    ///
    /// # Errors
    /// When there are fewer devices than replicas, the back end has no choice of devices, or the compiler refuses the program.
    fn compile(&self, program: &Program<'_>) -> Result<Box<dyn Executable>>;

    /// Copies a tensor to a device.
    ///
    /// # Errors
    /// When there is no such device or the copy fails.
    fn upload(&self, tensor: &HostTensor, device: usize) -> Result<Buffer>;

    /// Copies a buffer of this executor to another of its devices, or makes a second buffer on the same one.
    ///
    /// # Errors
    /// When there is no such device, the buffer is another executor's, or the copy fails.
    fn copy(&self, buffer: &dyn DeviceBuffer, device: usize) -> Result<Buffer> {
        if !self.owns(buffer) {
            return Err(RuntimeError::InvalidInput("the buffer belongs to another executor".into()));
        }
        self.upload(&buffer.download()?, device)
    }
}

/// A compiled program.
pub trait Executable: Send + Sync {
    /// The inputs and outputs of each replica.
    fn signature(&self) -> &Signature;

    /// The device of each replica.
    fn devices(&self) -> &[usize];

    /// Bytes that one replica needs.
    ///
    /// # Errors
    /// When the back end cannot tell.
    fn memory_stats(&self) -> Result<MemoryStats>;

    /// Runs all replicas together, `inputs[r]` being those of replica r, and waits until they are done.
    /// Returns the outputs of each replica.
    ///
    /// # Errors
    /// When the inputs do not fit the signature and devices (found before anything runs), or the run fails.
    /// Donated buffers are gone in either case.
    fn execute_replicas(&self, inputs: Vec<Vec<Input<'_>>>) -> Result<Vec<Vec<Buffer>>>;

    /// Runs a program that has one replica, and waits until it is done.
    ///
    /// # Errors
    /// As [`execute_replicas`](Self::execute_replicas).
    fn execute(&self, inputs: Vec<Input<'_>>) -> Result<Vec<Buffer>> {
        only(self.execute_replicas(vec![inputs])?)
    }
}

/// The outputs of the one replica that there is.
fn only<T>(mut replicas: Vec<T>) -> Result<T> {
    match (replicas.pop(), replicas.len()) {
        (Some(outputs), 0) => Ok(outputs),
        (last, others) => {
            let count = others + usize::from(last.is_some());
            let reason = format!("the back end gives outputs of {count} replicas, the program was run for one");
            Err(RuntimeError::Unsupported(reason))
        }
    }
}

/// An array on a device.
pub type Buffer = Box<dyn DeviceBuffer>;

/// An array on a device. Its memory is its own: no two live buffers share any.
pub trait DeviceBuffer: Any + fmt::Debug + Send + Sync {
    /// Element type and sizes.
    fn spec(&self) -> &TensorSpec;

    /// The device that it lives on.
    fn device(&self) -> usize;

    /// Copies it to the host.
    ///
    /// # Errors
    /// When the copy fails.
    fn download(&self) -> Result<HostTensor>;
}

/// One input of a call: a buffer that is lent, or one that is given away.
///
/// A donated buffer moves into the call, so it can neither be donated twice nor used afterwards:
///
/// ```compile_fail,E0382
/// use halite_runtime::{Buffer, Executable, Input};
/// fn twice(executable: &dyn Executable, buffer: Buffer) {
///     let _ = executable.execute(vec![Input::Donate(buffer), Input::Donate(buffer)]);
/// }
/// ```
/// ```compile_fail,E0382
/// use halite_runtime::{Buffer, Executable, Input};
/// fn after(executable: &dyn Executable, buffer: Buffer) {
///     let _ = executable.execute(vec![Input::Donate(buffer)]);
///     let _ = buffer.download();
/// }
/// ```
#[derive(Debug)]
pub enum Input<'a> {
    /// The buffer stays as it is.
    Keep(&'a dyn DeviceBuffer),
    /// The call may reuse the memory for the output that the program aliases with this input; the buffer is gone.
    Donate(Buffer),
}

impl Input<'_> {
    /// The buffer, however it is passed.
    pub fn buffer(&self) -> &dyn DeviceBuffer {
        match self {
            Self::Keep(buffer) => *buffer,
            Self::Donate(buffer) => buffer.as_ref(),
        }
    }

    /// The buffer, where it is given away.
    pub fn into_donated(self) -> Option<Buffer> {
        match self {
            Self::Keep(_) => None,
            Self::Donate(buffer) => Some(buffer),
        }
    }

    /// Whether the buffer is given away.
    pub fn is_donated(&self) -> bool {
        matches!(self, Self::Donate(_))
    }
}

/// Bytes that one replica of a compiled program needs, as its compiler planned them.
/// Executors from outside start from the default and set what they know.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct MemoryStats {
    /// All inputs.
    pub argument: u64,
    /// All outputs, those that reuse inputs included.
    pub output: u64,
    /// The part of the inputs that outputs reuse.
    pub alias: u64,
    /// Intermediate values.
    pub temp: u64,
    /// Machine code.
    pub generated_code: u64,
    /// The most that is live at one time; 0 when the back end does not say.
    pub peak: u64,
}

/// Runs a program of one replica once on host tensors.
///
/// # Errors
/// As [`Executor::upload`], [`Executable::execute`] and [`DeviceBuffer::download`].
pub fn evaluate(
    executor: &dyn Executor,
    executable: &dyn Executable,
    inputs: &[HostTensor],
) -> Result<Vec<HostTensor>> {
    only(evaluate_replicas(executor, executable, &[inputs])?)
}

/// Runs a program once on host tensors, `inputs[r]` being those of replica r.
///
/// # Errors
/// As [`Executor::upload`], [`Executable::execute_replicas`] and [`DeviceBuffer::download`].
pub fn evaluate_replicas(
    executor: &dyn Executor,
    executable: &dyn Executable,
    inputs: &[&[HostTensor]],
) -> Result<Vec<Vec<HostTensor>>> {
    let devices = executable.devices();
    if inputs.len() != devices.len() {
        let reason = format!("the program has {} replicas, inputs are given for {}", devices.len(), inputs.len());
        return Err(RuntimeError::InvalidInput(reason));
    }
    let upload = |device: usize, tensors: &[HostTensor]| -> Result<Vec<Input<'static>>> {
        tensors.iter().map(|tensor| executor.upload(tensor, device).map(Input::Donate)).collect()
    };
    let inputs = devices.iter().zip(inputs).map(|(device, tensors)| upload(*device, tensors));
    let outputs = executable.execute_replicas(inputs.collect::<Result<_>>()?)?;
    outputs.iter().map(|replica| replica.iter().map(|buffer| buffer.download()).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A back end that gives outputs of some number of replicas, whatever it is asked.
    #[derive(Default)]
    struct Foreign {
        signature: Signature,
        replicas: usize,
    }

    impl Executable for Foreign {
        fn signature(&self) -> &Signature {
            &self.signature
        }

        fn devices(&self) -> &[usize] {
            &[0]
        }

        fn memory_stats(&self) -> Result<MemoryStats> {
            Ok(MemoryStats::default())
        }

        fn execute_replicas(&self, _: Vec<Vec<Input<'_>>>) -> Result<Vec<Vec<Buffer>>> {
            Ok((0..self.replicas).map(|_| Vec::new()).collect())
        }
    }

    #[test]
    fn outputs_of_other_than_one_replica_are_an_error() {
        let execute = |replicas| Foreign { replicas, ..Foreign::default() }.execute(Vec::new());
        assert!(execute(1).unwrap().is_empty());
        for count in [0, 2] {
            let error = execute(count).unwrap_err().to_string();
            assert_eq!(error, format!("the back end gives outputs of {count} replicas, the program was run for one"));
        }
    }
}
