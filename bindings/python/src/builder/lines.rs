//! Lines of Python as places.

use halite::model::Caller;
use halite::support::{FileId, Name, SourceMap, Span};
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// The files whose lines made calls, with their texts where Python has them.
#[derive(Default, Debug)]
pub(super) struct Lines {
    files: BTreeMap<String, (Name, Option<FileId>)>,
    sources: SourceMap,
}

impl Lines {
    /// A place in Python.
    pub(super) fn caller(&mut self, py: Python<'_>, (file, line): &(String, u32)) -> PyResult<Caller> {
        if !self.files.contains_key(file) {
            let text = text(py, file)?;
            let text = (!text.is_empty()).then(|| self.sources.add(file, text));
            let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
            self.files.insert(file.clone(), (name.into(), text));
        }
        let (name, text) = &self.files[file];
        Ok(Caller::line_of(name.clone(), *line, text.and_then(|text| self.span(text, *line))))
    }

    /// The texts of the files.
    pub(super) fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// A line without the spaces around it.
    fn span(&self, file: FileId, line: u32) -> Option<Span> {
        let source = self.sources.file(file)?;
        let start = source.line_start(usize::try_from(line).ok()?)?;
        let text = source.text().get(start..)?.lines().next()?;
        let first = start + text.len() - text.trim_start().len();
        Some(Span::new(file, first, first + text.trim().len()))
    }
}

/// The text of a file as Python has it, cells of notebooks too; empty where it has none.
fn text(py: Python<'_>, file: &str) -> PyResult<String> {
    let lines: Vec<String> = py.import("linecache")?.call_method1("getlines", (file,))?.extract()?;
    Ok(lines.concat())
}
