//! Tasks of the compiler.

use super::command;
use crate::Generation;
use halite_bundle::{Bundle, NeffRecord, sha256};
use halite_recipe::TargetName;
use halite_support::{Diagnostic, Result, codes};
use std::path::{Component, Path};

/// A program to compile once, with the modules of the bundle that are this program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// The name of the model.
    pub(super) model: String,
    /// The modules, the first of which names files; at least one.
    pub(super) modules: Vec<String>,
    /// The file of the first module in the bundle.
    pub(super) file: String,
    /// The HLO of the first module.
    pub(super) hlo: Vec<u8>,
    /// SHA-256 of its canonical bytes.
    pub(super) canonical: String,
    /// The flags that the compiler gets, with the target among them.
    pub(super) flags: Vec<String>,
    /// A record of each module for programs that run its NEFF; the compiler and the NEFF in it are filled in later.
    pub(super) records: Vec<NeffRecord>,
}

impl Task {
    /// A program that is in no bundle, which is called `name`.
    ///
    /// # Errors
    /// When the name cannot be that of a file.
    pub fn of(name: &str, hlo: &[u8], target: Generation, flags: &[String]) -> Result<Self> {
        check_name(name)?;
        let record = NeffRecord {
            hlo: sha256(hlo),
            target: target.into(),
            flags: flags.to_vec(),
            compiler: String::new(),
            neff: String::new(),
        };
        Ok(Self {
            model: name.to_owned(),
            modules: vec![name.to_owned()],
            file: command::input(name),
            hlo: hlo.to_vec(),
            canonical: sha256(&halite_hlo::canonical(hlo)),
            flags: command::with_target(flags, target),
            records: vec![record],
        })
    }

    /// The modules of the bundle that are this program, at least one.
    pub fn modules(&self) -> &[String] {
        &self.modules
    }

    /// The file of the first module in the bundle.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// SHA-256, in hex, of the HLO without names and positions: equal for programs that are the same to the compiler.
    pub fn sha256(&self) -> &str {
        &self.canonical
    }

    /// The flags that the compiler gets, with the target among them.
    pub fn flags(&self) -> &[String] {
        &self.flags
    }

    /// The name of the first module, which names files.
    pub fn name(&self) -> &str {
        self.modules.first().map_or("", String::as_str)
    }
}

/// The tasks of a bundle in the order of its modules; modules that are the same program are one task.
///
/// # Errors
/// When the bundle is not for Neuron, or a module cannot name a file.
pub fn plan(bundle: &Bundle) -> Result<Vec<Task>> {
    let manifest = &bundle.manifest;
    let generation = Generation::of(&manifest.recipe).ok_or_else(|| not_for_neuron(&manifest.recipe.target))?;
    let flags = command::with_target(&manifest.flags, generation);
    let mut tasks: Vec<Task> = Vec::new();
    for module in &manifest.modules {
        check_name(&module.name)?;
        let hlo = bundle.hlo(module)?;
        let canonical = sha256(&halite_hlo::canonical(hlo));
        let record = NeffRecord::new(manifest, module, "", "");
        match tasks.iter_mut().find(|task| task.canonical == canonical) {
            Some(task) => {
                task.modules.push(module.name.clone());
                task.records.push(record);
            }
            None => tasks.push(Task {
                model: manifest.model.name.clone(),
                modules: vec![module.name.clone()],
                file: module.file.clone(),
                hlo: hlo.to_vec(),
                canonical,
                flags: flags.clone(),
                records: vec![record],
            }),
        }
    }
    Ok(tasks)
}

fn not_for_neuron(target: &TargetName) -> Diagnostic {
    let names: Vec<&str> = Generation::ALL.map(Generation::name).into();
    Diagnostic::error(
        codes::OTHER_TARGET,
        format!("the bundle is for `{target}`, which `neuronx-cc` does not compile for"),
    )
    .help(format!("compile the recipe with `--target`, one of {}", names.join(", ")))
}

/// A module names files, so that its name must be the plain name of one.
fn check_name(name: &str) -> Result<()> {
    let mut components = Path::new(name).components();
    let plain = matches!((components.next(), components.next()), (Some(Component::Normal(_)), None));
    if plain && !name.starts_with(['-', '.']) && !name.contains(|c: char| c == '/' || c.is_control()) {
        return Ok(());
    }
    Err(Diagnostic::error(codes::BUNDLE, format!("the module `{}` cannot name a file", name.escape_debug())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_bundle::fixtures::small;

    #[test]
    fn equal_modules_are_one_task() {
        let mut bundle = small();
        bundle.manifest.recipe.target = Generation::Trn1.into();
        let mut twice = bundle.manifest.modules[0].clone();
        let count = bundle.manifest.modules.len();
        twice.name = "again".to_owned();
        bundle.manifest.modules.push(twice);
        let tasks = plan(&bundle).unwrap();
        assert_eq!(tasks.len(), count);
        assert_eq!(tasks[0].modules.last().map(String::as_str), Some("again"));
        assert!(tasks[0].flags.contains(&"--target=trn1".to_owned()), "{:?}", tasks[0].flags);
    }

    #[test]
    fn other_targets_and_names_are_refused() {
        let mut bundle = small();
        bundle.manifest.recipe.target = TargetName::default();
        assert!(plan(&bundle).unwrap_err().message().contains("`cpu`"));
        bundle.manifest.recipe.target = Generation::Trn1.into();
        for name in ["../x", "", "-x", ".x", "a/b", "/a"] {
            name.clone_into(&mut bundle.manifest.modules[0].name);
            assert!(plan(&bundle).unwrap_err().message().contains("cannot name a file"), "{name}");
        }
    }
}
