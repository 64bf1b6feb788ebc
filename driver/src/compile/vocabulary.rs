//! The number of token ids that a model knows.

use super::ranges::{Taken, taken};
use crate::roles::Role;
use crate::session::Session;
use crate::source::Source;
use halite_bundle::ModuleRole;
use halite_ir::{Module, Registry};
use halite_support::{Diagnostic, Diagnostics, Span, codes};

/// The number of ids that a model takes in an input, by the place that takes the fewest.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct KnownIds {
    /// The name of the input.
    pub input: String,
    /// The ids are those from 0 to `count - 1`.
    pub count: u64,
    /// The place that takes the fewest, in the text of the model where it has one.
    pub place: Option<Span>,
}

impl Session {
    /// The number of ids that each batch input of a recipe's model may hold in training, as far as the model tells.
    ///
    /// # Errors
    /// Every mistake in the model.
    pub fn known_ids(&self, source: &Source) -> Result<Vec<KnownIds>, Diagnostics> {
        let built = self.elaborate(source)?.module;
        let all = taken(&built, self.roles.get(&ModuleRole::TRAIN_STEP)?, &self.registry)?;
        let mut known: Vec<KnownIds> = Vec::new();
        for each in all.iter().filter(|each| each.range.computed.is_none()) {
            let ids = KnownIds { input: each.input.clone(), count: each.range.below, place: place(each, source) };
            match known.iter_mut().find(|known| known.input == ids.input) {
                Some(fewest) if fewest.count <= ids.count => {}
                Some(fewest) => *fewest = ids,
                None => known.push(ids),
            }
        }
        Ok(known)
    }
}

/// A warning for each input that parts of the model take different numbers of ids of, as a table of embeddings and narrower logits.
///
/// # Errors
/// A bug when a composite is unknown.
pub(super) fn check(
    built: &Module,
    role: &Role,
    registry: &Registry,
    source: &Source,
) -> Result<Diagnostics, Diagnostic> {
    let all = taken(built, role, registry)?;
    let mut found = Diagnostics::new();
    for (at, first) in all.iter().enumerate().filter(|(_, each)| each.range.computed.is_none()) {
        if all[..at].iter().any(|other| other.input == first.input && other.range.computed.is_none()) {
            continue;
        }
        let same = || all[at..].iter().filter(|each| each.input == first.input && each.range.computed.is_none());
        let fewest = same().min_by_key(|each| each.range.below).unwrap_or(first);
        let most = same().max_by_key(|each| each.range.below).unwrap_or(first);
        if fewest.range.below < most.range.below {
            found.push(differ(fewest, most, source));
        }
    }
    Ok(found)
}

fn differ(fewest: &Taken, most: &Taken, source: &Source) -> Diagnostic {
    let (input, few, many) = (&fewest.input, fewest.range.below, most.range.below);
    let message = format!("`{input}` holds ids below {few} in `{}`, and below {many} in `{}`", fewest.op, most.op);
    let warning = Diagnostic::warning(codes::VOCABULARY, message);
    let warning = warning.or_at(place(fewest, source), format!("{few} ids"));
    let warning = match place(most, source) {
        Some(span) => warning.also(span, format!("{many} ids")),
        None => warning,
    };
    warning
        .note(format!("a tokenizer with more than {few} ids is refused when the model is trained"))
        .help("make both as wide, by one size such as `vocab` in `config`")
}

/// The place of something in the text of the model itself, else where it is.
fn place(each: &Taken, source: &Source) -> Option<Span> {
    let model = source.model.span().map(|span| span.file);
    let own = each.places.iter().find(|span| Some(span.file) == model);
    own.or(each.places.first()).copied()
}
