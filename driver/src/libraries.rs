//! The texts that the text of a model uses: libraries that are built in, and files below the folder of the model.

use halite_lang::reference::function_docs;
use halite_lang::{KnownLibrary, LibraryName, LibraryRef, Texts};
use halite_support::files;
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Diagnostics, FileId, SourceFile, SourceMap, codes};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, LazyLock};

type Result<T, E = Diagnostic> = std::result::Result<T, E>;

/// The text of a model with all that it uses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelText {
    texts: Texts,
    /// Libraries that are files, by their paths from the folder of the model.
    files: BTreeMap<PathBuf, Arc<SourceFile>>,
}

impl ModelText {
    /// Reads the texts that a model uses, and adds them to the sources. A text without a folder uses no files.
    ///
    /// # Errors
    /// Every library that is not there, or that cannot be used.
    pub(crate) fn read(
        model: Arc<SourceFile>,
        folder: Option<&Path>,
        sources: &mut SourceMap,
    ) -> Result<Arc<Self>, Diagnostics> {
        let mut finder = Finder { folder, sources, files: BTreeMap::new(), folders: BTreeMap::new() };
        let texts = Texts::gather(model, |user, used| finder.find(user, used))?;
        Ok(Arc::new(Self { texts, files: finder.files }))
    }

    /// The text of the model itself.
    pub fn model(&self) -> &Arc<SourceFile> {
        self.texts.model()
    }

    /// The texts that its instructions come from.
    pub fn texts(&self) -> &Texts {
        &self.texts
    }

    /// The files that it uses, each with its path from the folder of the model.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &Arc<SourceFile>)> {
        self.files.iter().map(|(path, file)| (path.as_path(), file))
    }
}

struct Finder<'a> {
    /// That of the model.
    folder: Option<&'a Path>,
    sources: &'a mut SourceMap,
    files: BTreeMap<PathBuf, Arc<SourceFile>>,
    /// The folder of each of these, from that of the model.
    folders: BTreeMap<FileId, PathBuf>,
}

impl Finder<'_> {
    fn find(&mut self, user: &Arc<SourceFile>, used: &LibraryRef) -> Result<Arc<SourceFile>> {
        match &used.name {
            LibraryName::BuiltIn(name) => {
                let text = halite_models::library(name).ok_or_else(|| unknown(name, used))?;
                Ok(registered(format!("<{name}.hal>"), text, self.sources))
            }
            LibraryName::File(path) => self.file(user, Path::new(&**path), used),
        }
    }

    fn file(&mut self, user: &SourceFile, path: &Path, used: &LibraryRef) -> Result<Arc<SourceFile>> {
        let Some(folder) = self.folder else {
            let error = Diagnostic::error(codes::LIBRARY, "a model that is no file uses a file");
            let help = "save the model as a file in the folder of the library, and name that file";
            return Err(error.at(used.span, "used here").help(help));
        };
        let own = self.folders.get(&user.id()).cloned().unwrap_or_default();
        let path = below(own, path, used)?;
        if let Some(file) = self.files.get(&path) {
            return Ok(file.clone());
        }
        let place = folder.join(&path);
        require_below(folder, &place, used)?;
        let text = files::read_text(&place).map_err(|error| error.at(used.span, "used here"))?;
        let file = registered(place.display().to_string(), text, self.sources);
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        self.folders.insert(file.id(), folder);
        self.files.insert(path, file.clone());
        Ok(file)
    }
}

/// The path of a file from the folder of the model, which a text in `folder` names.
fn below(folder: PathBuf, path: &Path, used: &LibraryRef) -> Result<PathBuf> {
    let refused =
        |message: String, help: &str| Diagnostic::error(codes::LIBRARY, message).at(used.span, "used here").help(help);
    let mut found = folder;
    for part in path.components() {
        let is_below = match part {
            Component::Normal(part) => {
                found.push(part);
                true
            }
            Component::CurDir => true,
            Component::ParentDir => found.pop(),
            Component::RootDir | Component::Prefix(_) => false,
        };
        if !is_below {
            let message = format!("`{}` is not below the folder of the model", path.display());
            return Err(refused(message, "put it there, and name it by its path from the file that uses it"));
        }
    }
    if path.extension().is_none_or(|extension| extension != "hal") {
        let message = format!("`{}` is no `.hal` file", path.display());
        return Err(refused(message, "name a file that ends in `.hal`; a built-in library is named without quotes"));
    }
    Ok(found)
}

/// A link may not lead out of the folder of the model either: its text would be shown with what is wrong in it.
fn require_below(folder: &Path, place: &Path, used: &LibraryRef) -> Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // A missing file is reported when it is read.
    let (Ok(folder), Ok(end)) = (folder.canonicalize(), place.canonicalize()) else { return Ok(()) };
    if end.starts_with(folder) {
        return Ok(());
    }
    let message = format!("`{}` is a link that leads out of the folder of the model", place.display());
    let error = Diagnostic::error(codes::LIBRARY, message).at(used.span, "used here");
    Err(error.help("put the file there itself"))
}

/// The built-in libraries with their functions.
pub(crate) fn known_libraries() -> Vec<KnownLibrary> {
    static KNOWN: LazyLock<Vec<KnownLibrary>> = LazyLock::new(|| {
        let functions = |text| function_docs(text).into_iter().map(|function| function.name.to_owned()).collect();
        let library =
            |(name, text): &halite_models::Entry| KnownLibrary { name: (*name).to_owned(), functions: functions(text) };
        halite_models::libraries().iter().map(library).collect()
    });
    KNOWN.clone()
}

fn unknown(name: &str, used: &LibraryRef) -> Diagnostic {
    let known: Vec<&str> = halite_models::libraries().iter().map(|(name, _)| *name).collect();
    let error = Diagnostic::error(codes::LIBRARY, format!("there is no built-in library `{name}`"));
    let help = format!("{} (a file is named in quotes: `use \"{name}.hal\"`)", suggestion(name, &known));
    error.at(used.span, "unknown library").help(help)
}

/// Registers a text, which more than the map is to hold.
pub(crate) fn registered(name: String, text: impl Into<String>, sources: &mut SourceMap) -> Arc<SourceFile> {
    let file = Arc::new(SourceFile::new(name, text));
    sources.insert(file.clone());
    file
}

#[cfg(test)]
mod tests {
    use crate::Session;
    use crate::compile::CompileOptions;
    use crate::source::Model;
    use halite_bundle::ModuleRole;
    use std::path::Path;

    const MAIN: &str =
        "model m { config { n = 4 } fn main(x: f32[n, n]) { y = f(g(x)) output y return sum(y), full([], 1.0) } }";

    fn write(folder: &Path, files: &[(&str, &str)]) -> String {
        for (name, text) in files {
            let place = folder.join(name);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, text).unwrap();
        }
        folder.join("m.hal").to_str().unwrap().to_owned()
    }

    #[test]
    fn files_are_read_once_by_paths_from_the_file_that_uses_them() {
        let folder = tempfile::tempdir().unwrap();
        let deep = "library deep { fn f(x) { param w: [dim(x, -1)] = ones return x * w } }";
        let middle = "use \"../a/./deep.hal\": f\nlibrary middle { fn g(x) { return f(x) as g } }";
        let main = format!("use \"a/deep.hal\": f use \"b/middle.hal\": g\n{MAIN}");
        let input = write(folder.path(), &[("a/deep.hal", deep), ("b/middle.hal", middle), ("m.hal", &main)]);
        let mut session = Session::new();
        let source = session.load(&input, &[]).unwrap();
        let paths: Vec<String> = source.own_libraries().iter().map(|(path, _)| path.display().to_string()).collect();
        assert_eq!(paths, ["a/deep.hal", "b/middle.hal"]);
        let Model::Text(text) = &source.model else { panic!("a text was loaded") };
        assert_eq!(text.texts().files().count(), 3);

        let options = CompileOptions { roles: vec![ModuleRole::FORWARD], ..CompileOptions::default() };
        let bundle = session.compile(&source, &options).unwrap().bundle;
        let forward = bundle.module_with_role(&ModuleRole::FORWARD).unwrap();
        let forward = String::from_utf8_lossy(bundle.hlo(forward).unwrap()).into_owned();
        assert!(forward.contains("deep.hal") && !forward.contains("m.hal"));
    }

    #[test]
    fn every_library_that_cannot_be_used_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let uses = "use \"none.hal\": f use block: g use \"/none.hal\": a use \"b/../../none.hal\": b use \"none\": c";
        let input = write(folder.path(), &[("m.hal", &format!("{uses}\n{MAIN}"))]);
        let errors = Session::new().load(&input, &[]).unwrap_err();
        let ids: Vec<&str> = errors.iter().map(|error| error.code().id).collect();
        assert_eq!(ids, ["E0501", "E0312", "E0312", "E0312", "E0312"]);
        assert!(errors.iter().all(|error| error.primary().is_some()), "{errors:?}");
    }

    #[test]
    fn links_lead_nowhere_but_into_the_folder_of_the_model() {
        let folder = tempfile::tempdir().unwrap();
        let library = "library l { fn f(x) { return x } fn g(x) { return x } }";
        let model = format!("use \"l.hal\": f, g\n{MAIN}");
        write(folder.path(), &[("model/m.hal", &model), ("model/own/l.hal", library), ("far/l.hal", library)]);
        let (input, link) = (folder.path().join("model/m.hal"), folder.path().join("model/l.hal"));
        for (end, expected) in [("own/l.hal", None), ("../far/l.hal", Some("E0312")), ("/dev/zero", Some("E0312"))] {
            std::os::unix::fs::symlink(end, &link).unwrap();
            let loaded = Session::new().load(input.to_str().unwrap(), &[]);
            assert_eq!(loaded.err().map(|errors| errors[0].code().id), expected, "{end}");
            std::fs::remove_file(&link).unwrap();
        }
        assert!(std::process::Command::new("mkfifo").arg(&link).status().unwrap().success());
        let errors = Session::new().load(input.to_str().unwrap(), &[]).unwrap_err();
        assert!(errors[0].message().ends_with("it is a pipe or a device, expected a file"), "{errors:?}");
    }

    #[test]
    fn a_text_alone_uses_built_in_libraries() {
        let mut session = Session::new();
        let text = |used: &str| format!("use {used}\n{}", MAIN.replace("f(g(x))", "norm(x)"));
        let source = session.load_model("m", text("blocks: norm").as_str(), &[]).unwrap();
        assert!(session.elaborate(&source).is_ok() && source.own_libraries().is_empty());
        let errors = session.load_model("m", text("\"blocks.hal\": norm").as_str(), &[]).unwrap_err();
        assert!(errors[0].help_text().unwrap().starts_with("save the model as a file"), "{errors:?}");
    }
}
