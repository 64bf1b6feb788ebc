//! Errors of the builder, and the form of what it makes.

use crate::common::dims;
use halite_hlo::*;
use halite_support::{Result, codes};
use halite_tensor::{DType, HostTensor, Shape};

/// The refusal of one instruction on `f32[4,8]`, `s32[4,8]` and `f32[]`.
fn refusal(make: impl FnOnce(&mut ComputationBuilder, [Id; 3]) -> Result<Id>) -> String {
    let mut module = ModuleBuilder::new("m");
    let mut b = module.computation("main");
    let x = b.parameter("x", ArrayType::new(DType::F32, [4, 8])).unwrap();
    let i = b.parameter("i", ArrayType::new(DType::S32, [4, 8])).unwrap();
    let one = b.constant_scalar(DType::F32, 1.0).unwrap();
    let before = b.len();
    let refusal = make(&mut b, [x, i, one]).unwrap_err();
    assert_eq!(b.len(), before, "a refused instruction leaves nothing behind");
    refusal.to_string()
}

#[test]
fn ill_typed_instructions_are_refused() {
    assert_eq!(
        refusal(|b, [x, i, _]| b.add(x, i)),
        "error[E0202]: add takes one element type, found `f32[4,8]` and `s32[4,8]`"
    );
    assert_eq!(
        refusal(|b, [x, _, one]| b.add(x, one)),
        "error[E0203]: add takes operands of one shape, found `f32[4,8]` and `f32[]`"
    );
    assert_eq!(
        refusal(|b, [_, i, _]| b.exponential(i)),
        "error[E0202]: exponential takes float elements, found `s32[4,8]`"
    );
    assert_eq!(
        refusal(|b, [x, _, _]| b.reshape(x, &Shape::from([5, 8]))),
        "error[E0203]: cannot reshape `f32[4,8]` to `[5,8]`: the numbers of elements differ"
    );
    assert_eq!(refusal(|b, [x, _, _]| b.transpose(x, &[0, 0])), "error[E0204]: permuted dimension 0 occurs twice");
    assert_eq!(
        refusal(|b, [_, _, one]| b.broadcast(one, &Shape::from([usize::MAX, 8]), &[])),
        format!("error[E0203]: `f32[{},8]` has more bytes than fit in 63 bits", usize::MAX)
    );
    let contract = DotDims { lhs_contracting: dims([1]), rhs_contracting: dims([0]), ..DotDims::default() };
    assert_eq!(
        refusal(|b, [x, _, _]| b.dot(x, x, &contract, DType::F32)),
        "error[E0203]: cannot multiply `f32[4,8]` by `f32[4,8]`: contracting dimension 1 (8) meets dimension 0 (4)"
    );
    assert_eq!(
        refusal(|b, [x, _, _]| b.reduce_scatter(ReduceKind::Add, &[x], 0, &[vec![0, 1, 2]]).map(|ids| ids[0])),
        "error[E0203]: reduce-scatter splits dimension 0 of `f32[4,8]` among 3 ranks, which does not divide it"
    );
    assert_eq!(
        refusal(|b, [x, _, one]| b.reduce(ReduceKind::And, x, one, &[0])),
        "error[E0202]: and takes integer or pred elements, found `f32[]`"
    );
    assert_eq!(refusal(|b, _| b.abs(Id::new(77))), "error[E0205]: %77 is not defined in `main`");
}

#[test]
fn padding_follows_the_edges_and_the_interior() {
    let x = ArrayType::new(DType::F32, [3]);
    let size = |low, high, interior| {
        infer::pad(&x, &ArrayType::scalar(DType::F32), &[PadDim { low, high, interior }]).map(|ty| ty.shape[0])
    };
    assert_eq!(size(1, 2, 0), Ok(6));
    assert_eq!(size(-1, -2, 0), Ok(0));
    assert_eq!(size(0, 0, 2), Ok(7));
    assert_eq!(size(-2, -2, 0).unwrap_err().code(), codes::SHAPE);
}

#[test]
fn bits_are_cast_across_widths() {
    let narrow = infer::bitcast_convert(&ArrayType::new(DType::U64, [5]), DType::U16);
    assert_eq!(narrow, Ok(ArrayType::new(DType::U16, [5, 4])));
    let wide = infer::bitcast_convert(&ArrayType::new(DType::U16, [5, 4]), DType::F64);
    assert_eq!(wide, Ok(ArrayType::new(DType::F64, [5])));
    assert!(infer::bitcast_convert(&ArrayType::new(DType::U16, [5, 3]), DType::F64).is_err());
}

#[test]
fn ids_count_from_zero_in_order_of_emission() {
    let module = crate::common::every_opcode().unwrap();
    let ids = module.computations.iter().flat_map(|computation| &computation.instructions).map(|inst| inst.id);
    assert!(ids.enumerate().all(|(position, id)| position as i64 == id));
    assert_eq!(module.computations.last().unwrap().id, module.entry_computation_id);
}

#[test]
fn combiners_are_made_once() {
    let mut module = ModuleBuilder::new("m");
    let add = module.scalar_reducer(ReduceKind::Add, DType::Bf16).unwrap();
    assert_eq!(module.scalar_reducer(ReduceKind::Add, DType::Bf16).unwrap(), add);
    assert_ne!(module.scalar_reducer(ReduceKind::Max, DType::Bf16).unwrap(), add);
}

#[test]
fn names_of_computations_are_identifiers_and_differ() {
    let mut module = ModuleBuilder::new("m");
    for name in ["add_f32", "a/b", "a_b", "7", ""] {
        let mut body = module.computation(name);
        let x = body.parameter("x", ArrayType::scalar(DType::F32)).unwrap();
        body.finish(x).unwrap();
    }
    module.scalar_reducer(ReduceKind::Add, DType::F32).unwrap();
    let mut main = module.computation("main");
    let x = main.parameter("x", ArrayType::scalar(DType::F32)).unwrap();
    let root = main.root_tuple(&[x]).unwrap();
    main.finish(root).unwrap();
    let module = module.finish().unwrap();
    let names: Vec<_> = module.computations.iter().map(|computation| computation.name.as_str()).collect();
    assert_eq!(names, ["add_f32", "a_b", "a_b.1", "_7", "_", "add_f32.1", "main"]);
}

#[test]
fn called_computations_return_copies_of_parameters() {
    let mut module = ModuleBuilder::new("m");
    let mut body = module.computation("callee");
    let x = body.parameter("x", ArrayType::scalar(DType::F32)).unwrap();
    let y = body.negate(x).unwrap();
    let one = body.root_results(&[y]).unwrap();
    assert_eq!(one, y);
    let copied = body.root_results(&[x]).unwrap();
    assert_ne!(copied, x);
    let root = body.root_results(&[x, y, y]).unwrap();
    let callee = body.finish(root).unwrap();
    assert_eq!(module.signature(callee).unwrap().result.to_string(), "(f32[], f32[], f32[])");
}

fn identity(result: impl FnOnce(&mut ComputationBuilder, Id) -> Result<Id>) -> ModuleBuilder {
    let mut module = ModuleBuilder::new("m");
    let mut b = module.computation("main");
    let x = b.parameter("x", ArrayType::new(DType::F32, [4])).unwrap();
    let root = result(&mut b, x).unwrap();
    b.finish(root).unwrap();
    module
}

#[test]
fn wrong_modules_are_refused() {
    let message = |module: ModuleBuilder| module.finish().unwrap_err().message().to_owned();
    assert_eq!(message(ModuleBuilder::new("m")), "module `m` has no computation");
    assert_eq!(message(identity(|_, x| Ok(x))), "the entry returns `f32[4]`, not a tuple");
    let mut missing = identity(|b, x| b.root_tuple(&[x]));
    missing.alias(0, 1);
    assert_eq!(message(missing), "the alias of parameter 0 and result 1 names something that does not exist");
    let mut types = identity(|b, _| {
        let other = b.constant(&HostTensor::zeros(DType::F32, [5]))?;
        b.root_tuple(&[other])
    });
    types.alias(0, 0);
    assert_eq!(message(types), "the alias of parameter 0 and result 0 joins different types");
}
