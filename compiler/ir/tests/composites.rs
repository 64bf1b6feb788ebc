//! Each composite against a direct formula and its gradients against central differences, in `f64` by the reference
//! interpreter.

mod differentiate;
mod formulas;
mod sizes;

use differentiate::{Program, check_gradients};
use halite_ir::{
    Attr, Composite, InferCx, OpDef, Real, Registry, Sample, SampleArg, SampleValues, TensorType, sample_inputs,
};
use halite_tensor::compare::difference;
use halite_tensor::{DType, HostTensor, Packing, Part, Shape};
use std::collections::BTreeSet;

/// Reproducible numbers between the bounds.
fn uniform(seed: u64, shape: &[usize], low: f64, high: f64) -> HostTensor {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        low + (high - low) * (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let shape = Shape::from(shape);
    let count = shape.num_elements();
    HostTensor::from_f64s(DType::F64, shape, (0..count).map(|_| next()))
}

fn labels(shape: &[usize], values: &[i128]) -> HostTensor {
    HostTensor::from_ints(DType::S32, shape, values.iter().copied())
}

fn real(value: f64) -> Attr {
    Attr::Real(Real(value))
}

fn composite(name: &str, attrs: &[(&str, Attr)]) -> Composite {
    Composite::new(&Registry::builtin(), name, attrs).unwrap()
}

fn run(name: &str, attrs: &[(&str, Attr)], args: &[&HostTensor]) -> Vec<HostTensor> {
    let args: Vec<_> = args.iter().map(|&arg| arg.clone()).collect();
    Program::call(name, attrs, &args).run(&args)
}

#[track_caller]
fn assert_close(found: &HostTensor, expected: &[f64]) {
    let expected = HostTensor::from_f64s(DType::F64, found.shape().clone(), expected.iter().copied());
    let apart = difference(found, &expected);
    assert!(apart.max_abs <= 1e-13 * apart.scale.max(1.0), "{apart:?}\n{found:?}\n{expected:?}");
}

#[track_caller]
fn assert_elementwise(name: &str, attrs: &[(&str, Attr)], formula: impl Fn(f64) -> f64) {
    let x = uniform(1, &[3, 7], -4.0, 4.0);
    let expected: Vec<_> = x.f64s().into_iter().map(formula).collect();
    assert_close(&run(name, attrs, &[&x])[0], &expected);
}

#[test]
fn activations_follow_their_formulas() {
    assert_elementwise("relu", &[], |x| if x > 0.0 { x } else { 0.0 });
    assert_elementwise("silu", &[], |x| x / (1.0 + (-x).exp()));
    assert_elementwise("gelu", &[], |x| x * formulas::normal_cdf(x));
    let tanh = [("tanh", Attr::Bool(true))];
    let slope = (2.0 / std::f64::consts::PI).sqrt();
    assert_elementwise("gelu", &tanh, |x| 0.5 * x * (1.0 + (slope * (x + 0.044715 * x * x * x)).tanh()));
    let (gate, up) = (uniform(1, &[3, 7], -4.0, 4.0), uniform(2, &[3, 7], -4.0, 4.0));
    let expected: Vec<_> = gate.f64s().iter().zip(up.f64s()).map(|(g, u)| g / (1.0 + (-g).exp()) * u).collect();
    assert_close(&run("swiglu", &[], &[&gate, &up])[0], &expected);
}

#[test]
fn unpack_is_the_inverse_of_packing() {
    let part = |name: &str, shape: [usize; 2], copies| Part {
        name: name.into(),
        shape: shape.into(),
        transposed: false,
        copies,
        padding: 0,
    };
    let packing = Packing { ranks: 4, parts: vec![part("q", [8, 3], 1), part("k", [4, 3], 2), part("v", [1, 3], 4)] };
    let parts = [uniform(1, &[8, 3], -1.0, 1.0), uniform(2, &[4, 3], -1.0, 1.0), uniform(3, &[1, 3], -1.0, 1.0)];
    let packed = packing.pack(&parts.each_ref()).unwrap();
    let list = |numbers: &[i64]| Attr::Ints(numbers.into());
    let attrs = [("dim", Attr::Int(0)), ("rows", list(&[2, 2, 1])), ("copies", list(&[1, 2, 4]))];
    assert_eq!(run("unpack", &attrs, &[&packed]), parts);
    let tied = run("tied_copies", &attrs[1..], &[&packed]);
    assert_eq!(tied, [packed]);
}

#[test]
fn causal_mask_is_the_lower_triangle() {
    let expected = [1, 0, 0, 1, 1, 0, 1, 1, 1];
    assert_eq!(run("causal_mask", &[("size", Attr::Int(3))], &[])[0].ints(), expected);
}

#[test]
fn relu_passes_nothing_at_zero() {
    let y = HostTensor::from_f64s(DType::F64, [3], [0.0, 2.0, -0.0]);
    let ct = HostTensor::from_f64s(DType::F64, [3], [5.0, 5.0, 5.0]);
    assert_eq!(run("relu_grad", &[], &[&y, &ct])[0].f64s(), [0.0, 5.0, 0.0]);
}

#[test]
fn softmaxes_follow_their_formulas() {
    let x = uniform(3, &[4, 6], -3.0, 3.0);
    let rows: Vec<_> = x.f64s().chunks(6).flat_map(formulas::softmax).collect();
    assert_close(&run("softmax", &[], &[&x])[0], &rows);
    let logs: Vec<_> = rows.iter().map(|p| p.ln()).collect();
    assert_close(&run("log_softmax", &[], &[&x])[0], &logs);
}

#[test]
fn norms_follow_their_formulas() {
    let (rows, size, eps) = (4, 6, 1e-3);
    let x = uniform(4, &[2, 2, size], -2.0, 2.0);
    let (weight, bias) = (uniform(5, &[size], 0.5, 1.5), uniform(6, &[size], -1.0, 1.0));
    let (xs, w, c) = (x.f64s(), weight.f64s(), bias.f64s());
    let (mut rms, mut layer) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let row = &xs[row * size..][..size];
        let mean = row.iter().sum::<f64>() / size as f64;
        let square = row.iter().map(|x| x * x).sum::<f64>() / size as f64;
        let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / size as f64;
        for i in 0..size {
            rms.push(row[i] / (square + eps).sqrt() * w[i]);
            layer.push((row[i] - mean) / (variance + eps).sqrt() * w[i] + c[i]);
        }
    }
    assert_close(&run("rms_norm", &[("eps", real(eps))], &[&x, &weight])[0], &rms);
    assert_close(&run("layer_norm", &[("eps", real(eps))], &[&x, &weight, &bias])[0], &layer);
}

#[test]
fn linear_multiplies_by_the_transposed_weight() {
    let (x, weight, bias) =
        (uniform(7, &[2, 3, 4], -1.0, 1.0), uniform(8, &[5, 4], -1.0, 1.0), uniform(9, &[5], -1.0, 1.0));
    let (xs, w, c) = (x.f64s(), weight.f64s(), bias.f64s());
    let mut expected = Vec::new();
    for row in xs.chunks(4) {
        for out in 0..5 {
            expected.push(c[out] + (0..4).map(|i| row[i] * w[out * 4 + i]).sum::<f64>());
        }
    }
    let found = run("linear", &[], &[&x, &weight, &bias]);
    assert_eq!(found[0].shape()[..], [2, 3, 5]);
    assert_close(&found[0], &expected);
    let without: Vec<_> = expected.iter().enumerate().map(|(at, y)| y - c[at % 5]).collect();
    assert_close(&run("linear", &[], &[&x, &weight])[0], &without);
}

#[test]
fn embedding_looks_up_rows() {
    let table = uniform(10, &[5, 3], -1.0, 1.0);
    let ids = [4, 0, 4, 2];
    let found = run("embedding", &[], &[&labels(&[2, 2], &ids), &table]);
    assert_eq!(found[0].shape()[..], [2, 2, 3]);
    let rows = table.f64s();
    assert_close(&found[0], &ids.map(|id| &rows[id as usize * 3..][..3]).concat());
}

#[test]
fn rope_rotates_halves() {
    let (batch, seq, heads, dim, theta) = (2, 5, 3, 6, 100.0);
    let x = uniform(11, &[batch, seq, heads, dim], -1.0, 1.0);
    let found = run("rope", &[("theta", real(theta))], &[&x]);
    let frequency = |i: usize| theta.powf(-2.0 * i as f64 / dim as f64);
    assert_close(&found[0], &formulas::rope(&x.f64s(), [batch, seq, heads, dim], frequency));
    let back = run("rope", &[("theta", real(theta)), ("inverse", Attr::Bool(true))], &[&found[0]]);
    assert_close(&back[0], &x.f64s());
}

#[test]
fn scaled_rope_divides_low_frequencies() {
    let sizes = [1, 9, 2, 16];
    let x = uniform(18, &sizes, -1.0, 1.0);
    let frequency = |i: usize| 10000f64.powf(-(i as f64) / 8.0);
    let interpolated = run("rope", &[("factor", real(4.0))], &[&x]);
    assert_close(&interpolated[0], &formulas::rope(&x.f64s(), sizes, |i| frequency(i) / 4.0));
    // As Llama 3.1 states it, by wavelengths: of 8 pairs one is kept, two lie between, five are divided.
    let by_wavelength = |i: usize| {
        let (f, wavelength) = (frequency(i), std::f64::consts::TAU / frequency(i));
        if wavelength < 64.0 / 4.0 {
            return f;
        }
        if wavelength > 64.0 / 1.0 {
            return f / 8.0;
        }
        let smooth = (64.0 / wavelength - 1.0) / (4.0 - 1.0);
        (1.0 - smooth) * f / 8.0 + smooth * f
    };
    let kept = (0..8).filter(|&i| by_wavelength(i) == frequency(i)).count();
    let divided = (0..8).filter(|&i| by_wavelength(i) == frequency(i) / 8.0).count();
    assert_eq!((kept, divided), (1, 5));
    let scaled = run("rope", &[("factor", real(8.0)), ("trained", real(64.0))], &[&x]);
    assert_close(&scaled[0], &formulas::rope(&x.f64s(), sizes, by_wavelength));
}

#[test]
fn rope_of_bf16_uses_wide_angles() {
    let x = HostTensor::from_f64s(DType::Bf16, [1, 301, 1, 2], [0.0; 602]);
    let ones = HostTensor::from_f64s(DType::Bf16, [1, 301, 1, 2], (0..602).map(|at| f64::from(at % 2 == 0)));
    assert_eq!(run("rope", &[], &[&x])[0].f64s(), x.f64s());
    let rotated = run("rope", &[], &[&ones])[0].f64s();
    assert!((rotated[600] - 300f64.cos()).abs() < 4e-3, "position 300 is not a bf16 number: {}", rotated[600]);
}

#[test]
fn attention_follows_its_formula() {
    for (heads, kv_heads, scale, window) in [(2, 2, 0.0, 0), (4, 2, 0.0, 1), (3, 1, 0.7, 3), (4, 1, 0.0, 6)] {
        let (q, k, v) = attention_inputs(heads, kv_heads);
        let attrs = [("scale", real(scale)), ("window", Attr::Int(window))];
        let found = run("causal_attention", &attrs, &[&q, &k, &v]);
        let window = if window == 0 { usize::MAX } else { window as usize };
        let expected = formulas::causal_attention([&q, &k, &v], &[1; 12], scale, window);
        assert_close(&found[0], &expected);
        let ids = [3, 3, 7, 7, 7, 0, 1, 2, 2, 1, 1, 1];
        let found = run("causal_attention", &attrs, &[&q, &k, &v, &labels(&[2, 6], &ids)]);
        assert_close(&found[0], &formulas::causal_attention([&q, &k, &v], &ids, scale, window));
    }
}

#[test]
fn segments_have_a_number_for_each_position() {
    let registry = Registry::builtin();
    let float = |shape: &[usize]| TensorType::new(DType::F32, shape);
    let x = float(&[2, 6, 4, 4]);
    let refused = |segments: &[TensorType]| {
        let args = [x.clone(), x.clone(), x.clone()].into_iter().chain(segments.iter().cloned()).collect::<Vec<_>>();
        let cx = InferCx { functions: &[], registry: &registry };
        let plain = composite("causal_attention", &[]);
        let given = if segments.is_empty() { plain } else { plain.with_operand("segments").unwrap() };
        given.infer(&cx, &args.iter().collect::<Vec<_>>()).is_err()
    };
    let numbers = |dtype, shape: [usize; 2]| TensorType::new(dtype, shape);
    assert!(!refused(&[]) && !refused(&[numbers(DType::S32, [2, 6])]));
    let wrong = [numbers(DType::S32, [2, 7]), numbers(DType::U32, [2, 6]), numbers(DType::F32, [2, 6])];
    assert!(wrong.iter().all(|segments| refused(std::slice::from_ref(segments))));
    assert!(refused(&[numbers(DType::S32, [2, 6]), numbers(DType::S32, [2, 6])]));
}

fn attention_inputs(heads: usize, kv_heads: usize) -> (HostTensor, HostTensor, HostTensor) {
    let operand = |seed, heads| uniform(seed, &[2, 6, heads, 4], -1.5, 1.5);
    (operand(12, heads), operand(13, kv_heads), operand(14, kv_heads))
}

#[test]
fn grouped_heads_equal_repeated_heads() {
    let (q, k, v) = attention_inputs(4, 2);
    let repeat = |x: &HostTensor| {
        let repeated = x.f64s().chunks(4).flat_map(|head| [head, head].concat()).collect::<Vec<_>>();
        HostTensor::from_f64s(DType::F64, [2, 6, 4, 4], repeated)
    };
    let grouped = run("causal_attention", &[], &[&q, &k, &v]);
    assert_close(&grouped[0], &run("causal_attention", &[], &[&q, &repeat(&k), &repeat(&v)])[0].f64s());
}

#[test]
fn attention_sees_nothing_of_the_future() {
    let args = <[HostTensor; 3]>::from(attention_inputs(4, 2));
    let attend = |args: &[HostTensor; 3]| run("causal_attention", &[], &[&args[0], &args[1], &args[2]])[0].f64s();
    let before = attend(&args);
    let row = 4 * 4;
    for position in 1..6 {
        for operand in 0..3 {
            for value in [1e30, f64::INFINITY] {
                let mut changed = args.clone();
                let row_of_operand = args[operand].len() / 12;
                let mut values = args[operand].f64s();
                // An infinite value times probability 0 is NaN in any matrix product: only q and k take it.
                values[position * row_of_operand] = if operand == 2 { 1e30 } else { value };
                changed[operand] = HostTensor::from_f64s(DType::F64, args[operand].shape().clone(), values);
                let after = attend(&changed);
                let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&before[..position * row]), bits(&after[..position * row]));
                assert_eq!(bits(&before[6 * row..]), bits(&after[6 * row..]), "sequences do not mix");
            }
        }
    }
}

#[test]
fn attention_gradients_see_nothing_of_the_past_cotangents() {
    let (q, k, v) = attention_inputs(4, 2);
    let y = run("causal_attention", &[], &[&q, &k, &v]).swap_remove(0);
    let mut ct = vec![0.0; y.len()];
    ct[2 * 16..3 * 16].fill(1.0);
    let ct = HostTensor::from_f64s(DType::F64, y.shape().clone(), ct);
    let grads = run("causal_attention_grad", &[], &[&q, &k, &v, &y, &ct]);
    for grad in &grads[1..] {
        assert!(grad.f64s()[3 * 8..].iter().all(|&g| g == 0.0), "later keys and values are not touched");
    }
}

#[test]
fn cross_entropy_sums_over_counted_labels() {
    let logits = uniform(15, &[2, 3, 5], -3.0, 3.0);
    let ids = [0, -100, 4, 2, -100, 1];
    let found = run("cross_entropy", &[], &[&logits, &labels(&[2, 3], &ids)]);
    let rows = logits.f64s();
    let loss = |(row, &id): (&[f64], &i128)| if id == -100 { 0.0 } else { -formulas::softmax(row)[id as usize].ln() };
    assert_close(&found[0], &[rows.chunks(5).zip(&ids).map(loss).sum()]);
    assert_close(&found[1], &[4.0]);
    let own =
        run("cross_entropy", &[("ignore_index", Attr::Int(2))], &[&logits, &labels(&[2, 3], &[2, 2, 2, 2, 2, 1])]);
    assert_close(&own[1], &[1.0]);
}

#[test]
fn ignored_labels_have_no_loss_and_no_gradient() {
    let logits = uniform(16, &[2, 5], -3.0, 3.0);
    let none = labels(&[2], &[-100, -100]);
    let found = run("cross_entropy", &[], &[&logits, &none]);
    assert_eq!((found[0].f64s(), found[1].f64s()), (vec![0.0], vec![0.0]));
    let ct = HostTensor::scalar(DType::F64, 1.0);
    let grad = &run("cross_entropy_grad", &[], &[&logits, &none, &ct])[0];
    assert!(grad.f64s().iter().all(|&g| g == 0.0));
    let half = &run("cross_entropy_grad", &[], &[&logits, &labels(&[2], &[-100, 3]), &ct])[0].f64s();
    assert!(half[..5].iter().all(|&g| g == 0.0) && half[5..].iter().all(|&g| g != 0.0));
    assert!(half[5..].iter().sum::<f64>().abs() < 1e-15, "the gradient of a row sums to 0");
}

#[test]
fn top_k_is_the_head_of_a_sort() {
    let (rows, size) = (5, 9);
    let x = uniform(7, &[rows, size], -2.0, 2.0);
    for k in [1, 4, size] {
        let found = run("top_k", &[("k", Attr::Int(k as i64))], &[&x]);
        let (mut values, mut positions) = (Vec::new(), Vec::new());
        for row in x.f64s().chunks(size) {
            let mut order: Vec<usize> = (0..size).collect();
            order.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
            values.extend(order[..k].iter().map(|&at| row[at]));
            positions.extend(order[..k].iter().map(|&at| at as i128));
        }
        assert_eq!((found[0].f64s(), found[1].ints()), (values, positions));
    }
}

#[test]
fn gradients_scale_with_the_cotangent() {
    let logits = uniform(17, &[2, 5], -3.0, 3.0);
    let ids = labels(&[2], &[1, 3]);
    let grad =
        |ct: f64| run("cross_entropy_grad", &[], &[&logits, &ids, &HostTensor::scalar(DType::F64, ct)])[0].f64s();
    let expected: Vec<_> = grad(1.0).iter().map(|g| 3.0 * g).collect();
    assert_eq!(grad(3.0), expected);
}

/// Whether the floats among the operands are ordinary numbers, not chosen for their special values.
fn is_smooth(sample: &Sample) -> bool {
    let listed = |arg: &SampleArg| arg.ty.dtype().is_float() && matches!(arg.values, SampleValues::Listed(_));
    !sample.args.iter().any(listed)
}

fn sample_composite(sample: &Sample) -> &Composite {
    let halite_ir::Op::Composite(composite) = &sample.op else { panic!("a sample of a composite applies it") };
    composite
}

#[test]
fn every_composite_has_samples_whose_types_agree_with_the_decomposition() {
    let registry = Registry::builtin();
    for def in registry.composites() {
        for float in [DType::Bf16, DType::F16, DType::F32, DType::F64] {
            let samples = def.samples(float);
            assert!(!samples.is_empty(), "{} has no samples", def.name());
            for sample in samples {
                let composite = sample_composite(&sample);
                let types: Vec<&TensorType> = sample.args.iter().map(|arg| &arg.ty).collect();
                let cx = halite_ir::InferCx { functions: &[], registry: &registry };
                let inferred = composite.infer(&cx, &types).unwrap();
                let body = composite.decompose(&registry, &types).unwrap();
                assert_eq!(body.result_types(), inferred.to_vec(), "{} {}", def.name(), sample.label);
            }
        }
    }
}

/// The type with each dimension of size `from` at size `to`.
fn resized(ty: &TensorType, from: usize, to: usize) -> TensorType {
    let shape: Shape = ty.shape().iter().map(|&size| if size == from { to } else { size }).collect();
    ty.with_shape(shape)
}

/// Whoever writes a composite hears of what is too large for it at its place.
#[test]
fn sizes_that_a_composite_takes_are_taken_by_its_decomposition() {
    let registry = Registry::builtin();
    let cx = halite_ir::InferCx { functions: &[], registry: &registry };
    let mut taken = 0;
    for sample in registry.composites().flat_map(|def| def.samples(DType::F32)) {
        let composite = sample_composite(&sample);
        let sizes: BTreeSet<usize> = sample.args.iter().flat_map(|arg| arg.ty.shape().iter().copied()).collect();
        for (from, to) in sizes.into_iter().flat_map(|from| [0, 1, 1 << 31, 1 << 32].map(|to| (from, to))) {
            let types: Vec<TensorType> = sample.args.iter().map(|arg| resized(&arg.ty, from, to)).collect();
            let types: Vec<&TensorType> = types.iter().collect();
            if types.iter().any(|ty| ty.shape().num_bytes(ty.dtype()).is_none()) {
                continue;
            }
            let Ok(inferred) = composite.infer(&cx, &types) else { continue };
            let body = match composite.decompose(&registry, &types) {
                Ok(body) => body,
                // What is made on the way may be larger than operands and results; a mask has the square of positions.
                Err(error)
                    if ["more bytes than fit", "`causal_mask` of"].iter().any(|why| error.message().contains(why)) =>
                {
                    continue;
                }
                Err(error) => panic!("{} {}, {from} as {to}: {error}", composite.name, sample.label),
            };
            assert_eq!(body.result_types(), inferred.to_vec(), "{} {}", composite.name, sample.label);
            taken += 1;
        }
    }
    assert!(taken > 100, "{taken} are taken");
}

/// Composites whose gradient is not compared. Those of random bits are written after differentiation, a mask is a predicate, and
/// `stop_gradient` has none, whatever differences say.
const WITHOUT_GRADIENT: [&str; 6] =
    ["causal_mask", "coordinate_words", "random_bits", "stochastic_convert", "stop_gradient", "stream_words"];

/// Tied copies answer with the derivative by all of them, while differences move one.
fn ties(sample: &Sample) -> bool {
    sample.op.name() == "tied_copies" && sample.label != "single"
}

#[test]
fn gradients_agree_with_central_differences() {
    let registry = Registry::builtin();
    for def in registry.composites().filter(|def| !WITHOUT_GRADIENT.contains(&def.name())) {
        let mut checked = 0;
        for sample in def.samples(DType::F64) {
            if is_smooth(&sample) && !ties(&sample) {
                check_gradients(sample_composite(&sample), &sample_inputs(&sample, 1)[0], &sample.label);
                checked += 1;
            }
        }
        assert!(checked > 0 || def.name() == "relu_grad", "no gradient of {} was checked", def.name());
    }
}
