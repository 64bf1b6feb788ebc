//! The training step of `llama-7b` through XLA's compiler, at full size: `estimates` holds what XLA says of its state to one layer.

use halite::Session;
use halite::compile::CompileOptions;
use halite_bundle::ModuleRole;
use halite_test_kit::xla;

#[test]
#[ignore = "second tier: XLA takes up to a minute"]
fn the_plugin_compiles_hlat_7b() {
    let mut session = Session::new();
    let source = session.load("llama-7b", &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
    let bundle = session.compile(&source, &options).unwrap_or_else(|errors| panic!("{errors:?}")).bundle;
    let step = bundle.module_with_role(&ModuleRole::TRAIN_STEP).expect("the training step is compiled");
    let executable = xla::compile(bundle.hlo(step).expect("the bundle has the file"), 1);
    let executable = executable.unwrap_or_else(|error| panic!("{error}"));
    let stats = executable.memory_stats().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(stats.alias, bundle.manifest.statistics.state_bytes, "all state is updated in place");
    println!("llama-7b: {stats:?}");
}
