//! Steps as functions for the program of another: the same instructions, whose ranks are partitions.

use super::{STEPS, compiled};
use halite_hlo::{CheckedHlo, decode};
use halite_stablehlo::{Form, Functions, print};
use std::collections::BTreeSet;

/// The text after a mark, up to another.
fn after<'t>(line: &'t str, mark: &str, end: &str) -> Option<&'t str> {
    Some(line.split_once(mark)?.1.split(end).next().unwrap_or_default())
}

#[test]
fn steps_are_functions_of_partitions() {
    for settings in STEPS {
        let bundle = compiled(settings);
        let hlo = bundle.runnable_hlo(&bundle.manifest.modules[0]).expect("the bundle has its files");
        let hlo = decode(&hlo).and_then(CheckedHlo::new).expect("a bundle holds sound HLO");
        let mesh = &bundle.manifest.mesh;
        let num_partitions = mesh.num_ranks();
        let functions = Functions { prefix: "own", num_partitions, first_channel: 1 };
        let text = print(&hlo, Form::Functions(functions)).expect("a step has a form");
        let counts = format!("{{mhlo.num_partitions = {num_partitions} : i32, mhlo.num_replicas = 1 : i32}}");
        assert!(text.lines().next().is_some_and(|head| head.contains(&counts)));
        for never in ["tf.aliasing_output", "jax.buffer_donor", "jax.result_info", "replica_id", "public"] {
            assert!(!text.contains(never), "{settings:?}: {never}");
        }
        let names: Vec<&str> = text.lines().filter_map(|line| after(line, "func.func private @", "(")).collect();
        // The layers of those for Neuron are written in place.
        assert_eq!(names.len() > 1, !settings.contains(&"target=trn2"), "{settings:?}");
        assert!(names.iter().all(|name| *name == "own" || name.starts_with("own_")), "{names:?}");
        assert_eq!(names.last(), Some(&"own"));
        channels_and_groups(&text, num_partitions);
        let program = print(&hlo, Form::Program { num_replicas: num_partitions }).expect("a step has a form");
        let (found, expected) = (operations(&text), operations(&program));
        assert!(found.len() > 100 && found == expected, "{settings:?}");
    }
}

/// Every collective is alone on its channel and says that its groups are of partitions.
fn channels_and_groups(text: &str, num_partitions: usize) {
    let is_collective = |line: &&str| line.contains("replica_groups") || line.contains("source_target_pairs");
    let collectives: Vec<&str> = text.lines().filter(is_collective).collect();
    assert_eq!(collectives.is_empty(), num_partitions == 1);
    let channels: BTreeSet<&str> =
        collectives.iter().map(|line| after(line, "<handle = ", ">").expect("each has a channel")).collect();
    assert_eq!(channels.len(), collectives.len());
    assert!(channels.iter().all(|channel| channel.ends_with(", type = 1")), "{channels:?}");
    for line in collectives {
        let has_groups = ["all_reduce", "all_gather", "reduce_scatter"].iter().any(|name| line.contains(name));
        assert_eq!(line.contains("use_global_device_ids = unit"), has_groups, "{line}");
    }
    if num_partitions == 4 {
        // `data`, the first axis, is the slower one; `tensor` has neighbours.
        let groups: BTreeSet<&str> =
            text.lines().filter_map(|line| after(line, "replica_groups = dense<", "> : tensor")).collect();
        let expected = ["[[0, 1, 2, 3]]", "[[0, 1], [2, 3]]", "[[0, 2], [1, 3]]"];
        assert!(groups.contains(expected[1]) && groups.contains(expected[2]), "{groups:?}");
        assert!(groups.iter().all(|group| expected.contains(group)), "{groups:?}");
    }
}

/// The names of operations that are no collective, in their order, without what these combine by.
fn operations(text: &str) -> Vec<&str> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("    %"));
    let names = lines.filter_map(|line| after(line, " = \"", "\""));
    let is_collective =
        |name: &str| ["all_", "reduce_scatter", "collective", "_id"].iter().any(|part| name.contains(part));
    names.filter(|name| !is_collective(name)).collect()
}
