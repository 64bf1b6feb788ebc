//! The files of a source, opened as their formats say.

use crate::config::SourceConfig;
use crate::encoder::Encoder;
use crate::files::Origin;
use crate::formats::{Format, Holds, Request, raw};
use crate::part::Part;
use crate::shard::{Coding, Shard};
use halite_support::{Diagnostic, Result, codes};

/// The shard that a file is, as its source says.
pub(crate) fn open(origin: &Origin, config: &SourceConfig, part: Part, encoder: &Encoder) -> Result<Box<dyn Shard>> {
    let path = &origin.path;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (coding, name) = Coding::of(&name);
    let format = config.format.or_else(|| Format::of(name)).ok_or_else(|| {
        let message = format!("the name of `{}` does not say what is in it", path.display());
        Diagnostic::error(codes::NOT_SUPPORTED, message).help("state the `format` of the source")
    })?;
    if coding.is_decoded() && !matches!(format.holds, Holds::Text { may_be_compressed: true, .. }) {
        let message = format!("`{}` is compressed and holds no lines of text", path.display());
        return Err(Diagnostic::error(codes::NOT_SUPPORTED, message).help("decompress it"));
    }
    if coding.is_decoded() && part != Part::ALL {
        let message = format!("`{}` is compressed, so that no part of it can be found", path.display());
        return Err(Diagnostic::error(codes::NOT_SUPPORTED, message).help("decompress it, or use it as a whole"));
    }
    let (column, documents) = (&*config.column, config.documents);
    let (eos, vocabulary) = (encoder.eos(), encoder.vocabulary());
    let request = Request { origin, coding, column, documents, part, eos, vocabulary };
    match format.holds {
        Holds::Text { open, .. } | Holds::Tokens { open, .. } => open(&request),
        Holds::Ids(width) => raw::open(&request, width),
        Holds::Examples { .. } => {
            let message = format!("`{}` holds examples, which have no documents", path.display());
            Err(Diagnostic::error(codes::DATA, message).help("give files with text or tokens"))
        }
    }
}
