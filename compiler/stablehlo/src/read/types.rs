//! Types of values, each different one once.

use halite_hlo::proto::{ShapeProto, Shared};
use halite_hlo::{ArrayType, Type};
use halite_support::{Cursor, Diagnostic, Result, codes};
use halite_tensor::{DType, Shape};
use rustc_hash::FxHashMap;

/// A type of the text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct TypeId(u32);

/// The types of a text so far.
#[derive(Debug, Default)]
pub(crate) struct Types<'t> {
    by_text: FxHashMap<&'t str, TypeId>,
    by_type: FxHashMap<ArrayType, TypeId>,
    types: Vec<(ArrayType, Shared<ShapeProto>)>,
}

impl<'t> Types<'t> {
    /// The type of tensors that is next.
    pub(crate) fn read(&mut self, cursor: &mut Cursor<'t>) -> Result<TypeId> {
        let start = cursor.at_next();
        if !cursor.eat_word("tensor") {
            return Err(no_tensor(cursor));
        }
        let inside = cursor.group()?;
        let text = cursor.slice(inside.0, inside.1);
        if let Some(&known) = self.by_text.get(text) {
            return Ok(known);
        }
        let ty = parsed(text).map_err(|(code, message, help)| {
            Diagnostic::error(code, message).at(cursor.span((start, cursor.at)), "this type").help(help)
        })?;
        let id = self.of(ty);
        self.by_text.insert(text, id);
        Ok(id)
    }

    /// The number of a type.
    pub(crate) fn of(&mut self, ty: ArrayType) -> TypeId {
        if let Some(&known) = self.by_type.get(&ty) {
            return known;
        }
        let id = TypeId(self.types.len() as u32);
        self.types.push((ty.clone(), Type::Array(ty.clone()).to_proto().into()));
        self.by_type.insert(ty, id);
        id
    }

    pub(crate) fn array(&self, id: TypeId) -> &ArrayType {
        &self.types[id.0 as usize].0
    }

    /// The message form of a type.
    pub(crate) fn shape(&self, id: TypeId) -> Shared<ShapeProto> {
        self.types[id.0 as usize].1.clone()
    }
}

type Refused = (halite_support::Code, String, &'static str);

/// Sizes and elements between the marks of `tensor<..>`.
fn parsed(text: &str) -> std::result::Result<ArrayType, Refused> {
    let mut rest = text.trim();
    let mut sizes = Vec::new();
    while let Some((size, after)) = split_size(rest) {
        let size = size.parse::<usize>().map_err(|_| too_large(text))?;
        sizes.push(size);
        rest = after;
    }
    let dtype = element(rest).ok_or_else(|| refused(text, rest))?;
    let ty = ArrayType { dtype, shape: sizes.into_iter().collect::<Shape>() };
    if ty.num_elements().is_none() { Err(too_large(text)) } else { Ok(ty) }
}

fn split_size(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (size, after) = text.split_at(digits);
    Some((size, after.strip_prefix('x')?)).filter(|_| digits > 0)
}

fn element(word: &str) -> Option<DType> {
    Some(match word {
        "i1" => DType::Pred,
        "i8" => DType::S8,
        "i16" => DType::S16,
        "i32" => DType::S32,
        "i64" => DType::S64,
        "ui8" => DType::U8,
        "ui16" => DType::U16,
        "ui32" => DType::U32,
        "ui64" => DType::U64,
        "f16" => DType::F16,
        "bf16" => DType::Bf16,
        "f32" => DType::F32,
        "f64" => DType::F64,
        _ => return None,
    })
}

fn too_large(text: &str) -> Refused {
    (codes::SHAPE, format!("`tensor<{text}>` has more bytes than fit in 63 bits"), "correct the sizes")
}

/// The reason for which a type is not one of ours.
fn refused(text: &str, rest: &str) -> Refused {
    let of = |reason: &str, help| (codes::FOREIGN, format!("`tensor<{text}>` {reason}"), help);
    if rest.starts_with(['?', '*']) {
        return of("has sizes that are not known before it runs", "export the program with fixed sizes");
    }
    if rest.starts_with("complex<") {
        return of("has complex elements", "compute with real and imaginary parts as tensors of their own");
    }
    if rest.starts_with("!quant") {
        return of("has quantized elements", "export the program before it is quantized");
    }
    if rest.contains(',') {
        return of("has an encoding", "export the program with plain tensors");
    }
    of("has elements that Halite does not compute with", "take i1, i8 to i64, ui8 to ui64, f16, bf16, f32 or f64")
}

/// The fault of what is no tensor.
fn no_tensor(cursor: &mut Cursor<'_>) -> Diagnostic {
    let start = cursor.at_next();
    let here = *cursor;
    let refused = |message: &str, end: usize, help: &str| {
        Diagnostic::error(codes::FOREIGN, message).at(here.span((start, end)), "this type").help(help)
    };
    let word = cursor.peek_word();
    match word {
        "tuple" => refused("tuples are not taken", start + 5, "export the program with several results in their place"),
        "memref" | "vector" | "index" => {
            refused(&format!("`{word}` is not taken"), start + word.len(), "export the program with tensors alone")
        }
        _ if cursor.peek() == b'!' => {
            let name = cursor.name(b'!', "a type").unwrap_or_default();
            refused(
                &format!("the type `!{name}` is not taken"),
                start + 1 + name.len(),
                "export the program with tensors alone",
            )
        }
        _ => cursor.unexpected("a type such as `tensor<4x8xf32>`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_support::FileId;

    fn read(text: &str) -> Result<ArrayType> {
        let mut types = Types::default();
        let id = types.read(&mut Cursor::new(text, FileId::of("a", text)))?;
        Ok(types.array(id).clone())
    }

    #[test]
    fn tensors_have_sizes_and_elements() {
        assert_eq!(read("tensor<4x0x8xbf16>").unwrap(), ArrayType::new(DType::Bf16, [4, 0, 8]));
        assert_eq!(read(" tensor<i1>").unwrap(), ArrayType::scalar(DType::Pred));
    }

    #[test]
    fn what_no_program_of_ours_has_is_refused_by_name() {
        let refused = [
            ("tensor<?x4xf32>", "has sizes that are not known"),
            ("tensor<*xf32>", "has sizes that are not known"),
            ("tensor<4xcomplex<f32>>", "has complex elements"),
            ("tensor<4x!quant.uniform<i8:f32, 0.1>>", "has quantized elements"),
            ("tensor<4xf32, #stablehlo.bounds<4>>", "has an encoding"),
            ("tensor<4xf8E4M3FN>", "does not compute with"),
            ("tensor<99999999999x99999999999xf32>", "63 bits"),
            ("tensor<99999999999999999999999xf32>", "63 bits"),
            ("!stablehlo.token", "the type `!stablehlo.token` is not taken"),
            ("tuple<tensor<f32>>", "tuples are not taken"),
            ("4xf32", "expected a type such as `tensor<4x8xf32>`, found `4xf32`"),
        ];
        for (text, message) in refused {
            let error = read(text).unwrap_err();
            assert!(error.message().contains(message), "{text}: {error}");
        }
    }
}
