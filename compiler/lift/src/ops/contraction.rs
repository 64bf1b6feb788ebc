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

/// A product in the type that is stated, or in a wider one that the op takes: that of operands that are wider. Truth values are counted, and
/// integers of which floats are asked are floats before.
fn dot(site: &mut Site<'_, '_>) -> Option<Values> {
    let [mut x, mut y] = site.operands()?;
    let dims = DotDims::from_proto(site.inst().dot_dimension_numbers.as_deref()?).ok()?;
    let stated = site.ty()?.dtype();
    let mut accumulate = if stated.size() < site.b.dtype(x).size() { site.b.dtype(x) } else { stated };
    if stated == DType::Pred {
        accumulate = DType::S32;
    }
    if stated == DType::Pred || stated.is_float() && !site.b.dtype(x).is_float() {
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
    reduction(site.combiner()?)
}

/// The reduction by an opcode.
fn reduction(opcode: &str) -> Option<Reduction> {
    let opcode = Opcode::parse(opcode)?;
    Reduction::ALL.iter().copied().find(|kind| Opcode::from(kind.hlo().op()) == opcode)
}

/// The reductions by which a computation combines several values with others, each pair by itself.
fn kinds(site: &Site<'_, '_>, count: usize) -> Option<Vec<Reduction>> {
    if count == 1 {
        return Some(vec![kind(site)?]);
    }
    let root = site.graph.root(site.graph.callee(site.at, 0)?)?;
    if site.graph.opcode(root) != "tuple" {
        return None;
    }
    let of = |number: usize| {
        let at = site.graph.operand(root, number)?;
        let parameter = |operand| {
            let at = site.graph.operand(at, operand)?;
            (site.graph.opcode(at) == "parameter").then(|| site.graph.inst(at).parameter_number)
        };
        let (own, other) = (i64::try_from(number).ok()?, i64::try_from(count + number).ok()?);
        let is_of_pair = [[own, other], [other, own]].contains(&[parameter(0)?, parameter(1)?]);
        if is_of_pair { reduction(site.graph.opcode(at)) } else { None }
    };
    (0..count).map(of).collect()
}

fn reduce(site: &mut Site<'_, '_>) -> Option<Values> {
    let count = site.args.len() / 2;
    let kinds = kinds(site, count)?;
    let mut dims = site.dims()?;
    dims.sort_unstable();
    let (xs, inits) = site.args.split_at(count);
    let pairs = kinds.into_iter().zip(xs.iter().zip(inits));
    pairs.map(|(kind, (&x, &init))| reduced(site, kind, (x, init), dims.clone())).collect()
}

/// A reduction over some dimensions, combined with what it starts from where that changes it.
pub(super) fn reduced(
    site: &mut Site<'_, '_>,
    kind: Reduction,
    (x, init): (Value, Value),
    dims: Dims,
) -> Option<Value> {
    let reduced = site.emit(Reduce { kind, dims, accumulate: site.b.dtype(init) }, &[x])?;
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
