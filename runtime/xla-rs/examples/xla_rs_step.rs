//! A training step that Halite compiled, run by code that is written with the types of the crate `xla`:
//!
//! ```text
//! eval "$(bash runtime/xla-rs/xla-extension.sh)"
//! cargo run -p halite-xla-rs --features xla --example xla_rs_step
//! ```

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use halite::compile::CompileOptions;
use halite::tensor::{DType, HostTensor};
use halite::{Bundle, Session};
use halite_bundle::convert::to_stored;
use halite_bundle::init::initial_state;
use halite_bundle::{ModuleRole, PortRole};
use halite_runtime::{Executor, Program};
use halite_xla_rs::{XlaBuffer, XlaRs, computation, xla};
use std::error::Error;

const STEPS: usize = 10;

const TEXT: &str = "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be";

fn compile() -> Result<Bundle, Box<dyn Error>> {
    let mut session = Session::new();
    let compiled = session
        .load("tiny", &[])
        .and_then(|source| session.compile(&source, &CompileOptions::default()))
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    Ok(compiled.bundle)
}

fn main() -> Result<(), Box<dyn Error>> {
    // From Halite: the bytes of the step, the names of its inputs and outputs, the state that training starts from.
    let bundle = compile()?;
    let step = bundle.module_with_role(&ModuleRole::TRAIN_STEP).map_err(|error| error.to_string())?;
    let hlo = bundle.runnable_hlo(step).map_err(|error| error.to_string())?;
    let program = Program::new(&hlo, Default::default())?;
    let state = initial_state(&bundle, 0).and_then(|state| to_stored(&bundle.manifest, state));
    let state = state.map_err(|errors| errors[0].to_string())?;

    // From the crate: a client, and an executable of the step that takes and gives its buffers.
    let client = xla::PjRtClient::cpu()?;
    let executable = client.compile(&computation(&program)?)?;

    // One buffer for each input: the state's, and a batch of bytes.
    let executor = XlaRs::new(client.clone());
    let upload = |tensor: &HostTensor| -> Result<xla::PjRtBuffer, Box<dyn Error>> {
        let buffer = XlaBuffer::take(executor.upload(tensor, 0)?).map_err(|_| "another executor's buffer")?;
        Ok(buffer.into_xla())
    };
    let inputs = step.inputs.iter().map(|port| match state.get(&port.name) {
        Some(tensor) => upload(tensor),
        None => upload(&HostTensor::from_ints(
            DType::S32,
            port.shape.as_slice(),
            TEXT.bytes().cycle().map(i128::from).take(port.shape.iter().product()),
        )),
    });
    let mut inputs: Vec<xla::PjRtBuffer> = inputs.collect::<Result<_, _>>()?;

    let mut losses = Vec::new();
    for _ in 0..STEPS {
        // The call takes the buffers that outputs alias, although it borrows all; the outputs go where those were.
        let outputs = executable.execute_b(&inputs)?.swap_remove(0);
        for (port, output) in step.outputs.iter().zip(outputs) {
            match port.alias {
                Some(index) => inputs[index] = output,
                None if port.role == PortRole::Metric && port.name == "loss" => {
                    losses.push(output.to_literal_sync()?.get_first_element::<f32>()?);
                }
                None => {}
            }
        }
    }
    let (first, last) = (losses[0], losses[STEPS - 1]);
    println!("the loss went from {first:.3} to {last:.3} in {STEPS} updates");
    if last < first { Ok(()) } else { Err("the loss did not fall".into()) }
}
