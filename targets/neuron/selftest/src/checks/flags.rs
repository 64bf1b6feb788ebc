//! The flags that the compiler takes.

use crate::bench::Bench;
use crate::check::{Case, Check, Needs, Told, Within};
use halite_neuron::tables::{CompilerFlag, FlagGiver};
use halite_neuron::{Neuron, Tables, settings};
use halite_support::Result;

/// The least that a compiler can be asked to compile.
const PROGRAM: &str = "
module @flags {phase = built}

func @main(%x: f32[128,128], %y: f32[128,128]) -> (f32[128,128]) {
  %z = add %x, %y : f32[128,128]
  return %z
}
";

pub(super) struct Flags;

impl Check for Flags {
    fn name(&self) -> &'static str {
        "flags"
    }

    fn about(&self) -> &'static str {
        "the flags of the tables, each by itself and those of Halite together"
    }

    fn needs(&self) -> Needs {
        Needs::Compiler
    }

    fn meaning(&self) -> &'static str {
        "Compiles with such a flag end with an error. What Halite gives by itself and is refused is left out of the checks that follow."
    }

    fn told(&self) -> Vec<Told> {
        let known = Tables::builtin().flags.iter().filter(|flag| is_asked(flag));
        let told = |flag: &CompilerFlag| Told {
            fact: format!("flags/{}", flag.name),
            presumed: format!("the compiler takes `{}`", flag.name),
            confirmed: "compiler.toml: its row is confirmed for this version".to_owned(),
            refuted: format!("compiler.toml: the row of `{}` ends before this version, and nothing pins it", flag.name),
        };
        known.map(told).collect()
    }

    fn cases(&self, bench: &Bench) -> Result<Vec<Case>> {
        let tables = Tables::builtin();
        let version = tables.nearest(Neuron::read(&bench.recipe)?.compiler.as_ref()).clone();
        let together = settings::flags(&bench.recipe);
        let mut cases = vec![self.case(bench, "flags", &[], false)?.probing(
            format!("together: {}", together.join(" ")),
            Vec::new(),
            Within::Exact,
        )];
        let taken = tables.flags.iter().filter(|flag| is_asked(flag) && flag.is_taken(bench.target, &version));
        for flag in taken {
            let name = format!("flag-{}", flag.name.trim_start_matches('-'));
            let written = written(flag, &together);
            let case = self.case(bench, &name, std::slice::from_ref(&written), true)?;
            cases.push(case.probing(written, vec![format!("flags/{}", flag.name)], Within::Exact));
        }
        // After what is refused by itself was taken out of what is given together.
        cases.rotate_left(1);
        Ok(cases)
    }
}

impl Flags {
    fn case(&self, bench: &Bench, name: &str, flags: &[String], is_bare: bool) -> Result<Case> {
        let mut case = Case::of(bench, name, bench.program_of(name, PROGRAM)?, Vec::new())?;
        (case.flags, case.is_bare) = (flags.to_vec(), is_bare);
        Ok(case)
    }
}

/// Documented flags that a recipe may give.
fn is_asked(flag: &CompilerFlag) -> bool {
    flag.given_by == FlagGiver::Recipe && flag.name != "--target"
}

/// The flag as Halite gives it by itself, else with the first of its values; any number for one that takes anything.
fn written(flag: &CompilerFlag, together: &[String]) -> String {
    let own = together.iter().find(|given| given.split('=').next() == Some(&*flag.name));
    match (own, flag.values.first().map(String::as_str)) {
        (Some(own), _) => own.clone(),
        (None, None) => flag.name.clone(),
        (None, Some("*")) => format!("{}=1024", flag.name),
        (None, Some(value)) => format!("{}={value}", flag.name),
    }
}
