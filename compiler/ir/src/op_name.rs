//! Locations as `op_name` of HLO metadata, such as `cast(vjp(model.layers.3.mlp))`, written and read again.

use crate::loc::{Derivation, LocId, LocKind, LocTable, StepPart};

/// The content of an `op_name` that Halite wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpName<'a> {
    /// Whether the instruction belongs to a gradient.
    pub is_gradient: bool,
    /// The part of the training step that the path begins with, if any.
    pub part: Option<StepPart>,
    /// The scopes in it, joined by dots.
    pub scope: &'a str,
}

impl<'a> OpName<'a> {
    /// Reads an `op_name` that lowering wrote. Of any other text, it reads as much as follows that form.
    pub fn read(mut text: &'a str) -> Self {
        let mut is_gradient = false;
        loop {
            let applied = Derivation::ALL.into_iter().find_map(|kind| {
                let rest = text.strip_prefix(kind.name())?;
                let inner = if rest.is_empty() { rest } else { rest.strip_prefix('(')?.strip_suffix(')')? };
                Some((kind, inner))
            });
            let Some((kind, inner)) = applied else { break };
            is_gradient |= kind == Derivation::Vjp;
            text = inner;
        }
        let (first, rest) = text.split_once('.').unwrap_or((text, ""));
        match StepPart::ALL.into_iter().find(|part| part.name() == first) {
            Some(part) => Self { is_gradient, part: Some(part), scope: rest },
            None => Self { is_gradient, part: None, scope: text },
        }
    }

    /// Writes the path of a location. If its outermost scope is a reserved word, such as `optimizer`, a `_` stands before it.
    pub(crate) fn write(locs: &LocTable, loc: LocId) -> String {
        let outermost = locs.named(loc).filter(|kind| !matches!(kind, LocKind::Derived(_))).last();
        let is_mistaken = |kind: &LocKind| match kind {
            LocKind::Scope(name) => is_reserved(name.split('.').next().unwrap_or_default().trim_start_matches('_')),
            LocKind::Layer(layer) => {
                is_reserved(layer.list.split('.').next().unwrap_or_default().trim_start_matches('_'))
            }
            _ => false,
        };
        locs.path_with(loc, if outermost.is_some_and(is_mistaken) { "_" } else { "" })
    }
}

/// Whether a word is reserved: the name of a part of the step or of a derivation.
fn is_reserved(word: &str) -> bool {
    StepPart::ALL.into_iter().any(|part| part.name() == word)
        || Derivation::ALL.into_iter().any(|kind| kind.name() == word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_support::Name;

    fn scoped(scopes: &[&str], part: Option<StepPart>, derived: &[Derivation]) -> String {
        let mut locs = LocTable::default();
        let outer = part.map_or_else(LocTable::unknown, |part| locs.add(LocTable::unknown(), LocKind::Part(part)));
        let loc = scopes.iter().fold(outer, |loc, scope| locs.add(loc, LocKind::Scope(Name::from(*scope))));
        let loc = derived.iter().fold(loc, |loc, kind| locs.derived(*kind, loc));
        OpName::write(&locs, loc)
    }

    #[test]
    fn what_is_written_is_read() {
        use Derivation::{Cast, Vjp};
        let update = Some(StepPart::Update);
        for (scopes, part, derived, text, is_gradient, scope) in [
            (&["model", "norm"][..], None, &[][..], "model.norm", false, "model.norm"),
            (&["model"], None, &[Vjp], "vjp(model)", true, "model"),
            (&["model"], None, &[Vjp, Cast], "cast(vjp(model))", true, "model"),
            (&["w"], update, &[Cast], "cast(optimizer.w)", false, "w"),
            (&[], update, &[], "optimizer", false, ""),
            (&[], None, &[Vjp], "vjp", true, ""),
            (&["optimizer", "w"], None, &[], "_optimizer.w", false, "_optimizer.w"),
            (&["_optimizer", "w"], None, &[], "__optimizer.w", false, "__optimizer.w"),
            (&["vjp"], None, &[], "_vjp", false, "_vjp"),
            (&["vjp"], None, &[Vjp], "vjp(_vjp)", true, "_vjp"),
            (&["optimizers"], None, &[], "optimizers", false, "optimizers"),
        ] {
            assert_eq!(scoped(scopes, part, derived), text);
            assert_eq!(OpName::read(text), OpName { is_gradient, part, scope }, "{text}");
        }
    }

    #[test]
    fn other_texts_are_scopes() {
        for text in ["", "jit(step)/mul", "vjp(a", "vjpa", "model.vjp(a)"] {
            assert_eq!(OpName::read(text), OpName { is_gradient: false, part: None, scope: text });
        }
    }
}
