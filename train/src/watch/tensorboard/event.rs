//! The messages of event files, as far as scalars need them: `event.proto` and `summary.proto` of TensorFlow.

use prost::Message;

/// The version in the first event of a file: a start then drops the events of older files from its step on.
pub(super) const FILE_VERSION: &str = "brain.Event:2";

/// The status of a session that starts.
pub(super) const START: i32 = 1;

/// Something that happened at a step.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Event {
    /// Seconds since 1970.
    #[prost(double, tag = "1")]
    pub wall_time: f64,
    #[prost(int64, tag = "2")]
    pub step: i64,
    #[prost(string, optional, tag = "3")]
    pub file_version: Option<String>,
    #[prost(message, optional, tag = "5")]
    pub summary: Option<Summary>,
    #[prost(message, optional, tag = "7")]
    pub session_log: Option<SessionLog>,
}

impl Event {
    /// Nothing yet, at a step and a time.
    pub(super) fn at(step: u64, wall_time: f64) -> Self {
        Self { wall_time, step: i64::try_from(step).unwrap_or(i64::MAX), ..Self::default() }
    }
}

/// Values at a step.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Summary {
    #[prost(message, repeated, tag = "1")]
    pub value: Vec<Scalar>,
}

/// A number under a name.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Scalar {
    #[prost(string, tag = "1")]
    pub tag: String,
    #[prost(float, optional, tag = "2")]
    pub simple_value: Option<f32>,
}

/// The start or the end of a session.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SessionLog {
    #[prost(int32, tag = "1")]
    pub status: i32,
}
