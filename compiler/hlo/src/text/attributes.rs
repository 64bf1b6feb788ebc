//! Attributes, in XLA's order.

use super::{Braced, Printer, iota_devices, object_or_quoted, precision, quoted, reference, separated, shape, window};
use crate::opcode::{Opcode, RngAlgorithm};
use crate::proto::{FrontendAttributes, HloInstructionProto, IotaReplicaGroupListProto, ReplicaGroup, ShapeProto};
use halite_tensor::DType;
use std::fmt::{self, Display, Write};

impl Printer<'_> {
    /// The attributes of one instruction, up to its frontend attributes.
    pub(super) fn attributes(&mut self, inst: &HloInstructionProto) -> fmt::Result {
        let opcode = Opcode::parse(&inst.opcode);
        dot(self.out, inst)?;
        indexing(self.out, inst)?;
        ranges(self.out, inst)?;
        window::print(self.out, inst)?;
        window::print_dims(self.out, inst)?;
        collective(self.out, inst)?;
        match opcode {
            Some(Opcode::Iota) => integers(self.out, "iota_dimension", &inst.dimensions)?,
            // A broadcast of a scalar has an empty list, which other ops leave out.
            Some(Opcode::Broadcast | Opcode::Reduce | Opcode::Transpose | Opcode::Reverse) => {
                write!(self.out, ", dimensions={}", Braced(&inst.dimensions))?;
            }
            _ if !inst.dimensions.is_empty() => write!(self.out, ", dimensions={}", Braced(&inst.dimensions))?,
            _ => {}
        }
        scalars(self.out, inst)?;
        self.callees(inst)?;
        self.custom_call(inst)
    }

    fn callees(&mut self, inst: &HloInstructionProto) -> fmt::Result {
        let is_of_truth = |id: &i64| {
            let shape = self.instructions.get(id).and_then(|operand| operand.shape.as_deref());
            shape.and_then(ShapeProto::dtype) == Some(DType::Pred)
        };
        let labels: &[&str] = match (&*inst.opcode, inst.called_computation_ids.len()) {
            ("while", 2) => &["body", "condition"],
            ("conditional", 2) if inst.operand_ids.first().is_some_and(is_of_truth) => {
                &["true_computation", "false_computation"]
            }
            ("conditional", _) => return self.listed_callees(inst, "branch_computations"),
            ("fusion", 1) => &["calls"],
            ("select-and-scatter", 2) => &["select", "scatter"],
            (_, 1) => &["to_apply"],
            (_, 0) => return Ok(()),
            _ => return self.listed_callees(inst, "called_computations"),
        };
        let mut labelled: Vec<_> = labels.iter().zip(&inst.called_computation_ids).collect();
        // XLA prints the condition of a loop first.
        if inst.opcode == "while" {
            labelled.reverse();
        }
        for (label, id) in labelled {
            write!(self.out, ", {label}=")?;
            reference(self.out, self.computations.get(id).copied(), *id)?;
        }
        Ok(())
    }

    fn listed_callees(&mut self, inst: &HloInstructionProto, label: &str) -> fmt::Result {
        write!(self.out, ", {label}={{")?;
        let names = &self.computations;
        separated(self.out, ", ", &inst.called_computation_ids, |out, id| reference(out, names.get(id).copied(), *id))?;
        self.out.push('}');
        Ok(())
    }

    fn custom_call(&mut self, inst: &HloInstructionProto) -> fmt::Result {
        if inst.opcode != Opcode::CustomCall.name() {
            return Ok(());
        }
        self.out.push_str(", custom_call_target=");
        quoted(self.out, &inst.custom_call_target);
        if inst.constrain_layout {
            self.out.push_str(", operand_layout_constraints={");
            let instructions = &self.instructions;
            separated(self.out, ", ", &inst.operand_ids, |out, id| {
                shape::with_layout(out, instructions.get(id).and_then(|operand| operand.shape.as_deref()))
            })?;
            self.out.push('}');
        }
        flag(self.out, "custom_call_has_side_effect", inst.custom_call_has_side_effect)?;
        let version = match inst.custom_call_api_version {
            2 => "API_VERSION_STATUS_RETURNING",
            3 => "API_VERSION_STATUS_RETURNING_UNIFIED",
            4 => "API_VERSION_TYPED_FFI",
            _ => return Ok(()),
        };
        write!(self.out, ", api_version={version}")
    }
}

/// `, frontend_attributes={key="value",..}`.
pub(super) fn frontend(out: &mut String, attributes: &FrontendAttributes) -> fmt::Result {
    if attributes.map.is_empty() {
        return Ok(());
    }
    out.push_str(", frontend_attributes={");
    let pairs: Vec<_> = attributes.map.iter().collect();
    separated(out, ",", &pairs, |out, (key, value)| {
        write!(out, "{key}=")?;
        object_or_quoted(out, value);
        Ok(())
    })?;
    out.push('}');
    Ok(())
}

/// `, backend_config=`: JSON objects as they are, other text in quotes.
pub(super) fn backend_config(out: &mut String, inst: &HloInstructionProto) -> fmt::Result {
    if inst.backend_config.is_empty() {
        return Ok(());
    }
    out.push_str(", backend_config=");
    let text = String::from_utf8_lossy(&inst.backend_config);
    object_or_quoted(out, &text);
    Ok(())
}

fn list(out: &mut String, key: &str, items: &[impl Display]) -> fmt::Result {
    if items.is_empty() { Ok(()) } else { write!(out, ", {key}={}", Braced(items)) }
}

fn integers(out: &mut String, key: &str, items: &[impl Display]) -> fmt::Result {
    items.iter().try_for_each(|item| write!(out, ", {key}={item}"))
}

fn flag(out: &mut String, key: &str, value: bool) -> fmt::Result {
    if value { write!(out, ", {key}=true") } else { Ok(()) }
}

fn dot(out: &mut String, inst: &HloInstructionProto) -> fmt::Result {
    if let Some(dims) = &inst.dot_dimension_numbers {
        list(out, "lhs_batch_dims", &dims.lhs_batch_dimensions)?;
        write!(out, ", lhs_contracting_dims={}", Braced(&dims.lhs_contracting_dimensions))?;
        list(out, "rhs_batch_dims", &dims.rhs_batch_dimensions)?;
        write!(out, ", rhs_contracting_dims={}", Braced(&dims.rhs_contracting_dimensions))?;
    }
    match &inst.precision_config {
        Some(config) => precision::print(out, config),
        None => Ok(()),
    }
}

fn indexing(out: &mut String, inst: &HloInstructionProto) -> fmt::Result {
    if let Some(dims) = &inst.gather_dimension_numbers {
        write!(out, ", offset_dims={}", Braced(&dims.offset_dims))?;
        write!(out, ", collapsed_slice_dims={}", Braced(&dims.collapsed_slice_dims))?;
        write!(out, ", start_index_map={}", Braced(&dims.start_index_map))?;
        list(out, "operand_batching_dims", &dims.operand_batching_dims)?;
        list(out, "start_indices_batching_dims", &dims.start_indices_batching_dims)?;
        write!(out, ", index_vector_dim={}", dims.index_vector_dim)?;
        write!(out, ", slice_sizes={}", Braced(&inst.gather_slice_sizes))?;
    }
    if let Some(dims) = &inst.scatter_dimension_numbers {
        write!(out, ", update_window_dims={}", Braced(&dims.update_window_dims))?;
        write!(out, ", inserted_window_dims={}", Braced(&dims.inserted_window_dims))?;
        write!(out, ", scatter_dims_to_operand_dims={}", Braced(&dims.scatter_dims_to_operand_dims))?;
        list(out, "input_batching_dims", &dims.input_batching_dims)?;
        list(out, "scatter_indices_batching_dims", &dims.scatter_indices_batching_dims)?;
        write!(out, ", index_vector_dim={}", dims.index_vector_dim)?;
    }
    flag(out, "indices_are_sorted", inst.indices_are_sorted)?;
    flag(out, "unique_indices", inst.unique_indices)?;
    if inst.opcode == Opcode::DynamicSlice.name() {
        write!(out, ", dynamic_slice_sizes={}", Braced(&inst.dynamic_slice_sizes))?;
    }
    Ok(())
}

fn ranges(out: &mut String, inst: &HloInstructionProto) -> fmt::Result {
    if inst.opcode == Opcode::Slice.name() {
        let strided = inst.slice_dimensions.iter().any(|range| range.stride != 1);
        out.push_str(", slice={");
        separated(out, ", ", &inst.slice_dimensions, |out, range| match strided {
            true => write!(out, "[{}:{}:{}]", range.start, range.limit, range.stride),
            false => write!(out, "[{}:{}]", range.start, range.limit),
        })?;
        out.push('}');
    }
    if let Some(padding) = &inst.padding_config {
        let interior = padding.dimensions.iter().any(|padding| padding.interior_padding != 0);
        out.push_str(", padding=");
        separated(out, "x", &padding.dimensions, |out, padding| {
            write!(out, "{}_{}", padding.edge_padding_low, padding.edge_padding_high)?;
            if interior { write!(out, "_{}", padding.interior_padding) } else { Ok(()) }
        })?;
    }
    Ok(())
}

fn collective(out: &mut String, inst: &HloInstructionProto) -> fmt::Result {
    if inst.channel_id > 0 {
        write!(out, ", channel_id={}", inst.channel_id)?;
    }
    match inst.iota_groups() {
        Some(iota) => iota_groups(out, iota)?,
        None => groups(out, &inst.groups().unwrap_or_default())?,
    }
    if inst.opcode == Opcode::CollectivePermute.name() || !inst.source_target_pairs.is_empty() {
        out.push_str(", source_target_pairs={");
        separated(out, ",", &inst.source_target_pairs, |out, pair| write!(out, "{{{},{}}}", pair.source, pair.target))?;
        out.push('}');
    }
    flag(out, "constrain_layout", inst.constrain_layout && inst.opcode != Opcode::CustomCall.name())?;
    flag(out, "use_global_device_ids", inst.use_global_device_ids)
}

fn groups(out: &mut String, groups: &[ReplicaGroup]) -> fmt::Result {
    let groups: Vec<_> = groups.iter().map(|group| Braced(&group.replica_ids)).collect();
    list(out, "replica_groups", &groups)
}

fn iota_groups(out: &mut String, iota: &IotaReplicaGroupListProto) -> fmt::Result {
    write!(out, ", replica_groups=[{},{}]", iota.num_replica_groups, iota.num_devices_per_group)?;
    iota_devices(out, &iota.iota_reshape_dims, &iota.iota_transpose_perm)
}

fn scalars(out: &mut String, inst: &HloInstructionProto) -> fmt::Result {
    match Opcode::parse(&inst.opcode) {
        Some(Opcode::GetTupleElement) => write!(out, ", index={}", inst.tuple_index)?,
        Some(Opcode::RngBitGenerator) => match RngAlgorithm::from_number(inst.rng_algorithm) {
            Some(algorithm) => write!(out, ", algorithm={}", algorithm.name())?,
            None => write!(out, ", algorithm={}", inst.rng_algorithm)?,
        },
        Some(Opcode::Compare) => write!(out, ", direction={}", inst.comparison_direction)?,
        _ => {}
    }
    if inst.comparison_type == "TOTALORDER" {
        out.push_str(", type=TOTALORDER");
    }
    if inst.exponent_bits != 0 || inst.mantissa_bits != 0 {
        write!(out, ", exponent_bits={}, mantissa_bits={}", inst.exponent_bits, inst.mantissa_bits)?;
    }
    if !inst.fusion_kind.is_empty() {
        write!(out, ", kind={}", inst.fusion_kind)?;
    }
    flag(out, "is_stable", inst.is_stable)
}
