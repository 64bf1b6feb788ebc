//! Statuses that the library's calls return: their meaning, and advice on what to do.

use std::fmt;

/// A call of the library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names are those of the functions")]
pub enum NrtCall {
    Version,
    Init,
    Close,
    VisibleCount,
    Load,
    LoadCollectives,
    TensorInfo,
    AllocateSet,
    AddToSet,
    Execute,
    Allocate,
    Read,
    Write,
}

impl NrtCall {
    /// The function, e.g. `nrt_execute`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Version => "nrt_get_version",
            Self::Init => "nrt_init",
            Self::Close => "nrt_close",
            Self::VisibleCount => "nrt_get_visible_vnc_count",
            Self::Load => "nrt_load",
            Self::LoadCollectives => "nrt_load_collectives",
            Self::TensorInfo => "nrt_get_model_tensor_info",
            Self::AllocateSet => "nrt_allocate_tensor_set",
            Self::AddToSet => "nrt_add_tensor_to_tensor_set",
            Self::Execute => "nrt_execute",
            Self::Allocate => "nrt_tensor_allocate",
            Self::Read => "nrt_tensor_read",
            Self::Write => "nrt_tensor_write",
        }
    }

    /// Advice for a failure of this call where the status leaves the reason open.
    fn help(self) -> &'static str {
        match self {
            Self::Init => {
                "see that no other process has the cores (`neuron-ls` shows which), end it or choose others by \
                 `NEURON_RT_VISIBLE_CORES`; the library's lines above say more"
            }
            Self::Load | Self::LoadCollectives => {
                "see that the NEFF was compiled for this instance (`target` of the recipe) and that its memory is free; the \
                 library's lines above say more"
            }
            _ => "the library's lines above say more; the state that was saved last is whole: resume from it",
        }
    }
}

impl fmt::Display for NrtCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A status other than success, `NRT_STATUS` of `nrt_status.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NrtStatus(i32);

/// The facts about a status.
struct Row {
    number: i32,
    name: &'static str,
    meaning: &'static str,
    /// `None` where it depends on the call.
    help: Option<&'static str>,
}

const fn row(number: i32, name: &'static str, meaning: &'static str, help: Option<&'static str>) -> Row {
    Row { number, name, meaning, help }
}

const REPORT: &str = "this is a mistake of Halite: please report it with the library's lines above";
const RESUME: &str = "resume from the state that was saved last; if it comes again, move to another instance";
const REPLACE: &str = "results since the last saved state are not to be trusted: resume from it on another instance";
const UPDATE: &str =
    "bring `neuronx-cc` and `aws-neuronx-runtime-lib` to one release of the SDK, and compile the bundle again";

/// Numbers, names and meanings: `nrt_status.h`. Advice: `nrt-troubleshoot.rst` where it names the case, for 4, 10, 11, 1003, 1005,
/// 1201 to 1205 (devices and cores in use, versions, memory, numbers, memory errors); the guide for 5; otherwise ours.
const ROWS: [Row; 28] = [
    row(1, "NRT_FAILURE", "it failed for a reason that it does not name", None),
    row(2, "NRT_INVALID", "it takes the NEFF, an instruction, or a tensor's name or size for invalid", None),
    row(3, "NRT_INVALID_HANDLE", "it was given a handle that is none", Some(REPORT)),
    row(4, "NRT_RESOURCE", "it could not get what it needs: cores or memory, which another process may have", None),
    row(
        5,
        "NRT_TIMEOUT",
        "it took longer than the library waits",
        Some(
            "where the program is right, set `neuron.environment.NEURON_RT_EXEC_TIMEOUT` higher; else resume from the state that \
              was saved last",
        ),
    ),
    row(6, "NRT_HW_ERROR", "the hardware failed, or the NEFF is for other hardware", None),
    row(7, "NRT_QUEUE_FULL", "the queue of calls is full", Some(REPORT)),
    row(
        9,
        "NRT_LOAD_NOT_ENOUGH_NC",
        "the NEFF needs more cores than this process has",
        Some(
            "give the process more by `NEURON_RT_VISIBLE_CORES`, and see that `NEURON_LOGICAL_NC_CONFIG` is what the bundle was \
              compiled for (`halite env BUNDLE`)",
        ),
    ),
    row(10, "NRT_UNSUPPORTED_NEFF_VERSION", "the NEFF is of a version that the library does not read", Some(UPDATE)),
    row(11, "NRT_FAIL_HOST_MEM_ALLOC", "the memory of the host does not suffice", Some("free memory of the host")),
    row(13, "NRT_UNINITIALIZED", "the runtime is not started", Some(REPORT)),
    row(14, "NRT_CLOSED", "the runtime was ended in this process", Some(REPORT)),
    row(15, "NRT_QUEUE_EMPTY", "a queue holds nothing", Some(REPORT)),
    row(101, "NRT_EXEC_UNIT_UNRECOVERABLE", "the core is in a state from which it does not recover", Some(RESUME)),
    row(1002, "NRT_EXEC_BAD_INPUT", "it takes the inputs for invalid", Some(REPORT)),
    row(
        1003,
        "NRT_EXEC_COMPLETED_WITH_NUM_ERR",
        "the program ran to its end and made numbers that are none (NaN)",
        Some("lower the learning rate; `NEURON_RT_ENABLE_VERBOSE_NUMERICAL_ERRORS` says where"),
    ),
    row(
        1004,
        "NRT_EXEC_COMPLETED_WITH_ERR",
        "the program ran to its end with errors of logic or hardware",
        Some(RESUME),
    ),
    row(
        1005,
        "NRT_EXEC_NC_BUSY",
        "the core is in use by another program or process",
        Some("end that process (`neuron-ls` shows which), or choose another core by `NEURON_RT_VISIBLE_CORES`"),
    ),
    row(
        1006,
        "NRT_EXEC_OOB",
        "the program read or wrote outside of an array by an index",
        Some(
            "see that token ids and labels are within the ranges of the manifest (`TrainStep::with_range_checks` looks)",
        ),
    ),
    row(1100, "NRT_COLL_PENDING", "a collective is not done yet", Some(REPORT)),
    row(
        1200,
        "NRT_EXEC_HW_ERR_COLLECTIVES",
        "a collective hangs, perhaps for an error of the hardware of another rank",
        Some("look at what other ranks say; resume all of them from the state that was saved last"),
    ),
    row(1201, "NRT_EXEC_HW_ERR_HBM_UE", "device memory has an error that cannot be corrected", Some(REPLACE)),
    row(1202, "NRT_EXEC_HW_ERR_NC_UE", "memory of the core has a parity error", Some(REPLACE)),
    row(1203, "NRT_EXEC_HW_ERR_DMA_ABORT", "an engine for transfers failed", Some(RESUME)),
    row(1204, "NRT_EXEC_SW_NQ_OVERFLOW", "the queue of notifications overflowed", Some(RESUME)),
    row(1205, "NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE", "device memory has an error, which can be repaired", Some(REPLACE)),
    row(
        1206,
        "NRT_NETWORK_PROXY_FAILURE",
        "the network between instances failed",
        Some("see that EFA is enabled on all instances; resume all ranks from the state that was saved last"),
    ),
    // What stands for every number that no header has; 0 itself is success and no status.
    row(0, "", "it answers with a status that no header of the public SDK has", Some(UPDATE)),
];

impl NrtStatus {
    /// The status of this number, other than 0; `None` for success.
    pub fn new(number: i32) -> Option<Self> {
        (number != 0).then_some(Self(number))
    }

    /// The number of the header.
    pub fn number(self) -> i32 {
        self.0
    }

    /// The name of the header, e.g. `NRT_TIMEOUT`; empty where no header has the number.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Its meaning, in words that follow the name of a call.
    pub fn meaning(self) -> &'static str {
        self.row().meaning
    }

    /// Advice for a call that returns this status.
    pub fn help(self, call: NrtCall) -> &'static str {
        self.row().help.unwrap_or_else(|| call.help())
    }

    /// Every status that a header names.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().filter(|row| row.number != 0).map(|row| Self(row.number))
    }

    /// Whether the program ran and only its numbers are no numbers: what became of the run is then for the program's own checks to say.
    pub(super) fn is_about_numbers(self) -> bool {
        self.name() == "NRT_EXEC_COMPLETED_WITH_NUM_ERR"
    }

    /// Whether it says that cores or memory are taken, and so that the driver is there.
    pub(super) fn is_about_cores(self) -> bool {
        ["NRT_RESOURCE", "NRT_LOAD_NOT_ENOUGH_NC", "NRT_EXEC_NC_BUSY"].contains(&self.name())
    }

    fn row(self) -> &'static Row {
        let unknown = &ROWS[ROWS.len() - 1];
        ROWS.iter().find(|row| row.number == self.0).unwrap_or(unknown)
    }
}

impl fmt::Display for NrtStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            "" => write!(f, "status {}", self.0),
            name => write!(f, "{name}, {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_says_what_it_means_and_what_to_do() {
        let all: Vec<NrtStatus> = NrtStatus::all().collect();
        assert_eq!(all.len(), 27);
        assert!(all.is_sorted_by_key(|status| status.number()));
        for status in all {
            assert!(status.name().starts_with("NRT_") && !status.meaning().is_empty(), "{status}");
            assert!([NrtCall::Init, NrtCall::Load, NrtCall::Execute].iter().all(|call| status.help(*call).len() > 15));
        }
        assert_eq!(NrtStatus::new(0), None);
        let unknown = NrtStatus::new(77).unwrap();
        assert_eq!((unknown.to_string(), unknown.name()), ("status 77".to_owned(), ""));
    }
}
