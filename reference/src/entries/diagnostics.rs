//! The diagnostics, each with an input that it is said of.

use super::case;
use crate::entry::{Entry, Kind};
use halite_support::doc::first_sentence;
use halite_support::{Code, codes};

/// A code, and the bad input that shows it.
macro_rules! examples {
    ($($code:literal $file:literal;)*) => {
        const EXAMPLES: &[(&str, &str)] =
            &[$(($code, include_str!(concat!("../../../tests/bad_inputs/", $file, ".case")))),*];
    };
}

examples! {
    "E0202" "ir/dtype";
    "E0210" "ir/no_derivative";
    "E0212" "ir/rounding";
    "E0410" "flags/compiler_version";
    "E0520" "flags/document_not_json";
    "E0604" "ir/stream_clash";
    "E0701" "flags/plugin_missing";
    "E0702" "flags/plugin_no_library";
    "E0703" "flags/wheel_missing";
    "E0709" "flags/neuronx_cc_missing";
    "E0802" "precision/accumulate";
    "E0813" "models/unread_input";
    "E0814" "ir/replicas";
    "E0101" "models/unclosed_brace";
    "E0102" "recipes/wrong_version";
    "E0201" "ir/arity";
    "E0203" "models/shape_clash";
    "E0204" "ir/attribute_out_of_range";
    "E0205" "ir/undefined_value";
    "E0206" "ir/type_mismatch";
    "E0207" "ir/unknown_op";
    "E0208" "ir/duplicate_value";
    "E0209" "ir/legal_unrealized_rounding";
    "E0216" "stablehlo/dialect";
    "E0301" "models/unknown_name";
    "E0302" "models/unused_parameter";
    "E0303" "models/too_few_arguments";
    "E0304" "models/recursion";
    "E0305" "models/requirement";
    "E0306" "flags/set_unknown_key";
    "E0307" "models/tensor_as_dimension";
    "E0308" "models/inexact_division";
    "E0309" "models/missing_output";
    "E0310" "models/nested_lists";
    "E0311" "models/argument_not_there";
    "E0312" "models/library_function";
    "E0401" "flags/unknown_preset";
    "E0402" "recipes/syntax";
    "E0403" "recipes/unknown_key";
    "E0404" "flags/set_wrong_type";
    "E0405" "flags/checkpoint_keep";
    "E0406" "flags/set_deep_key";
    "E0407" "flags/data_none";
    "E0408" "recipes/environment_of_launcher";
    "E0409" "flags/set_seed_without_sr";
    "E0411" "flags/set_list_item";
    "E0412" "models/config_json_family";
    "E0413" "recipes/not_supported";
    "E0501" "flags/recipe_missing";
    "E0502" "bundles/not_a_bundle";
    "E0503" "bundles/checksum";
    "E0504" "tensors/not_safetensors";
    "E0505" "tensors/missing";
    "E0506" "flags/output_is_a_file";
    "E0507" "flags/text_empty";
    "E0521" "models/narrow_logits";
    "E0522" "flags/eos_unknown";
    "E0508" "flags/update_twice";
    "E0509" "flags/env_of_cpu";
    "E0601" "flags/verify_unknown_pass";
    "E0602" "recipes/layout_shard_unknown";
    "E0603" "flags/set_precision_switch";
    "E0605" "models/inexact_on_neuron";
    "E0801" "precision/one_layer";
    "E0803" "precision/bf16";
    "E0804" "precision/moments";
    "E0805" "precision/bf16";
    "E0806" "precision/hlat_7b_paper";
    "E0807" "precision/train";
    "E0808" "ir/legal_leak";
    "E0809" "precision/unscaled";
    "E0811" "models/residual_init";
    "E0812" "models/frozen_weight";
}

/// Codes that no small input shows, each with the reason.
pub(crate) const WITHOUT: &[(&str, &str)] = &[
    ("E0211", "the interpreter runs what verification and tests give it, which fits"),
    ("E0213", "the target says it with `E0605`; alone it is said of programs made in Rust"),
    ("E0214", "it is said of names given in Rust, such as that of a pass from outside"),
    ("E0215", "no model makes an instruction that StableHLO lacks; HLO from elsewhere may"),
    ("E0515", "it needs a run that was interrupted"),
    ("E0516", "it needs a run on several ranks that was interrupted"),
    ("E0517", "it needs a checkpoint that was damaged"),
    ("E0518", "it needs another run that is at work"),
    ("E0519", "it needs a run that left checkpoints"),
    ("E0523", "it needs a measurement on a device"),
    ("E0606", "it is said of whole programs for Neuron, beside much else"),
    ("E0607", "no pipeline of Halite does this"),
    ("E0690", "it needs a signal while the command works"),
    ("E0704", "it needs a bundle that was damaged after it was checked"),
    ("E0705", "XLA takes what Halite writes"),
    ("E0706", "it is said of calls from Rust"),
    ("E0707", "it needs a device that fails"),
    ("E0708", "it needs a run that diverges"),
    ("E0710", "it needs a program that only looks like `neuronx-cc`"),
    ("E0711", "it needs `neuronx-cc`"),
    ("E0712", "it needs `neuronx-cc`, and a signal while it works"),
    ("E0713", "it needs `neuronx-cc`"),
    ("E0714", "it needs a bundle that was compiled with `neuronx-cc`"),
    ("E0715", "it needs libnrt"),
    ("E0716", "it needs libnrt"),
    ("E0717", "it needs libnrt"),
    ("E0718", "it needs libnrt"),
    ("E0719", "it needs several ranks"),
    ("E0720", "it needs Neuron devices"),
    ("E0721", "it needs several ranks"),
    ("E0722", "it depends on the memory of the machine"),
    ("E0731", "it needs a run that goes wrong"),
    ("E0822", "it needs a model larger than a core"),
    ("E0901", "it is a bug"),
];

pub(crate) fn entries() -> Vec<Entry> {
    codes::ALL.iter().map(entry).collect()
}

fn entry(code: &Code) -> Entry {
    let example = EXAMPLES.iter().find(|(id, _)| *id == code.id).map(|(_, text)| case::shown(text));
    let reason = WITHOUT.iter().find(|(id, _)| *id == code.id).map(|(_, reason)| format!("No example: {reason}."));
    let example = example.or(reason).unwrap_or_default();
    let remedy = format!("What usually helps: {}.", code.remedy);
    Entry::new(
        Kind::Diagnostic,
        code.id,
        first_sentence(code.explanation),
        format!("{}\n\n{remedy}\n\n{example}", code.explanation),
    )
}
