//! Groups of ranks as atoms of the mesh.

use halite_tensor::{AtomId, Groups, Mesh, MeshAtom};

/// The atoms along which the ranks of each group differ, in the order in which a group counts, the major one first; `None` where groups are
/// others than those of any atoms.
pub(super) fn atoms_of(mesh: &Mesh, groups: &Groups) -> Option<Vec<AtomId>> {
    let steps = groups.steps().filter(|_| groups.ranks() == mesh.num_ranks())?;
    let mut found = Vec::new();
    for &(count, distance) in steps {
        let mut rest = count;
        while rest > 1 {
            let top = |atom: &MeshAtom| atom.size * atom.stride == rest * distance && rest.is_multiple_of(atom.size);
            let atom = mesh.atoms().iter().position(top)?;
            rest /= mesh.atoms()[atom].size;
            found.push(atom);
        }
    }
    Some(found)
}

/// The same, whatever the order of the ranks in each group.
pub(super) fn atoms_in_any_order(mesh: &Mesh, groups: &Groups) -> Option<Vec<AtomId>> {
    atoms_of(mesh, &groups.ascending())
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
        assert_eq!(atoms_of(&mesh, &vec![vec![1, 0], vec![2, 3], vec![4, 5], vec![6, 7]].into()), None);
        assert_eq!(atoms_of(&mesh, &vec![vec![0, 5], vec![1, 4], vec![2, 7], vec![3, 6]].into()), None);
        assert_eq!(
            atoms_in_any_order(&mesh, &vec![vec![5, 4], vec![1, 0], vec![2, 3], vec![6, 7]].into()),
            Some(vec![2])
        );
        assert_eq!(atoms_of(&mesh, &Groups::default()), None);
    }
}
