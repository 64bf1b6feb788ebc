//! Draws places: a line of production code at random, each as likely as another, then one of its mutants.

use crate::files;
use crate::mutant::{self, Mutant, Result};
use crate::sites;
use std::collections::BTreeMap;
use std::path::Path;

/// Draws mutants, at most one to a line, and writes them as a list.
pub fn draw(tree: &Path, seed: u64, count: usize, list: &Path) -> Result<()> {
    let found = sites::of_tree(tree)?;
    let mut lines = Vec::new();
    for (file, text) in &found.texts {
        lines.extend(files::code_lines(text).into_iter().map(|line| (file.as_str(), line)));
    }
    let mut at: BTreeMap<(&str, usize), Vec<Mutant>> = BTreeMap::new();
    for site in &found.sites {
        at.entry((&site.mutant.file, site.mutant.line)).or_default().push(site.mutant.clone());
    }
    println!("{} lines, {} of them with {} mutants", lines.len(), at.len(), found.sites.len());
    let mut random = Random(seed);
    let mut drawn = Vec::new();
    while drawn.len() < count && !lines.is_empty() {
        let line = lines.swap_remove(random.below(lines.len()));
        if let Some(own) = at.get(&line) {
            let number = u32::try_from(drawn.len())? + 1;
            drawn.push(Mutant { number, ..own[random.below(own.len())].clone() });
        }
    }
    mutant::write(list, &drawn)
}

/// Splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number below another, which is far below 2^64.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}
