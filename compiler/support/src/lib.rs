//! Types that every Halite crate shares: source positions, diagnostics and typed indices.
//!
//! This crate holds data. It renders nothing and prints nothing; the command line decides how a [`Diagnostic`] looks.

mod caller;
mod cancel;
mod changed_line;
pub mod codes;
mod contained;
mod cursor;
mod diagnostic;
mod diagnostics;
pub mod doc;
mod entity;
pub mod files;
mod lines;
mod name;
mod names;
pub mod nearest;
mod source;
mod source_map;
pub mod text;
pub mod units;

pub use caller::Caller;
pub use cancel::{CancelToken, check_cancelled};
pub use changed_line::ChangedLine;
pub use codes::Code;
pub use contained::{contained, is_contained};
pub use cursor::Cursor;
pub use diagnostic::{Diagnostic, Label, Result, Severity, sort_by_place};
pub use diagnostics::Diagnostics;
pub use lines::Position;
pub use name::Name;
pub use names::Names;
pub use source::{FileId, SourceFile, Span};
pub use source_map::SourceMap;
