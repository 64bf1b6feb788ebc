//! Texts in the model language: what is elaborated verifies, prints and reads back.

use crate::judge::{Verdict, refused, said};
use crate::repository;
use crate::target::{TEXT, Target};
use crate::targets::ir::reads_back;
use halite_ir::{Registry, verify};
use halite_lang::{Options, elaborate};
use halite_support::SourceMap;

pub(crate) const TARGET: Target = Target {
    name: "model",
    share: 50,
    seeds,
    prepare: |_| {
        let registry = Registry::builtin();
        Box::new(move |input| run(input, &registry))
    },
    ..TEXT
};

fn seeds() -> Vec<Vec<u8>> {
    let own = [repository::files("models", ".hal"), repository::files("tests", ".hal")].concat();
    [repository::contents(&own), repository::case_files(".hal")].concat()
}

fn run(input: &[u8], registry: &Registry) -> Verdict {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(false) };
    let mut sources = SourceMap::new();
    let file = sources.add("m.hal", text);
    match elaborate(file, text, &Options::default(), registry) {
        Err(mistakes) => refused(&mistakes, &sources),
        Ok(model) => {
            said(&model.warnings, &sources)?;
            verify(&model.module, registry)
                .map_err(|errors| format!("an elaborated model does not verify: {errors}"))?;
            reads_back(&model.module, registry).map(|()| true)
        }
    }
}
