//! The sources of facts.

use serde::{Deserialize, Serialize};

/// The source of a fact.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Provenance {
    /// The document, or the public project and file.
    pub source: String,
    /// When it was read there, `YYYY-MM`.
    pub read: String,
    /// Its reliability.
    pub basis: Basis,
}

/// The reliability of the source of a fact.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Our conclusion from other facts.
    Inferred,
    /// One unofficial source.
    SingleSource,
    /// Code or reports of public projects that ran it.
    Observed,
    /// The vendor's documentation.
    Documented,
}

impl Basis {
    /// The words for people.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Inferred => "inferred",
            Basis::SingleSource => "single source",
            Basis::Observed => "observed",
            Basis::Documented => "documented",
        }
    }
}

impl Provenance {
    /// The source with what it is worth: `some.rst (documented, read 2026-10)`.
    pub fn cite(&self) -> String {
        let Self { source, read, basis } = self;
        let basis = match basis {
            Basis::Inferred => "our conclusion",
            basis => basis.name(),
        };
        format!("{source} ({basis}, read {read})")
    }
}
