//! The languages in which executors take programs.

use std::fmt;

/// A language in which an executor takes programs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ProgramFormat {
    /// The bytes of a serialized `HloModuleProto`.
    #[default]
    Hlo,
    /// StableHLO, as text of MLIR.
    Mlir,
    /// A NEFF, which the compiler of AWS Neuron makes of HLO.
    Neff,
}

/// Platforms whose plugins get another format than HLO, by the names that plugins give. The programs that are known to run on
/// Neuron's, JAX and ZML (<https://github.com/zml/zml>), pass it MLIR; no document says that it takes HLO.
const PLATFORMS: [(&str, ProgramFormat); 1] = [("neuron", ProgramFormat::Mlir)];

impl ProgramFormat {
    /// Those that PJRT plugins take.
    pub const OF_PLUGINS: [Self; 2] = [Self::Hlo, Self::Mlir];

    /// Its name, which is that of the PJRT C API for those that plugins take.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hlo => "hlo",
            Self::Mlir => "mlir",
            Self::Neff => "neff",
        }
    }

    /// The format for a platform, by the name that its plugin gives.
    pub fn of_platform(platform: &str) -> Self {
        let own = PLATFORMS.iter().find(|(name, _)| platform.eq_ignore_ascii_case(name));
        own.map_or_else(Self::default, |(_, format)| *format)
    }
}

impl fmt::Display for ProgramFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
