//! The lists of a schedule, played: each stage goes on until it waits for what was not sent yet.

use super::{Checked, values};
use crate::{Action, Manifest, ModuleEntry, PortRole, Transfer};
use indexmap::IndexMap;
use std::collections::HashSet;

/// Plays lists to their end.
///
/// # Errors
/// When stages wait for one another, or one reads what it does not have then: a value that was not made or received for that piece, a
/// buffer that was replaced already, or one that was not replaced yet. When a stage acts on a piece after what it does once, or some
/// stages that hold a buffer do not get what replaces it.
pub(super) fn play(manifest: &Manifest, lists: &[Vec<Action>]) -> Checked {
    Player::new(manifest, lists).play(lists)
}

/// A value by name, and the piece that it is of.
type Key<'m> = (&'m str, Option<usize>);

/// The values and the state of a stage so far.
#[derive(Default)]
struct Stage<'m> {
    /// The number of its actions that are done.
    done: usize,
    /// The buffers that it holds from update to update.
    held: HashSet<&'m str>,
    /// Those of them that are the ones of the next update already.
    replaced: HashSet<&'m str>,
    values: HashSet<Key<'m>>,
    /// Whether it did something that is done once, after which it does nothing for single pieces.
    is_ending: bool,
}

struct Player<'m> {
    modules: IndexMap<&'m str, &'m ModuleEntry>,
    transfers: IndexMap<&'m str, &'m Transfer>,
    stages: Vec<Stage<'m>>,
    sent: HashSet<Key<'m>>,
    /// The stage that waits for a transfer.
    waiting: IndexMap<Key<'m>, usize>,
}

impl<'m> Player<'m> {
    fn new(manifest: &'m Manifest, lists: &[Vec<Action>]) -> Self {
        let mut stages: Vec<Stage<'m>> = lists.iter().map(|_| Stage::default()).collect();
        for (stage, name) in super::state(manifest).into_keys() {
            if let Some(stage) = stages.get_mut(stage) {
                stage.held.insert(name);
            }
        }
        Self {
            modules: manifest.modules.iter().map(|module| (module.name.as_str(), module)).collect(),
            transfers: manifest.transfers.iter().map(|transfer| (transfer.name.as_str(), transfer)).collect(),
            stages,
            sent: HashSet::new(),
            waiting: IndexMap::new(),
        }
    }

    fn play(mut self, lists: &'m [Vec<Action>]) -> Checked {
        let mut ready: Vec<usize> = (0..lists.len()).collect();
        while let Some(stage) = ready.pop() {
            while let Some(action) = lists[stage].get(self.stages[stage].done) {
                if let Action::Receive { transfer, piece } = action
                    && !self.sent.contains(&(transfer.as_str(), *piece))
                {
                    self.waiting.insert((transfer, *piece), stage);
                    break;
                }
                self.act(stage, action, &mut ready)?;
                self.stages[stage].done += 1;
            }
        }
        let stuck = |(_, stage): &(&Key<'_>, &usize)| self.stages[**stage].done < lists[**stage].len();
        if let Some((&(name, piece), stage)) = self.waiting.iter().find(stuck) {
            return Err(format!("stage {stage} waits for `{name}`{}, which no stage comes to send", of(piece)));
        }
        self.end()
    }

    fn act(&mut self, stage: usize, action: &'m Action, ready: &mut Vec<usize>) -> Checked {
        let is_once = match action {
            Action::Run { pieces, .. } => pieces.is_none(),
            Action::Send { piece, .. } | Action::Receive { piece, .. } => piece.is_none(),
        };
        if !is_once && self.stages[stage].is_ending {
            return Err(format!("stage {stage} does `{action}` after what it does once"));
        }
        self.stages[stage].is_ending |= is_once;
        match action {
            Action::Run { module, pieces } => {
                let Some(&module) = self.modules.get(module.as_str()) else { return Ok(()) };
                match pieces.clone() {
                    None => self.run(stage, module, None),
                    Some(mut pieces) => pieces.try_for_each(|piece| self.run(stage, module, Some(piece))),
                }
            }
            Action::Send { transfer, piece } => {
                let key = (transfer.as_str(), *piece);
                self.sent.insert(key);
                ready.extend(self.waiting.swap_remove(&key));
                self.transfer(transfer).map_or(Ok(()), |transfer| self.send(stage, transfer, *piece))
            }
            Action::Receive { transfer, piece } => {
                self.transfer(transfer).map_or(Ok(()), |transfer| self.receive(stage, transfer, *piece))
            }
        }
    }

    /// The transfer of this name: that there is one was checked.
    fn transfer(&self, name: &str) -> Option<&'m Transfer> {
        self.transfers.get(name).copied()
    }

    fn run(&mut self, stage: usize, module: &'m ModuleEntry, piece: Option<usize>) -> Checked {
        let own = &mut self.stages[stage];
        let what = || format!("stage {stage} runs `{}`{}", module.name, of(piece));
        if let Some(port) = values(&module.inputs).find(|port| !own.values.contains(&(port.name.as_str(), piece))) {
            return Err(format!("{} before it has `{}`{}", what(), port.name, of(piece)));
        }
        let buffers = |ports: &'m [crate::Port]| ports.iter().filter(|port| port.role == PortRole::Buffer);
        if let Some(port) = buffers(&module.inputs).find(|port| own.replaced.contains(port.name.as_str())) {
            return Err(format!("{} after `{}` was replaced", what(), port.name));
        }
        own.values.extend(values(&module.outputs).map(|port| (port.name.as_str(), piece)));
        if piece.is_none() {
            own.replaced.extend(buffers(&module.outputs).map(|port| port.name.as_str()));
        }
        Ok(())
    }

    fn send(&self, stage: usize, transfer: &'m Transfer, piece: Option<usize>) -> Checked {
        let (own, to) = (&self.stages[stage], &self.stages[transfer.to]);
        for name in transfer.values.iter().map(String::as_str) {
            let is_new = own.replaced.contains(name);
            let is_there =
                own.values.contains(&(name, piece)) || own.held.contains(name) && is_new == to.held.contains(name);
            if !is_there {
                let when = if is_new { "after it replaced" } else { "before it has" };
                return Err(format!("stage {stage} sends `{}`{} {when} `{name}`", transfer.name, of(piece)));
            }
        }
        Ok(())
    }

    fn receive(&mut self, stage: usize, transfer: &'m Transfer, piece: Option<usize>) -> Checked {
        let own = &mut self.stages[stage];
        for name in transfer.values.iter().map(String::as_str) {
            if !own.held.contains(name) {
                own.values.insert((name, piece));
            } else if !own.replaced.insert(name) {
                return Err(format!("stage {stage} receives `{name}` after it replaced it"));
            }
        }
        Ok(())
    }

    /// Checks that buffers which several stages hold are replaced on all of them, or on none.
    fn end(&self) -> Checked {
        let mut replaced: IndexMap<&str, usize> = IndexMap::new();
        for (number, stage) in self.stages.iter().enumerate() {
            stage.replaced.iter().for_each(|name| _ = replaced.insert(name, number));
        }
        for (number, stage) in self.stages.iter().enumerate() {
            let mut old: Vec<&str> = stage.held.difference(&stage.replaced).copied().collect();
            old.sort_unstable();
            if let Some((name, from)) = old.into_iter().find_map(|name| Some((name, replaced.get(name)?))) {
                return Err(format!("stage {from} replaces `{name}`, and stage {number} keeps the old one"));
            }
        }
        Ok(())
    }
}

fn of(piece: Option<usize>) -> String {
    piece.map(|piece| format!(" of piece {piece}")).unwrap_or_default()
}
