//! More instances of one layout: each rank runs the same HLO, but for who it talks to.

use halite::compile::CompileOptions;
use halite::{Bundle, Session};
use halite_tests::compiled::{expect, hlo};

const TENSOR: usize = 8;

/// A small Llama whose sizes are no number of ranks, less one.
const SMALL: [&str; 9] =
    ["precision=mixed", "layers=2", "hidden=32", "heads=8", "kv_heads=8", "ffn=48", "vocab=96", "seq=16", "batch=2"];

fn compiled(input: &str, data: usize, settings: &[&str]) -> Bundle {
    let mut session = Session::new();
    let layout = ["target=trn1".to_owned(), format!("parallel.tensor={TENSOR}"), format!("parallel.data={data}")];
    let settings: Vec<String> = settings.iter().map(ToString::to_string).chain(layout).collect();
    let source = expect(session.load(input, &settings));
    expect(session.compile(&source, &CompileOptions::default())).bundle
}

/// The HLO of each module as text, without groups. Where the rank's number, which is an input, is held to the numbers that there are, the greatest
/// is blanked out.
fn without_ranks(bundle: &Bundle, data: usize) -> Vec<(String, String)> {
    let greatest = format!("s32[] constant({})", TENSOR * data - 1);
    let line = |line: &str| {
        line.split(", replica_groups=").next().unwrap_or_default().replace(&greatest, "s32[] constant(greatest)")
    };
    let text = |bytes: &[u8]| {
        let hlo = halite_hlo::decode(bytes).expect("HLO of our own decodes");
        halite_hlo::text::print(&hlo).lines().map(line).collect::<Vec<_>>().join("\n")
    };
    hlo(bundle).into_iter().map(|(name, bytes)| (name.to_owned(), text(bytes))).collect()
}

/// Holds the modules on 4 and on 8 times as many ranks as `tensor` says to one another, and says their names.
fn same_but_for_groups(input: &str, settings: &[&str]) -> Vec<String> {
    let bundles = [4, 8].map(|data| compiled(input, data, settings));
    let [few, many] = [without_ranks(&bundles[0], 4), without_ranks(&bundles[1], 8)];
    assert_eq!(few.len(), many.len());
    for ((name, few), (_, many)) in few.iter().zip(&many) {
        let differ: Vec<_> = few.lines().zip(many.lines()).filter(|(few, many)| few != many).collect();
        assert!(few == many, "{settings:?} {name}: {:?}", differ.first());
    }
    assert_ne!(hlo(&bundles[0])[0].1, hlo(&bundles[1])[0].1, "groups are of other ranks");
    few.into_iter().map(|(name, _)| name).collect()
}

/// With one module and with two for an update, with and without shares of the sequence.
#[test]
fn more_instances_change_groups_alone() {
    for sequence in ["parallel.sequence=false", "parallel.sequence=true"] {
        let one = same_but_for_groups("tiny", &[&SMALL[..], &[sequence, "accumulate=1"]].concat());
        assert_eq!(one, ["train_step", "forward", "eval"]);
        let two = same_but_for_groups("tiny", &[&SMALL[..], &[sequence, "accumulate=2"]].concat());
        assert_eq!(two, ["grad_step", "update_step", "forward", "eval"]);
    }
}

/// The 7B of HLAT, as far as two layers say.
#[test]
fn more_instances_change_groups_alone_in_hlat() {
    let modules =
        same_but_for_groups("llama-7b", &["precision=mixed", "layers=2", "recompute=['attention', 'activation']"]);
    assert_eq!(modules, ["grad_step", "update_step", "forward", "eval"]);
}
