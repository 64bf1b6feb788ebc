//! Laws of plans over random questions: more instances or more memory are no slower, and a plan is what its programs say.

#![allow(clippy::print_stdout, reason = "what was measured is part of the output of a test")]

use halite::Session;
use halite::compile::CompileOptions;
use halite_bundle::work::{CollectiveKind, Collectives};
use halite_bundle::{Manifest, ModuleEntry, ModuleRole};
use halite_hlo::decode;
use halite_hlo::graph::Graph;
use halite_hlo::proto::ShapeProto;
use halite_plan::{Bill, Layout, Planned, Question, Search};
use halite_recipe::TargetName;
use halite_support::Diagnostics;
use halite_target::estimate::time::Machine;
use halite_tests::parallel::for_each;

/// How many cases are tried: one, or as many as `HALITE_PLANS` says in the second tier.
fn cases() -> u64 {
    std::env::var("HALITE_PLANS").map_or(1, |cases| cases.parse().expect("HALITE_PLANS is a number"))
}

/// Whether this is the second tier.
pub(crate) fn is_second_tier() -> bool {
    std::env::var("HALITE_PLANS").is_ok()
}

/// Numbers that look random and are the same each time.
struct Draws(u64);

impl Draws {
    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        all[((self.0 >> 33) % all.len() as u64) as usize]
    }
}

/// A model, a machine and what is stated, by a number.
fn question(session: &Session, case: u64) -> Question {
    let mut draws = Draws(case.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let target = draws.one_of(&["trn1", "trn2"]);
    let (layers, hidden) = (draws.one_of(&[4, 6, 8, 12]), draws.one_of(&[256, 512, 1024]));
    let heads = draws.one_of(&[4, 8]);
    let set = [
        format!("layers={layers}"),
        format!("hidden={hidden}"),
        format!("ffn={}", 4 * hidden),
        format!("heads={heads}"),
        format!("kv_heads={}", draws.one_of(&[heads, heads / 2])),
        format!("vocab={}", draws.one_of(&[512, 4096])),
        format!("seq={}", draws.one_of(&[128, 512])),
        format!("precision={}", draws.one_of(&["mixed", "bf16-sr"])),
        format!("batch={}", draws.one_of(&[1, 2])),
        draws.one_of(&["parallel.pipeline=1", "parallel.pipeline=1", "parallel.pipeline=2"]).to_owned(),
        draws.one_of(&["parallel.tensor=2", "parallel.tensor=4", "parallel.fsdp=1"]).to_owned(),
    ];
    let name = TargetName::new(target);
    let machine =
        session.vocabulary.targets.get(&name).expect("it is built in").machines(&name, &[]).into_iter().next();
    Question {
        input: draws.one_of(&["llama", "qwen2"]).to_owned(),
        set: set.to_vec(),
        target: target.to_owned(),
        machine: machine.expect("its links are known"),
        instances: 1,
        sequences: Some(draws.one_of(&[512, 1024])),
        shown: 3,
    }
}

fn best(question: &Question) -> Option<Planned> {
    let mut session = Session::new();
    let plan = Search::new(&mut session, question).ok()?.run(|_, _| {}).ok()?;
    plan.planned.into_iter().next()
}

/// A machine on which an execution and a collective take no time of their own, so that what ranks share is all there is.
fn without_latencies(machine: &Machine) -> Machine {
    let links = machine.links.iter().map(|link| halite_target::estimate::time::Link { latency: 0.0, ..link.clone() });
    Machine { links: links.collect(), launch: 0.0, ..machine.clone() }
}

/// Calls `of` for each case, over all cores, and returns what it gives.
fn each<R: Send>(of: impl Fn(u64) -> Option<R> + Sync) -> Vec<R> {
    let cases: Vec<u64> = (0..cases()).collect();
    for_each(&cases, |case| of(*case)).into_iter().flatten().collect()
}

/// Less memory is no faster, and a plan is found where a rank has just what it needs.
#[test]
fn more_memory_is_no_slower() {
    let smaller = each(|case| {
        let all = question(&Session::new(), case);
        let first = best(&all)?;
        let needs = first.bill.memory[0];
        let with = |capacity| Question { machine: Machine { capacity, ..all.machine.clone() }, ..all.clone() };
        let found_again = |own: &Planned| {
            let again = best(&with(own.bill.memory[0])).map(|again| again.bill.step.total);
            assert_eq!(again, Some(own.bill.step.total), "case {case}: {} on what it needs", own.layout);
        };
        found_again(&first);
        let (mut before, mut smaller) = (first.bill.step.total, 0);
        let parts: &[u64] = if is_second_tier() { &[99, 60, 30] } else { &[60] };
        for part in parts {
            let Some(next) = best(&with(needs * part / 100)) else { break };
            let now = next.bill.step.total;
            assert!(now >= before, "case {case}: {now} with less memory, {before} with more");
            assert!(next.bill.memory[0] <= needs * part / 100, "case {case}");
            found_again(&next);
            (before, smaller) = (now, smaller + 1);
        }
        println!("case {case}: {} with {smaller} smaller memories", first.layout);
        Some(smaller)
    });
    let (tried, smaller) = (smaller.len() as u64, smaller.iter().sum::<u64>());
    println!("{tried} questions, {smaller} with less memory than the best plan needs");
    assert!(tried * 4 >= cases() * 3 && smaller > 0, "{tried} {smaller}");
}

/// Layouts of a question that are compiled whole beside all that they can be dropped by.
const LAYOUTS: usize = 3;

/// A layout compiled whole takes no less memory and time than each bound by which a search can drop it.
#[test]
fn no_bound_is_above_what_it_bounds() {
    let all = each(|case| {
        let mut session = Session::new();
        let mut question = question(&session, case);
        let mut draws = Draws(case);
        // Any number of stages, which layers may not divide.
        question.set.retain(|set| !set.starts_with("parallel.pipeline"));
        question.set.push(format!("layers={}", draws.one_of(&[5, 7, 8, 11, 12])));
        let layouts = Search::new(&mut session, &question).ok()?.layouts();
        let step = layouts.len().div_ceil(LAYOUTS).max(1);
        let first = draws.one_of(&(0..step).collect::<Vec<_>>());
        let drawn = layouts.iter().skip(first).step_by(step);
        let bounds = drawn.filter_map(|layout| bounds_hold(&mut session, &question, layout)).sum::<usize>();
        println!("case {case}: {bounds} bounds");
        Some(bounds)
    });
    let bounds: usize = all.iter().sum();
    println!("{} questions, {bounds} bounds", all.len());
    assert!(all.len() as u64 * 4 >= cases() * 3 && bounds as u64 >= 8 * cases(), "{all:?}");
}

/// The number of bounds of a layout, each of which holds; `None` where it does not compile.
fn bounds_hold(session: &mut Session, question: &Question, layout: &Layout) -> Option<usize> {
    let bounds = Search::new(session, question).ok()?.least(layout).ok()?;
    let bill = question.bill(session, layout).ok()?;
    let (bytes, seconds) = (bill.memory[0] as f64, bill.step.total);
    for bound in &bounds {
        let holds = bound.bytes <= bytes && bound.seconds <= seconds;
        assert!(holds, "{:?}: {bound:?}, and it takes {bytes} bytes and {seconds} s: {layout:?}", question.set);
    }
    Some(bounds.len())
}

#[test]
fn more_instances_are_no_slower_where_nothing_is_fixed() {
    let tried = each(|case| {
        let mut one = question(&Session::new(), case);
        one.machine = without_latencies(&one.machine);
        let two = Question { instances: 2, ..one.clone() };
        let (one, two) = (best(&one)?, best(&two)?);
        let (before, now) = (one.bill.step.total, two.bill.step.total);
        println!("case {case}: {} {before:.2e} s, {} {now:.2e} s", one.layout, two.layout);
        assert!(now <= before * 1.001, "case {case}: {now} on two instances, {before} on one");
        Some(())
    });
    assert!(tried.len() as u64 * 2 >= cases(), "{}", tried.len());
}

/// Bytes that a rank sends for a collective that is one ring.
fn ring(kind: CollectiveKind, bytes: f64, ranks: f64) -> f64 {
    match kind {
        CollectiveKind::AllReduce => 2.0 * bytes * (ranks - 1.0) / ranks,
        CollectiveKind::Permute => bytes,
        CollectiveKind::AllGather | CollectiveKind::ReduceScatter | CollectiveKind::AllToAll => {
            bytes * (ranks - 1.0) / ranks
        }
    }
}

fn bytes(shape: &ShapeProto) -> f64 {
    shape.arrays().iter().map(|shape| shape.num_bytes() as f64).sum()
}

/// Bytes that a rank sends in an execution of a module, counted from its HLO.
fn sent_by(hlo: &[u8]) -> f64 {
    let graph = Graph::new(decode(hlo).expect("it is HLO"));
    let times = graph.executions();
    let mut all = 0.0;
    for (number, computation) in graph.computations().iter().enumerate() {
        for at in computation.range() {
            let inst = graph.inst(at);
            let kind = match &*inst.opcode {
                "all-gather" => CollectiveKind::AllGather,
                "all-reduce" => CollectiveKind::AllReduce,
                "reduce-scatter" => CollectiveKind::ReduceScatter,
                "all-to-all" => CollectiveKind::AllToAll,
                "collective-permute" => CollectiveKind::Permute,
                _ => continue,
            };
            let operands = (0..inst.operand_ids.len()).filter_map(|at_operand| graph.operand_shape(at, at_operand));
            let operands: f64 = operands.map(bytes).sum();
            let result = graph.shape(at).map_or(0.0, bytes);
            let groups = inst.groups().expect("groups are written");
            let ranks = groups.first().map_or(1, |group| group.replica_ids.len()) as f64;
            all += times[number] as f64 * ring(kind, operands.max(result), ranks);
        }
    }
    all
}

fn told_of(module: &ModuleEntry) -> f64 {
    let work = &module.estimate.as_ref().expect("it is estimated").work;
    let of = |own: &Collectives| own.count as f64 * ring(own.kind, own.bytes as f64, own.ranks() as f64);
    work.collectives.iter().map(of).sum()
}

/// A compiled recipe has the ranks, the stages and the sequences of a layout.
fn is_laid_out(manifest: &Manifest, layout: &Layout) {
    let Layout { tensor, pipeline, data, fsdp, batch, accumulate, .. } = *layout;
    for (axis, size) in [("tensor", tensor), ("data", data), ("fsdp", fsdp)] {
        assert_eq!(manifest.mesh.size(axis) as u64, size, "{layout}: {axis}");
    }
    assert_eq!(manifest.num_stages() as u64, pipeline, "{layout}");
    let sequences = manifest.statistics.tokens_per_step / manifest.recipe.seq.expect("it is stated") as u64;
    assert_eq!(sequences, data * fsdp * batch * accumulate, "{layout}");
}

/// A plan is the same each time, the fastest layout first. Its layouts compile as they are printed, with the same memory, and send what
/// their HLO says within 2%.
#[test]
fn plans_compile_as_printed() {
    let all = each(|case| {
        let mut session = Session::new();
        let question = question(&session, case);
        let mut plan = || Search::new(&mut session, &question).and_then(|search| search.run(|_, _| {})).ok();
        let (plan, again) = (plan(), plan());
        assert_eq!(plan, again, "case {case}");
        let planned = plan?.planned;
        assert!(planned.is_sorted_by_key(|own| own.bill.step.total), "case {case}: {planned:?}");
        let modules = planned.iter().map(|planned| is_as_printed(&mut session, &question, planned)).sum::<usize>();
        println!("case {case}: {} layouts, {modules} modules", planned.len());
        Some([planned.len(), modules])
    });
    let (layouts, modules) = all.iter().fold((0, 0), |(layouts, modules), own| (layouts + own[0], modules + own[1]));
    println!("{layouts} layouts, {modules} modules");
    assert!(layouts as u64 >= 2 * cases(), "{layouts}");
}

/// Compiles a layout and compares it with its bill; returns the number of its modules.
fn is_as_printed(session: &mut Session, question: &Question, Planned { layout, bill }: &Planned) -> usize {
    let compiled = compiled(session, question, layout).unwrap_or_else(|errors| panic!("{errors:?}"));
    let manifest = &compiled.bundle.manifest;
    let again = Bill::of(manifest, &question.machine).expect("it is estimated");
    assert_eq!((again.memory, again.step.total), (bill.memory, bill.step.total), "{:?}: {layout}", question.set);
    is_laid_out(manifest, layout);
    for module in &manifest.modules {
        let (counted, told) = (sent_by(&compiled.bundle.files[&module.file]), told_of(module));
        assert!((counted - told).abs() <= 0.02 * counted, "{:?}: {layout}: {counted} {told}", question.set);
    }
    manifest.modules.len()
}

fn compiled(
    session: &mut Session,
    question: &Question,
    layout: &Layout,
) -> Result<halite::compile::Compiled, Diagnostics> {
    let source = session.load(&question.input, &question.settings(layout))?;
    let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
    session.compile(&source, &options)
}
