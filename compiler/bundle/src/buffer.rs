//! Buffers: state that lives between steps, and data that is fed to one.

mod json;

use halite_tensor::{Content, DType, Init, Packing, Sharding, StateSpec};
use json::BufferJson;
use serde::{Deserialize, Serialize};

/// One buffer. In JSON it is flat: `slot` is the [word](BufferRole::word) of its role, and `content`, `of`, `init` and
/// `transient` stand beside it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(into = "BufferJson", try_from = "BufferJson")]
pub struct Buffer {
    /// Unique name; a weight has that of the model, or one of its own when it stores several; other state is called
    /// `<kind>.<weight>` or `<kind>`.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Sizes of the whole.
    pub shape: Vec<usize>,
    /// Its role in a training run.
    pub role: BufferRole,
    /// The packing by which it stores several tensors of the model, on a weight and on all that belongs to it; `None` for one as the
    /// model has it.
    pub packing: Option<Packing>,
    /// Its sharding over the ranks of the mesh; `None` where each rank has the whole. One of the batch has the same sharding for any
    /// number of micro-batches: each of these is shared out by itself.
    pub sharding: Option<Sharding>,
}

/// The role of a buffer in a training run.
#[derive(Clone, PartialEq, Debug)]
pub enum BufferRole {
    /// Data of one step, with what is declared of it; the host may feed nothing else.
    Batch(Option<Content>),
    /// A parameter of the model, with how it starts.
    Weight(Init),
    /// Other state.
    State(StateSpec),
}

impl BufferRole {
    /// The word in manifests: `batch`, `weight`, or the kind of the state.
    pub fn word(&self) -> &str {
        match self {
            Self::Batch(_) => "batch",
            Self::Weight(_) => "weight",
            Self::State(spec) => &spec.kind,
        }
    }
}

impl Buffer {
    /// Whether the host feeds it, instead of its being state.
    pub fn is_batch(&self) -> bool {
        matches!(self.role, BufferRole::Batch(_))
    }

    /// Whether it is a parameter of the model.
    pub fn is_weight(&self) -> bool {
        matches!(self.role, BufferRole::Weight(_))
    }

    /// Whether a saved state holds it: all state but what is transient.
    pub fn is_saved(&self) -> bool {
        match &self.role {
            BufferRole::Batch(_) => false,
            BufferRole::Weight(_) => true,
            BufferRole::State(spec) => !spec.transient,
        }
    }

    /// The declared content of data that the host feeds.
    pub fn content(&self) -> Option<&Content> {
        if let BufferRole::Batch(content) = &self.role { content.as_ref() } else { None }
    }

    /// The weight that it belongs to, for state that does.
    pub fn of(&self) -> Option<&str> {
        if let BufferRole::State(spec) = &self.role { spec.of.as_deref() } else { None }
    }

    /// Its initial value; `None` for what the host feeds.
    pub fn init(&self) -> Option<Init> {
        match &self.role {
            BufferRole::Batch(_) => None,
            BufferRole::Weight(init) => Some(*init),
            BufferRole::State(spec) => Some(spec.init),
        }
    }

    /// The weight whose values it starts with: a weight itself, or the one that it belongs to for state that starts as that.
    pub fn starts_as(&self) -> Option<&str> {
        match &self.role {
            BufferRole::Weight(_) => Some(&self.name),
            BufferRole::State(StateSpec { of, init: Init::Weight, .. }) => of.as_deref(),
            BufferRole::Batch(_) | BufferRole::State(_) => None,
        }
    }
}
