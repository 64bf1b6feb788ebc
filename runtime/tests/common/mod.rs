//! Helpers that the tests share: the plugin, and small programs.

#![allow(dead_code, reason = "each test file uses a part")]

use halite_hlo::{ArrayType, ComputationBuilder, Id, ModuleBuilder, encode};
use halite_runtime::{ClientOptions, CompileOptions, Executable, Executor, Pjrt, Program, find_plugin};
use halite_stablehlo::Form;
use halite_support::Diagnostic;
use halite_tensor::DType;

/// A client with this many devices. Fails with the way to get the plugin when there is none.
pub(crate) fn client(num_devices: usize) -> Pjrt {
    let path = find_plugin(None).unwrap_or_else(|error| {
        let diagnostic = Diagnostic::from(error);
        panic!("{diagnostic}; {}", diagnostic.help_text().unwrap_or_default())
    });
    Pjrt::open(&path, &ClientOptions::cpu(num_devices)).expect("the plugin starts")
}

/// The bytes of a module whose entry takes these types, `body` making its results.
pub(crate) fn module(
    types: &[ArrayType],
    body: impl FnOnce(&mut ComputationBuilder<'_>, &[Id]) -> halite_support::Result<Vec<Id>>,
) -> Vec<u8> {
    aliased(types, &[], body)
}

/// As [`module`], with pairs of parameter and output that share memory.
pub(crate) fn aliased(
    types: &[ArrayType],
    aliases: &[(usize, usize)],
    body: impl FnOnce(&mut ComputationBuilder<'_>, &[Id]) -> halite_support::Result<Vec<Id>>,
) -> Vec<u8> {
    let mut module = ModuleBuilder::new("test");
    let mut entry = module.computation("main");
    let parameters = types.iter().enumerate().map(|(index, ty)| entry.parameter(format!("p{index}"), ty.clone()));
    let parameters: Vec<_> = parameters.collect::<Result<_, _>>().expect("the types are representable");
    let results = body(&mut entry, &parameters).expect("the body is well typed");
    let root = entry.root_tuple(&results).expect("the results are arrays");
    entry.finish(root).expect("the root is in the entry");
    for (parameter, output) in aliases {
        module.alias(*parameter, *output);
    }
    encode(&module.finish().expect("the aliases fit"))
}

/// `x + y` on vectors of 4 elements.
pub(crate) fn add(dtype: DType) -> Vec<u8> {
    let ty = ArrayType::new(dtype, [4]);
    module(&[ty.clone(), ty], |entry, x| Ok(vec![entry.add(x[0], x[1])?]))
}

/// `x + y` on `f32` vectors of 4 elements, the sum taking the memory of x.
pub(crate) fn add_in_place() -> Vec<u8> {
    let ty = ArrayType::new(DType::F32, [4]);
    aliased(&[ty.clone(), ty], &[(0, 0)], |entry, x| Ok(vec![entry.add(x[0], x[1])?]))
}

/// Compiles with default options, in the format that the executor takes.
pub(crate) fn compile(executor: &dyn Executor, hlo: &[u8]) -> Box<dyn Executable> {
    let program = Program::new(hlo, CompileOptions::default()).expect("the module has a signature");
    let program =
        program.in_format(executor.format(), |hlo| halite_stablehlo::translate(hlo, Form::Program { num_replicas: 1 }));
    executor.compile(&program.expect("the module can be written")).expect("the program compiles")
}
