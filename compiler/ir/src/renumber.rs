//! Adding and removing functions of a module, which numbers the others anew.

use crate::attr::{Attr, AttrSlot, AttrVisitor, ResultSlot};
use crate::graph::reached_functions;
use crate::ops::Op;
use crate::syntax::{FuncId, Function, Module};
use halite_support::{Diagnostic, Result};

impl Module {
    /// Puts functions that name no others before all functions; the first of them has number 0.
    pub fn prepend_functions(&mut self, functions: Vec<Function>) {
        let count = functions.len();
        if count > 0 {
            self.renumber(|id| FuncId::new(id.index() + count));
            self.functions.splice(0..0, functions);
        }
    }

    /// Takes the entry out, for a pass to write it anew.
    ///
    /// # Errors
    /// A bug when there is none: a verified module has one.
    pub fn take_entry(&mut self) -> Result<Function> {
        self.functions.pop().ok_or_else(|| Diagnostic::bug("a module without functions"))
    }

    /// Drops the functions of a verified module that its entry does not reach; whether there were any.
    pub fn drop_unreached(&mut self) -> bool {
        let reached = reached_functions(self);
        self.retain_functions(&reached)
    }

    /// Drops the functions that are not marked, which no other names; whether there were any.
    pub fn retain_functions(&mut self, kept: &[bool]) -> bool {
        let numbers: Vec<usize> = kept
            .iter()
            .scan(0, |next, &kept| {
                let number = *next;
                *next += usize::from(kept);
                Some(number)
            })
            .collect();
        if !kept.contains(&false) {
            return false;
        }
        let mut flags = kept.iter();
        self.functions.retain(|_| flags.next() == Some(&true));
        self.renumber(|id| FuncId::new(numbers[id.index()]));
        true
    }

    fn renumber(&mut self, number: impl Fn(FuncId) -> FuncId) {
        for inst in self.functions.iter_mut().flat_map(|function| &mut function.insts) {
            inst.op.map_callees(&number);
        }
    }
}

impl Op {
    /// Names other functions in the place of those that it names.
    pub fn map_callees(&mut self, number: impl Fn(FuncId) -> FuncId) {
        // Showing attributes to change them may copy what instructions share.
        if self.callee().is_some() {
            self.def_mut().attrs(&mut Renumber(number));
        }
    }
}

/// Gives functions that attributes name other numbers.
struct Renumber<F>(F);

impl<F: Fn(FuncId) -> FuncId> AttrVisitor for Renumber<F> {
    fn attr(&mut self, _: &str, slot: &mut dyn AttrSlot) {
        if let Attr::Func(id) = slot.get() {
            slot.set(&Attr::Func((self.0)(id))).expect("a slot takes what it holds");
        }
    }

    fn result(&mut self, _: usize, _: ResultSlot<'_>) {}
}
