//! `auto-diff`.

use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_ir::ops::Call;
use halite_ir::{
    Builder, Derivation, FuncId, Function, Inst, Module, Op, ParamRole, Phase, ResultRole, Rewriter, TensorType, Value,
    Values, Vjp, VjpCx,
};
use halite_support::{Diagnostic, Name, Result, codes};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Reverse-mode differentiation of the entry's objective by every weight that is not frozen.
///
/// The primal instructions are kept as they are, except that composites without a gradient of their own are replaced by
/// their decompositions. Then the instructions are walked backwards, each asked for the cotangents of its operands.
/// Cotangents that are zero are never materialised; instructions that no weight reaches are never visited. A call is
/// answered by a call of its derivative function, made once for each callee and set of wanted cotangents; that function
/// repeats the callee's primal part, which `inline` and `cse` merge with the first one.
///
/// ```text
/// func @main(%w: f32[] {weight}) -> (loss: f32[] {loss}) {
///   %y = exponential %w : f32[]
///   return %y
/// }
/// =>
/// func @main(%w: f32[] {weight}) -> (loss: f32[] {loss}, w: f32[] {gradient}) {
///   %y = exponential %w : f32[]
///   %seed = constant 1.0 : f32[]
///   %0 = multiply %seed, %y : f32[]
///   return %y, %0
/// }
/// ```
#[derive(Debug)]
pub(crate) struct AutoDiff;

impl Pass for AutoDiff {
    fn info(&self) -> PassInfo {
        PassInfo::new("auto-diff", "add the gradients of the objective by every trained weight", Relation::Extends)
            .required()
            .needs(Phase::Built..=Phase::Built)
            .gives(Phase::Differentiated)
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let entry = module.take_entry()?;
        let Some(loss) = entry.results.iter().position(|result| result.role == ResultRole::Loss) else {
            let message = format!("`@{}` has no result with the role `loss` to differentiate", entry.name);
            return Err(Diagnostic::error(codes::PIPELINE, message).help("mark the objective with `{loss}`"));
        };
        check_depth(module, &entry)?;
        let mut rewriter = Rewriter::new(module, cx.registry, &entry);
        copy_primal(&mut rewriter, &entry)?;
        let objective = rewriter.value(entry.results[loss].value)?;
        let ty = rewriter.ty(objective);
        if ty.rank() != 0 || !ty.dtype().is_float() {
            let message = format!("the objective is `{ty}`, which has no gradient");
            return Err(Diagnostic::error(codes::NOT_DIFFERENTIABLE, message).help("reduce it to a float scalar"));
        }
        let seed = rewriter.splat_like(objective, 1.0)?;
        rewriter.name_value(seed, "seed");
        let weights: Vec<(Name, Value)> = weights(&rewriter);
        check_names(&entry, &weights)?;
        let wanted: Vec<Value> = weights.iter().map(|(_, value)| *value).collect();
        let cotangents =
            Reverse::new(&rewriter, &wanted).run(&mut rewriter, &[(objective, seed)], &mut Memo::default())?;
        for result in &entry.results {
            let value = rewriter.value(result.value)?;
            rewriter.named_result(value, result.name.clone(), result.role.clone());
        }
        for ((name, weight), cotangent) in weights.into_iter().zip(cotangents) {
            let gradient = match cotangent {
                Some(gradient) => gradient,
                None => rewriter.splat_like(weight, 0.0)?,
            };
            rewriter.named_result(gradient, name.clone(), ResultRole::Gradient(name));
        }
        rewriter.into_builder().finish();
        Ok(Changed::Yes)
    }
}

/// How deep calls may nest: the derivative of a call is made while that of its caller is.
const MAX_DEPTH: usize = 64;

/// The most instructions of a module with its derivatives. A function has as many of these as there are sets of parameters
/// that somebody wants the gradient by.
const MAX_INSTS: usize = 1 << 20;

/// # Errors
/// When calls nest deeper than [`MAX_DEPTH`].
fn check_depth(module: &Module, entry: &Function) -> Result<()> {
    let mut depths: Vec<usize> = Vec::with_capacity(module.functions.len() + 1);
    for function in module.functions.iter().chain([entry]) {
        let callees = function.insts.iter().filter_map(|inst| inst.op.callee());
        depths.push(callees.map(|callee| depths[callee.index()] + 1).max().unwrap_or(0));
    }
    match depths.last() {
        Some(&depth) if depth > MAX_DEPTH => {
            let message =
                format!("calls of `@{}` nest {depth} deep, at most {MAX_DEPTH} are differentiated", entry.name);
            Err(Diagnostic::error(codes::LIMIT, message).help("run `inline` before `auto-diff`"))
        }
        _ => Ok(()),
    }
}

/// The weights among the parameters of the function being built that are trained.
fn weights(b: &Builder<'_>) -> Vec<(Name, Value)> {
    let trained = |param: &&halite_ir::Param| param.weight().is_some_and(|info| !info.frozen);
    b.function().params.iter().filter(trained).map(|param| (param.name.clone(), param.value)).collect()
}

/// A gradient is named after its weight, so that no other result may be.
fn check_names(entry: &Function, weights: &[(Name, Value)]) -> Result<()> {
    let taken: FxHashSet<&Name> = entry.results.iter().map(|result| &result.name).collect();
    let Some((name, _)) = weights.iter().find(|(name, _)| taken.contains(name)) else { return Ok(()) };
    let message = format!("the gradient of weight `{name}` needs its name, which a result of `@{}` has", entry.name);
    Err(Diagnostic::error(codes::DUPLICATE, message).help("rename the result, or the weight"))
}

/// Copies the instructions of `source`, replacing composites that have no gradient of their own.
fn copy_primal(rewriter: &mut Rewriter<'_>, source: &Function) -> Result<()> {
    for inst in &source.insts {
        if has_rule(rewriter, &inst.op)? {
            rewriter.copy(source, inst)?;
            continue;
        }
        let args = rewriter.values(&inst.args)?;
        let outer = rewriter.set_loc(inst.loc);
        let results = emit_primal(rewriter, inst, &args, &result_types(source, inst))?;
        rewriter.set_loc(outer);
        rewriter.replace_all(inst, &results);
    }
    Ok(())
}

/// Whether the op answers for its own gradient.
fn has_rule(b: &Builder<'_>, op: &Op) -> Result<bool> {
    match op {
        Op::Composite(composite) => Ok(b.registry().composite(&composite.name)?.vjp().is_some()),
        _ => Ok(true),
    }
}

fn emit_primal(b: &mut Builder<'_>, inst: &Inst, args: &[Value], types: &[TensorType]) -> Result<Values> {
    if has_rule(b, &inst.op)? {
        return b.emit_like(inst, args);
    }
    if inst.rounds_at_random() { b.round_apart(inst, args, types, decompose) } else { decompose(b, &inst.op, args) }
}

/// Writes a composite down to what has a gradient of its own.
fn decompose(b: &mut Builder<'_>, op: &Op, args: &[Value]) -> Result<Values> {
    let Op::Composite(composite) = op else { return b.emit_all(op.clone(), args) };
    let types: Vec<_> = args.iter().map(|&arg| b.ty(arg).clone()).collect();
    let body = composite.decompose(b.registry(), &types.iter().collect::<Vec<_>>())?;
    b.copy_body(&body, args, |b, inner, args| emit_primal(b, inner, args, &result_types(&body, inner)))
}

fn result_types(function: &Function, inst: &Inst) -> Vec<TensorType> {
    inst.results.iter().map(|&result| function.ty(result).clone()).collect()
}

/// Derivative functions already made.
#[derive(Default)]
struct Memo {
    known: FxHashMap<Derivative, FuncId>,
    /// The names of the functions of the module, once they are needed.
    names: FxHashSet<Name>,
    /// Instructions of the functions that derivatives were made of.
    insts: usize,
}

impl Memo {
    /// A name for a derivative.
    fn name(&mut self, module: &Module, callee: &str) -> Name {
        if self.names.is_empty() {
            self.names.extend(module.functions.iter().map(|function| function.name.clone()));
        }
        let name = Name::unused(&format!("{callee}.vjp"), |name| self.names.contains(name));
        self.names.insert(name.clone());
        name
    }
}

/// Which derivative of which function: of the results with a cotangent, by the wanted parameters.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Derivative {
    callee: FuncId,
    present: SmallVec<[bool; 4]>,
    wanted: SmallVec<[bool; 4]>,
}

/// The backward walk over the instructions of the function being built.
struct Reverse {
    wanted: Vec<Value>,
    /// For each primal value, whether it depends on a wanted one through floats.
    useful: Vec<bool>,
    /// Number of primal instructions.
    primal: usize,
}

impl Reverse {
    fn new(b: &Builder<'_>, wanted: &[Value]) -> Self {
        let function = b.function();
        let mut useful = vec![false; function.values.len()];
        for &value in wanted {
            useful[value.index()] = function.ty(value).dtype().is_float();
        }
        for inst in &function.insts {
            if inst.args.iter().any(|arg| useful[arg.index()]) {
                for &result in &inst.results {
                    useful[result.index()] = function.ty(result).dtype().is_float();
                }
            }
        }
        Self { wanted: wanted.to_vec(), useful, primal: function.insts.len() }
    }

    /// The cotangents of the wanted values, given those of some others.
    fn run(self, b: &mut Builder<'_>, seeds: &[(Value, Value)], memo: &mut Memo) -> Result<Vec<Option<Value>>> {
        let mut cotangents: Vec<Option<Value>> = vec![None; self.useful.len()];
        for &(value, seed) in seeds {
            accumulate(b, &mut cotangents[value.index()], seed)?;
        }
        for position in (0..self.primal).rev() {
            let inst = &b.function().insts[position];
            let reached = inst.results.iter().any(|result| cotangents[result.index()].is_some());
            if !reached || !inst.args.iter().any(|arg| self.useful[arg.index()]) {
                continue;
            }
            let inst = inst.clone();
            let outer = b.enter_derived(Derivation::Vjp, inst.loc);
            self.step(b, &inst, &mut cotangents, memo)?;
            b.set_loc(outer);
        }
        Ok(self.wanted.iter().map(|value| cotangents[value.index()]).collect())
    }

    /// Adds the cotangents that one instruction sends to its operands.
    fn step(&self, b: &mut Builder<'_>, inst: &Inst, all: &mut [Option<Value>], memo: &mut Memo) -> Result<()> {
        let cts: SmallVec<[Option<Value>; 4]> = inst.results.iter().map(|result| all[result.index()]).collect();
        let wanted: SmallVec<[bool; 4]> = inst.args.iter().map(|arg| self.useful[arg.index()]).collect();
        let answer = match &inst.op {
            Op::Call(call) => call_vjp(b, call, inst, &cts, &wanted, memo)?,
            op => {
                let cx = VjpCx { args: &inst.args, results: &inst.results, cts: &cts, wanted: &wanted };
                op.def().vjp(b, &cx)?
            }
        };
        let sent = match answer {
            Vjp::Cotangents(sent) => sent,
            Vjp::None(reason) => {
                let message = format!("the objective depends on a weight through `{}`: {reason}", inst.op.name());
                let span = b.module().locs.span(inst.loc);
                return Err(Diagnostic::error(codes::NOT_DIFFERENTIABLE, message).or_at(span, "no derivative here"));
            }
        };
        check_types(b, inst, &sent)?;
        for ((&arg, ct), wanted) in inst.args.iter().zip(sent).zip(wanted) {
            if let (Some(ct), true) = (ct, wanted) {
                accumulate(b, &mut all[arg.index()], ct)?;
            }
        }
        Ok(())
    }
}

fn accumulate(b: &mut Builder<'_>, sum: &mut Option<Value>, term: Value) -> Result<()> {
    *sum = Some(match *sum {
        Some(sum) => b.composite("add_any", &[], &[sum, term])?[0],
        None => term,
    });
    Ok(())
}

/// Each cotangent has the type of its operand.
fn check_types(b: &Builder<'_>, inst: &Inst, sent: &[Option<Value>]) -> Result<()> {
    let name = inst.op.name();
    if sent.len() != inst.args.len() {
        let message = format!("the gradient of `{name}` answers {} operands of {}", sent.len(), inst.args.len());
        return Err(Diagnostic::bug(format!("internal error: auto-diff: {message}")));
    }
    for (position, (&arg, ct)) in inst.args.iter().zip(sent).enumerate() {
        if let Some(ct) = *ct
            && b.ty(ct) != b.ty(arg)
        {
            let (found, expected) = (b.ty(ct), b.ty(arg));
            let message = format!("the gradient of `{name}` by operand {position} is `{found}`, expected `{expected}`");
            return Err(Diagnostic::bug(format!("internal error: auto-diff: {message}")));
        }
    }
    Ok(())
}

/// The cotangents of a call: a call of the callee's derivative function.
fn call_vjp(
    b: &mut Builder<'_>,
    call: &Call,
    inst: &Inst,
    cts: &[Option<Value>],
    wanted: &[bool],
    memo: &mut Memo,
) -> Result<Vjp> {
    let present = cts.iter().map(Option::is_some).collect();
    let key = Derivative { callee: call.callee, present, wanted: wanted.into() };
    let derivative = match memo.known.get(&key) {
        Some(&known) => known,
        None => {
            let made = derivative_function(b, &key, memo)?;
            memo.known.insert(key, made);
            made
        }
    };
    let args: Vec<Value> = inst.args.iter().copied().chain(cts.iter().copied().flatten()).collect();
    let mut results = b.emit_all(Call { callee: derivative }, &args)?.into_iter();
    Ok(Vjp::of(wanted.iter().map(|&wanted| if wanted { results.next() } else { None })))
}

/// Makes `@f.vjp(args, cotangents) -> cotangents of the wanted args`.
fn derivative_function(b: &mut Builder<'_>, key: &Derivative, memo: &mut Memo) -> Result<FuncId> {
    let callee = b.module().function(key.callee).clone();
    memo.insts += callee.insts.len();
    if memo.insts > MAX_INSTS {
        let message =
            format!("the derivatives of `@{}` and others take more than {MAX_INSTS} instructions", callee.name);
        return Err(Diagnostic::error(codes::LIMIT, message).help("run `inline` before `auto-diff`"));
    }
    let name = memo.name(b.module(), &callee.name);
    let mut b = b.nested(name);
    let mut args = Vec::with_capacity(callee.params.len());
    for param in &callee.params {
        args.push(b.param(param.name.clone(), callee.ty(param.value).clone(), ParamRole::Argument));
    }
    let mut cts = Vec::new();
    for (index, result) in callee.results.iter().enumerate().filter(|(index, _)| key.present[*index]) {
        cts.push(b.param(format!("ct.{index}"), callee.ty(result.value).clone(), ParamRole::Argument));
    }
    let results = b.copy_body(&callee, &args, |b, inner, args| {
        let outer = b.set_loc(inner.loc);
        let results = emit_primal(b, inner, args, &result_types(&callee, inner));
        b.set_loc(outer);
        results
    })?;
    let wanted: Vec<Value> = args.iter().zip(&key.wanted).filter(|(_, wanted)| **wanted).map(|(&arg, _)| arg).collect();
    let present = results.iter().zip(&key.present).filter(|(_, present)| **present).map(|(&result, _)| result);
    let seeds: Vec<(Value, Value)> = present.zip(cts).collect();
    let cotangents = Reverse::new(&b, &wanted).run(&mut b, &seeds, memo)?;
    for (cotangent, arg) in cotangents.into_iter().zip(wanted) {
        let value = match cotangent {
            Some(value) => value,
            None => b.splat_like(arg, 0.0)?,
        };
        b.result(value);
    }
    Ok(b.finish())
}
