//! The texts of a model: its own, and those of the libraries that it uses.

use crate::ast::{LibraryName, LibraryRef};
use crate::parse::{Header, header};
use halite_support::{Diagnostic, Diagnostics, FileId, SourceFile, codes};
use indexmap::IndexMap;
use std::fmt;
use std::sync::Arc;

type Result<T, E = Diagnostic> = std::result::Result<T, E>;

/// The most libraries that a model may use, those included that these use.
const MAX_LIBRARIES: usize = 64;

/// A model's text with the libraries that it uses, and those that these use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Texts {
    model: Text,
    /// Each after those that it uses.
    libraries: Vec<Text>,
}

/// A text, and the index in [`Texts::libraries`] of the library of each of its `use`s.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Text {
    source: Arc<SourceFile>,
    uses: Vec<usize>,
}

impl Texts {
    /// Collects what a model uses: `find` gives the library that a text uses by a name, the same file however often it is asked for it.
    ///
    /// # Errors
    /// The errors of `find`; a model in place of a library; libraries that use one another in a circle, and too many of them.
    pub fn gather(
        model: Arc<SourceFile>,
        mut find: impl FnMut(&Arc<SourceFile>, &LibraryRef) -> Result<Arc<SourceFile>>,
    ) -> Result<Self, Diagnostics> {
        let mut gather = Gather::new(&model);
        while let Some((user, used)) = gather.next() {
            match find(&user, &used) {
                Ok(library) => gather.follow(&library, &used)?,
                Err(error) => gather.errors.push(error),
            }
        }
        let uses = gather.open.pop().map(|text| text.uses).unwrap_or_default();
        let libraries = gather.libraries.into_values().collect();
        if gather.errors.is_empty() {
            Ok(Self { model: Text { source: model, uses }, libraries })
        } else {
            Err(gather.errors)
        }
    }

    /// The model's own text.
    pub fn model(&self) -> &Arc<SourceFile> {
        &self.model.source
    }

    /// The libraries, each after those that it uses.
    pub fn libraries(&self) -> impl Iterator<Item = &Arc<SourceFile>> {
        self.libraries.iter().map(|text| &text.source)
    }

    /// All of them, the model's first.
    pub fn files(&self) -> impl Iterator<Item = &Arc<SourceFile>> {
        [self.model()].into_iter().chain(self.libraries())
    }

    /// All of them, the model's last, each with the indices of the libraries that it uses.
    pub(crate) fn linked(&self) -> impl Iterator<Item = (&SourceFile, &[usize])> {
        self.libraries.iter().chain([&self.model]).map(|text| (&*text.source, text.uses.as_slice()))
    }
}

/// A text whose `use`s are being followed.
struct Open {
    source: Arc<SourceFile>,
    left: std::vec::IntoIter<LibraryRef>,
    uses: Vec<usize>,
}

impl Open {
    fn new(source: &Arc<SourceFile>, header: Header) -> Self {
        Self { source: source.clone(), left: header.uses.into_iter(), uses: Vec::new() }
    }
}

/// Follows `use`s in depth, so that what a library uses is there before it.
struct Gather {
    /// Those that are followed to their end.
    libraries: IndexMap<FileId, Text>,
    /// The model, a library that it uses, one that this uses, and so on.
    open: Vec<Open>,
    errors: Diagnostics,
}

impl Gather {
    fn new(model: &Arc<SourceFile>) -> Self {
        let open = vec![Open::new(model, header(model.id(), model.text()))];
        Self { libraries: IndexMap::new(), open, errors: Diagnostics::new() }
    }

    /// The text that uses a library next, and that library.
    fn next(&mut self) -> Option<(Arc<SourceFile>, LibraryRef)> {
        loop {
            let text = self.open.last_mut()?;
            if let Some(used) = text.left.next() {
                return Some((text.source.clone(), used));
            }
            if self.open.len() == 1 {
                return None;
            }
            self.close();
        }
    }

    /// Ends the last open library.
    fn close(&mut self) {
        let Some(Open { source, uses, .. }) = self.open.pop() else { return };
        let (at, _) = self.libraries.insert_full(source.id(), Text { source, uses });
        self.add(at);
    }

    /// The last open text uses the library at this position.
    fn add(&mut self, at: usize) {
        if let Some(user) = self.open.last_mut() {
            user.uses.push(at);
        }
    }

    /// Opens the library that the last open text uses, unless it is known. Fails where no more are followed.
    fn follow(&mut self, library: &Arc<SourceFile>, used: &LibraryRef) -> Result<()> {
        if let Some(at) = self.libraries.get_index_of(&library.id()) {
            self.add(at);
        } else if self.open.iter().any(|text| text.source.id() == library.id()) {
            self.errors.push(circle(&self.open, library, used));
        } else if self.libraries.len() + self.open.len() > MAX_LIBRARIES {
            return Err(too_many(used));
        } else {
            match library_header(library, used) {
                Ok(header) => self.open.push(Open::new(library, header)),
                Err(error) => self.errors.push(error),
            }
        }
        Ok(())
    }
}

impl fmt::Display for LibraryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn(name) => write!(f, "{name}"),
            Self::File(path) => write!(f, "{path}"),
        }
    }
}

/// The header of a text that has to be a library.
fn library_header(library: &SourceFile, used: &LibraryRef) -> Result<Header> {
    let header = header(library.id(), library.text());
    if header.is_model {
        let error = Diagnostic::error(codes::LIBRARY, format!("`{}` is a model, and no library", used.name));
        return Err(error
            .at(used.span, "used here")
            .help("move the functions to a file that begins with `library name {`"));
    }
    Ok(header)
}

/// `used` leads back to a text that is open.
fn circle(open: &[Open], library: &SourceFile, used: &LibraryRef) -> Diagnostic {
    let start = open.iter().position(|text| text.source.id() == library.id()).unwrap_or_default();
    let names: Vec<String> = open.iter().skip(start).map(|text| format!("`{}`", text.source.name())).collect();
    let error =
        Diagnostic::error(codes::LIBRARY, format!("`{}` uses itself", library.name())).at(used.span, "by this `use`");
    let path = format!("{} uses `{}`", names.join(" uses "), library.name());
    error.note(path).help("move what each of them needs to a library that uses neither")
}

fn too_many(used: &LibraryRef) -> Diagnostic {
    let error = Diagnostic::error(codes::LIMIT, format!("a model uses more than {MAX_LIBRARIES} libraries"));
    error.at(used.span, "one too many").help("put what belongs together in one library")
}
