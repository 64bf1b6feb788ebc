//! Running the modules of a bundle on an executor.

use crate::neff;
use crate::placed::{Argument, Placed, Placement, Ranks};
use halite_bundle::content::check_content;
use halite_bundle::tensors::Tensors;
use halite_bundle::{
    Bundle, Manifest, ModuleEntry, Port, check_ports, check_ranges, check_shardings, check_tensors, contradiction,
    sound_hlo,
};
use halite_runtime::{Buffer, CompileOptions, Executable, Executor, Input, Program, ProgramFormat};
use halite_stablehlo::Form;
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use halite_tensor::Axis;
use std::borrow::Cow;
use std::sync::Arc;

/// The choice between the kernels of a target and their decompositions. It makes no difference for modules that call no kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum KernelChoice {
    /// The kernels when the executor says that its platform is the one of the manifest, decompositions otherwise. The platform that a
    /// plugin states may be inferred; choose explicitly where the right choice is known.
    #[default]
    ByPlatform,
    /// The kernels: modules run as they were compiled.
    Called,
    /// The decompositions of the kernels, which run on any XLA.
    Decompositions,
}

impl KernelChoice {
    /// Whether modules of a bundle call their kernels on an executor. The platform does not tell the generation of the hardware: the
    /// plugin finds that out.
    pub(crate) fn are_called(self, executor: &dyn Executor, bundle: &Bundle) -> bool {
        bundle.manifest.platform.as_ref().is_some_and(|platform| match self {
            Self::ByPlatform => executor.platform().eq_ignore_ascii_case(platform),
            Self::Called => true,
            Self::Decompositions => false,
        })
    }
}

/// A compiled module with the names of its inputs and outputs.
pub struct LoadedModule {
    entry: ModuleEntry,
    /// The buffers that the host must feed, with the content that the model declares for them.
    declared: Vec<halite_bundle::Buffer>,
    calls_kernels: bool,
    /// The placement of each input.
    inputs: Vec<Arc<Placement>>,
    /// The placement of each output.
    outputs: Vec<Arc<Placement>>,
    executable: Box<dyn Executable>,
}

impl std::fmt::Debug for LoadedModule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadedModule").field("entry", &self.entry).finish_non_exhaustive()
    }
}

impl LoadedModule {
    /// Compiles a module of a bundle for the ranks of its mesh, each on a device of its own. Kernels of the target are called on
    /// the target's own platform; on any other, their decompositions stand in their place ([`KernelChoice::ByPlatform`]).
    ///
    /// # Errors
    /// When the executor has fewer devices than there are ranks, the manifest contradicts itself, or the module's HLO is not sound,
    /// does not have the inputs and outputs that the manifest states, or cannot be compiled. XLA ends the process on some unsound
    /// modules, so that none is handed to it.
    pub fn load(executor: &dyn Executor, bundle: &Bundle, entry: &ModuleEntry) -> Result<Self> {
        Self::load_with(executor, bundle, entry, KernelChoice::ByPlatform)
    }

    /// As [`load`](Self::load), with the choice between kernels and decompositions made by the caller.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_with(
        executor: &dyn Executor,
        bundle: &Bundle,
        entry: &ModuleEntry,
        kernels: KernelChoice,
    ) -> Result<Self> {
        let Manifest { mesh, buffers, .. } = &bundle.manifest;
        let sound = check_ports(entry).and_then(|()| check_shardings(&bundle.manifest, std::slice::from_ref(entry)));
        sound.map_err(|reason| contradiction(&reason))?;
        match executor.rank() {
            Some((_, world)) => check_processes(world, &bundle.manifest)?,
            None => check_devices(executor, &bundle.manifest)?,
        }
        let calls_kernels = kernels.are_called(executor, bundle);
        let bytes = match executor.format() {
            ProgramFormat::Neff => finished(bundle, entry, kernels)?,
            _ if calls_kernels => as_compiled(bundle, entry)?,
            _ => bundle.runnable_hlo(entry)?,
        };
        let num_replicas = mesh.num_ranks();
        let first = entry.stage * num_replicas;
        let is_one = executor.rank().is_some() || entry.stage == 0;
        let devices = if is_one { Vec::new() } else { (first..first + num_replicas).collect() };
        let program = Program::new(&bytes, CompileOptions { num_replicas, devices, ..Default::default() })?;
        let program = match executor.format() {
            ProgramFormat::Neff => program.with_neff(neff::of(bundle, entry, &bytes)?)?,
            format => {
                program.in_format(format, |hlo| halite_stablehlo::translate(hlo, Form::Program { num_replicas }))?
            }
        };
        let signature = program.signature();
        let same = |ports: &[Port], specs: &[halite_runtime::TensorSpec]| {
            ports.len() == specs.len()
                && ports
                    .iter()
                    .zip(specs)
                    .all(|(port, spec)| port.dtype == spec.dtype && port.local_shape() == spec.shape)
        };
        if !same(&entry.inputs, &signature.inputs) || !same(&entry.outputs, &signature.outputs) {
            let message = format!("the HLO of `{}` has other inputs or outputs than the manifest states", entry.name);
            return Err(Diagnostic::error(codes::BUNDLE, message).help("compile the bundle again"));
        }
        let ranks = Ranks::of(executor, mesh, entry.stage);
        let placements = |ports: &[Port]| {
            ports.iter().map(|port| Placement::new(&ranks, &port.shape, port.sharding.as_ref())).collect()
        };
        Ok(Self {
            declared: buffers.iter().filter(|buffer| buffer.content().is_some()).cloned().collect(),
            calls_kernels,
            inputs: placements(&entry.inputs),
            outputs: placements(&entry.outputs),
            executable: executor.compile(&program)?,
            entry: entry.clone(),
        })
    }

    /// Compares tensors with the inputs of a module of a bundle, by name.
    ///
    /// # Errors
    /// Every tensor that is missing, not wanted, or of the wrong type; then every one that is not what the model declares;
    /// then every one with token ids, labels or other positions out of range.
    pub fn check_inputs(
        bundle: &Bundle,
        entry: &ModuleEntry,
        tensors: &Tensors,
    ) -> std::result::Result<(), Diagnostics> {
        check(entry, &bundle.manifest.buffers, tensors)
    }

    /// The entry of the module in the manifest.
    pub fn entry(&self) -> &ModuleEntry {
        &self.entry
    }

    /// Whether the module was compiled to call kernels of its target; otherwise decompositions stand in their place, or there are none.
    pub fn calls_kernels(&self) -> bool {
        self.calls_kernels
    }

    /// The position of the output with this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn output(&self, name: &str) -> Result<usize> {
        let found = self.entry.outputs.iter().position(|port| port.name == name);
        found.ok_or_else(|| no_output(&self.entry.name, name))
    }

    /// Each input with its placement.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&Port, &Arc<Placement>)> {
        self.entry.inputs.iter().zip(&self.inputs)
    }

    /// Runs the module on all ranks of this process and waits for them; `inputs[r]` are the device buffers of its `r`th rank in the
    /// order of the module's inputs. Returns the outputs of each rank.
    ///
    /// # Errors
    /// As [`Executable::execute_replicas`].
    pub fn execute(&self, inputs: Vec<Vec<Input<'_>>>) -> Result<Vec<Vec<Buffer>>> {
        Ok(self.executable.execute_replicas(inputs)?)
    }

    /// As [`execute`](Self::execute), on tensors with a placement on all ranks.
    pub(crate) fn call(&self, arguments: Vec<Argument<'_>>) -> Result<Vec<Placed>> {
        let mut inputs: Vec<Vec<Input<'_>>> = self.executable.devices().iter().map(|_| Vec::new()).collect();
        for argument in arguments {
            inputs.iter_mut().zip(argument.into_inputs()).for_each(|(rank, input)| rank.push(input));
        }
        let mut ranks: Vec<_> = self.execute(inputs)?.into_iter().map(Vec::into_iter).collect();
        self.outputs.iter().map(|output| output.hold(ranks.iter_mut().filter_map(Iterator::next).collect())).collect()
    }

    /// Runs the module once on whole tensors by name and returns its outputs by name, whole too.
    ///
    /// # Errors
    /// As [`check_inputs`](Self::check_inputs), before anything runs; then what the executor says.
    pub fn run(&self, executor: &dyn Executor, mut tensors: Tensors) -> std::result::Result<Tensors, Diagnostics> {
        check(&self.entry, &self.declared, &tensors)?;
        let upload = |(port, placement): (&Port, &Arc<Placement>)| {
            let tensor = tensors.swap_remove(&port.name).ok_or_else(|| {
                Diagnostic::error(codes::TENSORS, format!("the tensor `{}` is missing", port.name))
                    .help("compile the bundle again")
            })?;
            Ok(Argument::Donate(placement.upload(executor, &tensor)?))
        };
        let outputs = self.call(self.inputs().map(upload).collect::<Result<_>>()?)?;
        let named = self.entry.outputs.iter().zip(&outputs);
        named.map(|(port, output)| Ok((port.name.clone(), output.download()?))).collect()
    }
}

/// The error of a module that lacks an output.
pub(crate) fn no_output(module: &str, name: &str) -> Diagnostic {
    Diagnostic::error(codes::MODULE, format!("the module `{module}` has no output `{name}`"))
        .help("compile the bundle again")
}

/// Checks that each rank has a device.
fn check_devices(executor: &dyn Executor, manifest: &Manifest) -> Result<()> {
    let (ranks, devices) = (manifest.num_ranks(), executor.num_devices());
    if ranks <= devices {
        return Ok(());
    }
    let (axes, plural) = (axes_of(manifest), if devices == 1 { "" } else { "s" });
    let message = format!("the bundle runs on {ranks} ranks ({axes}), the executor has {devices} device{plural}");
    let help =
        format!("open an executor with {ranks} devices, e.g. by `ClientOptions::cpu({ranks})`, or compile for fewer");
    Err(Diagnostic::error(codes::RUNTIME_EXECUTE, message).help(help))
}

/// Checks that each rank is a process.
fn check_processes(world: usize, manifest: &Manifest) -> Result<()> {
    let ranks = manifest.num_ranks();
    if ranks == world {
        return Ok(());
    }
    let message = match ranks {
        1 => format!("the bundle runs on one rank, this process is one of {world}"),
        _ => format!("the bundle runs on {ranks} ranks ({}), this process is one of {world}", axes_of(manifest)),
    };
    Err(Diagnostic::error(codes::RUNTIME_EXECUTE, message).note("each rank is a process of its own").help(
        "start as many processes as the bundle has ranks: `halite env BUNDLE --script` prints a script that does",
    ))
}

fn axes_of(manifest: &Manifest) -> String {
    let stages = Some(manifest.num_stages()).filter(|stages| *stages > 1).map(|stages| format!("{stages} stages"));
    let axes = manifest.mesh.axes().iter().map(|Axis { name, size }| format!("`{name}` = {size}"));
    let axes: Vec<_> = stages.into_iter().chain(axes).collect();
    axes.join(", ")
}

/// The HLO that a NEFF was compiled from. Decompositions cannot replace the kernels in a NEFF.
fn finished<'b>(bundle: &'b Bundle, entry: &ModuleEntry, kernels: KernelChoice) -> Result<Cow<'b, [u8]>> {
    if kernels == KernelChoice::Decompositions && !entry.decompositions.is_empty() {
        let message =
            format!("the NEFF of `{}` calls its kernels, and no decompositions can stand in their place", entry.name);
        return Err(
            Diagnostic::error(codes::RUNTIME_EXECUTE, message).help("run the bundle by PJRT, which compiles its HLO")
        );
    }
    as_compiled(bundle, entry)
}

/// The HLO of a module, kernels included.
fn as_compiled<'b>(bundle: &'b Bundle, entry: &ModuleEntry) -> Result<Cow<'b, [u8]>> {
    let bytes = bundle.hlo(entry)?;
    sound_hlo(bytes, &entry.name)?;
    Ok(Cow::Borrowed(bytes))
}

fn check(
    entry: &ModuleEntry,
    buffers: &[halite_bundle::Buffer],
    tensors: &Tensors,
) -> std::result::Result<(), Diagnostics> {
    check_tensors(tensors, &entry.inputs, &format!("the module `{}`", entry.name))?;
    check_content(buffers, tensors)?;
    check_ranges(&entry.inputs, tensors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_bundle::fixtures::small;
    use halite_tensor::{DType, HostTensor};

    #[test]
    fn tensors_that_do_not_fit_are_all_named() {
        let module = &small().manifest.modules[0];
        let tensors: Tensors = [
            ("tokens".to_owned(), HostTensor::zeros(DType::S32, [2, 5])),
            ("bb".to_owned(), HostTensor::zeros(DType::F32, [5])),
        ]
        .into_iter()
        .collect();
        let mistakes = check_tensors(&tensors, &module.inputs, "the module `train_step`").unwrap_err();
        let texts: Vec<_> = mistakes.iter().map(|mistake| mistake.message()).collect();
        let expected = [
            "the tensor `tokens` is `s32[2,5]`, the module `train_step` takes `s32[2,4]`",
            "the tensor `b` is missing",
            "the module `train_step` takes no tensor `bb`",
        ];
        assert_eq!(texts, expected);
    }
}
