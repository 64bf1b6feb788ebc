//! Programs of one rank that are wrong on purpose: `check-replicas` finds them, or ranks compute something else than one device.

#![allow(clippy::unwrap_used, reason = "this is test code")]

use halite_analysis::{Moves, replicas};
use halite_ir::{Inst, Module, rewrite_functions, verify};
use halite_tensor::{HostTensor, compare::difference};
use halite_tests::meshes::{LAYOUTS, MODELS, Model, OnMesh, Ranks, entry, ignore_labels};
use halite_tests::stepping::{advance, first_inputs};
use std::fmt::Write;

mod kinds;

use kinds::{KINDS, Kind, Site};

/// A model, its layout, and what else its recipe states.
type Step = (Model, Ranks, &'static [&'static str]);

/// Weights that lie along other dimensions than those that products with them want: gradients and activations are exchanged.
const TURNED: &[&str] = &["parallel.place={'*q_proj.weight'=['','tensor'],'*o_proj.weight'=['tensor','']}"];

/// The steps that faults are made in: each kind of parallelism, merged projections, tied weights, dropout, weights that ranks store parts
/// of, and values that are exchanged between dimensions.
const STEPS: [Step; 9] = [
    (MODELS[0], Ranks::of(2, 2, true, 1, 1), &[]),
    (MODELS[0], Ranks::of(1, 4, true, 0, 1), &[]),
    (MODELS[2], Ranks::of(2, 2, false, 0, 2), &[]),
    (MODELS[5], Ranks::of(2, 2, true, 1, 1), &[]),
    (MODELS[3], Ranks::of(1, 2, true, 0, 1).fsdp(2), &[]),
    (MODELS[1], Ranks::of(2, 1, false, 2, 2).fsdp(2), &[]),
    (MODELS[0], Ranks::of(2, 2, false, 0, 1), TURNED),
    (MODELS[0], Ranks::of(1, 4, true, 0, 1), TURNED),
    (MODELS[1], Ranks::of(1, 2, false, 0, 1).fsdp(2), TURNED),
];

/// The steps, how many faults of a kind are tried in each, and how many of a kind there have to be in all.
struct Budget {
    steps: Vec<Step>,
    count: usize,
    least: usize,
}

/// Two of a kind in each step; so many with `HALITE_SEEDED_REPLICAS=5`, and with `HALITE_SEEDED_REPLICAS=all` ten, on all layouts.
fn budget() -> Budget {
    let few = |count: usize| Budget { steps: STEPS.to_vec(), count, least: 1 };
    match std::env::var("HALITE_SEEDED_REPLICAS").as_deref() {
        Err(_) => few(2),
        Ok("all") => {
            let all = MODELS.into_iter().flat_map(|model| LAYOUTS.map(|ranks| (model, ranks, &[][..])));
            Budget { steps: STEPS.into_iter().chain(all).collect(), count: 10, least: 10 }
        }
        Ok(count) => few(count.parse().expect("`HALITE_SEEDED_REPLICAS` is `all` or a whole number")),
    }
}

/// In how many places a fault is tried to be made.
const MAX_TRIED: usize = 40;

/// So far off are results in `f64` at most where terms of sums lie on other ranks.
const REORDERED: f64 = 1e-13;

/// A step with what it computes.
struct Judge {
    /// The model and its layout.
    name: String,
    step: OnMesh,
    /// Inputs, what one device makes of them, and what the ranks do.
    runs: Vec<(Vec<HostTensor>, Vec<HostTensor>, Vec<HostTensor>)>,
}

/// The check that finds a fault.
#[derive(Clone, Copy, PartialEq, Debug)]
enum By {
    Analysis,
    Law,
    /// Nothing: it computes the same, but for the order of sums.
    Equivalent,
    Nothing,
}

impl Judge {
    fn new((model, ranks, own): Step) -> Self {
        let step = OnMesh::with_settings(model, ranks, own);
        let whole = entry(&step.whole);
        let run = |inputs: &[HostTensor]| {
            let alone = step.loaded.alone(&step.whole, inputs).unwrap();
            (inputs.to_vec(), alone, step.loaded.on_ranks(&step.local, inputs).unwrap())
        };
        let mut first = first_inputs(whole, 32);
        ignore_labels(whole, &mut first);
        let first = run(&first);
        let mut second = first_inputs(whole, 29);
        advance(whole, &mut second, first.1.clone());
        let second = run(&second);
        Self { name: format!("{model:?} {ranks:?} {own:?}"), runs: vec![first, second], step }
    }

    fn judge(&self, module: &Module) -> By {
        if !replicas(module, Moves::Written).is_empty() {
            return By::Analysis;
        }
        let mut same = true;
        for (inputs, expected, right) in &self.runs {
            let Ok(found) = self.step.loaded.on_ranks(module, inputs) else { return By::Law };
            let far = |(found, expected): (&HostTensor, &HostTensor)| difference(found, expected).relative() > 1e-9;
            if found.iter().zip(expected).any(far) {
                return By::Law;
            }
            same &= found.iter().zip(right).all(|(found, right)| difference(found, right).relative() < REORDERED);
        }
        if same { By::Equivalent } else { By::Nothing }
    }

    /// Steps with a fault of a kind, each in another place, and how many places were skipped.
    fn faults(&self, kind: &Kind, count: usize) -> (Vec<(usize, Module)>, usize) {
        let insts = self.step.local.functions.iter().flat_map(|function| &function.insts).enumerate();
        let all: Vec<usize> = insts.filter(|(_, inst)| inst.op.name() == kind.op).map(|(at, _)| at).collect();
        let step = all.len().div_ceil(count).max(1);
        let spread = (0..step).flat_map(|first| all.iter().skip(first).step_by(step));
        let (mut made, mut skipped) = (Vec::new(), 0);
        for &place in spread.take(MAX_TRIED) {
            match self.faulty(kind, place) {
                Some(module) if made.len() < count => made.push((place, module)),
                Some(_) => break,
                None => skipped += 1,
            }
        }
        (made, skipped)
    }

    /// The step with a fault in the place of an instruction; `None` where it cannot be made there.
    fn faulty(&self, kind: &Kind, place: usize) -> Option<Module> {
        let mut module = self.step.local.clone();
        let (mesh, registry) = (module.layout.clone()?.mesh.clone(), &self.step.loaded.session.registry);
        let (mut at, mut made) = (0, false);
        let rewritten = rewrite_functions(&mut module, registry, |b, source| {
            for inst in &source.insts {
                let inst: &Inst = inst;
                if at == place {
                    let args = b.values(&inst.args)?;
                    b.set_loc(inst.loc);
                    let site = Site { mesh: &mesh, source, inst, args: &args };
                    if let Some(value) = (kind.replace)(b, &site)? {
                        made = b.ty(value) == source.ty(inst.results[0]);
                        b.replace(inst.results[0], value);
                        at += 1;
                        continue;
                    }
                }
                at += 1;
                b.copy(source, inst)?;
            }
            Ok(())
        });
        let fits = rewritten.is_ok() && made && verify(&module, registry).is_ok();
        fits.then_some(module)
    }
}

#[test]
fn seeded_faults_are_found() {
    let Budget { steps, count, least } = budget();
    let judges: Vec<Judge> = steps.into_iter().map(Judge::new).collect();
    let mut table = format!("{:40} sites skipped analysis law equivalent survived\n", "kind");
    let mut wrong = Vec::new();
    for kind in KINDS {
        let mut found = [0; 4];
        let mut skipped = 0;
        for judge in &judges {
            let (faults, none) = judge.faults(kind, count);
            skipped += none;
            for (place, module) in faults {
                let by = judge.judge(&module);
                found[by as usize] += 1;
                if by == By::Nothing || (kind.proven && by == By::Law) {
                    wrong.push(format!("{} at instruction {place} of {}: {by:?}", kind.name, judge.name));
                }
            }
        }
        let [analysis, law, equivalent, survived] = found;
        let sites: usize = found.iter().sum();
        if sites < least {
            wrong.push(format!("{} is made in {sites} places, expected {least}", kind.name));
        }
        writeln!(table, "{:40} {sites:5} {skipped:7} {analysis:8} {law:3} {equivalent:10} {survived:8}", kind.name)
            .unwrap();
    }
    println!("{table}");
    assert!(wrong.is_empty(), "{table}{}", wrong.join("\n"));
}
