//! The initial scale of the residual stream, as it is computed, is that of one step on CPU XLA.

use halite::Session;
use halite::source::Source;
use halite_analysis::{ResidualStream, check_init};
use halite_ir::{FuncResult, LowerOptions, Module, ParamRole, Phase, ResultRole};
use halite_passes::{PipelineSpec, Runner, RunnerOptions, check_unused};
use halite_support::{Diagnostic, Diagnostics, codes};
use halite_tensor::{DType, HostTensor, Init};
use halite_test_kit::xla;

/// The most that a computed standard deviation may differ from the measured one, as a factor.
const FACTOR: f64 = 1.15;

fn load(settings: &[&str]) -> (Session, Source) {
    let mut session = Session::new();
    let settings: Vec<String> = settings.iter().map(|text| (*text).to_owned()).collect();
    let source = session.load("tiny", &settings).unwrap_or_else(|errors| panic!("{errors:?}"));
    (session, source)
}

fn built(session: &Session, source: &Source) -> Module {
    let mut module = session.elaborate(source).unwrap_or_else(|errors| panic!("{errors:?}")).module;
    let inline = session.passes.pipeline(&PipelineSpec::from(["inline"])).expect("a pass");
    let cx = session.pass_cx(None, None).expect("a target");
    let run = Runner::new(RunnerOptions::default()).run(&inline, &mut module, &cx);
    run.unwrap_or_else(|error| panic!("{error}"));
    module
}

fn streams(session: &Session, module: &Module) -> (Vec<ResidualStream>, Diagnostics) {
    let report = check_init(module, &session.registry).unwrap_or_else(|error| panic!("{error}"));
    (report.streams, report.findings)
}

/// Normal samples by the sum of twelve uniform ones, SplitMix64 behind them.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ bits >> 31) as f64 / 2f64.powi(64)
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// Weights as they start, and random tokens below 64.
fn inputs(module: &Module) -> Vec<HostTensor> {
    let entry = module.entry().expect("a model has an entry");
    let mut random = Random(1);
    let input = |param: &halite_ir::Param| {
        let ty = entry.ty(param.value);
        let (dtype, shape, count) = (ty.dtype(), ty.shape().clone(), ty.shape().num_elements());
        match &param.role {
            ParamRole::Weight(info) => {
                let mut value = || match (info.init, info.init.constant()) {
                    (Init::Normal { std }, _) => std * random.normal(),
                    (_, Some(value)) => value,
                    (other, _) => unreachable!("no model here starts as {other:?}"),
                };
                HostTensor::from_f64s(dtype, shape, (0..count).map(|_| value()).collect::<Vec<_>>())
            }
            _ => HostTensor::from_ints(dtype, shape, (0..count).map(|_| (random.unit() * 64.0) as i128)),
        }
    };
    entry.params.iter().map(input).collect()
}

/// The standard deviation of each sum of a stream, measured.
fn measured(session: &Session, module: &Module, stream: &ResidualStream) -> Vec<f64> {
    let mut module = module.clone();
    module.phase = Phase::Built;
    module.name = "streams".into();
    let inputs = inputs(&module);
    let entry = module.functions.last_mut().expect("a model has an entry");
    let result = |value| FuncResult { value, name: "".into(), role: ResultRole::Value };
    entry.results = stream.branches.iter().map(|branch| result(branch.sum)).collect();
    entry.params.iter_mut().for_each(|param| param.role = ParamRole::Argument);
    let ran = xla::run(&module, &session.registry, LowerOptions::default(), &[inputs]);
    let std = |tensor: &HostTensor| {
        let values = tensor.f64s();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
    };
    ran.unwrap_or_else(|error| panic!("{error}"))[0].iter().map(std).collect()
}

/// Scaled as the models are, and with everything large, so that branches outweigh the embedding.
#[test]
fn the_growth_over_depth_is_that_of_one_step() {
    let gpt2 = "model.config={vocab = 64, hidden = 64, layers = 3, heads = 4}";
    let cases: [&[&str]; 4] = [
        &["vocab=64", "layers=3"],
        &["vocab=64", "layers=3", "hidden=128", "ffn=352", "init_std=0.1"],
        &["model.name=gpt2", gpt2],
        &["model.name=gpt2", "model.config={vocab = 64, hidden = 64, layers = 3, heads = 4, init_std = 0.08}"],
    ];
    for settings in cases {
        let (session, source) = load(settings);
        let module = built(&session, &source);
        let (streams, findings) = streams(&session, &module);
        assert!(findings.is_empty(), "{settings:?}: {findings:?}");
        let [stream] = &streams[..] else { panic!("{settings:?}: {} streams", streams.len()) };
        assert_eq!(stream.branches.len(), 6);
        let measured = measured(&session, &module, stream);
        for (branch, measured) in stream.branches.iter().zip(measured) {
            let computed = branch.stream.expect("every op of the model is known");
            let ratio = computed / measured;
            let fits = (1.0 / FACTOR..FACTOR).contains(&ratio);
            assert!(fits, "{settings:?}: {} {:?}: {computed} for {measured}", branch.scope, branch.weights);
        }
    }
}

/// A stream whose branches start as large as everything else grows with the root of the depth, and is found.
#[test]
fn branches_that_start_too_large_are_found() {
    let (session, source) = load(&["vocab=64", "layers=4", "init_std=0.1"]);
    let mut module = built(&session, &source);
    let scaled = streams(&session, &module).0.remove(0);
    let large = |name: &str| ["o_proj", "down_proj"].iter().any(|part| name.contains(part));
    for param in &mut module.functions.last_mut().expect("a model has an entry").params {
        if let (ParamRole::Weight(info), true) = (&mut param.role, large(&param.name)) {
            info.init = Init::Normal { std: 0.1 };
        }
    }
    let (streams, findings) = streams(&session, &module);
    let codes: Vec<_> = findings.iter().map(Diagnostic::code).collect();
    assert_eq!(codes, [codes::RESIDUAL_INIT; 2], "attention and feed-forward stand on lines of their own");
    let last = |stream: &ResidualStream| stream.branches.last().and_then(|branch| branch.stream).unwrap();
    let measured = measured(&session, &module, &streams[0]);
    assert!(last(&streams[0]) > 2.0 * last(&scaled));
    assert!((last(&streams[0]) / measured[7] - 1.0).abs() < FACTOR - 1.0, "{} {measured:?}", last(&streams[0]));
}

#[test]
fn models_have_nothing_for_nothing() {
    for settings in [&["vocab=64"][..], &["model.name=gpt2", "model.config={vocab = 64, hidden = 32, heads = 2}"]] {
        let (session, source) = load(settings);
        let findings = check_unused(&built(&session, &source), &session.registry);
        assert_eq!(findings, Ok(Diagnostics::new()), "{settings:?}");
    }
}

/// Weights without a gradient, and an input that nothing reads; a weight that is frozen is meant not to learn.
#[test]
fn what_never_learns_is_found() {
    let text = "func @main(%x: f32[4] {batch}, %idle: f32[2] {batch}, %w: f32[4] {weight, init = ones}, \
                %shown: f32[4] {weight, init = ones}, %steps: f32[4] {weight, init = ones}, \
                %kept: f32[4] {weight, init = ones, frozen}) \
                -> (loss: f32[] {loss}, count: f32[] {count}, probe: f32[4] {probe}) {\n  \
                %on = floor %steps : f32[4]\n  %y = multiply %x, %w : f32[4]\n  %z = multiply %y, %on : f32[4]\n  \
                %loss = reduce %z {kind = sum, dims = [0]} : f32[]\n  %count = constant 4.0 : f32[]\n  \
                %probe = multiply %x, %shown : f32[4]\n  return %loss, %count, %probe\n}\n";
    let mut session = Session::new();
    let file = session.sources.add("model.ir", text);
    let module = session.parse_ir(file).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(module.entry().map(|entry| entry.ty(entry.params[0].value).dtype()), Some(DType::F32));
    let findings = check_unused(&module, &session.registry).unwrap_or_else(|error| panic!("{error}"));
    let said: Vec<_> = findings.iter().map(|finding| (finding.code(), finding.message())).collect();
    let expected = [
        (codes::UNREAD, "the input `idle` reaches no result"),
        (codes::FROZEN, "the weight `shown` never learns: the loss does not depend on it"),
        (codes::FROZEN, "the weight `steps` never learns: no derivative passes from the loss to it"),
    ];
    assert_eq!(said, expected);
}

/// A stream to which a weight adds two projections of it one after the other, 48 columns and 16; the second may be anything else.
fn one_after_the_other(second: &str) -> (Session, Module) {
    let text = format!(
        "func @main(%tokens: s32[2,8] {{batch}}, %given: f32[2,8,16] {{batch}}, %e: f32[64,32] {{weight, init = normal(0.1)}}, \
         %a: f32[32,48] {{weight, init = normal(0.1)}}, %b: f32[32,16] {{weight, init = normal(0.5)}}, \
         %o: f32[64,32] {{weight, init = normal(0.2)}}) -> (y: f32[2,8,32]) {{\n  \
         %x = take %e, %tokens {{dim = 0}} : f32[2,8,32]\n  \
         %p = dot_general %x, %a {{contract = [2] x [0]}} : f32[2,8,48]\n  \
         %q = dot_general %x, %b {{contract = [2] x [0]}} : f32[2,8,16]\n  \
         %both = concatenate %p, {second} {{dim = 2}} : f32[2,8,64]\n  \
         %added = dot_general %both, %o {{contract = [2] x [0]}} : f32[2,8,32]\n  \
         %y = add %x, %added : f32[2,8,32]\n  return %y\n}}\n"
    );
    let mut session = Session::new();
    let file = session.sources.add("model.ir", text);
    let module = session.parse_ir(file).unwrap_or_else(|errors| panic!("{errors:?}"));
    (session, module)
}

/// A concatenation starts as its parts do, each by its size, if all of them are known.
#[test]
fn parts_count_by_their_sizes() {
    let (session, module) = one_after_the_other("%q");
    let (found, _) = streams(&session, &module);
    let measured = measured(&session, &module, &found[0]);
    let ratio = found[0].branches[0].stream.expect("both parts are known") / measured[0];
    assert!((1.0 / FACTOR..FACTOR).contains(&ratio), "{ratio}");
    let (session, module) = one_after_the_other("%given");
    let (found, _) = streams(&session, &module);
    assert_eq!((found[0].start.is_some(), found[0].branches[0].stream), (true, None));
}
