//! Typed errors of the runtime.

use halite_support::{Code, Diagnostic, Diagnostics, codes};
use std::fmt;
use std::path::PathBuf;

/// The result of anything that the runtime does.
pub type Result<T> = std::result::Result<T, RuntimeError>;

/// An error of the runtime.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// There is no plugin file; the text says where it was looked for.
    #[error("no PJRT plugin: {0}")]
    PluginNotFound(String),
    /// The file is there but the system's loader refuses it, or it is no PJRT plugin.
    #[error("cannot load the PJRT plugin `{}`: {reason}", path.display())]
    PluginLoad {
        /// Its shared library.
        path: PathBuf,
        /// The loader's words.
        reason: String,
    },
    /// The plugin speaks a version of the PJRT C API that this build does not.
    #[error("the PJRT plugin `{}` has C API {}.{}, which lacks what is needed of {}.{}", path.display(), found.0, found.1, needed.0, needed.1)]
    ApiVersion {
        /// Its shared library.
        path: PathBuf,
        /// Its major and minor version.
        found: (i32, i32),
        /// The version this build was written for.
        needed: (i32, i32),
    },
    /// The plugin could not be installed.
    #[error("cannot install the PJRT plugin: {0}")]
    Install(String),
    /// The client or its devices could not be made.
    #[error("cannot start the devices: {0}")]
    Client(Status),
    /// The bytes or options do not describe a program that can be compiled.
    #[error("not a program that can be run: {0}")]
    InvalidProgram(String),
    /// The compiler refused the program.
    #[error("XLA cannot compile the program: {0}")]
    Compile(Status),
    /// The inputs of a call do not fit the program.
    #[error("{0}")]
    InvalidInput(String),
    /// A call failed.
    #[error("execution failed: {0}")]
    Execute(Status),
    /// The back end cannot do what was asked; the text says what instead.
    #[error("{0}")]
    Unsupported(String),
    /// A copy to or from a device failed.
    #[error("a copy between host and device failed: {0}")]
    Transfer(Status),
    /// An error of libnrt.
    #[cfg(feature = "nrt")]
    #[error(transparent)]
    Nrt(#[from] crate::NrtError),
}

impl RuntimeError {
    /// The diagnostic code of this kind of error.
    pub fn code(&self) -> Code {
        match self {
            Self::PluginNotFound(_) => codes::PLUGIN_MISSING,
            Self::PluginLoad { .. } | Self::ApiVersion { .. } => codes::PLUGIN_UNUSABLE,
            Self::Install(_) => codes::PLUGIN_INSTALL,
            Self::InvalidProgram(_) => codes::RUNTIME_PROGRAM,
            Self::Compile(_) => codes::RUNTIME_COMPILE,
            Self::InvalidInput(_) => codes::RUNTIME_INPUT,
            Self::Client(_) | Self::Execute(_) | Self::Unsupported(_) | Self::Transfer(_) => codes::RUNTIME_EXECUTE,
            #[cfg(feature = "nrt")]
            Self::Nrt(error) => error.code(),
        }
    }

    fn help(&self) -> Option<&'static str> {
        match self {
            Self::PluginNotFound(_) => Some("run `halite plugin install`"),
            Self::PluginLoad { .. } | Self::ApiVersion { .. } => {
                Some("run `halite plugin install` to get the version that this build was tested with")
            }
            Self::Install(_) => Some("mend what is named above and run `halite plugin install` again"),
            Self::Client(_)
            | Self::InvalidProgram(_)
            | Self::Compile(_)
            | Self::InvalidInput(_)
            | Self::Execute(_)
            | Self::Unsupported(_)
            | Self::Transfer(_) => None,
            #[cfg(feature = "nrt")]
            Self::Nrt(error) => error.help(),
        }
    }
}

impl From<RuntimeError> for Diagnostic {
    fn from(error: RuntimeError) -> Self {
        let diagnostic = Diagnostic::error(error.code(), error.to_string());
        match error.help() {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    }
}

impl From<RuntimeError> for Diagnostics {
    fn from(error: RuntimeError) -> Self {
        Diagnostic::from(error).into()
    }
}

/// An error as PJRT reports it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Status {
    /// The kind of error, by the numbers of the PJRT C API.
    pub code: StatusCode,
    /// The plugin's words.
    pub message: String,
}

impl Status {
    /// A status of this kind and text.
    pub fn new(code: StatusCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code.name())
    }
}

/// The kinds of PJRT errors, which are the canonical status codes of abseil.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names are those of the public list")]
pub enum StatusCode {
    Cancelled,
    Unknown,
    InvalidArgument,
    DeadlineExceeded,
    NotFound,
    AlreadyExists,
    PermissionDenied,
    ResourceExhausted,
    FailedPrecondition,
    Aborted,
    OutOfRange,
    Unimplemented,
    Internal,
    Unavailable,
    DataLoss,
    Unauthenticated,
}

/// Every code with its name, by number from 1.
const STATUS_CODES: [(StatusCode, &str); 16] = [
    (StatusCode::Cancelled, "CANCELLED"),
    (StatusCode::Unknown, "UNKNOWN"),
    (StatusCode::InvalidArgument, "INVALID_ARGUMENT"),
    (StatusCode::DeadlineExceeded, "DEADLINE_EXCEEDED"),
    (StatusCode::NotFound, "NOT_FOUND"),
    (StatusCode::AlreadyExists, "ALREADY_EXISTS"),
    (StatusCode::PermissionDenied, "PERMISSION_DENIED"),
    (StatusCode::ResourceExhausted, "RESOURCE_EXHAUSTED"),
    (StatusCode::FailedPrecondition, "FAILED_PRECONDITION"),
    (StatusCode::Aborted, "ABORTED"),
    (StatusCode::OutOfRange, "OUT_OF_RANGE"),
    (StatusCode::Unimplemented, "UNIMPLEMENTED"),
    (StatusCode::Internal, "INTERNAL"),
    (StatusCode::Unavailable, "UNAVAILABLE"),
    (StatusCode::DataLoss, "DATA_LOSS"),
    (StatusCode::Unauthenticated, "UNAUTHENTICATED"),
];

impl StatusCode {
    /// The code with this number; numbers outside 1 to 16 are `Unknown`.
    pub fn from_number(number: i32) -> Self {
        let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        index.and_then(|index| STATUS_CODES.get(index)).map_or(Self::Unknown, |(code, _)| *code)
    }

    /// The name in upper case, e.g. `INVALID_ARGUMENT`.
    pub fn name(self) -> &'static str {
        STATUS_CODES[self as usize].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_codes_stand_in_the_order_of_their_numbers() {
        for (index, (code, _)) in STATUS_CODES.iter().enumerate() {
            assert_eq!(*code as usize, index);
            assert_eq!(StatusCode::from_number(index as i32 + 1), *code);
        }
        assert_eq!(StatusCode::from_number(0), StatusCode::Unknown);
        assert_eq!(StatusCode::from_number(99), StatusCode::Unknown);
    }

    #[test]
    fn a_missing_plugin_says_how_to_get_it() {
        let diagnostic = Diagnostic::from(RuntimeError::PluginNotFound("`/x.so` does not exist".into()));
        assert_eq!(diagnostic.to_string(), "error[E0701]: no PJRT plugin: `/x.so` does not exist");
        assert_eq!(diagnostic.help_text(), Some("run `halite plugin install`"));
    }
}
