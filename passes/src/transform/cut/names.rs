//! Names of what is made in the place of something.

use halite_ir::Module;
use halite_support::Name;
use rustc_hash::FxHashMap;

/// Functions that stand for others.
pub(super) struct Renamed {
    /// Their names so far.
    pub(super) own: Vec<Name>,
    /// Those of what they stand for.
    pub(super) wanted: Vec<Name>,
}

/// Gives functions the names of those that they stand for, one number for all that belong together. Returns the new name of each.
pub(super) fn rename(module: &mut Module, renamed: Vec<Renamed>) -> FxHashMap<Name, Name> {
    let mut new = FxHashMap::default();
    let mut taken: FxHashMap<Name, usize> =
        module.functions.iter().enumerate().map(|(at, function)| (function.name.clone(), at)).collect();
    for Renamed { own, wanted } in renamed {
        let numbered = |number: usize| -> Vec<String> {
            let bases = wanted.iter().map(|name| base(name));
            bases.map(|base| if number == 0 { base.to_owned() } else { format!("{base}.{number}") }).collect()
        };
        let is_free = |names: &Vec<String>| {
            names.iter().all(|name| own.iter().any(|own| **own == **name) || !taken.contains_key(&**name))
        };
        let Some(names) = (0..=module.functions.len()).map(numbered).find(is_free) else { continue };
        let ids: Vec<_> = own.iter().map(|own| taken.remove(own)).collect();
        for ((id, own), name) in ids.into_iter().zip(own).zip(names) {
            let name = Name::from(name);
            if let Some(id) = id {
                module.functions[id].name = name.clone();
                taken.insert(name.clone(), id);
            }
            new.insert(own, name);
        }
    }
    new
}

/// A name without the numbers that told it apart.
fn base(mut name: &str) -> &str {
    while let Some((rest, number)) = name.rsplit_once('.')
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        name = rest;
    }
    name
}
