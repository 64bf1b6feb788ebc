//! Lists of ranks that are written as an iota, reshaped and transposed: groups of collectives, devices of shardings.

/// More ranks than this are not written out.
const MAX_RANKS: i64 = 1 << 20;

/// The ranks from 0 in the shape `dims`, transposed by `permutation` (as they are where it is empty), one after another; `None` where that is
/// no list of ranks.
pub fn iota(dims: &[i64], permutation: &[i32]) -> Option<Vec<i64>> {
    let count = dims.iter().try_fold(1i64, |product, &size| product.checked_mul(size).filter(|_| size > 0))?;
    if count > MAX_RANKS {
        return None;
    }
    let mut strides = vec![1i64; dims.len()];
    for dim in (1..dims.len()).rev() {
        strides[dim - 1] = strides[dim] * dims[dim];
    }
    let order: Option<Vec<usize>> = match permutation {
        [] => Some((0..dims.len()).collect()),
        dim => dim.iter().map(|&dim| usize::try_from(dim).ok().filter(|&dim| dim < dims.len())).collect(),
    };
    let order = order.filter(|order| order.len() == dims.len())?;
    let rank = |mut position: i64| {
        let mut rank = 0;
        for &dim in order.iter().rev() {
            rank += position % dims[dim] * strides[dim];
            position /= dims[dim];
        }
        rank
    };
    Some((0..count).map(rank).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_iota_is_reshaped_and_transposed() {
        assert_eq!(iota(&[2, 4], &[1, 0]).unwrap(), [0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(iota(&[3], &[]).unwrap(), [0, 1, 2]);
        for (dims, permutation) in [(&[1 << 40][..], &[][..]), (&[-2, -4], &[]), (&[2, 4], &[0]), (&[2, 4], &[0, 2])] {
            assert_eq!(iota(dims, permutation), None, "{dims:?} {permutation:?}");
        }
    }
}
