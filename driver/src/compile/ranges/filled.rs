//! Look-ups that give NaN for positions out of range, as programs of others spell them.

use halite_ir::{Function, Inst, Module, Op, Registry, Value, inline_into_entry};
use halite_support::Result;

/// The module with its calls written out, where it has numbers that are NaN; `None` for all others, which have no such look-ups.
///
/// # Errors
/// A bug when calls cannot be written out.
pub(super) fn inlined(built: &Module, registry: &Registry) -> Result<Option<Module>> {
    let mut insts = built.functions.iter().flat_map(|function| &function.insts);
    if !insts.any(is_nan) {
        return Ok(None);
    }
    let mut module = built.clone();
    inline_into_entry(&mut module, registry)?;
    Ok(Some(module))
}

/// The positions that an instruction looks up, and the number of places that there are, where it chooses NaN instead for those that are
/// out of range.
pub(super) fn looked_up(entry: &Function, inst: &Inst) -> Option<(Value, usize)> {
    let (Op::Select(_), &[_, found, other]) = (&inst.op, &inst.args[..]) else { return None };
    if !is_nan(moved(entry, other)?) {
        return None;
    }
    let look_up = moved(entry, found)?;
    let dim = match &look_up.op {
        Op::Take(take) => take.dim,
        Op::TakeAlongAxis(take) => take.dim,
        _ => return None,
    };
    Some((look_up.args[1], entry.ty(look_up.args[0]).shape()[dim]))
}

/// The instruction that a value comes from, behind those that only move elements.
fn moved(entry: &Function, mut value: Value) -> Option<&Inst> {
    loop {
        let inst = entry.def(value)?;
        match &inst.op {
            Op::BroadcastInDim(_) | Op::Reshape(_) | Op::Transpose(_) => value = inst.args[0],
            _ => return Some(inst),
        }
    }
}

fn is_nan(inst: &Inst) -> bool {
    let Op::Constant(constant) = &inst.op else { return false };
    constant.value.dtype().is_float() && constant.splat_value().is_some_and(f64::is_nan)
}

#[cfg(test)]
mod tests {
    use super::super::ranges;
    use crate::session::Session;
    use halite_bundle::ModuleRole;

    /// A look-up as JAX spells it: positions below 0 count from the end, and those out of range give NaN. `OTHER` stands for NaN.
    const LOOK_UP: &str = "\
func @pick(%x: f32[4,3], %at: s32[4,1]) -> (f32[4,1]) {
  %zero = constant 0 : s32[4,1]
  %three = constant 3 : s32[4,1]
  %is_low = compare %at, %zero {direction = LT} : pred[4,1]
  %raised = add %at, %three : s32[4,1]
  %place = select %is_low, %raised, %at : s32[4,1]
  %is_in = compare %place, %zero {direction = GE} : pred[4,1]
  %taken = take_along_axis %x, %place {dim = 1} : f32[4,1]
  %none = constant OTHER : f32[]
  %other = broadcast_in_dim %none {dims = []} : f32[4,1]
  %y = select %is_in, %taken, %other : f32[4,1]
  return %y
}

func @main(%x: f32[4,3] {batch}, %labels: s32[4] {batch}) -> (loss: f32[] {loss}) {
  %at = reshape %labels : s32[4,1]
  %y = call %x, %at {callee = @pick} : f32[4,1]
  %sum = reduce %y {kind = sum, dims = [0, 1]} : f32[]
  return %sum
}
";

    fn below(text: &str) -> Vec<(String, u64)> {
        let mut session = Session::new();
        let file = session.sources.add("look_up.ir", text);
        let module =
            halite_ir::text::parse(text, file, &session.registry).unwrap_or_else(|errors| panic!("{errors:?}"));
        let role = session.roles.get(&ModuleRole::EVAL).unwrap();
        let ranges = ranges(&module, role, &session.registry).unwrap();
        ranges.into_iter().flat_map(|(name, of)| of.into_iter().map(move |range| (name.clone(), range.below))).collect()
    }

    #[test]
    fn what_gives_nan_out_of_range_has_a_range() {
        assert_eq!(below(&LOOK_UP.replace("OTHER", "nan")), [("labels".to_owned(), 3)]);
        assert_eq!(below(&LOOK_UP.replace("OTHER", "0.0")), []);
    }
}
