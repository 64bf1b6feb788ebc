//! Installing the plugin.

use halite_runtime::RuntimeError;
use halite_runtime::install::{InstallOptions, Progress, install};
use std::path::Path;
use std::process::Command;

fn fails(folder: &Path, options: InstallOptions) -> String {
    let destination = Some(folder.join("cache/plugin.so"));
    let error = install(&InstallOptions { destination, ..options }, &mut |_| {}).expect_err("this cannot work");
    assert!(matches!(error, RuntimeError::Install(_)), "{error:?}");
    let left = std::fs::read_dir(folder.join("cache")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "nothing is left behind");
    error.to_string()
}

#[test]
fn a_wrong_wheel_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let wheel = folder.path().join("other.whl");
    std::fs::write(&wheel, "not the package").unwrap();
    let text = fails(folder.path(), InstallOptions { wheel: Some(wheel), ..Default::default() });
    assert!(text.contains("other.whl` has SHA-256 "), "{text}");
}

#[test]
fn a_missing_wheel_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = fails(folder.path(), InstallOptions { wheel: Some("/none.whl".into()), ..Default::default() });
    assert!(text.contains("cannot read `/none.whl`"), "{text}");
}

#[test]
fn a_missing_python_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = fails(folder.path(), InstallOptions { python: "/no/python".into(), ..Default::default() });
    assert!(text.contains("cannot run `/no/python`"), "{text}");
}

/// Writes a script that can be run. Another process does so: what this one has open for writing its children hold too until they run,
/// and such a file cannot be run.
fn write_program(path: &Path, text: &str) {
    let write = "printf %s \"$2\" > \"$1\" && chmod +x \"$1\"";
    let written = Command::new("sh").args(["-c", write, "sh"]).arg(path).arg(text).status();
    assert!(written.is_ok_and(|status| status.success()), "{} is not written", path.display());
}

#[test]
fn a_failing_pip_is_quoted() {
    let folder = tempfile::tempdir().unwrap();
    let python = folder.path().join("python");
    write_program(&python, "#!/bin/sh\necho no route to the index >&2\nexit 1\n");
    let text = fails(folder.path(), InstallOptions { python: python.into(), ..Default::default() });
    assert!(text.ends_with("failed: no route to the index"), "{text}");
}

/// Python takes nothing from the current folder or from variables: what lies there by the name of `pip` is not run.
#[test]
fn no_module_of_the_current_folder_is_run() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pip.py"), "open('ran', 'w').write('x')\n").unwrap();
    let python = folder.path().join("python");
    // As if the whole command were started in that folder; nothing is looked for in the network.
    let here = folder.path().display();
    let script = format!("#!/bin/sh\ncd '{here}' || exit 1\nPIP_NO_INDEX=1 PYTHONPATH='{here}' exec python3 \"$@\"\n");
    write_program(&python, &script);
    fails(folder.path(), InstallOptions { python: python.into(), ..Default::default() });
    assert!(!folder.path().join("ran").exists());
}

#[test]
#[ignore = "downloads 60 MB"]
fn installs_the_package() {
    let folder = tempfile::tempdir().unwrap();
    let destination = folder.path().join("plugins/plugin.so");
    let mut steps = Vec::new();
    let options = InstallOptions { destination: Some(destination.clone()), ..Default::default() };
    assert_eq!(install(&options, &mut |step| steps.push(step)).unwrap(), destination);
    assert_eq!(steps[..2], [Progress::Download, Progress::Check]);
    let size = std::fs::metadata(&destination).unwrap().len();
    assert_eq!(steps.last(), Some(&Progress::Unpack { done: size, total: size }));
    assert_eq!(std::fs::read_dir(folder.path().join("plugins")).unwrap().count(), 1);
}
