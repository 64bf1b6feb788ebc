//! The search for the best layout.

use super::bound::{Least, MicroBatch, MicroBatches, Sizes, Whole};
use super::shallow::{self, Told, compiled, source, told};
use super::side_by_side::{cores, side_by_side};
use crate::{Bill, Layout, Space};
use halite::Session;
use halite::source::{Model, Source};
use halite_bundle::estimate::FitVerdict;
use halite_estimate::time::Machine;
use halite_recipe::{ConfigValue, Recompute, RecomputePolicy};
use halite_support::{Diagnostic, Diagnostics, check_cancelled, codes};
use indexmap::IndexMap;
use serde::Serialize;
use std::collections::HashMap;

/// The model, the machine and the keys that a search is for.
#[derive(Clone, Debug)]
pub struct Question {
    /// A preset, a recipe or a model, as all commands take it.
    pub input: String,
    /// Keys of the recipe with their values, on every layout.
    pub set: Vec<String>,
    /// The target, by name.
    pub target: String,
    /// The machine of the target.
    pub machine: Machine,
    /// Instances, all of which are used.
    pub instances: u64,
    /// Sequences of an update; `None` for those of the recipe.
    pub sequences: Option<u64>,
    /// Layouts to show.
    pub shown: usize,
}

impl Question {
    /// All that is set for a layout.
    pub fn settings(&self, layout: &Layout) -> Vec<String> {
        let own = layout.settings().into_iter().map(|(key, value)| format!("{key}={value}"));
        self.set.iter().cloned().chain([format!("target={}", self.target)]).chain(own).collect()
    }

    /// The bill of a layout, compiled whole.
    ///
    /// # Errors
    /// Why the compiler refuses it.
    pub fn bill(&self, session: &mut Session, layout: &Layout) -> Result<Bill, Diagnostics> {
        compiled(session, self, layout, None).map(|(_, bill)| bill)
    }
}

/// How many layouts were looked at in which way.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Considered {
    /// All layouts.
    pub layouts: usize,
    /// Those whose state and activations alone are more than a rank has.
    pub too_much_state: usize,
    /// Those that cannot be faster than the ones shown.
    pub too_slow: usize,
    /// Those that were told from shallow models.
    pub shallow: usize,
    /// Those of these that need more memory than a rank has.
    pub too_much_memory: usize,
    /// Those that were compiled whole.
    pub compiled: usize,
    /// Those that the compiler refused.
    pub refused: usize,
}

/// A layout that was compiled, with its bill.
#[derive(Clone, PartialEq, Debug)]
pub struct Planned {
    /// The layout.
    pub layout: Layout,
    /// Its time, memory and cost.
    pub bill: Bill,
}

/// A layout that was looked at, and what came of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// The layout.
    pub layout: Layout,
    /// Seconds of an update and bytes of a rank, as told by shallow models.
    pub seconds: f64,
    /// Bytes that a rank needs.
    pub bytes: f64,
}

/// The outcome of a search.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The fastest layouts that fit, each compiled whole; the best first.
    pub planned: Vec<Planned>,
    /// All that was told from shallow models, for a plot.
    pub found: Vec<Found>,
    /// The layout that needs least memory, where none fits.
    pub nearest: Option<Found>,
    /// How many layouts were looked at in which way.
    pub considered: Considered,
    /// Why the compiler refused layouts, each reason once, with how many it refused.
    pub refusals: IndexMap<String, usize>,
}

/// A search under way.
pub struct Search<'a> {
    session: &'a mut Session,
    question: &'a Question,
    space: Space,
    whole: Whole,
    plan: Plan,
    /// The axes that break a rule of the target, whatever the batch.
    illegal: HashMap<Axes, String>,
    micro_batches: MicroBatches,
    /// Time and memory as shallow models tell them.
    told: HashMap<Layout, Told>,
    /// The bills of layouts that were compiled whole before it is their turn.
    ahead: HashMap<Layout, Result<Bill, Diagnostics>>,
}

/// The part of a layout that decides which ranks of a stage make a group: tensor, data, fsdp, and whether there are stages.
type Axes = ([u64; 3], bool);

fn axes(layout: &Layout) -> Axes {
    ([layout.tensor, layout.data, layout.fsdp], layout.pipeline > 1)
}

/// A layout that waits, with the least time that it can take.
struct Waiting {
    layout: Layout,
    least: f64,
    state: Known,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// Nothing but bounds of the whole.
    Bounds,
    /// The time of a micro-batch.
    MicroBatch,
    /// Time and memory as shallow models tell them.
    Shallow,
}

impl<'a> Search<'a> {
    /// Prepares the search: reads the recipe and lists the layouts.
    ///
    /// # Errors
    /// When the recipe is wrong, its model has a batch of its own, or no layout uses all ranks.
    pub fn new(session: &'a mut Session, question: &'a Question) -> Result<Self, Diagnostics> {
        let stated = session.load(&question.input, &question.set)?;
        if let Model::Program(_) = stated.model {
            let message =
                format!("the batch of `{}` is part of its program, so that layouts cannot be searched", stated.name);
            let error = Diagnostic::error(codes::CONTRACT, message);
            return Err(error.help("state a layout in a recipe, and ask for its bill without `--nodes`").into());
        }
        let config = session.elaborate(&stated)?.config;
        let int = |key: &str| match config.get(key) {
            Some(&ConfigValue::Int(value)) => u64::try_from(value).ok(),
            _ => None,
        };
        let parallel = stated.recipe.parallel.clone().unwrap_or_default();
        let batch = stated.recipe.batch.map_or_else(|| int("batch").unwrap_or(1), |batch| batch as u64);
        let steps = stated.recipe.accumulate.map_or(1, |accumulate| u64::from(accumulate.steps));
        let recipe_sequences = batch * steps * u64::from(parallel.data) * u64::from(parallel.fsdp);
        let ranks = question.instances * question.machine.instance.ranks;
        let fixed = question.set.iter().filter_map(|set| set.split_once('='));
        let space = Space {
            ranks,
            sequences: question.sequences.unwrap_or(recipe_sequences),
            layers: int("layers"),
            most_tensor: question.machine.instance.ranks.min(int("heads").unwrap_or(u64::MAX)),
            instance: question.machine.instance.ranks,
            recompute: recomputes(&stated.recipe.recompute),
            fixed: fixed.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect(),
        };
        // One rank with the whole model says what all of it takes.
        let one = Whole::of_a_sequence(session, question, space.layers)?;
        let whole = Whole { flops: one.flops * space.sequences as f64, ..one };
        let plan = Plan {
            planned: Vec::new(),
            found: Vec::new(),
            nearest: None,
            considered: Considered::default(),
            refusals: IndexMap::new(),
        };
        let (illegal, micro_batches, told) = (HashMap::new(), MicroBatches::default(), HashMap::new());
        Ok(Self { session, question, space, whole, plan, illegal, micro_batches, told, ahead: HashMap::new() })
    }

    /// All layouts, in the order in which they are listed.
    pub fn layouts(&self) -> Vec<Layout> {
        self.space.layouts()
    }

    /// Looks at the layouts, those first that can be fastest; tells `progress` after each step.
    ///
    /// # Errors
    /// When no layout uses all ranks with the sequences of an update, or the work was cancelled.
    pub fn run(mut self, mut progress: impl FnMut(&Considered, Option<&Planned>)) -> Result<Plan, Diagnostics> {
        let layouts = self.layouts();
        self.plan.considered.layouts = layouts.len();
        if layouts.is_empty() {
            return Err(self.no_layout().into());
        }
        let capacity = self.capacity();
        let mut waiting: Vec<Waiting> = Vec::new();
        for layout in layouts {
            let Least { bytes, seconds, .. } = self.of_whole(&layout);
            if bytes > capacity {
                self.plan.considered.too_much_state += 1;
                continue;
            }
            waiting.push(Waiting { layout, least: seconds, state: Known::Bounds });
        }
        while let Some(at) = first(&waiting, self.gathers(&waiting)) {
            check_cancelled()?;
            let next = waiting.swap_remove(at);
            if self.worst().is_some_and(|worst| next.least > worst) {
                self.plan.considered.too_slow += waiting.len() + 1;
                break;
            }
            if let Some(next) = self.look(next, &waiting)? {
                waiting.push(next);
            }
            progress(&self.plan.considered, self.plan.planned.first());
        }
        Ok(self.plan)
    }

    /// Whether layouts that shallow models told of wait for others, so that many are compiled at once: where all of them are to be shown,
    /// nothing is dropped for being slow, and those that can be faster are looked at in any case.
    fn gathers(&self, waiting: &[Waiting]) -> bool {
        let known = waiting.iter().filter(|own| own.state == Known::Shallow).count();
        self.plan.planned.len() + known < self.question.shown && known < waiting.len()
    }

    /// The bill of a layout, compiled whole. Beside it those are compiled that come next of what shallow models told of: as many as are to
    /// be shown, or as there are cores.
    fn bill(&mut self, next: &Waiting, waiting: &[Waiting]) -> Result<Bill, Diagnostics> {
        if let Some(bill) = self.ahead.remove(&next.layout) {
            return bill;
        }
        let worst = self.worst().unwrap_or(f64::INFINITY);
        let comes = |own: &&Waiting| own.state == Known::Shallow && own.least <= worst;
        let mut others: Vec<&Waiting> = waiting.iter().filter(comes).collect();
        others.retain(|own| !self.ahead.contains_key(&own.layout));
        others.sort_by(|a, b| a.least.total_cmp(&b.least));
        others.truncate(cores().max(self.question.shown - self.plan.planned.len()) - 1);
        let layouts = std::iter::once(next).chain(others).map(|own| own.layout.clone());
        let loaded = layouts.map(|layout| (source(self.session, self.question, &layout, None), layout));
        let loaded: Vec<(Result<Source, Diagnostics>, Layout)> = loaded.collect();
        let session: &Session = self.session;
        let bills = side_by_side(&loaded, |(source, _)| {
            let source = source.as_ref().map_err(Clone::clone)?;
            Bill::compiled(session, source, &self.question.machine).map(|(_, bill)| bill)
        });
        let mut bills = loaded.into_iter().map(|(_, layout)| layout).zip(bills);
        let own = bills.next().map(|(_, bill)| bill);
        self.ahead.extend(bills);
        own.unwrap_or_else(|| Err(Diagnostic::bug("a layout was not compiled").into()))
    }

    /// Looks closer at a layout, for which others wait; returns it where it still waits.
    fn look(&mut self, next: Waiting, waiting: &[Waiting]) -> Result<Option<Waiting>, Diagnostics> {
        if let Some(reason) = self.illegal.get(&axes(&next.layout)) {
            *self.plan.refusals.entry(reason.clone()).or_default() += 1;
            self.plan.considered.refused += 1;
            return Ok(None);
        }
        match next.state {
            Known::Bounds => {
                if let Some(of_less) = self.of_fewer_ranks(&next.layout).filter(|of| of.seconds > next.least) {
                    return Ok(Some(Waiting { least: of_less.seconds, ..next }));
                }
                let least = self.of_micro_batch(&next.layout, 1)?.seconds.max(next.least);
                Ok(Some(Waiting { least, state: Known::MicroBatch, ..next }))
            }
            Known::MicroBatch => {
                // Two stages tell of all with equal parts.
                let mut known = vec![self.of_micro_batch(&next.layout, 2)?];
                if known[0].bytes <= self.capacity() && known[0].seconds <= next.least {
                    known.extend(self.of_plain_schedule(&next.layout)?);
                }
                if known.iter().any(|known| known.bytes > self.capacity()) {
                    self.plan.considered.too_much_state += 1;
                    return Ok(None);
                }
                if let Some(known) = known.iter().find(|known| known.seconds > next.least) {
                    return Ok(Some(Waiting { least: known.seconds, ..next }));
                }
                let told = self.told(&next.layout);
                let Some(told) = self.taken(&next.layout, told)? else { return Ok(None) };
                self.plan.considered.shallow += 1;
                let found = Found { layout: next.layout.clone(), seconds: told.step.total, bytes: told.memory };
                let nearer = self.plan.nearest.as_ref().is_none_or(|nearest| found.bytes < nearest.bytes);
                if nearer {
                    self.plan.nearest = Some(found.clone());
                }
                self.plan.found.push(found);
                let known = Least::of_shallow(&told);
                if known.bytes > self.capacity() {
                    self.plan.considered.too_much_memory += 1;
                    return Ok(None);
                }
                Ok(Some(Waiting { least: known.seconds, state: Known::Shallow, ..next }))
            }
            Known::Shallow => {
                let bill = self.bill(&next, waiting);
                let Some(bill) = self.taken(&next.layout, bill)? else { return Ok(None) };
                self.plan.considered.compiled += 1;
                if bill.fits.is_some_and(|fits| fits.verdict() == FitVerdict::DoesNotFit)
                    || bill.memory[0] > self.question.machine.capacity
                {
                    self.plan.considered.too_much_memory += 1;
                    return Ok(None);
                }
                self.plan.planned.push(Planned { layout: next.layout, bill });
                self.plan.planned.sort_by(|a, b| a.bill.step.total.total_cmp(&b.bill.step.total));
                self.plan.planned.truncate(self.question.shown);
                Ok(None)
            }
        }
    }

    /// Time and memory of a layout from shallow models, each told once; a model whose layers are not known is compiled whole.
    fn told(&mut self, layout: &Layout) -> Result<Told, Diagnostics> {
        if let Some(told) = self.told.get(layout) {
            return Ok(told.clone());
        }
        let told = match self.space.layers {
            Some(layers) => told(self.session, self.question, layout, layers),
            None => compiled(self.session, self.question, layout, None)
                .map(|whole| shallow::of(whole, &self.question.machine)),
        }?;
        self.told.insert(layout.clone(), told.clone());
        Ok(told)
    }

    /// The least that state and products of the whole model tell.
    fn of_whole(&self, layout: &Layout) -> Least {
        let seconds = self.whole.seconds(layout, self.space.ranks, &self.question.machine);
        Least { by: "the whole model", bytes: self.whole.state_of(layout), seconds }
    }

    /// The least that is known from micro-batches of fewer ranks.
    fn of_fewer_ranks(&self, layout: &Layout) -> Option<Least> {
        let seconds = self.micro_batches.least(&Sizes::of(layout, 1), layout)?;
        Some(Least { by: "fewer ranks", bytes: 0.0, seconds })
    }

    /// The least that a micro-batch tells, on so many stages at most; nothing where that cannot be compiled.
    fn of_micro_batch(&mut self, layout: &Layout, stages: u64) -> Result<Least, Diagnostics> {
        let one = self.micro_batch(Sizes::of(layout, stages))?;
        let (kept, seconds) = one.map_or((0.0, 0.0), |one| (one.kept(), one.seconds(layout)));
        let tells = stages >= layout.pipeline || stages > 1 && self.has_equal_parts(layout);
        let kept = if tells { kept } else { 0.0 };
        Ok(Least { by: "a micro-batch", bytes: self.whole.state_of(layout) + kept, seconds })
    }

    /// Whether two stages tell what the first of all keeps: as many micro-batches as there are stages, each with its share of the layers. Parts
    /// with a layer more than the first one keep it for fewer, and a part of one layer computes other values again than one of several.
    fn has_equal_parts(&self, layout: &Layout) -> bool {
        let parts = layout.pipeline * layout.chunks;
        self.space.layers.is_some_and(|layers| layers % parts == 0 && layers > parts)
    }

    /// The least that is told by the same layout with stages one after the other, whose schedule keeps the fewest values and starts the
    /// fewest programs: others wait less, and do no less. `None` for that itself, and where it cannot be compiled.
    fn of_plain_schedule(&mut self, layout: &Layout) -> Result<Option<Least>, Diagnostics> {
        if layout.schedule == Layout::ALONE.schedule {
            return Ok(None);
        }
        let Layout { schedule, chunks, .. } = Layout::ALONE;
        let told = self.told(&Layout { schedule, chunks, ..layout.clone() }).ok();
        check_cancelled()?;
        Ok(told.map(|told| Least::of_plain_schedule(&told, layout)))
    }

    /// The least that a layout takes, by all that it can be dropped by.
    ///
    /// # Errors
    /// When the compiler refuses it, or the work was cancelled.
    pub fn least(&mut self, layout: &Layout) -> Result<Vec<Least>, Diagnostics> {
        let mut all = vec![self.of_whole(layout)];
        if layout.tensor > 1 {
            let fewer = Layout { tensor: layout.tensor / 2, ..layout.clone() };
            self.micro_batch(Sizes::of(&fewer, 1))?;
            // Those of as many ranks come after, so that fewer are what is known.
            all.extend(self.of_fewer_ranks(layout));
        }
        for stages in [1, 2] {
            all.push(self.of_micro_batch(layout, stages)?);
        }
        all.extend(self.of_plain_schedule(layout)?);
        all.push(Least::of_shallow(&self.told(layout)?));
        Ok(all)
    }

    /// A micro-batch of these sizes; `None` where that cannot be compiled.
    fn micro_batch(&mut self, sizes: Sizes) -> Result<Option<MicroBatch>, Diagnostics> {
        if let Some(&known) = self.micro_batches.0.get(&sizes) {
            return Ok(known);
        }
        let alone = sizes.alone();
        let one = self.space.layers.and_then(|layers| {
            let told = told(self.session, self.question, &alone, layers).ok()?;
            Some(MicroBatch::of(&told, &alone, layers, &self.question.machine))
        });
        check_cancelled()?;
        self.micro_batches.0.insert(sizes, one);
        Ok(one)
    }

    /// A result that the compiler did not refuse; refusals are counted.
    fn taken<T>(&mut self, layout: &Layout, result: Result<T, Diagnostics>) -> Result<Option<T>, Diagnostics> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(errors) => {
                check_cancelled()?;
                let Some(error) = errors.iter().next() else { return Ok(None) };
                let reason = format!("{}: {}", error.code().id, error.message());
                if error.code().id == codes::ILLEGAL.id {
                    self.illegal.insert(axes(layout), reason.clone());
                }
                *self.plan.refusals.entry(reason).or_default() += 1;
                self.plan.considered.refused += 1;
                Ok(None)
            }
        }
    }

    /// Bytes of a rank.
    fn capacity(&self) -> f64 {
        self.question.machine.capacity as f64
    }

    /// The seconds of the slowest layout that is shown, where enough are.
    fn worst(&self) -> Option<f64> {
        let full = self.plan.planned.len() >= self.question.shown;
        self.plan.planned.last().filter(|_| full).map(|planned| planned.bill.step.total)
    }

    fn no_layout(&self) -> Diagnostic {
        let Space { ranks, sequences, .. } = self.space;
        let message = format!("no layout shares {sequences} sequences of an update over {ranks} ranks as stated");
        Diagnostic::error(codes::USAGE, message)
            .help("state more sequences, e.g. `--sequences 1024`, fewer nodes, or fewer keys")
    }
}

/// The policies of recomputation that are tried beside the stated one, as TOML.
fn recomputes(stated: &[Recompute]) -> Vec<&'static str> {
    let states = |policy| stated.contains(&Recompute::Policy(policy));
    let all = [(RecomputePolicy::Attention, "[\"attention\"]"), (RecomputePolicy::Block, "[\"block\"]")];
    let less_than_stated = states(RecomputePolicy::Block);
    let more = all.into_iter().filter(|(policy, _)| !states(*policy) && !less_than_stated);
    more.map(|(_, written)| written).collect()
}

/// The position of the layout that can be fastest, of equals the first that was listed; none that shallow models told of where these wait.
fn first(waiting: &[Waiting], others: bool) -> Option<usize> {
    let least = |(_, a): &(usize, &Waiting), (_, b): &(usize, &Waiting)| {
        // What is known best comes first: it may end the search.
        let known = |own: &Waiting| own.state != Known::Shallow;
        a.least.total_cmp(&b.least).then(known(a).cmp(&known(b)))
    };
    let open = waiting.iter().enumerate().filter(|(_, own)| !others || own.state != Known::Shallow);
    open.min_by(least).map(|(at, _)| at)
}
