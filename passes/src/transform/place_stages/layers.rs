//! The layers of a model, where a recipe may have it cut.

use super::source::Source;
use halite_ir::{Function, Layer};
use halite_recipe::Cuts;
use halite_support::nearest::{list, nearest};
use halite_support::{Diagnostic, Result, codes};
use rustc_hash::FxHashMap;

/// The layers that a line goes through.
pub(super) struct Layers {
    /// Their paths, in the order in which the line comes to them.
    paths: Vec<String>,
    /// The instruction of the line that each begins with.
    begins: Vec<usize>,
}

impl Layers {
    /// The layers of the weights that the instructions of a line read. Between the last reading of a weight of one layer and the first of the
    /// next, the next one begins where the fewest bytes cross.
    pub(super) fn of(entry: &Function, insts: &[usize], sources: &[Source], crossing: &[u64]) -> Self {
        let mut paths: Vec<String> = Vec::new();
        let mut begins = Vec::new();
        let mut numbers: FxHashMap<Layer, usize> = FxHashMap::default();
        let mut last: Option<usize> = None;
        let read = read(entry, sources);
        for (at, inst) in insts.iter().map(|&inst| &entry.insts[inst]).enumerate() {
            let Some(layer) = inst.args.iter().find_map(|arg| read[arg.index()].as_ref()) else { continue };
            if !numbers.contains_key(layer) {
                let from = last.map_or(at, |last| last + 1).min(at);
                let begin = (from..=at).rev().min_by_key(|&at| crossing[at]).unwrap_or(at);
                numbers.insert(layer.clone(), paths.len());
                paths.push(layer.to_string());
                begins.push(begin);
            }
            last = Some(at);
        }
        Self { paths, begins }
    }

    /// The instruction of the line that each part begins with.
    ///
    /// # Errors
    /// When the cuts do not fit the layers, at the entry to change.
    pub(super) fn cut(&self, cuts: &Cuts) -> Result<Vec<usize>> {
        if self.paths.is_empty() {
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
        let (layers, parts) = (self.paths.len(), counts.len());
        let stated: u64 = counts.iter().copied().map(u64::from).sum();
        if stated != layers as u64 {
            let message = format!("`{}` is of {stated} layers, and the model has {layers}", Cuts::KEY);
            let even: Vec<String> =
                (0..parts).map(|part| (layers / parts + usize::from(part < layers % parts)).to_string()).collect();
            let help = match layers < parts {
                true => format!("choose at most {layers} parts: fewer stages or chunks"),
                false => format!("state numbers whose sum is {layers}, such as `stages = [{}]`", even.join(", ")),
            };
            return Err(Diagnostic::error(codes::RECIPE_CLASH, message).key(Cuts::KEY).help(help));
        }
        let ends = counts.iter().scan(0, |end, &count| {
            *end += count as usize;
            Some(*end)
        });
        Ok(ends.take(parts.saturating_sub(1)).collect())
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
                let message = format!("`{path}` does not come after `{}` in the model", self.paths[before]);
                return Err(error(message).help("name each layer once, in the order of the model"));
            }
            numbers.push(number);
        }
        Ok(numbers)
    }

    /// The layer of a path, of which the first parts may be left out.
    fn find(&self, path: &str, error: impl Fn(String) -> Diagnostic) -> Result<usize> {
        let own = || self.paths.iter().map(String::as_str);
        if let Some(number) = own().position(|own| own == path) {
            return Ok(number);
        }
        let is_meant = |own: &str| suffixes(own).any(|rest| rest == path);
        let meant: Vec<&str> = own().filter(|own| is_meant(own)).collect();
        match &meant[..] {
            [_] => Ok(own().position(is_meant).unwrap_or_default()),
            [] => {
                let message = format!("`{path}` is no layer of the model");
                let (first, last) = (&self.paths[0], &self.paths[self.paths.len() - 1]);
                let help = nearest(path, own().flat_map(suffixes)).map_or_else(
                    || format!("the layers are `{first}` to `{last}`"),
                    |near| format!("did you mean `{near}`? The layers are `{first}` to `{last}`"),
                );
                Err(error(message).help(help))
            }
            several => {
                let message = format!("`{path}` is {}", list(several));
                Err(error(message).help("write the whole path of the one that is meant"))
            }
        }
    }
}

/// A path, and what is left of it without its first parts.
fn suffixes(path: &str) -> impl Iterator<Item = &str> {
    let rests = path.match_indices('.').map(|(at, _)| &path[at + 1..]);
    [path].into_iter().chain(rests.filter(|rest| rest.contains('.')))
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
