//! Time and memory of looking for a witness: a pass leaves out a sum over ranks in a program of the published size, and a smaller one is
//! tried for inputs that show it.
//!
//! ```text
//! cargo bench -p halite-benches --bench replay
//! ```
//!
//! Each case is a process of its own, so that its peak of memory is its own.

#![allow(clippy::print_stdout, reason = "what was measured is its output")]

use halite::Session;
use halite::compile::CompileOptions;
use halite::source::Source;
use halite_bundle::ModuleRole;
use halite_support::Diagnostics;
use halite_tests::forgotten_sum::ForgetSum;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

/// The published layouts; of the 70B one stage.
const CASES: [(&str, &[&str]); 2] = [("hlat-7b", &[]), ("hlat-70b", &["parallel.pipeline=1"])];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match &args[..] {
        [preset, program] => measure(preset, program == "wrong"),
        _ => {
            for (preset, _) in CASES {
                for program in ["right", "wrong"] {
                    Command::new(std::env::current_exe()?).args([preset, program]).status()?;
                }
            }
            Ok(())
        }
    }
}

fn measure(preset: &str, is_wrong: bool) -> Result<(), Box<dyn std::error::Error>> {
    let overrides = CASES.iter().find(|(name, _)| *name == preset).map_or(&[][..], |(_, overrides)| overrides);
    let overrides: Vec<String> = overrides.iter().map(|one| (*one).to_owned()).collect();
    let mut session = Session::new();
    if is_wrong {
        session.passes.register(Arc::new(ForgetSum))?;
        session.roles.insert_after("take-rank", "forget-sum")?;
    }
    let source = session.load(preset, &overrides).map_err(|errors| format!("{errors:?}"))?;
    let since = Instant::now();
    let compiled = compile(&session, &source);
    let seconds = since.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or(" unknown").trim();
    println!("{preset} {}: {seconds:.2} s, at most {peak}", if is_wrong { "without a sum" } else { "as it is" });
    match compiled {
        Ok(warnings) => {
            println!("  compiled");
            warnings.iter().for_each(|warning| println!("  {}: {}", warning.code().id, warning.message()));
        }
        Err(errors) => errors.iter().for_each(|error| println!("  {}: {}", error.code().id, error.message())),
    }
    Ok(())
}

/// Compiles the training step; returns its warnings.
fn compile(session: &Session, source: &Source) -> Result<Diagnostics, Diagnostics> {
    let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
    session.compile(source, &options).map(|compiled| compiled.warnings)
}
