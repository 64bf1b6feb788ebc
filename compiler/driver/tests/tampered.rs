//! HLO that would end the process inside XLA is refused before it gets there.

#![allow(clippy::unwrap_used, reason = "this is test code")]

use halite::compile::CompileOptions;
use halite::execute::LoadedModule;
use halite::session::Session;
use halite::source;
use halite_hlo::proto::{HloInstructionProto, HloModuleProto};
use halite_runtime::{ClientOptions, Pjrt, find_plugin};
use halite_spec::ModuleRole;

/// The first parameter of the entry.
fn parameter(module: &mut HloModuleProto) -> &mut HloInstructionProto {
    let entry = module.computations.last_mut().unwrap();
    entry.instructions.iter_mut().find(|inst| inst.opcode == "parameter").unwrap()
}

#[test]
fn unsound_modules_do_not_reach_xla() {
    let mut session = Session::new();
    let source = source::load("tiny", &["layers=1".to_owned()], &mut session.sources).unwrap();
    let options = CompileOptions { roles: vec![ModuleRole::Forward], ..CompileOptions::default() };
    let bundle = session.compile(&source, &options).unwrap().bundle;
    let entry = bundle.manifest.modules[0].clone();
    let executor = Pjrt::open(&find_plugin(None).unwrap(), &ClientOptions::default()).unwrap();
    assert!(LoadedModule::load(&executor, &bundle, &entry).is_ok());
    let corruptions: [fn(&mut HloModuleProto); 3] = [
        |module| parameter(module).parameter_number = -1,
        |module| parameter(module).opcode = "replica-id".to_owned(),
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
