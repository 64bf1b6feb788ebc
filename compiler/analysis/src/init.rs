//! Checks of initial values: whether the residual stream keeps its scale over depth.
//!
//! A stream that `N` branches are added to grows with their variance. Where the weights that branches end in start at
//! `1 / sqrt(N)` of the standard deviation of the others, the growth is that of one branch, however deep the model is
//! (Radford et al. 2019; `N` is twice the number of layers of a transformer).

mod branches;
mod moments;
mod propagate;

use branches::{Branch, Projection, Stream, Streams};
use halite_ir::paths::family;
use halite_ir::{Function, Module, Registry, Value};
use halite_support::{Diagnostic, Diagnostics, Name, Result, Span, codes};
use indexmap::IndexMap;
use moments::Moments;

/// The factor by which a weight may start above `1 / sqrt(N)` of the others.
const SLACK: f64 = 1.05;

/// The residual streams of a model at the first step.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct InitReport {
    /// Its residual streams.
    pub streams: Vec<ResidualStream>,
    /// Warnings about weights that start too large, and where the search for streams was given up.
    pub findings: Diagnostics,
}

/// The scale of a residual stream at the first step. Standard deviations are `None` where they are not known.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct ResidualStream {
    /// The standard deviation of its first value.
    pub start: Option<f64>,
    /// The terms that are added to it, in order.
    pub branches: Vec<ResidualBranch>,
}

/// One term of a residual stream.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct ResidualBranch {
    /// The scope of the sum, e.g. `model.layers.0`.
    pub scope: String,
    /// The weights that it ends in.
    pub weights: Vec<Name>,
    /// The standard deviation of the term.
    pub added: Option<f64>,
    /// The standard deviation of the sum.
    pub stream: Option<f64>,
    /// The sum, a value of the entry.
    pub sum: Value,
}

/// Looks at how the entry of a module in phase `built` starts. Branches are looked for in the entry alone, so `inline` comes before.
///
/// # Errors
/// When a composite cannot be decomposed.
pub fn check_init(module: &Module, registry: &Registry) -> Result<InitReport> {
    let Some(entry) = module.entry() else { return Ok(InitReport::default()) };
    let moments = propagate::moments(module, registry, entry)?;
    let Streams { list: streams, given_up, .. } = Streams::of(entry, &moments);
    let lint = Lint { module, entry, moments: &moments };
    let reports: Vec<_> = streams.iter().map(|stream| lint.report(stream)).collect();
    let found = streams.iter().zip(&reports).flat_map(|(stream, report)| lint.findings(stream, report));
    let findings = found.chain(given_up.map(|sum| lint.given_up(sum))).collect();
    Ok(InitReport { streams: reports, findings })
}

struct Lint<'a> {
    module: &'a Module,
    entry: &'a Function,
    moments: &'a [Option<Moments>],
}

impl Lint<'_> {
    fn std(&self, value: Value) -> Option<f64> {
        self.moments[value.index()].map(|moments| moments.var.sqrt())
    }

    fn name(&self, projection: &Projection) -> Name {
        self.entry.params[projection.param].name.clone()
    }

    fn report(&self, stream: &Stream) -> ResidualStream {
        let branch = |branch: &Branch| ResidualBranch {
            scope: self.entry.def(branch.sum).map(|inst| self.module.locs.scope(inst.loc)).unwrap_or_default(),
            weights: branch.last.iter().map(|projection| self.name(projection)).collect(),
            added: self.std(branch.added),
            stream: self.std(branch.sum),
            sum: branch.sum,
        };
        ResidualStream { start: self.std(stream.start), branches: stream.branches.iter().map(branch).collect() }
    }

    /// The warning for a sum where the search for streams was given up, because too many paths of values lead to it.
    fn given_up(&self, sum: Value) -> Diagnostic {
        let span = self.entry.def(sum).and_then(|inst| self.module.locs.span(inst.loc));
        Diagnostic::warning(codes::RESIDUAL_INIT, "the residual streams are not looked at from here on")
            .or_at(span, "too many sums of sums lead here")
            .help("nothing is wrong with the model; `check.waive = [\"residual-init\"]` leaves this check out")
    }

    /// One finding for each line of the model that adds branches which start too large.
    fn findings(&self, stream: &Stream, report: &ResidualStream) -> Diagnostics {
        let mut large: IndexMap<Option<Span>, Vec<(Projection, f64)>> = IndexMap::new();
        let count = stream.branches.len();
        for branch in stream.branches.iter().filter(|_| count > 1) {
            let span = self.entry.def(branch.sum).and_then(|inst| self.module.locs.span(inst.loc));
            let found = branch.last.iter().filter_map(|last| Some((*last, too_large(last, &branch.inner, count)?)));
            let found: Vec<_> = found.collect();
            if !found.is_empty() {
                large.entry(span).or_default().extend(found);
            }
        }
        large.into_iter().map(|(span, weights)| self.finding(span, &weights, count, report)).collect()
    }

    fn finding(
        &self,
        span: Option<Span>,
        weights: &[(Projection, f64)],
        count: usize,
        report: &ResidualStream,
    ) -> Diagnostic {
        let (first, wanted) = weights[0];
        let (found, wanted) = (scale(&first).unwrap_or_default(), wanted);
        let message = format!(
            "weights at the end of a residual branch, one of {count}, start with std {found:.2e}, and {wanted:.2e} would keep the scale of the stream"
        );
        let mut families: Vec<String> = weights.iter().map(|(last, _)| family(&self.name(last))).collect();
        families.dedup();
        let named: Vec<_> = families.iter().map(|family| format!("`{family}`")).collect();
        let mut finding = Diagnostic::warning(codes::RESIDUAL_INIT, message)
            .or_at(span, "added to the stream here")
            .note(format!("the branch ends in {}", named.join(", ")));
        if let (Some(start), Some(end)) = (report.start, report.branches.last().and_then(|last| last.stream)) {
            finding = finding.note(format!(
                "the values of the stream have a standard deviation of {start:.3} before the first layer and of {end:.3} after the last, \
                 at the first step"
            ));
        }
        finding.note("nothing was changed: training starts from the weights as the model states them").help(format!(
            "start these weights smaller: divide their std by the root of the number of branches, {:.3}, as `out_std` of `attention` and \
             `gated_mlp` does; or waive the finding with `check.waive = [\"residual-init\"]`",
            (count as f64).sqrt()
        ))
    }
}

/// The standard deviation that a weight starts with, times what scales its product; `None` when it starts from no samples.
fn scale(projection: &Projection) -> Option<f64> {
    Some(projection.std? * projection.factor)
}

/// The scaled standard deviation that a weight at the end of a branch should start with: the largest of the other weights in the
/// branch times `1 / sqrt(branches)`. `None` where the weight starts with no more than that, taken as such or, for weights that start
/// according to their width, times the square root of the width.
fn too_large(last: &Projection, inner: &[Projection], branches: usize) -> Option<f64> {
    let share = 1.0 / (branches as f64).sqrt();
    let found = scale(last)?;
    let width = |projection: &Projection| (projection.fan_in.max(1) as f64).sqrt();
    let largest = |of: fn(f64, f64) -> f64| {
        let scaled = inner.iter().filter_map(|other| Some(of(scale(other)?, width(other))));
        scaled.reduce(f64::max)
    };
    let wanted = largest(|std, _| std)? * share;
    let by_width = largest(|std, width| std * width)? * share / width(last);
    (found > SLACK * wanted.max(by_width)).then_some(wanted)
}
