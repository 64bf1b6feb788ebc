//! Values that are read at full precision.

use halite_ir::composites::Transfer;
use halite_ir::{FuncId, Function, InferCx, Op, OpClass, Policy, ResultRole, Value};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The readers of a value that take it at the precision it was made in. Such a reader is a sensitive op, a sum, the loss or a gradient;
/// a movement whose result is read so; an element-wise op whose result nothing else reads; or an element-wise composite, which computes
/// wide, when nothing else reads the value. So a difference made for an exponential, a square made for a sum and a query made to be
/// rotated are not rounded on the way; a residual, which many read, is. A reader in a function that is called, or of the result of a
/// function where it is called, counts as if it stood here; so does one in another part of a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Demand {
    wide: bool,
    /// Read so by something that computes wide but is content with less.
    wide_if_alone: bool,
    /// The number of its readers: 0, 1, or 2 for several.
    count: u8,
}

impl Demand {
    /// That of one reader.
    pub(super) fn of_one(wide: bool) -> Self {
        Self { wide, wide_if_alone: false, count: 1 }
    }

    /// Whether some reader takes it at that precision.
    pub(super) fn some_wide(self) -> bool {
        self.wide || self.alone()
    }

    /// Whether its one reader computes wide.
    pub(super) fn alone(self) -> bool {
        self.wide_if_alone && self.count == 1
    }

    /// Whether it has one reader, which takes it at that precision.
    fn one_wide(self) -> bool {
        self.wide && self.count == 1
    }

    fn add(&mut self, other: Self) {
        self.wide |= other.wide;
        self.wide_if_alone |= other.wide_if_alone;
        self.count = 2.min(self.count + other.count);
    }
}

/// The readers of each value of a function.
#[derive(Clone, Debug)]
pub(super) struct Readers {
    demands: Vec<Demand>,
}

impl Readers {
    /// The readers of a value.
    pub(super) fn of(&self, value: Value) -> Demand {
        self.demands[value.index()]
    }

    /// Sets the readers of a value that crosses calls, here and elsewhere.
    pub(super) fn set(&mut self, value: Value, demand: Demand) {
        self.demands[value.index()] = demand;
    }

    /// Whether each of these results has one reader, which takes it at the precision it was made in.
    pub(super) fn on_the_way(&self, results: &[Value]) -> bool {
        results.iter().all(|&result| self.of(result).one_wide())
    }
}

/// The readers of the functions of a module, each looked at once for what its callers do with its results.
pub(super) struct AllReaders<'a> {
    cx: InferCx<'a>,
    known: FxHashMap<(FuncId, Vec<Demand>), Rc<Readers>>,
}

impl<'a> AllReaders<'a> {
    pub(super) fn new(cx: InferCx<'a>) -> Self {
        Self { cx, known: FxHashMap::default() }
    }

    /// Those of a function that is called, given who reads its results.
    pub(super) fn of_callee(&mut self, callee: FuncId, results: &[Demand]) -> Rc<Readers> {
        let key = (callee, results.to_vec());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let readers = Rc::new(self.of(&self.cx.functions[callee.index()], results));
        self.known.insert(key, readers.clone());
        readers
    }

    /// Those of a function, given who reads its results.
    pub(super) fn of(&mut self, function: &Function, results: &[Demand]) -> Readers {
        let mut readers = Readers { demands: vec![Demand::default(); function.values.len()] };
        for (result, demand) in function.results.iter().zip(results) {
            readers.demands[result.value.index()].add(*demand);
        }
        for inst in function.insts.iter().rev() {
            if let Some(edge) = inst.call() {
                let results: Vec<Demand> = inst.results.iter().map(|&result| readers.of(result)).collect();
                let inner = self.of_callee(edge.callee, &results);
                for (param, arg) in edge.params(&self.cx.functions[edge.callee.index()]) {
                    readers.demands[arg.index()].add(inner.of(param));
                }
                continue;
            }
            if Transfer::ends(&inst.op).is_some() {
                let there = readers.of(inst.results[0]);
                readers.demands[inst.args[0].index()].add(there);
                continue;
            }
            let policy = inst.op.def().policy(&self.cx);
            let wide = match policy.class {
                OpClass::Sensitive | OpClass::Accumulate | OpClass::Integer => true,
                _ if inst.op.callee().is_some() => true,
                OpClass::Storage => inst.results.iter().any(|&result| readers.of(result).some_wide()),
                OpClass::Elementwise => readers.on_the_way(&inst.results),
                OpClass::Matmul => false,
            };
            let wide_if_alone = matches!(inst.op, Op::Composite(_)) && policy == Policy::ELEMENTWISE;
            for &arg in &inst.args {
                readers.demands[arg.index()].add(Demand { wide, wide_if_alone, count: 1 });
            }
        }
        readers
    }
}

/// The readers of the results of a function that nothing calls. Results that stay as they were made have one that takes them so; in a
/// function other than the entry, all do.
pub(super) fn outside(function: &Function, is_entry: bool) -> Vec<Demand> {
    let stays = |role: &ResultRole| role.is_sum() || matches!(role, ResultRole::Gradient(_));
    function.results.iter().map(|result| Demand::of_one(!is_entry || stays(&result.role))).collect()
}
