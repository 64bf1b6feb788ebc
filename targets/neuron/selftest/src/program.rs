//! A program: legal IR, and the HLO that the compiler gets.

use halite_hlo::graph::Graph;
use halite_hlo::{CheckedHlo, INPUT_NAMES, OUTPUT_NAMES, decode};
use halite_ir::{LowerOptions, Module, ResultRole, lower, verify};
use halite_support::{Diagnostic, Name, Result, SourceMap};
use halite_tensor::HostTensor;
use std::collections::BTreeMap;

/// A program in both forms.
#[derive(Clone)]
pub struct Program {
    /// The legal IR, which the interpreter runs.
    pub module: Module,
    /// The serialized `HloModuleProto`.
    pub hlo: Vec<u8>,
    /// The name of each input and output in the compiled program.
    pub names: (Vec<String>, Vec<String>),
    /// For each output, the position of the input that it replaces.
    pub aliases: Vec<Option<usize>>,
    /// For each input of the program, its position among the parameters that it was written with; unread parameters are dropped.
    pub kept: Vec<usize>,
}

/// The names of the parameters of the entry, in order.
pub(crate) fn parameters(module: &Module) -> Vec<Name> {
    module.entry().map(|entry| entry.params.iter().map(|param| param.name.clone()).collect()).unwrap_or_default()
}

impl Program {
    /// Lowers a legal module whose entry was written with the parameters `given`.
    ///
    /// # Errors
    /// When it is not legal, or has no HLO.
    pub(crate) fn new(name: &str, mut module: Module, given: &[Name], forms: LowerOptions) -> Result<Self> {
        module.name = name.into();
        let registry = halite_ir::Registry::builtin();
        let verified = verify(&module, &registry).map_err(|errors| errors.into_bug("before lowering"))?;
        let hlo = CheckedHlo::new(lower(verified, &SourceMap::new(), forms)?);
        let hlo = hlo.map_err(|broken| broken.into_bug("lowering"))?.encode();
        let names = names(&hlo)?;
        let own = parameters(&module);
        let place = |name: &Name| given.iter().position(|given| given == name);
        let kept = own.iter().map(place).collect::<Option<_>>();
        let kept = kept.ok_or_else(|| Diagnostic::bug(format!("`{name}` has inputs that it was not written with")))?;
        let aliases = aliases(&module);
        Ok(Self { module, hlo, names, aliases, kept })
    }

    /// The inputs of the program among values for all parameters that it was written with.
    pub(crate) fn inputs(&self, all: &[HostTensor]) -> Vec<HostTensor> {
        self.kept.iter().filter_map(|&at| all.get(at).cloned()).collect()
    }

    /// The HLO as a graph.
    pub(crate) fn graph(&self) -> Graph {
        // It was encoded here.
        Graph::new(decode(&self.hlo).unwrap_or_default())
    }
}

/// For each result, the position of the input that it replaces.
fn aliases(module: &Module) -> Vec<Option<usize>> {
    let Some(entry) = module.entry() else { return Vec::new() };
    let of = |role: &ResultRole| match role {
        ResultRole::State(name) => entry.params.iter().position(|param| param.name == *name),
        _ => None,
    };
    entry.results.iter().map(|result| of(&result.role)).collect()
}

/// The names that HLO gives the tensors of its entry.
///
/// # Errors
/// When it gives none.
fn names(hlo: &[u8]) -> Result<(Vec<String>, Vec<String>)> {
    let graph = Graph::new(decode(hlo)?);
    let entry = graph.entry().ok_or_else(|| Diagnostic::bug("HLO without an entry"))?;
    let attribute = |at: usize, key: &str| graph.inst(at).frontend_attributes.as_deref()?.map.get(key).cloned();
    let inputs = entry.range().filter_map(|at| Some((graph.inst(at).parameter_number, attribute(at, INPUT_NAMES)?)));
    let inputs: BTreeMap<i64, String> = inputs.collect();
    let outputs = entry.root.and_then(|root| attribute(root, OUTPUT_NAMES)).unwrap_or_default();
    let outputs = outputs.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    Ok((inputs.into_values().collect(), outputs))
}
