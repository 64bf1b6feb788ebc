//! A compiled program and its runs.

use super::buffer::XlaBuffer;
use super::client::Client;
use super::{convert, donors, status};
use halite_runtime::{
    Buffer, Executable, Input, MemoryStats, Program, Result, RuntimeError, Signature, Status, StatusCode, TensorSpec,
    check_inputs,
};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// An [`Executable`] that holds an [`xla::PjRtLoadedExecutable`].
pub struct XlaExecutable {
    client: Arc<Client>,
    loaded: xla::PjRtLoadedExecutable,
    signature: Signature,
    devices: Vec<usize>,
    donated: BTreeSet<usize>,
}

impl XlaExecutable {
    pub(super) fn new(client: Arc<Client>, loaded: xla::PjRtLoadedExecutable, program: &Program<'_>) -> Result<Self> {
        let donated = donors::donors(program.hlo())?;
        let devices = program.options().devices();
        Ok(Self { client, loaded, signature: program.signature().clone(), devices, donated })
    }

    /// The crate's executable; nothing is copied. A call of its `execute_b` takes the inputs in the order of
    /// [`Executable::signature`] and gives the outputs in that order, one buffer each, for each replica.
    pub fn as_xla(&self) -> &xla::PjRtLoadedExecutable {
        &self.loaded
    }

    /// The inputs whose memory a direct call of [`as_xla`](Self::as_xla) takes, ascending. Their buffers are gone
    /// afterwards: using one is an error of XLA.
    pub fn donated_inputs(&self) -> impl Iterator<Item = usize> + '_ {
        self.donated.iter().copied()
    }

    /// The input as a buffer of this client.
    fn own<'a>(&self, input: &'a Input<'_>) -> Result<&'a XlaBuffer> {
        let own = XlaBuffer::of(input.buffer()).filter(|buffer| buffer.belongs_to(&self.client));
        own.ok_or_else(|| RuntimeError::InvalidInput("an input belongs to another executor".into()))
    }

    /// Copies of the inputs that are kept although the call takes their memory, in their places.
    fn copies(&self, inputs: &[Input<'_>], device: usize) -> Result<Vec<Option<xla::PjRtBuffer>>> {
        let copy = |(index, input): (usize, &Input<'_>)| {
            let lost = self.donated.contains(&index) && !input.is_donated();
            lost.then(|| self.client.copy(self.own(input)?.as_xla(), device)).transpose()
        };
        inputs.iter().enumerate().map(copy).collect()
    }

    /// The outputs of a replica, if they are what the signature states.
    fn outputs(&self, buffers: Vec<xla::PjRtBuffer>, device: usize) -> std::result::Result<Vec<Buffer>, Status> {
        let (stated, found) = (self.signature.outputs.len(), buffers.len());
        if stated != found {
            let text = format!("the program shape states {stated} outputs, the run gave {found}");
            return Err(Status::new(StatusCode::Internal, text));
        }
        let output = |(buffer, stated): (xla::PjRtBuffer, &TensorSpec)| -> std::result::Result<Buffer, Status> {
            let spec = convert::spec(&buffer.on_device_shape().map_err(status)?)?;
            if spec != *stated {
                let text = format!("an output is `{spec}`, the program shape states `{stated}`");
                return Err(Status::new(StatusCode::Internal, text));
            }
            Ok(Box::new(XlaBuffer::new(Arc::clone(&self.client), buffer, spec, device)))
        };
        buffers.into_iter().zip(&self.signature.outputs).map(output).collect()
    }
}

impl Executable for XlaExecutable {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn devices(&self) -> &[usize] {
        &self.devices
    }

    fn memory_stats(&self) -> Result<MemoryStats> {
        Err(RuntimeError::Unsupported("the crate `xla` does not show memory statistics".into()))
    }

    fn execute_replicas(&self, inputs: Vec<Vec<Input<'_>>>) -> Result<Vec<Vec<Buffer>>> {
        check_inputs(self, &inputs)?;
        let replicas = || inputs.iter().zip(&self.devices);
        let copies: Vec<_> = replicas().map(|(inputs, device)| self.copies(inputs, *device)).collect::<Result<_>>()?;
        let argument = |(input, copy)| match copy {
            Some(copy) => Ok(copy),
            None => self.own(input).map(XlaBuffer::as_xla),
        };
        let arguments = inputs.iter().zip(&copies).map(|(inputs, copies)| {
            inputs.iter().zip(copies.iter().map(Option::as_ref)).map(argument).collect::<Result<Vec<_>>>()
        });
        let arguments: Vec<_> = arguments.collect::<Result<_>>()?;
        let failed = |status| RuntimeError::Execute(status);
        let outputs = self.loaded.execute_replicated_b(&arguments).map_err(|error| failed(status(error)))?;
        if outputs.len() != self.devices.len() {
            let text = format!("{} replicas were run, {} answered", self.devices.len(), outputs.len());
            return Err(failed(Status::new(StatusCode::Internal, text)));
        }
        let outputs = outputs.into_iter().zip(&self.devices);
        outputs.map(|(buffers, device)| self.outputs(buffers, *device).map_err(failed)).collect()
    }
}

impl fmt::Debug for XlaExecutable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("XlaExecutable").field("signature", &self.signature).finish_non_exhaustive()
    }
}
