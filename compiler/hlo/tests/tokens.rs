//! Collectives that a token puts in one order.

use halite_hlo::proto::{HloInstructionProto, HloModuleProto};
use halite_hlo::{ArrayType, CheckedHlo, CollectiveForm, ModuleBuilder, ReduceKind, Streams, text};
use halite_tensor::DType;

/// Four ranks, two along `tensor`, which are neighbours, and two along `fsdp`.
const TENSOR: Streams = Streams { ranks: 2, stride: 1 };

/// A gather of two weights in `bf16`, a sum and a scatter in `f32`, and an `all-to-all`, which takes no token.
fn module(ordered: Option<Streams>) -> HloModuleProto {
    let form = CollectiveForm { ordered, ..CollectiveForm::default() };
    let mut module = ModuleBuilder::new("ordered").with_collectives(form);
    let (tensor, fsdp) = ([vec![0, 1], vec![2, 3]], [vec![0, 2], vec![1, 3]]);
    let mut b = module.computation("main");
    let v = b.parameter("v", ArrayType::new(DType::Bf16, [2])).unwrap();
    let w = b.parameter("w", ArrayType::new(DType::Bf16, [4])).unwrap();
    let x = b.parameter("x", ArrayType::new(DType::F32, [4])).unwrap();
    let mut results = b.all_gather(&[v, w], 0, &fsdp).unwrap();
    let sum = b.all_reduce(ReduceKind::Add, &[x], &tensor).unwrap()[0];
    let moved = b.all_to_all(sum, 0, &fsdp).unwrap();
    results.extend(b.reduce_scatter(ReduceKind::Add, &[moved], 0, &fsdp).unwrap());
    let root = b.root_tuple(&results).unwrap();
    b.finish(root).unwrap();
    module.finish().unwrap()
}

/// The lines of the entry that are no constants, parameters or root.
fn lines(module: &HloModuleProto) -> Vec<String> {
    let text = text::print(module);
    let (_, entry) = text.split_once("ENTRY").unwrap();
    let lines =
        entry.lines().filter(|line| line.contains(" = ") && !line.contains("parameter(") && !line.contains("ROOT"));
    lines.map(|line| line.trim().to_owned()).collect()
}

const ORDERED: &str = "\
%constant.6 = bf16[] constant(0)
%all-gather.7 = (bf16[4]{0}, bf16[8]{0}, bf16[]) all-gather(%v.3, %w.4, %constant.6), replica_groups={{0,2},{1,3}}, dimensions={0}, frontend_attributes={collective_type=\"fsdp_all_gather\",has_token=\"1\",stream_id=\"1\"}
%get-tuple-element.8 = bf16[4]{0} get-tuple-element(%all-gather.7), index=0
%get-tuple-element.9 = bf16[8]{0} get-tuple-element(%all-gather.7), index=1
%get-tuple-element.10 = bf16[] get-tuple-element(%all-gather.7), index=2
%convert.11 = f32[] convert(%get-tuple-element.10)
%all-reduce.12 = (f32[4]{0}, f32[]) all-reduce(%x.5, %convert.11), replica_groups={{0,1},{2,3}}, to_apply=%add_f32, frontend_attributes={collective_type=\"tp_all_reduce\",has_token=\"1\",stream_id=\"0\"}
%get-tuple-element.13 = f32[4]{0} get-tuple-element(%all-reduce.12), index=0
%all-to-all.14 = f32[4]{0} all-to-all(%get-tuple-element.13), replica_groups={{0,2},{1,3}}, dimensions={0}
%get-tuple-element.15 = f32[] get-tuple-element(%all-reduce.12), index=1
%reduce-scatter.16 = (f32[2]{0}, f32[]) reduce-scatter(%all-to-all.14, %get-tuple-element.15), replica_groups={{0,2},{1,3}}, dimensions={0}, to_apply=%add_f32, frontend_attributes={collective_type=\"fsdp_reduce_scatter\",has_token=\"1\",stream_id=\"1\"}
%get-tuple-element.17 = f32[2]{0} get-tuple-element(%reduce-scatter.16), index=0";

#[test]
fn a_token_goes_through_collectives_in_their_order() {
    let ordered = module(Some(TENSOR));
    assert_eq!(lines(&ordered).join("\n"), ORDERED);
    CheckedHlo::new(ordered).unwrap();
    assert!(!text::print(&module(None)).contains("has_token"));
}

#[test]
fn streams_follow_the_axis_wherever_its_ranks_are() {
    let kinds = |streams| {
        let module = module(Some(streams));
        let insts = module.computations.last().unwrap().instructions.clone();
        let attributes = insts.into_iter().filter_map(|inst| inst.frontend_attributes);
        let kinds =
            attributes.filter_map(|all| Some(format!("{} {}", all.map.get("collective_type")?, all.map["stream_id"])));
        kinds.collect::<Vec<_>>()
    };
    let outer = ["tp_all_gather 0", "fsdp_all_reduce 1", "tp_reduce_scatter 0"];
    assert_eq!(kinds(Streams { ranks: 2, stride: 2 }), outer);
    let none = ["fsdp_all_gather 1", "fsdp_all_reduce 1", "fsdp_reduce_scatter 1"];
    assert_eq!(kinds(Streams { ranks: 1, stride: 1 }), none);
    // No number of ranks is refused: a step of zero counts as one.
    assert_eq!(kinds(Streams { ranks: 0, stride: 0 }), none);
}

#[test]
fn tokens_that_are_none_are_found() {
    let fault = |change: fn(&mut HloInstructionProto)| {
        let mut module = module(Some(TENSOR));
        let entry = module.computations.last_mut().unwrap();
        change(entry.instructions.iter_mut().find(|inst| inst.opcode == "reduce-scatter").unwrap());
        CheckedHlo::new(module).unwrap_err().to_string()
    };
    let lost = fault(|inst| inst.operand_ids.truncate(1));
    assert!(lost.contains("the last of several operands is a token, a scalar; found `f32[4]`"), "{lost}");
    let wide = fault(|inst| inst.operand_ids.reverse());
    assert!(wide.contains("is a token, a scalar; found `f32[]`, `f32[4]`"), "{wide}");
    let dropped = fault(|inst| {
        inst.shape.as_mut().unwrap().tuple_shapes.pop();
    });
    assert!(dropped.contains("(f32[2], f32[])"), "{dropped}");
    let unsaid = fault(|inst| inst.frontend_attributes = None);
    assert!(unsaid.contains("split dimension 0"), "{unsaid}");
}
