//! Texts that are printed are read again, and what is no HLO is refused at its place.

use crate::text::up_to_ids::up_to_ids;
use halite_hlo::cost::{Product, flops};
use halite_hlo::text::{is_hlo, print_large_constants, read};
use halite_hlo::{CheckedHlo, Id, ModuleBuilder, Opcode};
use halite_support::{CancelToken, Diagnostic, Diagnostics, Result, SourceFile, codes};
use halite_tensor::{DType, HostTensor, Shape};

fn of(text: &str) -> std::result::Result<CheckedHlo, Diagnostics> {
    read(&SourceFile::new("test.txt", text))
}

/// The module of a text that has no fault.
fn sound(text: &str) -> CheckedHlo {
    of(text).unwrap_or_else(|faults| panic!("{faults}\n{text}"))
}

/// An entry with these lines in it, from the third line on.
fn entry(lines: &str) -> String {
    format!("HloModule test\nENTRY main {{\n{lines}\n}}\n")
}

/// The faults of a text: line, column and message of each.
fn faults(text: &str) -> Vec<(usize, usize, String)> {
    let file = SourceFile::new("test.txt", text);
    let place = |fault: &Diagnostic| {
        let label = fault.primary().unwrap_or_else(|| panic!("every fault has a place: {fault}"));
        let place = file.position(label.span.start as usize);
        (place.line, place.column, fault.message().to_owned())
    };
    read(&file).expect_err("it has faults").iter().map(place).collect()
}

#[test]
fn what_is_printed_is_read() {
    let module = crate::common::every_opcode().unwrap();
    let again = sound(&print_large_constants(&module));
    assert!(up_to_ids(&again) == up_to_ids(&module));
    let has = |opcode: &&Opcode| {
        again.computations.iter().flat_map(|own| &own.instructions).any(|inst| inst.opcode == opcode.name())
    };
    assert_eq!(Opcode::ALL.iter().find(|opcode| !has(opcode)), None);
    assert_eq!(print_large_constants(&again), print_large_constants(&module));
}

/// Windows of 3x2 elements of 4 channels at 5x6 places, for 3 features of each of two groups.
#[test]
fn convolutions_are_products_of_windows() {
    let module = |more: &str, types: [&str; 3]| {
        let [x, w, y] = types;
        sound(&entry(&format!(
            "  x = {x} parameter(0)\n  w = {w} parameter(1)\n  ROOT y = {y} convolution(x, w), window={{size=3x2}}, \
             dim_labels=b01f_01io->b01f, {more}"
        )))
    };
    let sizes = |hlo: &CheckedHlo| {
        let graph = hlo.graph();
        let at = graph.entry().unwrap().root.unwrap();
        let Product { batch, rows, inner, columns } = Product::of(graph, at).unwrap();
        ([batch, rows, inner, columns], flops(graph, at))
    };
    let by_feature = module("feature_group_count=2", ["f32[8,7,7,8]", "f32[3,2,4,6]", "f32[8,5,6,6]"]);
    assert_eq!(sizes(&by_feature), ([2, 240, 24, 3], 2 * 8 * 30 * 6 * 24));
    let by_batch = module("batch_group_count=2", ["f32[8,7,7,4]", "f32[3,2,4,6]", "f32[4,5,6,6]"]);
    assert_eq!(sizes(&by_batch), ([2, 120, 24, 3], 2 * 4 * 30 * 6 * 24));
}

/// XLA prints the names of parameters in signatures without `%`, whatever they begin with.
#[test]
fn names_of_parameters_begin_with_anything() {
    for name in [".0", "0", "0.1", "-a", "f32"] {
        let module = sound(&entry(&format!("  ROOT %{name} = f32[2]{{0}} parameter(0)")));
        let text = print_large_constants(&module);
        assert!(text.contains(&format!("({name}: f32[2])")), "{text}");
        assert_eq!(print_large_constants(&sound(&text)), text);
    }
    assert_eq!(faults("HloModule test\nENTRY %main (: f32[]) -> f32[] {\n}\n")[0].2, "expected a parameter, found `:`");
}

/// A module that gives its constants.
pub(crate) fn of_constants(tensors: &[HostTensor]) -> Result<CheckedHlo> {
    let mut module = ModuleBuilder::new("constants");
    let mut entry = module.computation("main");
    let constants: Vec<Id> = tensors.iter().map(|tensor| entry.constant(tensor)).collect::<Result<_>>()?;
    let root = entry.root_tuple(&constants)?;
    entry.finish(root)?;
    CheckedHlo::new(module.finish()?)
}

#[test]
fn constants_keep_their_bits() {
    let bits = |dtype: DType| -> Vec<u64> {
        let all = u64::MAX >> (64 - dtype.bits());
        let mixed = (0..40).map(|number: u64| number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (number % 40));
        let edges =
            [0, 1, all, all >> 1, all - (all >> 1), all >> 2, all >> 3, 0x7F80_0000, 0x7F81, 0x7C01, 0xFFC0_0001];
        mixed.chain(edges).map(|bits| bits & all).collect()
    };
    let tensor = |dtype: DType| {
        let bits = bits(dtype);
        let byte = |bits: &u64| {
            if dtype == DType::Pred { vec![(bits & 1) as u8] } else { bits.to_le_bytes()[..dtype.size()].to_vec() }
        };
        let bytes = bits.iter().flat_map(byte).collect();
        HostTensor::from_bytes(dtype, Shape::from(&[bits.len() / 3, 1, 3][..]), bytes).unwrap()
    };
    let tensors: Vec<HostTensor> = DType::ALL.into_iter().map(tensor).collect();
    let module = of_constants(&tensors).unwrap();
    assert!(up_to_ids(&sound(&print_large_constants(&module))) == up_to_ids(&module));
}

#[test]
fn forms_of_a_text_mean_the_same() {
    let plain = "HloModule m, entry_computation_layout={(f32[2,3]{1,0}, s32[])->(f32[2,3]{1,0}, s32[])}

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[2,3]{1,0} parameter(0), sharding={devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}
  n = s32[] parameter(1), sharding={maximal device=1}, frontend_attributes={a=\"b\"}
  y = f32[2,3]{1,0} all-reduce(x), channel_id=1, replica_groups=[2,4]<=[8], use_global_device_ids=true, to_apply=sum
  z = f32[2,3]{1,0} negate(y), control-predecessors={x}, metadata={op_name=\"a/b\" source_file=\"f.py\" source_line=3}
  ROOT t = (f32[2,3]{1,0}, s32[]) tuple(z, n)
}
";
    let wide = "// A dump.
HloModule m, is_scheduled=true, entry_computation_layout={(f32[2,3]{1,0}, s32[])->(f32[2,3]{1,0}, s32[])}, num_partitions=8

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[]{:T(128)} parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(f32[] %a, /*index=1*/f32[] %b)
}, execution_thread=\"main\"

ENTRY %main (x: f32[2,3], n: s32[]) -> (f32[2,3], s32[]) {
  %x = f32[2,3]{1,0:T(8,128)(2,1)S(5)} parameter(0), sharding={devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}
  %n = s32[] parameter(1), sharding={maximal device=1}, frontend_attributes={a=\"b\"}, origin={{\"x\"}}
  %y = f32[2,3] all-reduce(f32[2,3]{1,0} %x), channel_id=1, replica_groups=[2,4]<=[8],
    use_global_device_ids=true, to_apply=%sum
  %z = f32[2,3] negate(f32[2,3] %y), control-predecessors={%x}, metadata={op_name=\"a/b\" source_file=\"f.py\" deduplicated_name=\"d\" source_line=3}
  ROOT %t = (f32[2,3], s32[]) tuple(%z, %n)
}
";
    let (plain, wide) = (sound(plain), sound(wide));
    assert!(up_to_ids(&plain) == up_to_ids(&wide));
    // What is read is printed and read as the same.
    assert!(up_to_ids(&sound(&print_large_constants(&plain))) == up_to_ids(&plain));
    let inst = |at: usize| &plain.computations[1].instructions[at];
    let ranks: Vec<_> = inst(2).groups().unwrap().iter().map(|group| group.replica_ids.clone()).collect();
    assert_eq!(ranks, [[0, 1, 2, 3], [4, 5, 6, 7]]);
    assert_eq!(inst(0).sharding.as_ref().unwrap().iota_transpose_perm, [1, 0]);
    assert_eq!(inst(3).control_predecessor_ids, [inst(0).id]);
}

/// XLA keeps elements in the order of the layout, and prints them in that of the dimensions.
#[test]
fn constants_lie_in_memory_as_their_layouts_say() {
    let text = entry("  ROOT x = s32[2,3]{0,1} constant({ { 1, 2, 3 }, { 4, 5, 6 } })");
    let hlo = sound(&text);
    let literal = hlo.computations[0].instructions[0].literal.as_ref().unwrap();
    assert_eq!(literal.s32s, [1, 4, 2, 5, 3, 6]);
    assert_eq!(literal.tensor().unwrap().ints(), [1, 2, 3, 4, 5, 6]);
    assert!(print_large_constants(&hlo).contains("constant({ { 1, 2, 3 }, { 4, 5, 6 } })"));
}

#[test]
fn computations_may_use_the_names_of_others() {
    let body = |name: &str| format!("{name} {{\n  x = f32[] parameter(0)\n  y = f32[] negate(x)\n}}\n");
    let text = format!("HloModule m\n{}ENTRY {}", body("f"), body("g").replace("negate(x)", "call(x), to_apply=f"));
    let hlo = sound(&text);
    let names: Vec<&str> = hlo.computations.iter().flat_map(|own| &own.instructions).map(|inst| &*inst.name).collect();
    assert_eq!(names, ["x", "y", "x.1", "y.1"]);
    // The last instruction is the root where none says that it is.
    assert_eq!(hlo.computations.iter().map(|own| own.root_id).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn call_stacks_are_kept() {
    let text = entry("  ROOT x = f32[] parameter(0), metadata={op_name=\"x\" stack_frame_id=2}").replacen(
        "test\n",
        "test\n\nFileNames\n1 \"f.py\"\n\nFunctionNames\n1 \"<module>\"\n2 \"f\"\n\nFileLocations\n1 {file_name_id=1 function_name_id=1 line=3 \
         end_line=3 column=1 end_column=9}\n\nStackFrames\n1 {file_location_id=1 parent_frame_id=1}\n2 {file_location_id=1 parent_frame_id=2}\n\n",
        1,
    );
    let hlo = sound(&text);
    let frames = hlo.stack_frame_index.as_ref().unwrap();
    assert_eq!(frames.stack_frames.iter().map(|frame| frame.parent_frame_id).collect::<Vec<_>>(), [0, 1]);
    assert!(up_to_ids(&sound(&print_large_constants(&hlo))) == up_to_ids(&hlo));
}

/// Lines of an entry, each with the fault that it has: the column, and a part of the message.
const FAULTS: &[(&str, usize, &str)] = &[
    ("  %y = f32[4] tangent(%x)", 15, "no opcode has the name `tangent`"),
    ("  %y = f32[4] tanh-start(%x)", 15, "the asynchronous form `tanh-start` is not read"),
    ("  %y = f32[4] tanh(%z)", 20, "no instruction before this one has the name `z`"),
    ("  %y = f32[4] tanh(s32[4] %x)", 20, "the operand has the type `f32[4]`, another is stated"),
    ("  %y = f32[5] tanh(%x)", 3, "`tanh` gives `f32[4]`, but `f32[5]` is stated"),
    ("  %y = tanh(%x)", 8, "expected the type of the result"),
    ("  %y = g32[4] tanh(%x)", 8, "`g32` is no type of elements"),
    ("  %y = f32[-4] tanh(%x)", 12, "a size is negative"),
    ("  %y = f32[?] tanh(%x)", 12, "a size is not known"),
    ("  %y = f32[99999999999999999999] tanh(%x)", 12, "no whole number of 64 bits"),
    ("  %y = f32[9999999999,9999999999] negate(%x)", 8, "has more bytes than fit in 63 bits"),
    ("  %y = f32[4]{1} tanh(%x)", 8, "is no permutation"),
    ("  %y = f32[4] tanh(%x", 1, "expected `,` or `)`, found `}`"),
    ("  %y f32[4] tanh(%x)", 6, "expected `=`, found `f32`"),
    ("  %x = f32[4] tanh(%x)", 3, "`x` is defined twice"),
    ("  %y = f32[4] tanh(%x), dimensions={0}", 25, "`tanh` has no attribute `dimensions`"),
    ("  %y = f32[4] tanh(%x), metadta={}", 25, "`tanh` has no attribute `metadta`"),
    ("  %y = f32[4] tanh(%x), metadata={}, metadata={}", 38, "the attribute `metadata` is given twice"),
    ("  %y = f32[4] reverse(%x)", 3, "`reverse` has no `dimensions`"),
    ("  %y = f32[4] reverse(%x), dimensions=0", 39, "expected `{`, found `0`"),
    ("  %y = f32[4] reverse(%x), dimensions={0 1}", 42, "expected `,` or `}`"),
    ("  %y = f32[4] call(%x), to_apply=%f", 34, "no computation before this one has the name `f`"),
    ("  %y = pred[4] compare(%x, %x), direction=LESS", 43, "`LESS` is no direction of a comparison"),
    ("  %y = f32[4] constant({...})", 24, "the elements of a constant were left out"),
    ("  %y = f32[4] constant({1, 2, 3})", 32, "3 elements stand along dimension 0 of `f32[4]`"),
    ("  %y = f32[4] constant(1)", 24, "`f32[4]` has 4 elements, found 1"),
    ("  %y = f32[2] constant({1, x})", 28, "`x` is no element of `f32`"),
    ("  %y = s8[] constant(300)", 22, "`300` is no element of `s8`"),
    ("  %y = f32[1] constant({{1}})", 25, "the braces do not fit `f32[1]`"),
    ("  %y = (f32[]) constant((1))", 25, "a constant that is a tuple is not read"),
    ("  %y = f32[6] pad(%x, %x), padding=1x1", 36, "expected padding such as"),
    ("  %y = f32[4] slice(%x), slice={0:4}", 33, "expected `[`, found `0`"),
    ("  %y = f32[4] copy(%x), sharding={devices=[2]<=[2] split}", 52, "`split` is nothing that a sharding is read of"),
    ("  %y = f32[4] copy(%x), sharding={}", 35, "the sharding has no devices"),
    ("  %y = f32[4] copy(%x), sharding={mesh['x'=2] {'x'}}", 35, "`mesh` is nothing that a sharding"),
    ("  %y = f32[4] all-gather(%x), dimensions={0}, replica_groups=mesh['x'=2] {'x'}", 62, "groups of ranks as axes"),
    ("  %y = f32[4] copy(%x), frontend_attributes={a=\"1\",a=\"2\"}", 52, "the attribute is given twice"),
    ("  %y = f32[4] copy(%x), backend_config={{", 40, "what opens here is not closed"),
    ("  %y = f32[4] copy(%x), metadata={op_name=\"a}", 43, "a string has no end"),
    ("  %y = f32[4] copy(%x), sharding={devices=[2,1]<=[2,1]T(0,0)}", 50, "are transposed by each of them once"),
    ("  %y = f32[4] copy(%x), sharding={replicated last_tile_dim_replicate}", 35, "this kind of sharding has no tiles"),
    ("  %y = f32[4] copy(%x), sharding={maximal}", 35, "a sharding that is maximal has one device"),
    ("  %y = pred[4] compare(%x, %x), direction=LT, type=SIGNED", 52, "the order of these elements is `FLOAT`"),
    ("  %y = f32[4] all-gather(%x), dimensions={0}, channel_id=-1", 58, "-1 is less than 1"),
    ("  %y = f32[4] convolution(%x, %x), dim_labels=b0f_0io->b1f", 47, "expected dimensions such as"),
    ("  %y = f32[4] reduce-window(%x, %x), window={size=2 stride=1x1}", 60, "the window has 1 dimensions, found 2"),
    ("  %y = f32[4] reduce-window(%x, %x), window={sise=2}", 46, "a window has no `sise`"),
];

#[test]
fn each_fault_is_told_at_its_place() {
    let mut wrong = Vec::new();
    for &(line, column, message) in FAULTS {
        let found = faults(&entry(&format!("  %x = f32[4] parameter(0)\n{line}")));
        // What is missing at the end of a line is told where the next one begins.
        let expected = (if column == 1 { 5 } else { 4 }, column);
        let is_right = matches!(&found[..], [(at, place, said)] if (*at, *place) == expected && said.contains(message));
        if !is_right {
            wrong.push(format!("{line}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn faults_of_a_whole_text_are_told_at_their_places() {
    let cases = [
        ("", 1, "expected `HloModule`, found the end of the text"),
        ("HloModule", 1, "expected the name of the module"),
        ("HloModule m, sheduled=true", 1, "no module has an attribute `sheduled`"),
        ("HloModule m\n", 1, "the module has no entry"),
        ("HloModule m\nmain {\n  x = f32[] parameter(0)\n}\n", 1, "the module has no entry"),
        ("HloModule m\nENTRY main {\n  x = f32[] parameter(0)\n", 4, "expected `}`, found the end of the text"),
        ("HloModule m\nENTRY main {\n  x = f32[] param", 3, "no opcode has the name `param`"),
        ("HloModule m\nENTRY main {\n}\n", 2, "a computation has no instruction"),
        (
            "HloModule m\nENTRY a (x: f32[]) -> f32[] {\n  ROOT y = s32[] parameter(0)\n}\n",
            2,
            "another type of parameter 0",
        ),
        ("HloModule m\nENTRY a () -> f32[] {\n  ROOT y = f32[] parameter(0)\n}\n", 2, "states 0 parameters, found 1"),
        ("HloModule m\nENTRY a {\n  y = f32[] parameter(0)\n}\nENTRY b {\n", 5, "a module has one entry"),
        ("HloModule m\na {\n  y = f32[] parameter(0)\n}\na {\n", 5, "the computation `a` is defined twice"),
        ("HloModule m\nFileNames\n2 \"a\"\n", 3, "expected the row 1"),
        (
            "HloModule m, entry_computation_layout={(s32[])->f32[]}\nENTRY a {\n  ROOT y = f32[] parameter(0)\n}\n",
            1,
            "the first line states another type of parameter 0 of the entry",
        ),
        ("HloModule m /* no end", 1, "the module has no entry"),
    ];
    for (text, line, message) in cases {
        let found = faults(text);
        let [(at, _, said)] = &found[..] else { panic!("{text}: {found:?}") };
        assert!(*at == line && said.contains(message), "{text}: {found:?}");
    }
}

#[test]
fn all_faults_are_told_at_once_and_none_that_follows() {
    let text = entry(
        "  %x = f32[4] parameter(0)
  %a = f32[4] tangent(%x)
  %b = f32[4] add(%a, %x)
  %c = f32[4] constant({1, 2,
    3, five})
  %d = f32[4] add(%b, %c
  %e = f32[4] add(%d, %none)
  ROOT %f = f32[4] add(%e, %x)",
    );
    let found: Vec<(usize, String)> = faults(&text).into_iter().map(|(line, _, message)| (line, message)).collect();
    let lines: Vec<usize> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [4, 7, 9, 9], "{found:?}");
}

#[test]
fn reading_ends_after_many_faults_and_where_it_is_cancelled() {
    let text = entry(&(0..500).map(|number| format!("  %a{number} = f32[] tangent()\n")).collect::<String>());
    let found = of(&text).unwrap_err();
    assert_eq!((found.len(), found.iter().last().unwrap().code()), (101, codes::LIMIT));
    let found = CancelToken::after(0).within(|| of(&text)).unwrap_err();
    assert!(found.iter().all(|fault| fault.code() == codes::CANCELLED), "{found}");
}

#[test]
fn types_nest_so_deep_and_no_deeper() {
    let nested = |depth: usize| {
        let ty = format!("{}f32[]{}", "(".repeat(depth), ")".repeat(depth));
        entry(&format!("  ROOT x = {ty} parameter(0)"))
    };
    assert!(of(&nested(60)).is_ok());
    for depth in [65, 1_000_000] {
        assert!(faults(&nested(depth))[0].2.contains("nest more than 64 deep"));
    }
}

#[test]
fn texts_of_hlo_begin_with_a_word() {
    assert!(is_hlo("HloModule m") && is_hlo("// a\n /* b */ HloModule m"));
    assert!(!is_hlo("HloModules") && !is_hlo("module @a {") && !is_hlo(""));
}

#[test]
fn an_attribute_that_is_printed_of_one_opcode_alone_is_read_of_no_other() {
    let lines = "x = f32[4] parameter(0)\nROOT y = pred[4] conditional(x, x), direction=LT";
    assert_eq!(faults(&entry(lines)), [(4, 37, "`conditional` has no attribute `direction`".to_owned())]);
}

#[test]
fn parameters_have_the_names_of_their_instructions() {
    let text = "HloModule m\nf {\nx = f32[] parameter(0)\nROOT y = f32[] negate(x)\n}
ENTRY main {\nx = f32[] parameter(0)\nROOT z = f32[] call(x), to_apply=f\n}\n";
    let own = sound(text);
    for computation in &own.computations {
        let shape = computation.program_shape.as_ref().unwrap();
        assert_eq!(shape.parameter_names, [computation.instructions[0].name.to_string()]);
    }
    assert!(sound(&print_large_constants(&own)).encode() == own.encode());
}
