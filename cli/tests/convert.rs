//! States and checkpoints have the tensors of the model; `halite convert` makes of them what a bundle stores, and back.

use std::path::Path;
use std::process::Command;

fn halite(folder: &Path, command: &str) -> String {
    let mut halite = Command::new(env!("CARGO_BIN_EXE_halite"));
    let output = halite.args(command.split_whitespace()).current_dir(folder).output().expect("the binary runs");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const TINY: &str = "compile tiny -o b --set layers=1 --set batch=2 --set seq=8 --role train_step,forward";

#[test]
fn files_convert_both_ways_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let bytes = |name: &str| std::fs::read(folder.join(name)).unwrap();
    halite(folder, TINY);
    halite(folder, "init b -o s.safetensors");
    let json = halite(folder, "convert b s.safetensors --to bundle -o fed.safetensors --json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["to"], &json["from"], &json["tensors"]), (&"bundle".into(), &37.into(), &28.into()));
    let shown = halite(folder, "inspect s.safetensors");
    assert!(shown.contains("37 tensors") && shown.contains("  m.model.layers.*.mlp.up_proj.weight "), "{shown}");
    let weights = halite(folder, "convert b s.safetensors --weights-only -o w.safetensors");
    assert!(
        weights.contains("12 tensors") && weights.contains("of the 37 read, those of the optimizer are left out"),
        "{weights}"
    );
    halite(folder, "convert b fed.safetensors -o back.safetensors");
    halite(folder, "convert b back.safetensors -o again.safetensors --to model");
    halite(folder, "convert b again.safetensors --to bundle -o fed2.safetensors");
    let tensors = |name: &str| halite_bundle::tensors::read(&folder.join(name)).unwrap();
    assert!(tensors("back.safetensors") == tensors("s.safetensors"));
    assert!(bytes("again.safetensors") == bytes("back.safetensors"));
    assert!(bytes("fed2.safetensors") == bytes("fed.safetensors"));
    let (fed, tensors) = (tensors("fed.safetensors"), tensors("s.safetensors"));
    assert!(fed.contains_key("model.layers.0.self_attn.q_k_v_proj.weight"));
    for slot in ["", "m.", "v."] {
        for part in ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj"] {
            assert!(tensors.contains_key(&format!("{slot}model.layers.0.{part}.weight")), "{slot}{part}");
        }
    }
}

/// The state that a step gives is one that the next step takes, and so is that of a run.
#[test]
fn modules_take_and_give_the_tensors_of_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    halite(folder, TINY);
    halite(folder, "init b -o s0.safetensors");
    let tokens = halite_tensor::HostTensor::from_ints(halite_tensor::DType::S32, [2, 9], (0..18).map(|i| i * 7 % 256));
    let batch = [("tokens".to_owned(), tokens)].into_iter().collect();
    halite_bundle::tensors::write(&folder.join("t.safetensors"), &batch).unwrap();
    let read = |name: &str| halite_bundle::tensors::read(&folder.join(name)).unwrap();
    let names = |name: &str| read(name).into_keys().collect::<Vec<_>>();
    for (from, to) in [("s0", "s1"), ("s1", "s2")] {
        let inputs = format!("--inputs {from}.safetensors --inputs t.safetensors --outputs out.safetensors");
        halite(folder, &format!("run b --module train_step {inputs}"));
        let state: Vec<String> = names("s0.safetensors");
        let outputs = read("out.safetensors").into_iter().filter(|(name, _)| state.contains(name)).collect();
        halite_bundle::tensors::write(&folder.join(format!("{to}.safetensors")), &outputs).unwrap();
        assert_eq!(names(&format!("{to}.safetensors")), state);
    }
    assert_eq!(read("s2.safetensors")["step"].ints(), [2]);
    halite(
        folder,
        "run b --module forward --inputs s2.safetensors --inputs t.safetensors --outputs logits.safetensors",
    );
    std::fs::write(folder.join("book.txt"), "it is a truth universally acknowledged ".repeat(40)).unwrap();
    halite(folder, "train b --text book.txt --steps 4 --resume s2.safetensors -o run");
    assert_eq!(read("run/state.safetensors")["step"].ints(), [4]);
}
