//! Element types.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The element type of a tensor. Names and bit widths are those of HLO (`pred` is stored in one byte).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum DType {
    Pred,
    S8,
    U8,
    S16,
    U16,
    S32,
    U32,
    S64,
    U64,
    Bf16,
    F16,
    F32,
    F64,
}

impl DType {
    /// Every element type, from narrow to wide within each kind.
    pub const ALL: [DType; 13] = [
        DType::Pred,
        DType::S8,
        DType::U8,
        DType::S16,
        DType::U16,
        DType::S32,
        DType::U32,
        DType::S64,
        DType::U64,
        DType::Bf16,
        DType::F16,
        DType::F32,
        DType::F64,
    ];

    /// The name in HLO text, e.g. `bf16`.
    pub fn name(self) -> &'static str {
        match self {
            DType::Pred => "pred",
            DType::S8 => "s8",
            DType::U8 => "u8",
            DType::S16 => "s16",
            DType::U16 => "u16",
            DType::S32 => "s32",
            DType::U32 => "u32",
            DType::S64 => "s64",
            DType::U64 => "u64",
            DType::Bf16 => "bf16",
            DType::F16 => "f16",
            DType::F32 => "f32",
            DType::F64 => "f64",
        }
    }

    /// The type with this HLO name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// Bytes of one element in host memory.
    pub fn size(self) -> usize {
        match self {
            DType::Pred | DType::S8 | DType::U8 => 1,
            DType::S16 | DType::U16 | DType::Bf16 | DType::F16 => 2,
            DType::S32 | DType::U32 | DType::F32 => 4,
            DType::S64 | DType::U64 | DType::F64 => 8,
        }
    }

    /// Bits of one element; 1 for `pred`.
    pub fn bits(self) -> u32 {
        if self == DType::Pred { 1 } else { self.size() as u32 * 8 }
    }

    /// `bf16`, `f16`, `f32` or `f64`.
    pub fn is_float(self) -> bool {
        matches!(self, DType::Bf16 | DType::F16 | DType::F32 | DType::F64)
    }

    /// A float of less than 32 bits: `bf16` or `f16`.
    pub fn is_narrow(self) -> bool {
        matches!(self, DType::Bf16 | DType::F16)
    }

    /// Any integer type; `pred` is not one.
    pub fn is_int(self) -> bool {
        !self.is_float() && self != DType::Pred
    }

    /// A signed integer or a float.
    pub fn is_signed(self) -> bool {
        self.is_float() || matches!(self, DType::S8 | DType::S16 | DType::S32 | DType::S64)
    }

    /// An unsigned integer.
    pub fn is_unsigned_int(self) -> bool {
        self.is_int() && !self.is_signed()
    }

    /// Smallest and largest value of an integer type or `pred`; `None` for floats.
    pub fn int_range(self) -> Option<(i128, i128)> {
        if self.is_float() {
            return None;
        }
        let bits = self.bits();
        Some(if self.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) })
    }

    /// Bits of significand, the implicit one included: 8, 11, 24, 53; `None` for other types.
    pub fn significand_bits(self) -> Option<u32> {
        match self {
            DType::Bf16 => Some(8),
            DType::F16 => Some(11),
            DType::F32 => Some(24),
            DType::F64 => Some(53),
            _ => None,
        }
    }

    /// Unit roundoff `2^-p` of a float type, p being [`significand_bits`](Self::significand_bits); 0 for other types.
    pub fn unit_roundoff(self) -> f64 {
        self.significand_bits().map_or(0.0, |bits| (-f64::from(bits)).exp2())
    }

    /// The largest finite value of a float type.
    pub fn max_finite(self) -> Option<f64> {
        match self {
            DType::Bf16 => Some(half::bf16::MAX.to_f64()),
            DType::F16 => Some(half::f16::MAX.to_f64()),
            DType::F32 => Some(f64::from(f32::MAX)),
            DType::F64 => Some(f64::MAX),
            _ => None,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
