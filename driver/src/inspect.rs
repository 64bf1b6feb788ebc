//! Figures of modules: instructions, floating-point operations and bytes by op and by scope; element types; groups of parameters.

pub mod groups;
pub mod hlo;
pub mod ir;
pub mod listing;
pub mod parts;
pub mod placement;
pub mod precision;

use halite_ir::paths::family;
use indexmap::IndexMap;
use serde::Serialize;

/// Figures of some instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Figures {
    /// Instructions.
    pub instructions: u64,
    /// Floating-point operations, a multiply-add counting as two.
    pub flops: u64,
    /// Bytes of the results.
    pub bytes: u64,
}

impl Figures {
    /// The figures of one instruction.
    pub fn of(flops: u64, bytes: u64) -> Self {
        Self { instructions: 1, flops, bytes }
    }

    /// The figures of `count` executions.
    #[must_use]
    pub fn times(self, count: u64) -> Self {
        let times = |figure: u64| figure.saturating_mul(count);
        Self { instructions: times(self.instructions), flops: times(self.flops), bytes: times(self.bytes) }
    }

    /// Adds the figures of other instructions.
    pub fn add(&mut self, other: Self) {
        self.instructions = self.instructions.saturating_add(other.instructions);
        self.flops = self.flops.saturating_add(other.flops);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// Figures of a module's entry and of what it calls. Instructions of reducers are not counted.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// The module's name.
    pub name: String,
    /// All instructions.
    pub total: Figures,
    /// By op, the most operations first.
    pub by_op: IndexMap<String, Figures>,
    /// By scope of the model with numbers as `*`, the most operations first.
    pub by_scope: IndexMap<String, Figures>,
}

impl Summary {
    /// An empty summary.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Adds the figures of an op; `path` is its scope such as `vjp(model.layers.3.mlp)`, of which `depth` levels are kept.
    pub fn add(&mut self, op: &str, path: &str, depth: usize, figures: Figures) {
        self.total.add(figures);
        self.by_op.entry(op.to_owned()).or_default().add(figures);
        self.by_scope.entry(scope(path, depth)).or_default().add(figures);
    }

    /// Sorts by operations, then bytes, then name.
    pub fn sort(&mut self) {
        for figures in [&mut self.by_op, &mut self.by_scope] {
            figures.sort_by(|a, x, b, y| (y.flops, y.bytes, a).cmp(&(x.flops, x.bytes, b)));
        }
    }
}

/// The first `depth` levels of a path with numbers replaced by `*`, so that equal layers fall together.
fn scope(path: &str, depth: usize) -> String {
    let (before, inner) = path.rfind('(').map_or(("", path), |open| path.split_at(open + 1));
    let (inner, after) = inner.find(')').map_or((inner, ""), |close| inner.split_at(close));
    let levels: Vec<&str> = inner.split('.').take(depth.max(1)).collect();
    let path = format!("{before}{}{after}", family(&levels.join(".")));
    if path.is_empty() { "(none)".to_owned() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Session;
    use crate::compile::CompileOptions;
    use halite_bundle::ModuleRole;
    use std::collections::BTreeMap;

    /// Ops that the IR counts and HLO does not: HLO's `compare` and `clamp` are not among arithmetic, and the additions of `scatter`,
    /// which `take_grad` becomes, go by positions.
    const OF_IR_ALONE: [&str; 3] = ["clamp", "compare", "take_grad"];

    /// IR and HLO are two representations with a count each: op by op they say the same of a step without calls, which in the IR
    /// count as an op.
    #[test]
    fn ir_and_hlo_count_the_same_operations() {
        for (preset, overrides) in
            [("tiny", &[][..]), ("tiny", &["precision=fp32"]), ("llama-7b", &["layers=1", "precision=mixed"])]
        {
            let mut session = Session::new();
            let overrides = overrides.iter().chain(&["emit.calls=inline"]);
            let overrides: Vec<String> = overrides.map(|set: &&str| (*set).to_owned()).collect();
            let source = session.load(preset, &overrides).unwrap();
            let built = session.elaborate(&source).unwrap().module;
            let (role, options) = (ModuleRole::TRAIN_STEP, CompileOptions::default());
            let pipeline = session.pipeline(&role).unwrap();
            let module = session.compile_role(&built, &source.recipe, &role, &pipeline, &options).unwrap();
            let of_ir = ir::summarize(&module.ir, &session.registry, 1).unwrap();
            let of_hlo = hlo::summarize(module.hlo.graph(), 1).unwrap();
            let counted = |summary: Summary| -> BTreeMap<String, u64> {
                let counted = summary.by_op.into_iter().filter(|(_, figures)| figures.flops > 0);
                counted
                    .map(|(op, figures)| (op.replace('_', "-").replace("dot-general", "dot"), figures.flops))
                    .collect()
            };
            let (mut of_ir, of_hlo) = (counted(of_ir), counted(of_hlo));
            of_ir.retain(|op, _| !OF_IR_ALONE.contains(&&*op.replace('-', "_")));
            assert_eq!(of_ir, of_hlo, "{preset} {overrides:?}");
            assert!(of_hlo.len() > 10 && of_hlo["dot"] > 0);
        }
    }

    #[test]
    fn layers_fall_together() {
        assert_eq!(scope("model.layers.3.mlp.up_proj", 4), "model.layers.*.mlp");
        assert_eq!(scope("vjp(model.layers.17.self_attn)", 3), "vjp(model.layers.*)");
        assert_eq!(scope("", 3), "(none)");
    }
}
