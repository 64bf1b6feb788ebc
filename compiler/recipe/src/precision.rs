//! Precision recipes: the element type of everything, and how it is rounded.

use crate::schema::{Field, Kind};
use crate::{table, words};
use halite_tensor::DType;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

words! {
    /// Named precision recipes.
    #[derive(Default)]
    pub enum PrecisionName {
        /// Everything in `f32`.
        Fp32 = "fp32",
        /// Weights in `f32`, matmuls and activations in `bf16`, sensitive ops and sums in `f32`.
        #[default]
        Mixed = "mixed",
        /// As `mixed`, every narrowing rounded stochastically.
        MixedSr = "mixed-sr",
        /// Weights and moments in `bf16`, weights written with stochastic rounding: HLAT's 7B model.
        Bf16Sr = "bf16-sr",
        /// Weights, moments and gradients in `bf16`, rounded to nearest: known to diverge (HLAT, section VI).
        Bf16 = "bf16",
        /// As `mixed` with `f16` in the place of `bf16`, which needs a scale of the loss, `loss_scale`.
        Fp16 = "fp16",
        /// Everything in `f64`: for verification only, no accelerator takes it.
        Fp64 = "fp64",
    }
}

impl PrecisionName {
    /// The table behind the name.
    pub fn precision(self) -> Precision {
        use DType::{Bf16, F16, F32, F64};
        let (nearest, sr) = (RoundingMode::Rne, StochasticRounding::default());
        let same = |dtype| Precision {
            recipe: self,
            weight: dtype,
            master: Master::None,
            moments: dtype,
            operand: dtype,
            accumulate: dtype,
            sensitive: dtype,
            gradient: dtype,
            reduce: dtype,
            update: dtype,
            rounding: nearest,
            sr,
            overrides: Vec::new(),
        };
        let stochastic = |sites, by| StochasticRounding { sites, by, ..sr };
        let mixed = Precision { operand: Bf16, ..same(F32) };
        match self {
            Self::Fp32 => same(F32),
            Self::Fp64 => same(F64),
            Self::Mixed => mixed,
            Self::Fp16 => Precision { operand: F16, ..mixed },
            Self::MixedSr => {
                Precision { rounding: RoundingMode::Sr, sr: stochastic(SrSites::All, SrBy::Switch), ..mixed }
            }
            Self::Bf16Sr => Precision {
                weight: Bf16,
                moments: Bf16,
                rounding: RoundingMode::Sr,
                sr: stochastic(SrSites::WeightWrite, SrBy::Dither),
                ..mixed
            },
            Self::Bf16 => Precision { weight: Bf16, moments: Bf16, gradient: Bf16, reduce: Bf16, ..mixed },
        }
    }
}

/// The element type of everything in a training step, and how it is rounded. In TOML a name, or a table that starts from
/// one and changes some of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "PrecisionText", into = "PrecisionTable")]
pub struct Precision {
    /// The recipe it starts from.
    pub recipe: PrecisionName,
    /// Weights, as they are stored and read.
    pub weight: DType,
    /// A wider copy of each weight that the optimizer updates.
    pub master: Master,
    /// Moments of the optimizer.
    pub moments: DType,
    /// Operands of matmuls, and activations.
    pub operand: DType,
    /// Sums of many elements.
    pub accumulate: DType,
    /// Ops that lose their meaning at low precision: softmax, norm statistics, the loss.
    pub sensitive: DType,
    /// Gradients and their sums.
    pub gradient: DType,
    /// Sums over ranks.
    pub reduce: DType,
    /// The arithmetic of the optimizer on tensors.
    pub update: DType,
    /// How narrowing rounds.
    pub rounding: RoundingMode,
    /// Where and how stochastic rounding is done.
    pub sr: StochasticRounding,
    /// Exceptions.
    pub overrides: Vec<PrecisionOverride>,
}

impl Precision {
    /// Whether every narrowing rounds stochastically, each by bits of its own.
    pub fn rounds_everywhere(&self) -> bool {
        self.rounding == RoundingMode::Sr && self.sr.sites == SrSites::All
    }

    /// Whether something is computed in `f16`, in which gradients that are not scaled vanish: its least number is 6e-8.
    pub fn uses_f16(&self) -> bool {
        let Self { operand, accumulate, sensitive, gradient, reduce, .. } = *self;
        let changed = self
            .overrides
            .iter()
            .flat_map(|change| [change.operand, change.accumulate, change.sensitive, change.gradient, change.reduce]);
        let computed = [operand, accumulate, sensitive, gradient, reduce].map(Some);
        computed.into_iter().chain(changed).any(|dtype| dtype == Some(DType::F16))
    }
}

impl Field for Precision {
    const KIND: Kind = Kind::WordOrTable(PrecisionName::WORDS, Cow::Borrowed(PrecisionTable::KEYS));
    const MEANINGS: &'static [&'static str] = PrecisionName::MEANINGS;
}

impl Default for Precision {
    fn default() -> Self {
        PrecisionName::default().precision()
    }
}

words! {
    /// A wider copy of each weight. There is none in `f64`: all else would be as wide.
    #[derive(Default)]
    pub enum Master {
        /// There is none: the weight itself is updated.
        #[default]
        None = "none",
        /// In `f32`.
        F32 = "f32",
    }
}

impl Master {
    /// Its element type.
    pub fn dtype(self) -> Option<DType> {
        match self {
            Master::None => None,
            Master::F32 => Some(DType::F32),
        }
    }
}

words! {
    /// How narrowing rounds.
    #[derive(Default)]
    pub enum RoundingMode {
        /// To nearest, ties to even.
        #[default]
        Rne = "rne",
        /// Stochastically, at the sites that `sr.sites` names.
        Sr = "sr",
    }
}

/// Where and how stochastic rounding is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StochasticRounding {
    /// The narrowings that round stochastically.
    pub sites: SrSites,
    /// Implementation: dither in the program, or the switch of the hardware.
    pub by: SrBy,
    /// Seed of the random bits.
    pub seed: u32,
}

words! {
    /// The narrowings that round stochastically.
    #[derive(Default)]
    pub enum SrSites {
        /// Writing weights.
        #[default]
        WeightWrite = "weight_write",
        /// All.
        All = "all",
    }
}

words! {
    /// How stochastic rounding is implemented.
    #[derive(Default)]
    pub enum SrBy {
        /// By a switch of the target's runtime for the whole process, which knows no exception. Where there is none, dither emulates
        /// it.
        Switch = "switch",
        /// By instructions in the graph.
        #[default]
        Dither = "dither",
    }
}

table! {
    /// An exception: other element types for some instructions or some parameters. Patterns are texts in which `*` stands for
    /// any text; all that are given must match.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct PrecisionOverride {
        /// Pattern over names of ops and composites.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub op: Option<String> = None,
        /// Pattern over scopes such as `model.layers.0.mlp`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub scope: Option<String> = None,
        /// Pattern over names of parameters; goes with `weight`, `master` and `moments`, as the others do with the rest.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub parameter: Option<String> = None,
        /// Weights, as they are stored and read.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub weight: Option<DType> = None,
        /// A wider copy of each weight that the optimizer updates.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub master: Option<Master> = None,
        /// Moments of the optimizer.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub moments: Option<DType> = None,
        /// Operands of matmuls, and activations.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub operand: Option<DType> = None,
        /// Sums of many elements.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub accumulate: Option<DType> = None,
        /// Ops that lose their meaning at low precision: softmax, norm statistics, the loss.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sensitive: Option<DType> = None,
        /// Gradients and their sums.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub gradient: Option<DType> = None,
        /// Sums over ranks.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reduce: Option<DType> = None,
    }
}

/// The TOML forms of a [`Precision`]: a name, or a table.
#[derive(Deserialize)]
#[serde(untagged)]
enum PrecisionText {
    Name(PrecisionName),
    Table(Box<PrecisionTable>),
}

table! {
    struct PrecisionTable {
        /// The recipe it starts from; other keys change some of it.
        recipe: PrecisionName = PrecisionName::default(),
        /// Weights, as they are stored and read.
        weight: Option<DType> = None,
        /// A wider copy of each weight that the optimizer updates.
        master: Option<Master> = None,
        /// Moments of the optimizer.
        moments: Option<DType> = None,
        /// Operands of matmuls, and activations.
        operand: Option<DType> = None,
        /// Sums of many elements.
        accumulate: Option<DType> = None,
        /// Ops that lose their meaning at low precision: softmax, norm statistics, the loss.
        sensitive: Option<DType> = None,
        /// Gradients and their sums.
        gradient: Option<DType> = None,
        /// Sums over ranks.
        reduce: Option<DType> = None,
        /// The arithmetic of the optimizer on tensors.
        update: Option<DType> = None,
        /// How narrowing rounds.
        rounding: Option<RoundingMode> = None,
        /// Where and how stochastic rounding is done.
        #[serde(skip_serializing_if = "Option::is_none")]
        sr: Option<SrTable> = None,
        /// Exceptions for some instructions or some parameters.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        r#override: Vec<PrecisionOverride> = Vec::new(),
    }
}

table! {
    struct SrTable {
        /// Which narrowings.
        sites: Option<SrSites> = None,
        /// Implementation: dither in the program, or the switch of the hardware.
        by: Option<SrBy> = None,
        /// Seed of the random bits.
        seed: Option<u32> = None,
    }
}

impl From<PrecisionText> for Precision {
    fn from(text: PrecisionText) -> Self {
        let table = match text {
            PrecisionText::Name(name) => return name.precision(),
            PrecisionText::Table(table) => *table,
        };
        let base = table.recipe.precision();
        let sr = match table.sr {
            None => base.sr,
            Some(sr) => StochasticRounding {
                sites: sr.sites.unwrap_or(base.sr.sites),
                by: sr.by.unwrap_or(base.sr.by),
                seed: sr.seed.unwrap_or(base.sr.seed),
            },
        };
        Precision {
            recipe: table.recipe,
            weight: table.weight.unwrap_or(base.weight),
            master: table.master.unwrap_or(base.master),
            moments: table.moments.unwrap_or(base.moments),
            operand: table.operand.unwrap_or(base.operand),
            accumulate: table.accumulate.unwrap_or(base.accumulate),
            sensitive: table.sensitive.unwrap_or(base.sensitive),
            gradient: table.gradient.unwrap_or(base.gradient),
            reduce: table.reduce.unwrap_or(base.reduce),
            update: table.update.unwrap_or(base.update),
            rounding: table.rounding.unwrap_or(base.rounding),
            sr,
            overrides: table.r#override,
        }
    }
}

impl From<Precision> for PrecisionTable {
    /// The table with every key, but without `sr` where all rounds to nearest: there it would say nothing.
    fn from(precision: Precision) -> Self {
        let StochasticRounding { sites, by, seed } = precision.sr;
        let sr = SrTable { sites: Some(sites), by: Some(by), seed: Some(seed) };
        Self {
            recipe: precision.recipe,
            weight: Some(precision.weight),
            master: Some(precision.master),
            moments: Some(precision.moments),
            operand: Some(precision.operand),
            accumulate: Some(precision.accumulate),
            sensitive: Some(precision.sensitive),
            gradient: Some(precision.gradient),
            reduce: Some(precision.reduce),
            update: Some(precision.update),
            rounding: Some(precision.rounding),
            sr: (precision.rounding == RoundingMode::Sr).then_some(sr),
            r#override: precision.overrides,
        }
    }
}
