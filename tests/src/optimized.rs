//! The HLO that CPU XLA makes of modules, which a process of its own has it write.

use crate::alone::run_alone;
use halite_hlo::proto::HloModuleProto;
use prost::Message;
use std::path::{Path, PathBuf};

/// The ending of the file that XLA dumps for the last form of a module that is HLO.
const LAST: &str = ".cpu_after_optimizations.hlo.pb";

/// The file that XLA writes, of which a module is a field.
#[derive(Clone, PartialEq, Message)]
struct HloProto {
    #[prost(message, optional, tag = "1")]
    module: Option<HloModuleProto>,
}

/// Runs a test of the running test binary in a process with an environment variable, and gives what XLA made of each module that it
/// compiled, in order.
///
/// # Panics
/// When the test fails, or XLA writes nothing that can be read.
pub fn optimized_by(test: &str, variable: (&str, &str)) -> Vec<HloModuleProto> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let own = std::env::var("XLA_FLAGS").unwrap_or_default();
    let flags = format!("{own} --xla_dump_hlo_as_proto --xla_dump_to={}", folder.path().display());
    run_alone(test, |child| child.env(variable.0, variable.1).env("XLA_FLAGS", flags));
    written(folder.path())
}

fn written(folder: &Path) -> Vec<HloModuleProto> {
    let files = std::fs::read_dir(folder).expect("XLA writes a folder").map(|file| file.expect("a file").path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.to_string_lossy().ends_with(LAST)).collect();
    files.sort_by_key(|path| number(path));
    files.iter().map(|path| read(path)).collect()
}

/// 12 of `module_0012.train_step.cpu_after_optimizations.hlo.pb`.
fn number(path: &Path) -> u64 {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let digits = name.strip_prefix("module_").and_then(|rest| rest.split('.').next());
    digits.and_then(|digits| digits.parse().ok()).expect("XLA numbers its modules")
}

fn read(path: &Path) -> HloModuleProto {
    let bytes = std::fs::read(path).expect("the file can be read");
    HloProto::decode(&*bytes).expect("it is a module").module.expect("it is a module")
}
