//! The number of instructions of composites once equal instructions are merged and unused ones dropped.

use super::composite;
use halite_ir::{Attr, Builder, Function, Module, Op, ParamRole, Registry, TensorType, Value, Vjp, VjpCx};
use halite_tensor::DType;

/// Numbers values so that equal instructions on equal operands have equal results.
struct Numbering {
    registry: Registry,
    /// Instruction, operands, first result.
    seen: Vec<(Op, Vec<usize>, usize)>,
    next: usize,
}

impl Numbering {
    /// The numbers of a function's results.
    fn function(&mut self, function: &Function, args: &[usize]) -> Vec<usize> {
        let mut numbers = vec![0; function.values.len()];
        for (param, &arg) in function.params.iter().zip(args) {
            numbers[param.value.index()] = arg;
        }
        for inst in &function.insts {
            let args: Vec<_> = inst.args.iter().map(|arg| numbers[arg.index()]).collect();
            let results = if let Op::Composite(composite) = &inst.op {
                let types: Vec<_> = inst.args.iter().map(|&arg| function.ty(arg)).collect();
                let body = composite.decompose(&self.registry, &types).unwrap();
                self.function(&body, &args)
            } else {
                let first = self.primitive(&inst.op, args, inst.results.len());
                (first..first + inst.results.len()).collect()
            };
            for (&result, number) in inst.results.iter().zip(results) {
                numbers[result.index()] = number;
            }
        }
        function.results.iter().map(|result| numbers[result.value.index()]).collect()
    }

    fn primitive(&mut self, op: &Op, args: Vec<usize>, results: usize) -> usize {
        if let Some((_, _, first)) = self.seen.iter().find(|(seen, operands, _)| seen == op && *operands == args) {
            return *first;
        }
        self.next += results;
        self.seen.push((op.clone(), args, self.next - results));
        self.next - results
    }

    /// The numbers of instructions that `results` depend on: those that compute, and literals.
    fn needed(&self, results: &[usize]) -> (usize, usize) {
        let mut needed = vec![false; self.next];
        for &result in results {
            needed[result] = true;
        }
        let (mut computing, mut literals) = (0, 0);
        for (op, args, first) in self.seen.iter().rev() {
            if needed[*first] {
                *if op.name() == "constant" { &mut literals } else { &mut computing } += 1;
                args.iter().for_each(|&arg| needed[arg] = true);
            }
        }
        (computing, literals)
    }
}

/// Instructions of the forward pass of `name`, those that its gradient adds, and the literals of both.
fn sizes(name: &str, attrs: &[(&str, Attr)], args: &[TensorType]) -> (usize, usize, usize) {
    let registry = Registry::builtin();
    let mut module = Module::default();
    let mut b = Builder::new(&mut module, &registry, "main");
    let param = |(at, ty): (usize, &TensorType)| b.param(format!("x{at}"), ty.clone(), ParamRole::Argument);
    let args: Vec<Value> = args.iter().enumerate().map(param).collect();
    let results = b.emit_all(composite(name, attrs), &args).unwrap();
    let ct = b.param("ct", b.ty(results[0]).clone(), ParamRole::Argument);
    let mut cts = vec![None; results.len()];
    cts[0] = Some(ct);
    let wanted: Vec<_> = args.iter().map(|&arg| b.dtype(arg).is_float()).collect();
    let cx = VjpCx { args: &args, results: &results, cts: &cts, wanted: &wanted };
    let op = b.function().insts[0].op.clone();
    let Vjp::Cotangents(grads) = op.def().vjp(&mut b, &cx).unwrap() else { panic!("`{name}` has a gradient") };
    results.iter().copied().chain(grads.into_iter().flatten()).for_each(|value| b.result(value));
    let id = b.finish();
    let function = module.function(id);
    let mut numbering = Numbering { registry: registry.clone(), seen: Vec::new(), next: function.params.len() };
    let numbers = numbering.function(function, &(0..function.params.len()).collect::<Vec<_>>());
    let (forward, _) = numbering.needed(&numbers[..results.len()]);
    let (both, literals) = numbering.needed(&numbers);
    (forward, both - forward, literals)
}

#[test]
fn composites_stay_small() {
    let float = |shape: &[usize]| TensorType::new(DType::F32, shape);
    let ids = TensorType::new(DType::S32, [2, 8]);
    let (x, weight, heads, kv) = (float(&[2, 8, 16]), float(&[16]), float(&[2, 8, 4, 4]), float(&[2, 8, 2, 4]));
    let tanh = [("tanh", Attr::Bool(true))];
    let found = [
        ("causal_attention", sizes("causal_attention", &[], &[heads.clone(), kv.clone(), kv])),
        ("cross_entropy", sizes("cross_entropy", &[], &[x.clone(), ids])),
        ("gelu", sizes("gelu", &[], std::slice::from_ref(&x))),
        ("gelu tanh", sizes("gelu", &tanh, std::slice::from_ref(&x))),
        ("layer_norm", sizes("layer_norm", &[], &[x.clone(), weight.clone(), weight.clone()])),
        ("log_softmax", sizes("log_softmax", &[], std::slice::from_ref(&x))),
        ("relu", sizes("relu", &[], std::slice::from_ref(&x))),
        ("rms_norm", sizes("rms_norm", &[], &[x.clone(), weight])),
        ("rope", sizes("rope", &[], &[heads])),
        ("silu", sizes("silu", &[], std::slice::from_ref(&x))),
        ("softmax", sizes("softmax", &[], std::slice::from_ref(&x))),
        ("swiglu", sizes("swiglu", &[], &[x.clone(), x])),
    ];
    let expected = [
        ("causal_attention", (25, 20, 2)),
        ("cross_entropy", (19, 12, 4)),
        ("gelu", (5, 7, 4)),
        ("gelu tanh", (8, 8, 6)),
        ("layer_norm", (15, 15, 2)),
        ("log_softmax", (8, 5, 0)),
        ("relu", (1, 2, 1)),
        ("rms_norm", (9, 11, 2)),
        ("rope", (19, 6, 3)),
        ("silu", (2, 5, 1)),
        ("softmax", (7, 5, 0)),
        ("swiglu", (3, 6, 1)),
    ];
    assert_eq!(found, expected);
}
