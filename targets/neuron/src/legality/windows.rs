//! Windows of convolutions and reductions.

use crate::tables::WindowForm;
use halite_hlo::proto::{HloInstructionProto, WindowDimension};

/// The form, said with the numbers, when the window of an instruction has it.
pub(super) fn has_form(inst: &HloInstructionProto, form: WindowForm) -> Option<String> {
    let window = inst.window.as_ref()?;
    let of = |value: fn(&WindowDimension) -> i64| window.dimensions.iter().map(value).collect::<Vec<_>>();
    let (base, own) = (of(|dim| dim.base_dilation), of(|dim| dim.window_dilation));
    let strides = of(|dim| dim.stride);
    let moves = |values: &[i64]| values.iter().any(|&value| value > 1);
    match form {
        WindowForm::DilatedBase if moves(&base) => Some(format!("the operand is dilated by {base:?}")),
        WindowForm::DilatedWindow if moves(&own) => Some(format!("the window is dilated by {own:?}")),
        WindowForm::DilatedBoth if moves(&base) && moves(&own) => {
            Some(format!("the operand is dilated by {base:?}, the window by {own:?}"))
        }
        WindowForm::StridedDilation if moves(&base) && moves(&strides) => {
            Some(format!("the operand is dilated by {base:?}, and the window moves by {strides:?}"))
        }
        _ => None,
    }
}
