//! The reader is the inverse of the writer, and texts of others mean what they say.

use halite_hlo::graph::Graph;
use halite_hlo::proto::Name;
use halite_hlo::{CheckedHlo, Opcode};
use halite_stablehlo::{Form, is_bytecode, print, read};
use halite_support::{CancelToken, Diagnostics, SourceFile, codes};

fn of(text: &str) -> Result<CheckedHlo, Diagnostics> {
    read(&SourceFile::new("test.mlir", text))
}

/// The module of a text that has no fault.
fn sound(text: &str) -> CheckedHlo {
    of(text).unwrap_or_else(|faults| panic!("{faults}\n{text}"))
}

/// A function of one tensor with these lines in it.
fn function(lines: &str) -> String {
    format!("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\n{lines}\n}}")
}

/// The faults of a text: line, column and message of each.
fn faults(text: &str) -> Vec<(usize, usize, String)> {
    let file = SourceFile::new("test.mlir", text);
    let faults = read(&file).expect_err("it has faults");
    let place = |fault: &halite_support::Diagnostic| {
        let place = file.position(fault.primary().expect("every fault has a place").span.start as usize);
        (place.line, place.column, fault.message().to_owned())
    };
    faults.iter().map(place).collect()
}

fn count(graph: &Graph, opcode: &str) -> usize {
    (0..graph.len()).filter(|&at| graph.opcode(at) == opcode).count()
}

#[test]
fn what_is_written_is_read() {
    let module = CheckedHlo::new(crate::common::every_opcode().unwrap()).unwrap();
    let form = Form::Program { num_replicas: 4 };
    let text = print(&module, form).unwrap();
    let again = print(&sound(&text), form).unwrap();
    crate::written::assert_alike(&text, &again);
    let has = |opcode: &Opcode| count(sound(&text).graph(), opcode.name()) > 0;
    let dropped = [Opcode::Copy];
    let missing: Vec<_> = Opcode::ALL.iter().filter(|opcode| !has(opcode) && !dropped.contains(opcode)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// `pretty.mlir` is a program as JAX prints it, `generic.mlir` and `local.mlir` are the same in MLIR's generic form, and with locations
/// where they are.
#[test]
fn the_forms_of_a_text_mean_the_same() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/forms");
    let hlo = |name: &str| {
        let text = std::fs::read_to_string(format!("{folder}/{name}.mlir")).unwrap();
        let mut hlo = sound(&text).into_module();
        // Arguments that their locations do not name are numbered in another way in each form.
        hlo.host_program_shape.as_mut().unwrap().parameter_names.clear();
        for computation in &mut hlo.computations {
            computation.program_shape.as_mut().unwrap().parameter_names.clear();
            computation.instructions.iter_mut().for_each(|inst| inst.name = Name::default());
        }
        hlo
    };
    let pretty = hlo("pretty");
    assert!(pretty.computations.len() > 10);
    // As bytes, since a constant may be NaN.
    for name in ["generic", "local"] {
        assert!(halite_hlo::encode(&hlo(name)) == halite_hlo::encode(&pretty), "`{name}.mlir` means something else");
    }
}

#[test]
fn values_of_around_are_handed_into_loops_and_branches() {
    let hlo = sound(
        "func.func @main(%x: tensor<4xf32>, %n: tensor<i32>, %p: tensor<i1>) -> tensor<4xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %z = \"stablehlo.if\"(%p) ({
      %sum = stablehlo.add %y, %x : tensor<4xf32>
      stablehlo.return %sum : tensor<4xf32>
    }, {
      stablehlo.return %x : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    stablehlo.return %next, %z : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}",
    );
    let graph = hlo.graph();
    let at = (0..graph.len()).find(|&at| graph.opcode(at) == "while").unwrap();
    // The values of the loop, the bound that its condition reads, and what its branches read.
    assert_eq!(graph.shape(at).unwrap().tuple_shapes.len(), 5);
    assert_eq!((count(graph, "while"), count(graph, "conditional")), (1, 1));
}

#[test]
fn what_is_said_of_arguments_and_results_is_kept() {
    let hlo = sound(
        "#mesh = loc(unknown)
module @step attributes {mhlo.num_partitions = 1 : i32} {
  sdy.mesh @mesh = <[\"x\"=2]>
  func.func public @main(
      %a: tensor<4xf32> {tf.aliasing_output = 0 : i32, sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>} loc(\"weights\"),
      %b: tensor<4xf32> {jax.buffer_donor = true, mhlo.sharding = \"{replicated}\"})
      -> (tensor<4xf32> {jax.result_info = \"loss\"}) {
    %0 = stablehlo.add %a, %b {mhlo.frontend_attributes = {key = \"value\"}} : tensor<4xf32> loc(#add)
    return %0 : tensor<4xf32>
  }
}
#add = loc(\"jit(step)/add\"(callsite(#inner at \"main.py\":1:2)))
#inner = loc(\"inner\"(\"model.py\":7:3 to 7:9))
",
    );
    let alias = &hlo.input_output_alias.as_ref().unwrap().entries[0];
    assert_eq!((alias.parameter_number, alias.kind, &alias.output_shape_index[..]), (0, 1, &[0][..]));
    assert_eq!(hlo.buffer_donor.as_ref().unwrap().entries[0].parameter_number, 1);
    assert_eq!(hlo.frontend_attributes.as_ref().unwrap().map["xla.sdy.meshes"], "{mesh = #sdy.mesh<[\"x\"=2]>}");
    let entry = &hlo.computations[0];
    assert_eq!(entry.program_shape.as_ref().unwrap().parameter_names, ["weights", "b"]);
    let frontend = |at: usize| entry.instructions[at].frontend_attributes.as_ref().unwrap().map.clone();
    assert_eq!(frontend(0)["xla.sdy.sharding"], "#sdy.sharding<@mesh, [{\"x\"}]>");
    assert_eq!(frontend(1)["mhlo.sharding"], "{replicated}");
    assert_eq!(frontend(2)["key"], "value");
    assert_eq!(frontend(3)[halite_hlo::OUTPUT_NAMES], "loss");
    let metadata = entry.instructions[2].metadata.as_ref().unwrap();
    assert_eq!((metadata.op_name.as_str(), metadata.source_file.as_str()), ("jit(step)/add", "model.py"));
    assert_eq!((metadata.source_line, metadata.source_column, metadata.source_end_column), (7, 3, 9));
}

#[test]
fn constants_stand_in_resources_and_for_all_elements() {
    let hlo = sound(
        "func.func @main() -> (tensor<2xf32>, tensor<1000000xf32>) {
  %0 = stablehlo.constant dense_resource<weights> : tensor<2xf32>
  %1 = stablehlo.constant dense<0.5> : tensor<1000000xf32>
  return %0, %1 : tensor<2xf32>, tensor<1000000xf32>
}
{-#
  dialect_resources: {
    builtin: {
      weights: \"0x040000000000803F00000040\"
    }
  }
#-}",
    );
    let literals: Vec<_> = hlo.computations[0].instructions.iter().filter_map(|inst| inst.literal.as_ref()).collect();
    assert_eq!((literals[0].f32s.as_slice(), literals[1].f32s.as_slice()), (&[1.0, 2.0][..], &[0.5][..]));
}

#[test]
fn operations_of_chlo_and_composites_are_calls_of_what_they_mean() {
    let hlo = sound(&function(
        "  %0 = chlo.erfc %x : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.erfc %0 : tensor<4xf32> -> tensor<4xf32>
  %2 = stablehlo.composite \"my.gelu\" %1 {decomposition = @gelu, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>",
    ));
    let names: Vec<&str> = hlo.computations.iter().map(|own| own.name.as_str()).collect();
    assert_eq!(names, ["erfc", "gelu", "main"]);
    let said = hlo.computations[2].instructions.iter().filter_map(|inst| inst.frontend_attributes.as_ref());
    let composites: Vec<&str> = said.map(|said| said.map["composite.name"].as_str()).collect();
    assert_eq!(composites, ["chlo.erfc", "chlo.erfc", "my.gelu"]);
}

#[test]
fn a_convolution_is_the_same_in_either_form() {
    let convolution = |text: &str| {
        let hlo = sound(&format!(
            "func.func @main(%x: tensor<1x8x9x4xf32>, %k: tensor<3x2x2x6xf32>) -> tensor<1x4x9x6xf32> {{\n  %0 = {text} : \
             (tensor<1x8x9x4xf32>, tensor<3x2x2x6xf32>) -> tensor<1x4x9x6xf32>\n  return %0 : tensor<1x4x9x6xf32>\n}}"
        ));
        hlo.computations[0].instructions[2].clone()
    };
    let pretty = convolution(
        "stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], \
         pad = [[1, 0], [0, 1]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64}",
    );
    let generic = convolution(
        "\"stablehlo.convolution\"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, \
         o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>, window_strides = \
         array<i64: 2, 1>}>",
    );
    assert_eq!(pretty, generic);
    let numbers = pretty.convolution_dimension_numbers.as_deref().unwrap();
    assert_eq!((&numbers.kernel_spatial_dimensions[..], numbers.kernel_output_feature_dimension), (&[0, 1][..], 3));
    let dimensions = &pretty.window.as_deref().unwrap().dimensions;
    let window: Vec<_> =
        dimensions.iter().map(|dim| (dim.size, dim.stride, dim.padding_low, dim.padding_high)).collect();
    assert_eq!((window, pretty.feature_group_count), (vec![(3, 2, 1, 0), (2, 1, 0, 1)], 2));
}

#[test]
fn all_faults_are_told_at_once() {
    let found = faults(&function(
        "  %0 = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.add %0, %x : tensor<4xf32>
  %2 = stablehlo.add %y, %x : tensor<4xf32>
  %3 = stablehlo.constant dense<[1.0, 2.0]> : tensor<4xf32>
  %4 = stablehlo.tanh %x : tensor<4xf64>
  %5 = mhlo.tanh %x : tensor<4xf32>
  %6 = stablehlo.broadcast_in_dim %x, dims = [7] : (tensor<4xf32>) -> tensor<4x4xf32>
  %7 = \"stablehlo.tanh\"(%x) <{wrong = 1 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  %8 = call @missing(%x) : (tensor<8xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>",
    ));
    let places: Vec<(usize, usize)> = found.iter().map(|(line, column, _)| (*line, *column)).collect();
    assert_eq!(places, [(2, 8), (4, 22), (5, 42), (7, 8), (8, 8), (9, 8), (10, 28)], "{found:#?}");
}

/// Types that do not fit are found when everything else is right.
#[test]
fn types_that_do_not_fit_are_told_at_their_operations() {
    let found = faults(&function(
        "  %0 = stablehlo.tanh %x : tensor<5xf32>
  %1 = stablehlo.add %x, %x : tensor<4xf32>
  %2 = stablehlo.transpose %x, dims = [0] : (tensor<4xf32>) -> tensor<7xf32>
  return %1 : tensor<4xf32>",
    ));
    let places: Vec<(usize, usize)> = found.iter().map(|(line, column, _)| (*line, *column)).collect();
    assert_eq!(places, [(2, 8), (4, 8)], "{found:#?}");
    assert!(found[0].2.contains("gives `f32[4]`, but `f32[5]` is stated"), "{found:#?}");
}

#[test]
fn what_is_refused_is_refused_by_name() {
    let refused = [
        (
            "  %0 = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xf32>) -> tensor<4xf32>",
            "no form of `stablehlo.fft`",
        ),
        ("  %0 = \"stablehlo.cholesky\"(%x) : (tensor<4xf32>) -> tensor<4xf32>", "no form of `stablehlo.cholesky`"),
        ("  %0 = linalg.abs %x : tensor<4xf32>", "is of the dialect `linalg`, which is not read"),
        ("  %0 = \"vhlo.add_v1\"(%x, %x) : (tensor<4xf32>) -> tensor<4xf32>", "of the serialized form of StableHLO"),
        ("  %0 = stablehlo.constant dense_resource<__elided__> : tensor<4xf32>", "left out when the text was printed"),
        ("  %0 = stablehlo.constant dense<\"0xDEADBEEF\"> : tensor<4xf64>", "left out when the text was printed"),
        ("  %0 = stablehlo.constant dense<1.0> : tensor<?xf32>", "sizes that are not known before it runs"),
        ("  %0 = stablehlo.constant dense<1> : tensor<4xi4>", "elements that Halite does not compute with"),
        ("  %0 = stablehlo.constant dense<1.0> : tensor<9999999999x9999999999xf32>", "63 bits"),
        (
            "  %0 = stablehlo.custom_call @f(%x) {called_computations = [@g]} : (tensor<4xf32>) -> tensor<4xf32>",
            "calls",
        ),
        ("  cf.br ^bb1\n^bb1:", "is of the dialect `cf`"),
        ("  return %x : tensor<4xf32>\n^bb1:\n  return %x : tensor<4xf32>", "several blocks"),
    ];
    for (line, message) in refused {
        let found = faults(&function(&format!("{line}\n  return %x : tensor<4xf32>")));
        assert!(found.iter().any(|(_, _, found)| found.contains(message)), "{line}: {found:?}");
    }
    assert!(is_bytecode(b"ML\xEFR\x01") && !is_bytecode(b"module {}"));
}

/// A size is not believed before the elements are there, and one element for all is no list of them.
#[test]
fn large_sizes_take_no_memory() {
    let text =
        function("  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<99999999999xf32>\n  return %x : tensor<4xf32>");
    assert!(faults(&text)[0].2.contains("99999999999"));
    let hlo =
        sound(&function("  %0 = stablehlo.constant dense<1.0> : tensor<99999999999xf32>\n  return %x : tensor<4xf32>"));
    assert!(hlo.encode().len() < 2000);
}

#[test]
fn a_text_nests_only_so_deep() {
    let nested = |depth: usize| {
        let open = "%0 = \"stablehlo.case\"(%i) ({\n".repeat(depth);
        let close = "stablehlo.return %x : tensor<4xf32>\n}) : (tensor<i32>) -> tensor<4xf32>\n"
            .replace("%x", "%0")
            .repeat(depth - 1);
        format!(
            "func.func @main(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {{\n{open}stablehlo.return %x : tensor<4xf32>\n}}) : \
             (tensor<i32>) -> tensor<4xf32>\n{close}return %0 : tensor<4xf32>\n}}"
        )
    };
    assert_eq!(count(sound(&nested(60)).graph(), "conditional"), 60);
    assert!(faults(&nested(100_000))[0].2.contains("nests more than 64 deep"));
    let lists = function(&format!("  %0 = \"stablehlo.tanh\"(%x) {{a.b = {}", "[".repeat(100_000)));
    assert!(faults(&lists)[0].2.contains("nests more than 64 deep"));
    let locations = format!("#loc = loc({}", "callsite(".repeat(100_000));
    assert!(faults(&locations)[0].2.contains("nests more than 64 deep"));
}

#[test]
fn functions_call_others_and_never_themselves() {
    let found = faults(
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @f(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @f(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}",
    );
    assert_eq!(found, [(5, 19, "the function `f` calls itself".to_owned())]);
    let none = of("module {\n}").unwrap_err();
    assert!(none[0].message().contains("the text has no function `@main`"), "{none}");
}

#[test]
fn reading_ends_when_it_is_cancelled() {
    let lines = "  %0 = stablehlo.tanh %x : tensor<4xf32>\n".replace("%0", "%v");
    let many: String = (0..1000).map(|at| lines.replace("%v", &format!("%v{at}"))).collect();
    let text = function(&format!("{many}  return %x : tensor<4xf32>"));
    let token = CancelToken::after(2);
    let faults = token.within(|| of(&text)).unwrap_err();
    assert_eq!(faults.iter().map(halite_support::Diagnostic::code).collect::<Vec<_>>(), [codes::CANCELLED]);
}
