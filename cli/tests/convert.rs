//! State in the two forms: `halite convert` goes both ways byte for byte, and commands take either.

#![allow(clippy::unwrap_used, reason = "this is test code")]

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
    let json = halite(folder, "convert b s.safetensors -o m.safetensors --json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["to"], &json["from"], &json["tensors"]), (&"model".into(), &28.into(), &37.into()));
    halite(folder, "convert b m.safetensors -o s2.safetensors");
    halite(folder, "convert b s2.safetensors -o m2.safetensors --to model");
    assert_ne!(bytes("m.safetensors"), bytes("s.safetensors"));
    assert_eq!(bytes("s2.safetensors"), bytes("s.safetensors"));
    assert_eq!(bytes("m2.safetensors"), bytes("m.safetensors"));
    let tensors = halite_bundle::tensors::read(&folder.join("m.safetensors")).unwrap();
    for slot in ["", "m.", "v."] {
        for part in ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj"] {
            assert!(tensors.contains_key(&format!("{slot}model.layers.0.{part}.weight")), "{slot}{part}");
        }
    }
}

/// The same numbers come out, whichever form goes in.
#[test]
fn modules_and_training_take_either_form() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let bytes = |name: &str| std::fs::read(folder.join(name)).unwrap();
    halite(folder, TINY);
    halite(folder, "init b -o s.safetensors");
    halite(folder, "convert b s.safetensors -o m.safetensors");
    let tokens = halite_tensor::HostTensor::from_ints(halite_tensor::DType::S32, [2, 9], (0..18).map(|i| i * 7 % 256));
    let batch = [("tokens".to_owned(), tokens)].into_iter().collect();
    halite_bundle::tensors::write(&folder.join("t.safetensors"), &batch).unwrap();
    std::fs::write(folder.join("book.txt"), "it is a truth universally acknowledged ".repeat(40)).unwrap();
    for form in ["s", "m"] {
        let inputs = format!("--inputs {form}.safetensors --inputs t.safetensors --outputs {form}-logits.safetensors");
        halite(folder, &format!("run b --module forward {inputs}"));
        halite(folder, &format!("train b --text book.txt --steps 2 --resume {form}.safetensors -o {form}"));
    }
    assert_eq!(bytes("m-logits.safetensors"), bytes("s-logits.safetensors"));
    assert_eq!(bytes("m/state.safetensors"), bytes("s/state.safetensors"));
}
