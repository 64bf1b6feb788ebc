//! The diagnostic of an instruction that has no form.

use halite_hlo::proto::HloInstructionProto;
use halite_support::{Diagnostic, codes};

/// The opcode and the name of an instruction, and why it is not written.
pub(crate) fn fault(inst: &HloInstructionProto, reason: &str) -> Diagnostic {
    let message = format!("`{}` (`{}`) cannot be written as StableHLO: {reason}", inst.opcode, inst.name);
    Diagnostic::error(codes::STABLEHLO, message)
}
