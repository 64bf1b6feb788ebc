//! Several tensors of a model stored as one.

use crate::{Dims, HostTensor, Shape};
use halite_support::{Diagnostic, Result, codes};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Several tensors stored as one of `[ranks, rows, ..]`, so that a single matrix product applies them all and each rank of
/// tensor parallelism holds a contiguous share of each.
///
/// Row `r` of part `p` lies in the share of rank `r / (rows(p) * copies / ranks)` and follows there the rows of the parts
/// before `p`. A part of fewer heads than ranks is stored `copies` times, once for each rank that reads it. Where ranks do not divide the
/// rows of a part, `padding` rows of zeros follow them; what is computed reads nothing of these.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packing {
    /// Degree of tensor parallelism that the layout serves, at least 1.
    pub ranks: usize,
    /// The tensors, in the order in which they follow one another in each share.
    pub parts: Vec<Part>,
}

/// One tensor of a [`Packing`].
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its name in the model.
    pub name: String,
    /// Its sizes in the model: `[rows, ..]`, or `[columns, rows]` when `transposed`.
    pub shape: Vec<usize>,
    /// Whether the model stores `[in, out]`; what is packed is always `[out, in]`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transposed: bool,
    /// The number of times that each row is stored.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub copies: usize,
    /// Rows of zeros that are stored after its own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub padding: usize,
}

fn once() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_once(copies: &usize) -> bool {
    *copies == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_zero(padding: &usize) -> bool {
    *padding == 0
}

impl Part {
    /// Sizes as packed, `[rows, ..]`.
    pub fn rows_first(&self) -> Dims {
        let mut shape = Dims::from_slice(&self.shape);
        if self.transposed {
            shape.reverse();
        }
        shape
    }

    /// Sizes as stored, in the orientation of the model: those of the model with the padding.
    pub fn padded(&self) -> Dims {
        let mut shape = Dims::from_slice(&self.shape);
        let rows = if self.transposed { shape.last_mut() } else { shape.first_mut() };
        if let Some(rows) = rows {
            *rows = rows.saturating_add(self.padding);
        }
        shape
    }

    /// Elements in the model, copies and padding not counted.
    pub fn num_elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Rows in the share of one of `ranks` ranks.
    pub fn rows_per_rank(&self, ranks: usize) -> usize {
        self.stored_rows() * self.copies / ranks
    }

    /// Its rows and its padding.
    fn stored_rows(&self) -> usize {
        self.rows_first()[0].saturating_add(self.padding)
    }
}

impl Packing {
    /// The sizes of the whole, `[ranks, rows, ..]`, or why the parts do not fit together.
    ///
    /// # Errors
    /// When a part has no rows to share out evenly, or the parts differ in the dimensions behind the rows.
    pub fn shape(&self) -> Result<Shape> {
        let error = |message: String| Err(Diagnostic::error(codes::SHAPE, message));
        let (Some(first), 1..) = (self.parts.first(), self.ranks) else {
            return error("a packing needs at least one rank and one part".to_owned());
        };
        let mut rows = 0;
        for part in &self.parts {
            let Part { name, shape, transposed, copies, .. } = part;
            if shape.is_empty() || (*transposed && shape.len() != 2) {
                return error(format!("part `{name}` of shape {shape:?} has no rows to pack"));
            }
            let shared_out = *copies > 0
                && self.ranks.is_multiple_of(*copies)
                && part.stored_rows().is_multiple_of(self.ranks / copies);
            if !shared_out {
                let rows = part.stored_rows();
                return error(format!(
                    "{rows} rows of `{name}`, {copies} times, do not share out over {} ranks",
                    self.ranks
                ));
            }
            if part.rows_first()[1..] != first.rows_first()[1..] {
                return error(format!("parts `{}` and `{name}` differ behind the rows", first.name));
            }
            rows += part.rows_per_rank(self.ranks);
        }
        let head = [self.ranks, rows];
        Ok(head.into_iter().chain(first.rows_first()[1..].iter().copied()).collect())
    }

    /// The parts, each with the rows that it fills in every share.
    pub fn spans(&self) -> impl Iterator<Item = (&Part, Range<usize>)> {
        self.parts.iter().scan(0, |start, part| {
            let rows = *start..*start + part.rows_per_rank(self.ranks);
            *start = rows.end;
            Some((part, rows))
        })
    }

    /// Whether some row is stored more than once.
    pub fn has_copies(&self) -> bool {
        self.parts.iter().any(|part| part.copies > 1)
    }

    /// Stores the parts, in order, as one tensor.
    ///
    /// # Errors
    /// When a part has another shape than stated, the parts do not fit together, or there is no memory for the whole.
    pub fn pack(&self, parts: &[&HostTensor]) -> Result<HostTensor> {
        let shape = self.shape()?;
        let Some(&first) = parts.first().filter(|_| parts.len() == self.parts.len()) else {
            let message = format!("{} tensors for a packing of {}", parts.len(), self.parts.len());
            return Err(Diagnostic::error(codes::SHAPE, message));
        };
        let dtype = first.dtype();
        for (part, tensor) in self.parts.iter().zip(parts) {
            if tensor.shape()[..] != part.shape[..] || tensor.dtype() != dtype {
                let message = format!("`{}` is `{}{:?}`", part.name, tensor.dtype(), &tensor.shape()[..]);
                return Err(Diagnostic::error(codes::SHAPE, message)
                    .help(format!("the packing needs `{dtype}{:?}`", part.shape)));
            }
        }
        let row_bytes = dtype.size() * shape[2..].iter().product::<usize>();
        let padded = |(part, tensor): (&Part, &&HostTensor)| {
            let mut bytes = oriented(part, tensor);
            bytes.resize(bytes.len() + part.padding * row_bytes, 0);
            bytes
        };
        let rows_first: Vec<_> = self.parts.iter().zip(parts).map(padded).collect();
        let (length, mut bytes) = (dtype.size() * shape.num_elements(), Vec::new());
        bytes.try_reserve_exact(length).map_err(|_| {
            let message = format!("there is no memory for a packing, which takes {length} bytes");
            Diagnostic::error(codes::RUNTIME_EXECUTE, message)
        })?;
        for rank in 0..self.ranks {
            for (part, rows) in self.parts.iter().zip(&rows_first) {
                let size = part.rows_per_rank(self.ranks) * row_bytes;
                let start = rank / part.copies * size;
                bytes.extend_from_slice(&rows[start..start + size]);
            }
        }
        HostTensor::from_bytes(dtype, shape, bytes).map_err(|_| Diagnostic::bug("a packing of another size"))
    }

    /// The parts, in order, of a packed tensor: the inverse of [`pack`](Self::pack).
    ///
    /// # Errors
    /// When the tensor has another shape, or the copies of a part differ.
    pub fn unpack(&self, packed: &HostTensor) -> Result<Vec<HostTensor>> {
        let shape = self.shape()?;
        if *packed.shape() != shape {
            let message = format!("a packed tensor of {:?}, where {:?} is expected", &packed.shape()[..], &shape[..]);
            return Err(Diagnostic::error(codes::SHAPE, message));
        }
        let row_bytes = packed.dtype().size() * shape[2..].iter().product::<usize>();
        self.spans()
            .map(|(part, rows)| {
                let share = |rank: usize| {
                    let from = (rank * shape[1] + rows.start) * row_bytes;
                    &packed.bytes()[from..from + rows.len() * row_bytes]
                };
                unpack_part(part, packed, self.ranks, share)
            })
            .collect()
    }
}

fn unpack_part<'a>(
    part: &Part,
    packed: &HostTensor,
    ranks: usize,
    share: impl Fn(usize) -> &'a [u8],
) -> Result<HostTensor> {
    let mut bytes = Vec::new();
    for rank in 0..ranks {
        let original = rank / part.copies * part.copies;
        if rank == original {
            bytes.extend_from_slice(share(rank));
        } else if share(rank) != share(original) {
            let message = format!("the copies of `{}` on ranks {original} and {rank} differ", part.name);
            return Err(Diagnostic::error(codes::TENSORS, message)
                .note("copies start equal and get equal updates, so a step has drifted or the file was changed"));
        }
    }
    let rows_first = part.rows_first();
    bytes.truncate(rows_first.iter().product::<usize>() * packed.dtype().size());
    let tensor = HostTensor::from_bytes(packed.dtype(), rows_first.iter().copied().collect(), bytes);
    let tensor = tensor.map_err(|_| Diagnostic::bug("a part of another size"))?;
    if !part.transposed {
        return Ok(tensor);
    }
    let bytes = transposed(&tensor);
    HostTensor::from_bytes(packed.dtype(), part.shape.iter().copied().collect(), bytes)
        .map_err(|_| Diagnostic::bug("a part of another size"))
}

/// The bytes of a tensor with its rows first.
fn oriented(part: &Part, tensor: &HostTensor) -> Vec<u8> {
    if part.transposed { transposed(tensor) } else { tensor.bytes().to_vec() }
}

/// The bytes of a matrix, column by column.
fn transposed(matrix: &HostTensor) -> Vec<u8> {
    let (rows, columns, size) = (matrix.shape()[0], matrix.shape()[1], matrix.dtype().size());
    let element = |row: usize, column: usize| {
        let at = (row * columns + column) * size;
        &matrix.bytes()[at..at + size]
    };
    let order = (0..columns).flat_map(|column| (0..rows).map(move |row| (row, column)));
    order.flat_map(|(row, column)| element(row, column)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    fn part(name: &str, shape: &[usize]) -> Part {
        Part { name: name.into(), shape: shape.into(), transposed: false, copies: 1, padding: 0 }
    }

    fn counted(shape: &[usize], first: usize) -> HostTensor {
        let count: usize = shape.iter().product();
        HostTensor::from_f64s(
            DType::F32,
            shape.iter().copied().collect::<Shape>(),
            (first..first + count).map(|i| i as f64),
        )
    }

    #[test]
    fn each_rank_holds_its_share_of_each_part() {
        let packing = Packing { ranks: 2, parts: vec![part("q", &[4, 1]), part("k", &[2, 1])] };
        let (q, k) = (counted(&[4, 1], 0), counted(&[2, 1], 10));
        let packed = packing.pack(&[&q, &k]).unwrap();
        assert_eq!(packed.shape()[..], [2, 3, 1]);
        assert_eq!(packed.f64s(), [0.0, 1.0, 10.0, 2.0, 3.0, 11.0]);
        assert_eq!(packing.unpack(&packed).unwrap(), [q, k]);
    }

    #[test]
    fn fewer_heads_than_ranks_are_stored_several_times() {
        let copied = Part { copies: 2, ..part("k", &[4]) };
        let packing = Packing { ranks: 4, parts: vec![part("q", &[4]), copied] };
        let (q, k) = (counted(&[4], 0), counted(&[4], 10));
        let packed = packing.pack(&[&q, &k]).unwrap();
        assert_eq!(packed.f64s(), [0.0, 10.0, 11.0, 1.0, 10.0, 11.0, 2.0, 12.0, 13.0, 3.0, 12.0, 13.0]);
        assert_eq!(packing.unpack(&packed).unwrap(), [q, k]);
        let mut drifted = packed.f64s();
        drifted[4] = 9.0;
        let drifted = HostTensor::from_f64s(DType::F32, packed.shape().clone(), drifted);
        assert!(packing.unpack(&drifted).unwrap_err().to_string().contains("copies of `k` on ranks 0 and 1 differ"));
    }

    #[test]
    fn rows_of_zeros_fill_the_last_share() {
        let padded = Part { padding: 1, ..part("w", &[3, 2]) };
        let packing = Packing { ranks: 2, parts: vec![padded.clone()] };
        let w = counted(&[3, 2], 1);
        let packed = packing.pack(&[&w]).unwrap();
        assert_eq!(packed.shape()[..], [2, 2, 2]);
        assert_eq!(packed.f64s(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0, 0.0]);
        assert_eq!(packing.unpack(&packed).unwrap(), [w]);
        let columns = Packing { ranks: 2, parts: vec![Part { transposed: true, shape: vec![2, 3], ..padded }] };
        let w = counted(&[2, 3], 1);
        let packed = columns.pack(&[&w]).unwrap();
        assert_eq!(packed.f64s(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0, 0.0, 0.0]);
        assert_eq!(columns.unpack(&packed).unwrap(), [w]);
        assert_eq!(columns.parts[0].padded()[..], [2, 4]);
    }

    #[test]
    fn a_packing_that_memory_cannot_hold_is_refused() {
        let ranks = 1 << 61;
        let packing = Packing { ranks, parts: vec![Part { copies: ranks, ..part("k", &[1]) }] };
        let error = packing.pack(&[&counted(&[1], 0)]).unwrap_err();
        assert!(error.message().starts_with("there is no memory for a packing"), "{error}");
    }

    #[test]
    fn columns_become_rows_and_back() {
        let packing =
            Packing { ranks: 1, parts: vec![Part { transposed: true, ..part("w", &[2, 3]) }, part("v", &[1, 2])] };
        let (w, v) = (counted(&[2, 3], 0), counted(&[1, 2], 10));
        let packed = packing.pack(&[&w, &v]).unwrap();
        assert_eq!(packed.f64s(), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0, 10.0, 11.0]);
        assert_eq!(packing.unpack(&packed).unwrap(), [w, v]);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let refused = |ranks, parts| Packing { ranks, parts }.shape().is_err();
        assert!(refused(0, vec![part("a", &[2])]));
        assert!(refused(2, vec![]));
        assert!(refused(2, vec![part("a", &[3])]));
        assert!(refused(2, vec![part("a", &[])]));
        assert!(refused(2, vec![part("a", &[2, 3]), part("b", &[2, 4])]));
        assert!(refused(4, vec![Part { copies: 3, ..part("a", &[4]) }]));
    }
}
