//! Writing a function with other calls.

use halite_ir::ops::Call;
use halite_ir::{FuncId, Function, Module, Registry, ResultRole, Rewriter, Values};
use halite_support::Result;
use rustc_hash::FxHashMap;

/// The new calls, by the positions of the old ones.
pub(super) type NewCalls = FxHashMap<usize, NewCall>;

/// The replacement of a call.
pub(super) enum NewCall {
    Forward(FuncId),
    /// It takes these, then what the forward at `site` keeps, then what it has of its own.
    Backward {
        callee: FuncId,
        args: Values,
        site: usize,
        own: Values,
    },
    /// A call of another function with the same parameters and results.
    Other(FuncId),
}

pub(super) fn rewrite(
    module: &mut Module,
    registry: &Registry,
    function: &Function,
    calls: &NewCalls,
) -> Result<Function> {
    let mut b = Rewriter::new(module, registry, function);
    let mut kept: FxHashMap<usize, Values> = FxHashMap::default();
    for (position, inst) in function.insts.iter().enumerate() {
        let (callee, args) = match calls.get(&position) {
            None => {
                b.copy(function, inst)?;
                continue;
            }
            Some(NewCall::Forward(callee) | NewCall::Other(callee)) => (*callee, b.values(&inst.args)?),
            Some(NewCall::Backward { callee, args, site, own }) => {
                let mut all = b.values(args)?;
                all.extend(kept.remove(site).unwrap_or_default());
                all.extend(b.values(own)?);
                (*callee, all)
            }
        };
        let outer = b.set_loc(inst.loc);
        let results = b.emit_all(Call { callee }, &args)?;
        b.set_loc(outer);
        let is_residual = |at: usize| b.module().function(callee).results[at].role == ResultRole::Residual;
        let first = (0..results.len()).find(|&at| is_residual(at)).unwrap_or(results.len());
        kept.insert(position, Values::from_slice(&results[first..]));
        b.keep_names(function, inst, &results[..first.min(inst.results.len())]);
        b.replace_all(inst, &results[..first]);
    }
    b.copy_results(function)?;
    Ok(b.into_builder().into_function())
}
