//! The layers of a model, where a recipe may have it cut.

use super::source::Source;
use halite_ir::{Function, Layer};
use halite_recipe::Cuts;
use halite_support::nearest::{list, nearest};
use halite_support::{Diagnostic, Result, codes};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

/// The layers that a line goes through.
pub(super) struct Layers {
    /// The layers, in the order in which the line comes to them.
    all: IndexSet<Layer, FxBuildHasher>,
    /// The instruction of the line that each begins with.
    begins: Vec<usize>,
}

impl Layers {
    /// The layers of the weights that the instructions of a line read. Between the last reading of a weight of one layer and the first of the
    /// next, the next one begins where the fewest bytes cross.
    pub(super) fn of(entry: &Function, insts: &[usize], sources: &[Source], crossing: &[u64]) -> Self {
        let mut all: IndexSet<Layer, FxBuildHasher> = IndexSet::default();
        let mut begins = Vec::new();
        let mut last: Option<usize> = None;
        let read = read(entry, sources);
        for (at, inst) in insts.iter().map(|&inst| &entry.insts[inst]).enumerate() {
            let Some(layer) = inst.args.iter().find_map(|arg| read[arg.index()].as_ref()) else { continue };
            if all.insert(layer.clone()) {
                let from = last.map_or(at, |last| last + 1);
                begins.push((from..=at).rev().min_by_key(|&at| crossing[at]).unwrap_or(at));
            }
            last = Some(at);
        }
        Self { all, begins }
    }

    /// The instruction of the line that each part begins with.
    ///
    /// # Errors
    /// When the cuts do not fit the layers, at the entry to change.
    pub(super) fn cut(&self, cuts: &Cuts) -> Result<Vec<usize>> {
        if self.all.is_empty() {
            let message = format!("`{}` cuts a model between layers, and this one has no weight of a layer", Cuts::KEY);
            let error = Diagnostic::error(codes::RECIPE_CLASH, message).key(Cuts::KEY);
            return Err(error
                .note("a weight is of a layer where its path has a number, as `model.layers.3.mlp.weight` has")
                .help(format!("leave out `{}`: parts then cost about the same", Cuts::KEY)));
        }
        let numbers = match cuts {
            Cuts::Layers(counts) => self.counted(counts)?,
            Cuts::Begins(paths) => self.named(paths)?,
        };
        Ok([0].into_iter().chain(numbers.into_iter().map(|number| self.begins[number])).collect())
    }

    /// The layers that parts after the first begin with, of so many layers each.
    fn counted(&self, counts: &[u32]) -> Result<Vec<usize>> {
        let (layers, parts) = (self.all.len(), counts.len());
        let stated: u64 = counts.iter().copied().map(u64::from).sum();
        if stated != layers as u64 {
            let message = format!("`{}` is of {stated} layers, and the model has {layers}", Cuts::KEY);
            let even: Vec<String> =
                (0..parts).map(|part| (layers / parts + usize::from(part < layers % parts)).to_string()).collect();
            let help = match layers < parts {
                true => format!("choose at most {layers} parts: fewer stages or chunks"),
                false => format!("state numbers whose sum is {layers}, such as `stages = [{}]`", even.join(", ")),
            };
            let error = Diagnostic::error(codes::RECIPE_CLASH, message).key(Cuts::KEY);
            return Err(self.lists().into_iter().fold(error, Diagnostic::note).help(help));
        }
        let ends = counts.iter().scan(0, |end, &count| {
            *end += count as usize;
            Some(*end)
        });
        Ok(ends.take(parts.saturating_sub(1)).collect())
    }

    /// The lists that the layers are of, where there are several.
    fn lists(&self) -> Option<String> {
        let mut lists: IndexMap<&str, usize> = IndexMap::new();
        self.all.iter().for_each(|layer| *lists.entry(&layer.list).or_default() += 1);
        let each: Vec<String> = lists.iter().map(|(list, count)| format!("{count} of `{list}`")).collect();
        (each.len() > 1).then(|| format!("layers in the order of the model: {}", each.join(", ")))
    }

    /// The layers of these paths.
    fn named(&self, paths: &[String]) -> Result<Vec<usize>> {
        let mut numbers: Vec<usize> = Vec::new();
        for (at, path) in paths.iter().enumerate() {
            let error =
                |message: String| Diagnostic::error(codes::RECIPE_CLASH, message).key(format!("{}.{at}", Cuts::KEY));
            let number = self.find(path, error)?;
            if self.begins[number] == 0 {
                let message = format!("the model begins with `{path}`: the part before it has nothing");
                return Err(error(message).help("name a layer further on"));
            }
            if let Some(&before) = numbers.last().filter(|before| **before >= number) {
                let message = format!("`{path}` does not come after `{}` in the model", self.all[before]);
                return Err(error(message).help("name each layer once, in the order of the model"));
            }
            numbers.push(number);
        }
        Ok(numbers)
    }

    /// The layer of a path, of which the first parts may be left out.
    fn find(&self, path: &str, error: impl Fn(String) -> Diagnostic) -> Result<usize> {
        if let Some(number) = self.all.iter().position(|layer| layer.to_string() == path) {
            return Ok(number);
        }
        let is_meant = |number: &usize| self.all[*number].spellings().any(|spelling| spelling == path);
        let meant: Vec<usize> = (0..self.all.len()).filter(is_meant).collect();
        match meant[..] {
            [number] => Ok(number),
            [] => {
                let spellings: Vec<String> = self.all.iter().flat_map(Layer::spellings).collect();
                let near = nearest(path, spellings.iter().map(String::as_str));
                let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                let (first, last) = (&self.all[0], &self.all[self.all.len() - 1]);
                let help = format!("the layers are `{first}` to `{last}`{near}");
                Err(error(format!("`{path}` is no layer of the model")).help(help))
            }
            _ => {
                let several: Vec<String> = meant.iter().map(|&number| self.all[number].to_string()).collect();
                let several: Vec<&str> = several.iter().map(String::as_str).collect();
                let message = format!("`{path}` is {}", list(&several));
                Err(error(message).help("write the whole path of the one that is meant"))
            }
        }
    }
}

/// For each value that is a weight of a layer, or follows from such a weight alone, the layer.
fn read(entry: &Function, sources: &[Source]) -> Vec<Option<Layer>> {
    let mut read: Vec<Option<Layer>> = vec![None; entry.values.len()];
    for param in &entry.params {
        read[param.value.index()] = param.weight().and_then(|info| info.layer.clone());
    }
    for inst in &entry.insts {
        for result in inst.results.iter().filter(|result| !sources[result.index()].is_own()) {
            read[result.index()] = inst.args.iter().find_map(|arg| read[arg.index()].clone());
        }
    }
    read
}
