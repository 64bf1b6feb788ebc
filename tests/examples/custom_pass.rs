//! A pass of one's own, with its golden file, and at work in a compilation.
//!
//! `cargo run -p halite-tests --example custom_pass` runs the golden below `examples/custom_pass/` and then compiles `tiny`
//! with the pass; with `HALITE_BLESS=1` it rewrites what the golden expects. `README.md` explains it.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use halite::Session;
use halite::compile::CompileOptions;
use halite_ir::{Module, Op, rewrite_functions};
use halite_passes::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_support::{Diagnostics, Result};
use halite_tests::Kit;
use std::process::ExitCode;
use std::sync::Arc;

/// Writes `-(-x)` as `x`, which is the same bit for bit.
#[derive(Debug)]
struct DoubleNegation;

impl Pass for DoubleNegation {
    fn info(&self) -> PassInfo {
        PassInfo::new("double-negation", "drop negations of negations", Relation::Identical)
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let mut changed = false;
        rewrite_functions(module, cx.registry, |rewriter, source| {
            for inst in &source.insts {
                let inner = inst.args.first().and_then(|&arg| source.def(arg));
                match (&inst.op, inner) {
                    (Op::Negate(_), Some(inner)) if matches!(inner.op, Op::Negate(_)) => {
                        let value = rewriter.value(inner.args[0])?;
                        rewriter.replace(inst.results[0], value);
                        changed = true;
                    }
                    _ => rewriter.copy(source, inst)?,
                }
            }
            Ok(())
        })?;
        Ok(Changed::when(changed))
    }
}

fn main() -> ExitCode {
    match session().and_then(|session| compile(session.clone()).map(|()| session)) {
        Ok(session) => Kit::new(session, concat!(env!("CARGO_MANIFEST_DIR"), "/examples/custom_pass")).run(),
        Err(errors) => {
            errors.iter().for_each(|error| println!("{error}\n  {}", error.remedy()));
            ExitCode::FAILURE
        }
    }
}

/// A session that knows the pass and runs it in all modules.
fn session() -> std::result::Result<Session, Diagnostics> {
    let mut session = Session::new();
    session.passes.register(Arc::new(DoubleNegation))?;
    session.roles.insert_after("auto-cast", "double-negation")?;
    Ok(session)
}

/// Compiles `tiny` with the pass at work.
fn compile(mut session: Session) -> std::result::Result<(), Diagnostics> {
    let source = session.load("tiny", &[])?;
    let compiled = session.compile(&source, &CompileOptions::default())?;
    for (role, reports) in &compiled.reports {
        let ran = reports.iter().filter(|report| report.name == "double-negation").count();
        println!("{}: the pass ran {ran} time(s)", role.name());
        assert!(ran > 0, "the pipeline leaves the pass out");
    }
    Ok(())
}
