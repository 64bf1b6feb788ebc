//! The bytes of `CompileOptionsProto`.
//!
//! XLA's debug options are given by name through `env_option_overrides`, which outlasts renumbering.

use crate::CompileOptions;
use prost::Message;
use std::collections::BTreeMap;

/// The serialized message, with the numbers by which the plugin knows the devices of the replicas; without any, it puts replicas on its first ones.
pub(super) fn encode(options: &CompileOptions, devices: Vec<i64>) -> Vec<u8> {
    let mut overrides = BTreeMap::new();
    let mut set = |name: &str, value| overrides.insert(name.to_string(), OptionOverride { value: Some(value) });
    set("xla_allow_excess_precision", Value::Bool(options.excess_precision));
    // The fast forms of minimum and maximum drop a NaN in the second operand.
    set("xla_cpu_enable_fast_min_max", Value::Bool(false));
    // A matmul by XNNPACK reads a right side that is a parameter as it was when first read at its address (0.0.1 of the plugin), so state that
    // is donated stays as it was: from the second update on, gradients of a model 256 wide were wrong. And devices share one pool of threads,
    // of which a collective holds the one that it runs on, while XNNPACK waits for what it gave to the others: replicas of that model hung.
    set("xla_cpu_use_xnnpack", Value::Bool(false));
    // With its schedule for concurrency CPU XLA (0.0.1 of the plugin) starts independent collectives in an order of its own on each device, and
    // devices wait for one another for ever: tiny on 2 x 4 devices with ZeRO hung within 12 updates in 4 of 5 runs, and never without.
    if options.num_replicas > 1 {
        set("xla_cpu_enable_concurrency_optimized_scheduler", Value::Bool(false));
    }
    if let Some(level) = options.optimization_level {
        set("xla_backend_optimization_level", Value::Int(level.into()));
    }
    let device_assignment = (!devices.is_empty()).then(|| DeviceAssignment {
        replica_count: devices.len() as i32,
        computation_count: 1,
        computation_devices: vec![ComputationDevice { replica_device_ids: devices }],
    });
    let build = BuildOptions { num_replicas: options.num_replicas as i64, num_partitions: 1, device_assignment };
    Options { executable_build_options: Some(build), env_option_overrides: overrides }.encode_to_vec()
}

/// `CompileOptionsProto`.
#[derive(Clone, PartialEq, Message)]
struct Options {
    #[prost(message, optional, tag = "3")]
    executable_build_options: Option<BuildOptions>,
    #[prost(btree_map = "string, message", tag = "7")]
    env_option_overrides: BTreeMap<String, OptionOverride>,
}

/// `ExecutableBuildOptionsProto`.
#[derive(Clone, PartialEq, Eq, Message)]
struct BuildOptions {
    #[prost(int64, tag = "4")]
    num_replicas: i64,
    #[prost(int64, tag = "5")]
    num_partitions: i64,
    #[prost(message, optional, tag = "9")]
    device_assignment: Option<DeviceAssignment>,
}

/// `DeviceAssignmentProto`.
#[derive(Clone, PartialEq, Eq, Message)]
struct DeviceAssignment {
    #[prost(int32, tag = "1")]
    replica_count: i32,
    #[prost(int32, tag = "2")]
    computation_count: i32,
    #[prost(message, repeated, tag = "3")]
    computation_devices: Vec<ComputationDevice>,
}

/// `DeviceAssignmentProto.ComputationDevice`.
#[derive(Clone, PartialEq, Eq, Message)]
struct ComputationDevice {
    #[prost(int64, repeated, tag = "1")]
    replica_device_ids: Vec<i64>,
}

/// `OptionOverrideProto`.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
struct OptionOverride {
    #[prost(oneof = "Value", tags = "2, 3")]
    value: Option<Value>,
}

/// The value of an [`OptionOverride`].
#[derive(Clone, Copy, PartialEq, Eq, prost::Oneof)]
enum Value {
    #[prost(bool, tag = "2")]
    Bool(bool),
    #[prost(int64, tag = "3")]
    Int(i64),
}
