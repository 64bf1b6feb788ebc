//! An update rule and a shape of schedules from outside: no crate of Halite knows them.

use halite::compile::CompileOptions;
use halite::recipe::{Rule, Schedule, Section, table};
use halite::{Bundle, Session};
use halite_bundle::{BufferRole, ModuleRole};
use halite_ir::{Builder, Value, Values};
use halite_optim::{
    BoundRule, BoundShape, Kind, RefWeight, ScheduleShape, Step, Terms, Time, UpdateRule, Weight, scaled,
};
use halite_support::{Diagnostics, Result};
use std::sync::Arc;

table! {
    /// `[optimizer.adagrad]`.
    #[derive(Debug)]
    struct Adagrad {
        eps: f64 as halite::recipe::schema::Kind::POSITIVE = 1e-10,
    }
}

static ADAGRAD: Section =
    Section { name: "adagrad", about: "what a test knows", keys: Adagrad::KEYS, check: |_| Diagnostics::new() };

#[derive(Debug)]
struct AdagradRule;

impl UpdateRule for AdagradRule {
    fn section(&self) -> &'static Section {
        &ADAGRAD
    }

    fn read(&self, settings: &Rule) -> Result<Box<dyn BoundRule>> {
        Ok(Box::new(settings.settings::<Adagrad>()?))
    }
}

impl BoundRule for Adagrad {
    fn kinds(&self) -> &[Kind] {
        &["sum"]
    }

    fn decay_rate(&self, _: &str) -> Option<(&'static str, f64)> {
        None
    }

    fn shared(&self, _: &mut Builder<'_>, _: &Terms) -> Result<Values> {
        Ok(Values::new())
    }

    fn step(&self, b: &mut Builder<'_>, terms: &Terms, _: &[Value], weight: &Weight) -> Result<Step> {
        let gradient = scaled(b, weight.gradient, terms.factor)?;
        let square = b.multiply(gradient, gradient)?;
        let sum = b.convert(weight.state[0], terms.dtype)?;
        let sum = b.add(sum, square)?;
        let root = b.sqrt(sum)?;
        let root = b.add_scalar(root, self.eps)?;
        let direction = b.divide(gradient, root)?;
        Ok(Step { minus: scaled(b, direction, terms.rate)?, state: Values::from_elem(sum, 1) })
    }

    fn reference(&self, weight: &mut RefWeight, rate: f64, _: f64, decay: f64) {
        for i in 0..weight.value.len() {
            let gradient = weight.gradient[i];
            weight.state[0][i] += gradient * gradient;
            let direction = gradient / (weight.state[0][i].sqrt() + self.eps);
            weight.value[i] -= rate * (direction + decay * weight.value[i]);
        }
    }
}

static HALF: Section = Section { name: "half", about: "what a test knows", keys: &[], check: |_| Diagnostics::new() };

/// Half the peak after the warm-up.
#[derive(Debug)]
struct Half;

impl ScheduleShape for Half {
    fn section(&self) -> &'static Section {
        &HALF
    }

    fn read(&self, _: &Schedule) -> Result<Box<dyn BoundShape>> {
        Ok(Box::new(Half))
    }
}

impl BoundShape for Half {
    fn rate(&self, b: &mut Builder<'_>, time: Time, peak: f64) -> Result<Value> {
        b.splat_like(time.real, peak / 2.0)
    }

    fn reference(&self, _: f64) -> f64 {
        0.5
    }
}

const RECIPE: &str = "halite = 1\nbatch = 1\nseq = 4\n[model]\nname = \"llama\"\n\
                      config = { vocab = 16, hidden = 8, layers = 1, heads = 2, ffn = 16 }\n\
                      [optimizer.adagrad]\nlr = 0.1\neps = 1e-8\n[schedule]\nshape = \"half\"\n";

fn compiled(session: &mut Session) -> std::result::Result<Bundle, Diagnostics> {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("r.toml");
    std::fs::write(&path, RECIPE).expect("a file can be written");
    let source = session.load(&path.to_string_lossy(), &[])?;
    let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
    Ok(session.compile(&source, &options)?.bundle)
}

#[test]
fn a_session_compiles_what_is_registered_with_it() {
    let mut session = Session::new();
    session.register_rule(Arc::new(AdagradRule)).expect("its name is new");
    session.register_schedule(Arc::new(Half)).expect("its name is new");
    assert!(
        session.register_rule(Arc::new(AdagradRule)).is_err() && session.register_schedule(Arc::new(Half)).is_err()
    );
    let bundle = compiled(&mut session).unwrap_or_else(|errors| panic!("{errors:?}"));
    let is_sum = |role: &BufferRole| matches!(role, BufferRole::State(spec) if *spec.kind == *"sum");
    assert!(bundle.manifest.buffers.iter().any(|buffer| is_sum(&buffer.role)));
    let errors = compiled(&mut Session::new()).map(|_| ()).unwrap_err();
    assert_eq!(errors[0].message(), "unknown key `optimizer.adagrad`");
}
