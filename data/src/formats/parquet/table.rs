//! A table, read with the library.

mod chunks;
mod counts;
mod pages;
mod unpack;

use crate::files::Origin;
use crate::part::Part;
use crate::shard::{Block, Blocks, Content, Fault, Found, LONGEST, Place, Reason, Shard, is_damage, not_ours};
use chunks::{Chunks, Parquet};
use halite_support::files::cannot;
use halite_support::{Diagnostic, Result, codes, contained, units};
use pages::Pages;
use parquet::basic::Type;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::schema::types::ColumnDescriptor;
use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Rows that are decoded at once. The library holds the pages that they stand in.
const ROWS: usize = 16;

/// A file of rows, or the part of one that is used.
pub(crate) struct ParquetShard {
    origin: Origin,
    column: String,
    table: Table,
}

/// The information at the end of a file.
enum Table {
    /// The rows that are used, and the index of the column with the text.
    Rows(Range<u64>, usize),
    /// No rows, with the reason.
    Damaged(String),
}

impl ParquetShard {
    /// Reads the information at the end of a file.
    ///
    /// # Errors
    /// When it cannot be read, or has no such column of text.
    pub(crate) fn open(origin: &Origin, column: &str, part: Part) -> Result<Self> {
        let (path, origin, column) = (&origin.path, origin.clone(), column.to_owned());
        let table = match Groups::open(&origin) {
            Ok(groups) => {
                let schema = groups.reader.metadata().file_metadata().schema_descr_ptr();
                Table::Rows(part.of(groups.rows()), find(path, schema.columns(), &column)?)
            }
            Err(error) => Table::Damaged(damage(path, error)?),
        };
        Ok(Self { origin, column, table })
    }
}

impl Shard for ParquetShard {
    fn path(&self) -> &Path {
        &self.origin.path
    }

    fn locate(&self, at: u64) -> String {
        format!("{}, row {at}", self.origin.path.display())
    }

    fn open(&self) -> Result<Box<dyn Blocks>> {
        let (range, leaf, damage) = match &self.table {
            Table::Rows(range, leaf) => (range.clone(), *leaf, None),
            Table::Damaged(damage) => (0..0, 0, Some(damage.clone())),
        };
        let (origin, column, at) = (self.origin.clone(), self.column.clone(), range.start);
        let (groups, group, held) = (None, None, VecDeque::new());
        Ok(Box::new(ParquetBlocks { origin, column, leaf, range, damage, at, groups, group, held }))
    }
}

struct ParquetBlocks {
    origin: Origin,
    column: String,
    leaf: usize,
    /// The rows that are used.
    range: Range<u64>,
    /// The reason why there are none.
    damage: Option<String>,
    /// The row that comes next.
    at: u64,
    groups: Option<Groups>,
    group: Option<Group>,
    /// Rows from `at` on.
    held: VecDeque<Option<ByteArray>>,
}

/// The groups of rows of a file that is open.
struct Groups {
    reader: SerializedFileReader<Chunks>,
    file: Arc<Chunks>,
    /// The row after the last of each.
    ends: Vec<u64>,
}

impl Groups {
    fn open(origin: &Origin) -> Parquet<Self> {
        let (reader, file) = read(origin)?;
        let mut end = 0_u64;
        let wrong = || ParquetError::General("a group has a wrong number of rows".to_owned());
        let ends = reader.metadata().row_groups().iter().map(|group| {
            let rows = u64::try_from(group.num_rows()).ok();
            end = rows.and_then(|rows| end.checked_add(rows)).ok_or_else(wrong)?;
            Ok(end)
        });
        let ends = ends.collect::<Parquet<Vec<u64>>>()?;
        Ok(Self { reader, file, ends })
    }

    fn rows(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The number of the group with a row, and the rows in it.
    fn with(&self, row: u64) -> Option<(usize, Range<u64>)> {
        let number = self.ends.partition_point(|end| *end <= row);
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some((number, start..*self.ends.get(number)?))
    }
}

/// A group of rows that is being read.
struct Group {
    /// The row after its last.
    end: u64,
    values: ColumnReaderImpl<ByteArrayType>,
    /// The definition level of rows that have a value; 0 where all do.
    whole: i16,
}

impl Group {
    /// The one with this row, from there on.
    fn with(groups: &Groups, leaf: usize, row: u64) -> Parquet<Self> {
        let found = groups.with(row);
        let (number, rows) = found.ok_or_else(|| ParquetError::EOF(format!("it ends at row {}", groups.rows())))?;
        let group = groups.reader.metadata().row_group(number);
        let column = group.columns().get(leaf).filter(|column| is_text(column.column_descr()));
        let column = column.ok_or_else(|| ParquetError::General("the column is no text any more".to_owned()))?;
        let (text, whole) = (column.column_descr_ptr(), column.column_descr().max_def_level());
        let pages = Pages::open(groups.file.clone(), column, usize::try_from(group.num_rows())?)?;
        let mut values = ColumnReaderImpl::<ByteArrayType>::new(text, Box::new(pages));
        let (before, end) = ((row - rows.start) as usize, rows.end);
        match values.skip_records(before)? {
            skipped if skipped == before => Ok(Self { end, values, whole }),
            skipped => Err(ParquetError::EOF(format!("the rows end after {skipped}"))),
        }
    }

    /// The next rows.
    fn read(&mut self, rows: usize) -> Parquet<VecDeque<Option<ByteArray>>> {
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        let (read, _, _) = self.values.read_records(rows, Some(&mut levels), None, &mut values)?;
        if read == 0 {
            return Err(ParquetError::EOF("the rows end early".to_owned()));
        }
        let mut values = values.into_iter();
        if self.whole == 0 {
            return Ok(values.map(Some).collect());
        }
        Ok(levels.into_iter().map(|level| if level == self.whole { values.next() } else { None }).collect())
    }
}

impl ParquetBlocks {
    /// Reads on where nothing is held.
    fn fill(&mut self) -> Parquet<()> {
        if !self.held.is_empty() {
            return Ok(());
        }
        let group = match &mut self.group {
            Some(group) if self.at < group.end => group,
            other => {
                let groups = match &mut self.groups {
                    Some(groups) => groups,
                    none => none.insert(Groups::open(&self.origin)?),
                };
                other.insert(Group::with(groups, self.leaf, self.at)?)
            }
        };
        let rows = (group.end.min(self.range.end) - self.at).min(ROWS as u64);
        self.held = group.read(rows as usize)?;
        Ok(())
    }

    /// Goes behind the group of rows that cannot be read, or behind all.
    fn pass_over(&mut self) -> u64 {
        self.group = None;
        let group = self.groups.as_ref().and_then(|groups| groups.with(self.at));
        self.at = group.map_or(self.range.end, |(_, rows)| rows.end).min(self.range.end);
        self.at
    }
}

impl Blocks for ParquetBlocks {
    fn next(&mut self) -> Result<Found> {
        if let Some(detail) = self.damage.take() {
            return Ok(Found::Fault(Fault { reason: Reason::Damaged, at: 0, detail }));
        }
        if self.at >= self.range.end {
            return Ok(Found::End);
        }
        // The library panics on some wrong bytes.
        if let Err(error) = contained(|| self.fill()).unwrap_or_else(|panic| Err(ParquetError::General(panic))) {
            let (at, why) = (self.at, damage(&self.origin.path, error)?);
            let detail = format!("{why}; rows {at} to {} are lost", self.pass_over() - 1);
            return Ok(Found::Fault(Fault { reason: Reason::Damaged, at, detail }));
        }
        let place = self.place();
        let value = self.held.pop_front().flatten();
        self.at += 1;
        Ok(document(place, value.as_ref(), &self.column))
    }

    fn place(&self) -> Place {
        Place { at: self.at, within: false }
    }

    fn seek(&mut self, place: Place) -> Result<()> {
        let Range { start, end } = self.range;
        if !(start..=end).contains(&place.at) {
            let message =
                format!("the position is at row {} of `{}`, which is not used", place.at, self.origin.path.display());
            return Err(not_ours(message));
        }
        (self.at, self.group, self.held) = (place.at, None, VecDeque::new());
        Ok(())
    }
}

fn read(origin: &Origin) -> Parquet<(SerializedFileReader<Chunks>, Arc<Chunks>)> {
    let file = origin.disk.open(&origin.path)?;
    let file = Chunks { size: file.size()?, file };
    let shared = Arc::new(file.clone());
    let reader =
        contained(|| SerializedFileReader::new(file)).unwrap_or_else(|panic| Err(ParquetError::General(panic)))?;
    Ok((reader, shared))
}

/// The document of a row.
fn document(place: Place, value: Option<&ByteArray>, column: &str) -> Found {
    let fault = |reason, detail| Found::Fault(Fault { reason, at: place.at, detail });
    let Some(value) = value else {
        return fault(Reason::NoColumn, format!("`{column}` is null, expected a text"));
    };
    if value.len() > LONGEST {
        return fault(
            Reason::TooLong,
            format!("the text has {}, {} is the most", units::bytes(value.len() as u64), units::bytes(LONGEST as u64)),
        );
    }
    match std::str::from_utf8(value.data()) {
        Err(error) => fault(Reason::NotUtf8, format!("byte {} of the text is not UTF-8", error.valid_up_to())),
        Ok(text) if text.trim().is_empty() => Found::Fault(Fault::empty(place.at)),
        Ok(text) => Found::Block(Block { place, last: true, content: Content::Text(text.to_owned()) }),
    }
}

/// The damage of a file that could be read, in words.
///
/// # Errors
/// When it could not.
fn damage(path: &Path, error: ParquetError) -> Result<String> {
    let error = match error {
        ParquetError::External(error) => match error.downcast::<std::io::Error>() {
            Ok(error) if !is_damage(error.kind()) => return Err(cannot("read", path, &error)),
            Ok(error) => error.to_string(),
            Err(error) => error.to_string(),
        },
        ParquetError::General(message) | ParquetError::NYI(message) | ParquetError::EOF(message) => message,
        error => error.to_string(),
    };
    Ok(format!("the file is damaged ({error})"))
}

/// Whether a column has one text for each row, or none.
fn is_text(column: &ColumnDescriptor) -> bool {
    column.physical_type() == Type::BYTE_ARRAY && column.max_rep_level() == 0
}

/// The index of the column that has this name and is a text for each row.
fn find(path: &Path, columns: &[impl AsRef<ColumnDescriptor>], name: &str) -> Result<usize> {
    let named = columns.iter().position(|column| column.as_ref().path().string() == name);
    if let Some(leaf) = named.filter(|leaf| is_text(columns[*leaf].as_ref())) {
        return Ok(leaf);
    }
    let texts: Vec<String> = columns
        .iter()
        .map(AsRef::as_ref)
        .filter(|column| is_text(column))
        .map(|column| format!("`{}`", column.path().string()))
        .collect();
    let what = if named.is_some() { "is no text" } else { "is not there" };
    let message = format!("`{}`: the column `{name}` {what}", path.display());
    let help = match &texts[..] {
        [] => "the file has no column of text: name others".to_owned(),
        texts => format!("write as `column` one of {}", texts.join(", ")),
    };
    Err(Diagnostic::error(codes::DATA, message).help(help))
}
