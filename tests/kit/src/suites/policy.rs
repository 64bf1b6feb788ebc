//! `policy`.

use super::Suite;
use crate::cases::samples;
use crate::document::Anchor;
use crate::kit::{Case, Outcome};
use halite::Session;
use halite_ir::{Follows, InferCx, Op, Policy, Registry};
use halite_passes::resolve;
use halite_recipe::{Precision, PrecisionName};
use halite_tensor::DType;
use std::fmt::Write;

/// The treatment of every op in mixed precision, under every named recipe.
///
/// An op without a policy does not compile: the traits of ops and composites have no default for it. So each has a row
/// here, and what a change of a policy means is in the difference.
#[derive(Debug)]
pub(super) struct Policies;

impl Suite for Policies {
    fn name(&self) -> &str {
        "policy"
    }

    fn extensions(&self) -> &[&str] {
        &["txt"]
    }

    fn run(&self, _: &Case, session: &Session) -> Result<Outcome, String> {
        Ok(Outcome::new([(Anchor::End, table(&session.registry))]))
    }
}

/// A row for each op, and for each policy of an op whose attributes decide.
fn table(registry: &Registry) -> String {
    let mut text = row("op", "class", "policy", PrecisionName::ALL.map(|recipe| recipe.name().to_owned()));
    for (name, policy) in policies(registry) {
        let policy_words = words(&policy, |follows| follows.name().to_owned());
        let types = PrecisionName::ALL.map(|recipe| {
            let precision = recipe.precision();
            words(&policy, |follows| {
                dtype(follows, &precision).map_or("own".to_owned(), |dtype| dtype.name().to_owned())
            })
        });
        text.push_str(&row(&name, policy.class.name(), &policy_words, types));
    }
    text
}

fn row(op: &str, class: &str, policy: &str, recipes: [String; PrecisionName::ALL.len()]) -> String {
    let mut line = format!("{op:<36} {class:<11} {policy:<40}");
    recipes.iter().for_each(|types| write!(line, " {types:<18}").expect("a text can be written to"));
    line.trim_end().to_owned() + "\n"
}

/// `operand compute sum results`.
fn words(policy: &Policy, word: impl Fn(Follows) -> String) -> String {
    let sum = policy.accumulate.map_or("-".to_owned(), &word);
    let results: Vec<_> = policy.results.iter().map(|&follows| word(follows)).collect();
    format!("{} {} {sum} {}", word(policy.operand), word(policy.compute), results.join(","))
}

/// The element type that a policy resolves to for operands that the recipe narrows, as in `auto-cast`; `None` when it is that of the
/// operands, whatever it is.
fn dtype(follows: Follows, precision: &Precision) -> Option<DType> {
    let own = matches!(follows, Follows::Own | Follows::Widest);
    (!own).then(|| resolve(precision, follows, precision.operand))
}

/// Every op with its policies in the order in which samples show them; the sample is named where there are several.
fn policies(registry: &Registry) -> Vec<(String, Policy)> {
    let cx = InferCx { functions: &[], registry };
    let samples = samples(DType::F32, registry);
    let bare = Op::primitives().into_iter().map(|op| (op, ""));
    let mut all: Vec<(String, &str, Policy)> = Vec::new();
    for (op, label) in samples.iter().map(|sample| (sample.op.clone(), &*sample.label)).chain(bare) {
        let policy = op.def().policy(&cx);
        if !all.iter().any(|(name, _, known)| name == op.name() && *known == policy) {
            all.push((op.name().to_owned(), label, policy));
        }
    }
    for def in registry.composites() {
        if !all.iter().any(|(name, ..)| name == def.name()) {
            all.push((def.name().to_owned(), "", def.policy()));
        }
    }
    all.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    let several = |name: &str| all.iter().filter(|(other, ..)| other == name).count() > 1;
    let named = |(name, label, policy): &(String, &str, Policy)| {
        (if several(name) { format!("{name} ({label})") } else { name.clone() }, *policy)
    };
    all.iter().map(named).collect()
}
