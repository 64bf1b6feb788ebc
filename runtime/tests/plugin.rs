//! Opening plugins that are none.

use crate::common::client;
use halite_runtime::{ClientOptions, Executor, Pjrt, RuntimeError, find_plugin};
use halite_support::Diagnostic;
use std::path::Path;

fn open(path: &Path) -> RuntimeError {
    Pjrt::open(path, &ClientOptions::default()).err().expect("this is no plugin")
}

#[test]
fn a_missing_file_is_named() {
    let error = open(Path::new("/none/plugin.so"));
    assert!(error.to_string().starts_with("cannot load the PJRT plugin `/none/plugin.so`: "), "{error}");
}

#[test]
fn a_file_that_is_no_library_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "no library").unwrap();
    let error = open(file.path());
    assert!(matches!(error, RuntimeError::PluginLoad { .. }), "{error:?}");
    let diagnostic = Diagnostic::from(error);
    assert_eq!(diagnostic.code().id, "E0702");
    assert!(diagnostic.help_text().unwrap().contains("halite plugin install"));
}

#[test]
fn the_number_of_devices_is_the_one_asked_for() {
    assert_eq!(client(1).num_devices(), 1);
    assert_eq!(client(5).num_devices(), 5);
    let none = Pjrt::open(&find_plugin(None).unwrap(), &ClientOptions::cpu(0));
    assert!(matches!(none, Err(RuntimeError::Client(_))));
}

#[test]
fn without_options_there_is_a_device() {
    let executor = Pjrt::open(&find_plugin(None).unwrap(), &ClientOptions::default()).unwrap();
    assert!(executor.num_devices() >= 1);
}

#[test]
fn the_platform_has_a_name() {
    assert_eq!(client(1).platform(), "cpu");
}
