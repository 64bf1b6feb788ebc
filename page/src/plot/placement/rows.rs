//! The rows of the plot: weights that differ in their layer alone and lie alike, and how each lies.

use halite_bundle::{Buffer, Manifest};
use halite_ir::paths::family;
use halite_recipe::{Divides, sub_axes_that_divide};
use halite_tensor::{DType, Mesh, Shape, Sharding};
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet};

/// Weights that differ in their layer alone and lie alike.
#[derive(Debug)]
pub(super) struct Row {
    /// Their name, with `*` for the layer.
    pub(super) name: String,
    pub(super) count: usize,
    pub(super) dtype: DType,
    pub(super) shape: Shape,
    /// The bytes of one of them, and of its part on a rank.
    pub(super) bytes: u64,
    pub(super) local_bytes: u64,
    pub(super) stored: Sharding,
    /// The sharding in which ranks compute with them: they are gathered along axes whose ranks have other sequences.
    pub(super) computed: Sharding,
    /// The sharding of each kind of state that a checkpoint has of them.
    state: BTreeMap<String, Sharding>,
    /// The stages that hold one of them; none where there is one stage.
    pub(super) stages: BTreeSet<usize>,
}

/// A column of the plot: one way in which all weights lie.
#[derive(Debug)]
pub(super) struct Column<'a> {
    pub(super) title: String,
    /// The text in place of a grid that is the one of the first column.
    pub(super) same: &'static str,
    /// The sharding of each row; `None` where it has none.
    pub(super) shardings: Vec<Option<&'a Sharding>>,
}

/// The weights of a manifest, in order.
pub(super) fn rows(manifest: &Manifest) -> Vec<Row> {
    let (state, stages, is_cut) = (state(manifest), manifest.stages_of_buffers(), manifest.num_stages() > 1);
    let mut rows: IndexMap<_, Row> = IndexMap::new();
    for buffer in manifest.buffers.iter().filter(|buffer| buffer.is_weight()) {
        let (name, stored) = (family(&buffer.name), sharding(buffer));
        let state = state.get(buffer.name.as_str()).cloned().unwrap_or_default();
        let (dtype, shape) = (buffer.dtype, Shape::from(buffer.shape.as_slice()));
        let key = (name.clone(), dtype, shape.clone(), stored.clone(), state.clone());
        let row = rows.entry(key).or_insert_with(|| Row {
            name,
            count: 0,
            dtype,
            bytes: (shape.num_elements() as u64).saturating_mul(dtype.size() as u64),
            local_bytes: buffer.local_bytes(),
            shape,
            computed: computed(&manifest.mesh, &stored),
            stored,
            state,
            stages: BTreeSet::new(),
        });
        row.count += 1;
        row.stages.extend(stages.get(buffer.name.as_str()).into_iter().flatten().filter(|_| is_cut));
    }
    rows.into_values().collect()
}

/// How weights are stored; how they are computed with, where that is otherwise; and how state lies that does not lie as they do.
pub(super) fn columns(rows: &[Row]) -> Vec<Column<'_>> {
    let mut first = Column {
        title: "stored: weight".to_owned(),
        same: "",
        shardings: rows.iter().map(|row| Some(&row.stored)).collect(),
    };
    let mut more: Vec<Column<'_>> = Vec::new();
    if rows.iter().any(|row| row.computed != row.stored) {
        let shardings = rows.iter().map(|row| Some(&row.computed)).collect();
        more.push(Column { title: "computed with".to_owned(), same: "as it is stored", shardings });
    }
    let kinds: BTreeSet<&String> = rows.iter().flat_map(|row| row.state.keys()).collect();
    for kind in kinds {
        let shardings: Vec<Option<&Sharding>> = rows.iter().map(|row| row.state.get(kind)).collect();
        let lies_as_weight = |(own, row): (&Option<&Sharding>, &Row)| own.is_none_or(|own| *own == row.stored);
        let column = if shardings.iter().zip(rows).all(lies_as_weight) {
            Some(&mut first)
        } else {
            more.iter_mut().find(|column| column.title.starts_with(STORED) && column.shardings == shardings)
        };
        match column {
            Some(column) => column.title.push_str(&format!(", {kind}")),
            None => more.push(Column { title: format!("{STORED}{kind}"), same: "as the weight", shardings }),
        }
    }
    [first].into_iter().chain(more).collect()
}

/// The beginning of the titles of columns that say how something is stored.
const STORED: &str = "stored: ";

fn sharding(buffer: &Buffer) -> Sharding {
    buffer.sharding.clone().unwrap_or_else(|| Sharding::replicated(buffer.shape.len()))
}

/// The sharding in which a weight is computed with that is stored so: what ranks with other sequences hold parts of is gathered.
fn computed(mesh: &Mesh, stored: &Sharding) -> Sharding {
    sub_axes_that_divide(mesh, Divides::Batch).fold(stored.clone(), Sharding::without)
}

/// By weight, the shardings of the state that a checkpoint has of it, by kind.
fn state(manifest: &Manifest) -> BTreeMap<&str, BTreeMap<String, Sharding>> {
    let mut all: BTreeMap<&str, BTreeMap<String, Sharding>> = BTreeMap::new();
    for buffer in manifest.saved() {
        if let Some(weight) = buffer.of() {
            all.entry(weight).or_default().insert(buffer.role.word().to_owned(), sharding(buffer));
        }
    }
    all
}
