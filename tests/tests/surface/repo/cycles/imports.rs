//! The imports between files.

use super::modules::{Crate, Names};
use std::collections::{BTreeMap, BTreeSet};

/// The names by which one file imports from another, by the two.
pub(super) type Edges = BTreeMap<(String, String), BTreeSet<String>>;

/// The longest chain of `use` that is followed: a name may be brought by a path that begins with it.
const MAX_CHAIN: usize = 16;

impl Crate {
    /// The imports between files, the root of the crate aside: it names all of them.
    pub(super) fn edges(&self) -> Edges {
        let mut edges = Edges::new();
        for (from, module) in &self.modules {
            for path in &module.paths {
                let Some(to) = self.resolve(from, path, 0) else { continue };
                if *from != to && !from.is_empty() && !to.is_empty() {
                    edges.entry((from.join("/"), to.join("/"))).or_default().insert(path.join("::"));
                }
            }
        }
        edges
    }

    /// The module where what a path names is declared, or none for a path out of the crate.
    fn resolve(&self, from: &[String], path: &[String], chain: usize) -> Option<Names> {
        let (mut at, mut rest) = self.start(from, path)?;
        while let Some((name, after)) = rest.split_first() {
            let child = [&at[..], std::slice::from_ref(name)].concat();
            if !self.modules.contains_key(&child) {
                return Some(self.imported(&at, rest, chain).unwrap_or(at));
            }
            (at, rest) = (child, after);
        }
        Some(at)
    }

    /// The module where a path begins, and what follows there.
    fn start<'a>(&self, from: &[String], path: &'a [String]) -> Option<(Names, &'a [String])> {
        let (first, after) = path.split_first()?;
        let above = path.iter().take_while(|name| *name == "super").count();
        match first.as_str() {
            "crate" => Some((Vec::new(), after)),
            "self" => Some((from.to_vec(), after)),
            "super" => Some((from[..from.len().checked_sub(above)?].to_vec(), &path[above..])),
            _ => {
                let child = [from, std::slice::from_ref(first)].concat();
                let is_known = self.modules.contains_key(&child) || self.modules[from].names.contains_key(first);
                is_known.then(|| (from.to_vec(), path))
            }
        }
    }

    /// The module where something is declared that another brings by `use`.
    fn imported(&self, at: &[String], path: &[String], chain: usize) -> Option<Names> {
        let (module, (name, after)) = (&self.modules[at], path.split_first()?);
        if chain == MAX_CHAIN {
            return None;
        }
        if let Some(import) = module.names.get(name) {
            return self.resolve(at, &[import, after].concat(), chain + 1);
        }
        module.globs.iter().find_map(|glob| self.resolve(at, &[glob, path].concat(), chain + 1))
    }
}
