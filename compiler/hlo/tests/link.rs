//! Decompositions in the place of custom calls.

use halite_hlo::graph::Graph;
use halite_hlo::proto::HloModuleProto;
use halite_hlo::*;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::DType;

fn ty() -> ArrayType {
    ArrayType::new(DType::F32, [4])
}

/// A module that calls the kernel `Twice` with these decompositions, one after the other.
fn calls(decompositions: &[Option<&str>]) -> Result<HloModuleProto> {
    let mut module = ModuleBuilder::new("calls");
    let mut b = module.computation("main");
    let mut x = b.parameter("x", ty())?;
    for decomposition in decompositions {
        let kernel = CustomCall { target: "Twice".into(), api_version: 2, ..CustomCall::default() };
        x = b.custom_call(&kernel, &[x], Type::Array(ty()))?;
        if let Some(decomposition) = decomposition {
            b.set_frontend_attribute(x, DECOMPOSITION, *decomposition)?;
        }
    }
    let root = b.root_tuple(&[x])?;
    b.finish(root)?;
    module.finish()
}

/// The sum of `count` times its parameter; it has a computation of its own.
fn times(name: &str, count: usize) -> Result<HloModuleProto> {
    let mut module = ModuleBuilder::new(name);
    let mut helper = module.computation("main.helper");
    let (x, y) = (helper.parameter("x", ty())?, helper.parameter("y", ty())?);
    let sum = helper.add(x, y)?;
    let helper = helper.finish(sum)?;
    let mut b = module.computation("main");
    let x = b.parameter("x", ty())?;
    let mut sum = x;
    for _ in 1..count {
        sum = b.call(helper, &[sum, x])?;
    }
    let root = b.root_tuple(&[sum])?;
    b.finish(root)?;
    module.finish()
}

fn missing(name: &str) -> Diagnostic {
    Diagnostic::error(codes::UNDEFINED_VALUE, format!("no decomposition `{name}`"))
}

#[test]
fn decompositions_are_linked_once_each() {
    let module = calls(&[Some("a/2"), Some("main"), Some("a/2")]).unwrap();
    let linked = link_decompositions(&module, |name| match name {
        "a/2" => times(name, 2),
        "main" => times(name, 3),
        _ => Err(missing(name)),
    });
    let linked = linked.unwrap();
    assert_eq!(check(&Graph::new(linked.clone())), []);
    let names: Vec<_> = linked.computations.iter().map(|computation| &*computation.name).collect();
    assert_eq!(names, ["a_2.main.helper", "a_2", "main.main.helper", "main", "main.1"]);
    assert_eq!(linked.computations.last().map(|entry| entry.id), Some(linked.entry_computation_id));
    let opcodes = |opcode: &str| {
        let insts = linked.computations[4].instructions.iter();
        insts.filter(|inst| inst.opcode == opcode).count()
    };
    assert_eq!((opcodes("custom-call"), opcodes("call"), opcodes("get-tuple-element")), (0, 3, 3));
    let same = link_decompositions(&linked, |name| Err(missing(name))).unwrap();
    assert_eq!(encode(&same), encode(&linked), "a module without custom calls stays as it is");
}

#[test]
fn what_cannot_be_linked_is_a_diagnostic() {
    let refusal = |decompositions: &[Option<&str>], decomposition: fn(&str) -> Result<HloModuleProto>| {
        link_decompositions(&calls(decompositions).unwrap(), decomposition).unwrap_err().message().to_owned()
    };
    let nameless = refusal(&[None], |name| times(name, 2));
    assert!(nameless.ends_with("calls the kernel `Twice` and names no decomposition"), "{nameless}");
    assert_eq!(refusal(&[Some("a")], |name| Err(missing(name))), "no decomposition `a`");
    let nested = refusal(&[Some("a")], |_| calls(&[Some("b")]));
    assert_eq!(nested, "the decomposition `b` calls a kernel itself");
}
