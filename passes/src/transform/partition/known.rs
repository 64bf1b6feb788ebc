//! Properties of functions that hold for any placement, and decisions that were made before.

use super::decide::Decision;
use super::fact::{Fact, Read};
use halite_ir::composites::Transfer;
use halite_ir::dims::FactorMap;
use halite_ir::{FuncId, Function, Inst, Linear, Op, TensorType, Value};
use halite_tensor::{DType, Sharding};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// The number of questions about an instruction that are kept: one round asks with the preferences of the last and with new ones, which
/// the next asks again.
const KEPT: usize = 2;

/// The properties of a function that hold for any placement.
pub(super) struct Known {
    /// For each instruction, the factors of the dimensions of its operands and results.
    pub(super) maps: Vec<FactorMap>,
    pub(super) linear: Vec<Linear>,
    /// The number of reads of each value.
    pub(super) uses: Vec<usize>,
    /// For each instruction, the last questions and their answers.
    asked: RefCell<Vec<Vec<Asked>>>,
}

/// A question about an instruction and its answer.
struct Asked {
    facts: Vec<Fact>,
    preferences: Vec<Option<Sharding>>,
    decision: Rc<Decision>,
}

impl Known {
    fn new(reduce: DType, function: &Function) -> Self {
        let types =
            |values: &[Value]| -> Vec<TensorType> { values.iter().map(|&value| function.ty(value).clone()).collect() };
        let of = |inst: &Inst| {
            let (args, results) = (types(&inst.args), types(&inst.results));
            let by_reference: Vec<&TensorType> = args.iter().collect();
            // Of composites transfers alone are left. They leave a value where it is, on the ranks of another stage.
            let map = match Transfer::ends(&inst.op) {
                Some(_) => FactorMap::elementwise(&by_reference, &results),
                None => inst.op.def().dims(&by_reference, &results),
            };
            let linear = match narrows_terms(reduce, function, inst) {
                true => Linear::Jointly,
                false => inst.op.def().linear(&args, &results),
            };
            (map, linear)
        };
        let (maps, linear) = function.insts.iter().map(of).unzip();
        let mut uses = vec![0; function.values.len()];
        for &arg in function.insts.iter().flat_map(|inst| &inst.args) {
            uses[arg.index()] += 1;
        }
        for result in &function.results {
            uses[result.value.index()] += 1;
        }
        let asked = function.insts.iter().map(|_| Vec::new()).collect();
        Self { maps, linear, uses, asked: RefCell::new(asked) }
    }

    /// The decision on an instruction, if the same was asked before.
    pub(super) fn decided(
        &self,
        at: usize,
        reads: &[Read<'_>],
        preferences: &[Option<Sharding>],
    ) -> Option<Rc<Decision>> {
        let asked = self.asked.borrow();
        let same = |asked: &&Asked| reads.iter().zip(&asked.facts).all(|(read, fact)| read.is(fact));
        let same = asked[at].iter().filter(same).find(|asked| asked.preferences == preferences);
        same.map(|asked| asked.decision.clone())
    }

    /// Keeps the decision on an instruction whose operands need no sum before.
    pub(super) fn keep(&self, at: usize, facts: Vec<Fact>, preferences: &[Option<Sharding>], decision: &Rc<Decision>) {
        let asked = &mut self.asked.borrow_mut()[at];
        asked.truncate(KEPT - 1);
        asked.insert(0, Asked { facts, preferences: preferences.to_vec(), decision: decision.clone() });
    }
}

/// The properties of the functions of a module.
#[derive(Default)]
pub(super) struct Functions(RefCell<FxHashMap<FuncId, Rc<Known>>>);

impl Functions {
    pub(super) fn of(&self, reduce: DType, id: FuncId, function: &Function) -> Rc<Known> {
        self.0.borrow_mut().entry(id).or_insert_with(|| Rc::new(Known::new(reduce, function))).clone()
    }
}

/// Whether an instruction rounds what it gives, so that partial sums of it would be rounded.
pub(super) fn rounds(reduce: DType, function: &Function, inst: &Inst) -> bool {
    inst.rounding.is_some() && !narrows_terms(reduce, function, inst)
}

/// Whether an instruction narrows floats to a type no narrower than that of sums over ranks: then it is applied to their terms.
fn narrows_terms(reduce: DType, function: &Function, inst: &Inst) -> bool {
    let real = |value: &Value| function.ty(*value).dtype().is_float();
    let wide = |value: &Value| function.ty(*value).dtype().size() >= reduce.size();
    let narrows = matches!(inst.op, Op::Convert(_)) && inst.rounding.is_some();
    narrows && inst.args.iter().all(real) && inst.results.iter().all(|result| real(result) && wide(result))
}
