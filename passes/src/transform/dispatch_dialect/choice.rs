//! The choice of a kernel for an op, and the reasons why others do not take it.

use super::decomposition::Decompositions;
use super::{NAME, core_of};
use crate::framework::dialect::{DialectEntry, KernelUse, Operand, Site};
use crate::framework::pass::PassCx;
use crate::framework::pattern::matches_pattern;
use crate::framework::remark::Remark;
use halite_ir::{Builder, FuncId, Function, Inst, LocId, LocKind, Module, Op, TensorType, Value, Values};
use halite_recipe::{Dialect, TargetName};
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Name, Result, codes};
use halite_tensor::DType;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The action on an op with operands of certain types.
pub(super) enum Action {
    /// It stays.
    Keep,
    /// Its decomposition is written in its place, because kernels take composites in it.
    Open(Function),
    /// A kernel is called, by the name that the target knows.
    Call(Name, KernelUse, FuncId),
}

/// An action, and the verdicts that led to it.
struct Decision {
    action: Action,
    verdicts: Vec<Verdict>,
}

/// The verdict on one entry.
struct Verdict {
    entry: Name,
    /// Why the entry does not take the op.
    refusal: Option<String>,
}

/// Decides on ops and carries it out. Layers repeat ops on the same types, so each is decided once.
pub(super) struct Dispatcher<'a> {
    /// The entries by falling priority, and why one takes nothing at all.
    entries: Vec<(&'a DialectEntry, Option<String>)>,
    cx: PassCx<'a>,
    decisions: FxHashMap<(Op, Vec<TensorType>), Arc<Decision>>,
    decompositions: Decompositions,
}

impl<'a> Dispatcher<'a> {
    /// A dispatcher that has decided nothing yet.
    ///
    /// # Errors
    /// When a pattern of the recipe matches no entry.
    pub(super) fn new(cx: &PassCx<'a>) -> Result<Self> {
        let choice = cx.recipe.map(|recipe| &recipe.dialect).cloned().unwrap_or_default();
        let kernels = cx.target.kernels;
        check_patterns(kernels, &choice)?;
        let target = cx.recipe.map(|recipe| recipe.target.clone()).unwrap_or_default();
        let entries = kernels.iter();
        let mut entries: Vec<_> = entries.map(|entry| (entry, unused(entry, &target, &choice))).collect();
        entries.sort_by_key(|(entry, _)| std::cmp::Reverse(entry.priority));
        Ok(Self { entries, cx: *cx, decisions: FxHashMap::default(), decompositions: Decompositions::default() })
    }

    /// Decides on an instruction and says why; whether it is to be rewritten.
    pub(super) fn plan(&mut self, module: &Module, function: FuncId, inst: &Inst) -> Result<bool> {
        if !self.concerns(&inst.op) {
            return Ok(false);
        }
        if inst.rounds_at_random() {
            for (entry, _) in self.entries_of(&inst.op) {
                let reason = "it rounds stochastically, which a kernel does not state";
                self.cx.explain(|| Remark::missed(NAME, &*entry.name, reason).at(module, function, inst.loc));
            }
            return Ok(false);
        }
        let decision = self.decide(module, &inst.op, types(module.function(function), &inst.args))?;
        self.explain(module, &decision, function, inst.loc);
        Ok(!matches!(decision.action, Action::Keep))
    }

    /// The action that was decided for an instruction.
    pub(super) fn action(&self, function: &Function, inst: &Inst) -> Option<&Action> {
        if !self.is_candidate(inst) {
            return None;
        }
        let key = (inst.op.clone(), types(function, &inst.args));
        self.decisions.get(&key).map(|decision| &decision.action)
    }

    /// Whether a kernel could stand for an op or for something in it.
    fn concerns(&self, op: &Op) -> bool {
        matches!(op, Op::Composite(_)) || self.entries_of(op).next().is_some()
    }

    /// Whether a kernel could stand for an instruction or for something in it: it rounds to nearest.
    fn is_candidate(&self, inst: &Inst) -> bool {
        self.concerns(&inst.op) && !inst.rounds_at_random()
    }

    /// The entries for an op by falling priority.
    fn entries_of(&self, op: &Op) -> impl Iterator<Item = &(&'a DialectEntry, Option<String>)> {
        let name = op.name();
        self.entries.iter().filter(move |(entry, _)| &*entry.op == name)
    }

    /// The decompositions of the kernels, to be put before all functions.
    pub(super) fn take_decompositions(&mut self) -> Vec<Function> {
        self.decompositions.take()
    }

    fn decide(&mut self, module: &Module, op: &Op, args: Vec<TensorType>) -> Result<Arc<Decision>> {
        let key = (op.clone(), args);
        if let Some(known) = self.decisions.get(&key) {
            return Ok(known.clone());
        }
        let (kernel, verdicts) = self.choose(op, &key.1)?;
        let action = match kernel {
            Some((entry, kernel)) => {
                let decomposition = self.decompositions.find(module, self.cx.registry, entry, &kernel, op, &key.1)?;
                Action::Call(entry.kernel.clone(), kernel, decomposition)
            }
            None => self.open(module, op, &key.1)?,
        };
        let decision = Arc::new(Decision { action, verdicts });
        self.decisions.insert(key, decision.clone());
        Ok(decision)
    }

    /// The first kernel that takes an op, and what was found of each entry for it.
    #[allow(clippy::type_complexity, reason = "a kernel with its entry, and the verdicts")]
    fn choose(&self, op: &Op, args: &[TensorType]) -> Result<(Option<(&'a DialectEntry, KernelUse)>, Vec<Verdict>)> {
        let (core, args) = core_of(op, self.cx.registry, args)?;
        let site = Site::new(&core, &args);
        let mut taken: Option<(&DialectEntry, KernelUse)> = None;
        let mut verdicts = Vec::new();
        for (entry, unused) in self.entries_of(op) {
            let fits = match (&taken, unused) {
                (_, Some(reason)) => Err(reason.clone()),
                (Some((first, _)), None) => Err(format!("`{}` comes first", first.name)),
                (None, None) => entry.call(&site),
            };
            let (kernel, refusal) = fits.map_or_else(|reason| (None, Some(reason)), |kernel| (Some(kernel), None));
            verdicts.push(Verdict { entry: entry.name.clone(), refusal });
            taken = taken.or(kernel.map(|kernel| (*entry, kernel)));
        }
        Ok((taken, verdicts))
    }

    /// Looks for ops inside a composite that kernels take.
    fn open(&mut self, module: &Module, op: &Op, args: &[TensorType]) -> Result<Action> {
        let Op::Composite(composite) = op else { return Ok(Action::Keep) };
        if self.entries.iter().all(|(_, unused)| unused.is_some()) {
            return Ok(Action::Keep);
        }
        let body = composite.decompose(self.cx.registry, &args.iter().collect::<Vec<_>>())?;
        let mut opens = false;
        for inst in &body.insts {
            if self.is_candidate(inst) {
                let inner = self.decide(module, &inst.op, types(&body, &inst.args))?;
                opens |= !matches!(inner.action, Action::Keep);
            }
        }
        Ok(if opens { Action::Open(body) } else { Action::Keep })
    }

    fn explain(&self, module: &Module, decision: &Decision, function: FuncId, loc: LocId) {
        for Verdict { entry, refusal } in &decision.verdicts {
            self.cx.explain(|| {
                let remark = match (refusal, &decision.action) {
                    (None, Action::Call(kernel, ..)) => Remark::taken(NAME, &**entry, format!("`{kernel}` is called")),
                    (reason, _) => Remark::missed(NAME, &**entry, reason.clone().unwrap_or_default()),
                };
                remark.at(module, function, loc)
            });
        }
        let Action::Open(body) = &decision.action else { return };
        for inst in &body.insts {
            if self.concerns(&inst.op)
                && let Some(inner) = self.decisions.get(&(inst.op.clone(), types(body, &inst.args)))
            {
                self.explain(module, inner, function, loc);
            }
        }
    }

    /// Writes what was decided on an op.
    pub(super) fn write(&self, b: &mut Builder<'_>, op: &Op, args: &[Value]) -> Result<Values> {
        let types = args.iter().map(|&arg| b.ty(arg).clone()).collect();
        let decision = self.decisions.get(&(op.clone(), types)).cloned();
        let outer = match (op, &decision) {
            (Op::Composite(composite), Some(decision)) if !matches!(decision.action, Action::Keep) => {
                b.enter(LocKind::Composite(composite.name.clone()))
            }
            _ => b.loc(),
        };
        let results = match decision.as_ref().map(|decision| &decision.action) {
            None | Some(Action::Keep) => b.emit_all(op.clone(), args),
            Some(Action::Open(body)) => b.copy_body(body, args, |b, inst, args| match self.is_candidate(inst) {
                true => self.write(b, &inst.op, args),
                false => b.emit_like(inst, args),
            }),
            Some(Action::Call(name, kernel, decomposition)) => match op {
                Op::Composite(composite) => {
                    b.within_cast(composite, args, |b, args| call(b, (name, kernel), *decomposition, args))
                }
                _ => call(b, (name, kernel), *decomposition, args),
            },
        };
        b.set_loc(outer);
        results
    }
}

fn types(function: &Function, args: &[Value]) -> Vec<TensorType> {
    args.iter().map(|&arg| function.ty(arg).clone()).collect()
}

/// A kernel on the operands of an op.
fn call(
    b: &mut Builder<'_>,
    (name, kernel): (&str, &KernelUse),
    decomposition: FuncId,
    args: &[Value],
) -> Result<Values> {
    let operand = |b: &mut Builder<'_>, operand: &Operand| match operand {
        Operand::Arg(index) => Ok(args[*index]),
        Operand::Scalar(value) => {
            let dtype = Operand::scalar_dtype(args.first().map(|&arg| b.ty(arg)));
            b.splat(dtype, [], *value)
        }
    };
    let operands = kernel.operands.iter().map(|of| operand(b, of)).collect::<Result<Values>>()?;
    let mut results = b.kernel_call(name, &kernel.config, decomposition, &operands)?;
    if let Some(factor) = kernel.factor {
        for result in &mut results {
            *result = b.multiply(args[factor], *result)?;
        }
    }
    for result in &mut results {
        if kernel.unsigned && b.dtype(*result) == DType::U32 {
            *result = b.convert(*result, DType::S32)?;
        }
    }
    Ok(results)
}

/// Why an entry takes nothing under a recipe.
fn unused(entry: &DialectEntry, target: &TargetName, choice: &Dialect) -> Option<String> {
    let named = |patterns: &[String]| patterns.iter().any(|pattern| matches_pattern(pattern, &entry.name));
    if !entry.is_for(target) {
        Some(format!("the target is `{target}`"))
    } else if named(&choice.on) {
        None
    } else if named(&choice.off) {
        Some("the recipe turns it off".to_owned())
    } else if !entry.enabled {
        Some(format!("it is off unless the recipe turns it on: {}", entry.known))
    } else {
        None
    }
}

/// A pattern that matches nothing would silently do nothing.
fn check_patterns(kernels: &[DialectEntry], choice: &Dialect) -> Result<()> {
    let names: Vec<&str> = kernels.iter().map(|entry| &*entry.name).collect();
    for (key, patterns) in [("off", &choice.off), ("on", &choice.on)] {
        let matches = |pattern: &String| names.iter().any(|name| matches_pattern(pattern, name));
        if let Some((index, pattern)) = patterns.iter().enumerate().find(|(_, pattern)| !matches(pattern)) {
            let message = format!("the pattern `{pattern}` of `dialect.{key}` matches no kernel");
            return Err(Diagnostic::error(codes::PATTERN, message)
                .key(format!("dialect.{key}.{index}"))
                .help(suggestion(pattern, &names)));
        }
    }
    Ok(())
}
