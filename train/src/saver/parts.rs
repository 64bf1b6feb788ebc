//! Saving a state that several processes hold: each writes its part, and when all have, the first of them makes it a checkpoint.

use crate::checkpoint::{FileSum, STATE, put};
use crate::record::Record;
use crate::update::Run;
use crate::{Peers, RunFiles, TrainOptions};
use halite_bundle::parts::{self, PartsIndex};
use halite_support::files::read;
use halite_support::{Diagnostic, Diagnostics, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// Saves the state of a run, unless it is saved already.
///
/// # Errors
/// When a copy to the host or a file fails; as [`Peers::exchange`].
pub(super) fn save(
    run: &Run<'_>,
    peers: &Peers,
    output: &RunFiles,
    options: &TrainOptions,
    record: &Record,
) -> std::result::Result<(), Diagnostics> {
    let (checkpoints, update) = (output.checkpoints(), run.step.attempted());
    let point = format!("the save after update {update}");
    let has = peers.leads() && checkpoints.has(update);
    if peers.leads() && !has {
        checkpoints.begin(update)?;
    }
    // The first one says under which number all write, which no state in the folder of the run has.
    let series = if has { String::new() } else { parts::next_series(&output.whole_state()).to_string() };
    let series = peers.exchange(&point, &series)?;
    let Some(series) = series.first().filter(|series| !series.is_empty()) else { return Ok(()) };
    let place = checkpoints.folder(update).join(STATE);
    let record = record.at(update, run.position.clone(), &run.rollbacks);
    let index = run.step.parts_index(&place, series.parse().unwrap_or(u64::MAX), &record)?;
    run.step.save_part(output.disk(), &place, &index, peers.rank())?;
    let own = index.files.get(peers.rank()).ok_or_else(|| Diagnostic::bug("a rank without a part"))?;
    let said = serde_json::to_string(&FileSum::of(&read(&place.with_file_name(own))?)).map_err(bug)?;
    let sums = peers.exchange(&format!("the end of {point}"), &said)?;
    if !peers.leads() {
        return Ok(());
    }
    parts::commit(output.disk(), &place, &index)?;
    checkpoints.commit(update, files(&place, &index, &sums)?)?;
    for file in &index.files {
        put(output.disk(), &place.with_file_name(file), &output.folder().join(file))?;
    }
    parts::commit(output.disk(), &output.whole_state(), &index)?;
    Ok(checkpoints.prune(options.checkpoint.keep as usize, options.checkpoint.keep_every)?)
}

/// The files of a checkpoint in parts, of which each rank has told the sum of its own.
fn files(place: &Path, index: &PartsIndex, sums: &[String]) -> Result<BTreeMap<String, FileSum>> {
    let parts = index.files.iter().zip(sums);
    let parts = parts.map(|(file, sum)| Ok((file.clone(), serde_json::from_str(sum).map_err(bug)?)));
    let mut files = parts.collect::<Result<BTreeMap<String, FileSum>>>()?;
    let index = parts::index_path(place);
    let name = index.file_name().unwrap_or_default().to_string_lossy().into_owned();
    files.insert(name, FileSum::of(&read(&index)?));
    Ok(files)
}

fn bug(error: serde_json::Error) -> Diagnostic {
    Diagnostic::bug(error.to_string())
}
