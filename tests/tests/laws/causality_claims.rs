//! The causality that a compile reports: what was proven for what, what it refuses, and how a model or a recipe says otherwise.

use halite::Session;
use halite::compile::{CompileOptions, Compiled};
use halite::model::{Init, ModelBuilder};
use halite_analysis::{Verdict, causality};
use halite_bundle::ModuleRole;
use halite_support::{Diagnostics, Severity};
use halite_tensor::DType;

/// A model whose logits are `mixed` and whose labels are `labels`; `said` stands at its top.
fn model(said: &str, mixed: &str, shown: &str, labels: &str) -> String {
    format!(
        "model m {{
  {said}
  config {{ vocab = 16; width = 8; seq = 6; batch = 1 }}

  fn main(tokens: s32[batch, seq + 1]) {{
    param embed: [vocab, width] = normal(0.02)
    x = embedding(tokens[:, :seq], embed)
    x = {mixed}
    logits = linear(x, embed)
    {shown}
    loss, count = cross_entropy(logits, {labels})
    return loss, count
  }}
}}"
    )
}

const SHOWN: &str = "output logits";
const NEXT: &str = "tokens[:, 1:]";
const BOTH_WAYS: &str = "x + broadcast(mean(x, dims = 1, keep = true), [batch, seq, width])";
/// Causal, and not seen to be so where there are many positions.
const SQUARES: &str = "x + broadcast(convert(iota([seq, seq], 0) * iota([seq, seq], 0) >= iota([seq, seq], 1) * \
                       iota([seq, seq], 1), float), [batch, seq, seq]) @ x";

fn compile(text: &str, settings: &[&str], roles: &[ModuleRole]) -> Result<Compiled, Diagnostics> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("m.hal");
    std::fs::write(&path, text).expect("the folder can be written");
    let mut session = Session::new();
    let fixed = ["precision=fp32", "batch=1", "seq=6"].iter().chain(settings);
    let settings: Vec<String> = fixed.map(|setting| (*setting).to_owned()).collect();
    let source = session.load(path.to_str().expect("the path is text"), &settings)?;
    session.compile(&source, &CompileOptions { roles: roles.to_vec(), ..CompileOptions::default() })
}

fn report(compiled: Result<Compiled, Diagnostics>) -> String {
    let compiled = compiled.unwrap_or_else(|errors| panic!("{errors:?}"));
    compiled.causality.map_or_else(|| "not checked".to_owned(), |report| report.to_string())
}

fn refusal(compiled: Result<Compiled, Diagnostics>) -> String {
    let Err(errors) = compiled else { panic!("it compiles") };
    assert!(errors.iter().all(|error| error.severity() == Severity::Error), "{errors:?}");
    errors.iter().map(|error| format!("{} {}", error.code().id, error.message())).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_report_names_what_was_proven_for_what() {
    let all = &ModuleRole::DEFAULT;
    assert_eq!(report(compile(&model("", "x", SHOWN, NEXT), &[], all)), "output `logits`: proven; loss: proven");
    let step = &[ModuleRole::TRAIN_STEP];
    let silent = report(compile(&model("", "x", "", NEXT), &[], step));
    assert_eq!(silent, "outputs: not applicable: no output is `[batch, seq, ..]`; loss: proven");
}

#[test]
fn a_loss_that_knows_its_labels_is_refused() {
    let step = &[ModuleRole::TRAIN_STEP];
    let knows = "E0808 `loss` compares predictions with labels that they have read";
    assert_eq!(refusal(compile(&model("", BOTH_WAYS, "", NEXT), &[], step)), knows);
    assert_eq!(refusal(compile(&model("", "x", SHOWN, "tokens[:, :seq]"), &[], step)), knows);
    let other = "hidden = x\n    output hidden\n    x = x + broadcast(mean(x, dims = 1, keep = true), [batch, seq, width])\n    logits = linear(x, embed)";
    assert_eq!(refusal(compile(&model("", "x", other, NEXT), &[], step)), knows);
}

#[test]
fn an_encoder_says_so() {
    let all = &ModuleRole::DEFAULT;
    let leaks = refusal(compile(&model("", BOTH_WAYS, SHOWN, NEXT), &[], all));
    assert!(leaks.starts_with("E0808 `logits` at a position depends on later tokens"), "{leaks}");
    let said = "the model says `causal = false`";
    let expected = format!("outputs: not applicable: {said}; loss: not applicable: {said}");
    assert_eq!(report(compile(&model("causal = false", BOTH_WAYS, SHOWN, NEXT), &[], all)), expected);
    let held = refusal(compile(&model("causal = true", BOTH_WAYS, SHOWN, NEXT), &[], all));
    assert_eq!(held, leaks);
    let twice = refusal(compile(&model("causal = false; causal = true", "x", SHOWN, NEXT), &[], all));
    assert_eq!(twice, "E0208 `causal` is said twice");
}

#[test]
fn an_encoder_in_rust_says_so() {
    let registry = halite_ir::Registry::builtin();
    let m = ModelBuilder::new("m", &registry);
    let tokens = m.batch("tokens", DType::S32, [1, 6]);
    let embed = m.param("embed", [16, 8], Init::Normal { std: 0.02 });
    let x = m.call("embedding", [tokens, embed]).one();
    let mean = m.call("mean", [x]).named("dims", 1).named("keep", true).one().broadcast([1, 6, 8]);
    let logits = m.call("linear", [x + mean, embed]).one();
    m.output("logits", logits);
    let [loss, count] = m.call("cross_entropy", [logits, tokens]).results();
    let held = m.finish(loss, count).unwrap_or_else(|errors| panic!("{errors:?}"));
    m.bidirectional();
    let free = m.finish(loss, count).unwrap_or_else(|errors| panic!("{errors:?}"));
    let outputs = |module| causality(module, &registry).unwrap_or_else(|error| panic!("{error}")).outputs;
    assert!(matches!(outputs(&held.module), Verdict::Leaks(_)));
    assert_eq!(outputs(&free.module), Verdict::NotApplicable("the model says `causal = false`"));
    let text = halite_ir::text::print(&free.module);
    assert!(text.contains("module @m {phase = built, causal = false}"), "{text}");
}

#[test]
fn what_is_not_followed_compiles_with_a_warning_that_can_be_waived() {
    let (text, large) = (model("", SQUARES, SHOWN, NEXT), "seq=300");
    let forward = &[ModuleRole::FORWARD];
    let small = report(compile(&text, &[], forward));
    assert_eq!(small, "output `logits`: proven; loss: proven");
    let compiled = compile(&text, &[large], forward).unwrap_or_else(|errors| panic!("{errors:?}"));
    let doubts = |compiled: &Compiled| {
        let is_doubt = |warning: &&halite_support::Diagnostic| warning.code().id == "E0808";
        compiled.warnings.iter().filter(is_doubt).count()
    };
    assert_eq!(doubts(&compiled), 1, "{:?}", compiled.warnings);
    let waived = compile(&text, &[large, "check.waive=['causality']"], forward);
    let waived = waived.unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(doubts(&waived), 0, "{:?}", waived.warnings);
    assert!(waived.bundle.manifest.recipe.check.waive.len() == 1, "the manifest says what was waived");
    let leaks = compile(&model("", BOTH_WAYS, SHOWN, NEXT), &["check.waive=['causality']"], forward);
    assert!(refusal(leaks).starts_with("E0808"), "a leak is not waived");
}
