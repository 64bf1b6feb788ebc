//! The values of a transfer on a connection: a line of JSON that says what they are, and their bytes.

use halite_bundle::{Action, Manifest, contradiction};
use halite_runtime::TensorSpec;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, HostTensor};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::sync::mpsc::SyncSender;

/// The most bytes of a label, enough for tens of thousands of values.
const MOST: u64 = 1 << 20;

/// The transfer and the piece of the batch.
pub(super) type Key = (String, Option<usize>);

/// The values that may come from a stage, and their types.
pub(super) type Awaited = BTreeMap<Key, Vec<TensorSpec>>;

/// The values of a transfer.
#[derive(Debug)]
pub(super) struct Parcel {
    pub(super) key: Key,
    pub(super) values: Vec<HostTensor>,
}

/// The content of a parcel, as its sender says.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Label {
    transfer: String,
    piece: Option<usize>,
    values: Vec<(DType, Vec<usize>)>,
}

impl Label {
    pub(super) fn new(transfer: &str, piece: Option<usize>, values: &[HostTensor]) -> Self {
        let values = values.iter().map(|value| (value.dtype(), value.shape().to_vec())).collect();
        Self { transfer: transfer.to_owned(), piece, values }
    }

    /// The label as it is sent.
    ///
    /// # Errors
    /// When it is longer than one is read.
    pub(super) fn to_line(&self) -> Result<String> {
        let line = serde_json::to_string(self).map_err(|error| Diagnostic::bug(error.to_string()))? + "\n";
        match line.len() as u64 <= MOST {
            true => Ok(line),
            false => Err(contradiction(&format!("the transfer `{}` has too many values", self.transfer))),
        }
    }

    /// The next label; `None` where the connection ends.
    fn receive(stream: &mut impl BufRead) -> std::result::Result<Option<Self>, String> {
        let mut bytes = Vec::new();
        if stream.take(MOST).read_until(b'\n', &mut bytes).is_err() {
            return Ok(None);
        }
        match bytes.strip_suffix(b"\n") {
            Some(line) => serde_json::from_slice(line).map(Some).map_err(|_| "sends what is no value".to_owned()),
            None if (bytes.len() as u64) < MOST => Ok(None),
            None => Err("sends what is no value".to_owned()),
        }
    }
}

/// The other end of a connection.
pub(super) struct Sender {
    pub(super) stage: usize,
    pub(super) awaited: Awaited,
}

impl Sender {
    /// Passes on what comes, until the connection ends, something comes that is not awaited, or nobody hears it any more.
    pub(super) fn listen(self, stream: TcpStream, say: &SyncSender<Result<Parcel>>) {
        let mut stream = BufReader::new(stream);
        loop {
            let parcel = match self.next(&mut stream) {
                Ok(Some(parcel)) => Ok(parcel),
                Ok(None) => return,
                Err(what) => Err(Diagnostic::error(codes::OTHER_RANK, format!("stage {} {what}", self.stage))),
            };
            let is_last = parcel.is_err();
            if say.send(parcel).is_err() || is_last {
                return;
            }
        }
    }

    /// The next parcel; `None` where the connection ends.
    ///
    /// # Errors
    /// When it is none that is awaited, with what it is.
    pub(super) fn next(&self, stream: &mut impl BufRead) -> std::result::Result<Option<Parcel>, String> {
        let Some(Label { transfer, piece, values }) = Label::receive(stream)? else { return Ok(None) };
        let key = (transfer, piece);
        let Some(specs) = self.awaited.get(&key) else {
            let of = piece.map_or_else(String::new, |piece| format!(" of piece {piece}"));
            return Err(format!("sends `{}`{of}, which is not awaited", key.0));
        };
        let said = values.iter().map(|(dtype, shape)| (*dtype, &shape[..]));
        if !said.eq(specs.iter().map(|spec| (spec.dtype, &spec.shape[..]))) {
            return Err(format!("sends `{}` in other types than the bundle states", key.0));
        }
        let mut values = Vec::with_capacity(specs.len());
        for TensorSpec { dtype, shape } in specs {
            let size = shape.num_bytes(*dtype).ok_or_else(|| format!("sends `{}`, which is too large", key.0))?;
            let mut bytes = vec![0; size];
            if stream.read_exact(&mut bytes).is_err() {
                return Ok(None);
            }
            let tensor = HostTensor::from_bytes(*dtype, shape.clone(), bytes);
            values.push(tensor.map_err(|error| format!("sends `{}`: {error}", key.0))?);
        }
        Ok(Some(Parcel { key, values }))
    }
}

/// The values that come to a stage from each other, in an update and in what else the bundle does, such as an evaluation.
///
/// # Errors
/// When the manifest contradicts itself.
pub(super) fn awaited(manifest: &Manifest, stage: usize) -> Result<BTreeMap<usize, Awaited>> {
    let mut awaited: BTreeMap<usize, Awaited> = BTreeMap::new();
    let all = manifest.lists();
    let lists = all.filter_map(|lists| lists.get(stage));
    for action in lists.flatten() {
        let Action::Receive { transfer: name, piece } = action else { continue };
        let unknown = || contradiction(&format!("the schedule names `{name}`, which is no transfer"));
        let transfer = manifest.transfers.iter().find(|own| own.name == *name).ok_or_else(unknown)?;
        let specs = transfer.values.iter().map(|value| spec(manifest, transfer.from, value));
        awaited.entry(transfer.from).or_default().insert((name.clone(), *piece), specs.collect::<Result<_>>()?);
    }
    Ok(awaited)
}

/// The type of what one rank of a stage has of a value, or of state.
fn spec(manifest: &Manifest, stage: usize, name: &str) -> Result<TensorSpec> {
    let own = manifest.modules.iter().filter(|module| module.stage == stage);
    let mut ports = own.flat_map(|module| module.outputs.iter().chain(&module.inputs));
    let port = ports.find(|port| port.name == name);
    let port = port.ok_or_else(|| contradiction(&format!("no module of stage {stage} has `{name}`")))?;
    Ok(TensorSpec { dtype: port.dtype, shape: port.local_shape() })
}
