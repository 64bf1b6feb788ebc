//! Windows and the dimensions of convolutions, in sizes and dimension numbers.

use super::{to_dim, to_dims, to_i64s};
use crate::proto;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::Dims;

/// Dimensions of a `convolution`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ConvDims {
    /// Of the input: batch, features, then spatial ones.
    pub input: Dims,
    /// Of the kernel: output features, input features, then spatial ones.
    pub kernel: Dims,
    /// Of the result: batch, features, then spatial ones.
    pub output: Dims,
}

/// A window along one dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowDim {
    /// Elements of the window.
    pub size: usize,
    /// Distance of windows, at least 1.
    pub stride: usize,
    /// Elements before the first, after dilation; negative removes.
    pub low: i64,
    /// Elements after the last; negative removes.
    pub high: i64,
    /// Distance of elements of the operand, at least 1.
    pub base_dilation: usize,
    /// Distance of elements of the window, at least 1.
    pub window_dilation: usize,
    /// Whether the window runs backwards.
    pub reversed: bool,
}

impl ConvDims {
    /// The message form.
    pub fn to_proto(&self) -> proto::ConvolutionDimensionNumbers {
        let of = |dims: &Dims, at: usize| dims.get(at).map_or(0, |&dim| dim as i64);
        proto::ConvolutionDimensionNumbers {
            kernel_input_feature_dimension: of(&self.kernel, 1),
            kernel_output_feature_dimension: of(&self.kernel, 0),
            kernel_spatial_dimensions: to_i64s(&self.kernel[2..]),
            input_batch_dimension: of(&self.input, 0),
            input_feature_dimension: of(&self.input, 1),
            output_batch_dimension: of(&self.output, 0),
            output_feature_dimension: of(&self.output, 1),
            input_spatial_dimensions: to_i64s(&self.input[2..]),
            output_spatial_dimensions: to_i64s(&self.output[2..]),
        }
    }

    /// Reads the message form; negative numbers are refused.
    pub fn from_proto(proto: &proto::ConvolutionDimensionNumbers) -> Result<Self> {
        let dims = |first: i64, second: i64, spatial: &[i64]| {
            let all: Vec<i64> = [first, second].into_iter().chain(spatial.iter().copied()).collect();
            to_dims("a dimension of a convolution", &all)
        };
        let (batch, features) = (proto.input_batch_dimension, proto.input_feature_dimension);
        let (outputs, inputs) = (proto.kernel_output_feature_dimension, proto.kernel_input_feature_dimension);
        Ok(Self {
            input: dims(batch, features, &proto.input_spatial_dimensions)?,
            kernel: dims(outputs, inputs, &proto.kernel_spatial_dimensions)?,
            output: dims(
                proto.output_batch_dimension,
                proto.output_feature_dimension,
                &proto.output_spatial_dimensions,
            )?,
        })
    }
}

impl WindowDim {
    /// A window of one element at each position.
    pub const POINT: Self =
        Self { size: 1, stride: 1, low: 0, high: 0, base_dilation: 1, window_dilation: 1, reversed: false };

    /// The positions that `size` elements take which are `by` apart.
    pub fn dilated(size: usize, by: usize) -> i128 {
        if size == 0 { 0 } else { (size as i128 - 1) * by as i128 + 1 }
    }

    /// The number of windows over `whole` positions.
    ///
    /// # Errors
    /// When a distance is 0, or the padded size does not fit.
    pub fn count(&self, whole: usize) -> Result<usize> {
        if self.stride == 0 || self.base_dilation == 0 || self.window_dilation == 0 || self.size == 0 {
            let message = "sizes, strides and dilations of a window must be at least 1";
            return Err(Diagnostic::error(codes::ATTRIBUTE, message));
        }
        let padded = Self::dilated(whole, self.base_dilation) + i128::from(self.low) + i128::from(self.high);
        let room = padded - Self::dilated(self.size, self.window_dilation);
        if padded < 0 {
            return Err(Diagnostic::error(
                codes::SHAPE,
                format!("padding of {whole} positions gives the size {padded}"),
            ));
        }
        let count = if room < 0 { 0 } else { room / self.stride as i128 + 1 };
        usize::try_from(count)
            .map_err(|_| Diagnostic::error(codes::SHAPE, format!("there are {count} windows along a dimension")))
    }

    /// The position among `whole` that element `inside` of window `number` reads, if it reads one.
    pub fn position(&self, number: usize, inside: usize, whole: usize) -> Option<usize> {
        let padded = number as i128 * self.stride as i128 + inside as i128 * self.window_dilation as i128;
        let (dilated, dilation) = (padded - i128::from(self.low), self.base_dilation.max(1) as i128);
        let position = usize::try_from(dilated / dilation).ok().filter(|_| dilated >= 0 && dilated % dilation == 0)?;
        (position < whole).then_some(position)
    }

    /// The message form.
    pub(crate) fn to_proto(self) -> proto::WindowDimension {
        proto::WindowDimension {
            size: self.size as i64,
            stride: self.stride as i64,
            padding_low: self.low,
            padding_high: self.high,
            window_dilation: self.window_dilation as i64,
            base_dilation: self.base_dilation as i64,
            window_reversal: self.reversed,
        }
    }

    /// Reads the message form; negative sizes, strides and dilations are refused.
    pub fn from_proto(proto: &proto::WindowDimension) -> Result<Self> {
        Ok(Self {
            size: to_dim("the size of a window", proto.size)?,
            stride: to_dim("the stride of a window", proto.stride)?,
            low: proto.padding_low,
            high: proto.padding_high,
            base_dilation: to_dim("the dilation of an operand", proto.base_dilation)?,
            window_dilation: to_dim("the dilation of a window", proto.window_dilation)?,
            reversed: proto.window_reversal,
        })
    }
}
