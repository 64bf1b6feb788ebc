//! Modules whose names say nothing: what is decided of them is decided by facts.

use halite_ir::{Function, Layer, LocId, LocKind, LocTable, Module, ParamRole};
use halite_support::Name;
use std::collections::HashMap;

/// The same module under other names: its functions, scopes, weights, layers and values. Equal names stay equal and different ones
/// different, part of a path by part. Batches keep theirs, by which data are fed.
pub fn renamed(module: &Module) -> Module {
    let (mut parts, mut renamed) = (Parts::default(), module.clone());
    renamed.locs = LocTable::default();
    let mut locs: HashMap<LocId, LocId> = HashMap::new();
    for function in &mut renamed.functions {
        function.name = parts.path(&function.name);
        rename_params(&mut parts, function);
        for value in &mut function.values {
            value.hint = value.hint.as_ref().map(|hint| parts.path(hint));
        }
        for inst in &mut function.insts {
            let table = &mut renamed.locs;
            inst.loc = *locs.entry(inst.loc).or_insert_with(|| {
                let chain: Vec<LocKind> = module.locs.chain(inst.loc).map(|kind| parts.kind(kind)).collect();
                chain.into_iter().rev().fold(LocTable::unknown(), |loc, kind| table.add(loc, kind))
            });
        }
    }
    renamed
}

fn rename_params(parts: &mut Parts, function: &mut Function) {
    for param in &mut function.params {
        if matches!(param.role, ParamRole::Batch | ParamRole::Known(_)) {
            continue;
        }
        param.name = parts.path(&param.name);
        if let ParamRole::Weight(info) = &mut param.role {
            info.layer = info.layer.as_ref().map(|layer| parts.layer(layer));
        }
    }
}

/// The new names of the parts of paths.
#[derive(Default)]
struct Parts(HashMap<String, String>);

impl Parts {
    /// A path whose parts are all called otherwise; a number among them is a word then.
    fn path(&mut self, path: &str) -> Name {
        let parts: Vec<_> = path.split('.').map(|part| self.part(part)).collect();
        parts.join(".").into()
    }

    fn part(&mut self, part: &str) -> String {
        let number = self.0.len();
        // Words of ours among them: nothing may follow from these either.
        let word =
            ["optimizer", "vjp", "accumulate", "stochastic_", "master", "micro_batch", "lm_head", "n"][number % 8];
        self.0.entry(part.to_owned()).or_insert_with(|| format!("{word}x{number}")).clone()
    }

    fn layer(&mut self, layer: &Layer) -> Layer {
        Layer { list: self.path(&layer.list), index: layer.index }
    }

    fn kind(&mut self, kind: &LocKind) -> LocKind {
        match kind {
            LocKind::Scope(name) => LocKind::Scope(self.path(name)),
            LocKind::Layer(layer) => LocKind::Layer(self.layer(layer)),
            other => other.clone(),
        }
    }
}
