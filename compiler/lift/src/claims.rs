//! The shardings that HLO states for its parameters and results.

use crate::aliases::{parameters, replaced};
use crate::tiles;
use halite_hlo::graph::Graph;
use halite_hlo::proto::OpSharding;
use halite_ir::{Function, TensorType};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{Mesh, Sharding};

/// The sharding of each array of the parameters and results of an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claims {
    /// Of each parameter.
    pub params: Vec<Sharding>,
    /// Of each result.
    pub results: Vec<Sharding>,
    /// The parameters that tell each rank its number, by their positions.
    pub ranks: Vec<usize>,
}

impl Claims {
    /// Claims that everything is replicated.
    pub fn replicated(entry: &Function) -> Self {
        let whole = |types: Vec<TensorType>| types.iter().map(|ty| Sharding::replicated(ty.rank())).collect();
        Self { params: whole(entry.param_types()), results: whole(entry.result_types()), ranks: Vec::new() }
    }
}

/// The shardings that a module states for the parameters and results of its entry, lifted to `entry`. Those without one are replicated,
/// but a result that takes the place of a parameter has the sharding of that.
///
/// # Errors
/// When a sharding is none of the mesh.
pub fn claims(graph: &Graph, entry: &Function, mesh: &Mesh) -> Result<Claims> {
    let said = of_parameters(graph);
    let param = |(at, param): (usize, &halite_ir::Param)| {
        let (own, ty) = (said.get(at).copied().flatten(), entry.ty(param.value));
        own.map_or_else(|| Ok(Sharding::replicated(ty.rank())), |own| claimed(&param.name, own, ty, mesh))
    };
    let params = entry.params.iter().enumerate().map(param).collect::<Result<Vec<_>>>()?;
    let (said, replaced) = (of_results(graph, entry.results.len()), replaced(graph));
    let result = |(at, result): (usize, &halite_ir::FuncResult)| {
        let ty = entry.ty(result.value);
        let of = replaced.get(&at).and_then(|&param| params.get(param)).filter(|of| of.0.len() == ty.rank());
        match (said.get(at), of) {
            (Some(own), _) => claimed(&result.name, own, ty, mesh),
            (None, Some(of)) => Ok(of.clone()),
            (None, None) => Ok(Sharding::replicated(ty.rank())),
        }
    };
    let results = entry.results.iter().enumerate().map(result).collect::<Result<Vec<_>>>()?;
    Ok(Claims { params, results, ranks: Vec::new() })
}

/// Whether a module states any sharding of its parameters or results.
pub fn are_claimed(graph: &Graph) -> bool {
    of_parameters(graph).iter().any(Option::is_some) || !of_results(graph, 1).is_empty()
}

fn claimed(name: &str, own: &OpSharding, local: &TensorType, mesh: &Mesh) -> Result<Sharding> {
    tiles::sharding(own, mesh, local.shape()).map_err(|why| {
        let help = "state the axes of `--mesh` in the order of the ranks, or the shardings in a file";
        Diagnostic::error(codes::INPUT, format!("the sharding of `{name}` {why}")).help(help)
    })
}

/// The sharding that is stated for each array of the parameters, in order.
fn of_parameters(graph: &Graph) -> Vec<Option<&OpSharding>> {
    let module = &graph.module().spmd_parameters_shardings;
    let own = |(number, at): (usize, usize)| {
        let arrays = graph.shape(at).map_or(1, |shape| shape.arrays().len());
        let own = module.get(number).or(graph.inst(at).sharding.as_deref());
        let mut said: Vec<_> = own.into_iter().flat_map(|own| tiles::of_arrays(own, arrays)).map(Some).collect();
        said.resize(arrays, None);
        said
    };
    parameters(graph).into_iter().enumerate().flat_map(own).collect()
}

/// The shardings that are stated for the arrays of the results, in order; none where none is stated.
fn of_results(graph: &Graph, arrays: usize) -> Vec<&OpSharding> {
    let root = graph.entry().and_then(|entry| entry.root);
    let own = root.and_then(|root| graph.inst(root).sharding.as_deref());
    let said = graph.module().spmd_output_sharding.as_ref().or(own);
    said.map(|own| tiles::of_arrays(own, arrays)).unwrap_or_default()
}
