use super::*;
use crate::Generation;
use halite_bundle::fixtures::small;
use halite_recipe::PrecisionOverride;
use halite_tensor::DType;
use indexmap::IndexMap;

fn recipe(precision: &str, flags: &[&str]) -> Recipe {
    let mut recipe = crate::testing::tiny(&[&format!("precision={precision}")]);
    Neuron::change(&mut recipe, |table| table.flags = flags.iter().map(|flag| (*flag).to_owned()).collect()).unwrap();
    Neuron::change(&mut recipe, |table| {
        table.environment.insert("NEURON_RT_LOG_LEVEL".to_owned(), "INFO".to_owned());
    })
    .unwrap();
    recipe
}

const PINNED: [&str; 7] = [
    "--target=trn1",
    "--model-type=transformer",
    "--auto-cast=none",
    "--implicit-integer-downcast=none",
    "--logical-nc-config=1",
    "--optlevel=2",
    "--enable-mixed-precision-accumulation",
];

#[test]
fn the_environment_follows_from_the_precision() {
    let variables = |precision, seed| {
        let mut recipe = recipe(precision, &[]);
        recipe.precision.sr.seed = seed;
        environment(&recipe).into_values().collect::<Vec<_>>()
    };
    assert_eq!(variables("mixed", 7), ["0", "0", "600", "INFO"]);
    assert_eq!(variables("bf16-sr", 7), ["0", "0", "600", "INFO"], "dither works with the switch off");
    assert_eq!(variables("mixed-sr", 7), ["1", "7", "600", "INFO"]);
}

#[test]
fn everything_that_has_a_default_is_pinned() {
    assert_eq!(flags(&recipe("mixed", &[])), PINNED);
    let of = |target: Generation, compiler: &str| {
        let mut recipe = recipe("mixed", &[]);
        recipe.target = target.into();
        Neuron::change(&mut recipe, |table| {
            table.compiler = Some(CompilerVersion::try_from(compiler.to_owned()).unwrap())
        })
        .unwrap();
        flags(&recipe)
    };
    let trn2 = of(Generation::Trn2, "2.27.5334");
    assert!(trn2.contains(&"--native-int64=disabled".to_owned()), "{trn2:?}");
    assert!(trn2.contains(&"--logical-nc-config=2".to_owned()), "{trn2:?}");
    let early = of(Generation::Trn1, "2.15.128");
    assert!(!early.iter().any(|flag| flag.starts_with("--logical") || flag.starts_with("--implicit")), "{early:?}");
}

#[test]
fn flags_have_one_order_and_form() {
    let own = ["--auto-cast", "none", "--enable-mixed-precision-accumulation", "-O1", "--auto-cast=none"];
    let mut expected = PINNED;
    expected[5] = "--optlevel=1";
    assert_eq!(flags(&recipe("mixed", &own)), expected);
    assert!(check(&recipe("mixed", &own)).is_empty());
    for spelling in [&["--optlevel", "1"][..], &["--optlevel=1"], &["-O", "1"], &["-O=1"]] {
        assert_eq!(flags(&recipe("mixed", spelling)), expected, "{spelling:?}");
    }
    let undocumented = recipe("mixed", &["--new", "a b", "-lnc", "1", "--tensorizer-options=--x --y"]);
    assert_eq!(flags(&undocumented)[PINNED.len()..], ["--tensorizer-options=--x --y", "--new", "a b"]);
    assert!(check(&undocumented).is_empty());
}

#[test]
fn sums_decide_how_the_compiler_adds_up() {
    let mut narrow = recipe("bf16", &[]);
    narrow.precision.accumulate = DType::Bf16;
    assert_eq!(flags(&narrow).last().unwrap(), "--disable-mixed-precision-accumulation");
    let mut partly = recipe("mixed", &["--disable-mixed-precision-accumulation"]);
    assert_eq!(check(&partly).len(), 1);
    partly.precision.overrides =
        vec![PrecisionOverride { accumulate: Some(DType::F16), ..PrecisionOverride::default() }];
    assert_eq!(flags(&partly).last().unwrap(), "--disable-mixed-precision-accumulation");
    assert!(check(&partly).is_empty());
}

#[test]
fn whatever_changes_the_meaning_of_a_program_is_refused() {
    let flags = [
        "--auto-cast=all",
        "--auto-cast",
        "matmult",
        "--auto-cast-type=bf16",
        "--auto-cast none",
        "--disable-mixed-precision-accumulation",
        "--enable-mixed-precision-accumulation=false",
        "--enable-mixed-precision-accumulation=true",
        "--auto-cast",
    ];
    let mut recipe = recipe("mixed", &flags);
    let refused = Tables::builtin().variables.iter().filter(|variable| variable.instead.is_some());
    let names: Vec<_> = refused.map(|variable| variable.name.clone()).collect();
    for name in &names {
        Neuron::change(&mut recipe, |table| {
            table.environment.insert(name.clone(), "0".to_owned());
        })
        .unwrap();
    }
    let mistakes = check(&recipe);
    assert_eq!(mistakes.len(), names.len() + 8, "{mistakes:?}");
    let keys: Vec<_> = mistakes.iter().rev().filter_map(Diagnostic::recipe_key).take(3).collect();
    assert_eq!(keys, ["neuron.flags.8", "neuron.flags.7", "neuron.flags.6"]);
}

#[test]
fn what_nothing_takes_is_refused() {
    for (flags, part) in [
        (&["--model-type=bert"][..], "does not take `bert`"),
        (&["--model-type"], "has no value"),
        (&["--enable-saturate-infinity=1"], "takes no value"),
        (&["--target=trn2"], "`target` is `trn1`"),
        (&["--native-int64=disabled"], "no flag for `trn1`"),
        (&["-lnc=2"], "`trn1` does not take"),
        (&["--optlevel=1", "-O3"], "given twice"),
        (&["transformer"], "is no flag"),
        (&["--enable-saturate-infinity", "yes"], "is no flag"),
        (&["--implicit-integer-downcast=dot,sum"], "does not take `dot,sum`"),
        (&["--cache_dir=/tmp"], "flag of wrappers"),
        (&["--no_cache"], "flag of wrappers"),
        (&["--log_level=INFO"], "flag of wrappers"),
        (&["--retry_failed_compilation"], "flag of wrappers"),
        (&["--output=x.neff"], "for `halite neuron compile` to give"),
    ] {
        let mistakes = check(&recipe("mixed", flags));
        assert!(mistakes.len() == 1 && mistakes[0].message().contains(part), "{flags:?}: {mistakes:?}");
    }
    assert!(check(&recipe("mixed", &["--implicit-integer-downcast=dot,pow"])).is_empty());
    let mut early = recipe("mixed", &["--implicit-integer-downcast=none"]);
    Neuron::change(&mut early, |table| table.compiler = Some(CompilerVersion(vec![2, 16]))).unwrap();
    assert!(check(&early)[0].message().contains("no flag of `neuronx-cc` 2.16"));
}

#[test]
fn some_flags_take_several_words() {
    let written = ["--pipeline", "compile", "SaveTemps", "--disable-dge", "--internal-enable-dge-levels", "io", "dst"];
    let recipe = recipe("mixed", &written);
    assert!(check(&recipe).is_empty(), "{:?}", check(&recipe));
    let own = &flags(&recipe)[PINNED.len()..];
    assert_eq!(
        own,
        ["--pipeline", "compile", "SaveTemps", "--internal-enable-dge-levels", "io", "dst", "--disable-dge"]
    );
}

#[test]
fn flags_and_rules_are_those_of_one_version() {
    for (given, known) in
        [(Some("1.0"), "2.13.66"), (Some("2.20"), "2.20"), (Some("99.1"), "2.28.7631"), (None, "2.28.7631")]
    {
        let mut recipe = recipe("mixed", &[]);
        Neuron::change(&mut recipe, |table| {
            table.compiler = given.map(|given| CompilerVersion::try_from(given.to_owned()).unwrap())
        })
        .unwrap();
        assert_eq!(version(&Neuron::of(&recipe)).to_string(), known);
        assert_eq!(crate::profile(&recipe, Generation::Trn1).version, version(&Neuron::of(&recipe)));
    }
    let mut ancient = recipe("mixed", &["--auto-cast=none"]);
    Neuron::change(&mut ancient, |table| table.compiler = Some(CompilerVersion(vec![1, 0]))).unwrap();
    let flags = flags(&ancient);
    assert!(flags.contains(&"--enable-mixed-precision-accumulation".to_owned()), "{flags:?}");
}

#[test]
fn variables_are_held_to_what_they_take() {
    for (name, value, part) in [
        ("NEURON_RT_EXEC_TIMEOUT", "soon", "does not take `soon`"),
        ("NEURON_RT_EXEC_TIMEOUT", "-1", "does not take"),
        ("NEURON_RT_EXEC_TIMEOUT", "3000000000", "does not take"),
        ("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS", "3", "no place around a program"),
        ("NEURON_RT_LOG_LEVEL_TDRV", "LOUD", "does not take"),
        ("NEURON_RT_VISIBLE_CORES", "0-3", "differs from process to process"),
        ("A B", "1", "no name of a variable"),
        ("1A", "1", "no name of a variable"),
        ("PATH", "/tmp", "not for a recipe to set"),
        ("LD_PRELOAD", "x.so", "not for a recipe to set"),
        ("BASH_ENV", "x", "not for a recipe to set"),
        ("PYTHONPATH", "x", "not for a recipe to set"),
        ("IFS", "x", "not for a recipe to set"),
        ("HALITE_NEURONX_CC", "x", "not for a recipe to set"),
        ("MY_OWN", "1", "nothing is known of"),
        ("NEURON_RT_EXEC_TIMEOT", "1", "nothing is known of"),
    ] {
        let mut recipe = recipe("mixed", &[]);
        Neuron::change(&mut recipe, |table| {
            table.environment.insert(name.to_owned(), value.to_owned());
        })
        .unwrap();
        let mistakes = check(&recipe);
        assert!(mistakes.len() == 1 && mistakes[0].message().contains(part), "{name}: {mistakes:?}");
        // A word of consent is for what is unknown only.
        Neuron::change(&mut recipe, |table| table.allow_environment.push(name.to_owned())).unwrap();
        assert_eq!(check(&recipe).is_empty(), part == "nothing is known of", "{name}");
    }
    let mut idle = recipe("mixed", &[]);
    Neuron::change(&mut idle, |table| table.allow_environment.push("MY_OWN".to_owned())).unwrap();
    assert!(check(&idle)[0].message().contains("which `neuron.environment` does not set"));
}

/// Each name of the table, in a recipe and in a manifest, with and without consent.
#[test]
fn reserved_variables_are_refused_everywhere() {
    let rows = &Tables::builtin().reserved;
    for name in rows.iter().flat_map(|row| &row.names).map(|name| name.replace('*', "X")) {
        let mut recipe = recipe("mixed", &[]);
        Neuron::change(&mut recipe, |table| {
            table.environment.insert(name.clone(), "1".to_owned());
        })
        .unwrap();
        Neuron::change(&mut recipe, |table| table.allow_environment.push(name.clone())).unwrap();
        let mistakes = check(&recipe);
        assert!(mistakes.len() == 1 && mistakes[0].code() == codes::ENVIRONMENT, "{name}: {mistakes:?}");
        let mut manifest = small().manifest;
        manifest.recipe.target = Generation::Trn1.into();
        manifest.environment = environment(&manifest.recipe);
        manifest.environment.insert(name.clone(), "1".to_owned());
        assert!(check_manifest(&manifest).unwrap_err().message().contains("not for a recipe"), "{name}");
    }
}

#[test]
fn what_nothing_documents_is_warned_of() {
    let mut recipe = recipe("mixed", &["--optlevle=1", "--disable-dge", "--quite-another"]);
    recipe.parallel = Some(halite_recipe::Parallel { data: 8, tensor: 4, global_batch: Some(8), ..Default::default() });
    let helps: Vec<_> = warnings(&recipe).into_iter().map(|warning| warning.help_text().unwrap().to_owned()).collect();
    assert_eq!(
        helps,
        [
            "did you mean `--optlevel`?",
            "expect it to change or go with any version",
            "check its name",
            "choose 1, 2, 8, 16, 32, or a multiple of 32"
        ]
    );
}

#[test]
fn other_targets_have_no_surroundings() {
    let mut recipe = recipe("mixed", &["--optlevel=1"]);
    recipe.target = halite_recipe::TargetName::default();
    assert!(environment(&recipe).is_empty() && flags(&recipe).is_empty() && launch(&recipe).is_none());
    assert!(Surroundings::of(&recipe, Profile::Program).unwrap_err().message().contains("`cpu`"));
}

#[test]
fn a_manifest_pins_what_its_recipe_says() {
    let mut manifest = small().manifest;
    assert!(check_manifest(&manifest).is_ok());
    manifest.recipe.target = Generation::Trn1.into();
    manifest.environment = environment(&manifest.recipe);
    manifest.flags = flags(&manifest.recipe);
    manifest.launch = launch(&manifest.recipe);
    manifest.platform = of(&manifest.recipe).platform;
    assert!(check_manifest(&manifest).is_ok());
    let refused = |change: fn(&mut Manifest)| {
        let mut manifest = manifest.clone();
        change(&mut manifest);
        check_manifest(&manifest).unwrap_err().to_string()
    };
    let refusals = [
        refused(|manifest| _ = manifest.environment.insert("XLA_DOWNCAST_BF16".to_owned(), "1".to_owned())),
        refused(|manifest| _ = manifest.environment.insert("OTHER".to_owned(), "1".to_owned())),
        refused(|manifest| _ = manifest.environment.shift_remove(environment::STOCHASTIC_ROUNDING_EN)),
        refused(|manifest| _ = manifest.flags.pop()),
        refused(|manifest| manifest.platform = None),
        refused(|manifest| manifest.launch = None),
        refused(|manifest| manifest.launch.as_mut().unwrap().world_size = 8),
    ];
    assert!(refusals.iter().all(|refusal| refusal.contains("E0408")), "{refusals:?}");
    assert!(refusals[0].contains("has no place") && refusals[2].contains("is nothing"), "{refusals:?}");
}

/// Flags with what shells take apart.
fn odd() -> Recipe {
    let mut recipe = recipe("mixed-sr", &[]);
    Neuron::change(&mut recipe, |table| table.flags = vec!["--tensorizer-options=--a b='c'".to_owned()]).unwrap();
    recipe
}

#[test]
fn jax_is_told_flags_by_the_variable() {
    let ours = Surroundings::of(&odd(), Profile::Jax).unwrap();
    let expected = format!("{} '--tensorizer-options=--a b='\\''c'\\'''", PINNED.join(" "));
    assert_eq!(ours.environment["NEURON_CC_FLAGS"], expected);
    assert!(!ours.forbidden.contains_key("NEURON_CC_FLAGS") && ours.forbidden.contains_key("XLA_USE_BF16"));
    assert!(ours.unknown.is_empty(), "{:?}", ours.unknown);
    let program = Surroundings::of(&odd(), Profile::Program).unwrap();
    assert!(!program.environment.contains_key("NEURON_CC_FLAGS") && program.forbidden.contains_key("NEURON_CC_FLAGS"));
    let shared: Vec<_> = ours.environment.iter().filter(|(name, _)| *name != "NEURON_CC_FLAGS").collect();
    assert_eq!(shared, program.environment.iter().collect::<Vec<_>>());
}

#[test]
fn what_a_process_in_jax_lacks_is_told() {
    let mut manifest = small().manifest;
    manifest.recipe = odd();
    let RunSettings { environment, flags, launch, .. } = of(&manifest.recipe);
    (manifest.environment, manifest.flags, manifest.launch) = (environment, flags, launch);
    let right = Surroundings::of(&manifest.recipe, Profile::Jax).unwrap().environment;
    let told = |changes: &[(&str, Option<&str>)]| {
        let mut environment: IndexMap<&str, &str> = right.iter().map(|(name, value)| (&**name, &**value)).collect();
        environment.insert("PATH", "/bin");
        for (name, value) in changes {
            match value {
                Some(value) => drop(environment.insert(name, value)),
                None => drop(environment.shift_remove(name)),
            }
        }
        mismatches(&manifest, environment)
    };
    assert_eq!(told(&[]), []);
    let requoted = right["NEURON_CC_FLAGS"]
        .replace("'--tensorizer-options=--a b='\\''c'\\'''", "\"--tensorizer-options=--a b='c'\" ");
    assert!(requoted != right["NEURON_CC_FLAGS"]);
    assert_eq!(told(&[("NEURON_CC_FLAGS", Some(&requoted))]), []);
    let found = told(&[
        ("NEURON_RT_STOCHASTIC_ROUNDING_EN", Some("0")),
        ("NEURON_RT_LOG_LEVEL", None),
        ("NEURON_CC_FLAGS", Some("--target=trn1 '")),
        ("XLA_USE_BF16", Some("")),
    ]);
    let names = |mismatch: &Mismatch| match mismatch {
        Mismatch::Missing { name, expected } => format!("{name}: nothing, not {expected}"),
        Mismatch::Different { name, expected, found } => format!("{name}: {found}, not {expected}"),
        Mismatch::Forbidden { name, found, instead } => format!("{name}: {found}, instead of {instead}"),
    };
    let expected = [
        "NEURON_RT_STOCHASTIC_ROUNDING_EN: 0, not 1".to_owned(),
        "NEURON_RT_LOG_LEVEL: nothing, not INFO".to_owned(),
        format!("NEURON_CC_FLAGS: --target=trn1 ', not {}", right["NEURON_CC_FLAGS"]),
        "XLA_USE_BF16: , instead of `precision = \"bf16\"` or `precision = \"bf16-sr\"`".to_owned(),
    ];
    assert_eq!(found.iter().map(names).collect::<Vec<_>>(), expected);
    let said: Vec<_> = found.iter().map(|found| found.diagnostic().message().to_owned()).collect();
    assert_eq!(said[0], "`NEURON_RT_STOCHASTIC_ROUNDING_EN` is `0`, and the bundle needs `1`");
    assert_eq!(said[1], "`NEURON_RT_LOG_LEVEL` is not set, and the bundle needs `INFO`");
    assert_eq!(said[3], "`XLA_USE_BF16` is ``, and must not be set");
    // Fewer flags, and more, are others.
    for flags in [PINNED.join(" "), format!("{} -O1", right["NEURON_CC_FLAGS"]), String::new()] {
        assert!(matches!(&told(&[("NEURON_CC_FLAGS", Some(&flags))])[..], [Mismatch::Different { .. }]), "{flags}");
    }
    assert_eq!(mismatches(&small().manifest, [("XLA_USE_BF16", "1")]), []);
}

#[test]
fn the_environment_of_jax_for_shells() {
    let ours = Surroundings::of(&recipe("mixed", &[]), Profile::Jax).unwrap().shell();
    let lines: Vec<&str> = ours.lines().collect();
    let expected = r#"# A program was compiled for one replica on `trn1`: one process runs it.
# Neuron's plugin for JAX compiles what JAX hands it, functions of the bundle among it, and reads the flags for that
# from NEURON_CC_FLAGS: here the variable is the only way to give them. It compiles once more what `halite neuron
# compile` made and keeps a cache of its own, so that the store of Halite has no part in it. Never run on a device.
halite_refused="#;
    assert_eq!(lines[..5].join("\n"), expected);
    let flags = format!("'{}'", PINNED.join(" "));
    let check = format!(
        "[ -z \"${{NEURON_CC_FLAGS+set}}\" ] || [ \"$NEURON_CC_FLAGS\" = {flags} ] || {{ printf '%s\\n' \
         'NEURON_CC_FLAGS is set to something else, and must be what the bundle says, or not set' >&2; halite_refused=1; }}"
    );
    assert!(lines.contains(&check.as_str()), "{ours}");
    let last =
        ["  # the flags with which Neuron's plugin compiles", &format!("  export NEURON_CC_FLAGS={flags}"), "fi"];
    assert_eq!(lines[lines.len() - 3..], last);
}

/// Packets of what computes come before those of gathers of weights, where collectives are in one order; a recipe may say otherwise.
#[test]
fn the_environment_goes_with_collectives_in_one_order() {
    let sizes = |settings: &[&str]| {
        let environment = environment(&crate::testing::tiny(settings));
        let of = |name: &str| environment.get(name).cloned().unwrap_or_default();
        (of("NEURON_RT_DBG_DMA_PACKETIZATION_SIZE"), of("NEURON_RT_DBG_CC_DMA_PACKET_SIZE"))
    };
    let wanted = ["parallel.fsdp=2", "neuron.emit.tokens=true"];
    assert_eq!(sizes(&wanted), ("65536".to_owned(), "65536,4096".to_owned()));
    assert_eq!(sizes(&["parallel.fsdp=2"]), Default::default());
    assert_eq!(sizes(&[&wanted[..], &["emit.calls=\"keep\""]].concat()), Default::default());
    let own = "neuron.environment={NEURON_RT_DBG_CC_DMA_PACKET_SIZE='4096'}";
    assert_eq!(sizes(&[&wanted[..], &[own]].concat()), ("65536".to_owned(), "4096".to_owned()));
}

#[test]
fn tokens_without_an_order_are_told() {
    let told = |settings: &[&str]| {
        let recipe = crate::testing::tiny(&[&["neuron.emit.tokens=true"], settings].concat());
        crate::forms::check_tokens(&recipe).map(|warning| warning.message().to_owned())
    };
    let said = |why: &str| Some(format!("`neuron.emit.tokens` has no effect: {why}, and no pass orders collectives"));
    assert_eq!(told(&["parallel.fsdp=2"]), None);
    assert_eq!(told(&["parallel.zero=3", "parallel.data=2"]), None);
    assert_eq!(told(&["parallel.tensor=2"]), said("ranks store no parts of weights"));
    assert_eq!(told(&["parallel.fsdp=2", "emit.calls=\"keep\""]), said("layers are calls"));
}

/// Stream 0 is that of the ranks along `tensor`, whatever the order of the axes.
#[test]
fn the_first_stream_is_that_of_tensor() {
    let streams = |settings: &[&str]| {
        let wanted = ["parallel.fsdp=4", "parallel.tensor=2", "neuron.emit.tokens=true"];
        crate::forms::ordered(&crate::testing::tiny(&[&wanted[..], settings].concat()))
    };
    let of = |ranks, stride| Some(halite_hlo::Streams { ranks, stride });
    assert_eq!(streams(&[]), of(2, 1));
    assert_eq!(streams(&["parallel.order=['tensor', 'data', 'fsdp']"]), of(2, 4));
    assert_eq!(streams(&["neuron.emit.tokens=false"]), None);
}
