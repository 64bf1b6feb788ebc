//! A pass that is wrong.

use halite_ir::{Module, rewrite_functions};
use halite_passes::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_support::Result;

/// Leaves out the first sum of a tensor over ranks.
#[derive(Clone, Copy, Debug)]
pub struct ForgetSum;

impl Pass for ForgetSum {
    fn info(&self) -> PassInfo {
        PassInfo::new("forget-sum", "leave out a sum over ranks", Relation::Identical)
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let mut changed = Changed::No;
        rewrite_functions(module, cx.registry, |b, source| {
            for inst in &source.insts {
                let is_sum = matches!(inst.op.name(), "all_reduce" | "reduce_scatter");
                let same = is_sum && source.ty(inst.args[0]) == source.ty(inst.results[0]);
                if same && source.ty(inst.results[0]).rank() > 1 && changed == Changed::No {
                    let left = b.values(&inst.args)?[0];
                    b.replace(inst.results[0], left);
                    changed = Changed::Yes;
                } else {
                    b.copy(source, inst)?;
                }
            }
            Ok(())
        })?;
        Ok(changed)
    }
}
