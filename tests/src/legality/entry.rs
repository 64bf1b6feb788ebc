//! The interface of the entry, and the order of the module.

use super::{Case, case, edit, matrix};
use halite_hlo::proto::HloModuleProto;
use halite_hlo::{Comparison, ModuleBuilder};
use halite_support::Result;
use halite_tensor::DType;

pub(super) const CASES: &[Case] = &[
    case("entry-layout", transposed_layout, || compared(true)),
    case("boolean-result", || compared(false), || compared(true)),
    case("unused-parameter", unused, || compared(true)),
    case("passthrough", passed, || compared(true)),
    case("aliased-read", || replaced(false), || replaced(true)),
    case("computation-order", reversed, || replaced(true)),
];

fn compared(as_number: bool) -> Result<HloModuleProto> {
    super::single(matrix(), |b, x| {
        let flag = b.compare(Comparison::Lt, x, x)?;
        if as_number { b.convert(flag, DType::S32) } else { Ok(flag) }
    })
}

fn transposed_layout() -> Result<HloModuleProto> {
    edit(compared(true), "parameter", |inst| {
        if let Some(layout) = inst.shape.as_mut().and_then(|shape| shape.layout.as_mut()) {
            layout.minor_to_major = vec![0, 1];
        }
    })
}

fn unused() -> Result<HloModuleProto> {
    super::module(&[matrix(), matrix()], |b, params| Ok(vec![b.negate(params[0])?]))
}

/// Without the copies that the builder makes for an entry.
fn passed() -> Result<HloModuleProto> {
    let mut module = ModuleBuilder::new("module");
    let mut entry = module.computation("main");
    let x = entry.parameter("a", matrix())?;
    let negated = entry.negate(x)?;
    let root = entry.tuple(&[negated, x])?;
    entry.finish(root)?;
    module.finish()
}

/// A state with its replacement, and a result that reads the old one before or after.
fn replaced(read_first: bool) -> Result<HloModuleProto> {
    let mut module = ModuleBuilder::new("module");
    let mut entry = module.computation("main");
    let state = entry.parameter("state", matrix())?;
    let early = entry.tanh(state)?;
    let new = entry.add(state, early)?;
    let read = if read_first { early } else { entry.negate(state)? };
    let root = entry.root_tuple(&[new, read])?;
    entry.finish(root)?;
    module.alias(0, 0);
    module.finish()
}

/// A reduction with its combiner behind the entry.
fn reversed() -> Result<HloModuleProto> {
    let mut module = super::single(matrix(), |b, x| {
        let zero = b.constant_scalar(DType::F32, 0.0)?;
        b.reduce(halite_hlo::ReduceKind::Add, x, zero, &[1])
    })?;
    module.computations.reverse();
    Ok(module)
}
