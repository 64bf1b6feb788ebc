//! Running the modules of a bundle on an executor.

use crate::bundle::read::{check_ports, contradiction};
use crate::bundle::{Bundle, twins};
use crate::content::check_content;
use crate::in_range::check_ranges;
use crate::tensors::Tensors;
use halite_runtime::{Buffer, CompileOptions, Executable, Executor, Input, Program};
use halite_spec::{ModuleEntry, Port};
use halite_support::nearest::nearest;
use halite_support::{Code, Diagnostic, Diagnostics, Result, codes};
use halite_tensor::HostTensor;
use indexmap::IndexSet;
use std::borrow::Cow;

/// The platform that Neuron's PJRT plugin is taken to report, in whatever case. Inferred: it is the name under which JAX knows
/// the plugin of the package `libneuronxla`, and no run was seen.
const NEURON_PLATFORM: &str = "neuron";

/// What runs where a module for Neuron calls kernels. Modules for other targets call none, and all choices are one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum KernelChoice {
    /// The kernels when the executor says that its platform is `neuron`, twins otherwise. That plugins of Neuron give this
    /// name is inferred; where the right choice is known, make it.
    #[default]
    ByPlatform,
    /// The kernels: modules run as they were compiled.
    Called,
    /// The twins of the kernels, which run on any XLA.
    Twins,
}

impl KernelChoice {
    /// Whether modules of a bundle call their kernels on an executor. Which generation of Neuron's hardware there is, its
    /// plugin finds out.
    pub(crate) fn are_called(self, executor: &dyn Executor, bundle: &Bundle) -> bool {
        bundle.manifest.recipe.target.is_neuron()
            && match self {
                Self::ByPlatform => executor.platform().eq_ignore_ascii_case(NEURON_PLATFORM),
                Self::Called => true,
                Self::Twins => false,
            }
    }
}

/// A compiled module with the names of its inputs and outputs.
pub struct LoadedModule {
    entry: ModuleEntry,
    /// The buffers that the host must feed with what the model declares of them.
    declared: Vec<halite_spec::Buffer>,
    calls_kernels: bool,
    executable: Box<dyn Executable>,
}

impl std::fmt::Debug for LoadedModule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadedModule").field("entry", &self.entry).finish_non_exhaustive()
    }
}

impl LoadedModule {
    /// Compiles a module of a bundle for one device. Kernels of the target are called on the target's own platform; on any
    /// other, their twins stand in their place ([`KernelChoice::ByPlatform`]).
    ///
    /// # Errors
    /// When the module's HLO is not sound, does not have the inputs and outputs that the manifest states, or cannot be
    /// compiled. XLA ends the process on some unsound modules, so that none is handed to it.
    pub fn load(executor: &dyn Executor, bundle: &Bundle, entry: &ModuleEntry) -> Result<Self> {
        Self::load_with(executor, bundle, entry, KernelChoice::ByPlatform)
    }

    /// As [`load`](Self::load), with the choice between kernels and twins made by the caller.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_with(
        executor: &dyn Executor,
        bundle: &Bundle,
        entry: &ModuleEntry,
        kernels: KernelChoice,
    ) -> Result<Self> {
        check_ports(entry).map_err(|reason| contradiction(&reason))?;
        let calls_kernels = kernels.are_called(executor, bundle);
        let bytes = if calls_kernels { as_compiled(bundle, entry)? } else { bundle.runnable_hlo(entry)? };
        let program = Program::new(&bytes, CompileOptions::default())?;
        let signature = program.signature();
        let same = |ports: &[Port], specs: &[halite_runtime::TensorSpec]| {
            ports.len() == specs.len()
                && ports.iter().zip(specs).all(|(port, spec)| port.dtype == spec.dtype && port.shape == *spec.shape)
        };
        if !same(&entry.inputs, &signature.inputs) || !same(&entry.outputs, &signature.outputs) {
            let message = format!("the HLO of `{}` has other inputs or outputs than the manifest states", entry.name);
            return Err(Diagnostic::error(codes::BUNDLE, message).help("compile the bundle again"));
        }
        let declared = bundle.manifest.buffers.iter().filter(|buffer| buffer.content.is_some()).cloned().collect();
        Ok(Self { entry: entry.clone(), declared, calls_kernels, executable: executor.compile(&program)? })
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

    /// What the manifest says of it.
    pub fn entry(&self) -> &ModuleEntry {
        &self.entry
    }

    /// Whether it was compiled as a module for Neuron that calls kernels; otherwise twins stand in their place, or there are
    /// none.
    pub fn calls_kernels(&self) -> bool {
        self.calls_kernels
    }

    /// The position of the output with this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn output(&self, name: &str) -> Result<usize> {
        let found = self.entry.outputs.iter().position(|port| port.name == name);
        found.ok_or_else(|| {
            let message = format!("the module `{}` has no output `{name}`", self.entry.name);
            Diagnostic::error(codes::MODULE, message).help("compile the bundle again")
        })
    }

    /// Runs the module on device buffers in the order of its inputs.
    ///
    /// # Errors
    /// As [`Executable::execute`].
    pub fn execute(&self, inputs: Vec<Input<'_>>) -> Result<Vec<Buffer>> {
        Ok(self.executable.execute(inputs)?)
    }

    /// Runs the module once on tensors by name and returns its outputs by name.
    ///
    /// # Errors
    /// As [`check_inputs`](Self::check_inputs), before anything runs; then what the executor says.
    pub fn run(&self, executor: &dyn Executor, mut tensors: Tensors) -> std::result::Result<Tensors, Diagnostics> {
        check(&self.entry, &self.declared, &tensors)?;
        let upload = |port: &Port| {
            let tensor = tensors.swap_remove(&port.name).ok_or_else(|| {
                Diagnostic::error(codes::TENSORS, format!("the tensor `{}` is missing", port.name))
                    .help("compile the bundle again")
            })?;
            Ok(Input::Donate(executor.upload(&tensor, 0)?))
        };
        let inputs = self.entry.inputs.iter().map(upload).collect::<Result<Vec<_>>>()?;
        let outputs = self.execute(inputs)?;
        let named = self.entry.outputs.iter().zip(&outputs);
        named.map(|(port, buffer)| Ok((port.name.clone(), buffer.download()?))).collect()
    }
}

/// The HLO of a module, kernels included.
fn as_compiled<'b>(bundle: &'b Bundle, entry: &ModuleEntry) -> Result<Cow<'b, [u8]>> {
    let bytes = bundle.hlo(entry)?;
    twins::sound(bytes, &entry.name)?;
    Ok(Cow::Borrowed(bytes))
}

fn check(
    entry: &ModuleEntry,
    buffers: &[halite_spec::Buffer],
    tensors: &Tensors,
) -> std::result::Result<(), Diagnostics> {
    check_tensors(tensors, &entry.inputs, &format!("the module `{}`", entry.name))?;
    check_content(buffers, tensors)?;
    check_ranges(&entry.inputs, tensors)
}

/// What a tensor is expected to be; ports and buffers of a manifest are expectations.
pub(crate) trait Expected {
    /// Its name.
    fn name(&self) -> &str;
    /// Its type in words, e.g. `f32[2,3]`.
    fn describe(&self) -> String;
    /// Whether a tensor is of that type.
    fn fits(&self, tensor: &HostTensor) -> bool;
}

macro_rules! expected {
    ($($ty:ty),*) => {$(
        impl Expected for $ty {
            fn name(&self) -> &str {
                &self.name
            }

            fn describe(&self) -> String {
                format!("{}{}", self.dtype, halite_tensor::Shape::from(self.shape.as_slice()))
            }

            fn fits(&self, tensor: &HostTensor) -> bool {
                self.dtype == tensor.dtype() && self.shape == **tensor.shape()
            }
        }
    )*};
}

expected!(Port, &halite_spec::Buffer);

/// Compares tensors with what is expected, by name; `who` is what needs them.
pub(crate) fn check_tensors(
    tensors: &Tensors,
    expected: &[impl Expected],
    who: &str,
) -> std::result::Result<(), Diagnostics> {
    let code: Code = codes::TENSORS;
    let names: IndexSet<&str> = expected.iter().map(Expected::name).collect();
    let mut mistakes = Diagnostics::new();
    for expected in expected {
        let (name, needed) = (expected.name(), expected.describe());
        match tensors.get(name) {
            None => mistakes.push(
                Diagnostic::error(code, format!("the tensor `{name}` is missing"))
                    .help(format!("add it as `{needed}`, which {who} takes")),
            ),
            Some(tensor) if !expected.fits(tensor) => {
                let found = format!("{}{}", tensor.dtype(), tensor.shape());
                let message = format!("the tensor `{name}` is `{found}`, {who} takes `{needed}`");
                mistakes.push(Diagnostic::error(code, message).help("convert or reshape it"));
            }
            Some(_) => {}
        }
    }
    let missing: Vec<&str> = names.iter().copied().filter(|name| !tensors.contains_key(*name)).collect();
    for name in tensors.keys().filter(|name| !names.contains(name.as_str())) {
        let help = unwanted(name, &missing, mistakes.len());
        mistakes.push(Diagnostic::error(code, format!("{who} takes no tensor `{name}`")).help(help));
    }
    if mistakes.is_empty() { Ok(()) } else { Err(shorten(mistakes)) }
}

/// What to do about a tensor that is not wanted, where these are missing.
pub(crate) fn unwanted(name: &str, missing: &[&str], before: usize) -> String {
    match nearest(name, missing.iter().copied().filter(|_| before < SHOWN)) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None if missing.len() > 1 => "give the tensors of this model: these look like those of another".to_owned(),
        None => "remove it".to_owned(),
    }
}

/// How many mistakes are shown.
const SHOWN: usize = 10;

/// The first ones, with the number of the others.
pub(crate) fn shorten(mut mistakes: Diagnostics) -> Diagnostics {
    let others = mistakes.len().saturating_sub(SHOWN);
    mistakes.truncate(SHOWN);
    if others > 0 {
        let rest = mistakes.pop().map(|last| last.note(format!("{others} more tensors do not fit")));
        mistakes.extend(rest);
    }
    mistakes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::tests::small;
    use halite_tensor::DType;

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

    #[test]
    fn tensors_of_another_model_are_not_to_be_removed() {
        let help = "give the tensors of this model: these look like those of another";
        assert_eq!(unwanted("h.0.attn.weight", &["embed", "w"], 0), help);
        assert_eq!(unwanted("h.0.attn.weight", &["w"], 0), "remove it");
        assert_eq!(unwanted("embd", &["embed", "w"], 0), "did you mean `embed`?");
    }
}
