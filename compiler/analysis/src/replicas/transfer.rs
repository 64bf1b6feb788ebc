//! The transfer of states from the operands of an instruction to its results.

use super::bonds::Bonds;
use super::counted::counted;
use super::exchange::{Exchange, Fault, resized};
use super::factors::Application;
use super::free::{self, Free};
use super::groups::{sub_axes_in_any_order, sub_axes_of};
use super::held::Held;
use super::moves::Moves;
use super::per_rank::PerRank;
use super::state::{Cause, Part, Reading, State, Why, pruned};
use super::{indexed, movement, numbers, slices, twice};
use halite_ir::ops::{Reduction, Slice};
use halite_ir::{FuncId, Function, Inst, Linear, Op, TensorType, composites};
use halite_tensor::{DType, Mesh, SubAxisId};
use std::rc::Rc;

/// An instruction with the states of its operands.
pub(super) struct Transfer<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) function: &'a Function,
    pub(super) inst: &'a Inst,
    pub(super) args: &'a [State],
    pub(super) moves: Moves,
    pub(super) bonds: &'a Bonds,
    /// The number of this walk over the function.
    pub(super) walk: usize,
}

impl Transfer<'_> {
    /// Returns the state of each result, and the fault of a collective.
    pub(super) fn run(&self) -> (Vec<State>, Option<Fault>) {
        let (mut states, fault) = match &self.inst.op {
            Op::AllReduce(_) | Op::ReduceScatter(_) | Op::AllGather(_) | Op::AllToAll(_) => self.exchange(),
            Op::CollectivePermute(_) => (vec![self.permuted()], None),
            Op::OptimizationBarrier(_) => (self.args.to_vec(), None),
            // From one stage to another a value stays what it is: rank by rank.
            op if composites::Transfer::ends(op).is_some() => (self.args.to_vec(), None),
            Op::Reshape(_) => (vec![self.reshaped()], None),
            Op::DynamicSlice(_) => (vec![self.sliced()], None),
            Op::Slice(op) => (vec![self.stepped(op).unwrap_or_else(|| self.plain().swap_remove(0))], None),
            Op::Take(op) => (vec![self.taken(op.dim)], None),
            Op::TakeAlongAxis(op) => (vec![self.taken(op.dim)], None),
            Op::TakeGrad(op) => (vec![self.added(op.dim)], None),
            Op::TakeAlongAxisGrad(op) => (vec![self.added(op.dim)], None),
            Op::Select(_) => (vec![self.selected()], None),
            Op::Multiply(_) => (vec![self.multiplied()], None),
            Op::KernelCall(kernel) => (self.of_kernel(kernel.decomposition), None),
            _ => (self.plain(), None),
        };
        if let [state] = &mut states[..] {
            self.describe(state);
        }
        (states, fault)
    }

    fn cause(&self) -> Cause {
        Cause(self.inst.loc)
    }

    fn ty(&self, at: usize) -> &TensorType {
        self.function.ty(self.inst.args[at])
    }

    fn result(&self) -> &TensorType {
        self.function.ty(self.inst.results[0])
    }

    /// Adds what numbers and masks say.
    fn describe(&self, state: &mut State) {
        let number = numbers::number(self.mesh, self.function, self.inst, self.args, self.walk);
        if let Some(reading) = number.as_ref().and_then(|number| counted(number, self.mesh, self.cause())) {
            // Of shards that lie where they did some ranks hold the same, as where a number is what is left when another divides it.
            let known =
                state.readings.iter().filter(|reading| reading.parts.is_empty() && !self.args.is_empty()).cloned();
            state.readings = pruned([reading].into_iter().chain(known)).into();
        }
        if number.as_ref().is_some_and(|number| number.of_ranks().is_some()) {
            state.free = Rc::new(free::all(self.result().shape()));
        }
        state.number = number.map(Rc::new);
        state.mask = numbers::mask(self.mesh, self.function, self.inst, self.args, self.walk).map(Rc::new);
        state.list = numbers::list(self.inst);
        let first = self.args.first().is_some_and(|first| first.zero);
        state.zero = match &self.inst.op {
            Op::Constant(constant) => constant.splat_value() == Some(0.0),
            Op::BroadcastInDim(_) | Op::Convert(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Slice(_) => first,
            Op::AllReduce(_) | Op::AllGather(_) | Op::ReduceScatter(_) | Op::DynamicSlice(_) => first,
            Op::Add(_) | Op::Subtract(_) => first && self.args[1].zero,
            _ => false,
        };
    }

    fn application(&self) -> Application<'_> {
        let types = |values: &[halite_ir::Value]| -> Vec<TensorType> {
            values.iter().map(|&value| self.function.ty(value).clone()).collect()
        };
        let (args, results) = (types(&self.inst.args), types(&self.inst.results));
        let def = self.inst.op.def();
        Application {
            mesh: self.mesh,
            op: &self.inst.op,
            map: def.dims(&args.iter().collect::<Vec<_>>(), &results),
            linear: self.linear().unwrap_or_else(|| def.linear(&args, &results)),
            args: self.args,
            moves: self.moves,
            bonds: self.bonds,
            cause: self.cause(),
        }
    }

    /// A conversion of terms gives terms: rounded, each by itself, as recipes and programs of others ask for where less is to travel.
    /// How exact a sum then is, is no question of who holds what.
    fn linear(&self) -> Option<Linear> {
        let Op::Convert(convert) = &self.inst.op else { return None };
        let (from, to) = (self.ty(0).dtype(), convert.dtype);
        let counts = |dtype: DType| dtype.is_float() || dtype.is_int();
        (counts(from) && counts(to) && (to.is_float() || from.is_int())).then_some(Linear::Jointly)
    }

    fn readings(&self) -> Vec<Vec<Reading>> {
        self.args.iter().map(|state| state.readings.to_vec()).collect()
    }

    fn plain(&self) -> Vec<State> {
        let application = self.application();
        let free = match &self.inst.op {
            Op::Constant(constant) if constant.is_splat() => vec![free::all(&constant.shape)],
            Op::Iota(iota) => {
                let mut free = free::all(iota.ty.shape());
                free[iota.dim].clear();
                vec![free]
            }
            Op::RngBitGenerator(_) => application.nothing_free(),
            _ => application.free(),
        };
        let readings = application.readings(&self.readings());
        readings.into_iter().zip(free).map(|(readings, free)| State::new(readings, free)).collect()
    }

    /// The only result, given other readings of the operands.
    fn of(&self, operands: &[Vec<Reading>]) -> (Vec<Reading>, Free) {
        let application = self.application();
        (application.readings(operands).swap_remove(0), application.free().swap_remove(0))
    }

    /// The states of a kernel's results. Its body is not looked into: results are the same on ranks whose operands are the same.
    fn of_kernel(&self, kernel: FuncId) -> Vec<State> {
        let mut reading = Reading::default();
        for sub_axis in 0..self.mesh.sub_axes().len() {
            let mut given = self.args.iter().flat_map(|state| state.readings.iter());
            let part = given.find(|given| !given.is_same_along(sub_axis)).map(|given| match given.part(sub_axis) {
                Some((_, Part::Varying(why), cause)) => (Part::Varying(*why), *cause),
                _ => (Part::Varying(Why::Kernel(kernel)), self.cause()),
            });
            reading.set(sub_axis, part);
        }
        let state = |&result| State::new([reading.clone()], free::none(self.function.ty(result).rank()));
        self.inst.results.iter().map(state).collect()
    }

    fn reshaped(&self) -> State {
        let (from, to) = (self.ty(0).shape(), self.result().shape());
        let readings = self.args[0].readings.iter();
        let readings = readings
            .flat_map(|reading| movement::reshaped(reading, (from, to), (self.moves, self.bonds), self.cause()));
        let free = free::reshaped(&self.args[0].free, from, to);
        State::new(readings, free)
    }

    /// An operand.
    fn value(&self, at: usize) -> Exchange<'_> {
        Exchange { mesh: self.mesh, state: &self.args[at], shape: self.ty(at).shape(), cause: self.cause() }
    }

    fn exchange(&self) -> (Vec<State>, Option<Fault>) {
        let sub_axes = match &self.inst.op {
            Op::AllReduce(op) => sub_axes_in_any_order(self.mesh, &op.groups),
            Op::ReduceScatter(op) => sub_axes_of(self.mesh, &op.groups),
            Op::AllGather(op) => sub_axes_of(self.mesh, &op.groups),
            Op::AllToAll(op) => sub_axes_of(self.mesh, &op.groups),
            _ => None,
        };
        let each = (0..self.args.len()).map(|at| self.exchanged(at, sub_axes.as_deref()));
        let (mut states, mut first) = (Vec::new(), None);
        for (at, readings) in each.enumerate() {
            let to = self.function.ty(self.inst.results[at]).shape();
            states.push(match readings {
                Ok(readings) => State::new(readings, resized(&self.args[at].free, self.ty(at).shape(), to)),
                Err(fault) => {
                    first = first.or(Some(fault));
                    self.unknown(Why::Collective, to.rank())
                }
            });
        }
        (states, first)
    }

    /// The readings of the result of a collective over these sub-axes for one operand.
    fn exchanged(&self, at: usize, sub_axes: Option<&[SubAxisId]>) -> Result<Vec<Reading>, Fault> {
        let value = self.value(at);
        match (&self.inst.op, sub_axes) {
            (Op::AllReduce(op), Some(sub_axes)) => match value.all_reduce(op.kind, sub_axes) {
                Err(Fault::Twice(_)) if self.is_mean(at, sub_axes) => Ok(value.same_along(sub_axes)),
                found => found,
            },
            (Op::ReduceScatter(op), Some(sub_axes)) => value.reduce_scatter(op.dim, sub_axes),
            (Op::AllGather(op), Some(sub_axes)) => value.all_gather(op.dim, sub_axes),
            (Op::AllToAll(op), Some(sub_axes)) => value.all_to_all(op.split_dim, op.concat_dim, sub_axes),
            _ => Err(Fault::Groups),
        }
    }

    /// Whether a sum over these sub-axes is a mean: of what is the same on all ranks, that is the same.
    fn is_mean(&self, at: usize, sub_axes: &[SubAxisId]) -> bool {
        let size = sub_axes.iter().map(|&sub_axis| self.mesh.sub_axes()[sub_axis].size).product();
        twice::is_plain_mean(self.function, self.inst.args[at], self.inst.results[at], size)
    }

    /// The state of a value of so many dimensions of which nothing is known.
    fn unknown(&self, why: Why, rank: usize) -> State {
        let mut reading = Reading::default();
        for sub_axis in 0..self.mesh.sub_axes().len() {
            reading.set(sub_axis, Some((Part::Varying(why), self.cause())));
        }
        State::new([reading], free::none(rank))
    }

    /// The state after a permutation, of which nothing is known unless each rank gets a value.
    fn permuted(&self) -> State {
        let unknown = || self.unknown(Why::Collective, self.result().rank());
        let Op::CollectivePermute(op) = &self.inst.op else { return unknown() };
        let mut sources = vec![None; self.mesh.num_ranks()];
        for (&from, &to) in op.pairs.0.iter().zip(&op.pairs.1) {
            if let Some(source) = sources.get_mut(to) {
                *source = Some(from).filter(|&from| from < self.mesh.num_ranks());
            }
        }
        match sources.into_iter().collect::<Option<Vec<usize>>>() {
            Some(sources) => State::new(self.value(0).permuted(&sources), (*self.args[0].free).clone()),
            None => unknown(),
        }
    }

    fn sliced(&self) -> State {
        let (readings, dims) = slices::sliced(&self.value(0), &self.args[1..], self.result().shape());
        let whole = |(at, mut own): (usize, Vec<Reading>)| {
            if at > 0 && dims.contains(&(at - 1)) {
                own = vec![Reading::default()];
            }
            own
        };
        let mut operands: Vec<_> = self.readings().into_iter().enumerate().map(whole).collect();
        // Digits of what was cut are those of the result; the op is to see nothing of them.
        let apart = |reading: &Reading| {
            let mut rest = reading.clone();
            rest.digits.retain(|digit| !dims.contains(&digit.dim));
            rest
        };
        let mut all = Vec::new();
        for reading in &readings {
            operands[0] = vec![apart(reading)];
            let (results, _) = self.of(&operands);
            for mut result in results {
                for &dim in &dims {
                    let at = result.digits.iter().position(|own| own.dim < dim).unwrap_or(result.digits.len());
                    let own = reading.of_dim(dim).copied().filter(|own| result.part(own.sub_axis).is_none());
                    result.digits.insert_many(at, own.collect::<Vec<_>>());
                }
                all.push(result);
            }
        }
        State::new(all, resized(&self.args[0].free, self.ty(0).shape(), self.result().shape()))
    }

    fn taken(&self, dim: usize) -> State {
        let (mut all, index) = (Vec::new(), &self.args[1]);
        for reading in self.args[0].readings.iter() {
            let size = self.ty(0).shape()[dim];
            match indexed::read(self.mesh, reading, dim, index, size) {
                Some((rest, picked)) => {
                    let (results, _) = self.of(&[vec![rest], index.readings.to_vec()]);
                    all.extend(results.into_iter().map(|result| indexed::picked(result, &picked, self.cause())));
                }
                None => all.extend(self.of(&[vec![reading.clone()], index.readings.to_vec()]).0),
            }
        }
        State::new(all, self.application().free().swap_remove(0))
    }

    fn added(&self, dim: usize) -> State {
        let (mut all, index) = (Vec::new(), &self.args[1]);
        let size = self.result().shape()[dim];
        for reading in self.args[0].readings.iter() {
            if let Some((rest, digits)) = indexed::added(reading, index, size) {
                let (results, _) = self.of(&[vec![rest], index.readings.to_vec()]);
                all.extend(results.into_iter().map(|result| indexed::sharded(result, dim, &digits)));
            }
            all.extend(self.of(&[vec![reading.clone()], index.readings.to_vec()]).0);
        }
        State::new(all, self.application().free().swap_remove(0))
    }

    /// Every so many positions of whole dimensions, where each rank takes those that are its share of them.
    fn stepped(&self, op: &Slice) -> Option<State> {
        let (from, to) = (self.ty(0).shape(), self.result().shape());
        let readings = self.args[0].readings.iter().map(|reading| slices::stepped(reading, op, from, to));
        let readings = readings.collect::<Option<Vec<_>>>()?;
        Some(State::new(readings, resized(&self.args[0].free, from, to)))
    }

    fn selected(&self) -> State {
        let [p, x, y] = self.args else {
            return self.unknown(Why::Unlike, self.result().rank());
        };
        match p.number.as_ref().and_then(|number| number.as_constant()) {
            Some(0) => y.clone(),
            Some(_) => x.clone(),
            None if y.zero => self.kept(0, 1, false),
            None if x.zero => self.kept(0, 2, true),
            None => State::new(self.of(&self.readings()).0, self.application().free().swap_remove(0)),
        }
    }

    /// A value times a mask of zero and one is what the mask keeps of it.
    fn multiplied(&self) -> State {
        match self.args {
            [x, y] if x.mask.is_none() && y.mask.is_some() => self.kept(1, 0, false),
            [x, y] if x.mask.is_some() && y.mask.is_none() => self.kept(0, 1, false),
            _ => self.plain().swap_remove(0),
        }
    }

    /// The state of zero and, where the mask that is operand `mask` holds, or does not if that is `negated`, of operand `value`.
    fn kept(&self, mask: usize, value: usize, negated: bool) -> State {
        let choice = &self.args[mask];
        let ranks = choice.number.as_ref().and_then(|number| number.of_ranks());
        let leads = ranks.map_or_else(Vec::new, |ranks| leads(self.mesh, ranks, negated));
        let known = choice.mask.as_deref().map(|own| if negated { own.negation() } else { own.clone() });
        let held = known.map(|mask| mask.held()).unwrap_or_default();
        let sub_axes: Vec<SubAxisId> =
            held.iter().map(|held| held.digit.sub_axis).chain(leads.iter().copied()).collect();
        let apart = |readings: &mut Vec<Reading>| {
            for reading in readings {
                sub_axes.iter().for_each(|&sub_axis| reading.set(sub_axis, None));
            }
        };
        let mut operands = self.readings();
        let values = std::mem::take(&mut operands[value]);
        apart(&mut operands[mask]);
        let mut all = Vec::new();
        for own in values {
            operands[value] = vec![own.clone()];
            apart(&mut operands[value]);
            for result in self.of(&operands).0 {
                all.extend(self.masked(&own, result, &held, &leads));
            }
        }
        State::new(all, self.application().free().swap_remove(0))
    }

    /// The readings of a result, with the placements that masks give the value along their sub-axes.
    fn masked(&self, value: &Reading, result: Reading, held: &[Held], leads: &[SubAxisId]) -> Vec<Reading> {
        let terms = || Part::Partial(Reduction::Sum);
        let mut all = vec![result];
        for (sub_axis, mask) in held
            .iter()
            .map(|held| (held.digit.sub_axis, Some(*held)))
            .chain(leads.iter().map(|&sub_axis| (sub_axis, None)))
        {
            let parts = match (value.part(sub_axis), mask) {
                _ if value.digit(sub_axis).is_some() => vec![Part::Varying(Why::Rank)],
                (None, Some(held)) => vec![terms(), Part::MaskedOwner(held)],
                (None, None) => vec![terms()],
                (Some((_, Part::OwnerByIndex(digit, base), _)), Some(held))
                    if *digit == held.digit && base.is_none_or(|base| base == held.base) =>
                {
                    vec![terms()]
                }
                _ => vec![Part::Varying(Why::Rank)],
            };
            let with = |reading: &Reading| {
                let set = |part: &Part| {
                    let mut reading = reading.clone();
                    reading.set(sub_axis, Some((part.clone(), self.cause())));
                    reading
                };
                parts.iter().map(set).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(with).collect();
        }
        all
    }
}

/// The sub-axes along which one rank alone of all takes what a choice between a value and zero gives, where the choice is not 0, or
/// is 0 if that is `negated`; none where several or no rank do.
fn leads(mesh: &Mesh, ranks: &PerRank, negated: bool) -> Vec<SubAxisId> {
    let varies = ranks.varies(mesh);
    let size: usize = varies.iter().map(|&sub_axis| mesh.sub_axes()[sub_axis].size).product();
    let count = ranks.count_nonzero(mesh);
    let count = if negated { mesh.num_ranks() - count } else { count };
    if count * size == mesh.num_ranks() { varies } else { Vec::new() }
}
