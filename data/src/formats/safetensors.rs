//! Files of examples: the safetensors format, of which only the rows are read that are asked for.

use super::{Format, Holds};
use crate::example_file::ExampleFile;
use crate::files::Origin;
use crate::input::Input;
use halite_disk::Readable;
use halite_support::files::cannot;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::DType;
use safetensors::tensor::{Dtype, Metadata, TensorInfo};

pub(crate) const FORMAT: Format = Format {
    word: "safetensors",
    about: "Examples in safetensors: a tensor for each input of the model, whose first dimension is that of the examples.",
    extensions: &["safetensors"],
    holds: Holds::Examples { open: |origin, inputs| Ok(Box::new(File::open(origin, inputs)?)) },
};

/// The most bytes of a header; those of checkpoints of 10,000 tensors are a megabyte.
const LONGEST: u64 = 100_000_000;

/// An open file, with the place of the rows of each input.
struct File {
    origin: Origin,
    file: Readable,
    columns: Vec<Column>,
    /// The number of examples that it holds.
    count: u64,
}

/// The values of one input.
#[derive(Clone, Copy, Debug)]
struct Column {
    /// The offset of the values of the first example, in bytes.
    start: u64,
    /// Bytes of one example.
    bytes: usize,
    stored: Stored,
}

/// The form of values in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stored {
    AsTaken,
    /// Truth values, bytes of 0 and 1.
    Truth,
    /// Labels as PyTorch has them, `s64` for an input of `s32`.
    Long,
}

impl File {
    /// Opens a file that holds all inputs.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or holds something else.
    fn open(origin: &Origin, inputs: &[Input]) -> Result<Self> {
        let file = origin.open()?;
        let (header, start) = read_header(origin, &file)?;
        let fault = |what: String| fault(origin, &what);
        let mut file = Self { origin: origin.clone(), file, columns: Vec::new(), count: 0 };
        for (at, input) in inputs.iter().enumerate() {
            let Some(info) = header.info(&input.name) else {
                let names = header.tensors();
                let mut names: Vec<&str> = names.keys().map(String::as_str).collect();
                names.sort_unstable();
                let error = fault(format!("has no tensor `{}`, which the model takes", input.name));
                return Err(error.help(format!("it has {}", halite_support::nearest::list(&names))));
            };
            let column = column(input, info, start);
            let (column, count) = column.map_err(|what| fault(what).help("write the tensor as the model takes it"))?;
            if at > 0 && count != file.count {
                let what =
                    format!("has {} examples of `{}` and {count} of `{}`", file.count, inputs[0].name, input.name);
                return Err(fault(what).help("give every tensor the same first size"));
            }
            file.count = count;
            file.columns.push(column);
        }
        Ok(file)
    }
}

impl ExampleFile for File {
    fn count(&self) -> u64 {
        self.count
    }

    fn read(&self, (at, input): (usize, &Input), example: u64, into: &mut Vec<u8>) -> Result<()> {
        let Column { start, bytes, stored } = self.columns[at];
        let mut values = vec![0; bytes];
        let read = self.file.read_exact_at(&mut values, start + example * bytes as u64);
        read.map_err(|error| cannot("read", &self.origin.path, &error))?;
        let refuse = |what: String| {
            let message =
                format!("example {example} of `{}` has {what} in `{}`", self.origin.path.display(), input.name);
            Err(Diagnostic::error(codes::DATA, message).help(format!("write what fits into `{}`", input.dtype)))
        };
        match stored {
            Stored::AsTaken => into.extend(values),
            Stored::Truth => {
                if let Some(byte) = values.iter().find(|byte| **byte > 1) {
                    return refuse(format!("the byte {byte}"));
                }
                into.extend(values);
            }
            Stored::Long => {
                for value in values.chunks_exact(8) {
                    let value = i64::from_le_bytes(value.try_into().unwrap_or_default());
                    let Ok(short) = i32::try_from(value) else { return refuse(format!("the number {value}")) };
                    into.extend(short.to_le_bytes());
                }
            }
        }
        Ok(())
    }
}

fn fault(origin: &Origin, what: &str) -> Diagnostic {
    Diagnostic::error(codes::DATA, format!("`{}` {what}", origin.path.display()))
}

/// Reads the header of a file, all of whose tensors it has, and the offset at which these begin.
fn read_header(origin: &Origin, file: &Readable) -> Result<(Metadata, u64)> {
    let unread = |error: std::io::Error| cannot("read", &origin.path, &error);
    let damaged = |what: &str| {
        let error = fault(origin, &format!("is not a safetensors file: {what}"));
        error.help("check the path, or write the file again")
    };
    let size = file.size().map_err(unread)?;
    if size < 8 {
        return Err(damaged("it has no header"));
    }
    let mut length = [0; 8];
    file.read_exact_at(&mut length, 0).map_err(unread)?;
    let length = u64::from_le_bytes(length);
    if length > LONGEST.min(size - 8) {
        return Err(damaged("its header is longer than the file"));
    }
    let mut header = vec![0; length as usize];
    file.read_exact_at(&mut header, 8).map_err(unread)?;
    let header: Metadata = serde_json::from_slice(&header).map_err(|error| damaged(&error.to_string()))?;
    let ends = header.tensors().values().map(|info| info.data_offsets.1 as u64).max();
    if size - 8 - length < ends.unwrap_or(0) {
        return Err(damaged("it ends within its tensors"));
    }
    Ok((header, 8 + length))
}

/// The place of an input's values behind a header of so many bytes, and the number of their examples.
fn column(input: &Input, info: &TensorInfo, header: u64) -> std::result::Result<(Column, u64), String> {
    let stored = stored(input.dtype, info.dtype);
    let [count, row @ ..] = &info.shape[..] else { return Err(format!("has a scalar `{}`", input.name)) };
    let (Some(stored), true) = (stored, *row == input.shape) else {
        let sizes = |first: &str, rest: &[usize]| {
            let rest = rest.iter().map(ToString::to_string);
            std::iter::once(first.to_owned()).chain(rest).collect::<Vec<_>>().join(", ")
        };
        return Err(format!(
            "has `{}` as {}[{}], the model takes {}[{}]",
            input.name,
            info.dtype.to_string().to_lowercase(),
            sizes(&count.to_string(), row),
            input.dtype,
            sizes("examples", &input.shape)
        ));
    };
    let elements: usize = input.shape.iter().product();
    let bytes = elements * if stored == Stored::Long { 8 } else { input.dtype.size() };
    let (start, end) = info.data_offsets;
    if bytes.checked_mul(*count) != end.checked_sub(start) {
        return Err(format!("says that `{}` has {} bytes, which is not what its shape has", input.name, end - start));
    }
    Ok((Column { start: header + start as u64, bytes, stored }, *count as u64))
}

/// The form that an input of an element type has in a file, if it may have this one.
fn stored(taken: DType, found: Dtype) -> Option<Stored> {
    let same = match taken {
        DType::Pred => return (found == Dtype::BOOL).then_some(Stored::Truth),
        DType::S32 if found == Dtype::I64 => return Some(Stored::Long),
        DType::S8 => Dtype::I8,
        DType::U8 => Dtype::U8,
        DType::S16 => Dtype::I16,
        DType::U16 => Dtype::U16,
        DType::S32 => Dtype::I32,
        DType::U32 => Dtype::U32,
        DType::S64 => Dtype::I64,
        DType::U64 => Dtype::U64,
        DType::Bf16 => Dtype::BF16,
        DType::F16 => Dtype::F16,
        DType::F32 => Dtype::F32,
        DType::F64 => Dtype::F64,
    };
    (same == found).then_some(Stored::AsTaken)
}
