//! Products and reductions.

use crate::site::{Site, one};
use halite_hlo::{DotDims, Opcode};
use halite_ir::ops::{BroadcastInDim, DotGeneral, Reduce, Reduction};
use halite_ir::{Op, Value, Values};
use halite_tensor::{DType, Dims};

pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    match site.opcode() {
        "dot" => dot(site),
        "reduce" => reduce(site),
        _ => None,
    }
}

/// A product in the type that is stated, or in a wider one that the op takes: that of operands that are wider, `f64` for integers.
fn dot(site: &mut Site<'_, '_>) -> Option<Values> {
    let [mut x, mut y] = site.operands()?;
    let dims = DotDims::from_proto(site.inst().dot_dimension_numbers.as_deref()?).ok()?;
    let stated = site.ty()?.dtype();
    let mut accumulate = if stated.size() < site.b.dtype(x).size() { site.b.dtype(x) } else { stated };
    if stated.is_int() {
        accumulate = DType::F64;
        (x, y) = (site.converted(x, accumulate)?, site.converted(y, accumulate)?);
    }
    let op = DotGeneral {
        batch: (dims.lhs_batch, dims.rhs_batch),
        contract: (dims.lhs_contracting, dims.rhs_contracting),
        accumulate,
    };
    let product = site.emit(op, &[x, y])?;
    site.converted(product, stated).map(one)
}

/// The reduction by which a computation combines two values.
pub(super) fn kind(site: &Site<'_, '_>) -> Option<Reduction> {
    let combiner = Opcode::parse(site.combiner()?)?;
    Reduction::ALL.iter().copied().find(|kind| Opcode::from(kind.hlo().op()) == combiner)
}

fn reduce(site: &mut Site<'_, '_>) -> Option<Values> {
    let ([x, init], kind) = (site.operands()?, kind(site)?);
    let mut dims = site.dims()?;
    dims.sort_unstable();
    reduced(site, kind, (x, init), dims).map(one)
}

/// A reduction over some dimensions, combined with what it starts from where that changes it.
pub(super) fn reduced(
    site: &mut Site<'_, '_>,
    kind: Reduction,
    (x, init): (Value, Value),
    dims: Dims,
) -> Option<Value> {
    let reduced = site.emit(Reduce { kind, dims, accumulate: site.types.first()?.dtype() }, &[x])?;
    if is_identity(site, kind, init) {
        return Some(reduced);
    }
    let shape = site.b.shape(reduced).clone();
    let init = site.emit(BroadcastInDim { dims: Dims::new(), shape }, &[init])?;
    let combine = Op::of_opcode(kind.hlo().op().into())?;
    site.emit(combine, &[reduced, init])
}

pub(super) fn is_identity(site: &Site<'_, '_>, kind: Reduction, init: Value) -> bool {
    site.constant(init).is_some_and(|constant| *constant.value == kind.identity(constant.value.dtype()))
}
