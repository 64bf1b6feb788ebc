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

#[cfg(test)]
mod tests {
    use super::*;

    fn run(module: &str, piece: usize) -> Action {
        Action::Run { module: module.to_owned(), pieces: Some(piece..piece + 1) }
    }

    fn send(transfer: &str, piece: usize) -> Action {
        Action::Send { transfer: transfer.to_owned(), piece: Some(piece) }
    }

    fn receive(transfer: &str, piece: usize) -> Action {
        Action::Receive { transfer: transfer.to_owned(), piece: Some(piece) }
    }

    /// Two stages and two micro-batches: the second stage waits for the first piece and for its way, the first for the last gradient.
    #[test]
    fn a_receiver_waits_for_what_is_sent() {
        let first = vec![
            run("f", 0),
            send("x", 0),
            run("f", 1),
            send("x", 1),
            receive("g", 0),
            receive("g", 1),
            run("b", 0),
            run("b", 1),
        ];
        let second = vec![
            receive("x", 0),
            run("f", 0),
            run("b", 0),
            send("g", 0),
            receive("x", 1),
            run("f", 1),
            run("b", 1),
            send("g", 1),
        ];
        let seconds = |module: &str| Some(if module == "f" { 1.0 } else { 2.0 });
        let played = play(&[first, second], seconds, |_| Some(0.5)).unwrap();
        // The second stage runs from 1.5 to 7.5, and its last gradient arrives at 8.
        assert_eq!((played.end, played.busy), (12.0, vec![6.0, 6.0]));
    }

    #[test]
    fn stages_that_wait_for_each_other_have_no_time() {
        let lists = [vec![receive("g", 0), send("x", 0)], vec![receive("x", 0), send("g", 0)]];
        assert!(play(&lists, |_| Some(1.0), |_| Some(0.0)).is_none());
        assert!(play(&[vec![run("f", 0)]], |_| None, |_| None).is_none(), "a module without a time");
    }
}
