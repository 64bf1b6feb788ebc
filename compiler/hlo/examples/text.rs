//! Reads HLO texts and writes the module of each beside it as bytes, for `tests/jax/read_hlo_text.py`. Where `FILE.pb` is there, with the
//! bytes that XLA gives of the same module, what our messages keep of these is written as `FILE.kept.pb`, and the two are compared by the names of
//! instructions. What differs goes to standard error as the faults of a text that is refused do: a line each, the file and the message.

use halite_hlo::proto::{
    CollectiveDeviceListProto, HloInstructionProto, HloModuleProto, Numbers, OpMetadata, PrecisionConfig,
    StackFrameIndexProto,
};
use halite_hlo::{decode, encode, text};
use halite_support::SourceFile;
use std::collections::BTreeMap;
use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stderr().lock();
    for path in std::env::args().skip(1) {
        let file = SourceFile::new(&*path, std::fs::read_to_string(&path)?);
        let hlo = match text::read(&file) {
            Ok(hlo) => hlo,
            Err(faults) => {
                faults.iter().try_for_each(|fault| writeln!(out, "{path}\trefused: {}", fault.message()))?;
                continue;
            }
        };
        std::fs::write(format!("{path}.hlo.pb"), hlo.encode())?;
        if let Ok(bytes) = std::fs::read(format!("{path}.pb")) {
            let kept = decode(&bytes)?;
            std::fs::write(format!("{path}.kept.pb"), encode(&kept))?;
            let (own, other) = (by_name(&hlo), by_name(&kept));
            differences(&own, &other).into_iter().try_for_each(|line| writeln!(out, "{path}\tdiffers: {line}"))?;
        }
    }
    Ok(())
}

/// The lines that a module says of itself, and of each computation and instruction.
type Said = BTreeMap<String, String>;

fn differences(own: &Said, other: &Said) -> Vec<String> {
    let is_same = |key: &&String| own.get(*key) == other.get(*key);
    let keys = own.keys().chain(other.keys().filter(|key| !own.contains_key(*key)));
    let text = |said: &Said, key: &String| said.get(key).cloned().unwrap_or_default();
    keys.filter(|key| !is_same(key))
        .map(|key| format!("{key}: {}", beside(&text(own, key), &text(other, key))))
        .collect()
}

/// Where two texts begin to differ.
fn beside(own: &str, other: &str) -> String {
    let same = own.chars().zip(other.chars()).take_while(|(own, other)| own == other).count();
    let shown = |text: &str| text.chars().skip(same.saturating_sub(40)).take(120).collect::<String>();
    format!("`{}`, XLA: `{}`", shown(own), shown(other))
}

fn by_name(module: &HloModuleProto) -> Said {
    let all = || module.computations.iter().flat_map(|computation| &computation.instructions);
    let names: BTreeMap<i64, &str> = all().map(|inst| (inst.id, &*inst.name)).collect();
    let computations: BTreeMap<i64, &str> =
        module.computations.iter().map(|computation| (computation.id, computation.name.as_str())).collect();
    let of = |names: &BTreeMap<i64, &str>, ids: &[i64]| {
        ids.iter().map(|id| names.get(id).copied().unwrap_or("?")).collect::<Vec<_>>().join(", ")
    };
    let mut said = Said::new();
    for computation in &module.computations {
        let root = of(&names, &[computation.root_id]);
        let line = format!("root {root}, fused {}, {:?}", computation.is_fusion_computation, computation.program_shape);
        said.insert(format!("computation {}", computation.name), line);
    }
    for inst in all() {
        let (operands, callees) = (of(&names, &inst.operand_ids), of(&computations, &inst.called_computation_ids));
        let before = of(&names, &inst.control_predecessor_ids);
        let line = format!("({operands}) calls ({callees}) behind ({before}) {:?}", plain(inst));
        said.insert(inst.name.to_string(), line);
    }
    let mut rest = HloModuleProto { computations: Vec::new(), id: 0, entry_computation_id: 0, ..module.clone() };
    rest.input_output_alias = rest.input_output_alias.filter(|alias| !alias.entries.is_empty());
    rest.buffer_donor = rest.buffer_donor.filter(|donors| !donors.entries.is_empty());
    rest.frontend_attributes = rest.frontend_attributes.filter(|attributes| !attributes.map.is_empty());
    rest.stack_frame_index = rest.stack_frame_index.filter(|frames| *frames != StackFrameIndexProto::default());
    // XLA calls all parameters `p0`, `p1`, .. here.
    rest.host_program_shape.iter_mut().for_each(|program| program.parameter_names.clear());
    said.insert("the module".to_owned(), format!("{rest:?}"));
    said
}

/// An instruction without ids, and with one form of what has several of one meaning.
fn plain(inst: &HloInstructionProto) -> HloInstructionProto {
    let mut plain = inst.clone();
    let groups = inst.groups().unwrap_or_default().into_owned();
    (plain.iota_collective_device_list, plain.mesh_axes_replica_group_list) = (None, None);
    plain.replica_groups = Vec::new().into();
    plain.metadata = plain.metadata.filter(|metadata| **metadata != OpMetadata::default());
    plain.frontend_attributes = plain.frontend_attributes.filter(|attributes| !attributes.map.is_empty());
    let is_usual =
        |config: &PrecisionConfig| config.algorithm == 0 && config.operand_precision.iter().all(|own| *own == 0);
    plain.precision_config = plain.precision_config.filter(|config| !is_usual(config));
    plain.feature_group_count = plain.feature_group_count.max(1);
    plain.batch_group_count = plain.batch_group_count.max(1);
    let has_groups = !groups.is_empty();
    plain.collective_device_list = has_groups.then(|| {
        Box::new(CollectiveDeviceListProto { replica_groups: groups, ..CollectiveDeviceListProto::default() })
    });
    (plain.id, plain.operand_ids, plain.called_computation_ids) = (0, Numbers::new(), Numbers::new());
    plain.control_predecessor_ids = Vec::new();
    plain
}
