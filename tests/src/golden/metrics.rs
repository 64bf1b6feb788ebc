//! `metrics`.

mod count;

use count::Counts;
use halite::Session;
use halite::compile::CompileOptions;
use halite::source::Source;
use halite_bundle::ModuleRole;
use halite_support::Diagnostics;
use halite_test_kit::{Anchor, Case, Outcome, Suite};

/// The suite on the figures of each compiled module of a model: products, softmaxes, masks, instructions.
///
/// A file names a preset, or a model of the folder `models`, and perhaps settings. It shows how a change of a pass changes real
/// models.
#[derive(Debug)]
pub(super) struct Metrics;

impl Suite for Metrics {
    fn name(&self) -> &str {
        "metrics"
    }

    fn extensions(&self) -> &[&str] {
        &["txt"]
    }

    fn run(&self, case: &Case, session: &Session) -> Result<Outcome, String> {
        let input = case.directives.model.as_deref().ok_or("the suite needs `//@ model: ..`")?;
        let input = match input.strip_suffix(".hal") {
            Some(_) => format!("{}/../models/{input}", env!("CARGO_MANIFEST_DIR")),
            None => input.to_owned(),
        };
        let mut session = session.clone();
        // What is called is counted where it is called.
        let settings: Vec<String> =
            case.directives.set.iter().cloned().chain(["emit.calls=inline".to_owned()]).collect();
        let source = session.load(&input, &settings);
        let text = source.and_then(|source| table(&session, &source)).map_err(|errors| case.show_all(&errors))?;
        Ok(Outcome::new([(Anchor::End, text)]))
    }
}

/// A column for each module.
fn table(session: &Session, source: &Source) -> Result<String, Diagnostics> {
    let built = session.elaborate(source)?.module;
    let counts = ModuleRole::DEFAULT.each_ref().map(|role| {
        let pipeline = session.pipeline(role)?;
        let options = CompileOptions::default();
        session.compile_role(&built, &source.recipe, role, &pipeline, &options).map(|module| Counts::of(&module))
    });
    let counts: Vec<Counts> = counts.into_iter().collect::<Result<_, _>>()?;
    let line = |label: &str, cells: [String; ModuleRole::DEFAULT.len()]| {
        format!("{label:<40}{}\n", cells.map(|cell| format!("{cell:>12}")).concat())
    };
    let mut text = line("", ModuleRole::DEFAULT.map(|role| role.name().to_owned()));
    for (label, row) in count::ROWS {
        let cells: Vec<String> = counts.iter().map(row).collect();
        text.push_str(&line(label, cells.try_into().expect("one for each role")));
    }
    Ok(text)
}
