//! A bundle of two stages, and every way in which its lists can be wrong.

use super::*;
use crate::fixtures::small;
use halite_tensor::{DType, Sharding};

fn actions(texts: &str) -> Vec<Action> {
    texts.split(", ").map(|text| text.parse().unwrap()).collect()
}

fn value(name: &str, shape: &[usize]) -> Port {
    let [port, ..] = &small().manifest.modules[0].inputs[..] else { panic!("the small bundle has inputs") };
    Port { name: name.into(), dtype: DType::F32, shape: shape.into(), role: PortRole::Value, ..port.clone() }
}

/// Two stages on two micro-batches: `first` reads tokens and makes `x`, `second` reads tokens and `x` and makes `dx`, which comes back
/// to `back`; the ends know `scale` once.
fn staged() -> Manifest {
    let mut manifest = small().manifest;
    let tokens = manifest.modules[0].inputs[0].clone();
    let module = |name: &str, stage, inputs: Vec<Port>, outputs: Vec<Port>| ModuleEntry {
        name: name.into(),
        stage,
        inputs,
        outputs,
        ..small().manifest.modules[0].clone()
    };
    let (x, dx, scale) = (value("x", &[2, 3]), value("dx", &[2, 3]), value("scale", &[]));
    manifest.modules = vec![
        module("first", 0, vec![tokens.clone()], vec![x.clone()]),
        module("back", 0, vec![x.clone(), dx.clone()], vec![]),
        module("end_0", 0, vec![], vec![scale.clone()]),
        module("second", 1, vec![tokens, x], vec![dx]),
        module("end_1", 1, vec![scale], vec![]),
    ];
    manifest.schedule = vec![
        actions(
            "run first 0, send forward 0, run first 1, send forward 1, receive backward 0, run back 0, \
            receive backward 1, run back 1, run end_0, send once",
        ),
        actions(
            "receive forward 0, run second 0, send backward 0, receive forward 1, run second 1, send backward 1, \
            receive once, run end_1",
        ),
    ];
    let transfer =
        |name: &str, from, to, value: &str| Transfer { name: name.into(), from, to, values: vec![value.into()] };
    manifest.transfers =
        vec![transfer("forward", 0, 1, "x"), transfer("backward", 1, 0, "dx"), transfer("once", 0, 1, "scale")];
    manifest
}

#[test]
fn stages_read_back_to_themselves() {
    let manifest = staged();
    assert_eq!(check(&manifest), Ok(()));
    assert_eq!(manifest.micro_batches(), Some(2));
    let calls: Vec<_> = manifest.calls().into_iter().collect();
    assert_eq!(calls, [("first", 2), ("back", 2), ("end_0", 1), ("second", 2), ("end_1", 1)]);
    let text = serde_json::to_string(&manifest).unwrap();
    assert!(text.contains(r#""run end_0","send once"]"#) && text.contains(r#""role":"value""#), "{text}");
    assert_eq!(serde_json::from_str::<Manifest>(&text).unwrap(), manifest);
}

/// A program of one stage, and one that makes no update, say nothing of stages.
#[test]
fn one_stage_says_nothing_of_others() {
    let mut manifest = small().manifest;
    assert_eq!(check(&manifest), Ok(()));
    let text = serde_json::to_string(&manifest).unwrap();
    assert!(text.contains(r#""schedule":[["run train_step 0"]]"#), "{text}");
    assert!(!text.contains("transfers") && !text.contains("stage"), "{text}");
    manifest.schedule.clear();
    assert_eq!(check(&manifest), Ok(()));
}

#[test]
fn lists_that_do_not_fit_are_refused() {
    type Change = fn(&mut Manifest);
    let cases: [(Change, &str); 26] = [
        (|m| m.modules[3].stage = 2, "the module `second` is of stage 2, which the schedule does not have"),
        (|m| m.schedule[0] = actions("run third 0"), "the schedule calls `third`, which is no module"),
        (|m| m.schedule[1].extend(actions("run first 2")), "stage 1 calls `first`, which is of stage 0"),
        (
            |m| m.schedule[0][0] = actions("run first").remove(0),
            "calls `first` for no piece of the batch, which it reads",
        ),
        (|m| m.schedule[0].extend(actions("run end_0")), "the schedule calls `end_0` once for all pieces, and again"),
        (|m| m.schedule[0].extend(actions("run back 1")), "the schedule calls `back` twice for piece 1"),
        (|m| m.schedule[0].extend(actions("run back 3")), "the schedule calls `back` for piece 3, not for 2"),
        (
            |m| m.schedule[0][0] = Action::Run { module: "a b".into(), pieces: None },
            "`run a b` is no action of a schedule, expected e.g. `run grad_step 0..4`",
        ),
        (
            |m| m.schedule[0][0] = Action::Run { module: "first".into(), pieces: Some(1..1) },
            "`run first 1..1` is no action of a schedule",
        ),
        (
            |m| m.schedule[0].extend(actions("run first 2")),
            "the calls of the schedule read different numbers of micro-batches",
        ),
        (|m| m.schedule[0].extend(actions("send backwards")), "stage 0 sends `backwards`, which is no transfer"),
        (|m| m.schedule[0].extend(actions("receive up 1")), "stage 0 receives `up`, which is no transfer"),
        (|m| m.schedule[0].extend(actions("send backward 2")), "stage 0 sends `backward`, which stage 1 does"),
        (|m| m.schedule[0].extend(actions("receive forward 2")), "stage 0 receives `forward`, which stage 1 does"),
        (|m| m.schedule[0].extend(actions("send forward 2")), "`forward` is sent of other pieces than it is received"),
        (
            |m| m.schedule[1].extend(actions("receive forward 1")),
            "`forward` is sent of other pieces than it is received",
        ),
        (|m| m.schedule[0].extend(actions("send forward 1")), "the transfer `forward` of piece 1 is sent twice"),
        (|m| m.transfers[1].name = "forward".into(), "two transfers have one name"),
        (
            |m| m.transfers[0].name = "for ward".into(),
            "a transfer is called `for ward`, expected a name without spaces",
        ),
        (|m| m.transfers[0].to = 0, "the transfer `forward` goes from stage 0 to stage 0, expected two of 2"),
        (|m| m.transfers[0].to = 2, "the transfer `forward` goes from stage 0 to stage 2, expected two of 2"),
        (
            |m| m.transfers[0].values.push("dx".into()),
            "the transfer `forward` takes `dx`, which no module of stage 0 makes",
        ),
        (
            |m| m.transfers[0].values.push("x".into()),
            "the transfer `forward` brings `x` to stage 1, which has it already",
        ),
        (
            |m| m.transfers[0].values.clear(),
            "the value `x` of the module `second` is neither made on stage 1 nor brought there",
        ),
        (
            |m| m.modules[3].inputs[1].shape = vec![3],
            "the value `x` of the module `second` has another type than what is made",
        ),
        (|m| m.modules[2].outputs.push(value("x", &[2, 3])), "two modules of stage 0 make the value `x`"),
    ];
    for (change, expected) in cases {
        let mut manifest = staged();
        change(&mut manifest);
        let error = check(&manifest).unwrap_err();
        assert!(error.contains(expected), "{error}\n{expected}");
    }
    let mut sharded = staged();
    sharded.modules[0].outputs[0].sharding = Some(Sharding::replicated(2));
    assert_eq!(check(&sharded).unwrap_err(), "the value `x` of the module `first` is sharded");
    let mut unused = staged();
    unused.transfers.push(Transfer { name: "more".into(), from: 0, to: 1, values: Vec::new() });
    assert_eq!(check(&unused).unwrap_err(), "the transfer `more` is not made");
}

/// Both stages hold `b`, which the end of the first replaces and sends.
fn shared() -> Manifest {
    let mut manifest = staged();
    let [_, b] = &small().manifest.modules[0].inputs[..] else { panic!("the small bundle has two inputs") };
    [0, 2, 3].into_iter().for_each(|at| manifest.modules[at].inputs.push(b.clone()));
    manifest.modules[2].outputs.push(Port { alias: Some(0), ..b.clone() });
    manifest.schedule[0].extend(actions("send state"));
    manifest.schedule[1].extend(actions("receive state"));
    manifest.transfers.push(Transfer { name: "state".into(), from: 0, to: 1, values: vec!["b".into()] });
    manifest
}

/// Puts an action of a stage elsewhere in its list.
fn put(manifest: &mut Manifest, stage: usize, from: usize, to: usize) {
    let moved = manifest.schedule[stage].remove(from);
    manifest.schedule[stage].insert(to, moved);
}

#[test]
fn lists_that_do_not_play_are_refused() {
    type Change = fn(&mut Manifest);
    let cases: [(Change, &str); 13] = [
        (|m| put(m, 0, 1, 0), "stage 0 sends `forward` of piece 0 before it has `x`"),
        (|m| put(m, 1, 0, 1), "stage 1 runs `second` of piece 0 before it has `x` of piece 0"),
        (|m| put(m, 0, 4, 0), "stage 1 waits for `forward` of piece 0, which no stage comes to send"),
        (|m| put(m, 0, 2, 0), "the schedule calls `first` for piece 1, not for 0"),
        (|m| put(m, 0, 8, 7), "stage 0 does `run back 1` after what it does once"),
        (|m| _ = m.schedule[1].remove(7), "the schedule does not call `end_1`, but others with its role"),
        (|m| _ = m.schedule[0].remove(7), "the schedule calls `back` for fewer pieces than other modules"),
        (|m| put(m, 0, 10, 8), "stage 0 sends `state` before it has `b`"),
        (
            |m| {
                let b = m.modules[0].inputs[1].clone();
                m.modules[4].inputs.push(b);
                put(m, 1, 8, 7);
            },
            "stage 1 runs `end_1` after `b` was replaced",
        ),
        (
            |m| {
                let b = m.modules[0].inputs[1].clone();
                m.modules[4].inputs.push(b.clone());
                m.modules[4].outputs.push(b);
            },
            "stage 1 receives `b` after it replaced it",
        ),
        (
            |m| {
                m.transfers.pop();
                m.schedule.iter_mut().for_each(|list| _ = list.pop());
            },
            "stage 0 replaces `b`, and stage 1 keeps the old one",
        ),
        (
            |m| {
                m.modules[3].inputs.pop();
                let b = m.modules[0].inputs[1].clone();
                m.modules[4].inputs.push(Port { role: PortRole::Value, ..b });
            },
            "stage 0 sends `state` after it replaced `b`",
        ),
        (
            |m| {
                m.roles.insert(ModuleRole::EVAL, vec![actions("run first 0"), Vec::new()]);
                m.schedule = vec![Vec::new(), Vec::new()];
                m.transfers.clear();
                m.modules.truncate(1);
                m.modules[0].inputs = vec![value("x", &[2, 3])];
            },
            "stage 0 runs `first` of piece 0 before it has `x` of piece 0",
        ),
    ];
    assert_eq!(check(&shared()), Ok(()));
    for (change, expected) in cases {
        let mut manifest = shared();
        change(&mut manifest);
        let error = check(&manifest).unwrap_err();
        assert!(error.contains(expected), "{error}\n{expected}");
    }
}
