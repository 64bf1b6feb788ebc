//! A pass of one's own, with its golden file, and at work in a compilation.
//!
//! `cargo run -p halite-test-kit --example custom_pass` runs the golden below `examples/custom_pass/` and then compiles `tiny`
//! with the pass; with `HALITE_BLESS=1` it rewrites what the golden expects. `README.md` explains it.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use halite::Session;
use halite::compile::CompileOptions;
use halite_ir::ops::{Constant, Multiply};
use halite_ir::{Function, Inst, Module, Op, rewrite_functions};
use halite_passes::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_support::{Diagnostics, Result};
use halite_test_kit::Kit;
use std::process::ExitCode;
use std::sync::Arc;

/// Writes `x / 4` as `x * 0.25`, which is the same bit for bit where the divisor is a power of two.
#[derive(Debug)]
struct MultiplyByInverse;

impl Pass for MultiplyByInverse {
    fn info(&self) -> PassInfo {
        PassInfo::new("multiply-by-inverse", "divisions by powers of two become products", Relation::Identical)
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let mut changed = false;
        rewrite_functions(module, cx.registry, |rewriter, source| {
            for inst in &source.insts {
                let Some(inverse) = inverse(source, inst) else {
                    rewriter.copy(source, inst)?;
                    continue;
                };
                // What is built stands where the division stood in the user's model, and is called as it was.
                let outer = rewriter.set_loc(inst.loc);
                let x = rewriter.value(inst.args[0])?;
                let factor = rewriter.emit(inverse, &[])?;
                rewriter.name_value(factor, "inverse");
                let product = rewriter.emit_all(Multiply, &[x, factor])?;
                rewriter.round_like(inst);
                rewriter.set_loc(outer);
                rewriter.keep_names(source, inst, &product);
                rewriter.replace_all(inst, &product);
                changed = true;
            }
            Ok(())
        })?;
        Ok(Changed::when(changed))
    }
}

/// The inverse of what a division divides by, where that is one power of two, and no float type makes it a subnormal number.
fn inverse(source: &Function, inst: &Inst) -> Option<Constant> {
    let Op::Divide(_) = inst.op else { return None };
    let Op::Constant(divisor) = &source.def(inst.args[1])?.op else { return None };
    let value = divisor.splat_value()?;
    let inverse = Constant::splat(divisor.value.dtype(), divisor.shape.clone(), 1.0 / value);
    let is_power = value.to_bits() << 12 == 0 && (1.0 / 64.0..=64.0).contains(&value.abs());
    (is_power && divisor.value.dtype().is_float()).then_some(inverse)
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
    session.passes.register(Arc::new(MultiplyByInverse))?;
    session.roles.insert_after("auto-cast", "multiply-by-inverse")?;
    Ok(session)
}

/// Compiles `tiny` with the pass at work.
fn compile(mut session: Session) -> std::result::Result<(), Diagnostics> {
    let source = session.load("tiny", &[])?;
    let compiled = session.compile(&source, &CompileOptions::default())?;
    for (role, reports) in &compiled.reports {
        let ran = reports.iter().filter(|report| report.name == "multiply-by-inverse").count();
        println!("{}: the pass ran {ran} time(s)", role.name());
        assert!(ran > 0, "the pipeline leaves the pass out");
    }
    Ok(())
}
