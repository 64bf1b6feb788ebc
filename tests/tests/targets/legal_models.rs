//! Models that a target takes in one form and not in another: compilation and verification say the same.

use halite::Session;
use halite::compile::CompileOptions;
use halite::source::Source;
use halite_recipe::{ModelChoice, Optimizer, Recipe};
use halite_support::codes;
use halite_test_kit::xla;
use halite_verify::VerifyOptions;

/// A recipe for trn1 without the kernel of `top_k`, with a model that makes `more` of hidden states `x` and adds it to its
/// loss.
fn model_with(more: &str, session: &mut Session) -> Source {
    let text = format!(
        "model own {{
          config {{
              vocab = 64
              hidden = 16
              seq = 8
              batch = 2
          }}
          fn main(tokens: s32[batch, seq + 1]) {{
            param weight: [vocab, hidden] = normal(0.02)
            x = embedding(tokens[:, :seq], weight)
            logits = linear(x, weight)
            output logits
            loss, count = cross_entropy(logits, tokens[:, 1:])
            {more}
            return loss + more, count
          }}
        }}"
    );
    let mut recipe = Recipe::new(ModelChoice::new("own"), 2, 8, Optimizer::new("adamw", 1e-3));
    recipe.target = "trn1".into();
    recipe.dialect.off = vec!["neuron.top_k".to_owned()];
    session.source(recipe, text.as_str()).unwrap_or_else(|errors| panic!("{errors:?}"))
}

#[test]
fn the_largest_elements_are_taken_without_their_kernel() {
    let mut session = Session::new();
    let source = model_with("largest, at = top_k(x, k = 3)\n more = sum(largest)", &mut session);
    let compiled = session.compile(&source, &CompileOptions::default());
    assert!(compiled.is_ok(), "{:?}", compiled.err());
}

#[test]
fn verification_refuses_what_compilation_does() {
    let mut session = Session::new();
    let source = model_with("more = convert(sum(tokens), float) * 1e-9", &mut session);
    let refused = session.compile(&source, &CompileOptions::default()).expect_err("the sum has no bound");
    let error = refused.iter().find(|error| error.code() == codes::ILLEGAL).unwrap_or_else(|| panic!("{refused:?}"));
    assert!(error.notes().iter().any(|note| note.contains("`integer-reduce`")), "{error:?}");
    let options = VerifyOptions::default();
    let found =
        halite_verify::verify(&session, &source, &options, xla::executor()).expect_err("verification must not pass");
    assert!(found.iter().any(|found| found.code() == codes::ILLEGAL), "{found:?}");
    let bisected =
        halite_verify::bisect(&session, &source, &options, xla::executor()).expect_err("nor is there a pass at fault");
    assert_eq!(bisected, found);
}
