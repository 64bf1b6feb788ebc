//! Functions for the program of another.

use halite_hlo::proto::HloModuleProto;
use halite_hlo::{ArrayType, CheckedHlo, CollectiveForm, GroupField, ModuleBuilder, ReduceKind, Streams};
use halite_stablehlo::{Form, Functions};
use halite_support::Result;
use halite_tensor::DType;

const FUNCTIONS: Functions<'_> = Functions { prefix: "step", num_partitions: 8, first_channel: 3 };

/// Every collective on a mesh of `data` = 4 by `tensor` = 2 ranks, of several operands where it takes them, and in a function that is
/// called twice. `tests/jax/run_functions.py` says what each gives.
fn collectives(form: CollectiveForm) -> Result<HloModuleProto> {
    let mut module = ModuleBuilder::new("collectives").with_collectives(form);
    let data = [vec![0, 2, 4, 6], vec![1, 3, 5, 7]];
    let tensor = [vec![0, 1], vec![2, 3], vec![4, 5], vec![6, 7]];
    let (long, short) = (ArrayType::new(DType::F32, [8]), ArrayType::new(DType::F32, [4]));
    let block = {
        let mut body = module.computation("block");
        let x = body.parameter("x", long.clone())?;
        let sum = body.all_reduce(ReduceKind::Add, &[x], &tensor)?[0];
        let root = body.add(sum, x)?;
        body.finish(root)?
    };
    let mut main = module.computation("main");
    let (x, y) = (main.parameter("x", long)?, main.parameter("y", short)?);
    let once = main.call(block, &[x])?;
    let mut results = vec![main.call(block, &[once])?];
    results.extend(main.all_reduce(ReduceKind::Add, &[x, y], &data)?);
    results.extend(main.all_reduce(ReduceKind::Max, &[y], &[(0..8).collect()])?);
    results.extend(main.all_gather(&[x, y], 0, &tensor)?);
    results.extend(main.reduce_scatter(ReduceKind::Add, &[x, y], 0, &data)?);
    results.push(main.all_to_all(x, 0, &data)?);
    results.push(main.collective_permute(x, &[(0, 2), (2, 4), (4, 6), (6, 0), (1, 3)])?);
    results.push(main.replica_id()?);
    let root = main.root_tuple(&results)?;
    main.finish(root)?;
    module.alias(0, 0);
    module.finish()
}

fn printed(functions: Functions<'_>, change: impl FnOnce(&mut HloModuleProto)) -> Result<String> {
    let mut module = collectives(CollectiveForm::default()).unwrap();
    change(&mut module);
    halite_stablehlo::print(&CheckedHlo::new(module).unwrap(), Form::Functions(functions))
}

/// `functions.mlir` was read by a person, and is run by `tests/jax/run_functions.py`.
#[test]
fn ranks_are_partitions_and_functions_the_callers() {
    let text = printed(FUNCTIONS, |_| {}).unwrap();
    crate::written::assert_written("functions.mlir", &text);
}

/// Groups, channels and donation in the HLO do not change the text.
#[test]
fn the_form_of_the_hlo_makes_no_difference() {
    let text = printed(FUNCTIONS, |_| {}).unwrap();
    for groups in [GroupField::ReplicaGroups, GroupField::CollectiveDeviceList] {
        let module = collectives(CollectiveForm { groups, channels: true, ordered: None }).unwrap();
        let form = Form::Functions(FUNCTIONS);
        assert_eq!(halite_stablehlo::print(&CheckedHlo::new(module).unwrap(), form).unwrap(), text);
    }
    let global = printed(FUNCTIONS, |module| {
        for inst in module.computations.iter_mut().flat_map(|own| &mut own.instructions) {
            inst.use_global_device_ids = ["all-reduce", "all-gather"].contains(&&*inst.opcode);
            inst.channel_id = i64::from(inst.use_global_device_ids) * (100 + inst.id);
        }
    });
    assert_eq!(global.unwrap(), text);
}

#[test]
fn what_fits_no_program_is_refused() {
    let refused = |functions: Functions<'_>| printed(functions, |_| {}).unwrap_err();
    let wrong = [
        (Functions { prefix: "", ..FUNCTIONS }, "need a name, and theirs is empty"),
        (Functions { first_channel: 0, ..FUNCTIONS }, "the first channel of functions is 0; channels begin with 1"),
        (Functions { num_partitions: 7, ..FUNCTIONS }, "it speaks of rank 7, and the program has 7 partitions"),
    ];
    for (functions, message) in wrong {
        let error = refused(functions);
        assert!(error.message().contains(message), "{error}");
        assert_eq!(error.code().id, "E0215");
    }
    let error = refused(Functions { num_partitions: 6, ..FUNCTIONS });
    assert!(error.message().contains("`all-reduce` (`all-reduce.4`)"), "{error}");
}

/// Any text is a name in MLIR.
#[test]
fn names_are_quoted_where_they_must_be() {
    let text = printed(Functions { prefix: "a b", ..FUNCTIONS }, |_| {}).unwrap();
    for part in ["func.func private @\"a b\"(", "func.func private @\"a b_block\"(", "callee = @\"a b_block\""] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_token_is_refused() {
    let ordered = Some(Streams { ranks: 2, stride: 1 });
    let module = collectives(CollectiveForm { ordered, ..CollectiveForm::default() }).unwrap();
    let error = halite_stablehlo::print(&CheckedHlo::new(module).unwrap(), Form::Functions(FUNCTIONS)).unwrap_err();
    assert!(error.message().contains("it hands on a token, and StableHLO has no collective that does"), "{error}");
}
