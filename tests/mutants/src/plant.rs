//! Writes switches into a copy of the sources.

use crate::files;
use crate::mutant::{self, Mutant, Result};
use crate::sites::{self, Site};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The module of a crate that knows which mutant is on.
const SWITCHES: &str = include_str!("switches.txt");

/// Programs that a test starts in an environment of their own still have to know which mutant is on.
const CLEARED: &str = ".env_clear()";
const KEPT: &str = ".env_clear().envs(std::env::vars().filter(|(name, _)| name.starts_with(\"HALITE_MUTANT\")))";

/// The place of a mutant in a planted file, in bytes.
#[derive(Serialize)]
struct Place {
    number: u32,
    file: String,
    start: usize,
    end: usize,
}

/// Plants the mutants of a list in a tree, writes where they came to stand, and says which have no place there.
pub fn plant(tree: &Path, list: &Path, places: &Path) -> Result<()> {
    let found = sites::of_tree(tree)?;
    let key = |mutant: &Mutant| {
        let Mutant { file, kind, before, after, text, nth, .. } = mutant.clone();
        (file, kind, before, after, text, nth)
    };
    let at: BTreeMap<_, &Site> = found.sites.iter().map(|site| (key(&site.mutant), site)).collect();
    let mut chosen: BTreeMap<&str, Vec<(u32, &Site)>> = BTreeMap::new();
    for mutant in mutant::read(list)? {
        match at.get(&key(&mutant)) {
            Some(site) => chosen.entry(&site.mutant.file).or_default().push((mutant.number, site)),
            None => println!("gone: {} {}:{} {}", mutant.number, mutant.file, mutant.line, mutant.text),
        }
    }
    let mut written = Vec::new();
    for (file, sites) in chosen {
        let (text, places) = planted(file, &found.texts[file], &sites);
        std::fs::write(tree.join(file), text)?;
        written.extend(places);
    }
    let known = files::known(tree)?;
    for root in files::roots(&known) {
        let path = tree.join(root);
        std::fs::write(&path, std::fs::read_to_string(&path)? + SWITCHES)?;
    }
    for name in known.iter().filter(|name| name.ends_with(".rs")) {
        let path = tree.join(name);
        let text = std::fs::read_to_string(&path)?;
        if text.contains(CLEARED) {
            std::fs::write(&path, text.replace(CLEARED, KEPT))?;
        }
    }
    Ok(std::fs::write(places, serde_json::to_string(&written)?)?)
}

/// A text with switches. Of places at the same byte, what ends there is closed first, the innermost first, and what begins
/// there is opened after that, the outermost first; what has no width comes before what has some.
fn planted(file: &str, text: &str, sites: &[(u32, &Site)]) -> (String, Vec<Place>) {
    let mut edits = Vec::new();
    for &(number, site) in sites {
        let range = &site.range;
        let width = range.len();
        let on = format!("crate::__mutant::on({number})");
        let opened = if width == 0 { (1, 0) } else { (2, usize::MAX - width) };
        edits.push((range.start, opened, number, true, site.head.replace("{on}", &on)));
        let closed = if width == 0 { (1, 1) } else { (0, width) };
        edits.push((range.end, closed, number, false, site.tail.to_owned()));
    }
    edits.sort();
    let (mut out, mut copied) = (String::new(), 0);
    let mut places: BTreeMap<u32, Place> = BTreeMap::new();
    for (at, _, number, opens, edit) in edits {
        out.push_str(&text[copied..at]);
        copied = at;
        let start = out.len();
        out.push_str(&edit);
        let place = places.entry(number).or_insert(Place { number, file: file.to_owned(), start, end: start });
        if !opens {
            place.end = out.len();
        }
    }
    out.push_str(&text[copied..]);
    (out, places.into_values().collect())
}
