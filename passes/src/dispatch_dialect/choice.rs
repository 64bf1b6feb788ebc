//! Which kernel takes a composite, and why others do not.

use super::twin::Twins;
use super::{NAME, is_candidate};
use crate::dialect::{DialectEntry, DialectRegistry, Kernel, Operand, Site};
use crate::pass::PassCx;
use crate::pattern::matches_pattern;
use crate::remark::Remark;
use halite_ir::{Builder, Composite, FuncId, Function, Inst, LocId, Module, Op, TensorType, Value, Values};
use halite_spec::{Dialect, Target};
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Result, codes};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What becomes of a composite on operands of certain types.
pub(super) enum Action {
    /// It stays.
    Keep,
    /// Its decomposition is written in its place, because kernels take composites in it.
    Open(Function),
    /// A kernel is called.
    Call(Kernel, FuncId),
}

/// An action and how it came about.
struct Decision {
    action: Action,
    verdicts: Vec<Verdict>,
}

/// What was decided on one entry.
struct Verdict {
    entry: &'static str,
    /// Why the entry does not take the composite.
    refusal: Option<String>,
}

/// Decides on composites and carries it out. Layers repeat composites on the same types, so each is decided once.
pub(super) struct Dispatcher<'a> {
    /// The entries by falling priority, and why one takes nothing at all.
    entries: Vec<(&'a DialectEntry, Option<String>)>,
    cx: PassCx<'a>,
    decisions: FxHashMap<(Composite, Vec<TensorType>), Arc<Decision>>,
    twins: Twins,
}

impl<'a> Dispatcher<'a> {
    /// A dispatcher that has decided nothing yet.
    ///
    /// # Errors
    /// When a pattern of the recipe matches no entry.
    pub(super) fn new(dialects: &'a DialectRegistry, cx: &PassCx<'a>) -> Result<Self> {
        let choice = cx.recipe.map(|recipe| &recipe.dialect).cloned().unwrap_or_default();
        check_patterns(dialects, &choice)?;
        let target = cx.recipe.map_or(Target::default(), |recipe| recipe.target);
        let entries = dialects.entries().iter();
        let mut entries: Vec<_> = entries.map(|entry| (entry, unused(entry, target, &choice))).collect();
        entries.sort_by_key(|(entry, _)| std::cmp::Reverse(entry.priority));
        Ok(Self { entries, cx: *cx, decisions: FxHashMap::default(), twins: Twins::default() })
    }

    /// Decides on an instruction and says why; whether it is to be rewritten.
    pub(super) fn plan(&mut self, module: &Module, function: &Function, inst: &Inst) -> Result<bool> {
        let Op::Composite(composite) = &inst.op else { return Ok(false) };
        if !is_candidate(inst) {
            for (entry, _) in self.entries.iter().filter(|(entry, _)| *composite.name == *entry.composite) {
                let reason = "it rounds stochastically, which a kernel does not state";
                self.cx.explain(|| Remark::missed(NAME, entry.name, reason).at(&module.locs, inst.loc));
            }
            return Ok(false);
        }
        let decision = self.decide(module, composite, types(function, &inst.args))?;
        self.explain(module, &decision, inst.loc);
        Ok(!matches!(decision.action, Action::Keep))
    }

    /// What was decided on an instruction.
    pub(super) fn action(&self, function: &Function, inst: &Inst) -> Option<&Action> {
        let Op::Composite(composite) = &inst.op else { return None };
        if !is_candidate(inst) {
            return None;
        }
        let key = (composite.clone(), types(function, &inst.args));
        self.decisions.get(&key).map(|decision| &decision.action)
    }

    /// The twins of the kernels, to be put before all functions.
    pub(super) fn take_twins(&mut self) -> Vec<Function> {
        self.twins.take()
    }

    fn decide(&mut self, module: &Module, composite: &Composite, args: Vec<TensorType>) -> Result<Arc<Decision>> {
        let key = (composite.clone(), args);
        if let Some(known) = self.decisions.get(&key) {
            return Ok(known.clone());
        }
        let (kernel, verdicts) = self.choose(composite, &key.1)?;
        let action = match kernel {
            Some((entry, kernel)) => {
                let twin = self.twins.find(module, self.cx.registry, entry, &kernel, composite, &key.1)?;
                Action::Call(kernel, twin)
            }
            None => self.open(module, composite, &key.1)?,
        };
        let decision = Arc::new(Decision { action, verdicts });
        self.decisions.insert(key, decision.clone());
        Ok(decision)
    }

    /// The first kernel that takes a composite, and what was found of each entry for it.
    #[allow(clippy::type_complexity, reason = "a kernel with its entry, and the verdicts")]
    fn choose(
        &self,
        composite: &Composite,
        args: &[TensorType],
    ) -> Result<(Option<(&'a DialectEntry, Kernel)>, Vec<Verdict>)> {
        let (core, args) = composite.core(self.cx.registry, &args.iter().collect::<Vec<_>>())?;
        let site = Site { attrs: &core.attrs, args: &args };
        let mut taken: Option<(&DialectEntry, Kernel)> = None;
        let mut verdicts = Vec::new();
        for (entry, unused) in self.entries.iter().filter(|(entry, _)| *composite.name == *entry.composite) {
            let fits = match (&taken, unused) {
                (_, Some(reason)) => Err(reason.clone()),
                (Some((first, _)), None) => Err(format!("`{}` comes first", first.name)),
                (None, None) => (entry.kernel)(&site),
            };
            let (kernel, refusal) = fits.map_or_else(|reason| (None, Some(reason)), |kernel| (Some(kernel), None));
            verdicts.push(Verdict { entry: entry.name, refusal });
            taken = taken.or(kernel.map(|kernel| (*entry, kernel)));
        }
        Ok((taken, verdicts))
    }

    /// Looks for composites inside a composite that kernels take.
    fn open(&mut self, module: &Module, composite: &Composite, args: &[TensorType]) -> Result<Action> {
        if self.entries.iter().all(|(_, unused)| unused.is_some()) {
            return Ok(Action::Keep);
        }
        let body = composite.decompose(self.cx.registry, &args.iter().collect::<Vec<_>>())?;
        let mut opens = false;
        for inst in body.insts.iter().filter(|inst| is_candidate(inst)) {
            if let Op::Composite(inner) = &inst.op {
                let inner = self.decide(module, inner, types(&body, &inst.args))?;
                opens |= !matches!(inner.action, Action::Keep);
            }
        }
        Ok(if opens { Action::Open(body) } else { Action::Keep })
    }

    fn explain(&self, module: &Module, decision: &Decision, loc: LocId) {
        for Verdict { entry, refusal } in &decision.verdicts {
            self.cx.explain(|| {
                let remark = match (refusal, &decision.action) {
                    (None, Action::Call(kernel, _)) => {
                        Remark::taken(NAME, *entry, format!("`{}` is called", kernel.target))
                    }
                    (reason, _) => Remark::missed(NAME, *entry, reason.clone().unwrap_or_default()),
                };
                remark.at(&module.locs, loc)
            });
        }
        let Action::Open(body) = &decision.action else { return };
        for inst in &body.insts {
            if let Op::Composite(inner) = &inst.op
                && let Some(inner) = self.decisions.get(&(inner.clone(), types(body, &inst.args)))
            {
                self.explain(module, inner, loc);
            }
        }
    }

    /// Writes what was decided on an op.
    pub(super) fn write(&self, b: &mut Builder<'_>, op: &Op, args: &[Value]) -> Result<Values> {
        let Op::Composite(composite) = op else { return b.emit_all(op.clone(), args) };
        let types = args.iter().map(|&arg| b.ty(arg).clone()).collect();
        let decision = self.decisions.get(&(composite.clone(), types)).cloned();
        match decision.as_ref().map(|decision| &decision.action) {
            None | Some(Action::Keep) => b.emit_all(op.clone(), args),
            Some(Action::Open(body)) => b.copy_body(body, args, |b, inst, args| match is_candidate(inst) {
                true => self.write(b, &inst.op, args),
                false => b.emit_like(inst, args),
            }),
            Some(Action::Call(kernel, twin)) => b.within_cast(composite, args, |b, args| call(b, kernel, *twin, args)),
        }
    }
}

fn types(function: &Function, args: &[Value]) -> Vec<TensorType> {
    args.iter().map(|&arg| function.ty(arg).clone()).collect()
}

/// A kernel on the operands of a composite.
fn call(b: &mut Builder<'_>, kernel: &Kernel, twin: FuncId, args: &[Value]) -> Result<Values> {
    let operand = |b: &mut Builder<'_>, operand: &Operand| match operand {
        Operand::Arg(index) => Ok(args[*index]),
        Operand::Scalar(value) => b.splat(b.dtype(args[0]), [], *value),
    };
    let operands = kernel.operands.iter().map(|of| operand(b, of)).collect::<Result<Values>>()?;
    let mut results = b.kernel_call(kernel.target, &kernel.config, twin, &operands)?;
    if let Some(factor) = kernel.factor {
        for result in &mut results {
            *result = b.multiply(args[factor], *result)?;
        }
    }
    Ok(results)
}

/// Why an entry takes nothing under a recipe.
fn unused(entry: &DialectEntry, target: Target, choice: &Dialect) -> Option<String> {
    let named = |patterns: &[String]| patterns.iter().any(|pattern| matches_pattern(pattern, entry.name));
    if !entry.targets.contains(&target) {
        Some(format!("the target is `{target}`"))
    } else if named(&choice.on) {
        None
    } else if named(&choice.off) {
        Some("the recipe turns it off".to_owned())
    } else if !entry.enabled {
        Some(format!("it is off unless the recipe turns it on: {}", entry.trust))
    } else {
        None
    }
}

/// A pattern that matches nothing would silently do nothing.
fn check_patterns(dialects: &DialectRegistry, choice: &Dialect) -> Result<()> {
    let names: Vec<&str> = dialects.entries().iter().map(|entry| entry.name).collect();
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
