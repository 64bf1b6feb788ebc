//! Running HLO.
