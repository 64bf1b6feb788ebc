//! The forward walk that analyses share. Facts about values go from operands to results, into the bodies of called functions and into
//! decompositions of composites.
//!
//! An analysis defines its facts and their transfer through an instruction. A body is walked over once for each combination of facts
//! of its parameters, so layers that are alike cost one walk. Nothing recurses, because the input decides how deep calls nest.

use halite_ir::{Composite, FuncId, Function, Inst, LocId, Module, Op, Registry, TensorType, Value};
use halite_support::{Diagnostic, Result, check_cancelled};
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::rc::Rc;

/// A forward analysis: facts about values, and their transfer from operands to results.
pub(crate) trait Forward {
    /// A fact about one value.
    type Fact: Clone + Eq + Hash;

    /// Findings on the way through a function beside the facts about its results, kept with these: assumptions of a proof.
    type Aside: Clone + Default;

    /// Whether instructions whose results nothing reads are skipped in called functions.
    const SKIPS_UNREAD: bool = true;

    /// The fact about a value of which only the type is known.
    fn unknown(&self, ty: &TensorType) -> Self::Fact;

    /// Returns the facts about the results of an instruction, given those about its operands.
    ///
    /// # Errors
    /// An error ends the analysis.
    fn apply(&mut self, at: &At<'_>, args: &[Self::Fact]) -> Result<Vec<Self::Fact>>;

    /// The body that is walked into instead of [`apply`](Self::apply), for an instruction that has one: the callee of a call.
    fn body(&self, at: &At<'_>) -> Option<Body> {
        at.inst.op.callee().map(Body::Function)
    }

    /// Takes the findings beside the facts since the last call.
    fn take(&mut self) -> Self::Aside {
        Self::Aside::default()
    }

    /// Adds the findings of a function that is run once more.
    fn add(&mut self, aside: &Self::Aside) {
        let _ = aside;
    }
}

/// An instruction with its place in the walk.
pub(crate) struct At<'a> {
    pub(crate) function: &'a Function,
    pub(crate) inst: &'a Inst,
    /// Its index in the function.
    pub(crate) position: usize,
    /// The function of the module that it is in; `None` in a function that is not of the module, such as the decomposition of a
    /// composite.
    pub(crate) id: Option<FuncId>,
    /// The calls around it, the outermost first.
    pub(crate) calls: &'a [LocId],
    /// The number of this walk over a function, counted from the first walk of the analysis.
    pub(crate) walk: usize,
}

/// The body that an instruction runs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Body {
    /// A function of the module.
    Function(FuncId),
    /// The decomposition of a composite on operands of these types.
    Composite(Composite, Vec<TensorType>),
}

impl Body {
    /// The decomposition of an instruction that is a composite.
    pub(crate) fn decomposition(at: &At<'_>) -> Option<Self> {
        let Op::Composite(composite) = &at.inst.op else { return None };
        let types = at.inst.args.iter().map(|&arg| at.function.ty(arg).clone()).collect();
        Some(Self::Composite(composite.clone(), types))
    }
}

/// A body with the facts about its parameters.
type Key<F> = (Body, Vec<F>);

/// The facts about the results of a body, and the findings beside them.
struct Summary<A: Forward> {
    results: Vec<A::Fact>,
    aside: A::Aside,
}

/// A function that is being walked over.
struct Frame<'m, A: Forward> {
    key: Option<Key<A::Fact>>,
    function: FunctionRef<'m>,
    known: Vec<A::Fact>,
    /// The values that are asked for, by index; `None` for all.
    wanted: Option<Vec<bool>>,
    next: usize,
    walk: usize,
    /// The findings in the function around it so far.
    outer: A::Aside,
}

/// A function of the module, or one that was made for the walk.
enum FunctionRef<'m> {
    Module(&'m Function, FuncId),
    /// Not of the module, as the entry of a walk may be.
    Other(&'m Function),
    Made(Rc<Function>),
}

impl FunctionRef<'_> {
    fn get(&self) -> &Function {
        match self {
            Self::Module(function, _) | Self::Other(function) => function,
            Self::Made(function) => function,
        }
    }

    fn id(&self) -> Option<FuncId> {
        if let Self::Module(_, id) = self { Some(*id) } else { None }
    }
}

/// Runs an analysis over functions of a module, and remembers what it found of them.
pub(crate) struct Walk<'m, A: Forward> {
    module: Option<&'m Module>,
    registry: &'m Registry,
    pub(crate) analysis: A,
    summaries: FxHashMap<Key<A::Fact>, Rc<Summary<A>>>,
    walks: usize,
}

impl<'m, A: Forward> Walk<'m, A> {
    /// Over functions of a module; without one, no call is gone into.
    pub(crate) fn new(module: Option<&'m Module>, registry: &'m Registry, analysis: A) -> Self {
        Self { module, registry, analysis, summaries: FxHashMap::default(), walks: 0 }
    }

    /// Returns the facts about all values of a function, given those about its parameters. Only values that `wanted` marks are looked
    /// at.
    ///
    /// # Errors
    /// Those of the analysis, of a composite that cannot be decomposed, and that the work was cancelled.
    pub(crate) fn run(
        &mut self,
        function: &'m Function,
        params: &[A::Fact],
        wanted: Option<Vec<bool>>,
    ) -> Result<Vec<A::Fact>> {
        let first = self.frame(None, FunctionRef::Other(function), params, wanted);
        self.finish(first).map(|frame| frame.known)
    }

    /// The same for all values of the module's entry.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) fn run_entry(&mut self, module: &'m Module, params: &[A::Fact]) -> Result<Vec<A::Fact>> {
        let id = FuncId::new(module.functions.len() - 1);
        let first = self.frame(None, FunctionRef::Module(module.function(id), id), params, None);
        self.finish(first).map(|frame| frame.known)
    }

    /// Returns the facts about the results of an instruction, given those about its operands.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) fn apply(&mut self, function: &Function, inst: &Inst, args: &[A::Fact]) -> Result<Vec<A::Fact>> {
        let at = At { function, inst, position: 0, id: None, calls: &[], walk: self.walks };
        let Some(body) = self.analysis.body(&at) else { return self.analysis.apply(&at, args) };
        let key = (body, args.to_vec());
        if !self.summaries.contains_key(&key) {
            let frame = self.enter(key.clone())?;
            self.finish(frame)?;
        }
        Ok(self.known(&key).unwrap_or_default())
    }

    /// A function of the module.
    pub(crate) fn function(&self, id: FuncId) -> Option<&'m Function> {
        self.module.map(|module| module.function(id))
    }

    /// The facts about the results of a body that was walked over; its findings are added once more.
    fn known(&mut self, key: &Key<A::Fact>) -> Option<Vec<A::Fact>> {
        let summary = self.summaries.get(key)?.clone();
        self.analysis.add(&summary.aside);
        Some(summary.results.clone())
    }

    fn frame(
        &mut self,
        key: Option<Key<A::Fact>>,
        function: FunctionRef<'m>,
        params: &[A::Fact],
        wanted: Option<Vec<bool>>,
    ) -> Frame<'m, A> {
        let own = function.get();
        let mut known: Vec<A::Fact> = own.values.iter().map(|value| self.analysis.unknown(&value.ty)).collect();
        for (param, fact) in own.params.iter().zip(params) {
            known[param.value.index()] = fact.clone();
        }
        self.walks += 1;
        let outer = self.analysis.take();
        Frame { key, function, known, wanted, next: 0, walk: self.walks, outer }
    }

    /// The beginning of a walk over a body.
    fn enter(&mut self, key: Key<A::Fact>) -> Result<Frame<'m, A>> {
        let function = match (&key.0, self.module) {
            (Body::Function(id), Some(module)) => FunctionRef::Module(module.function(*id), *id),
            (Body::Function(_), None) => return Err(Diagnostic::bug("a call outside of a module")),
            (Body::Composite(composite, types), _) => {
                let types: Vec<&TensorType> = types.iter().collect();
                FunctionRef::Made(Rc::new(composite.decompose(self.registry, &types)?))
            }
        };
        let wanted = A::SKIPS_UNREAD.then(|| needed(function.get(), |_| true));
        let params = key.1.clone();
        Ok(self.frame(Some(key), function, &params, wanted))
    }

    /// Walks to the end of a function, over what it calls first.
    fn finish(&mut self, first: Frame<'m, A>) -> Result<Frame<'m, A>> {
        // Functions under way, each called by the one before it, and the places of these calls.
        let (mut open, mut calls) = (vec![first], Vec::new());
        loop {
            let Some(mut frame) = open.pop() else { return Err(Diagnostic::bug("a walk over no function")) };
            if let Some((key, call)) = self.advance(&mut frame, &calls)? {
                let inner = self.enter(key)?;
                open.extend([frame, inner]);
                calls.push(call);
                continue;
            }
            calls.pop();
            let aside = self.analysis.take();
            self.analysis.add(&frame.outer);
            match frame.key.take() {
                // It is added where the results are looked up.
                Some(key) => {
                    let values = frame.function.get().results.iter().map(|result| result.value.index());
                    let results = values.map(|value| frame.known[value].clone()).collect();
                    self.summaries.insert(key, Rc::new(Summary { results, aside }));
                }
                None => self.analysis.add(&aside),
            }
            if open.is_empty() {
                return Ok(frame);
            }
        }
    }

    /// Goes on, to the end or to a body that is to be walked over first, with the place of its call.
    fn advance(&mut self, frame: &mut Frame<'m, A>, calls: &[LocId]) -> Result<Option<(Key<A::Fact>, LocId)>> {
        let function = frame.function.get();
        let id = frame.function.id();
        while let Some(inst) = function.insts.get(frame.next) {
            check_cancelled()?;
            let is_wanted = |wanted: &Vec<bool>| inst.results.iter().any(|result| wanted[result.index()]);
            if frame.wanted.as_ref().is_none_or(is_wanted) {
                let args: Vec<A::Fact> = inst.args.iter().map(|arg| frame.known[arg.index()].clone()).collect();
                let at = At { function, inst, position: frame.next, id, calls, walk: frame.walk };
                let results = match self.analysis.body(&at) {
                    Some(body) => {
                        let key = (body, args);
                        match self.known(&key) {
                            Some(results) => results,
                            None => return Ok(Some((key, inst.loc))),
                        }
                    }
                    None => self.analysis.apply(&at, &args)?,
                };
                for (result, fact) in inst.results.iter().zip(results) {
                    frame.known[result.index()] = fact;
                }
            }
            frame.next += 1;
        }
        Ok(None)
    }
}

/// For each value, whether some of the results that `which` picks, by position, depend on it.
pub(crate) fn needed(function: &Function, which: impl Fn(usize) -> bool) -> Vec<bool> {
    let picked = function.results.iter().enumerate().filter(|(at, _)| which(*at));
    needed_values(function, picked.map(|(_, result)| result.value))
}

/// For each value, whether some of these depend on it.
pub(crate) fn needed_values(function: &Function, values: impl Iterator<Item = Value>) -> Vec<bool> {
    let mut needed = vec![false; function.values.len()];
    values.for_each(|value| needed[value.index()] = true);
    for inst in function.insts.iter().rev() {
        if inst.results.iter().any(|result| needed[result.index()]) {
            inst.args.iter().for_each(|arg| needed[arg.index()] = true);
        }
    }
    needed
}
