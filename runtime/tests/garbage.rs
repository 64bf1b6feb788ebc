//! Bytes that are no program end in a typed error, never in an abort.

use crate::common::{add, client};
use halite_hlo::proto::{HloModuleProto, ShapeProto, Shared};
use halite_hlo::{decode, encode};
use halite_runtime::{CompileOptions, Executor, Program, Result, RuntimeError};
use halite_tensor::DType;

fn compile(hlo: &[u8]) -> Result<()> {
    client(1).compile(&Program::new(hlo, CompileOptions::default())?).map(|_| ())
}

/// Compiles a good module after `change`.
fn changed(change: impl FnOnce(&mut HloModuleProto)) -> Result<()> {
    let mut module = decode(&add(DType::F32)).expect("the bytes were just encoded");
    change(&mut module);
    compile(&encode(&module))
}

fn program_error(result: Result<()>) {
    assert!(matches!(result, Err(RuntimeError::InvalidProgram(_))), "{result:?}");
}

fn compile_error(result: Result<()>) {
    assert!(matches!(result, Err(RuntimeError::Compile(_))), "{result:?}");
}

fn parameters(module: &mut HloModuleProto) -> &mut Vec<Shared<ShapeProto>> {
    &mut module.host_program_shape.as_mut().expect("the builder states one").parameters
}

#[test]
fn bytes_without_a_signature_never_reach_xla() {
    program_error(compile(b""));
    program_error(compile(b"HloModule add, entry_computation_layout={()->f32[]}"));
    program_error(compile(&[0xff; 64]));
    let good = add(DType::F32);
    program_error(compile(&good[..good.len() / 2]));
    program_error(changed(|module| module.host_program_shape = None));
    program_error(changed(|module| module.host_program_shape.as_mut().unwrap().result = None));
    program_error(changed(|module| parameters(module)[0].element_type = 0));
    program_error(changed(|module| parameters(module)[0].dimensions = vec![-4]));
}

#[test]
fn a_signature_that_is_not_the_entry_s_is_refused() {
    compile_error(changed(|module| parameters(module)[0].dimensions = vec![8]));
    compile_error(changed(|module| parameters(module)[1].element_type = 5));
    compile_error(changed(|module| parameters(module).truncate(1)));
}
