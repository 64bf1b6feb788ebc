//! Groups of ranks as atoms of the mesh.

use halite_tensor::{AtomId, Mesh};

/// The atoms along which the ranks of each group differ, in the order in which a group counts, the major one first; `None` where groups are
/// others than those of any atoms.
pub(super) fn atoms_of(mesh: &Mesh, groups: &[Vec<usize>]) -> Option<Vec<AtomId>> {
    let first = groups.first()?;
    let lead = *first.first()?;
    let place = |&atom: &AtomId| {
        let next = lead + mesh.atoms()[atom].stride;
        Some((first.iter().position(|&rank| rank == next)?, atom))
    };
    let mut places: Vec<_> = (0..mesh.atoms().len()).filter_map(|atom| place(&atom)).collect();
    places.sort_unstable_by(|x, y| y.cmp(x));
    let atoms: Vec<AtomId> = places.into_iter().map(|(_, atom)| atom).collect();
    let (mut own, mut found) = (mesh.groups(&atoms), groups.to_vec());
    own.sort_unstable();
    found.sort_unstable();
    (own == found).then_some(atoms)
}

/// The same, whatever the order of the ranks in each group.
pub(super) fn atoms_in_any_order(mesh: &Mesh, groups: &[Vec<usize>]) -> Option<Vec<AtomId>> {
    let sorted = |group: &Vec<usize>| {
        let mut group = group.clone();
        group.sort_unstable();
        group
    };
    atoms_of(mesh, &groups.iter().map(sorted).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_atoms_in_an_order() {
        let mesh = Mesh::new([("data", 2), ("tensor", 4)]).unwrap();
        for atoms in [vec![], vec![0], vec![1], vec![2], vec![1, 2], vec![2, 1], vec![0, 2], vec![2, 0], vec![0, 1, 2]]
        {
            assert_eq!(atoms_of(&mesh, &mesh.groups(&atoms)), Some(atoms));
        }
        assert_eq!(atoms_of(&mesh, &[vec![1, 0], vec![2, 3], vec![4, 5], vec![6, 7]]), None);
        assert_eq!(atoms_of(&mesh, &[vec![0, 5], vec![1, 4], vec![2, 7], vec![3, 6]]), None);
        assert_eq!(atoms_in_any_order(&mesh, &[vec![5, 4], vec![1, 0], vec![2, 3], vec![6, 7]]), Some(vec![2]));
        assert_eq!(atoms_of(&mesh, &[]), None);
    }
}
