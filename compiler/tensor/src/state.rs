//! What lives between training steps: its kinds, and how it starts. IR, manifests and what fills buffers share the words.

use serde::{Deserialize, Serialize};

/// How a weight, or state beside it, starts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Init {
    /// All zeros.
    Zeros,
    /// All ones.
    Ones,
    /// Independent normal samples of mean 0, keyed by seed, name of the weight and element. In JSON `{"normal": <std>}`.
    #[serde(with = "f64")]
    Normal {
        /// Standard deviation.
        std: f64,
    },
}

/// The kinds of training state besides the weights.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Slot {
    /// First moment of AdamW, momentum of SGD.
    M,
    /// Second moment of AdamW.
    V,
    /// The weight at the precision of the update, where the weight itself is narrower. It starts as the weight does, with
    /// samples keyed by the name of the weight; the weight itself starts as this value rounded to nearest.
    Master,
    /// `t`, the number of completed updates, `s32[]`.
    Step,
}

impl Slot {
    /// All slots.
    pub const ALL: [Slot; 4] = [Slot::M, Slot::V, Slot::Master, Slot::Step];

    /// The word in IR text, in manifests and in names of state, `<slot>.<weight>` or `<slot>`.
    pub fn name(self) -> &'static str {
        match self {
            Slot::M => "m",
            Slot::V => "v",
            Slot::Master => "master",
            Slot::Step => "step",
        }
    }

    /// The slot of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|slot| slot.name() == name)
    }

    /// What several of them are called.
    fn plural(self) -> &'static str {
        match self {
            Slot::M => "first moments",
            Slot::V => "second moments",
            Slot::Master => "master weights",
            Slot::Step => "counters of updates",
        }
    }

    /// How it starts, given how the weight does that it belongs to.
    pub fn init(self, weight: Init) -> Init {
        match self {
            Slot::Master => weight,
            Slot::M | Slot::V | Slot::Step => Init::Zeros,
        }
    }
}

/// What a buffer of a training run holds. In JSON it is its [`name`](Self::name).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum BufferSlot {
    /// Data of one step.
    Batch,
    /// A parameter of the model.
    Weight,
    /// Other state.
    State(Slot),
}

impl BufferSlot {
    /// All that a buffer may hold.
    pub fn all() -> impl Iterator<Item = Self> {
        [Self::Batch, Self::Weight].into_iter().chain(Slot::ALL.map(Self::State))
    }

    /// The word in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Weight => "weight",
            Self::State(slot) => slot.name(),
        }
    }

    /// What several of them are called.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Batch => "batches",
            Self::Weight => "weights",
            Self::State(slot) => slot.plural(),
        }
    }

    /// Whether it holds values of weights: the weight itself or its master.
    pub fn holds_weights(self) -> bool {
        matches!(self, Self::Weight | Self::State(Slot::Master))
    }
}

impl From<BufferSlot> for &'static str {
    fn from(slot: BufferSlot) -> Self {
        slot.name()
    }
}

impl TryFrom<String> for BufferSlot {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::all().find(|slot| slot.name() == name).ok_or_else(|| {
            let names: Vec<_> = Self::all().map(|slot| format!("`{}`", slot.name())).collect();
            format!("no slot is named `{}`, slots are {}", name.escape_debug(), names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{BufferSlot, Init};
    use serde_json::{from_str, to_string};

    #[test]
    fn the_words_of_manifests_stay() {
        let starts = [
            (Init::Zeros, r#""zeros""#),
            (Init::Ones, r#""ones""#),
            (Init::Normal { std: 0.02 }, r#"{"normal":0.02}"#),
        ];
        for (init, text) in starts {
            assert_eq!((to_string(&init).unwrap().as_str(), from_str::<Init>(text).unwrap()), (text, init));
        }
        let slots: Vec<_> = BufferSlot::all().map(|slot| to_string(&slot).unwrap()).collect();
        assert_eq!(slots.join(" "), r#""batch" "weight" "m" "v" "master" "step""#);
        let read = slots.iter().map(|text| from_str::<BufferSlot>(text).unwrap());
        assert!(read.eq(BufferSlot::all()));
        let error = from_str::<BufferSlot>(r#""w""#).unwrap_err().to_string();
        assert!(error.starts_with("no slot is named `w`, slots are `batch`, `weight`, `m`"), "{error}");
    }
}
