//! The floating-point operations that a model asks for.

use halite_ir::graph::live_insts;
use halite_ir::{
    Def, Function, InferCx, Module, NamedParams, Op, Param, Registry, ResultRole, Value, function_totals,
    inline_into_entry, inst_cost,
};
use halite_support::Result;
use halite_tensor::Packing;
use indexmap::{IndexMap, IndexSet};
use std::collections::{BTreeMap, HashSet};

/// Floating-point operations of all contractions, convolutions among them, that the last of these functions executes; callees
/// come first. What a contraction does for copies of a weight is not counted: with 32 ranks and 8 key heads each head is stored
/// and multiplied four times, of which the model asks for one.
///
/// # Errors
/// A bug when calls cannot be written in place.
pub(crate) fn matmul_flops(module: &Module) -> Result<u64> {
    let registry = Registry::default();
    // The entry says which weights have copies, and calls hand these on.
    let has_copies = |param: &Param| param.packing().is_some_and(|packing| packing.has_copies());
    if !module.entry().is_some_and(|entry| entry.params.iter().any(has_copies)) {
        return Ok(flops(&module.functions, &registry));
    }
    let mut flat = module.clone();
    inline_into_entry(&mut flat, &registry)?;
    Ok(flops(&flat.functions, &registry))
}

/// Floating-point operations of the contractions of a forward without calls, and, where it is trained, of a backward that computes none of
/// them again: as many for each operand whose gradient is asked for.
pub(crate) fn model_flops(forward: &Function, is_trained: bool) -> u128 {
    let registry = Registry::default();
    let cx = InferCx { functions: &[], registry: &registry };
    let weights = forward.params.iter().filter(|param| param.weight().is_some_and(|info| !info.frozen));
    let mut trained: HashSet<Value> = weights.map(|param| param.value).filter(|_| is_trained).collect();
    let mut all = 0_u128;
    // A function that states its gradient is written out with it, and nothing reads that.
    let live = live_insts(&cx, forward);
    for (inst, _) in forward.insts.iter().zip(live).filter(|(_, live)| *live) {
        let gradients = inst.args.iter().filter(|arg| trained.contains(arg)).count() as u128;
        if is_product(&inst.op) {
            all += u128::from(inst_cost(&cx, &[], forward, inst).flops) * (1 + gradients);
        }
        if gradients > 0 {
            trained.extend(inst.results.iter().filter(|result| forward.ty(**result).dtype().is_float()));
        }
    }
    all
}

/// Whether an op multiplies matrices, or windows.
fn is_product(op: &Op) -> bool {
    matches!(op, Op::DotGeneral(_) | Op::Convolution(_))
}

fn flops(functions: &[Function], registry: &Registry) -> u64 {
    let cx = InferCx { functions, registry };
    let own = |function: &Function| {
        let shares = Shares::of(function);
        let products = function.insts.iter().enumerate().filter(|(_, inst)| is_product(&inst.op));
        let flops = products.map(|(at, inst)| shares.apply(at, inst_cost(&cx, &[], function, inst).flops));
        flops.fold(0, u64::saturating_add)
    };
    function_totals(functions, own).last().copied().unwrap_or_default()
}

/// The share of the model in contractions that work on copies as well, by instruction.
#[derive(Default)]
struct Shares(IndexMap<usize, Share>);

/// Elements of the tensors of the model among those of the weight that stores them.
#[derive(Clone, Copy)]
struct Share {
    model: u64,
    stored: u64,
    /// Elements of the smallest of the tensors.
    smallest: u64,
}

impl Share {
    /// That of a matrix with copies; the gradient of a vector is no contraction.
    fn of(packing: &Packing) -> Option<Self> {
        let is_matrix = packing.parts.iter().all(|part| part.shape.len() > 1);
        let stored = packing.shape().ok()?.num_elements() as u64;
        let smallest = packing.parts.iter().map(|part| part.num_elements() as u64).min()?;
        (packing.has_copies() && is_matrix).then(|| Self {
            model: halite_bundle::model_elements(packing),
            stored,
            smallest,
        })
    }
}

impl Shares {
    fn of(function: &Function) -> Self {
        let mut shares = Self::default();
        let named = NamedParams::of(function);
        let share = |param: &Param| named.packing(param).and_then(Share::of);
        let packed: Vec<_> = function.params.iter().filter_map(|param| Some((param, share(param)?))).collect();
        if packed.is_empty() {
            return shares;
        }
        shares.add_readers(function, &packed);
        let mut replacements: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for result in &function.results {
            if let ResultRole::State(name) = &result.role {
                replacements.entry(name).or_default().push(result.value);
            }
        }
        for (param, share) in packed {
            shares.add_gradients(function, replacements.remove(&*param.name).unwrap_or_default(), share);
        }
        shares
    }

    /// The contractions that read a packed weight, in another type or with its dimensions arranged otherwise.
    fn add_readers(&mut self, function: &Function, packed: &[(&Param, Share)]) {
        let mut weights: IndexMap<Value, Share> = packed.iter().map(|&(param, share)| (param.value, share)).collect();
        for (index, inst) in function.insts.iter().enumerate() {
            let Some(&share) = inst.args.iter().find_map(|arg| weights.get(arg)) else { continue };
            match &inst.op {
                Op::DotGeneral(_) => _ = self.0.insert(index, share),
                Op::Convert(_) | Op::Reshape(_) | Op::Transpose(_) => _ = weights.insert(inst.results[0], share),
                _ => {}
            }
        }
    }

    /// The contractions that make the gradient of a packed weight: those found from its replacement through values that
    /// are neither larger than the weight nor smaller than a tensor in it.
    fn add_gradients(&mut self, function: &Function, mut values: Vec<Value>, share: Share) {
        let mut seen = IndexSet::new();
        while let Some(value) = values.pop() {
            let elements = function.ty(value).shape().num_elements() as u64;
            if !(share.smallest..=share.stored).contains(&elements) || !seen.insert(value) {
                continue;
            }
            let Def::Inst(index, _) = function.values[value.index()].def else { continue };
            let inst = &function.insts[index as usize];
            match &inst.op {
                Op::DotGeneral(_) if elements == share.stored => _ = self.0.insert(index as usize, share),
                Op::DotGeneral(_) => {}
                _ => values.extend(&inst.args),
            }
        }
    }

    fn apply(&self, index: usize, flops: u64) -> u64 {
        self.0
            .get(&index)
            .map_or(flops, |share| (u128::from(flops) * u128::from(share.model) / u128::from(share.stored)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Session;

    /// Of three products one reads nothing that is trained, one a trained weight alone, and one something trained on both sides.
    #[test]
    fn backwards_have_a_product_for_each_gradient() {
        let flops = |of: &str| {
            let product = "{batch = [] x [], contract = [1] x [0], accumulate = f32}";
            let ir = format!(
                "func @main(%x: f32[4,4], %w: f32[4,4] {{weight, init = zeros}}, \
                 %v: f32[4,4] {{weight, init = zeros{of}}}) -> (f32[4,4]) {{\n\
                   %0 = dot_general %x, %x {product} : f32[4,4]\n\
                   %1 = dot_general %0, %w {product} : f32[4,4]\n\
                   %2 = dot_general %1, %v {product} : f32[4,4]\n\
                   return %2\n\
                 }}\n"
            );
            let mut session = Session::new();
            let file = session.sources.add("a.ir", ir);
            let module = session.parse_ir(file).unwrap();
            [false, true].map(|is_trained| model_flops(module.entry().unwrap(), is_trained) / (2 * 4 * 4 * 4))
        };
        assert_eq!(flops(""), [3, 1 + 2 + 3]);
        assert_eq!(flops(", frozen"), [3, 1 + 2 + 2]);
    }

    /// A convolution is a product too: of 3x3 windows of 4 channels, at 2x5x5 places for 6 features.
    #[test]
    fn convolutions_count() {
        let ir = "func @main(%x: f32[2,7,7,4] {batch}, %w: f32[3,3,4,6] {weight, init = zeros}) -> (f32[2,5,5,6]) {
              %0 = convolution %x, %w {input = [0, 3, 1, 2], kernel = [3, 2, 0, 1], output = [0, 3, 1, 2], strides = [1, 1], low = [0, 0], high = [0, 0], input_dilation = [1, 1], kernel_dilation = [1, 1], accumulate = f32} : f32[2,5,5,6]
              return %0
            }";
        let mut session = Session::new();
        let file = session.sources.add("a.ir", ir);
        let module = session.parse_ir(file).unwrap();
        let whole = 2 * (2 * 5 * 5 * 6) * (3 * 3 * 4);
        assert_eq!(matmul_flops(&module).unwrap(), whole);
        assert_eq!(model_flops(module.entry().unwrap(), true), 2 * u128::from(whole));
    }

    /// Two copies of `k`: 8 of 12 rows are the model's, in the contraction that reads the weight and in the one that makes
    /// its gradient; the third has nothing to do with it.
    #[test]
    fn copies_do_not_count() {
        let flops = |packs: &str| {
            let ir = format!(
                "func @main(%x: f32[5,3], %y: f32[5,12], %w: f32[2,6,3] {{weight, init = zeros, packs = [{packs}]}}) \
                 -> (f32[5,12], w: f32[2,6,3] {{state = \"w\"}}, f32[3,12]) {{\n\
                   %0 = reshape %w : f32[12,3]\n\
                   %1 = dot_general %x, %0 {{batch = [] x [], contract = [1] x [1], accumulate = f32}} : f32[5,12]\n\
                   %2 = dot_general %y, %x {{batch = [] x [], contract = [0] x [0], accumulate = f32}} : f32[12,3]\n\
                   %3 = reshape %2 : f32[2,6,3]\n\
                   %4 = subtract %w, %3 : f32[2,6,3]\n\
                   %5 = dot_general %x, %y {{batch = [] x [], contract = [0] x [0], accumulate = f32}} : f32[3,12]\n\
                   return %1, %4, %5\n\
                 }}\n"
            );
            let mut session = Session::new();
            let file = session.sources.add("a.ir", ir);
            matmul_flops(&session.parse_ir(file).unwrap()).unwrap()
        };
        let whole = 2 * 5 * 12 * 3;
        assert_eq!(flops(r#""q"[4,3], "k"[8,3]"#), 3 * whole);
        assert_eq!(flops(r#""q"[4,3], "k"[4,3] x 2"#), whole + 2 * whole * 8 / 12);
    }
}
