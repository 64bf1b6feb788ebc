//! Typed errors of libnrt.

use super::status::{NrtCall, NrtStatus};
use super::version::NrtVersion;
use halite_support::{Code, codes};
use std::ffi::c_int;
use std::path::PathBuf;
use std::time::Duration;

/// An error of libnrt.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NrtError {
    /// There is no library; the text says where it was looked for.
    #[error("no libnrt: {0}")]
    NotFound(String),
    /// The file is there but the system's loader refuses it, or it is no libnrt.
    #[error("cannot load libnrt `{}`: {reason}", path.display())]
    Load {
        /// The shared library.
        path: PathBuf,
        /// The loader's words, or ours.
        reason: String,
    },
    /// The library has another major version than this build was written for.
    #[error("libnrt `{}` is of version {found}, this build uses version {needed}", path.display())]
    Version {
        /// The shared library.
        path: PathBuf,
        /// The version that it states.
        found: NrtVersion,
        /// The major version that is needed.
        needed: u64,
    },
    /// The runtime does not start, and the driver's first device is not there.
    #[error(
        "the Neuron runtime does not start ({status}), and there is no `{device}`: the driver is not loaded, or this is no Neuron instance"
    )]
    Driver {
        /// The status that `nrt_init` returned.
        status: NrtStatus,
        /// The device file.
        device: &'static str,
    },
    /// A call failed.
    #[error("`{call}` failed: {} ({status})", status.meaning())]
    Status {
        /// The call.
        call: NrtCall,
        /// The status that it returned.
        status: NrtStatus,
    },
    /// A call did not come back.
    #[error("`{call}` did not come back within {} s", limit.as_secs_f64())]
    Timeout {
        /// The call.
        call: NrtCall,
        /// The time limit of the call.
        limit: Duration,
    },
    /// A call was given up, since what it waits for does not come.
    #[error("`{call}` was given up: {reason}")]
    GivenUp {
        /// The call.
        call: NrtCall,
        /// The reason.
        reason: String,
    },
    /// A NEFF has other tensors than the program that it is said to be of.
    #[error("the NEFF is not that of the program: {0}")]
    Neff(String),
}

impl NrtError {
    /// Turns the return code of a call into a result: 0 is success, any other number an error.
    pub(super) fn check(call: NrtCall, number: c_int) -> Result<(), Self> {
        NrtStatus::new(number).map_or(Ok(()), |status| Err(Self::Status { call, status }))
    }

    /// The diagnostic code of this kind of error.
    pub fn code(&self) -> Code {
        match self {
            Self::NotFound(_) => codes::NRT_MISSING,
            Self::Load { .. } | Self::Version { .. } | Self::Driver { .. } => codes::NRT_UNUSABLE,
            Self::Status { .. } => codes::NRT_STATUS,
            Self::Timeout { .. } => codes::NRT_TIMEOUT,
            Self::GivenUp { .. } => codes::OTHER_RANK,
            Self::Neff(_) => codes::NEFF_UNFIT,
        }
    }

    /// Advice on what to do, where the code does not say.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Status { call, status } => Some(status.help(*call)),
            Self::Driver { .. } => {
                Some("on a Neuron instance, install `aws-neuronx-dkms` and see that `lsmod` lists `neuron`")
            }
            Self::NotFound(_)
            | Self::Load { .. }
            | Self::Version { .. }
            | Self::Timeout { .. }
            | Self::GivenUp { .. }
            | Self::Neff(_) => None,
        }
    }
}
