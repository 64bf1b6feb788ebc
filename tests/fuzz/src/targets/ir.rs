//! IR text with a pipeline of passes: what verifies still does after them, prints and reads back.

use crate::judge::{Verdict, refused, said};
use crate::mutate::{Seeds, text};
use crate::random::Random;
use crate::repository;
use crate::target::{TEXT, Target};
use halite::Session;
use halite::opt::OptOptions;
use halite_ir::text::{PrintOptions, parse, print, print_with};
use halite_ir::{Module, Registry, fingerprint};
use halite_passes::PassRegistry;
use halite_recipe::Recipe;
use halite_support::FileId;
use halite_tensor::DType;
use halite_tests::random::{RandomOptions, random_module};

pub(crate) const TARGET: Target = Target {
    name: "ir",
    share: 30,
    seeds,
    mutate,
    prepare: |_| {
        let session = Session::new();
        Box::new(move |input| run(input, &session))
    },
    ..TEXT
};

/// The directive of goldens that says which passes run.
const PASSES: &str = "//@ passes: ";

/// The recipes that passes may be given.
const RECIPES: [&[&str]; 3] = [&[], &["precision=\"bf16-sr\""], &["target=trn1"]];

/// The number of random modules among the seeds.
const RANDOM: u64 = 60;

fn seeds() -> Vec<Vec<u8>> {
    let goldens = [repository::contents(&repository::files("tests/golden", ".ir")), repository::case_files(".ir")];
    let goldens: Vec<String> = goldens.concat().iter().map(|text| input_of(&String::from_utf8_lossy(text))).collect();
    let single = goldens.iter().flat_map(|text| functions(text)).map(String::into_bytes);
    let registry = Registry::builtin();
    let random = (0..RANDOM).map(|seed| {
        let module = random_module(seed, RandomOptions { float: DType::F32, smooth: false }, &registry).module;
        print_with(&module, PrintOptions { locations: false }).into_bytes()
    });
    single.chain(goldens.iter().map(|text| text.clone().into_bytes())).chain(random).collect()
}

/// A golden without its expectation.
fn input_of(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.starts_with("//>")).collect()
}

/// Each function of a text that calls none, with the passes of the text.
fn functions(text: &str) -> Vec<String> {
    let passes = text.lines().find(|line| line.starts_with(PASSES)).unwrap_or_default();
    let parts = text.split("\nfunc ").skip(1).filter_map(|part| part.split_once("\n}").map(|(body, _)| body));
    parts.filter(|body| !body.contains(" call ")).map(|body| format!("{passes}\nfunc {body}\n}}\n")).collect()
}

fn mutate(seeds: &Seeds, random: &mut Random) -> Vec<u8> {
    let input = if random.once_in(4) { seeds.input(random).to_vec() } else { text::mutate(seeds, random) };
    if random.once_in(2) { [pipeline(random).as_bytes(), &input].concat() } else { input }
}

/// A directive with passes in any order.
fn pipeline(random: &mut Random) -> String {
    let passes = PassRegistry::builtin();
    let names: Vec<_> = passes.iter().map(|pass| pass.info().name).collect();
    let mut text = String::new();
    for at in 0..1 + random.below(8) {
        text += if at > 0 { ", " } else { "" };
        let name = random.pick(&names);
        text += &if random.once_in(6) { format!("({name}, {})*", random.pick(&names)) } else { name.to_string() };
    }
    format!("{PASSES}{text}\n")
}

fn run(input: &[u8], session: &Session) -> Verdict {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(false) };
    let mut session = session.clone();
    let passes = text.lines().find_map(|line| line.strip_prefix(PASSES)).unwrap_or_default();
    let recipe = recipe(&mut Random::of_content(input), &mut session);
    let file = session.sources.add("m.ir", text);
    let module = match session.parse_ir(file) {
        Err(mistakes) => return refused(&mistakes, &session.sources),
        Ok(module) => module,
    };
    reads_back(&module, &session.registry)?;
    let passes = match passes.parse() {
        Err(mistake) => return refused(&[mistake], &session.sources),
        Ok(passes) => passes,
    };
    match session.optimize(file, &OptOptions { passes, recipe, explain: true, ..OptOptions::default() }) {
        Err(mistakes) => refused(&mistakes, &session.sources),
        Ok(optimized) => {
            said(&optimized.warnings, &session.sources)?;
            reads_back(&optimized.module, &session.registry).map(|()| true)
        }
    }
}

/// A recipe now and then.
fn recipe(random: &mut Random, session: &mut Session) -> Option<Recipe> {
    let overrides: Vec<String> = random.pick(&RECIPES).iter().map(|text| (*text).to_owned()).collect();
    let wanted = !random.once_in(3);
    wanted.then(|| session.load("tiny", &overrides).ok()).flatten().map(|source| source.recipe)
}

/// The most bytes of a text that is read again. Loops and calls make long modules of short models, and what takes long
/// in these is the checking.
const READ: usize = 2 << 20;

/// Checks that a module is the same after printing and reading, and so is its text, unless it is longer than [`READ`].
pub(crate) fn reads_back(module: &Module, registry: &Registry) -> Result<(), String> {
    let shown = print(module);
    if shown.len() > READ {
        return Ok(());
    }
    let short = print_with(module, PrintOptions { locations: false });
    for text in [&shown, &short] {
        let again = parse(text, FileId::of("again.ir", text), registry)
            .map_err(|errors| format!("what is printed is not read: {}\n{text}", errors[0]))?;
        if fingerprint(&again) != fingerprint(module) {
            return Err(format!("another module is read than was printed\n{text}"));
        }
        if print_with(&again, PrintOptions { locations: false }) != short {
            return Err(format!("another text is printed than was read\n{text}"));
        }
    }
    Ok(())
}
