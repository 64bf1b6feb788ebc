//! The text of a module.

use crate::function::{Attributes, Writer};
use crate::quoted::{string, symbol};
use crate::write;
use halite_hlo::proto::HloModuleProto;
use halite_hlo::{CheckedHlo, OUTPUT_NAMES, decode};
use halite_support::{Diagnostic, Result, codes};

/// A module as StableHLO that so many replicas run together.
///
/// Its entry is the function `@main`. Arguments that results replace have `tf.aliasing_output`, those that any result may replace
/// `jax.buffer_donor`, and results are named by `jax.result_info`, all as JAX writes them.
///
/// ```
/// use halite_hlo::{ArrayType, CheckedHlo, ModuleBuilder};
/// use halite_tensor::DType;
///
/// let mut module = ModuleBuilder::new("example");
/// let mut entry = module.computation("main");
/// let x = entry.parameter("x", ArrayType::new(DType::F32, [4]))?;
/// let y = entry.tanh(x)?;
/// let root = entry.root_tuple(&[y])?;
/// entry.finish(root)?;
/// let hlo = CheckedHlo::new(module.finish()?)?;
/// let text = halite_stablehlo::print(&hlo, 1)?;
/// assert!(text.contains("%tanh.1 = \"stablehlo.tanh\"(%x.0) : (tensor<4xf32>) -> tensor<4xf32>"));
/// # Ok::<(), halite_support::Diagnostic>(())
/// ```
///
/// # Errors
/// When an instruction has no form in StableHLO, or carries something that its form has no place for.
pub fn print(hlo: &CheckedHlo, num_replicas: usize) -> Result<String> {
    let graph = hlo.graph();
    let entry = graph.entry_number().ok_or_else(|| unwritable(hlo, "it has no entry"))?;
    require_no_shardings(hlo)?;
    let (inputs, outputs) = (inputs(hlo, entry), outputs(hlo, entry));
    let mut writer = Writer::new(graph);
    for (number, times) in graph.executions().into_iter().enumerate() {
        match number {
            _ if number == entry => writer.function(number, "public", (&inputs, &outputs))?,
            _ if times > 0 => writer.function(number, "private", (&[], &[]))?,
            _ => {}
        }
    }
    let unknown = writer.locations.of(None);
    let (functions, locations) = (writer.out, writer.locations.definitions());
    let frontend = write::frontend(hlo.frontend_attributes.as_ref());
    let attributes = ["mhlo.num_partitions = 1 : i32".to_owned(), format!("mhlo.num_replicas = {num_replicas} : i32")];
    let attributes: Vec<String> = attributes.into_iter().chain(frontend).collect();
    let head = format!("module {} attributes {{{}}}", symbol(&hlo.name), attributes.join(", "));
    Ok(format!("{head} {{\n{functions}}}{unknown}\n{locations}"))
}

/// The bytes of a module as StableHLO that so many replicas run together.
///
/// # Errors
/// When they are no sound module, and as [`print()`].
pub fn translate(hlo: &[u8], num_replicas: usize) -> Result<String> {
    print(&CheckedHlo::new(decode(hlo)?)?, num_replicas)
}

fn unwritable(hlo: &HloModuleProto, reason: &str) -> Diagnostic {
    Diagnostic::error(codes::STABLEHLO, format!("`{}` cannot be written as StableHLO: {reason}", hlo.name))
}

/// Refuses a module that XLA would cut into the programs of devices, which the ranks of ours have behind them.
fn require_no_shardings(hlo: &HloModuleProto) -> Result<()> {
    match hlo.spmd_output_sharding.is_some() || !hlo.spmd_parameters_shardings.is_empty() {
        true => Err(unwritable(hlo, "it states shardings of its parameters or results")),
        false => Ok(()),
    }
}

/// What is said of each parameter: which result takes its buffer, or that any may. The checker holds both to whole parameters.
fn inputs(hlo: &CheckedHlo, entry: usize) -> Vec<Attributes> {
    let mut inputs = vec![Attributes::new(); hlo.graph().computations()[entry].parameters.len()];
    let mut add = |parameter: i64, attribute: String| {
        let input = usize::try_from(parameter).ok().and_then(|parameter| inputs.get_mut(parameter));
        input.into_iter().for_each(|input| input.push(attribute.clone()));
    };
    for alias in hlo.input_output_alias.iter().flat_map(|aliases| &aliases.entries) {
        let output = alias.output_shape_index.first().copied().unwrap_or(0);
        add(alias.parameter_number, format!("tf.aliasing_output = {output} : i32"));
    }
    for donor in hlo.buffer_donor.iter().flat_map(|donors| &donors.entries) {
        add(donor.parameter_number, "jax.buffer_donor = true".to_owned());
    }
    inputs
}

/// What is said of each result: its name, where the root of the entry has names.
fn outputs(hlo: &CheckedHlo, entry: usize) -> Vec<Attributes> {
    let root = hlo.graph().root(entry).map(|root| hlo.graph().inst(root));
    let names = root.and_then(|root| root.frontend_attributes.as_deref()?.map.get(OUTPUT_NAMES));
    let named = |name: &str| vec![format!("jax.result_info = {}", string(name.as_bytes()))];
    names.map(|names| names.split(',').map(named).collect()).unwrap_or_default()
}
