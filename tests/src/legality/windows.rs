//! Windows.

use super::{Case, array, case, edit, matrix, module, renamed, single};
use halite_hlo::proto::{HloInstructionProto, HloModuleProto, Numbers, Window, WindowDimension};
use halite_hlo::{DotDims, ReduceKind};
use halite_support::Result;
use halite_tensor::DType;

pub(super) const CASES: &[Case] = &[
    case("reduce-window-operands", two_operands, || reduced(1, 1)),
    case("reduce-window-base", || reduced(2, 1), || reduced(1, 1)),
    case("reduce-window-dilation", || reduced(1, 2), || reduced(1, 1)),
    case("convolution-dilation", || convolved(2, 2, 1), || convolved(1, 2, 1)),
    case("convolution-stride", || convolved(2, 1, 2), || convolved(1, 1, 2)),
];

fn set_window(inst: &mut HloInstructionProto, base_dilation: i64, window_dilation: i64, stride: i64) {
    let dim = WindowDimension { size: 2, stride, base_dilation, window_dilation, ..WindowDimension::default() };
    inst.window = Some(Box::new(Window { dimensions: vec![dim] }));
}

fn reduced(base: i64, window: i64) -> Result<HloModuleProto> {
    let made = single(matrix(), |b, x| {
        let zero = b.constant_scalar(DType::F32, 0.0)?;
        b.reduce(ReduceKind::Add, x, zero, &[1])
    });
    edit(renamed(made, "reduce", "reduce-window"), "reduce-window", |inst| {
        inst.dimensions.clear();
        set_window(inst, base, window, 1);
    })
}

fn two_operands() -> Result<HloModuleProto> {
    edit(reduced(1, 1), "reduce-window", |inst| {
        let (x, init) = (inst.operand_ids[0], inst.operand_ids[1]);
        inst.operand_ids = Numbers::from_slice(&[x, x, init, init]);
    })
}

fn convolved(base: i64, window: i64, stride: i64) -> Result<HloModuleProto> {
    let made = module(&[matrix(), array(DType::F32, [8, 4])], |b, params| {
        let dims = DotDims {
            lhs_contracting: [1].into_iter().collect(),
            rhs_contracting: [0].into_iter().collect(),
            ..DotDims::default()
        };
        Ok(vec![b.dot(params[0], params[1], &dims, DType::F32)?])
    });
    edit(renamed(made, "dot", "convolution"), "convolution", |inst| {
        inst.dot_dimension_numbers = None;
        set_window(inst, base, window, stride);
    })
}
