//! HLO modules.
