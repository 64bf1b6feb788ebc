//! Playing what the stages of a bundle do in an update.

use halite_bundle::Action;
use std::collections::{HashMap, HashSet};

/// The times of the stages of an update, in seconds.
pub(super) struct Played {
    /// From the begin to the end of all.
    pub(super) end: f64,
    /// That each stage spends on runs.
    pub(super) busy: Vec<f64>,
}

/// Plays the lists of stages. A sender goes on at once; a receiver waits until the values are there. `None` where stages wait for one
/// another for ever, or lists name what is not there.
pub(super) fn play(
    lists: &[Vec<Action>],
    run: impl Fn(&str) -> Option<f64>,
    transfer: impl Fn(&str) -> Option<f64>,
) -> Option<Played> {
    let mut now = vec![0.0_f64; lists.len()];
    let mut busy = vec![0.0; lists.len()];
    let mut next = vec![0_usize; lists.len()];
    let mut arrives: HashMap<(&str, Option<usize>), f64> = HashMap::new();
    let mut waiting: HashSet<usize> = (0..lists.len()).collect();
    while !waiting.is_empty() {
        let mut moved = false;
        for stage in 0..lists.len() {
            while let Some(action) = lists[stage].get(next[stage]) {
                match action {
                    Action::Run { module, pieces } => {
                        let count = pieces.as_ref().map_or(1, |pieces| pieces.len());
                        let seconds = run(module)? * count as f64;
                        now[stage] += seconds;
                        busy[stage] += seconds;
                    }
                    Action::Send { transfer: name, piece } => {
                        arrives.insert((name, *piece), now[stage] + transfer(name)?);
                    }
                    Action::Receive { transfer: name, piece } => match arrives.get(&(name.as_str(), *piece)) {
                        Some(&at) => now[stage] = now[stage].max(at),
                        None => break,
                    },
                }
                next[stage] += 1;
                moved = true;
            }
            if next[stage] == lists[stage].len() {
                waiting.remove(&stage);
            }
        }
        if !moved && !waiting.is_empty() {
            return None;
        }
    }
    Some(Played { end: now.iter().copied().fold(0.0, f64::max), busy })
}
