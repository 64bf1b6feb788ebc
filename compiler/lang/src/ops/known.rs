//! Whole numbers that a tensor is, where no input and no weight has a part in it.

use halite_ir::{Builder, Def, FuncResult, Function, Inst, Interpreter, ResultRole, Value as Tensor};

/// The most elements that are looked at, and the most instructions that are followed back.
const MAX_ELEMENTS: usize = 1 << 16;
const MAX_INSTRUCTIONS: usize = 64;

/// The elements of a tensor of whole numbers; `None` where they depend on what is fed or stored, or are too many to look at.
pub(super) fn known(b: &Builder<'_>, x: Tensor) -> Option<Vec<i128>> {
    let function = b.function();
    let (mut needed, mut open) = (Vec::new(), vec![x]);
    while let Some(value) = open.pop() {
        let Def::Inst(at, _) = function.values[value.index()].def else { return None };
        if function.ty(value).shape().num_elements() > MAX_ELEMENTS {
            return None;
        }
        if !needed.contains(&at) {
            needed.push(at);
            open.extend(&function.insts[at as usize].args);
        }
        if needed.len() > MAX_INSTRUCTIONS {
            return None;
        }
    }
    needed.sort_unstable();
    let insts: Vec<Inst> = needed.into_iter().map(|at| function.insts[at as usize].clone()).collect();
    let results = vec![FuncResult { value: x, name: "".into(), role: ResultRole::Value }];
    let mut part = Function::default();
    (part.insts, part.results, part.values) = (insts, results, function.values.clone());
    let interpreter = Interpreter::new(&b.module().functions, b.registry());
    Some(interpreter.run(&part, Vec::new()).ok()?.first()?.ints())
}
