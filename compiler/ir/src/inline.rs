//! Writing the bodies of functions in the place of calls.

use crate::build::Builder;
use crate::edge::Edge;
use crate::infer::InferCx;
use crate::loc::LocId;
use crate::registry::Registry;
use crate::rewrite::{Rewriter, rewrite_planned};
use crate::syntax::{FuncId, Function, Inst, Module, Value, Values};
use halite_support::{Diagnostic, Result};

/// Replaces calls of the functions that `written` marks by their bodies, in the functions that `within` marks; both have a
/// mark for each function of the module, which keeps all of them. Whether anything was replaced.
///
/// # Errors
/// None but bugs: a verified module stays one.
pub fn inline_calls(module: &mut Module, registry: &Registry, written: &[bool], within: &[bool]) -> Result<bool> {
    let callees = module.functions.clone();
    let mut within = within.iter();
    let plan = |_: InferCx<'_>, function: &Function| {
        let within = within.next() == Some(&true);
        (within && function.insts.iter().any(|inst| replaced(written, inst).is_some())).then_some(())
    };
    rewrite_planned(module, registry, plan, |rewriter, source, ()| {
        for inst in &source.insts {
            let Some(call) = replaced(written, inst) else {
                rewriter.copy(source, inst)?;
                continue;
            };
            let args = rewriter.values(&inst.args)?;
            let results = write_body(rewriter, &callees, written, call.callee, &args, inst.loc)?;
            rewriter.replace_all(inst, &results);
        }
        Ok(())
    })
}

/// Replaces all calls in the entry by the bodies of what they call. Whether there were any.
///
/// # Errors
/// As [`inline_calls`].
pub fn inline_into_entry(module: &mut Module, registry: &Registry) -> Result<bool> {
    let count = module.functions.len();
    let entry: Vec<bool> = (1..=count).map(|number| number == count).collect();
    inline_calls(module, registry, &vec![true; count], &entry)
}

/// The call that an instruction is, if it is to be replaced.
fn replaced<'i>(written: &[bool], inst: &'i Inst) -> Option<Edge<'i>> {
    inst.call().filter(|edge| written.get(edge.callee.index()) == Some(&true))
}

impl Builder<'_> {
    /// Emits an instruction of a callee in the place of a call at `site`, where `args` stand for its operands.
    ///
    /// # Errors
    /// When the operands do not fit.
    pub fn emit_inlined(&mut self, callee: &Function, inst: &Inst, args: &[Value], site: LocId) -> Result<Values> {
        let outer = self.enter_call(inst.loc, site);
        let results = self.emit_like(inst, args)?;
        self.set_loc(outer);
        for (&old, &new) in inst.results.iter().zip(&results) {
            if let Some(hint) = &callee.values[old.index()].hint {
                self.name_value(new, hint.clone());
            }
        }
        Ok(results)
    }
}

/// A call that is being replaced.
struct Frame<'f> {
    callee: &'f Function,
    /// The next instruction of the callee.
    next: usize,
    /// The replacements of its values so far.
    map: Vec<Option<Value>>,
    /// The location of the call.
    site: LocId,
}

impl<'f> Frame<'f> {
    fn new(callee: &'f Function, args: &[Value], site: LocId) -> Self {
        let mut map = vec![None; callee.values.len()];
        for (param, &arg) in callee.params.iter().zip(args) {
            map[param.value.index()] = Some(arg);
        }
        Self { callee, next: 0, map, site }
    }

    fn values(&self, values: impl IntoIterator<Item = Value>) -> Result<Values> {
        let undefined = |value| Diagnostic::bug(format!("{value:?} of `@{}` is not defined", self.callee.name));
        values.into_iter().map(|value| self.map[value.index()].ok_or_else(|| undefined(value))).collect()
    }

    fn define(&mut self, old: &[Value], new: &[Value]) {
        for (&old, &new) in old.iter().zip(new) {
            self.map[old.index()] = Some(new);
        }
    }
}

/// Writes the body of a callee, and in it those of what it calls, however deep: calls under way stand in a list.
fn write_body(
    b: &mut Rewriter<'_>,
    callees: &[Function],
    written: &[bool],
    callee: FuncId,
    args: &[Value],
    site: LocId,
) -> Result<Values> {
    let mut open: Vec<Frame<'_>> = Vec::new();
    let mut frame = Frame::new(&callees[callee.index()], args, site);
    loop {
        let callee = frame.callee;
        let Some(inst) = callee.insts.get(frame.next) else {
            let results = frame.values(callee.results.iter().map(|result| result.value))?;
            let Some(caller) = open.pop() else { return Ok(results) };
            frame = caller;
            frame.define(&frame.callee.insts[frame.next - 1].results, &results);
            continue;
        };
        frame.next += 1;
        let args = frame.values(inst.args.iter().copied())?;
        if let Some(call) = replaced(written, inst) {
            let outer = b.enter_call(inst.loc, frame.site);
            let inner = Frame::new(&callees[call.callee.index()], &args, b.set_loc(outer));
            open.push(std::mem::replace(&mut frame, inner));
        } else {
            let results = b.emit_inlined(callee, inst, &args, frame.site)?;
            frame.define(&inst.results, &results);
        }
    }
}
