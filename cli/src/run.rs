//! `halite run`.

use crate::bars;
use crate::context::{Context, Output, Result};
use crate::device::Device;
use crate::table::table;
use clap::Args;
use halite::Bundle;
use halite_bundle::ModuleEntry;
use halite_bundle::convert::{pack_given, unpack_given};
use halite_bundle::tensors::{self, Tensors};
use halite_runtime::Executor;
use halite_support::{Diagnostic, codes, nearest};
use halite_train::LoadedModule;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

/// Run one module of a bundle once, on tensors by the names of the model.
///
/// Every name, element type and shape is checked before anything runs, and that token ids and labels are those of the
/// model. State that this module does not read, such as moments for `forward`, may be there and is left out. State that it
/// gives has the names of the model too, whatever the bundle stores as one.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite run build/tiny --module forward --inputs state.safetensors \\
    --inputs batch.safetensors --outputs y.safetensors
  halite run build/tiny --module train_step --inputs state.safetensors \\
    --inputs batch.safetensors --outputs new.safetensors")]
pub(super) struct Run {
    /// The bundle's folder.
    bundle: PathBuf,
    /// The module's name; needed when the bundle has more than one.
    #[arg(long, value_name = "NAME")]
    module: Option<String>,
    /// A safetensors file with inputs of the module; may be repeated.
    #[arg(long, value_name = "FILE", required = true)]
    inputs: Vec<PathBuf>,
    /// The safetensors file to write the outputs to.
    #[arg(long, value_name = "FILE")]
    outputs: PathBuf,
    #[command(flatten)]
    device: Device,
}

impl Run {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let mut bundle = context.session.read_bundle(&self.bundle)?;
        let entry = &self.entry(&bundle)?.clone();
        let mut inputs = pack_given(&bundle.manifest, self.read_inputs()?)?;
        let is_read = |name: &str| entry.inputs.iter().any(|port| port.name == name);
        inputs.retain(|name, _| is_read(name) || bundle.buffer(name).is_none());
        LoadedModule::check_inputs(&bundle, entry, &inputs)?;
        let executor = self.executor(context, &mut bundle)?;
        let spinner = bars::spinner(context, &format!("{}: {}", entry.name, self.device.preparation()));
        let module = LoadedModule::load(executor.as_ref(), &bundle, entry)?;
        spinner.set_message(format!("running {}", entry.name));
        let outputs = unpack_given(&bundle.manifest, module.run(executor.as_ref(), inputs)?)?;
        spinner.finish_and_clear();
        tensors::write(&self.outputs, &outputs)?;
        let mut rows = vec![vec!["output".to_owned(), "type".to_owned(), "value".to_owned()]];
        let ty = |tensor: &halite_tensor::HostTensor| format!("{}{}", tensor.dtype(), tensor.shape());
        for (name, tensor) in outputs.iter().filter(|(_, tensor)| tensor.shape().rank() == 0) {
            rows.push(vec![name.clone(), ty(tensor), tensor.f64s()[0].to_string()]);
        }
        let scalars = if rows.len() > 1 { table(&rows) } else { String::new() };
        let place = self.outputs.display().to_string();
        let text = format!("{scalars}wrote {place}: {} tensors\n", outputs.len());
        let types: serde_json::Map<_, _> =
            outputs.iter().map(|(name, tensor)| (name.clone(), ty(tensor).into())).collect();
        Ok(Output::new(text, json!({"outputs": place, "tensors": types})))
    }

    /// Starts the executor of the module in this process alone: with ranks in several processes, none has whole tensors to write.
    fn executor(&self, context: &Context, bundle: &mut Bundle) -> Result<Arc<dyn Executor>> {
        let folder = self.bundle.display().to_string();
        let launched = self.device.launched(&folder, &bundle.manifest)?;
        if let Some(world) = launched.as_ref().map(|launched| launched.world).filter(|world| *world > 1) {
            let message = format!("a module is run by one process, and there are {world}");
            let help =
                "compile the recipe for one rank, or run it by `--executor pjrt`, which runs all ranks in one process";
            return Err(Diagnostic::error(codes::USAGE, message).help(help).into());
        }
        Ok(self.device.start(context, &folder, bundle, launched.as_ref())?.executor)
    }

    fn entry<'a>(&self, bundle: &'a Bundle) -> Result<&'a ModuleEntry> {
        match (&self.module, &bundle.manifest.modules[..]) {
            (Some(name), _) => Ok(bundle.module(name)?),
            (None, [only]) => Ok(only),
            (None, modules) => {
                let names: Vec<&str> = modules.iter().map(|module| module.name.as_str()).collect();
                let message = format!("the bundle has {} modules: {}", names.len(), nearest::list(&names));
                Err(Diagnostic::error(codes::MODULE, message).help("choose one with `--module`").into())
            }
        }
    }

    fn read_inputs(&self) -> Result<Tensors> {
        let mut inputs = Tensors::new();
        for path in &self.inputs {
            for (name, tensor) in tensors::read(path)? {
                if inputs.contains_key(&name) {
                    let message = format!("the tensor `{name}` is in more than one input file");
                    return Err(Diagnostic::error(codes::TENSORS, message).help("remove it from one").into());
                }
                inputs.insert(name, tensor);
            }
        }
        Ok(inputs)
    }
}
