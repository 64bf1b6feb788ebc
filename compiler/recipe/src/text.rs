//! Recipes as text: TOML in, a checked [`Recipe`] out, every mistake a diagnostic at its place.
//!
//! A recipe is read in four steps: its syntax into a tree of values with positions, the overrides of the command line
//! into that tree, the tree against the schema, and the [`Recipe`] made of it against the rules on what goes together.

mod check;
mod elsewhere;
mod hint;
mod layer;
mod model;
mod nesting;
mod overrides;
mod renamed;
mod replaced;
mod tree;

pub use elsewhere::other_names;
pub use hint::{Hint, hint};
pub use model::model_of;

use crate::{Extension, Optimizer, Places, Recipe, Schedule, extension, rules};
use halite_support::{Diagnostic, Diagnostics, FileId, SourceMap};

/// The recipe in `file` with overrides `key=value` applied.
///
/// A key is a dotted path of the recipe such as `optimizer.adamw.lr`; any other bare key belongs to the model's
/// configuration. Each override becomes a source text of its own, so that diagnostics can point into it.
///
/// # Errors
/// When the text is not among `sources`; every mistake that was found, in the order of the text and then of the
/// overrides.
pub fn load(
    file: FileId,
    overrides: &[String],
    extension: &dyn Extension,
    sources: &mut SourceMap,
) -> Result<(Recipe, Places), Diagnostics> {
    load_over(file, None, overrides, extension, sources)
}

/// As [`load`], with the precision and the optimizer of a recipe in another file laid over those of the first before the
/// overrides: its precision replaces the other one, its settings of the same optimizer replace others one by one.
///
/// # Errors
/// As [`load`]; when the second file says nothing of either.
pub fn load_over(
    file: FileId,
    layer: Option<FileId>,
    overrides: &[String],
    extension: &dyn Extension,
    sources: &mut SourceMap,
) -> Result<(Recipe, Places), Diagnostics> {
    let keys = extension::keys(extension, None);
    let mut root = tree::parse(file, sources.known(file)?.text())?;
    let mut places = Places { texts: [file].into_iter().chain(layer).collect(), ..Places::default() };
    let (mut replaced, mut mistakes) = (Vec::new(), Diagnostics::new());
    if let Some(layer) = layer {
        let above = tree::parse(layer, sources.known(layer)?.text())?;
        layer::lay(&mut root, above, &keys, &mut replaced, &mut mistakes);
    }
    for text in overrides {
        let file = sources.add(format!("--set {text}"), text);
        places.texts.push(file);
        mistakes.extend(overrides::apply(&mut root, file, text, &keys, &mut replaced).err());
    }
    renamed::rename(&mut root, &mut places);
    let keys = extension::keys(extension, Some(shape(&root)));
    check::check(&root, &keys, &extension.targets(), rule(&root), &mut mistakes);
    places.refuse(mistakes)?;
    let unexpected = |error: toml::de::Error| Diagnostic::bug(format!("the recipe's schema: {}", error.message()));
    let mut recipe: Recipe = root.to_toml().try_into().map_err(unexpected)?;
    extension::fill(&mut recipe, extension);
    root.places("", &mut places.entries);
    places.replaced = replaced::note(&replaced, &root, &recipe.optimizer);
    places.refuse(rules::check(&recipe, &places, extension))?;
    Ok((recipe, places))
}

/// The shape of the schedule that a tree states, or that it has by default.
fn shape(root: &tree::Node) -> &str {
    let shape = root.entry("schedule").and_then(|schedule| schedule.entry("shape")).map(|shape| &shape.value);
    if let Some(tree::Value::Text(shape)) = shape { shape } else { Schedule::COSINE }
}

/// The update rule that a tree states.
fn rule(root: &tree::Node) -> Option<&str> {
    let tree::Value::Table(optimizer) = &root.entry("optimizer")?.value else { return None };
    optimizer.keys().map(String::as_str).find(|name| !Optimizer::is_own_key(name))
}

/// The path of a key in the table at `path`.
fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Known;
    use crate::{
        Accumulate, Clip, ConfigValue, DynamicLossScale, Form, LossScale, Nonfinite, PrecisionName, Recipe,
        RoundingMode, SrBy, SrSites, Waiver,
    };
    use halite_tensor::DType;

    const MINIMAL: &str = "halite = 1\nbatch = 2\nseq = 8\nmodel.name = 'llama'\n[optimizer.adamw]\nlr = 1e-3\n";

    fn read(text: &str, overrides: &[&str]) -> Result<Recipe, Vec<String>> {
        let mut sources = SourceMap::new();
        let file = sources.add("r.toml", text);
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        load(file, &overrides, &Known, &mut sources).map(|(recipe, _)| recipe).map_err(|mistakes| {
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
    fn defaults_are_filled_in() {
        let recipe = read(MINIMAL, &[]).unwrap();
        assert_eq!((recipe.batch, recipe.seq, recipe.train.steps), (Some(2), Some(8), 300));
        assert_eq!((recipe.optimizer.clip, recipe.schedule.shape.as_str()), (None, "cosine"));
        assert_eq!(recipe.optimizer.rule.settings::<crate::testing::AdamW>().unwrap().betas, [0.9, 0.95]);
    }

    #[test]
    fn overrides_reach_the_recipe_and_the_configuration() {
        let all =
            ["batch=4", "optimizer.adamw.lr=1", "layers=3", "train.seed = 7", "precision=fp64", "model.name=gpt2"];
        let recipe = read(MINIMAL, &all).unwrap();
        assert_eq!((recipe.batch, recipe.optimizer.lr, recipe.train.seed), (Some(4), 1.0, 7));
        assert_eq!(recipe.model.config["layers"], ConfigValue::Int(3));
        assert_eq!(recipe.model.name, "gpt2");
    }

    #[test]
    fn places_are_those_of_the_entries() {
        let mut sources = SourceMap::new();
        let file = sources.add("r.toml", MINIMAL);
        let (_, places) = load(file, &["layers=3".to_owned()], &Known, &mut sources).unwrap();
        let text = |path| places.get(path).map(|span| sources.snippet(span));
        assert_eq!(text("optimizer.adamw.lr"), Some("lr = 1e-3"));
        assert_eq!(text("model.config.layers"), Some("layers=3"));
        assert_eq!(text("train.seed"), None);
    }

    #[test]
    fn entries_of_lists_have_places() {
        let text = format!(
            "{MINIMAL}no_decay = ['*norm*', '*bias']\n[[precision.override]]\nop = 'dot_general'\noperand = 'f32'\n"
        );
        let mut sources = SourceMap::new();
        let file = sources.add("r.toml", text);
        let (_, places) = load(file, &[], &Known, &mut sources).unwrap();
        let text = |path| places.nearest(path).map(|span| sources.snippet(span));
        assert_eq!(text("optimizer.adamw.no_decay.1"), Some("'*bias'"));
        assert_eq!(text("precision.override.0.op"), Some("op = 'dot_general'"));
        assert_eq!(text("precision.override.0.scope"), Some("[[precision.override]]"));
        assert_eq!(text("schedule.steps"), None);
    }

    #[test]
    fn a_precision_is_a_name_or_a_table_that_starts_from_one() {
        assert_eq!(read(MINIMAL, &[]).unwrap().precision, PrecisionName::Mixed.precision());
        for name in PrecisionName::ALL {
            let named = format!("precision={}", name.name());
            assert_eq!(read(MINIMAL, &[&named]).unwrap().precision, name.precision());
        }
        let precision = |text, overrides: &[&str]| read(&format!("{text}{MINIMAL}"), overrides).unwrap().precision;
        let seeded = precision("precision = 'bf16-sr'\n", &["precision.sr.seed=3"]);
        assert_eq!((seeded.recipe, seeded.sr.seed, seeded.sr.by), (PrecisionName::Bf16Sr, 3, SrBy::Dither));
        let twice = precision("", &["precision=mixed-sr", "precision.sr.seed=4", "precision.operand=f16"]);
        assert_eq!((twice.sr.seed, twice.sr.sites, twice.operand), (4, SrSites::All, DType::F16));
        let replaced = precision("precision = { weight = 'bf16', master = 'f32' }\n", &["precision=fp32"]);
        assert_eq!(replaced, PrecisionName::Fp32.precision());
        let table = precision("precision = { recipe = 'bf16', rounding = 'sr', sr.seed = 9 }\n", &[]);
        assert_eq!((table.rounding, table.sr.seed, table.moments), (RoundingMode::Sr, 9, DType::Bf16));
    }

    #[test]
    fn every_waiver_is_read_by_its_word() {
        for waiver in Waiver::ALL {
            let recipe = read(MINIMAL, &[&format!("check.waive=['{}']", waiver.name())]).unwrap();
            assert_eq!(recipe.check.waive, [waiver]);
        }
        assert!(read(MINIMAL, &["check.waive=['frosen']"]).unwrap_err()[0].contains("(did you mean `frozen`?)"));
    }

    #[test]
    fn another_optimizer_replaces_the_first() {
        let recipe = read(MINIMAL, &["optimizer.sgd.lr=0.1", "optimizer.sgd.momentum=0.9"]).unwrap();
        assert_eq!((&*recipe.optimizer.rule.name, recipe.optimizer.lr), ("sgd", 0.1));
        assert_eq!(recipe.optimizer.rule.settings["momentum"].as_float(), Some(0.9));
        let kept = read(MINIMAL, &["optimizer.ema=0.9", "optimizer.sgd.lr=0.1"]).unwrap().optimizer;
        assert_eq!((&*kept.rule.name, kept.ema), ("sgd", Some(0.9)));
    }

    #[test]
    fn another_optimizer_decays_and_clips_what_the_first_did() {
        let text = format!("{MINIMAL}betas = [0.9, 0.99]\nweight_decay = 0.1\nno_decay = ['*norm*']\nclip_norm = 1\n");
        let optimizer = |overrides: &[&str]| read(&text, overrides).unwrap().optimizer;
        for set in ["optimizer.sgd.lr=0.1", "optimizer.sgd={ lr = 0.1 }"] {
            let kept = optimizer(&[set]);
            assert_eq!((&*kept.rule.name, kept.lr, kept.weight_decay), ("sgd", 0.1, 0.1), "{set}");
            assert_eq!((kept.no_decay, kept.clip), (vec!["*norm*".to_owned()], Some(Clip::Norm(1.0))));
            assert!(kept.rule.settings.get("betas").is_none());
        }
        // The settings of the new rule hold, wherever they stand.
        let own = ["optimizer.sgd.weight_decay=0", "optimizer.sgd.lr=0.1", "optimizer.sgd.clip_value=2"];
        for own in [&own[..], &["optimizer.sgd={ lr = 0.1, weight_decay = 0, clip_value = 2 }"]] {
            let said = optimizer(own);
            assert_eq!((said.weight_decay, said.clip, said.no_decay.len()), (0.0, Some(Clip::Value(2.0)), 1));
        }
        // A learning rate is that of a rule: another one needs its own.
        assert!(read(&text, &["optimizer.sgd.momentum=0.9"]).unwrap_err()[0].contains("lacks `optimizer.sgd.lr`"));
        assert_eq!(optimizer(&["optimizer.adamw.clip_value=2"]).clip, Some(Clip::Value(2.0)));
    }

    #[test]
    fn an_optimizer_has_groups_an_average_and_one_bound_of_gradients() {
        let text = format!(
            "{MINIMAL}betas = [0.9, 0.99]\nclip_value = 0.5\n[optimizer]\nema = 0.999\n[[optimizer.group]]\n\
             name = 'embeddings'\nparams = ['*embed*']\nexcept = ['*pos*']\nlr_scale = 0.1\nweight_decay = 0\n\
             clip = false\nsgd = {{ momentum = 0.95 }}\n[[optimizer.group]]\nname = 'head'\nparams = ['lm_head*']\n\
             frozen = true\n"
        );
        let optimizer = read(&text, &[]).unwrap().optimizer;
        assert_eq!((optimizer.clip, optimizer.ema), (Some(Clip::Value(0.5)), Some(0.999)));
        let [embeddings, head] = &optimizer.groups[..] else { panic!("two groups") };
        assert_eq!(embeddings.rule.as_ref().map(|rule| &*rule.name), Some("sgd"));
        assert_eq!((embeddings.lr_scale, embeddings.weight_decay, embeddings.clip), (0.1, Some(0.0), false));
        assert_eq!((head.frozen, head.clip, head.lr_scale, &head.rule), (true, true, 1.0, &None));
        let again = toml::to_string(&read(&text, &[]).unwrap()).unwrap();
        assert_eq!(read(&again, &[]).unwrap().optimizer, optimizer);
    }

    #[test]
    fn a_scale_of_the_loss_is_a_number_or_a_table() {
        let recipe = |overrides: &[&str]| read(MINIMAL, overrides).unwrap();
        let dynamic = DynamicLossScale::default();
        for (overrides, scale) in [
            (&[][..], LossScale::NONE),
            (&["precision=fp16"], LossScale::Dynamic(dynamic)),
            (&["precision=fp16", "loss_scale=1"], LossScale::NONE),
            (&["loss_scale=1024"], LossScale::Fixed(1024)),
            (&["precision.gradient=f16"], LossScale::Dynamic(dynamic)),
            (&["precision.override=[{ scope = '*', operand = 'f16' }]"], LossScale::Dynamic(dynamic)),
            (&["loss_scale.min=2"], LossScale::Dynamic(DynamicLossScale { min: 2, ..dynamic })),
        ] {
            let recipe = recipe(overrides);
            assert_eq!(recipe.scale_of_loss(), scale, "{overrides:?}");
            assert_eq!(recipe.skips_nonfinite(), matches!(scale, LossScale::Dynamic(_)), "{overrides:?}");
            let again: Recipe = toml::from_str(&toml::to_string(&recipe).unwrap()).unwrap();
            assert_eq!(again, recipe, "{overrides:?}");
        }
        let stops = |overrides: &[&str], scale| recipe(overrides).stops_at(scale);
        assert!(stops(&[], None) && !stops(&["nonfinite=skip"], None));
        let room = ["precision=fp16", "loss_scale.min=4"];
        assert!(!stops(&room, Some(8.0)) && stops(&room, Some(4.0)));
        assert!(!stops(&[&room[..], &["nonfinite=skip"]].concat(), Some(4.0)));
    }

    #[test]
    fn accumulation_is_a_number_or_a_table() {
        let of = |text| read(MINIMAL, &[text]).unwrap().accumulate;
        assert_eq!(of("batch=4"), None);
        assert_eq!(of("accumulate=8"), Some(Accumulate { steps: 8, form: None }));
        assert_eq!(of("accumulate={ steps = 8, form = 'two' }"), Some(Accumulate { steps: 8, form: Some(Form::Two) }));
        assert_eq!(read(MINIMAL, &["nonfinite=skip"]).unwrap().nonfinite, Nonfinite::Skip);
        assert!(
            read(MINIMAL, &["accumulate=0"]).unwrap_err()[0]
                .contains("expected a whole number from 1 to 4294967295, or a table")
        );
    }

    #[test]
    fn what_an_optimizer_cannot_be_is_found_at_its_place() {
        let wrong = |text: &str| read(&format!("{MINIMAL}{text}"), &[]).unwrap_err();
        let group = "[[optimizer.group]]\nname = 'a'\nparams = ['*']\n";
        assert_eq!(
            wrong("clip_norm = 1\nclip_value = 1\n"),
            [
                "r.toml:8:1 `optimizer.adamw` states more than one bound of the gradients (keep one of `clip_norm`, `clip_group_norm` and `clip_value`)"
            ]
        );
        assert_eq!(
            wrong(&format!("{group}sgd = {{}}\nadamw = {{}}\n")),
            ["r.toml:11:1 `optimizer.group.0` states more than one update rule (keep one of `adamw` and `sgd`)"]
        );
        assert_eq!(
            wrong(&format!("{group}{group}")),
            ["r.toml:11:1 two groups are named `a` (give each group a name of its own)"]
        );
        assert!(wrong("[[optimizer.group]]\nname = 'a'\n")[0].contains("lacks `optimizer.group.0.params`"));
        assert!(
            wrong("[[optimizer.group]]\nname = 'a'\nparams = []\n")[0]
                .starts_with("r.toml:9:1 the group `a` has no parameters")
        );
        assert!(
            wrong(&format!("{group}frozen = true\nsgd = {{}}\n"))[0].starts_with("r.toml:11:1 `sgd` has no effect")
        );
        assert!(
            wrong("[optimizer]\nema = 1.0\n")[0]
                .starts_with("r.toml:8:7 `optimizer.ema` is 1.0, expected a number greater than 0 and less than 1")
        );
        assert!(
            wrong("[schedule]\nshape = 'cosin'\n")[0]
                .contains("there is no shape `cosin`, expected one of `cosine` (did you mean `cosine`?)")
        );
        assert!(wrong("[schedule]\ndecay = 1\n")[0].contains("unknown key `schedule.decay`"));
        assert!(
            wrong("[parallel]\nglobal_batch = 7\n")[0]
                .starts_with("r.toml:8:1 `parallel.global_batch` is 7, which is no multiple of 2, the product of ")
        );
    }

    #[test]
    fn a_layout_has_axes_and_says_what_they_shard() {
        let parallel = |text: &str| read(&format!("{MINIMAL}[parallel]\n{text}"), &[]).unwrap();
        let plain = parallel("data = 8\ntensor = 4\nglobal_batch = 16\n");
        let axes = |recipe: &Recipe| -> Vec<(String, usize)> {
            recipe.mesh().unwrap().axes().iter().map(|axis| (axis.name.clone(), axis.size)).collect()
        };
        let axis = |name: &str, size| (name.to_owned(), size);
        assert_eq!(axes(&plain), [axis("data", 8), axis("tensor", 4)]);
        assert_eq!(axes(&read(MINIMAL, &[]).unwrap()), []);
        let turned = parallel("data = 2\ntensor = 4\npipeline = 1\norder = ['tensor', 'data']\n");
        assert_eq!(axes(&turned), [axis("tensor", 4), axis("data", 2)]);
        assert_eq!(plain.parallel.unwrap().shard.tensor, ["heads", "kv_heads", "ffn", "vocab"]);
        let text =
            "zero = 1\nshard.tensor = ['ffn']\n[parallel.place]\n'*.o.weight' = ['', 'tensor']\n'a.*' = ['', '']\n";
        let stated = parallel(text);
        let again = toml::to_string(&stated).unwrap();
        assert_eq!(read(&again, &[]).unwrap(), stated);
        let stated = stated.parallel.unwrap();
        assert_eq!((stated.zero, stated.shard.tensor.as_slice()), (1, &["ffn".to_owned()][..]));
        let ends = |pattern: &str, name: &str| name.ends_with(pattern.trim_matches('*'));
        let placed = |name, rank| stated.placed(name, rank, ends);
        assert_eq!(placed("a.o.weight", 2).unwrap().unwrap(), ["", "tensor"]);
        assert_eq!(placed("b", 2).unwrap(), None);
        for set in ["parallel.place.*.o.weight", "parallel.place.\"*.o.weight\"", "parallel . place . '*.o.weight' "] {
            let set = read(MINIMAL, &[&format!("{set} = ['', 'tensor']")]).unwrap().parallel.unwrap();
            assert_eq!(set.place.get("*.o.weight").unwrap(), &["", "tensor"]);
        }
        let error = placed("a.o.weight", 3).unwrap_err();
        assert_eq!(error.recipe_key(), Some("parallel.place.*.o.weight"));
        assert_eq!(error.message(), "`parallel.place` says of 2 dimensions of `a.o.weight`, which has 3 dimensions");
    }

    #[test]
    fn what_a_layout_cannot_be_is_found_at_its_place() {
        let wrong = |text: &str| read(&format!("{MINIMAL}[parallel]\n{text}"), &[]).unwrap_err().join("\n");
        let order = "write each axis once, the major one first: `order = [\"data\", \"fsdp\", \"tensor\"]`";
        for (text, expected) in [
            (
                "order = ['data', 'tenser']",
                "r.toml:8:18 `parallel.order` is `tenser`, expected one of `data`, `fsdp` and `tensor` (did you mean `tensor`?)"
                    .to_owned(),
            ),
            ("order = ['data', 'data']", format!("r.toml:8:18 `parallel.order` has `data` twice ({order})")),
            ("data = 2\norder = ['tensor']", format!("r.toml:9:1 `parallel.order` lacks `data` ({order})")),
            (
                "shard.tensor = ['ffn', 'ffn']",
                "r.toml:8:24 `parallel.shard.tensor` has `ffn` twice (remove one of the two)".to_owned(),
            ),
            ("shard.tenser = []", "r.toml:8:7 unknown key `parallel.shard.tenser` (did you mean `tensor`? `halite help tensor` describes it)".to_owned()),
            (
                "place.'*.w' = ['', 'tenser']",
                "r.toml:8:20 there is no axis `tenser` (did you mean `tensor`?)".to_owned(),
            ),
            (
                "place.'*.w' = ['data']",
                "r.toml:8:16 `data` divides the batch, and shards no dimension of its own of a weight (write `tensor`, or `\"\"` for a dimension that each rank holds whole)"
                    .to_owned(),
            ),
            (
                "place.'*.w' = ['tensor', '', 'tensor']",
                "r.toml:8:30 `tensor` shards two dimensions of `*.w` (keep one of the two, and write `\"\"` for the other)"
                    .to_owned(),
            ),
            (
                "place.'*.w' = 'tensor'",
                "r.toml:8:15 `parallel.place.*.w` is a string, expected a list of strings (set `parallel.place.*.w` to a list of strings)"
                    .to_owned(),
            ),
            (
                "data = 65536\ntensor = 65536",
                "r.toml:7:1 a mesh with 65536 ranks along `tensor` cannot be (choose smaller `parallel.data`, `parallel.fsdp` and `parallel.tensor`: ranks are counted in 31 bits)"
                    .to_owned(),
            ),
            (
                "zero = 4",
                "r.toml:8:8 `parallel.zero` is 4, expected a whole number from 0 to 3 (set `parallel.zero` to such a number)"
                    .to_owned(),
            ),
            ("zero = 1\nzero1 = true", "r.toml:9:1 unknown key `parallel.zero1` (did you mean `parallel.zero`? `halite help parallel.zero` describes it)".to_owned()),
        ] {
            assert_eq!(wrong(text), expected, "{text}");
        }
    }

    #[test]
    fn a_key_is_read_by_its_old_name_with_a_note() {
        let mut sources = SourceMap::new();
        let file = sources.add("r.toml", format!("{MINIMAL}[parallel]\nzero1 = true\n"));
        let (recipe, places) = load(file, &[], &Known, &mut sources).unwrap();
        assert_eq!(recipe.parallel.unwrap().zero, 1);
        let notes: Vec<Diagnostic> = places.told().collect();
        let [note] = &notes[..] else { panic!("{notes:?}") };
        assert_eq!(note.message(), "the key `parallel.zero1` is called `parallel.zero` now");
        assert_eq!(sources.snippet(note.primary().unwrap().span), "zero1 = true");
        assert_eq!(note.help_text(), Some("write `parallel.zero = 1`"));
        let set = |text: &str| read(MINIMAL, &[text]).unwrap().parallel.unwrap().zero;
        assert_eq!((set("parallel.zero1=false"), set("parallel.zero=1")), (0, 1));
    }

    #[test]
    fn a_default_is_the_same_stated_or_left_out() {
        let stated = read(MINIMAL, &["optimizer.adamw.betas=[0.9, 0.95]", "optimizer.adamw.eps=1e-8"]).unwrap();
        assert_eq!(read(MINIMAL, &[]).unwrap(), stated);
    }

    #[test]
    fn every_mistake_is_found_at_its_place() {
        let text =
            "halite = 1\nbacth = 2\nseq = 0\nmodel.name = 'llama'\n[optimizer.adamw]\nlr = 'x'\nbetas = [0.9, 1.0]\n";
        let expected = [
            "r.toml:2:1 unknown key `bacth` (did you mean `batch`? `halite help batch` describes it)",
            "r.toml:3:7 `seq` is 0, expected a whole number from 1 to 16777216 (set `seq` to such a number)",
            "r.toml:6:6 `optimizer.adamw.lr` is a string, expected a number greater than 0 (set `optimizer.adamw.lr` to such a number)",
            "r.toml:7:15 `optimizer.adamw.betas` has 1.0, expected a number at least 0 and less than 1 (set `optimizer.adamw.betas` to two such numbers)",
        ];
        assert_eq!(read(text, &[]).unwrap_err(), expected);
    }

    /// Whatever the session read before.
    #[test]
    fn mistakes_of_the_recipe_stand_before_those_of_overrides() {
        let mut sources = SourceMap::new();
        let overrides = ["bad", "batch=-1"].map(str::to_owned);
        for text in overrides.iter().rev() {
            sources.add(format!("--set {text}"), text);
        }
        let file = sources.add("r.toml", MINIMAL.replace("seq = 8", "seq = 0"));
        let mistakes = load(file, &overrides, &Known, &mut sources).unwrap_err();
        let name = |mistake: &Diagnostic| sources.file(mistake.primary().unwrap().span.file).unwrap().name().to_owned();
        assert_eq!(mistakes.iter().map(name).collect::<Vec<_>>(), ["r.toml", "--set bad", "--set batch=-1"]);
    }

    #[test]
    fn mistakes_in_overrides_point_into_them() {
        let errors = |text| read(MINIMAL, &[text]).unwrap_err().remove(0);
        assert!(errors("batch").starts_with("--set batch:1:1 the override `batch` has no value"));
        assert!(errors("batch=0").starts_with("--set batch=0:1:7 `batch` is 0"));
        assert!(errors("optimizer.adamw.lrr=1").starts_with("--set optimizer.adamw.lrr=1:1:17 unknown key"));
        assert!(errors("optimizer.lr=1").contains("unknown key `optimizer.lr`"));
        assert!(errors("batch.x=1").contains("`batch` has no keys of its own"));
        assert!(errors("a..b=1").contains("empty"));
    }

    #[test]
    fn other_versions_and_syntax_errors_are_refused() {
        let other = read(&MINIMAL.replace("halite = 1", "halite = 2"), &[]).unwrap_err();
        assert!(other[0].starts_with("r.toml:1:10 the recipe has version 2, this build reads version 1"), "{other:?}");
        let broken = read("halite = \nbatch = [1", &[]).unwrap_err();
        assert!(broken[0].starts_with("r.toml:1:1"), "{broken:?}");
        let cross = read(&format!("{MINIMAL}[schedule]\nwarmup = 10\nsteps = 5\n"), &[]).unwrap_err();
        assert!(cross[0].starts_with("r.toml:8:10 `schedule.warmup` is 10, more than `schedule.steps`"), "{cross:?}");
        let both = read(&format!("{MINIMAL}[optimizer.sgd]\nlr = 1\n"), &[]).unwrap_err();
        assert!(both[0].contains("`optimizer` states more than one update rule"), "{both:?}");
    }
}
