//! The order of gathers of weights and scatters of gradients, where ranks store parts of weights.

use halite::pipelines::train_step;
use halite_ir::{Function, Op};
use halite_tensor::HostTensor;
use halite_test_kit::numeric::Random;
use halite_tests::layouts::is_long;
use halite_tests::meshes::{Loaded, Ranks, entry, settings};
use halite_tests::order::{Asked, Order};
use halite_tests::parallel::for_each;
use halite_tests::stepping::first_inputs;

/// A model of some layers in a layout that stores parts of weights.
#[derive(Clone, Debug)]
struct Case {
    sizes: Vec<String>,
    settings: Vec<String>,
    asked: Asked,
}

impl Case {
    fn random(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut one_of = |choices: &[usize]| choices[random.below(choices.len())];
        let layers = one_of(&[2, 3, 4, 5]);
        let ranks =
            Ranks::of(one_of(&[1, 2]), one_of(&[1, 2]), one_of(&[0, 1]) > 0, one_of(&[0, 2, 3]), one_of(&[1, 2]));
        let ranks = ranks.fsdp(if ranks.zero == 3 && ranks.data > 1 { 1 } else { 2 });
        let recompute = ["['none']", "['attention', 'activation']", "['block']"][one_of(&[0, 1, 2])];
        let asked = Asked {
            prefetch: one_of(&[0, 1, 1, 2, 3]),
            delay: one_of(&[0, 1, 2]),
            // Weights of a layer are of some 15 to 30 thousand bytes.
            bytes: one_of(&[20_000, 50_000, 80_000, 1_000_000]) as u64,
        };
        let sizes = ["hidden=16", "heads=4", "kv_heads=2", "ffn=24", "vocab=32", "seq=4"].map(str::to_owned);
        let own = vec![format!("recompute={recompute}"), "emit.calls=\"inline\"".to_owned()];
        Self {
            sizes: sizes.into_iter().chain([format!("layers={layers}")]).collect(),
            settings: [settings(ranks, "fp64"), own].concat(),
            asked,
        }
    }

    fn layers(&self) -> usize {
        let layers = self.sizes.iter().find_map(|size| size.strip_prefix("layers="));
        layers.and_then(|layers| layers.parse().ok()).expect("it states its layers")
    }

    fn is_one_batch(&self) -> bool {
        self.settings.iter().any(|setting| setting == "accumulate=1")
    }

    /// Whether it keeps for the backward what the forward gathered.
    fn keeps(&self) -> bool {
        self.settings.iter().any(|setting| setting == "recompute=['none']")
    }

    /// The program of a rank whose collectives are in such an order.
    fn loaded(&self, asked: Asked) -> Loaded {
        let Asked { prefetch, delay, bytes } = asked;
        let order = [
            format!("parallel.fsdp_prefetch={prefetch}"),
            format!("parallel.fsdp_delay={delay}"),
            format!("parallel.fsdp_bytes={bytes}"),
        ];
        Loaded::new(("tiny", &[]), &[self.sizes.clone(), self.settings.clone(), order.to_vec()].concat())
    }
}

/// The cases: some dozens, or hundreds in the long run.
fn cases() -> Vec<Case> {
    (0..if is_long() { 400 } else { 24 }).map(Case::random).collect()
}

/// The order in which a function is written.
fn written(function: &Function) -> Vec<usize> {
    (0..function.insts.len()).collect()
}

/// The order that is asked for is written, but where it takes more bytes, and results are the same bits as those of the order in which
/// things are read.
#[test]
fn collectives_are_in_the_order_that_is_asked_for() {
    let told = for_each(&cases(), |case| {
        let all = train_step().to_string();
        let (before, after) = all.split_once(", partition, ").expect("it partitions");
        let after = format!("partition, {after}");
        let loaded = case.loaded(case.asked);
        let whole = loaded.made(before);
        let ordered = loaded.after(whole.clone(), &after);
        let order = Order::of(entry(&ordered), &written(entry(&ordered)));
        if let Some(wrong) = order.wrong(case.asked) {
            return Err(format!("{case:?}: {wrong}"));
        }
        let early = (0..order.layers.len()).map(|layer| order.early(layer)).max().unwrap_or_default();
        let late = order.scatters.iter().map(|scatter| order.late(scatter)).max().unwrap_or_default();
        let plain = case.loaded(Asked { prefetch: 0, delay: 0, ..case.asked }).after(whole.clone(), &after);
        let inputs = first_inputs(entry(&whole), 32);
        let run = |module| -> Vec<HostTensor> {
            loaded.on_ranks(module, &inputs).unwrap_or_else(|error| panic!("{case:?}: {error}"))
        };
        if run(&ordered) != run(&plain) {
            return Err(format!("{case:?}: the order changes results"));
        }
        Ok((early, late))
    });
    let (found, failed): (Vec<_>, Vec<_>) = told.into_iter().partition(Result::is_ok);
    let failed: Vec<String> = failed.into_iter().filter_map(Result::err).collect();
    assert!(failed.is_empty(), "{} of {} fail\n{}", failed.len(), found.len() + failed.len(), failed.join("\n"));
    let found: Vec<(usize, usize)> = found.into_iter().filter_map(Result::ok).collect();
    assert!((1..=3).all(|early| found.iter().any(|(own, _)| *own == early)), "{found:?}");
    assert!((1..=2).all(|late| found.iter().any(|(_, own)| *own == late)), "{found:?}");
}

/// A backward gathers again what its forward did, and keeps nothing of it: no layer's weights are held beyond it, also where all calls are
/// written out and equal instructions are one. Where the recipe keeps everything, all are held.
#[test]
fn gathered_weights_are_no_residuals() {
    // Those of several micro-batches gather in a function of one.
    let cases: Vec<Case> = cases().into_iter().filter(Case::is_one_batch).collect();
    let told = for_each(&cases, |case| {
        let module = case.loaded(Asked { prefetch: 0, delay: 0, ..case.asked }).made(&train_step().to_string());
        let order = Order::of(entry(&module), &written(entry(&module)));
        let (held, keeps) = (order.held_beyond().len(), case.keeps());
        assert_eq!(held, if keeps { case.layers() } else { 0 }, "{case:?}: {:?}", order.held_beyond());
        let layers = order.layers.iter().filter(|layer| layer.name.is_some()).count();
        // Each layer once in the forward, and once in the backward where that gathers.
        assert_eq!(layers, if keeps { case.layers() } else { 2 * case.layers() }, "{case:?}");
        keeps
    });
    assert!(told.contains(&true) && told.contains(&false));
}

/// A way in which an order may be wrong: its name, and the orders of a program that are wrong in it.
type Fault = (&'static str, fn(&Order<'_>, Asked) -> Vec<Wrong>);

/// An instruction in another place, or that reads a weight without waiting.
enum Wrong {
    /// An instruction is moved before the place of another.
    Moved { inst: usize, to: usize },
    /// Two instructions are exchanged.
    Exchanged(usize, usize),
    /// A gather reads what the barrier was given.
    Loose(usize),
}

const FAULTS: [Fault; 6] = [
    ("weights gathered where they are read", |order, _| {
        let early = (1..order.layers.len()).filter(|&layer| order.early(layer) > 0);
        early.flat_map(|layer| moved(&order.layers[layer].gathers, order.layers[layer].start)).collect()
    }),
    ("weights gathered in the beginning", |order, asked| {
        let far = (1..order.layers.len()).filter(|&layer| layer > asked.prefetch);
        far.flat_map(|layer| moved(&order.layers[layer].gathers[..1], 0)).collect()
    }),
    ("weights of two layers gathered in another order", |order, asked| {
        let pairs = order.layers.windows(2).filter(|_| asked.prefetch > 0);
        pairs.map(|pair| Wrong::Exchanged(pair[0].gathers[0], pair[1].gathers[0])).collect()
    }),
    ("a gather that waits for nothing", |order, asked| {
        let waits = (0..order.layers.len()).filter(|&layer| order.early(layer) > 0 && layer > asked.prefetch);
        waits.map(|layer| Wrong::Loose(order.layers[layer].gathers[0])).collect()
    }),
    ("gradients scattered where they are made", |order, _| {
        let late = order.scatters.iter().filter(|scatter| order.late(scatter) > 0);
        late.map(|scatter| Wrong::Moved { inst: scatter.inst, to: scatter.made + 1 }).collect()
    }),
    ("gradients scattered where they are read", |order, asked| {
        let far = order.scatters.iter().filter(|scatter| scatter.layer + asked.delay + 2 < order.layers.len());
        far.map(|scatter| Wrong::Moved { inst: scatter.inst, to: scatter.first_read }).collect()
    }),
];

/// The first of some instructions in another place.
fn moved(insts: &[usize], to: usize) -> Vec<Wrong> {
    insts.iter().take(1).map(|&inst| Wrong::Moved { inst, to }).collect()
}

/// Orders that are wrong on purpose are told, in each program where they can be.
#[test]
fn wrong_orders_are_told() {
    let found = for_each(&cases(), |case| {
        let module = case.loaded(case.asked).made(&train_step().to_string());
        let function = entry(&module);
        let order = Order::of(function, &written(function));
        let judge = |wrong: &Wrong| {
            let (mut list, mut function) = (written(function), function.clone());
            match *wrong {
                Wrong::Moved { inst, to } => {
                    list.retain(|&own| own != inst);
                    let at = list.iter().position(|&own| own >= to).unwrap_or(list.len());
                    list.insert(at, inst);
                }
                Wrong::Exchanged(one, other) => list.swap(one, other),
                Wrong::Loose(gather) => loosen(&mut function, gather),
            }
            Order::of(&function, &list).wrong(case.asked).is_some()
        };
        FAULTS.map(|(_, make)| {
            let all = make(&order, case.asked);
            (all.len(), all.iter().filter(|wrong| judge(wrong)).count())
        })
    });
    for (at, (name, _)) in FAULTS.iter().enumerate() {
        let (made, told) = found.iter().fold((0, 0), |(made, told), own| (made + own[at].0, told + own[at].1));
        println!("{name:50} {made:4} made, {told:4} told");
        assert!(made >= 4 && made == told, "{name}: {made} made, {told} told");
    }
}

/// Has a gather read what the barrier before it was given.
fn loosen(function: &mut Function, gather: usize) {
    let held = function.insts[gather].args[0];
    let Some((at, result)) = function.insts.iter().enumerate().find_map(|(at, inst)| {
        let result = inst.results.iter().position(|&result| result == held)?;
        matches!(inst.op, Op::OptimizationBarrier(_)).then_some((at, result))
    }) else {
        return;
    };
    let given = function.insts[at].args[result];
    function.insts[gather].args[0] = given;
}
