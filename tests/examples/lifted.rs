//! Runs programs in StableHLO by the interpreter, for `tests/jax/ops.py`.
//!
//!     lifted (values | gradients) FILE...
//!
//! Beside each `FILE` lies `FILE.in`, the bytes of its arguments one after another. `FILE.out` becomes the bytes of its results, or of
//! its result, a scalar, and its gradient by each argument of floats. Of a file that is refused the reason goes to standard error, a line
//! with the path first.

use halite_hlo::decode;
use halite_ir::{Interpreter, Module, ParamRole, Registry, ResultRole, WeightInfo};
use halite_lift::lift;
use halite_support::{Diagnostic, Result, SourceFile, codes};
use halite_tensor::{HostTensor, Init};
use halite_test_kit::xla::run_passes;

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let gradients = args.next().as_deref() == Some("gradients");
    for path in args {
        let (text, inputs) = (std::fs::read_to_string(&path)?, std::fs::read(format!("{path}.in"))?);
        match outputs(SourceFile::new(&*path, text), &inputs, gradients) {
            Ok(bytes) => std::fs::write(format!("{path}.out"), bytes)?,
            Err(error) => std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{path}\t{error}\n"))?,
        }
    }
    Ok(())
}

fn outputs(file: SourceFile, inputs: &[u8], gradients: bool) -> Result<Vec<u8>> {
    let registry = Registry::builtin();
    let hlo = halite_stablehlo::read(&file).map_err(|mut faults| faults.swap_remove(0))?;
    let hlo = halite_hlo::CheckedHlo::new(decode(&hlo.encode())?)?;
    let lifted = lift(hlo.graph(), 1)?;
    if !lifted.unfollowed.is_empty() {
        return Err(refused(format!("not followed: {:?}", lifted.unfollowed)));
    }
    let mut module = lifted.module;
    if gradients {
        differentiate(&mut module, &registry)?;
    }
    let entry = module.entry().ok_or_else(|| refused("there is no entry".to_owned()))?;
    let mut rest = inputs;
    let mut args = Vec::new();
    for param in &entry.params {
        let ty = entry.ty(param.value);
        let (own, others) =
            rest.split_at_checked(ty.bytes() as usize).ok_or_else(|| refused("too few bytes".into()))?;
        rest = others;
        let tensor = HostTensor::from_bytes(ty.dtype(), ty.shape().clone(), own.to_vec());
        args.push(tensor.map_err(|_| refused("bytes that do not fit".into()))?);
    }
    let results = Interpreter::of(&module, &registry).run(entry, args)?;
    Ok(results.iter().flat_map(|result| result.bytes().to_vec()).collect())
}

/// Makes the only result a loss and the arguments that are floats weights, and adds the gradients.
fn differentiate(module: &mut Module, registry: &Registry) -> Result<()> {
    let mut entry = module.functions.pop().ok_or_else(|| refused("there is no entry".into()))?;
    for at in 0..entry.params.len() {
        if entry.ty(entry.params[at].value).dtype().is_float() {
            entry.params[at].role = ParamRole::Weight(WeightInfo::new(Init::Zeros));
        }
    }
    entry.results.truncate(1);
    entry.results[0].role = ResultRole::Loss;
    entry.results[0].name = "loss".into();
    module.functions.push(entry);
    run_passes("auto-diff", module, registry)
}

fn refused(message: String) -> Diagnostic {
    Diagnostic::error(codes::FOREIGN, message)
}
