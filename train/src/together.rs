//! Agreement between the processes of a run.

use super::keys::flatten;
use super::peers::Peers;
use halite_support::{CancelToken, Diagnostic, Result, codes};
use std::collections::BTreeMap;

/// The text of a process that is to stop, between updates, and that of one that asks for a checkpoint.
const STOP: &str = "stop";
const SAVE: &str = "save";

/// A run among its processes, if there are several.
pub(super) struct Together<'a> {
    peers: Option<&'a Peers>,
    /// The request to stop this process.
    asked: &'a CancelToken,
    /// The stop that all processes agreed on: where ranks wait for one another, none may stop alone.
    pub(super) cancel: CancelToken,
}

impl<'a> Together<'a> {
    /// The run of these processes, where a token asks this one to stop. A process that is alone stops as it is asked.
    pub(super) fn of(peers: Option<&'a Peers>, asked: &'a CancelToken) -> Self {
        let cancel = if peers.is_some() { CancelToken::default() } else { asked.clone() };
        Self { peers, asked, cancel }
    }

    /// Checks that all processes are about to run the same, by values under keys.
    ///
    /// # Errors
    /// When one runs something else than the first, with what differs; as [`Peers::exchange`].
    pub(super) fn compare(&self, run: &serde_json::Value) -> Result<()> {
        let Some(peers) = self.peers else { return Ok(()) };
        let mut values = BTreeMap::new();
        flatten("", run, &mut values);
        let said = serde_json::to_string(&values).map_err(|error| Diagnostic::bug(error.to_string()))?;
        let all = peers.exchange("the start", &said)?;
        let Some(first) = all.first() else { return Ok(()) };
        match all.iter().enumerate().find(|(_, said)| *said != first) {
            Some((rank, said)) => Err(differs(rank, first, said)),
            None => Ok(()),
        }
    }

    /// Stops all processes before this update where one of them is to stop. Returns whether one of them asks for a checkpoint.
    ///
    /// # Errors
    /// As [`Peers::exchange`].
    pub(super) fn heed(&self, update: u64, asks: bool) -> Result<bool> {
        let Some(peers) = self.peers else { return Ok(asks) };
        let said = match (self.asked.is_cancelled(), asks) {
            (true, _) => STOP,
            (false, true) => SAVE,
            (false, false) => "",
        };
        let all = peers.exchange(&format!("update {update}"), said)?;
        if all.iter().any(|said| said == STOP) {
            self.cancel.cancel();
        }
        Ok(all.iter().any(|said| said == SAVE))
    }

    /// Waits until all processes have come to the end.
    ///
    /// # Errors
    /// As [`Peers::exchange`].
    pub(super) fn end(&self) -> Result<()> {
        self.peers.map_or(Ok(()), Peers::end)
    }
}

/// The error of a process that runs something else than the first.
fn differs(rank: usize, first: &str, said: &str) -> Diagnostic {
    let values = |text: &str| serde_json::from_str::<BTreeMap<String, String>>(text).unwrap_or_default();
    let (first, own) = (values(first), values(said));
    let key = first.keys().chain(own.keys()).find(|key| first.get(*key) != own.get(*key));
    let what = key.map_or_else(String::new, |key| {
        let value = |values: &BTreeMap<String, String>| values.get(key).map_or("not set", String::as_str).to_owned();
        format!(": its `{key}` is {}, that of rank 0 {}", value(&own), value(&first))
    });
    Diagnostic::error(codes::OTHER_RANK, format!("rank {rank} runs something else than rank 0{what}"))
        .help("start all processes with one command, on one folder")
}
