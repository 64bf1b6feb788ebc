//! Shardings in manifests: the parts of buffers and ports that one rank of the mesh holds, and whether these go together.

use crate::{Buffer, Manifest, ModuleEntry, Port, PortRole};
use halite_tensor::{DimShard, Mesh, Shape, Sharding};
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet};

impl Buffer {
    /// The sizes of what one rank holds.
    pub fn local_shape(&self) -> Shape {
        local_shape(&self.shape, self.sharding.as_ref())
    }

    /// The bytes of what one rank holds.
    pub fn local_bytes(&self) -> u64 {
        (self.local_shape().num_elements() as u64).saturating_mul(self.dtype.size() as u64)
    }
}

impl Manifest {
    /// The stages whose modules take or give each buffer, by its name.
    pub fn stages_of_buffers(&self) -> BTreeMap<&str, BTreeSet<usize>> {
        let mut all: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for module in &self.modules {
            let ports = module.inputs.iter().chain(&module.outputs);
            for port in ports.filter(|port| port.role == PortRole::Buffer) {
                all.entry(port.name.as_str()).or_default().insert(module.stage);
            }
        }
        all
    }

    /// The bytes of all state that one rank holds; of stages, one of that which holds most.
    pub fn local_state_bytes(&self) -> u64 {
        let (stages, count) = (self.stages_of_buffers(), self.num_stages());
        let is_on = |stage: usize, buffer: &Buffer| {
            count == 1 || stages.get(buffer.name.as_str()).is_some_and(|stages| stages.contains(&stage))
        };
        let of_stage = |stage: usize| {
            let own = self.buffers.iter().filter(|buffer| !buffer.is_batch() && is_on(stage, buffer));
            own.map(Buffer::local_bytes).fold(0, u64::saturating_add)
        };
        (0..count).map(of_stage).max().unwrap_or(0)
    }
}

impl Port {
    /// The sizes of what the module takes or gives on one rank.
    pub fn local_shape(&self) -> Shape {
        local_shape(&self.shape, self.sharding.as_ref())
    }
}

fn local_shape(whole: &[usize], sharding: Option<&Sharding>) -> Shape {
    let whole = Shape::from(whole);
    sharding.map_or_else(|| whole.clone(), |sharding| sharding.local_shape(&whole))
}

/// Shardings of the buffers of a manifest and of the ports of these modules fit their tensors and the mesh, and ports have those of
/// the buffers that they read or replace.
pub fn check_shardings(manifest: &Manifest, modules: &[ModuleEntry]) -> Result<(), String> {
    let Manifest { mesh, buffers, .. } = manifest;
    check_buffers(mesh, buffers)?;
    let buffers: IndexMap<_, _> = buffers.iter().map(|buffer| (buffer.name.as_str(), buffer)).collect();
    for module in modules {
        for port in module.inputs.iter().chain(&module.outputs) {
            check_port(mesh, &buffers, module, port)?;
        }
    }
    Ok(())
}

/// Checks that the shardings of buffers are of this mesh and fit them.
///
/// # Errors
/// The first that does not.
pub(crate) fn check_buffers(mesh: &Mesh, buffers: &[Buffer]) -> Result<(), String> {
    let one = |buffer: &Buffer| {
        check(mesh, &buffer.shape, buffer.sharding.as_ref(), || format!("the buffer `{}`", buffer.name))
    };
    buffers.iter().try_for_each(one)
}

fn check_port(mesh: &Mesh, buffers: &IndexMap<&str, &Buffer>, module: &ModuleEntry, port: &Port) -> Result<(), String> {
    let what = || format!("`{}` of the module `{}`", port.name, module.name);
    check(mesh, &port.shape, port.sharding.as_ref(), what)?;
    let buffer = buffers.get(port.name.as_str()).filter(|_| port.role == PortRole::Buffer);
    if buffer.is_some_and(|buffer| buffer.sharding != port.sharding) {
        return Err(format!("{} is sharded otherwise than the buffer of that name", what()));
    }
    Ok(())
}

/// The sub-axes of a sharding are those of the mesh, and its digits divide the tensor.
fn check(mesh: &Mesh, shape: &[usize], sharding: Option<&Sharding>, what: impl Fn() -> String) -> Result<(), String> {
    let Some(sharding) = sharding else { return Ok(()) };
    for &DimShard { sub_axis, size, .. } in sharding.0.iter().flatten() {
        let (sub_axes, what) = (mesh.sub_axes(), what());
        match sub_axes.get(sub_axis).map(|sub_axis| sub_axis.size) {
            None => {
                return Err(format!(
                    "{what} is sharded by the sub-axis {sub_axis} of the mesh, which has {}",
                    sub_axes.len()
                ));
            }
            Some(ranks) if ranks != size => {
                return Err(format!(
                    "{what} is sharded by {size} ranks along the sub-axis {sub_axis}, which has {ranks}"
                ));
            }
            Some(_) => {}
        }
    }
    // A span beyond all numbers fits nothing.
    let has_span = |digit: &DimShard| digit.size.checked_mul(digit.stride).is_some();
    let shape = Shape::from(shape);
    if sharding.0.iter().flatten().all(has_span) && sharding.fits(&shape) {
        return Ok(());
    }
    Err(format!("{} has the shape {shape}, which its sharding does not divide", what()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{NoTarget, small};
    use crate::{Bundle, MANIFEST};
    use halite_tensor::SubAxis;

    fn digit(sub_axis: usize, size: usize, stride: usize) -> DimShard {
        DimShard { sub_axis, size, stride }
    }

    /// The small bundle on 2 x 3 ranks: rows of tokens along `data`, each third of the rows of `w` and of its moment along `tensor`.
    fn sharded() -> Bundle {
        let mut bundle = small();
        let manifest = &mut bundle.manifest;
        manifest.mesh = Mesh::new([("data", 2), ("tensor", 3)]).unwrap();
        let rows = Sharding::replicated(2).with(0, digit(0, 2, 1));
        manifest.modules[0].inputs[0].sharding = Some(rows.clone());
        manifest.buffers[0].sharding = Some(rows);
        for buffer in [1, 3] {
            manifest.buffers[buffer].sharding = Some(Sharding::replicated(2).with(0, digit(1, 3, 10)));
        }
        bundle
    }

    #[test]
    fn a_manifest_on_a_mesh_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bundle");
        let bundle = sharded();
        bundle.write(&path).unwrap();
        assert_eq!(Bundle::read(&path, &NoTarget).unwrap(), bundle);
        let manifest = &bundle.manifest;
        assert_eq!(manifest.buffers[1].local_shape(), Shape::from([100, 50]));
        assert_eq!(manifest.modules[0].inputs[0].local_shape(), Shape::from([1, 4]));
        assert_eq!(manifest.modules[0].inputs[1].local_shape(), Shape::from([5]));
        // At 4 bytes: a third of `w` and of its moment; `b` and `step` on each rank.
        assert_eq!(manifest.local_state_bytes(), 4 * (2 * 100 * 50 + 5 + 1));
        assert_eq!(manifest.mesh.sub_axes()[1], SubAxis { axis: 1, size: 3, stride: 1 });
    }

    /// Of stages, the state of a core is that of the stage that holds most.
    #[test]
    fn a_core_holds_the_state_of_its_stage() {
        let mut manifest = sharded().manifest;
        let mut second = manifest.modules[0].clone();
        (second.name, second.stage) = ("second".to_owned(), 1);
        second.inputs = vec![Port { name: "w".to_owned(), ..second.inputs[0].clone() }];
        second.outputs.clear();
        manifest.modules.push(second);
        let stages = manifest.stages_of_buffers();
        let of = |name: &str| stages[name].iter().copied().collect::<Vec<_>>();
        assert_eq!((of("tokens"), of("b"), of("w")), (vec![0], vec![0], vec![1]));
        assert_eq!(manifest.local_state_bytes(), 4 * 100 * 50);
    }

    #[test]
    fn a_manifest_of_one_rank_says_nothing_of_a_mesh() {
        let text = small().manifest_json();
        assert!(!text.contains("mesh") && !text.contains("sharding"), "{text}");
        assert!(sharded().manifest_json().contains("\"mesh\""));
    }

    #[test]
    fn shardings_that_do_not_fit_are_refused() {
        type Change = fn(&mut Manifest);
        fn on(manifest: &mut Manifest, buffer: usize, sharding: Sharding) {
            manifest.buffers[buffer].sharding = Some(sharding);
        }
        fn whole() -> Sharding {
            Sharding::replicated(2)
        }
        let divide = "the buffer `w` has the shape [300,50], which its sharding does not divide";
        let cases: [(Change, &str); 9] = [
            (
                |manifest| manifest.mesh = Mesh::default(),
                "the buffer `tokens` is sharded by the sub-axis 0 of the mesh, which has 0",
            ),
            (
                |manifest| on(manifest, 1, whole().with(0, digit(2, 3, 1))),
                "the buffer `w` is sharded by the sub-axis 2 of the mesh, which has 2",
            ),
            (
                |manifest| on(manifest, 1, whole().with(0, digit(1, 2, 1))),
                "the buffer `w` is sharded by 2 ranks along the sub-axis 1, which has 3",
            ),
            (|manifest| on(manifest, 1, whole().with(1, digit(1, 3, 1))), divide),
            (|manifest| on(manifest, 1, whole().with(0, digit(1, 3, 0))), divide),
            (|manifest| on(manifest, 1, whole().with(0, digit(1, 3, usize::MAX))), divide),
            (|manifest| on(manifest, 1, Sharding::replicated(1)), divide),
            (
                |manifest| manifest.modules[0].outputs[1].sharding = Some(whole()),
                "`loss` of the module `train_step` has the shape [], which its sharding does not divide",
            ),
            (
                |manifest| manifest.modules[0].inputs[0].sharding = None,
                "`tokens` of the module `train_step` is sharded otherwise than the buffer of that name",
            ),
        ];
        for (change, expected) in cases {
            let mut bundle = sharded();
            change(&mut bundle.manifest);
            let error = Bundle::new(bundle.manifest, bundle.files, &NoTarget).unwrap_err();
            assert_eq!(error.message(), format!("the manifest contradicts itself: {expected}"));
        }
    }

    #[test]
    fn a_mesh_that_cannot_be_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        sharded().write(folder.path()).unwrap();
        let path = folder.path().join(MANIFEST);
        let text = std::fs::read_to_string(&path).unwrap();
        let first = text.find("\"size\": 2").expect("the axis `data` has its size");
        std::fs::write(&path, text[..first].to_owned() + "\"size\": 0" + &text[first + 9..]).unwrap();
        let error = Bundle::read(folder.path(), &NoTarget).unwrap_err();
        assert!(error.message().contains("a mesh with 0 ranks along `data` cannot be"), "{error}");
    }
}
