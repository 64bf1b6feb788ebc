//! Recipes as the targets of Halite extend them.

#![allow(clippy::unwrap_used, reason = "a failing helper fails its test")]

use halite_neuron::Neuron;
use halite_neuron::tables::CompilerVersion;
use halite_recipe::{Extension, PrecisionName, Recipe, TargetName, load};
use halite_support::{Diagnostic, SourceMap};
use halite_target::Vocabulary;

const MINIMAL: &str = "halite = 1\nbatch = 2\nseq = 8\nmodel.name = 'llama'\n[optimizer.adamw]\nlr = 1e-3\n";

fn read(text: &str, overrides: &[&str]) -> Result<Recipe, Vec<String>> {
    let mut sources = SourceMap::new();
    let file = sources.add("r.toml", text);
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    load(file, &overrides, &Vocabulary::builtin(halite_targets::builtin()), &mut sources)
        .map(|(recipe, _)| recipe)
        .map_err(|mistakes| {
            let line = |d: &Diagnostic| {
                let label = d.primary().expect("every mistake has a place");
                let at = sources.position(label.span).expect("a text of the map");
                let file = sources.file(label.span.file).expect("a text of the map").name();
                format!("{file}:{}:{} {} ({})", at.line, at.column, d.message(), d.help_text().unwrap_or("-"))
            };
            mistakes.iter().map(line).collect()
        })
}

#[test]
fn the_schema_knows_every_target() {
    let targets = Vocabulary::builtin(halite_targets::builtin());
    let names = Extension::targets(&targets);
    assert_eq!(names, ["cpu", "trn1", "trn1n", "trn2", "trn3", "inf2"]);
    for target in names {
        assert_eq!(read(MINIMAL, &[&format!("target={target}")]).unwrap().target, TargetName::new(target));
    }
}

#[test]
fn settings_of_neuron_are_checked() {
    let set = |text| read(MINIMAL, &[text]);
    let recipe = set("neuron.compiler='2.27'").unwrap();
    assert_eq!(Neuron::read(&recipe).unwrap().compiler, Some(CompilerVersion(vec![2, 27])));
    let wrong = |text| set(text).unwrap_err().remove(0);
    assert!(wrong("neuron.compiler='2.x'").contains("expected a version of `neuronx-cc` such as \"2.27\""));
    assert!(wrong("neuron.compiler=2.27").contains("`neuron.compiler` is 2.27, expected a version"));
    assert!(wrong("neuron.emit.groups='49'").contains("expected one of `replica_groups` and"));
    assert!(set("neuron.allow=['random-number']").is_ok());
    assert!(wrong("neuron.allow=['random-numbr']").contains("(did you mean `random-number`?)"));
    assert!(wrong("neuron.allow=['conditional']").contains("the rule `conditional` cannot be allowed"));
}

#[test]
fn what_a_recipe_can_say_passes_the_schema() {
    let full = format!(
        "target = 'cpu'\naccumulate = {{ steps = 1, form = 'two' }}\nnonfinite = 'skip'\n{MINIMAL}betas = [0.9, 0.99]\neps = 1e-8\nweight_decay = 0.1\n\
         no_decay = ['*bias']\nclip_group_norm = 1.0\n[optimizer]\nema = 0.99\n\
         [[optimizer.group]]\nname = 'head'\nparams = ['lm_head*']\nexcept = ['*bias']\nlr_scale = 0.5\n\
         weight_decay = 0.0\nclip = false\nsgd = {{ momentum = 0.9 }}\n[[optimizer.group]]\nname = 'norms'\n\
         params = ['*norm*']\nfrozen = true\n\
         [schedule]\nwarmup = 1\nsteps = 10\nfloor = 0.1\nshape = 'cosine'\n[train]\nseed = 1\n\
         steps = 2\n[parallel]\ndata = 2\ntensor = 8\npipeline = 1\nsequence = true\nzero = 1\norder = ['tensor', 'data']\nglobal_batch = 4\n\
         shard = {{ tensor = ['ffn'] }}\n[parallel.place]\n'*.o_proj.weight' = ['', 'tensor']\n\
         [model.config]\nlayers = 2\neps = 1e-5\ntied = false\n[precision]\nrecipe = 'bf16'\nweight = 'bf16'\n\
         master = 'f32'\nmoments = 'f32'\noperand = 'f16'\naccumulate = 'f32'\nsensitive = 'bf16'\n\
         gradient = 'f16'\nreduce = 'bf16'\nupdate = 'f32'\nrounding = 'sr'\n\
         sr = {{ sites = 'weight_write', by = 'dither', seed = 4294967295 }}\n\
         [[precision.override]]\nop = 'dot*'\nscope = 'model.*'\noperand = 'bf16'\naccumulate = 'bf16'\n\
         sensitive = 'f32'\ngradient = 'f32'\nreduce = 'f32'\n\
         [[precision.override]]\nparameter = '*norm*'\nweight = 'f32'\nmaster = 'none'\nmoments = 'bf16'\n\
         [check]\nwaive = ['frozen', 'residual-init']\n[dialect]\noff = ['neuron.silu']\non = ['neuron.*']\n[neuron]\nenvironment = {{ NEURON_RT_LOG_LEVEL = 'INFO' }}\n\
         flags = ['--model-type', 'transformer', '--auto-cast', 'none']\ncompiler = '2.27.4747'\nallow = []\n\
         emit = {{ groups = 'collective_device_list', channels = true }}\n"
    );
    let recipe = read(&full, &[]).unwrap();
    let text = toml::to_string(&recipe).unwrap();
    assert_eq!(read(&text, &[]).unwrap(), recipe);
    for name in PrecisionName::ALL {
        let recipe = Recipe { precision: name.precision(), ..recipe.clone() };
        assert_eq!(read(&toml::to_string(&recipe).unwrap(), &[]).unwrap(), recipe, "{}", name.name());
    }
}

#[test]
fn every_preset_is_a_recipe() {
    for (name, text) in halite_models::presets() {
        assert!(read(text, &[]).is_ok(), "{name}: {:?}", read(text, &[]));
    }
}
