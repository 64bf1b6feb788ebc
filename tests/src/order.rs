//! The order in which a rank gathers weights and scatters gradients, read from its program: what is written where, in which layer.

use halite_ir::{Def, Function, Inst, Op, ParamRole, Value};
use std::collections::BTreeMap;

/// The order that a recipe asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asked {
    /// Layers that a gather is early.
    pub prefetch: usize,
    /// Layers that a scatter is late.
    pub delay: usize,
    /// The most bytes of gathered weights at once, and of gradients that wait.
    pub bytes: u64,
}

/// A layer that computes with weights that it gathers.
#[derive(Debug)]
pub struct Layer {
    /// The instructions that gather them.
    pub gathers: Vec<usize>,
    /// The place of the first that computes with one.
    pub start: usize,
    end: usize,
    bytes: u64,
    waits: bool,
    /// The name of the layer of its weights.
    pub name: Option<String>,
}

/// A gradient that is scattered, and that nothing reads before the next layer.
#[derive(Debug)]
pub struct Scatter {
    /// The instruction.
    pub inst: usize,
    /// The number of its layer.
    pub layer: usize,
    /// The place of its first reader.
    pub first_read: usize,
    /// The place of what makes the gradient.
    pub made: usize,
    bytes: u64,
}

/// The program of a rank in some order.
#[derive(Debug)]
pub struct Order<'f> {
    function: &'f Function,
    /// The place of each instruction.
    place: Vec<usize>,
    /// The layers in which it computes, those of the backward behind those of the forward.
    pub layers: Vec<Layer>,
    /// The scatters.
    pub scatters: Vec<Scatter>,
}

impl<'f> Order<'f> {
    /// A function whose instructions run in this order.
    pub fn of(function: &'f Function, order: &[usize]) -> Self {
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &inst)| place[inst] = at);
        let mut own = Self { function, place, layers: Vec::new(), scatters: Vec::new() };
        own.layers = own.layers();
        own.scatters = own.scatters();
        own
    }

    /// The place where the gathers of a layer begin.
    fn placed(&self, layer: &Layer) -> usize {
        layer.gathers.iter().map(|&inst| self.place[inst]).min().unwrap_or_default()
    }

    /// How many layers before it begins all weights of one are gathered.
    pub fn early(&self, layer: usize) -> usize {
        let last = self.layers[layer].gathers.iter().map(|&inst| self.place[inst]).max().unwrap_or_default();
        self.layers[..layer].iter().filter(|before| before.start > last).count()
    }

    /// How many layers after its own a gradient is scattered.
    pub fn late(&self, scatter: &Scatter) -> usize {
        let place = self.place[scatter.inst];
        self.layers[scatter.layer + 1..].iter().filter(|after| after.start < place).count()
    }

    /// The layers of the model whose gathered weights are read after the next layer that computes with such has begun.
    pub fn held_beyond(&self) -> Vec<&Layer> {
        let pairs = self.layers.windows(2).filter(|pair| pair[0].name.is_some() && pair[0].end >= pair[1].start);
        pairs.map(|pair| &pair[0]).collect()
    }

    /// The first thing that is not as a recipe asks for.
    pub fn wrong(&self, asked: Asked) -> Option<String> {
        let gathers = (0..self.layers.len()).find_map(|layer| self.wrong_gather(layer, asked));
        gathers.or_else(|| self.scatters.iter().find_map(|scatter| self.wrong_scatter(scatter, asked)))
    }

    fn wrong_gather(&self, at: usize, asked: Asked) -> Option<String> {
        let (layer, early) = (&self.layers[at], self.early(at));
        let placed = self.placed(layer);
        let before =
            self.layers[..at].last().and_then(|before| before.gathers.iter().map(|&inst| self.place[inst]).max());
        if before.is_some_and(|before| placed < before) {
            return Some(format!("layer {at} gathers before the one before it"));
        }
        let first = self.layers[..at].iter().filter(|before| before.start > placed).count();
        if first > asked.prefetch {
            return Some(format!("layer {at} gathers {first} layers early"));
        }
        let held = |from: usize| -> u64 {
            self.layers[..at].iter().filter(|before| before.end >= from).map(|before| before.bytes).sum::<u64>()
                + layer.bytes
        };
        if early > 0 && held(self.layers[at - early].start) > asked.bytes {
            return Some(format!("layer {at} is gathered where {} bytes are held", held(placed)));
        }
        if early < asked.prefetch.min(at) {
            let before = self.layers[at - early - 1].start;
            // Those before it may have none to spare: then it waits for them.
            let waits = self.layers[at - 1].start > before && self.placed(&self.layers[at - 1]) > before;
            if held(before) <= asked.bytes && !waits {
                return Some(format!("layer {at} gathers {early} layers early, and could {}", early + 1));
            }
        }
        (early > 0 && at > early && !layer.waits).then(|| format!("layer {at} gathers without waiting"))
    }

    fn wrong_scatter(&self, scatter: &Scatter, asked: Asked) -> Option<String> {
        let may = |by: &usize| {
            let until = scatter.layer + by + 1;
            let waiting = self.scatters.iter().filter(|other| (scatter.layer..until).contains(&other.layer));
            let is_free = self.layers.get(until).is_some_and(|layer| layer.start < scatter.first_read);
            is_free && waiting.map(|other| other.bytes).sum::<u64>() <= asked.bytes
        };
        let due = (1..=asked.delay).rev().find(may).unwrap_or(0);
        let late = self.late(scatter);
        (late != due)
            .then(|| format!("a gradient of layer {} is scattered {late} layers late, and not {due}", scatter.layer))
    }

    fn def(&self, value: Value) -> Option<(usize, usize)> {
        match self.function.values[value.index()].def {
            Def::Inst(at, result) => Some((at as usize, result as usize)),
            Def::Param(_) => None,
        }
    }

    /// The weight that is moved, cast, held back and gathered to be this value, if nothing else is, and whether something holds it back
    /// until something is computed.
    fn weight(&self, mut value: Value) -> Option<(Value, bool)> {
        let mut waits = false;
        while let Some((at, result)) = self.def(value) {
            let inst = &self.function.insts[at];
            value = match inst.op {
                Op::OptimizationBarrier(_) => {
                    waits |= inst.args.iter().any(|&arg| self.weight(arg).is_none());
                    inst.args[result]
                }
                Op::AllGather(_) => inst.args[result],
                Op::Reshape(_) | Op::Transpose(_) | Op::Convert(_) => inst.args[0],
                _ => return None,
            };
        }
        self.function.params.iter().find(|param| param.value == value && matches!(param.role, ParamRole::Weight(_)))?;
        Some((value, waits))
    }

    /// The places of what computes with a value, or hands it out.
    fn readers(&self, value: Value) -> Vec<usize> {
        let mut found = Vec::new();
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            for (at, inst) in self.function.insts.iter().enumerate().filter(|(_, inst)| inst.args.contains(&value)) {
                match inst.op {
                    Op::Reshape(_) | Op::Transpose(_) | Op::AllGather(_) => open.extend(&inst.results),
                    _ => found.push(self.place[at]),
                }
            }
        }
        found
    }

    fn layers(&self) -> Vec<Layer> {
        let gathers = |inst: &Inst| matches!(inst.op, Op::AllGather(_));
        let mut uses = BTreeMap::new();
        for (at, inst) in self.function.insts.iter().enumerate().filter(|(_, inst)| gathers(inst)) {
            for (&result, &arg) in inst.results.iter().zip(&inst.args) {
                let Some((weight, waits)) = self.weight(arg) else { continue };
                let again = self.function.insts.iter().any(|inst| gathers(inst) && self.reaches(inst, result));
                let readers = self.readers(result);
                let (Some(&first), Some(&last)) = (readers.iter().min(), readers.iter().max()) else { continue };
                if !again {
                    uses.insert((first, at, result), (weight, waits, last));
                }
            }
        }
        let mut layers: Vec<(Layer, Vec<Value>, Option<String>)> = Vec::new();
        for ((first, inst, result), (weight, waits, last)) in uses {
            let name = self.layer(weight);
            let is_new = layers.last().is_none_or(|(_, weights, own)| *own != name || weights.contains(&weight));
            if is_new {
                let layer = Layer { gathers: Vec::new(), start: first, end: last, bytes: 0, waits: true, name: None };
                layers.push((layer, Vec::new(), name));
            }
            if let Some((layer, weights, _)) = layers.last_mut() {
                weights.push(weight);
                layer.gathers.push(inst);
                layer.end = layer.end.max(last);
                layer.bytes += self.function.ty(result).bytes();
                layer.waits &= waits;
            }
        }
        layers.into_iter().map(|(layer, _, name)| Layer { name, ..layer }).collect()
    }

    /// Whether an instruction gathers on what is made of a value by moving it.
    fn reaches(&self, inst: &Inst, value: Value) -> bool {
        inst.args.iter().any(|&arg| {
            let mut arg = arg;
            while arg != value {
                let Some((at, _)) = self.def(arg) else { return false };
                match &self.function.insts[at] {
                    moved if matches!(moved.op, Op::Reshape(_) | Op::Transpose(_)) => arg = moved.args[0],
                    _ => return false,
                }
            }
            true
        })
    }

    fn layer(&self, weight: Value) -> Option<String> {
        let param = self.function.params.iter().find(|param| param.value == weight)?;
        match &param.role {
            ParamRole::Weight(info) => info.layer.as_ref().map(ToString::to_string),
            _ => None,
        }
    }

    fn scatters(&self) -> Vec<Scatter> {
        let scatter = |(at, inst): (usize, &Inst)| {
            let Op::ReduceScatter(_) = inst.op else { return None };
            // Along one axis after another, of which one may store no parts.
            let (mut first, mut last) = (inst, inst.results[0]);
            while let Some((before, _)) = self.sum(|result, _| first.args.contains(&result)) {
                first = before;
            }
            while let Some((_, after)) = self.sum(|_, arg| arg == last) {
                last = after;
            }
            let made = self.place[self.def(first.args[0])?.0];
            let layer = self.layers.iter().rposition(|layer| layer.start <= made)?;
            let readers = self.function.insts.iter().enumerate().filter(|(_, other)| other.args.contains(&last));
            let first_read = readers.map(|(at, _)| self.place[at]).min().unwrap_or(self.place.len());
            let args = if first.results == inst.results { &inst.args[..] } else { &[] };
            let bytes = args.iter().map(|&arg| self.function.ty(arg).bytes()).sum();
            let next = self.layers.get(layer + 1)?;
            (next.start < first_read).then_some(Scatter { inst: at, layer, first_read, made, bytes })
        };
        self.function.insts.iter().enumerate().filter_map(scatter).collect()
    }

    /// The sum over ranks with such a result and operand, and that result.
    fn sum(&self, is_it: impl Fn(Value, Value) -> bool) -> Option<(&Inst, Value)> {
        let sums = self.function.insts.iter().filter(|inst| matches!(inst.op, Op::ReduceScatter(_) | Op::AllReduce(_)));
        let each =
            sums.flat_map(|inst| inst.results.iter().zip(&inst.args).map(move |(&result, &arg)| (inst, result, arg)));
        each.filter(|&(_, result, arg)| is_it(result, arg)).map(|(inst, result, _)| (inst, result)).next()
    }
}
