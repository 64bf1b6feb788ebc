//! A sharding of HLO in terms of a mesh.

use halite_hlo::iota;
use halite_hlo::proto::OpSharding;
use halite_tensor::{DimShard, Mesh, Shape, Sharding, SubAxisId};

/// Kinds of shardings, as the schema numbers them.
mod kind {
    pub(super) const REPLICATED: i32 = 0;
    pub(super) const TUPLE: i32 = 2;
    pub(super) const OTHER: i32 = 3;
}

/// The shardings of the arrays of a value, each as it is written.
pub(crate) fn of_arrays(sharding: &OpSharding, arrays: usize) -> Vec<&OpSharding> {
    match sharding.r#type {
        kind::TUPLE => sharding.tuple_shardings.iter().flat_map(|own| of_arrays(own, 1)).collect(),
        _ => vec![sharding; arrays],
    }
}

/// The sharding of an array of which a rank holds `local`, or why a mesh cannot express it.
pub(crate) fn sharding(tiles: &OpSharding, mesh: &Mesh, local: &Shape) -> Result<Sharding, &'static str> {
    match tiles.r#type {
        kind::REPLICATED => return Ok(Sharding::replicated(local.rank())),
        kind::OTHER => {}
        _ => return Err("is neither replicated nor tiled"),
    }
    let grid = Grid::new(tiles, mesh, local.rank())?;
    let mut sharding = Sharding::replicated(local.rank());
    for sub_axis in 0..mesh.sub_axes().len() {
        if let Some((dim, tile)) = grid.step(mesh, sub_axis)? {
            let stride = tile.checked_mul(local[dim]).ok_or("is of more than there can be")?;
            sharding = sharding.with(dim, DimShard { sub_axis, size: mesh.sub_axes()[sub_axis].size, stride });
        }
    }
    grid.holds(mesh, &sharding, local).then_some(sharding).ok_or("does not follow the axes of the mesh")
}

/// The tile that each rank holds along each dimension.
struct Grid {
    /// The number of tiles along each dimension.
    sizes: Vec<usize>,
    /// For each rank its tile along each dimension.
    tiles: Vec<Vec<usize>>,
}

impl Grid {
    fn new(tiles: &OpSharding, mesh: &Mesh, rank: usize) -> Result<Self, &'static str> {
        let wrong = "does not have the ranks of the mesh";
        let sizes: Option<Vec<usize>> =
            tiles.tile_assignment_dimensions.iter().map(|&size| usize::try_from(size).ok()).collect();
        let sizes = sizes.filter(|sizes| sizes.len() >= rank && !sizes.contains(&0)).ok_or(wrong)?;
        let devices = match tiles.iota_reshape_dims.as_slice() {
            [] => tiles.tile_assignment_devices.clone(),
            dims => iota(dims, &tiles.iota_transpose_perm).ok_or(wrong)?,
        };
        let count = sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        if devices.len() != mesh.num_ranks() || count != Some(devices.len()) {
            return Err(wrong);
        }
        let mut of_ranks = vec![Vec::new(); devices.len()];
        for (position, &device) in devices.iter().enumerate() {
            let own = usize::try_from(device).ok().and_then(|device| of_ranks.get_mut(device)).ok_or(wrong)?;
            *own = coordinates(position, &sizes)[..rank].to_vec();
        }
        Ok(Self { sizes: sizes[..rank].to_vec(), tiles: of_ranks })
    }

    /// Along which dimension the next rank along a sub-axis holds another tile than the first rank, and how many tiles further.
    fn step(&self, mesh: &Mesh, sub_axis: SubAxisId) -> Result<Option<(usize, usize)>, &'static str> {
        let next = self.tiles.get(mesh.sub_axes()[sub_axis].stride).ok_or("does not have the ranks of the mesh")?;
        let mut steps = next.iter().copied().enumerate().filter(|&(_, tile)| tile > 0);
        match (steps.next(), steps.next()) {
            (step, None) => Ok(step),
            _ => Err("does not follow the axes of the mesh"),
        }
    }

    /// Whether each rank holds the tiles that a sharding says.
    fn holds(&self, mesh: &Mesh, sharding: &Sharding, local: &Shape) -> bool {
        let tile = |rank: usize, dim: usize| -> usize {
            let digits = sharding.0[dim].iter();
            digits.map(|digit| mesh.coordinate(digit.sub_axis, rank) * (digit.stride / local[dim].max(1))).sum()
        };
        let parts = |dim: usize| sharding.0[dim].iter().map(|digit| digit.size).product::<usize>();
        let all = |rank: usize| (0..self.sizes.len()).all(|dim| tile(rank, dim) == self.tiles[rank][dim]);
        (0..self.sizes.len()).all(|dim| parts(dim) == self.sizes[dim]) && (0..mesh.num_ranks()).all(all)
    }
}

/// The index of a row-major position.
fn coordinates(position: usize, sizes: &[usize]) -> Vec<usize> {
    let mut left = position;
    let mut index: Vec<usize> = sizes
        .iter()
        .rev()
        .map(|&size| {
            let at = left % size;
            left /= size;
            at
        })
        .collect();
    index.reverse();
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiles(dims: &[i64], iota: &[i64], transpose: &[i32]) -> OpSharding {
        OpSharding {
            r#type: kind::OTHER,
            tile_assignment_dimensions: dims.to_vec(),
            replicate_on_last_tile_dim: dims.len() > 2,
            iota_reshape_dims: iota.to_vec(),
            iota_transpose_perm: transpose.to_vec(),
            ..OpSharding::default()
        }
    }

    fn digits(tiles: &OpSharding) -> Result<Vec<(usize, SubAxisId, usize)>, &'static str> {
        let mesh = Mesh::new([("data", 2), ("tensor", 4)]).unwrap();
        let sharding = sharding(tiles, &mesh, &[3, 5].into())?;
        let all = sharding.0.iter().enumerate();
        Ok(all.flat_map(|(dim, own)| own.iter().map(move |digit| (dim, digit.sub_axis, digit.stride))).collect())
    }

    #[test]
    fn tiles_are_digits_of_the_mesh() {
        assert_eq!(digits(&tiles(&[2, 1, 4], &[8], &[0])), Ok(vec![(0, 0, 3)]));
        assert_eq!(digits(&tiles(&[1, 4, 2], &[2, 4], &[1, 0])), Ok(vec![(1, 1, 10), (1, 2, 5)]));
        assert_eq!(digits(&tiles(&[8, 1], &[8], &[])), Ok(vec![(0, 0, 12), (0, 1, 6), (0, 2, 3)]));
        assert_eq!(digits(&tiles(&[8, 1], &[2, 4], &[1, 0])), Ok(vec![(0, 1, 12), (0, 2, 6), (0, 0, 3)]));
        assert_eq!(digits(&OpSharding::default()), Ok(vec![]));
        let listed = OpSharding { tile_assignment_devices: (0..8).collect(), ..tiles(&[2, 4], &[], &[]) };
        assert_eq!(digits(&listed), Ok(vec![(0, 0, 3), (1, 1, 10), (1, 2, 5)]));
    }

    #[test]
    fn what_follows_no_axes_is_refused() {
        let turned = OpSharding { tile_assignment_devices: vec![0, 1, 2, 3, 7, 6, 5, 4], ..tiles(&[2, 4], &[], &[]) };
        assert_eq!(digits(&turned), Err("does not follow the axes of the mesh"));
        for wrong in [tiles(&[2, 2], &[4], &[]), tiles(&[2, -4], &[8], &[]), tiles(&[8], &[8], &[])] {
            assert_eq!(digits(&wrong), Err("does not have the ranks of the mesh"));
        }
    }
}
