//! Models that are scaled down are still elaborated and compiled.

use crate::compile::CompileOptions;
use crate::session::Session;
use crate::source::{ModelInput, Source};
use halite_bundle::{ModuleRole, Stream};
use halite_recipe::{Accumulate, Cuts, ModelChoice, Optimizer, Parallel, Recipe};
use halite_schedule::ScheduleKind;
use halite_support::Diagnostics;

/// A model with these sizes, named or as a text.
fn recipe(session: &mut Session, model: &str, sizes: &[(&str, i64)]) -> Source {
    let size = |name: &str| sizes.iter().find(|(key, _)| *key == name).map_or(2, |&(_, size)| size as usize);
    let config = sizes.iter().filter(|(key, _)| !["batch", "seq"].contains(key));
    let choice = |name: &str| config.fold(ModelChoice::new(name), |choice, &(key, size)| choice.with(key, size));
    let (name, input) = match model.starts_with("model") {
        true => ("custom.hal", ModelInput::from(model)),
        false => (model, ModelInput::Named),
    };
    let recipe = Recipe::new(choice(name), size("batch"), size("seq"), Optimizer::new("adamw", 1e-3));
    session.source(recipe, input).unwrap()
}

/// Scales a recipe that elaborates and says what changed; the result must elaborate, and compile where that is asked for.
fn scale(session: &Session, mut source: Source, compiles: bool) -> Vec<(String, i64, i64)> {
    let given = source.recipe.clone();
    let scaled = session.scale_down(&mut source).unwrap();
    let failed = |errors: &Diagnostics| format!("{given:?} scaled by {scaled:?}: {errors:?}");
    let elaborated = session.elaborate(&source);
    assert!(elaborated.is_ok(), "{}", failed(&elaborated.err().unwrap()));
    if compiles {
        let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
        let compiled = session.compile(&source, &options);
        assert!(compiled.is_ok(), "{}", failed(&compiled.err().unwrap()));
    }
    scaled
}

#[test]
fn small_recipes_that_compile_are_scaled_and_compile() {
    let llama = [(14, 7, 7), (30, 15, 15), (10, 5, 5), (22, 11, 11), (50, 5, 5), (36, 6, 6), (18, 9, 3), (6, 3, 3)];
    let mut session = Session::new();
    for (hidden, heads, kv_heads) in llama {
        let sizes = [("hidden", hidden), ("heads", heads), ("kv_heads", kv_heads), ("layers", 1), ("seq", 8)];
        let source = recipe(&mut session, "llama", &sizes);
        scale(&session, source, true);
    }
    let sizes = [("hidden", 35), ("heads", 5), ("layers", 1), ("seq", 8)];
    let source = recipe(&mut session, "gpt2", &sizes);
    scale(&session, source, true);
}

/// Cuts of layers that are gone go too.
#[test]
fn recipes_that_say_where_a_model_is_cut_are_scaled_and_compile() {
    let mut session = Session::new();
    let mut source = recipe(&mut session, "llama", &[("hidden", 8), ("heads", 2), ("layers", 6), ("seq", 8)]);
    source.recipe.accumulate = Some(Accumulate { steps: 2, form: None });
    source.recipe.parallel =
        Some(Parallel { pipeline: 2, stages: Some(Cuts::Layers(vec![4, 2])), ..Parallel::default() });
    assert!(scale(&session, source, true).contains(&("layers".to_owned(), 6, 2)));
}

#[test]
fn a_head_keeps_its_width_and_its_share_of_key_value_heads_where_they_fit() {
    let mut session = Session::new();
    let changed = |session: &Session, source| -> Vec<(String, i64, i64)> {
        let mut scaled = scale(session, source, false);
        scaled.retain(|(key, ..)| ["hidden", "heads", "kv_heads"].contains(&&**key));
        scaled
    };
    let change = |key: &str, from, to| (key.to_owned(), from, to);
    let source = recipe(&mut session, "llama", &[("hidden", 18), ("heads", 9), ("kv_heads", 3)]);
    let expected = [change("hidden", 18, 6), change("heads", 9, 3), change("kv_heads", 3, 1)];
    assert_eq!(changed(&session, source), expected);
    // No number of heads of this width fits: the heads get narrower.
    let source = recipe(&mut session, "llama", &[("hidden", 3 * 128), ("heads", 3), ("kv_heads", 3)]);
    assert_eq!(changed(&session, source), [change("hidden", 384, 48)]);
}

#[test]
fn what_the_model_needs_is_kept_and_said() {
    let text = "\
model picky {
  config { vocab = 970 hidden = 4096 batch = 4 seq = 512 window = 128 }
  require vocab % 97 == 0, \"whole blocks\"
  require window <= seq, \"the window lies in the sequence\"
  fn main(tokens: s32[batch, seq + 1]) {
    param table: [vocab, hidden] = normal(0.02)
    logits = linear(embedding(tokens[:, :seq], table), table)
    loss, count = cross_entropy(logits, tokens[:, 1:])
    return loss, count
  }
}
";
    let mut session = Session::new();
    let source = recipe(&mut session, text, &[("seq", 512)]);
    let scaled = scale(&session, source, true);
    let kept: Vec<_> = scaled.iter().filter(|(_, from, to)| from == to).map(|(key, ..)| &**key).collect();
    assert_eq!(kept, ["vocab", "seq"]);
    assert!(scaled.contains(&("hidden".to_owned(), 4096, 64)), "{scaled:?}");
}

#[test]
fn whatever_elaborates_is_scaled_to_what_elaborates() {
    let tries = std::env::var("HALITE_SCALED_RECIPES").map_or(16, |tries| tries.parse().unwrap());
    let mut session = Session::new();
    for model in ["bert", "gpt2", "llama", "llama3", "mistral", "qwen2"] {
        let mut valid = 0;
        for seed in 0..tries {
            let stream = Stream::new(seed, model);
            let upto = |at: u64, most: u64| 1 + stream.below(at, most) as i64;
            let (kv_heads, group, width) = (upto(0, 12), upto(1, 5), upto(2, 140));
            let heads = kv_heads * group;
            let mut sizes = vec![("hidden", heads * width), ("heads", heads), ("layers", upto(3, 4))];
            sizes.extend([("vocab", upto(4, 300)), ("ffn", upto(5, 300)), ("seq", upto(6, 80)), ("batch", upto(7, 5))]);
            match model {
                "bert" | "gpt2" => sizes.push(("positions", upto(6, 80) + upto(8, 40) - 1)),
                _ => sizes.push(("kv_heads", kv_heads)),
            }
            let source = recipe(&mut session, model, &sizes);
            if session.elaborate(&source).is_ok() {
                valid += 1;
                scale(&session, source, seed % 40 == 0);
            }
        }
        assert!(valid * 4 > tries, "{model}: {valid} of {tries} recipes are valid");
    }
}

/// A model on a pipeline keeps a layer for each part and a micro-batch for each stage.
#[test]
fn stages_parts_and_micro_batches_shrink_together() {
    let mut session = Session::new();
    let scaled = |session: &mut Session, pipeline: u32, chunks: u32, steps: u32| {
        let mut source = recipe(session, "llama", &[("layers", 32), ("seq", 8), ("hidden", 16), ("heads", 4)]);
        let schedule = if chunks > 1 { ScheduleKind::Interleaved } else { ScheduleKind::OneForwardOneBackward };
        source.recipe.parallel = Some(Parallel { pipeline, chunks, schedule, ..Parallel::default() });
        source.recipe.accumulate = Some(Accumulate { steps, form: None });
        let mut scaled = scale(session, source, true);
        scaled.retain(|(key, ..)| ["layers", "accumulate", "parallel.pipeline", "parallel.chunks"].contains(&&**key));
        scaled
    };
    let change = |key: &str, from, to| (key.to_owned(), from, to);
    assert_eq!(scaled(&mut session, 2, 1, 8), [change("layers", 32, 2), change("accumulate", 8, 2)]);
    let expected = [("layers", 32, 8), ("accumulate", 16, 4), ("parallel.pipeline", 8, 4), ("parallel.chunks", 4, 2)];
    assert_eq!(scaled(&mut session, 8, 4, 16), expected.map(|(key, from, to)| change(key, from, to)));
}
