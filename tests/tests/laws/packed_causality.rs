//! Masks of documents are no substitute for causal ones: what segments keep apart is proven only where positions do so too.

use halite::Session;
use halite_analysis::{CausalityReport, Verdict, causality};

/// The causality of a model whose scores are masked by `seen`, whose features have `more` added and whose labels are `labels`.
fn judged(seen: &str, more: &str, labels: &str) -> CausalityReport {
    let text = format!(
        "model m {{
  config {{ vocab = 16; width = 8; seq = 6; batch = 2 }}

  fn main(tokens: s32[batch, seq + 1], segments: s32[batch, seq + 1]) {{
    param embed: [vocab, width] = normal(0.02)
    own = segments[:, :seq]
    next = segments[:, 1:]
    query = broadcast(reshape(own, [batch, seq, 1]), [batch, seq, seq])
    key = broadcast(reshape(own, [batch, 1, seq]), [batch, seq, seq])
    causal = broadcast(causal_mask(size = seq), [batch, seq, seq])
    x = embedding(tokens[:, :seq], embed) + {more}
    scores = where({seen}, x @ transpose(x, [0, 2, 1]), -1e30)
    logits = linear(softmax(scores) @ x + broadcast(sum(convert(causal, float)) + sum(convert(query == key, float)), [batch, seq, width]) * 0, embed)
    output logits
    loss, count = cross_entropy(logits, where(next == own and next != 0, {labels}, -100))
    return loss, count
  }}
}}"
    );
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("m.hal");
    std::fs::write(&path, text).expect("the folder can be written");
    let mut session = Session::new();
    let source = session.load(path.to_str().expect("the path is text"), &["precision=fp32".to_owned()]);
    let source = source.unwrap_or_else(|errors| panic!("{errors:?}"));
    let built = session.elaborate(&source).unwrap_or_else(|errors| panic!("{errors:?}"));
    causality(&built.module, &session.registry).unwrap_or_else(|error| panic!("{error}"))
}

const SEEN: &str = "causal and query == key";
const NEXT: &str = "tokens[:, 1:]";
const NOTHING: &str = "0.0";

#[test]
fn causal_masks_of_documents_are_proven() {
    for seen in [SEEN, "query == key and causal", "causal and query <= key and query >= key", "causal"] {
        let report = judged(seen, NOTHING, NEXT);
        assert!(matches!(report.outputs, Verdict::Proven(_)), "{seen}: {report}");
        assert!(matches!(report.loss, Verdict::Proven(_)), "{seen}: {report}");
    }
}

#[test]
fn masks_that_are_of_documents_alone_leak() {
    for seen in ["query == key", "causal or query == key", "query == key or query != key"] {
        let report = judged(seen, NOTHING, NEXT);
        assert!(matches!(report.outputs, Verdict::Leaks(_)), "{seen}: {report}");
        assert!(matches!(report.loss, Verdict::Leaks(_)), "{seen}: {report}");
    }
}

/// Features that tell where the next document begins tell of the next token, and leak.
#[test]
fn the_document_of_the_next_token_is_no_feature() {
    let report = judged(SEEN, "broadcast(reshape(convert(next, float), [batch, seq, 1]), [batch, seq, width])", NEXT);
    assert!(matches!(report.outputs, Verdict::Leaks(_)), "{report}");
}

#[test]
fn labels_that_were_read_leak() {
    let report = judged(SEEN, NOTHING, "tokens[:, :seq]");
    assert!(matches!(report.outputs, Verdict::Proven(_)), "{report}");
    assert!(matches!(report.loss, Verdict::Leaks(_)), "{report}");
}
