//! Writing what is padded.

use super::plan::{Padded, Plan};
use super::reads::{Fate, Widened, padded};
use crate::transform::packed::layout;
use halite_ir::ops::{BroadcastInDim, Constant, Direction};
use halite_ir::{Attr, Function, Inst, Module, Op, ParamRole, Registry, Rewriter, Value, Values, WeightInfo};
use halite_support::{Diagnostic, Result};
use halite_tensor::DType;
use rustc_hash::FxHashMap;

/// Rewrites the entry.
pub(super) fn apply(module: &mut Module, registry: &Registry, plan: &Plan) -> Result<()> {
    let source = module.functions.pop().ok_or_else(|| Diagnostic::bug("a module without an entry"))?;
    let b = Rewriter::without_params(module, registry, &source);
    Apply { b, source: &source, plan, wide: FxHashMap::default() }.function()
}

/// The entry under way.
struct Apply<'a> {
    b: Rewriter<'a>,
    source: &'a Function,
    plan: &'a Plan,
    /// For each value that is computed for padding too, the wider one. The value itself is cut out of that where something reads it.
    wide: FxHashMap<Value, Value>,
}

impl Apply<'_> {
    fn function(mut self) -> Result<()> {
        self.params()?;
        for (inst, fate) in self.source.insts.iter().zip(&self.plan.fates) {
            let outer = self.b.set_loc(inst.loc);
            self.inst(inst, fate)?;
            self.b.set_loc(outer);
        }
        for result in &self.source.results {
            self.cut(result.value)?;
        }
        self.b.finish(self.source)?;
        Ok(())
    }

    fn params(&mut self) -> Result<()> {
        for (at, param) in self.source.params.iter().enumerate() {
            let weight = self.plan.weights.iter().find(|weight| weight.param == at);
            let (Some(weight), ParamRole::Weight(info)) = (weight, &param.role) else {
                self.b.copy_param(self.source, param);
                continue;
            };
            let packing = Some(weight.packing.clone());
            let role = ParamRole::Weight(WeightInfo { packing, dims: None, ..info.clone() });
            let ty = self.source.ty(param.value).with_shape(weight.packing.shape()?);
            let stored = self.b.param(weight.name.clone(), ty, role);
            self.wide.insert(param.value, stored);
        }
        for weight in &self.plan.weights {
            let param = self.source.params[weight.param].value;
            let rows = self.rows(weight, self.wide[&param])?;
            self.wide.insert(param, rows);
        }
        Ok(())
    }

    /// A weight as the model has it, with its padding.
    fn rows(&mut self, weight: &Padded, stored: Value) -> Result<Value> {
        let [rows, copies] = layout(&weight.packing);
        let rows = self.b.composite("unpack", &[("dim", Attr::Int(0)), rows, copies], &[stored])?[0];
        if weight.packing.parts[0].transposed { self.b.transpose(rows, &[1, 0]) } else { Ok(rows) }
    }

    fn inst(&mut self, inst: &Inst, fate: &Fate) -> Result<()> {
        match fate {
            Fate::Plain => {
                inst.args.iter().try_for_each(|&arg| self.cut(arg))?;
                self.b.copy(self.source, inst)
            }
            Fate::Wide(widened) => self.widen(inst, widened),
            Fate::Rows => {
                let rows = self.source.ty(inst.args[1]).shape()[0];
                let ids = self.within(inst.args[0], rows)?;
                self.emit(inst, &[ids, self.wide[&inst.args[1]]])
            }
            Fate::Loss => {
                let classes = self.source.ty(inst.args[0]).shape().last().copied().unwrap_or(0);
                let logits = self.classes_only(self.wide[&inst.args[0]], classes)?;
                let labels = self.within(inst.args[1], classes)?;
                self.emit(inst, &[logits, labels])
            }
        }
    }

    /// Has a value without its padding where something reads it so.
    fn cut(&mut self, value: Value) -> Result<()> {
        if self.b.get(value).is_some() {
            return Ok(());
        }
        let (wide, dim) = (self.wide[&value], self.plan.wides[&value].dim);
        let size = self.source.ty(value).shape()[dim];
        let own = self.b.slice_dim(wide, dim, 0, size)?;
        self.b.replace(value, own);
        Ok(())
    }

    /// An instruction on other operands, with the results that it had.
    fn emit(&mut self, inst: &Inst, args: &[Value]) -> Result<()> {
        let results = self.b.emit_like(inst, args)?;
        self.b.keep_names(self.source, inst, &results);
        self.b.replace_all(inst, &results);
        Ok(())
    }

    /// An instruction computed for padding too.
    fn widen(&mut self, inst: &Inst, Widened { dim, padding, longer }: &Widened) -> Result<()> {
        let wide = match &inst.op {
            Op::BroadcastInDim(BroadcastInDim { dims, .. }) => {
                let ty = padded(self.source.ty(inst.results[0]), *dim, *padding);
                let x = self.wide[&inst.args[0]];
                self.b.broadcast_in_dim(x, dims, ty.shape().clone())?
            }
            _ => {
                let mut args = Values::new();
                for (at, &arg) in inst.args.iter().enumerate() {
                    let made = longer.iter().find(|(own, _)| *own == at);
                    args.push(match (self.wide.get(&arg), made) {
                        (Some(&wide), _) => wide,
                        (None, Some(&(_, dim))) => self.longer(arg, dim, *padding)?,
                        (None, None) => self.b.value(arg)?,
                    });
                }
                self.b.emit_like(inst, &args)?[0]
            }
        };
        self.b.keep_names(self.source, inst, &[wide]);
        self.wide.insert(inst.results[0], wide);
        Ok(())
    }

    /// A value that is the same all along a dimension, made longer along it.
    fn longer(&mut self, value: Value, dim: usize, padding: usize) -> Result<Value> {
        let ty = padded(self.source.ty(value), dim, padding);
        match self.source.def(value).map(|def| (&def.op, &def.args[..])) {
            Some((Op::Constant(constant), _)) => {
                self.b.emit(Constant { value: constant.value.clone(), shape: ty.shape().clone() }, &[])
            }
            Some((Op::BroadcastInDim(BroadcastInDim { dims, .. }), &[x])) => {
                let x = self.b.value(x)?;
                self.b.broadcast_in_dim(x, dims, ty.shape().clone())
            }
            _ => Err(Diagnostic::bug(format!("{value:?} is not the same all along {dim}"))),
        }
    }

    /// Positions clamped to those before the padding: one that is too large is taken for the last, as without padding.
    fn within(&mut self, positions: Value, count: usize) -> Result<Value> {
        let positions = self.b.value(positions)?;
        let last = self.b.splat_like(positions, count as f64 - 1.0)?;
        self.b.minimum(positions, last)
    }

    /// Logits that are minus infinity where there is no class.
    fn classes_only(&mut self, logits: Value, classes: usize) -> Result<Value> {
        let b = &mut self.b;
        let shape = b.shape(logits).clone();
        let last = shape.rank() - 1;
        let class = b.iota(DType::S32, [shape[last]], 0)?;
        let count = b.splat_like(class, classes as f64)?;
        let is_class = b.compare(class, count, Direction::Lt)?;
        let is_class = b.broadcast_in_dim(is_class, &[last], shape)?;
        let lowest = b.splat_like(logits, f64::NEG_INFINITY)?;
        b.select(is_class, logits, lowest)
    }
}
