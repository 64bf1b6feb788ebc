//! Faults of a pass.

use super::{Fault, Place};

const LINEAR: &str = r#"module @linear {phase = differentiated}
func @main(%x: f32[2] {batch}, %w: f32[2] {weight, init = ones, decay = 0.0}) -> (loss: f32[] {loss}, count: f32[] {count}, w: f32[2] {gradient = "w"}) {
  %a = multiply %x, %w : f32[2]
  %loss = reduce %a {kind = sum, dims = [0]} : f32[]
  %count = constant 2.0 : f32[]
  return %loss, %count, %x
}
"#;

const BUILT: &str = r#"module @linear {phase = built}
func @main(%x: f32[] {batch}, %w: f32[] {weight, init = ones, decay = 0.0}) -> (loss: f32[] {loss}, count: f32[] {count}) {
  %loss = multiply %x, %w : f32[]
  %count = constant 2.0 : f32[]
  return %loss, %count
}
"#;

const SCALED: &str = r#"module @linear {phase = cast}
func @main(%x: f16[2] {batch}, %w: f32[] {weight, init = ones, decay = 0.0}, %scaler: f32[] {state = scaler, init = constant(4096.0)}) -> (loss: f32[] {loss}, count: f32[] {count}, w: f16[2] {gradient = "w"}) {
  %loss = multiply %w, %scaler : f32[]
  %count = constant 2.0 : f32[]
  return %loss, %count, %x
}
"#;

const JUDGED: &str = r#"module @linear {phase = cast}
func @main(%finite: pred[] {batch}, %x: f32[] {batch}, %w: f32[] {weight, init = ones, decay = 0.0}) -> (loss: f32[] {loss}, count: f32[] {count}, w: f32[] {gradient = "w"}, finite: pred[] {finite}) {
  %loss = multiply %x, %w : f32[]
  %count = constant 2.0 : f32[]
  return %loss, %count, %x, %finite
}
"#;

const TWO: &str = r#"module @two {phase = differentiated}
func @main(
  %x: f32[2,3] {batch},
  %y: f32[2] {batch},
  %w: f32[2,3] {weight, init = ones, decay = 0.1},
  %v: f32[2] {weight, init = ones, decay = 0.0},
) -> (loss: f32[] {loss}, count: f32[] {count}, w: f32[2,3] {gradient = "w"}, v: f32[2] {gradient = "v"}) {
  %a = multiply %x, %w : f32[2,3]
  %loss = reduce %a {kind = sum, dims = [0, 1]} : f32[]
  %count = constant 4.0 : f32[]
  return %loss, %count, %x, %y
}
"#;

const KEPT: &str = r#"module @kept {phase = cast}
func @main(
  %x: f32[2] {batch},
  %w: bf16[2] {weight, init = ones, decay = 0.1, group = "slow"},
  %f: bf16[2] {weight, init = ones, frozen},
) -> (loss: f32[] {loss}, count: f32[] {count}, w: f32[2] {gradient = "w"}, scale.w: f32[] {scale = "w"}, grad_norm: f32[] {metric}) {
  %a = convert %f : f32[2]
  %b = multiply %x, %a : f32[2]
  %loss = reduce %b {kind = sum, dims = [0]} : f32[]
  %count = constant 4.0 : f32[]
  %scale = constant 0.25 : f32[]
  %norm = constant 1.0 : f32[]
  return %loss, %count, %x, %scale, %norm
}
"#;

const DROPS: &str = r#"module @drops {phase = built}
func @layer(%x: f32[8,8]) -> (f32[8,8]) {
  %y = dropout %x {rate = 0.5} : f32[8,8]
  return %y
}
func @main(%x: f32[8,8] {batch}) -> (a: f32[8,8] {probe}, b: f32[8,8] {probe}, c: f32[8,8] {probe}) {
  %a = call %x {callee = @layer} : f32[8,8]
  %b = call %x {callee = @layer} : f32[8,8]
  %c = dropout %x {rate = 0.25} : f32[8,8]
  return %a, %b, %c
}
"#;

const CLIPPED: &[&str] = &[
    "nonfinite = \"skip\"",
    "optimizer.adamw.lr = 0.1",
    "optimizer.adamw.betas = [0.9, 0.99]",
    "optimizer.adamw.eps = 1e-8",
    "optimizer.adamw.weight_decay = 0.1",
    "optimizer.adamw.no_decay = [\"v\"]",
    "optimizer.adamw.clip_norm = 0.05",
];

static DROP: Place = Place { module: DROPS, recipe: &["train.seed = 5"], passes: &["key-dropout"] };
static ACCUMULATE: Place = Place { module: LINEAR, recipe: &["accumulate = 2"], passes: &["accumulate"] };
static ADD: Place = Place { passes: &["add-to-accumulators"], ..ACCUMULATE };
static READ: Place = Place { passes: &["read-accumulators"], ..ACCUMULATE };
static SCALE: Place = Place { module: BUILT, recipe: &["precision = \"fp16\""], passes: &["scale-loss"] };
static UNSCALE: Place = Place { module: SCALED, passes: &["unscale"], ..SCALE };
static ADJUST: Place = Place { module: JUDGED, passes: &["adjust-loss-scale"], ..SCALE };
static CLIP: Place = Place { module: TWO, recipe: CLIPPED, passes: &["clip"] };
static FINITE: Place = Place { passes: &["clip", "finite"], ..CLIP };
static UPDATE: Place = Place { passes: &["clip", "finite", "update"], ..CLIP };
static SLOW: Place = Place {
    module: KEPT,
    recipe: &[
        "precision = { recipe = \"bf16\", master = \"f32\", moments = \"f32\", gradient = \"f32\" }",
        "optimizer.ema = 0.9",
        "optimizer.sgd.lr = 0.1",
        "optimizer.sgd.momentum = 0.9",
        "optimizer.sgd.weight_decay = 0.1",
        "optimizer.group = [{ name = \"slow\", params = [\"w\"], lr_scale = 0.5 }, { name = \"still\", params = [\"f\"], frozen = true }]",
    ],
    passes: &["update"],
};

const fn fault(
    name: &'static str,
    place: &'static Place,
    find: &'static str,
    put: &'static str,
    shows: &'static str,
) -> Fault {
    Fault { name, place, find, put, shows }
}

pub(super) static FAULTS: &[Fault] = &[
    fault(
        "layers that drop the same elements",
        &DROP,
        "slice %dropout_words {start = [1], limit = [2]",
        "slice %dropout_words {start = [0], limit = [1]",
        "b",
    ),
    fault(
        "one mask for all updates",
        &DROP,
        "%dropout_words = stream_words %keys, %update",
        "%dropout_words = stream_words %keys, %0",
        "a",
    ),
    fault(
        "rows and columns that draw alike",
        &DROP,
        "%2 = coordinate_words %draw {dim = 1",
        "%2 = coordinate_words %draw {dim = 0",
        "a",
    ),
    fault("the rate of another site", &DROP, "{rate = 0.25}", "{rate = 0.5}", "c"),
    fault(
        "a micro-batch summed twice",
        &ACCUMULATE,
        "%2 = add %accum.w, %x : f32[2]",
        "%t = add %x, %x : f32[2]\n  %2 = add %accum.w, %t : f32[2]",
        "w",
    ),
    fault(
        "the loss divided per micro-batch",
        &ACCUMULATE,
        "%0 = add %accum_loss, %loss : f32[]",
        "%t = divide %loss, %count : f32[]\n  %0 = add %accum_loss, %t : f32[]",
        "loss",
    ),
    fault(
        "the gradient divided per micro-batch",
        &ACCUMULATE,
        "%2 = add %accum.w, %x : f32[2]",
        "%s = broadcast_in_dim %count {dims = []} : f32[2]\n  %t = divide %x, %s : f32[2]\n  %2 = add %accum.w, %t : f32[2]",
        "w",
    ),
    fault(
        "accumulated in bf16",
        &ACCUMULATE,
        "%2 = add %accum.w, %x : f32[2]",
        "%s = add %accum.w, %x : f32[2]\n  %t = convert %s {rounding = rne} : bf16[2]\n  %2 = convert %t : f32[2]",
        "w",
    ),
    fault("the last micro-batch alone", &ACCUMULATE, "call %7, %w, %4, %5, %6", "call %7, %w, %0, %1, %2", "loss"),
    fault("one micro-batch read twice", &ACCUMULATE, "{start = [2], limit = [4]", "{start = [0], limit = [2]", "loss"),
    fault("sums that start at one", &ACCUMULATE, "%2 = constant 0.0 : f32[2]", "%2 = constant 1.0 : f32[2]", "w"),
    fault(
        "counts not added",
        &ACCUMULATE,
        "%1 = add %accum_count, %count : f32[]",
        "%1 = maximum %accum_count, %count : f32[]",
        "count",
    ),
    fault("a sum replaced", &ADD, "%9 = add %8, %x : f32[2]", "%9 = add %x, %x : f32[2]", "accum.w"),
    fault("a loss not added", &ADD, "%3 = add %2, %loss : f32[]", "%3 = add %loss, %loss : f32[]", "accum_loss"),
    fault(
        "a sum not started anew",
        &ADD,
        "%8 = select %is_first, %7, %accum.w : f32[2]",
        "%8 = abs %accum.w : f32[2]",
        "accum.w",
    ),
    fault(
        "a sum started anew each time",
        &ADD,
        "%8 = select %is_first, %7, %accum.w : f32[2]",
        "%8 = abs %7 : f32[2]",
        "accum.w",
    ),
    fault(
        "sums started by the second micro-batch",
        &ADD,
        "%0 = constant 0 : s32[]",
        "%0 = constant 1 : s32[]",
        "accum_loss",
    ),
    fault(
        "another value as the gradient",
        &READ,
        "return %accum_loss, %accum_count, %accum.w",
        "return %accum_loss, %accum_count, %w",
        "w",
    ),
    fault(
        "the loss scaled twice",
        &SCALE,
        "%0 = multiply %loss, %scaler : f32[]",
        "%t = multiply %loss, %scaler : f32[]\n  %0 = multiply %t, %scaler : f32[]",
        "loss",
    ),
    fault("the loss left scaled", &UNSCALE, "return %2, %count, %5", "return %loss, %count, %5", "loss"),
    fault("a gradient left scaled", &UNSCALE, "return %2, %count, %5", "return %2, %count, %3", "w"),
    fault("scaled again", &UNSCALE, "%1 = divide %0, %scaler", "%1 = multiply %0, %scaler", "loss"),
    fault(
        "divided in f16",
        &UNSCALE,
        "%3 = convert %x : f32[2]\n  %4 = broadcast_in_dim %1 {dims = []} : f32[2]\n  %5 = multiply %3, %4 : f32[2]",
        "%r = convert %1 {rounding = rne} : f16[]\n  %s = broadcast_in_dim %r {dims = []} : f16[2]\n  \
         %t = multiply %x, %s {rounding = rne} : f16[2]\n  %5 = convert %t : f32[2]",
        "w",
    ),
    fault("doubled on overflow", &ADJUST, "constant 0.5 : f32[]", "constant 2.0 : f32[]", "scaler"),
    fault(
        "an interval that does not end",
        &ADJUST,
        "%15 = select %4, %14, %2",
        "%15 = select %4, %2, %2",
        "scaler_steps",
    ),
    fault(
        "an overflow that is no break",
        &ADJUST,
        "%17 = select %finite, %15, %14",
        "%17 = select %finite, %15, %2",
        "scaler_steps",
    ),
    fault("no least scale", &ADJUST, "%12 = maximum %11, %9", "%12 = maximum %11, %11", "scaler"),
    fault("clipped from below", &CLIP, "%14 = minimum %9, %13", "%14 = maximum %9, %13", "scale.w"),
    fault("the norm of one weight", &CLIP, "%6 = add %3, %5 : f32[]", "%6 = abs %3 : f32[]", "scale.w"),
    fault(
        "a norm in bf16",
        &CLIP,
        "%7 = sqrt %6 : f32[]",
        "%s = sqrt %6 : f32[]\n  %t = convert %s {rounding = rne} : bf16[]\n  %7 = convert %t : f32[]",
        "scale.w",
    ),
    fault("a norm without its root", &CLIP, "%7 = sqrt %6 : f32[]", "%7 = abs %6 : f32[]", "scale.w"),
    fault("not divided by the count", &CLIP, "%15 = divide %14, %1 : f32[]", "%15 = abs %14 : f32[]", "scale.w"),
    fault("finite where one is", &FINITE, "%18 = and %16, %17", "%18 = or %16, %17", "finite"),
    fault("the loss not looked at", &FINITE, "%16 = is_finite %loss", "%16 = is_finite %8", "finite"),
    fault(
        "decay of what has none",
        &UPDATE,
        "%80 = subtract %v, %79 : f32[2]",
        "%d = broadcast_in_dim %58 {dims = []} : f32[2]\n  %e = multiply %v, %d : f32[2]\n  %g = add %79, %e : f32[2]\n  \
         %80 = subtract %v, %g : f32[2]",
        "v",
    ),
    fault("bias corrected by t", &UPDATE, "%23 = convert %22 : f32[]", "%23 = convert %step : f32[]", "w"),
    fault("t counts what is skipped", &UPDATE, "%88 = select %18, %22, %step", "%88 = select %18, %22, %22", "step"),
    fault("a skipped update that is written", &UPDATE, "return %82, ", "return %62, ", "w"),
    fault("attempts not counted", &UPDATE, "%90 = add %attempts, %89", "%90 = subtract %attempts, %89", "attempts"),
    fault("the average of the old weight", &SLOW, "%24 = multiply %20, %23", "%24 = multiply %master.w, %23", "ema.w"),
    fault(
        "decay on what is frozen",
        &SLOW,
        "return %26, %f, ",
        "%c = constant 0.75 : f32[2]\n  %d = convert %f : f32[2]\n  %e = multiply %d, %c : f32[2]\n  \
         %g = convert %e {rounding = rne} : bf16[2]\n  return %26, %g, ",
        "f",
    ),
    fault("the rate of another group", &SLOW, "%13 = broadcast_in_dim %7", "%13 = broadcast_in_dim %5", "master.w"),
    fault(
        "the narrow copy updated",
        &SLOW,
        "%20 = subtract %master.w, %19",
        "%n = convert %w : f32[2]\n  %20 = subtract %n, %19",
        "w",
    ),
    fault("momentum without decay", &SLOW, "%12 = add %11, %9", "%12 = add %m.w, %9", "m.w"),
    fault("a gradient not scaled", &SLOW, "%12 = add %11, %9", "%12 = add %11, %x", "m.w"),
];
