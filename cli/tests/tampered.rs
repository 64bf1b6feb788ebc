//! HLO that would end the process inside XLA is refused before it gets there.

use halite::compile::CompileOptions;
use halite::{Bundle, Session};
use halite_bundle::ModuleRole;
use halite_hlo::proto::{HloInstructionProto, HloModuleProto};
use halite_runtime::{ClientOptions, Pjrt, find_plugin};
use halite_train::LoadedModule;

/// The first parameter of the entry.
fn parameter(module: &mut HloModuleProto) -> &mut HloInstructionProto {
    let entry = module.computations.last_mut().unwrap();
    entry.instructions.iter_mut().find(|inst| inst.opcode == "parameter").unwrap()
}

fn forward() -> Bundle {
    let mut session = Session::new();
    let source = session.load("tiny", &["layers=1".to_owned()]).unwrap();
    let options = CompileOptions { roles: vec![ModuleRole::FORWARD], ..CompileOptions::default() };
    session.compile(&source, &options).unwrap().bundle
}

#[test]
fn unsound_modules_do_not_reach_xla() {
    let bundle = forward();
    let entry = bundle.manifest.modules[0].clone();
    let executor = Pjrt::open(&find_plugin(None).unwrap(), &ClientOptions::default()).unwrap();
    assert!(LoadedModule::load(&executor, &bundle, &entry).is_ok());
    let corruptions: [fn(&mut HloModuleProto); 3] = [
        |module| parameter(module).parameter_number = -1,
        |module| parameter(module).opcode = "replica-id".into(),
        |module| module.computations.last_mut().unwrap().root_id = 0,
    ];
    for corrupt in corruptions {
        let mut module = halite_hlo::decode(bundle.hlo(&entry).unwrap()).unwrap();
        corrupt(&mut module);
        let mut tampered = bundle.clone();
        tampered.files.insert(entry.file.clone(), halite_hlo::encode(&module));
        let error = LoadedModule::load(&executor, &tampered, &entry).unwrap_err();
        assert!(error.message().starts_with("the HLO of `forward` is not sound: "), "{error}");
    }
}

#[test]
fn an_input_that_is_listed_twice_is_refused() {
    let bundle = forward();
    let mut entry = bundle.manifest.modules[0].clone();
    let name = entry.inputs[0].name.clone();
    entry.inputs[1] = entry.inputs[0].clone();
    let executor = Pjrt::open(&find_plugin(None).unwrap(), &ClientOptions::default()).unwrap();
    let error = LoadedModule::load(&executor, &bundle, &entry).unwrap_err();
    assert!(
        error.message().ends_with(&format!("the input `{name}` of the module `forward` is listed twice")),
        "{error}"
    );
}
