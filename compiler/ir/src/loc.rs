//! Locations of instructions: chains of scopes and source spans, with derivations by passes.

use crate::layer::Layer;
use halite_support::{Name, Span, entity};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

entity!(
    /// A location in a [`LocTable`].
    LocId,
    "loc"
);

/// A derivation of an instruction from another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Derivation {
    /// Part of the gradient of it.
    Vjp,
    /// A change of precision of a value of it.
    Cast,
}

impl Derivation {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Vjp, Self::Cast];

    /// The word in paths.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vjp => "vjp",
            Self::Cast => "cast",
        }
    }
}

/// A part of a training step that no model has: what passes write beside the model and its gradients.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StepPart {
    /// Sums over micro-batches.
    Accumulate,
    /// Clipping and the update of weights.
    Update,
}

impl StepPart {
    /// All parts.
    pub const ALL: [Self; 2] = [Self::Accumulate, Self::Update];

    /// The word that paths begin with.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accumulate => "accumulate",
            Self::Update => "optimizer",
        }
    }
}

/// One link of a location chain.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LocKind {
    /// The end of every chain: nothing is known.
    Unknown,
    /// A named scope of the model, e.g. `layers.3`.
    Scope(Name),
    /// A part of the step that no model has.
    Part(StepPart),
    /// The work of a part of the step for a layer of the model.
    Layer(Layer),
    /// A place in a source text.
    Source(Span),
    /// A line of the program that built the module.
    Code {
        /// The file's name without its folders.
        file: Name,
        /// The line, from 1.
        line: u32,
    },
    /// Inside the decomposition of a composite.
    Composite(Name),
    /// Made by a pass from the rest of the chain.
    Derived(Derivation),
}

impl LocKind {
    /// The name in paths of a scope, a part or a layer; `None` for the other kinds.
    pub fn scope(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Scope(name) => Some(Cow::Borrowed(name)),
            Self::Part(part) => Some(Cow::Borrowed(part.name())),
            Self::Layer(layer) => Some(Cow::Owned(layer.to_string())),
            Self::Unknown | Self::Source(_) | Self::Code { .. } | Self::Composite(_) | Self::Derived(_) => None,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Link {
    kind: LocKind,
    parent: LocId,
}

/// The interned locations of a module. Chains share their tails.
#[derive(Clone, Debug)]
pub struct LocTable {
    links: Vec<Link>,
    /// For each link, the first scope, part or derivation of its chain: sites of calls nest deep and name nothing.
    named: Vec<LocId>,
    index: FxHashMap<Link, LocId>,
}

impl Default for LocTable {
    fn default() -> Self {
        let root = LocId::new(0);
        let links = vec![Link { kind: LocKind::Unknown, parent: root }];
        Self { links, named: vec![root], index: FxHashMap::default() }
    }
}

impl LocTable {
    /// The location of which nothing is known.
    pub fn unknown() -> LocId {
        LocId::new(0)
    }

    /// `kind` inside `parent`.
    pub fn add(&mut self, parent: LocId, kind: LocKind) -> LocId {
        let link = Link { kind, parent };
        if let Some(&known) = self.index.get(&link) {
            return known;
        }
        let id = LocId::new(self.links.len());
        let is_named = link.kind.scope().is_some() || matches!(link.kind, LocKind::Derived(_));
        self.named.push(if is_named { id } else { self.named[parent.index()] });
        self.links.push(link.clone());
        self.index.insert(link, id);
        id
    }

    /// The derivation `kind` of `of`; a derivation of the same kind is not repeated.
    pub fn derived(&mut self, kind: Derivation, of: LocId) -> LocId {
        if self.kind(of) == &LocKind::Derived(kind) { of } else { self.add(of, LocKind::Derived(kind)) }
    }

    /// The chain `inner` continued by the chain `outer`. What was derived inside is not derived again where it is called.
    pub fn nest(&mut self, inner: LocId, outer: LocId) -> LocId {
        let links: Vec<_> = self.chain(inner).cloned().collect();
        let is_repeated = matches!(self.kind(outer), LocKind::Derived(_)) && links.contains(self.kind(outer));
        let outer = if is_repeated { self.links[outer.index()].parent } else { outer };
        links.into_iter().rev().fold(outer, |parent, kind| self.add(parent, kind))
    }

    /// Whether a handle is one of this table.
    pub fn contains(&self, loc: LocId) -> bool {
        loc.index() < self.links.len()
    }

    /// The first link of a chain.
    pub fn kind(&self, loc: LocId) -> &LocKind {
        &self.links[loc.index()].kind
    }

    /// A chain without its first link.
    pub fn outer(&self, loc: LocId) -> LocId {
        self.links[loc.index()].parent
    }

    /// The links of a chain, innermost first, without the root.
    pub fn chain(&self, loc: LocId) -> impl Iterator<Item = &LocKind> {
        let mut next = loc;
        std::iter::from_fn(move || {
            if next == Self::unknown() {
                return None;
            }
            let link = &self.links[next.index()];
            next = link.parent;
            Some(&link.kind)
        })
    }

    /// The part of the step that a location lies in; none of what a model says, and of its gradients.
    pub fn part(&self, loc: LocId) -> Option<StepPart> {
        match self.named(loc).last() {
            Some(LocKind::Part(part)) => Some(*part),
            _ => None,
        }
    }

    /// The scopes, parts and derivations among the links of a chain.
    pub fn named(&self, loc: LocId) -> impl Iterator<Item = &LocKind> {
        let mut next = loc;
        std::iter::from_fn(move || {
            let named = self.named[next.index()];
            if named == Self::unknown() {
                return None;
            }
            let link = &self.links[named.index()];
            next = link.parent;
            Some(&link.kind)
        })
    }

    /// The innermost source position.
    pub fn span(&self, loc: LocId) -> Option<Span> {
        self.chain(loc).find_map(|kind| if let LocKind::Source(span) = kind { Some(*span) } else { None })
    }

    /// The innermost line of the program that built the module: its file and the line.
    pub fn code(&self, loc: LocId) -> Option<(&Name, u32)> {
        self.chain(loc)
            .find_map(|kind| if let LocKind::Code { file, line } = kind { Some((file, *line)) } else { None })
    }

    /// The scopes from the outside in, joined by dots: `model.layers.3.mlp`.
    pub fn scope(&self, loc: LocId) -> String {
        let mut scopes: Vec<Cow<'_, str>> = self.named(loc).filter_map(LocKind::scope).collect();
        scopes.reverse();
        scopes.join(".")
    }

    /// The scopes from the outside in, joined by dots, inside the derivations: `vjp(model.layers.3.mlp)`.
    pub fn path(&self, loc: LocId) -> String {
        self.path_with(loc, "")
    }

    /// The same with something before the scopes.
    pub(crate) fn path_with(&self, loc: LocId, before: &str) -> String {
        let (mut scopes, mut derivations) = (Vec::new(), Vec::new());
        for kind in self.named(loc) {
            match kind {
                LocKind::Derived(derivation) => derivations.push(derivation),
                kind => scopes.extend(kind.scope()),
            }
        }
        scopes.reverse();
        let mut path = before.to_owned() + &scopes.join(".");
        for derivation in derivations.into_iter().rev() {
            let word = derivation.name();
            path = if path.is_empty() { word.to_owned() } else { format!("{word}({path})") };
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_scopes_and_derivations() {
        let mut locs = LocTable::default();
        let model = locs.add(LocTable::unknown(), LocKind::Scope("model".into()));
        let layer = locs.add(model, LocKind::Scope("layers.3".into()));
        let gradient = locs.derived(Derivation::Vjp, layer);
        assert_eq!(locs.path(gradient), "vjp(model.layers.3)");
        let bare = locs.derived(Derivation::Vjp, LocTable::unknown());
        assert_eq!(locs.path(bare), "vjp");
        assert_eq!(locs.derived(Derivation::Vjp, gradient), gradient);
        assert_eq!(locs.add(model, LocKind::Scope("layers.3".into())), layer);
    }
}
