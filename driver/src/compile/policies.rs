//! Policies of recomputation under which a module that does not fit would.

use super::CompileOptions;
use super::describe::{Laid, figures};
use super::pack::Packed;
use super::resident::add_resident;
use super::role::Unfinished;
use crate::session::Session;
use halite_bundle::estimate::{Estimate, FitVerdict};
use halite_recipe::{Recipe, Recompute, RecomputePolicy};
use halite_support::{Diagnostic, Result, SourceMap};
use halite_target::{PolicyNeed, Target};

/// The policies that are tried, the cheapest first.
const TRIED: [&[RecomputePolicy]; 3] = [
    &[RecomputePolicy::Attention, RecomputePolicy::Activation],
    &[RecomputePolicy::Attention, RecomputePolicy::Dots],
    &[RecomputePolicy::Block],
];

impl Session {
    /// The modules of all roles in order, each with what stays beside it, and with policies of recomputation where these are open.
    pub(super) fn in_order<'a>(
        &self,
        roles: Vec<(Vec<Packed<'a>>, Option<Unfinished<'a>>)>,
        (target, recipe): (&dyn Target, &Recipe),
        (sources, options): (&SourceMap, &CompileOptions),
    ) -> Result<Vec<Packed<'a>>> {
        let (mut packed, mut again) = (Vec::new(), Vec::new());
        for (modules, unfinished) in roles {
            again.resize_with(packed.len() + modules.len(), || None);
            // What is open is tried where one module does all of a role.
            if let ([_], Some(last)) = (&modules[..], again.last_mut()) {
                *last = unfinished;
            }
            packed.extend(modules);
        }
        add_resident(&mut packed, target, recipe)?;
        for (module, again) in packed.iter_mut().zip(&again) {
            let Some(again) = again else { continue };
            module.policies = self.policies(module, again, (target, recipe), (sources, options))?;
        }
        Ok(packed)
    }

    /// The needs of a packed module under recompute policies that its recipe does not state, up to the first that fits. `unfinished` is
    /// the module before the passes that read policies. Nothing is tried where the module fits, or where its parameters and results
    /// alone do not.
    pub(super) fn policies(
        &self,
        packed: &Packed<'_>,
        unfinished: &Unfinished<'_>,
        (target, recipe): (&dyn Target, &Recipe),
        (sources, options): (&SourceMap, &CompileOptions),
    ) -> Result<Vec<PolicyNeed>> {
        let mut needs = Vec::new();
        if !packed.estimate().is_some_and(may_be_made_to_fit) {
            return Ok(needs);
        }
        for policies in TRIED {
            let recompute = policies.iter().copied().map(Recompute::Policy).collect();
            let recipe = Recipe { recompute, ..recipe.clone() };
            let modules = self.finish_role(unfinished.again(), &recipe, sources, options)?;
            let [module] = &modules[..] else { break };
            let entry = module.ir.entry().ok_or_else(|| Diagnostic::bug("a compiled module without an entry"))?;
            let flops = figures(&module.ir, Laid { entry, layout: module.ir.layout.as_deref() }, module.hlo.graph())?
                .matmul_flops;
            let Some(estimate) = packed.estimate_of(module, target, &recipe)? else { break };
            let Some(fit) = estimate.fit else { break };
            needs.push(PolicyNeed {
                module: packed.name().to_owned(),
                policies: policies.to_vec(),
                memory: estimate.memory.total(),
                verdict: fit.memory,
                flops: flops as f64 / packed.matmul_flops().max(1) as f64,
            });
            if fit.memory == FitVerdict::Fits {
                break;
            }
        }
        Ok(needs)
    }
}

/// Whether a recipe leaves recomputation open.
pub(super) fn are_open(recipe: &Recipe) -> bool {
    recipe.recompute.is_empty()
}

/// Whether a module does not fit, and would fit without its intermediate values.
fn may_be_made_to_fit(estimate: &Estimate) -> bool {
    let without = estimate.memory.total().saturating_sub(estimate.memory.temporaries);
    estimate.fit.is_some_and(|fit| fit.memory != FitVerdict::Fits && without < fit.memory_limit)
}
