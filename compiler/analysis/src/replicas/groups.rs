//! Groups of ranks as sub-axes of the mesh.

use halite_tensor::{Groups, Mesh, SubAxis, SubAxisId};

/// The sub-axes along which the ranks of each group differ, in the order in which a group counts, the major one first; `None` where groups are
/// others than those of any sub-axes.
pub(super) fn sub_axes_of(mesh: &Mesh, groups: &Groups) -> Option<Vec<SubAxisId>> {
    let steps = groups.steps().filter(|_| groups.ranks() == mesh.num_ranks())?;
    let mut found = Vec::new();
    for &(count, distance) in steps {
        let mut rest = count;
        while rest > 1 {
            let top = |sub_axis: &SubAxis| {
                sub_axis.size * sub_axis.stride == rest * distance && rest.is_multiple_of(sub_axis.size)
            };
            let sub_axis = mesh.sub_axes().iter().position(top)?;
            rest /= mesh.sub_axes()[sub_axis].size;
            found.push(sub_axis);
        }
    }
    Some(found)
}

/// The same, whatever the order of the ranks in each group.
pub(super) fn sub_axes_in_any_order(mesh: &Mesh, groups: &Groups) -> Option<Vec<SubAxisId>> {
    sub_axes_of(mesh, &groups.ascending())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_sub_axes_in_an_order() {
        let mesh = Mesh::new([("data", 2), ("tensor", 4)]).unwrap();
        for sub_axes in
            [vec![], vec![0], vec![1], vec![2], vec![1, 2], vec![2, 1], vec![0, 2], vec![2, 0], vec![0, 1, 2]]
        {
            assert_eq!(sub_axes_of(&mesh, &mesh.groups(&sub_axes)), Some(sub_axes));
        }
        assert_eq!(sub_axes_of(&mesh, &vec![vec![1, 0], vec![2, 3], vec![4, 5], vec![6, 7]].into()), None);
        assert_eq!(sub_axes_of(&mesh, &vec![vec![0, 5], vec![1, 4], vec![2, 7], vec![3, 6]].into()), None);
        assert_eq!(
            sub_axes_in_any_order(&mesh, &vec![vec![5, 4], vec![1, 0], vec![2, 3], vec![6, 7]].into()),
            Some(vec![2])
        );
        assert_eq!(sub_axes_of(&mesh, &Groups::default()), None);
    }
}
