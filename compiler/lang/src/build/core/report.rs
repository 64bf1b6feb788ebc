//! Reports of a model: metrics, and losses that it adds.

use super::Core;
use crate::build::{Argument, Caller};
use crate::ops::{Named, Part, Place, Report};
use halite_ir::Value as Id;

impl Core {
    /// Reports a sum over the batch, divided by another one where there is one.
    pub fn metric(&mut self, name: &str, sum: Argument, over: Option<Argument>, caller: &Caller) {
        let sum = self.reported(sum, false, caller);
        let over = over.map(|over| self.reported(over, false, caller));
        if !self.claim_report("metric", name, caller) {
            return;
        }
        if let (Some(sum), None | Some(Some(_))) = (sum, over) {
            self.state.reports.push(Report::metric(name.into(), sum, over.flatten()));
        }
    }

    /// Adds a mean over the batch to the objective, so many times, and reports it.
    pub fn loss(&mut self, name: &str, value: Argument, weight: f64, caller: &Caller) {
        let value = self.reported(value, true, caller);
        if !self.claim_report("loss", name, caller) {
            return;
        }
        if !weight.is_finite() {
            return self.report(super::value::not_finite(weight).help("give the loss a finite weight"), caller);
        }
        if let Some(value) = value {
            self.state.reports.push(Report::loss(name.into(), value, weight));
        }
    }

    fn reported(&mut self, value: Argument, is_mean: bool, caller: &Caller) -> Option<Id> {
        self.operate(caller, [value], |ops, [value]| ops.scalar(&value, is_mean, Place::new(&(), Part::Given(0))))
    }

    fn claim_report(&mut self, word: &str, name: &str, caller: &Caller) -> bool {
        let is_main = self.state.check_entry(&format!("{word} {name}"), "return it to `main` instead", caller);
        is_main && self.state.claim(name, &name.into(), Named::Metric, caller)
    }
}
