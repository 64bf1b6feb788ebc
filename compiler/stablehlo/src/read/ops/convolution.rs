//! Convolutions.

use super::dot::precision;
use crate::read::attribute::{Attribute, Value};
use crate::read::body::Val;
use crate::read::op::Op;
use crate::read::reader::Reader;
use halite_hlo::proto::{ConvolutionDimensionNumbers, Window, WindowDimension};
use halite_support::{Result, codes};

/// The attribute of dimensions.
const NUMBERS: &str = "dimension_numbers";

/// `(%x, %kernel) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {..} {..} : types`.
pub(super) fn pretty<'t>(reader: &mut Reader<'t>, op: &mut Op<'t>, _: usize) -> Result<()> {
    reader.cursor.expect(b'(')?;
    op.is_whole = reader.values(&mut op.operands)?;
    reader.cursor.expect(b')')?;
    reader.cursor.expect_all("dim_numbers")?;
    reader.cursor.expect(b'=')?;
    let start = reader.cursor.at_next();
    reader.cursor.group()?;
    reader.cursor.expect_all("x")?;
    reader.cursor.group()?;
    reader.cursor.expect_all("->")?;
    reader.cursor.group()?;
    let place = (start, reader.cursor.at);
    op.attributes.push(NUMBERS, Attribute { value: Value::Dialect("stablehlo.conv", place), place });
    if reader.cursor.eat(b',') {
        reader.cursor.expect_all("window")?;
        reader.cursor.expect(b'=')?;
        reader.attributes_of(op)?;
    }
    reader.attributes_of(op)?;
    reader.cursor.expect(b':')?;
    reader.types_of(op)
}

pub(super) fn convolution<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let numbers = op.attributes.take(NUMBERS).ok_or_else(|| reader.missing(&op, NUMBERS))?;
    let numbers = dimensions(reader, &numbers)?;
    let window = window(reader, &mut op, &numbers)?;
    let precision = precision(reader, &mut op)?;
    let counts = ["feature_group_count", "batch_group_count"].map(|name| match op.attributes.get(name) {
        Some(_) => reader.int(&mut op, [name; 2]),
        None => Ok(1),
    });
    let [features, batches] = counts;
    let (features, batches) = (features?, batches?);
    reader.emit(op, |inst| {
        inst.convolution_dimension_numbers = Some(Box::new(numbers));
        inst.window = Some(Box::new(window));
        inst.precision_config = precision.map(Box::new);
        inst.feature_group_count = features;
        inst.batch_group_count = batches;
    })
}

/// Dimensions as `[b, 0, f]x[0, i, o]->[b, 0, f]`: those of the input, the kernel and the result.
fn dimensions<'t>(reader: &Reader<'t>, attribute: &Attribute<'t>) -> Result<ConvolutionDimensionNumbers> {
    let Value::Dialect(_, (start, end)) = attribute.value else {
        return Err(reader.misfit(attribute, "dimensions of a convolution"));
    };
    let lists = reader.cursor.slice(start, end).split(['[', ']']).skip(1).step_by(2);
    let lists: Vec<Vec<&str>> = lists.map(|list| list.split(',').map(str::trim).collect()).collect();
    let misfit = || reader.misfit(attribute, "dimensions such as `[b, 0, f]x[0, i, o]->[b, 0, f]`");
    let [input, kernel, output] = &lists[..] else { return Err(misfit()) };
    let of = |list: &[&str], name: &str| list.iter().position(|&own| own == name).map(|at| at as i64);
    let spatial = |list: &[&str]| {
        let numbers = 0..list.len().saturating_sub(2);
        numbers.map(|number| of(list, &number.to_string())).collect::<Option<Vec<i64>>>()
    };
    let read = || {
        Some(ConvolutionDimensionNumbers {
            input_batch_dimension: of(input, "b")?,
            input_feature_dimension: of(input, "f")?,
            input_spatial_dimensions: spatial(input)?,
            kernel_input_feature_dimension: of(kernel, "i")?,
            kernel_output_feature_dimension: of(kernel, "o")?,
            kernel_spatial_dimensions: spatial(kernel)?,
            output_batch_dimension: of(output, "b")?,
            output_feature_dimension: of(output, "f")?,
            output_spatial_dimensions: spatial(output)?,
        })
    };
    let ranks = [input, kernel, output].map(Vec::len);
    read().filter(|_| ranks.iter().all(|&rank| rank == ranks[0])).ok_or_else(misfit)
}

/// The window, whose sizes are those of the kernel. What is not said of it is 1, and 0 of padding.
fn window<'t>(reader: &Reader<'t>, op: &mut Op<'t>, numbers: &ConvolutionDimensionNumbers) -> Result<Window> {
    let spatial = &numbers.kernel_spatial_dimensions;
    let rank = spatial.len();
    let kernel = op.operands.get(1).map(|kernel| reader.types.array(kernel.ty));
    let Some(kernel) = kernel.filter(|kernel| kernel.rank() == rank + 2) else {
        return Err(reader.fault_of(op, codes::SHAPE, "has a kernel of another rank than its dimensions"));
    };
    let padding = op.take(["padding", "pad"]).map(|padding| reader.table(&padding)).transpose()?;
    let padding = padding.unwrap_or_else(|| vec![vec![0, 0]; rank]);
    let lists = [["window_strides", "stride"], ["rhs_dilation", "rhs_dilate"], ["lhs_dilation", "lhs_dilate"]];
    let [strides, dilations, base] =
        lists.map(|names| reader.maybe_list(op, names).map(|list| list.unwrap_or_else(|| vec![1; rank])));
    let reversal = reader.maybe_list(op, ["window_reversal", "reverse"])?.unwrap_or_else(|| vec![0; rank]);
    let lists = [strides?, dilations?, base?, reversal];
    let is_sound = lists.iter().all(|list| list.len() == rank)
        && lists[..3].iter().flatten().all(|&number| number > 0)
        && padding.len() == rank
        && padding.iter().all(|pair| pair.len() == 2);
    if !is_sound {
        return Err(reader.fault_of(op, codes::ATTRIBUTE, "has a window that does not fit its kernel"));
    }
    let [strides, dilations, base, reversal] = lists;
    let dimension = |at: usize| WindowDimension {
        size: kernel.shape[spatial[at] as usize] as i64,
        stride: strides[at],
        padding_low: padding[at][0],
        padding_high: padding[at][1],
        window_dilation: dilations[at],
        base_dilation: base[at],
        window_reversal: reversal[at] != 0,
    };
    Ok(Window { dimensions: (0..rank).map(dimension).collect() })
}
