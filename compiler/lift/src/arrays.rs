//! The arrays that a value of HLO is: one, or those of a tuple in order.

use halite_hlo::proto::{ShapeProto, Shared};
use halite_ir::{TensorType, Value};
use halite_tensor::{DType, Shape, element_type};
use std::rc::Rc;

/// A value of HLO.
#[derive(Clone, Debug)]
pub(crate) struct Arrays {
    pub(crate) values: Rc<[Value]>,
    /// The start of each element of a tuple, and the end of the last.
    starts: Option<Rc<[usize]>>,
}

impl Arrays {
    /// The value of this shape that these arrays are; `None` where they are not as many as it has.
    pub(crate) fn new(shape: &ShapeProto, values: &[Value]) -> Option<Self> {
        let starts: Option<Rc<[usize]>> = shape.is_tuple().then(|| {
            let end = |at: &mut usize, element: &Shared<ShapeProto>| {
                *at += element.arrays().len();
                Some(*at)
            };
            std::iter::once(0).chain(shape.tuple_shapes.iter().scan(0, end)).collect()
        });
        let count = starts.as_ref().map_or(1, |starts| starts[starts.len() - 1]);
        (count == values.len()).then(|| Self { values: values.into(), starts })
    }

    /// The arrays of an element of a tuple.
    pub(crate) fn element(&self, index: usize) -> Option<&[Value]> {
        let starts = self.starts.as_ref()?;
        self.values.get(*starts.get(index)?..*starts.get(index.checked_add(1)?)?)
    }
}

/// The types of the arrays of a shape; `None` where a size is not static or cannot be.
///
/// Types that we lack are taken for those that are most like them: the sharding of an array does not depend on its elements.
pub(crate) fn types(shape: &ShapeProto) -> Option<Vec<TensorType>> {
    shape.arrays().into_iter().map(array_type).collect()
}

fn array_type(shape: &ShapeProto) -> Option<TensorType> {
    let dtype = shape.dtype().or_else(|| stand_in(element_type::name(shape.element_type)?))?;
    let sizes: Option<Shape> = shape.dimensions.iter().map(|&size| usize::try_from(size).ok()).collect();
    let sizes = sizes.filter(|sizes| !shape.is_dynamic() && sizes.num_bytes(dtype).is_some())?;
    Some(TensorType::new(dtype, sizes))
}

fn stand_in(name: &str) -> Option<DType> {
    Some(match name {
        "c64" => DType::F32,
        "c128" => DType::F64,
        "token" | "opaque" => DType::Pred,
        name if name.starts_with('f') => DType::F16,
        name if name.starts_with('u') => DType::U8,
        _ => DType::S8,
    })
}
