//! The attributes of instructions: one table with a row each.

use super::instruction::Line;
use super::reader::Reader;
use crate::opcode::Opcode::{self, *};
use crate::opcode::{Comparison, RngAlgorithm};
use crate::proto::OpMetadata;
use crate::text::precision::{ALGORITHMS, PRECISIONS};
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Result, codes};
use smallvec::smallvec;

/// The reader of a value, from behind the `=`.
type Read = for<'t> fn(&mut Reader<'t>, &mut Line) -> Result<()>;

/// An attribute.
struct Row {
    name: &'static str,
    /// The opcodes of our set that have it always.
    needed: &'static [Opcode],
    /// The opcodes of our set that may have it. Those outside of it may have any that is not `alone`.
    taken: &'static [Opcode],
    /// Whether any instruction may have it.
    is_general: bool,
    /// Whether only the listed opcodes may have it: it is printed of no others.
    is_alone: bool,
    read: Read,
}

impl Row {
    const fn new(name: &'static str, read: Read) -> Self {
        Self { name, needed: &[], taken: &[], is_general: false, is_alone: false, read }
    }

    const fn needed(self, needed: &'static [Opcode]) -> Self {
        Self { needed, ..self }
    }

    const fn taken(self, taken: &'static [Opcode]) -> Self {
        Self { taken, ..self }
    }

    const fn general(self) -> Self {
        Self { is_general: true, ..self }
    }

    const fn alone(self) -> Self {
        Self { is_alone: true, ..self }
    }

    /// Whether an instruction may have it.
    fn is_of(&self, opcode: Option<Opcode>) -> bool {
        let listed = |opcode: &Opcode| self.needed.contains(opcode) || self.taken.contains(opcode);
        self.is_general || opcode.as_ref().map_or(!self.is_alone, listed)
    }
}

/// Reads a value into what it is kept in.
macro_rules! into {
    ($inst:ident, $place:expr, $method:ident) => {
        |reader, line| {
            let $inst = &mut line.inst;
            $place = reader.$method()?;
            Ok(())
        }
    };
}

/// Reads a list of dimensions of a field that is made with the first.
macro_rules! dims {
    ($field:ident.$list:ident) => {
        into!(inst, inst.$field.get_or_insert_default().$list, integers)
    };
}

/// The table.
const ROWS: &[Row] = &[
    Row::new("metadata", |reader, line| {
        let metadata = reader.metadata()?;
        line.inst.metadata = (metadata != OpMetadata::default()).then(|| metadata.into());
        Ok(())
    })
    .general(),
    Row::new("sharding", |reader, line| {
        line.inst.sharding = Some(Box::new(reader.sharding()?));
        Ok(())
    })
    .general(),
    Row::new("frontend_attributes", |reader, line| {
        line.inst.frontend_attributes = reader.frontend_attributes()?.map(Box::new);
        Ok(())
    })
    .general(),
    Row::new("backend_config", |reader, line| {
        line.inst.backend_config = reader.string_or_object()?.into_bytes();
        Ok(())
    })
    .general(),
    Row::new("control-predecessors", |reader, line| reader.control_predecessors(line)).general(),
    Row::new("origin", skip).general(),
    Row::new("statistics", skip).general(),
    Row::new("parameter_replication", skip).taken(&[Parameter]),
    Row::new("dimensions", |reader, line| {
        line.inst.dimensions = reader.integers()?.into();
        Ok(())
    })
    .needed(&[Broadcast, Reduce, Transpose, Reverse, Concatenate, AllGather, ReduceScatter])
    .taken(&[AllToAll]),
    Row::new("iota_dimension", |reader, line| {
        line.inst.dimensions = smallvec![reader.cursor.integer()?];
        Ok(())
    })
    .needed(&[Iota]),
    Row::new("index", |reader, line| {
        line.inst.tuple_index = reader.cursor.integer()?;
        Ok(())
    })
    .needed(&[GetTupleElement])
    .alone(),
    Row::new("to_apply", |reader, line| reader.callee(line, 0))
        .needed(&[AllReduce, ReduceScatter, Reduce, ReduceWindow, Scatter, Call])
        .taken(&[CustomCall]),
    Row::new("called_computations", |reader, line| reader.callees(line)).taken(&[CustomCall]),
    Row::new("calls", |reader, line| reader.callees(line)).taken(&[CustomCall]),
    Row::new("branch_computations", |reader, line| reader.callees(line)),
    Row::new("true_computation", |reader, line| reader.callee(line, 0)),
    Row::new("false_computation", |reader, line| reader.callee(line, 1)),
    Row::new("body", |reader, line| reader.callee(line, 0)),
    Row::new("condition", |reader, line| reader.callee(line, 1)),
    Row::new("select", |reader, line| reader.callee(line, 0)).needed(&[SelectAndScatter]),
    Row::new("scatter", |reader, line| reader.callee(line, 1)).needed(&[SelectAndScatter]),
    Row::new("is_composite", skip).taken(&[Call]),
    Row::new("lhs_batch_dims", dims!(dot_dimension_numbers.lhs_batch_dimensions)).taken(&[Dot]),
    Row::new("lhs_contracting_dims", dims!(dot_dimension_numbers.lhs_contracting_dimensions)).taken(&[Dot]),
    Row::new("rhs_batch_dims", dims!(dot_dimension_numbers.rhs_batch_dimensions)).taken(&[Dot]),
    Row::new("rhs_contracting_dims", dims!(dot_dimension_numbers.rhs_contracting_dimensions)).taken(&[Dot]),
    Row::new("operand_precision", |reader, line| reader.operand_precision(line)).taken(&[Dot, Convolution, CustomCall]),
    Row::new("algorithm", |reader, line| reader.algorithm(line)).needed(&[RngBitGenerator]).taken(&[Dot]).alone(),
    Row::new("offset_dims", dims!(gather_dimension_numbers.offset_dims)).needed(&[Gather]),
    Row::new("collapsed_slice_dims", dims!(gather_dimension_numbers.collapsed_slice_dims)).needed(&[Gather]),
    Row::new("start_index_map", dims!(gather_dimension_numbers.start_index_map)).needed(&[Gather]),
    Row::new("operand_batching_dims", dims!(gather_dimension_numbers.operand_batching_dims)).taken(&[Gather]),
    Row::new("start_indices_batching_dims", dims!(gather_dimension_numbers.start_indices_batching_dims))
        .taken(&[Gather]),
    Row::new("slice_sizes", into!(inst, inst.gather_slice_sizes, integers)).needed(&[Gather]).alone(),
    Row::new("index_vector_dim", |reader, line| {
        let dim = reader.cursor.integer()?;
        match line.opcode {
            Some(Gather) => line.inst.gather_dimension_numbers.get_or_insert_default().index_vector_dim = dim,
            _ => line.inst.scatter_dimension_numbers.get_or_insert_default().index_vector_dim = dim,
        }
        Ok(())
    })
    .needed(&[Gather, Scatter]),
    Row::new("update_window_dims", dims!(scatter_dimension_numbers.update_window_dims)).needed(&[Scatter]),
    Row::new("inserted_window_dims", dims!(scatter_dimension_numbers.inserted_window_dims)).needed(&[Scatter]),
    Row::new("scatter_dims_to_operand_dims", dims!(scatter_dimension_numbers.scatter_dims_to_operand_dims))
        .needed(&[Scatter]),
    Row::new("input_batching_dims", dims!(scatter_dimension_numbers.input_batching_dims)).taken(&[Scatter]),
    Row::new("scatter_indices_batching_dims", dims!(scatter_dimension_numbers.scatter_indices_batching_dims))
        .taken(&[Scatter]),
    Row::new("indices_are_sorted", into!(inst, inst.indices_are_sorted, flag)).taken(&[Gather, Scatter]),
    Row::new("unique_indices", into!(inst, inst.unique_indices, flag)).taken(&[Gather, Scatter]),
    Row::new("dynamic_slice_sizes", into!(inst, inst.dynamic_slice_sizes, integers)).needed(&[DynamicSlice]).alone(),
    Row::new("slice", into!(inst, inst.slice_dimensions, ranges)).needed(&[Slice]).alone(),
    Row::new("padding", |reader, line| {
        line.inst.padding_config = Some(Box::new(reader.padding()?));
        Ok(())
    })
    .needed(&[Pad]),
    Row::new("window", |reader, line| {
        line.inst.window = Some(Box::new(reader.window()?));
        Ok(())
    })
    .taken(&[Convolution, CustomCall, ReduceWindow, SelectAndScatter]),
    Row::new("dim_labels", |reader, line| {
        line.inst.convolution_dimension_numbers = Some(Box::new(reader.dim_labels()?));
        Ok(())
    })
    .needed(&[Convolution])
    .taken(&[CustomCall]),
    Row::new("feature_group_count", |reader, line| {
        line.inst.feature_group_count = reader.positive()?;
        Ok(())
    })
    .taken(&[Convolution, CustomCall]),
    Row::new("batch_group_count", |reader, line| {
        line.inst.batch_group_count = reader.positive()?;
        Ok(())
    })
    .taken(&[Convolution, CustomCall]),
    Row::new("channel_id", |reader, line| {
        line.inst.channel_id = reader.positive()?;
        Ok(())
    })
    .taken(&[AllGather, AllReduce, AllToAll, CollectivePermute, ReduceScatter]),
    Row::new("replica_groups", |reader, line| reader.replica_groups(&mut line.inst)).taken(&[
        AllGather,
        AllReduce,
        AllToAll,
        ReduceScatter,
    ]),
    Row::new("source_target_pairs", into!(inst, inst.source_target_pairs, pairs)).needed(&[CollectivePermute]),
    Row::new("constrain_layout", into!(inst, inst.constrain_layout, flag)).taken(&[
        AllGather,
        AllReduce,
        AllToAll,
        ReduceScatter,
    ]),
    Row::new("use_global_device_ids", into!(inst, inst.use_global_device_ids, flag)).taken(&[
        AllGather,
        AllReduce,
        ReduceScatter,
    ]),
    Row::new("direction", |reader, line| reader.direction(line)).needed(&[Compare]).alone(),
    Row::new("type", |reader, line| reader.order(line)).taken(&[Compare]),
    Row::new("exponent_bits", into!(inst, inst.exponent_bits, small)),
    Row::new("mantissa_bits", into!(inst, inst.mantissa_bits, small)),
    Row::new("kind", |reader, line| {
        reader.cursor.word()?.clone_into(&mut line.inst.fusion_kind);
        Ok(())
    }),
    Row::new("is_stable", into!(inst, inst.is_stable, flag)),
    Row::new("custom_call_target", into!(inst, inst.custom_call_target, string)).needed(&[CustomCall]).alone(),
    Row::new("custom_call_has_side_effect", into!(inst, inst.custom_call_has_side_effect, flag))
        .taken(&[CustomCall])
        .alone(),
    Row::new("api_version", |reader, line| reader.api_version(line)).taken(&[CustomCall]).alone(),
    Row::new("operand_layout_constraints", |reader, line| {
        line.inst.constrain_layout = true;
        reader.skip_value()
    })
    .taken(&[CustomCall]),
    Row::new("output_to_operand_aliasing", skip).taken(&[CustomCall]),
    Row::new("custom_call_schedule", skip).taken(&[CustomCall]),
    Row::new("schedule", skip).taken(&[CustomCall]),
    Row::new("literal", skip).taken(&[CustomCall]),
    Row::new("padding_type", skip).taken(&[CustomCall]),
    Row::new("async_execution_thread", skip),
    Row::new("cross_program_prefetch_index", skip),
    Row::new("distribution", skip),
    Row::new("fft_type", skip),
    Row::new("fft_length", skip),
    Row::new("epsilon", skip),
    Row::new("feature_index", skip),
    Row::new("left_side", skip),
    Row::new("lower", skip),
    Row::new("unit_diagonal", skip),
    Row::new("transpose_a", skip),
    Row::new("is_host_transfer", skip),
    Row::new("infeed_config", skip),
    Row::new("outfeed_config", skip),
    Row::new("outfeed_shape", skip),
    Row::new("delta", skip),
    Row::new("domain", skip),
    Row::new("k", skip),
    Row::new("largest", skip),
];

/// A value that the messages have no field for.
fn skip(reader: &mut Reader<'_>, _: &mut Line) -> Result<()> {
    reader.skip_value()
}

impl Reader<'_> {
    /// `, key=value` as often as it is there.
    pub(super) fn attributes(&mut self, line: &mut Line) -> Result<()> {
        let mut seen = 0_u128;
        while self.cursor.eat(b',') {
            let start = self.cursor.at_next();
            let name = self.name("the name of an attribute")?;
            let place = (start, self.cursor.at);
            let Some(number) = ROWS.iter().position(|row| row.name == name && row.is_of(line.opcode)) else {
                return Err(self.unknown(line, name, place));
            };
            if seen & 1 << number != 0 {
                let fault = Diagnostic::error(codes::DUPLICATE, format!("the attribute `{name}` is given twice"));
                return Err(fault.at(self.cursor.span(place), "the second"));
            }
            seen |= 1 << number;
            self.cursor.expect(b'=')?;
            (ROWS[number].read)(self, line)?;
        }
        let Some(opcode) = line.opcode else { return Ok(()) };
        let is_missing = |(number, row): &(usize, &Row)| row.needed.contains(&opcode) && seen & 1 << number == 0;
        match ROWS.iter().enumerate().find(is_missing) {
            None => Ok(()),
            Some((_, row)) => {
                let message = format!("`{}` has no `{}`", line.inst.opcode, row.name);
                Err(Diagnostic::error(codes::ATTRIBUTE, message).at(self.cursor.span(line.place), "this instruction"))
            }
        }
    }

    fn unknown(&self, line: &Line, name: &str, place: (usize, usize)) -> Diagnostic {
        let message = format!("`{}` has no attribute `{name}`", line.inst.opcode);
        let names: Vec<&str> = ROWS.iter().filter(|row| row.is_of(line.opcode)).map(|row| row.name).collect();
        Diagnostic::error(codes::ATTRIBUTE, message)
            .at(self.cursor.span(place), "this attribute")
            .help(suggestion(name, &names))
    }

    /// `{%a, %b}`.
    fn control_predecessors(&mut self, line: &mut Line) -> Result<()> {
        self.cursor.expect(b'{')?;
        self.separated(b'}', |reader| {
            if let Some(at) = reader.defined()? {
                line.inst.control_predecessor_ids.push(reader.instructions[at].id);
            }
            Ok(())
        })
    }

    /// `{highest,default}`.
    fn operand_precision(&mut self, line: &mut Line) -> Result<()> {
        let mut config = line.inst.precision_config.take().unwrap_or_default();
        self.cursor.expect(b'{')?;
        self.separated(b'}', |reader| {
            let word = reader.cursor.peek_word();
            let Some(number) = PRECISIONS.iter().position(|name| *name == word) else {
                return Err(reader.cursor.unexpected("`default`, `high` or `highest`"));
            };
            config.operand_precision.push(number as i32);
            reader.cursor.word().map(drop)
        })?;
        let is_usual = config.algorithm == 0 && config.operand_precision.iter().all(|precision| *precision == 0);
        line.inst.precision_config = Some(config).filter(|_| !is_usual);
        Ok(())
    }

    /// The generator of random bits, or the way in which a product is computed.
    fn algorithm(&mut self, line: &mut Line) -> Result<()> {
        let start = self.cursor.at_next();
        let word = self.cursor.word()?;
        if line.opcode == Some(Dot) {
            let Some(number) = ALGORITHMS.iter().position(|name| *name == word) else {
                let fault = self.misfit((start, self.cursor.at), &format!("`{word}` is no algorithm of a product"));
                return Err(fault.help(suggestion(word, &ALGORITHMS)));
            };
            line.inst.precision_config.get_or_insert_default().algorithm = number as i32;
            return Ok(());
        }
        let known = [RngAlgorithm::Default, RngAlgorithm::ThreeFry, RngAlgorithm::Philox];
        let Some(algorithm) = known.into_iter().find(|algorithm| algorithm.name() == word) else {
            let fault = self.misfit((start, self.cursor.at), &format!("`{word}` is no generator of random bits"));
            return Err(fault.help(suggestion(word, &known.map(RngAlgorithm::name))));
        };
        line.inst.rng_algorithm = algorithm as i32;
        Ok(())
    }

    fn direction(&mut self, line: &mut Line) -> Result<()> {
        let start = self.cursor.at_next();
        let word = self.cursor.word()?;
        let Some(direction) = Comparison::parse(word) else {
            let names: Vec<&str> = Comparison::ALL.iter().map(|direction| direction.name()).collect();
            let fault = self.misfit((start, self.cursor.at), &format!("`{word}` is no direction of a comparison"));
            return Err(fault.help(suggestion(word, &names)));
        };
        direction.name().clone_into(&mut line.inst.comparison_direction);
        Ok(())
    }

    /// The order of the elements that are compared.
    fn order(&mut self, line: &mut Line) -> Result<()> {
        let start = self.cursor.at_next();
        let word = self.cursor.word()?;
        let usual = self.usual_order(&line.inst);
        if word != "TOTALORDER" && word != usual {
            let message = format!("the order of these elements is `{usual}`, and of floats `TOTALORDER` too");
            return Err(self.misfit((start, self.cursor.at), &message));
        }
        word.clone_into(&mut line.inst.comparison_type);
        Ok(())
    }

    fn api_version(&mut self, line: &mut Line) -> Result<()> {
        line.inst.custom_call_api_version = match self.cursor.peek_word() {
            "API_VERSION_UNSPECIFIED" => 0,
            "API_VERSION_ORIGINAL" => 1,
            "API_VERSION_STATUS_RETURNING" => 2,
            "API_VERSION_STATUS_RETURNING_UNIFIED" => 3,
            "API_VERSION_TYPED_FFI" => 4,
            _ => return Err(self.cursor.unexpected("a version such as `API_VERSION_TYPED_FFI`")),
        };
        self.cursor.word().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_few_enough_to_be_counted_in_bits() {
        assert!(ROWS.len() <= 128, "{}", ROWS.len());
    }
}
