//! Calls as edges: the functions that instructions run or stand for, with the values outside that their parameters and results are.

use crate::ops::Op;
use crate::syntax::{FuncId, Function, Inst, Value};

/// A function that an instruction names, with the operands that are its parameters and the results that are its results, all of them
/// and in order.
#[derive(Clone, Copy, Debug)]
pub struct Edge<'i> {
    /// The function.
    pub callee: FuncId,
    /// The operands, one for each parameter.
    pub args: &'i [Value],
    /// The results, one for each of the callee's.
    pub results: &'i [Value],
    /// Whether the callee runs. The decomposition of a kernel gives it its meaning and does not.
    pub runs: bool,
}

impl Inst {
    /// The functions that it names.
    pub fn edges(&self) -> impl Iterator<Item = Edge<'_>> {
        let runs = !matches!(self.op, Op::KernelCall(_));
        self.op.callee().into_iter().map(move |callee| Edge { callee, args: &self.args, results: &self.results, runs })
    }

    /// The functions that run when it does.
    pub fn calls(&self) -> impl Iterator<Item = Edge<'_>> {
        self.edges().filter(|edge| edge.runs)
    }

    /// The function that runs when it does and that gives all its results, if it is a call.
    pub fn call(&self) -> Option<Edge<'_>> {
        self.calls().next()
    }
}

impl<'i> Edge<'i> {
    /// Each parameter of the callee, with the operand that it is.
    pub fn params(self, callee: &'i Function) -> impl Iterator<Item = (Value, Value)> {
        callee.params.iter().map(|param| param.value).zip(self.args.iter().copied())
    }

    /// Each value that the callee returns, with the result that it is.
    pub fn returns(self, callee: &'i Function) -> impl Iterator<Item = (Value, Value)> {
        callee.results.iter().map(|result| result.value).zip(self.results.iter().copied())
    }

    /// The operand that a parameter of the callee is.
    pub fn outside(self, callee: &Function, param: Value) -> Option<Value> {
        let at = callee.params.iter().position(|own| own.value == param)?;
        self.args.get(at).copied()
    }

    /// The value of the callee that a result is.
    pub fn inside(self, callee: &Function, result: Value) -> Option<Value> {
        let at = self.results.iter().position(|own| *own == result)?;
        callee.results.get(at).map(|own| own.value)
    }
}

/// The most calls and parameters through which a value is followed: functions that return their operands can be called any number of
/// times.
const MAX_STEPS: usize = 4096;

/// A value and the calls around it, followed back to what made it: into functions that return it, and out again by their parameters.
#[derive(Clone, Debug)]
pub struct Trace<'m> {
    functions: &'m [Function],
    function: &'m Function,
    value: Value,
    /// The callers and their calls, the outermost first.
    calls: Vec<(&'m Function, &'m Inst)>,
    steps: usize,
}

/// The end of a [`Trace`].
#[derive(Clone, Copy, Debug)]
pub enum Origin<'m> {
    /// An instruction.
    Inst(&'m Inst),
    /// A parameter of the function in which the trace began.
    Param,
    /// It was followed no further.
    TooFar,
}

impl<'m> Trace<'m> {
    /// From a value of a function, among the functions that it calls.
    pub fn new(functions: &'m [Function], function: &'m Function, value: Value) -> Self {
        Self { functions, function, value, calls: Vec::new(), steps: 0 }
    }

    /// Goes to what made the value, in the functions that `enters` holds of.
    pub fn origin(&mut self, enters: impl Fn(&Function) -> bool) -> Origin<'m> {
        while self.steps < MAX_STEPS {
            self.steps += 1;
            let Some(inst) = self.function.def(self.value) else {
                let Some((caller, inst)) = self.calls.pop() else { return Origin::Param };
                let Some(outside) = inst.call().and_then(|edge| edge.outside(self.function, self.value)) else { break };
                (self.function, self.value) = (caller, outside);
                continue;
            };
            let callee = inst.call().map(|edge| (edge, &self.functions[edge.callee.index()]));
            let Some((edge, callee)) = callee.filter(|(_, callee)| enters(callee)) else { return Origin::Inst(inst) };
            let Some(inside) = edge.inside(callee, self.value) else { break };
            self.calls.push((self.function, inst));
            (self.function, self.value) = (callee, inside);
        }
        Origin::TooFar
    }

    /// Goes on from another value of the function that it is in.
    pub fn step(&mut self, value: Value) {
        self.value = value;
    }

    /// The calls around the value, the outermost first.
    pub fn calls(&self) -> impl Iterator<Item = &'m Inst> {
        self.calls.iter().map(|(_, inst)| *inst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Builder;
    use crate::registry::Registry;
    use crate::syntax::{Module, ParamRole};
    use crate::ty::TensorType;
    use halite_tensor::DType;

    /// `@pass` hands on its second parameter and negates its first; `@outer` calls it with its own two, crossed; `@main` calls that.
    fn nested() -> Module {
        let (registry, mut module) = (Registry::default(), Module::new("nested"));
        let ty = TensorType::new(DType::F32, [2]);
        let function = |module: &mut Module, name: &str, callee: Option<FuncId>| {
            let mut b = Builder::new(module, &registry, name);
            let params = ["x", "y"].map(|name| b.param(name, ty.clone(), ParamRole::Argument));
            let results = match callee {
                Some(callee) => b.call(callee, &[params[1], params[0]]).unwrap().to_vec(),
                None => vec![b.negate(params[0]).unwrap(), params[1]],
            };
            results.into_iter().for_each(|result| b.result(result));
            b.finish()
        };
        let pass = function(&mut module, "pass", None);
        let outer = function(&mut module, "outer", Some(pass));
        function(&mut module, "main", Some(outer));
        module
    }

    #[test]
    fn an_edge_binds_parameters_and_results_in_order() {
        let module = nested();
        let (main, outer) = (module.entry().unwrap(), &module.functions[1]);
        let edge = main.insts[0].call().unwrap();
        let [x, y] = [main.params[0].value, main.params[1].value];
        assert_eq!(edge.params(outer).map(|(_, outside)| outside).collect::<Vec<_>>(), [y, x]);
        assert_eq!(edge.outside(outer, outer.params[1].value), Some(x));
        assert_eq!(edge.inside(outer, main.results[1].value), Some(outer.results[1].value));
        assert_eq!(edge.outside(outer, outer.results[0].value), None);
        assert!(module.functions[0].insts[0].call().is_none());
    }

    #[test]
    fn a_value_is_followed_into_calls_and_out_by_their_parameters() {
        let module = nested();
        let main = module.entry().unwrap();
        let trace = |result: usize| Trace::new(&module.functions, main, main.results[result].value);
        let mut negated = trace(0);
        assert!(matches!(negated.origin(|_| true), Origin::Inst(inst) if inst.op.name() == "negate"));
        assert_eq!(negated.calls().count(), 2);
        negated.step(module.functions[0].params[0].value);
        assert!(matches!(negated.origin(|_| true), Origin::Param));
        assert!(matches!(trace(1).origin(|_| true), Origin::Param));
        let mut outside = trace(1);
        assert!(
            matches!(outside.origin(|callee| &*callee.name != "pass"), Origin::Inst(inst) if inst.call().is_some())
        );
        assert_eq!(outside.calls().count(), 1);
    }

    /// Each function calls the one before it twice, through both results: 2^40 calls in all, along one path.
    #[test]
    fn no_value_is_followed_for_ever() {
        let (registry, mut module) = (Registry::default(), Module::new("long"));
        let ty = TensorType::new(DType::F32, [2]);
        let mut last: Option<FuncId> = None;
        for number in 0..40 {
            let mut b = Builder::new(&mut module, &registry, format!("f{number}"));
            let x = b.param("x", ty.clone(), ParamRole::Argument);
            let y = match last {
                Some(callee) => {
                    let once = b.call(callee, &[x]).unwrap()[0];
                    b.call(callee, &[once]).unwrap()[0]
                }
                None => x,
            };
            b.result(y);
            last = Some(b.finish());
        }
        let main = module.entry().unwrap();
        assert!(matches!(Trace::new(&module.functions, main, main.results[0].value).origin(|_| true), Origin::TooFar));
    }
}
