//! Windows, and the dimensions of convolutions.

use super::reader::Reader;
use crate::proto::{ConvolutionDimensionNumbers, Window, WindowDimension};
use halite_support::{Diagnostic, Result, codes};

/// A number along each dimension of a window, and what it is.
type Part<'a> = (&'a str, Vec<(i64, i64)>, (usize, usize));

impl Reader<'_> {
    /// `{size=2x2 stride=1x2 pad=0_1x0_0}`.
    pub(super) fn window(&mut self) -> Result<Window> {
        let mut dimensions: Vec<WindowDimension> = Vec::new();
        self.cursor.expect(b'{')?;
        while !self.cursor.eat(b'}') {
            let (key, numbers, place) = self.part()?;
            if key == "size" {
                let usual =
                    WindowDimension { stride: 1, window_dilation: 1, base_dilation: 1, ..WindowDimension::default() };
                dimensions = numbers.iter().map(|&(size, _)| WindowDimension { size, ..usual }).collect();
                continue;
            }
            if numbers.len() != dimensions.len() {
                let message = format!("the window has {} dimensions, found {}", dimensions.len(), numbers.len());
                return Err(self.misfit(place, &message));
            }
            for (dimension, (first, second)) in dimensions.iter_mut().zip(numbers) {
                match key {
                    "stride" => dimension.stride = first,
                    "pad" => (dimension.padding_low, dimension.padding_high) = (first, second),
                    "lhs_dilate" => dimension.base_dilation = first,
                    "rhs_dilate" => dimension.window_dilation = first,
                    _ => dimension.window_reversal = first != 0,
                }
            }
        }
        Ok(Window { dimensions })
    }

    /// `stride=1x2`, where each number may have a second: `0_1`.
    fn part(&mut self) -> Result<Part<'static>> {
        let start = self.cursor.at_next();
        let word = self.cursor.word()?;
        let known = ["size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"];
        let Some(key) = known.into_iter().find(|known| *known == word) else {
            let fault = Diagnostic::error(codes::ATTRIBUTE, format!("a window has no `{word}`"));
            let place = self.cursor.span((start, self.cursor.at));
            return Err(fault.at(place, "here").help(halite_support::nearest::suggestion(word, &known)));
        };
        self.cursor.expect(b'=')?;
        let is_padding = key == "pad";
        let (word, place) = self.joined();
        let one = |part: &str| match part.split_once('_') {
            Some((low, high)) if is_padding => Some((low.parse().ok()?, high.parse().ok()?)),
            None if !is_padding => Some((part.parse().ok()?, 0)),
            _ => None,
        };
        match word.split('x').map(one).collect() {
            Some(numbers) => Ok((key, numbers, place)),
            None => Err(self.cursor.fault(place, "expected a number for each dimension, such as `1x2`", "here")),
        }
    }

    /// `bf01_oi01->bf01`: which dimension is which, of the input, the kernel and the output.
    pub(super) fn dim_labels(&mut self) -> Result<ConvolutionDimensionNumbers> {
        let start = self.cursor.at_next();
        let operands = self.joined().0.trim_end_matches('-');
        let parts = operands.split_once('_').map(|(input, kernel)| (input.to_owned(), kernel.to_owned()));
        self.cursor.eat(b'>');
        let output = self.joined().0.to_owned();
        let place = (start, self.cursor.at);
        let numbers = parts.and_then(|(input, kernel)| {
            let (input, kernel) = (Labels::of(&input, ['b', 'f'])?, Labels::of(&kernel, ['i', 'o'])?);
            let output = Labels::of(&output, ['b', 'f'])?;
            let spatial = input.spatial.len();
            ([kernel.spatial.len(), output.spatial.len()] == [spatial; 2]).then(|| ConvolutionDimensionNumbers {
                input_batch_dimension: input.named[0],
                input_feature_dimension: input.named[1],
                input_spatial_dimensions: input.spatial,
                kernel_input_feature_dimension: kernel.named[0],
                kernel_output_feature_dimension: kernel.named[1],
                kernel_spatial_dimensions: kernel.spatial,
                output_batch_dimension: output.named[0],
                output_feature_dimension: output.named[1],
                output_spatial_dimensions: output.spatial,
            })
        });
        numbers.ok_or_else(|| self.cursor.fault(place, "expected dimensions such as `bf01_oi01->bf01`", "here"))
    }
}

/// The dimensions that letters and digits name.
struct Labels {
    named: [i64; 2],
    spatial: Vec<i64>,
}

impl Labels {
    /// Each letter and each digit from 0 stands once, in any order; `None` where they do not.
    fn of(word: &str, letters: [char; 2]) -> Option<Self> {
        let count = word.chars().count().checked_sub(2)?;
        let at = |label: char| word.chars().position(|own| own == label).map(|at| at as i64);
        let spatial: Option<Vec<i64>> =
            (0..count).map(|number| at(char::from_digit(u32::try_from(number).ok()?, 10)?)).collect();
        Some(Self { named: [at(letters[0])?, at(letters[1])?], spatial: spatial? })
    }
}
