//! Reverse mode in small: enough to differentiate one composite.

use halite_ir::{
    Attr, Builder, Composite, FuncId, Interpreter, Module, OpDef, ParamRole, Registry, TensorType, Value, Values, Vjp,
    VjpCx,
};
use halite_tensor::HostTensor;
use std::collections::BTreeMap;

/// A module with one function to run.
pub(crate) struct Program {
    registry: Registry,
    module: Module,
    entry: FuncId,
}

fn type_of(tensor: &HostTensor) -> TensorType {
    TensorType::new(tensor.dtype(), tensor.shape().clone())
}

impl Program {
    /// Applies `op` to parameters of the types of `args`.
    pub(crate) fn forward(op: &Composite, args: &[HostTensor]) -> Self {
        Self::build(args, |b, args| b.emit_all(op.clone(), args).unwrap())
    }

    /// Applies a composite to parameters of the types of `args`, optional operands by position.
    pub(crate) fn call(name: &str, attrs: &[(&str, Attr)], args: &[HostTensor]) -> Self {
        Self::build(args, |b, args| b.composite(name, attrs, args).unwrap())
    }

    /// The gradients of `op` by its first operands, from these and the cotangents of its float results.
    pub(crate) fn gradient(op: &Composite, args: &[HostTensor], cts: &[HostTensor]) -> Self {
        let inputs: Vec<_> = args.iter().chain(cts).cloned().collect();
        Self::build(&inputs, |b, inputs| {
            let (args, cts) = inputs.split_at(args.len());
            gradient(b, op, args, cts)
        })
    }

    fn build(inputs: &[HostTensor], body: impl FnOnce(&mut Builder<'_>, &[Value]) -> Values) -> Self {
        let registry = Registry::builtin();
        let mut module = Module::new("test");
        let mut b = Builder::new(&mut module, &registry, "main");
        let param = |(at, input): (usize, &HostTensor)| b.param(format!("x{at}"), type_of(input), ParamRole::Argument);
        let params: Vec<_> = inputs.iter().enumerate().map(param).collect();
        for result in body(&mut b, &params) {
            b.result(result);
        }
        let entry = b.finish();
        Self { registry, module, entry }
    }

    /// Runs it.
    pub(crate) fn run(&self, inputs: &[HostTensor]) -> Vec<HostTensor> {
        let function = self.module.function(self.entry);
        Interpreter::of(&self.module, &self.registry).run(function, inputs.to_vec()).unwrap()
    }
}

/// Cotangents of all float `args` of `op`, zeros included.
fn gradient(b: &mut Builder<'_>, op: &Composite, args: &[Value], cts: &[Value]) -> Values {
    let start = b.function().insts.len();
    let own_rule = b.registry().composite(&op.name).unwrap().vjp().is_some();
    let results = if own_rule { b.emit_all(op.clone(), args).unwrap() } else { b.expand(op, args).unwrap() };
    let end = b.function().insts.len();
    let mut adjoints: BTreeMap<Value, Value> = results.iter().copied().zip(cts.iter().copied()).collect();
    for at in (start..end).rev() {
        let inst = b.function().insts[at].clone();
        let cts: Vec<_> = inst.results.iter().map(|result| adjoints.get(result).copied()).collect();
        if cts.iter().all(Option::is_none) {
            continue;
        }
        let wanted: Vec<_> = inst.args.iter().map(|&arg| b.dtype(arg).is_float()).collect();
        let cx = VjpCx { args: &inst.args, results: &inst.results, cts: &cts, wanted: &wanted };
        let Vjp::Cotangents(found) = inst.op.def().vjp(b, &cx).unwrap() else { panic!("no gradient of {:?}", inst.op) };
        assert_eq!(found.len(), inst.args.len(), "{} answers for each operand", inst.op.name());
        for (&arg, ct) in inst.args.iter().zip(found) {
            let Some(ct) = ct else { continue };
            assert_eq!(b.ty(ct), b.ty(arg), "{} answers with the operand's type", inst.op.name());
            let sum = adjoints.get(&arg).map_or(ct, |&sofar| b.add(sofar, ct).unwrap());
            adjoints.insert(arg, sum);
        }
    }
    let floats = args.iter().filter(|&&arg| b.dtype(arg).is_float()).copied().collect::<Vec<_>>();
    floats.iter().map(|arg| adjoints.get(arg).copied().unwrap_or_else(|| b.splat_like(*arg, 0.0).unwrap())).collect()
}

/// Compares the gradients of a weighted sum of all results with central differences, element by element.
pub(crate) fn check_gradients(op: &Composite, args: &[HostTensor], label: &str) {
    let forward = Program::forward(op, args);
    let weight = |(at, y): (usize, &HostTensor)| {
        let value = |index: usize| ((3 * at + 7 * index) % 11) as f64 / 11.0 - 0.4;
        HostTensor::from_f64s(y.dtype(), y.shape().clone(), (0..y.len()).map(value))
    };
    let cts: Vec<_> = forward.run(args).iter().enumerate().map(weight).collect();
    let objective = |args: &[HostTensor]| -> f64 {
        let dot =
            |(y, ct): (HostTensor, &HostTensor)| y.f64s().iter().zip(ct.f64s()).map(|(y, ct)| y * ct).sum::<f64>();
        forward.run(args).into_iter().zip(&cts).map(dot).sum()
    };
    let inputs: Vec<_> = args.iter().chain(&cts).cloned().collect();
    let gradients = Program::gradient(op, args, &cts).run(&inputs);
    let floats = (0..args.len()).filter(|&at| args[at].dtype().is_float());
    for (operand, gradient) in floats.zip(gradients) {
        for (at, found) in gradient.f64s().into_iter().enumerate() {
            let step = 1e-5;
            let moved = |by: f64| {
                let mut args = args.to_vec();
                let mut values = args[operand].f64s();
                values[at] += by;
                args[operand] = HostTensor::from_f64s(args[operand].dtype(), args[operand].shape().clone(), values);
                objective(&args)
            };
            let expected = (moved(step) - moved(-step)) / (2.0 * step);
            let tolerance = 1e-6 * expected.abs().max(1e-2);
            let place = format!("`{}` ({label}), operand {operand}, element {at}", op.name());
            assert!((found - expected).abs() <= tolerance, "{place}: {found} against {expected}");
        }
    }
}
