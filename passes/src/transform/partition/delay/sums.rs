//! The values that can be partial sums along some sub-axes, and what reads them.

use super::super::fact::SubAxes;
use super::super::known::rounds;
use super::program::{Part, Program};
use crate::transform::min_cut::connected;
use halite_ir::{Inst, Linear, Value};

/// The values that are, or could be, partial sums along these sub-axes.
pub(super) struct Sums<'a> {
    program: &'a Program<'a>,
    pub(super) along: &'a SubAxes,
    /// For each value whether it is one where it is made, whatever its operands are.
    starts: Vec<bool>,
    /// For each value whether it can be one.
    can_be: Vec<bool>,
    /// For each value those that are partial sums exactly when it is read as one.
    readers: Vec<Vec<usize>>,
    /// For each value whether something reads the sum itself.
    must_be_made: Vec<bool>,
    /// For each value whether it is made of a partial sum.
    follows: Vec<bool>,
    /// For each value about the fewest bytes that it takes to sum it, or what it is made of.
    least: Vec<u128>,
}

impl<'a> Sums<'a> {
    pub(super) fn along(program: &'a Program<'a>, along: &'a SubAxes) -> Self {
        let none = vec![false; program.num_values()];
        let mut sums = Self {
            program,
            along,
            starts: none.clone(),
            can_be: none.clone(),
            readers: vec![Vec::new(); none.len()],
            must_be_made: none.clone(),
            follows: none,
            least: vec![0; program.num_values()],
        };
        sums.find_starts();
        sums.can_be = sums.starts.clone();
        while sums.grow() {}
        sums.weigh();
        sums.link();
        sums
    }

    /// Whether it is a partial sum where it is made.
    pub(super) fn starts(&self, number: usize) -> bool {
        self.starts[number]
    }

    /// Whether its sum is read.
    pub(super) fn must_be_made(&self, number: usize) -> bool {
        self.must_be_made[number]
    }

    /// Whether it is no partial sum after all, since what it is made of cannot be passed on together.
    pub(super) fn is_whole(&self, number: usize) -> bool {
        !self.starts[number] && !self.follows[number]
    }

    /// The values that are partial sums exactly when this one is read as one.
    pub(super) fn readers(&self, number: usize) -> &[usize] {
        &self.readers[number]
    }

    /// The values that can be partial sums, those together that are made of one another.
    pub(super) fn parts(&self) -> Vec<Vec<usize>> {
        let readers = self.readers.iter().enumerate();
        let parts =
            connected(self.can_be.len(), readers.flat_map(|(at, all)| all.iter().map(move |&other| (at, other))));
        parts.into_iter().filter(|part| self.can_be[part[0]]).collect()
    }

    fn find_starts(&mut self) {
        let (program, along) = (self.program, self.along);
        for part in &program.parts {
            for plan in &part.plans {
                for (inst, step) in
                    part.function.insts.iter().zip(&plan.steps).filter(|(_, step)| step.callee.is_none())
                {
                    let decision = &step.decision;
                    if decision.operands.iter().any(|place| !place.is_whole()) {
                        continue;
                    }
                    let partial =
                        inst.results.iter().zip(&decision.results).filter(|(_, place)| place.partial == *along);
                    partial.for_each(|(&result, _)| self.starts[part.number(result)] = true);
                }
            }
        }
        if let Some(entry) = program.parts.last() {
            let params = entry.function.params.iter().zip(&program.entry.params);
            let partial = params.filter(|(_, fact)| fact.place.partial == *along);
            partial.for_each(|(param, _)| self.starts[entry.number(param.value)] = true);
        }
    }

    /// Finds more values that can be partial sums, since others can. Whether there were any.
    fn grow(&mut self) -> bool {
        let program = self.program;
        let mut found = false;
        let mut set = |sums: &mut Self, number: usize| found |= !std::mem::replace(&mut sums.can_be[number], true);
        for part in program.parts.iter().rev() {
            for (at, param) in part.function.params.iter().enumerate() {
                if self.is_always_given(part, at) {
                    set(self, part.number(param.value));
                }
            }
        }
        for part in &program.parts {
            for (at, inst) in part.function.insts.iter().enumerate() {
                match program.callee(inst) {
                    Some(callee) => {
                        for (own, &result) in callee.function.results.iter().zip(&inst.results) {
                            if self.can_be[callee.number(own.value)] {
                                set(self, part.number(result));
                            }
                        }
                    }
                    None if self.passes(part, at, inst) => {
                        inst.results.iter().for_each(|&result| set(self, part.number(result)));
                    }
                    None => {}
                }
            }
        }
        found
    }

    /// Whether each call of a function has a partial sum as this argument.
    fn is_always_given(&self, part: &Part<'_>, at: usize) -> bool {
        let given = |&(caller, call): &(usize, usize)| {
            let caller = &self.program.parts[caller];
            let arg = caller.function.insts[call].args.get(at);
            arg.is_some_and(|&arg| self.can_be[caller.number(arg)])
        };
        !part.calls.is_empty() && part.calls.iter().all(given)
    }

    /// Whether an instruction that is no call can be given partial sums, and then gives some.
    fn passes(&self, part: &Part<'_>, at: usize, inst: &Inst) -> bool {
        let can_be = |value: &Value| self.can_be[part.number(*value)];
        let joins = |value: &Value| can_be(value) || part.joins(*value);
        let given = inst.args.iter().filter(|arg| can_be(arg)).count();
        let starts = inst.results.iter().any(|&result| self.starts[part.number(result)]);
        let (first, rest) = inst.args.split_at(inst.args.len().min(1));
        let linear = match part.known.linear[at] {
            Linear::No => false,
            Linear::Jointly => inst.args.iter().all(joins),
            // Of two factors one is summed before.
            Linear::Each => given == 1 || given == 2 && inst.args[0] != inst.args[1],
            Linear::First => given == 1 && first.iter().all(can_be),
            Linear::Rest => !first.iter().any(can_be) && rest.iter().all(joins),
        };
        let shards = |arg: &Value| !can_be(arg) && part.is_sharded(*arg, self.along);
        given > 0
            && linear
            && !starts
            && !inst.args.iter().any(shards)
            && !rounds(self.program.given.reduce, part.function, inst)
    }

    /// Finds about what it takes to sum each value, or what it is made of.
    fn weigh(&mut self) {
        let program = self.program;
        for number in (0..self.can_be.len()).filter(|&number| self.can_be[number]) {
            self.least[number] = program.bytes(number, self.along);
        }
        for part in &program.parts {
            for (at, inst) in part.function.insts.iter().enumerate() {
                if program.callee(inst).is_none() && self.passes(part, at, inst) {
                    let made_of: u128 = inst.args.iter().map(|&arg| self.least[part.number(arg)]).sum();
                    let own = inst.results.iter().map(|&result| part.number(result));
                    own.for_each(|own| self.least[own] = self.least[own].min(made_of));
                }
            }
        }
    }

    /// Finds what reads each value that can be a partial sum.
    fn link(&mut self) {
        let program = self.program;
        program.parts.iter().for_each(|part| self.link_calls(part));
        // Products of two that can be some come last: which is passed on depends on what else reads them.
        for are_products in [false, true] {
            for part in &program.parts {
                for (at, inst) in part.function.insts.iter().enumerate() {
                    if program.callee(inst).is_none() && self.is_product(part, at, inst) == are_products {
                        self.link_inst(part, at, inst);
                    }
                }
            }
        }
        // What the entry returns is on all ranks, or lies as its state does.
        if let Some(entry) = program.parts.last() {
            entry.function.results.iter().for_each(|result| self.read(entry.number(result.value), None));
        }
    }

    /// Arguments are read by parameters, and what a function returns by the results of its calls.
    fn link_calls(&mut self, part: &Part<'_>) {
        let program = self.program;
        let calls = || part.calls.iter().map(|&(caller, call)| (&program.parts[caller], call));
        for (at, param) in part.function.params.iter().enumerate() {
            let always = self.is_always_given(part, at);
            for (caller, call) in calls() {
                let arg = caller.function.insts[call].args.get(at).map(|&arg| caller.number(arg));
                arg.into_iter().for_each(|arg| self.read(arg, always.then(|| part.number(param.value))));
            }
        }
        for (at, result) in part.function.results.iter().enumerate() {
            for (caller, call) in calls() {
                let own = caller.function.insts[call].results.get(at).map(|&own| caller.number(own));
                own.into_iter().for_each(|own| self.read(part.number(result.value), Some(own)));
            }
        }
    }

    fn link_inst(&mut self, part: &Part<'_>, at: usize, inst: &Inst) {
        let result = inst.results.first().filter(|_| self.passes(part, at, inst));
        let result = result.map(|&result| part.number(result));
        let factor = self.is_product(part, at, inst).then(|| self.factor(part, inst)).flatten();
        for &arg in &inst.args {
            let is_passed = factor.is_none_or(|factor| factor == arg);
            self.read(part.number(arg), result.filter(|_| is_passed));
        }
    }

    /// Whether an instruction is a product of two values that can be partial sums.
    fn is_product(&self, part: &Part<'_>, at: usize, inst: &Inst) -> bool {
        let both = || inst.args.iter().filter(|&&arg| self.can_be[part.number(arg)]).count() > 1;
        part.known.linear[at] == Linear::Each && both()
    }

    /// The factor of a product of two that is passed on as a partial sum: the sum of the other is read anyway, or takes fewer bytes.
    fn factor(&self, part: &Part<'_>, inst: &Inst) -> Option<Value> {
        let price = |factor: &Value| {
            let number = part.number(*factor);
            (!self.must_be_made[number], self.least[number])
        };
        inst.args.iter().copied().filter(|&arg| self.can_be[part.number(arg)]).max_by_key(price)
    }

    /// Notes that a value is read, by one that then is a partial sum too or by something that needs the sum.
    fn read(&mut self, number: usize, by: Option<usize>) {
        match by.filter(|_| self.can_be[number]) {
            Some(reader) => {
                self.readers[number].push(reader);
                self.follows[reader] = true;
            }
            None => self.must_be_made[number] = true,
        }
    }
}
