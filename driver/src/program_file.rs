//! Programs of others in files: an HLO module, in any format that is read.

use halite_hlo::proto::HloModuleProto;
use halite_hlo::text;
use halite_support::{Diagnostic, Diagnostics, SourceMap, codes, files};
use std::path::Path;

/// The endings of files with programs of others.
pub(crate) const ENDINGS: [&str; 4] = [".mlir", ".hlo", ".pb", ".txt"];

/// Bytes at the begin of a file that are looked at.
const HEAD: usize = 1 << 10;

/// The way out where a file holds something else.
const GIVE: &str = "give a serialized HloModuleProto, or HLO or StableHLO as text";

/// The format of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    /// A serialized HLO module.
    Hlo,
    /// StableHLO as text.
    Text,
    /// StableHLO as bytes.
    Bytecode,
    /// HLO as text.
    HloText,
}

impl Format {
    /// The format of a file, by what is in it. Text is UTF-8, and has no bytes that a serialized module begins with.
    fn of(bytes: &[u8]) -> Self {
        let head = bytes.get(..HEAD).unwrap_or(bytes);
        // The last character of the head may be cut.
        let is_utf8 = std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true);
        let is_control = |byte: &u8| *byte < b' ' && !b"\n\r\t".contains(byte);
        match () {
            () if halite_stablehlo::is_bytecode(bytes) => Format::Bytecode,
            () if head.is_empty() || !is_utf8 || head.iter().any(is_control) => Format::Hlo,
            // A character may be cut, and no word is.
            () if text::is_hlo(&String::from_utf8_lossy(head)) => Format::HloText,
            () => Format::Text,
        }
    }
}

/// Whether a path is named as one of a file with a program.
pub fn is_named(path: &Path) -> bool {
    path.to_str().is_some_and(|path| ENDINGS.iter().any(|ending| path.ends_with(ending)))
}

/// The module in a file: a serialized HLO module, or a text of HLO or StableHLO. A text joins `sources`, so that diagnostics can show its lines.
///
/// # Errors
/// When there is no such file, it has another format, or its text has faults: every one.
pub fn read(path: &Path, sources: &mut SourceMap) -> Result<HloModuleProto, Diagnostics> {
    let bytes = files::read(path)?;
    let file = path.display().to_string();
    let refused = |message: &str, help: &str| {
        Err(Diagnostic::error(codes::FOREIGN, format!("`{file}`: {message}")).help(help).into())
    };
    match Format::of(&bytes) {
        Format::Hlo => {
            let explain = |error: Diagnostic| error.context(format!("`{file}`")).help(GIVE);
            Ok(halite_hlo::decode(&bytes).map_err(explain)?)
        }
        Format::Bytecode => refused(
            "StableHLO that is serialized as bytes is not read",
            "turn it into text: `stablehlo-translate --deserialize`, or `as_text()` of JAX",
        ),
        format @ (Format::HloText | Format::Text) => {
            let Ok(text) = String::from_utf8(bytes) else { return refused("the text is not UTF-8", GIVE) };
            let id = sources.add(file, text);
            let source = sources.known(id)?;
            let read = if format == Format::HloText { text::read } else { halite_stablehlo::read };
            Ok(read(source)?.into_module())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_what_is_in_a_file() {
        let formats = [
            (&b"\x0a\x09module_ab\x12\x04main"[..], Format::Hlo),
            (b"", Format::Hlo),
            (b"\xff\xff", Format::Hlo),
            (b"\n\tmodule @a {\n}\n", Format::Text),
            (b"#loc = loc(unknown)", Format::Text),
            (b"ML\xEFR\x0dStableHLO", Format::Bytecode),
            (b"HloModule jit_f, is_scheduled=true", Format::HloText),
            (b"// a dump\nHloModule jit_f\n", Format::HloText),
            (b"HloModules", Format::Text),
        ];
        for (bytes, format) in formats {
            assert_eq!(Format::of(bytes), format, "{bytes:?}");
        }
    }
}
