//! Expressions that could replace the body of a function, by its written type.

use syn::{GenericArgument, PathArguments, ReturnType, Type, TypePath};

/// Expressions of a return type, the plainest first.
pub fn of_return(output: &ReturnType) -> Vec<String> {
    match output {
        ReturnType::Default => vec![String::new()],
        ReturnType::Type(_, of) => of_type(of),
    }
}

fn of_type(of: &Type) -> Vec<String> {
    match of {
        Type::Path(path) => of_path(path),
        Type::Reference(reference) if reference.mutability.is_none() => match &*reference.elem {
            Type::Path(path) if path.path.is_ident("str") => vec!["\"\"".to_owned(), "\"xyzzy\"".to_owned()],
            Type::Slice(_) => vec!["&[]".to_owned()],
            _ => Vec::new(),
        },
        Type::Tuple(tuple) => {
            let parts: Option<Vec<String>> = tuple.elems.iter().map(|of| of_type(of).into_iter().next()).collect();
            parts
                .map(|parts| format!("({})", parts.iter().map(|part| format!("{part}, ")).collect::<String>()))
                .into_iter()
                .collect()
        }
        Type::Paren(inner) => of_type(&inner.elem),
        _ => Vec::new(),
    }
}

fn of_path(path: &TypePath) -> Vec<String> {
    let Some(last) = path.path.segments.last() else { return Vec::new() };
    let inner = || match &last.arguments {
        PathArguments::AngleBracketed(list) => list.args.iter().find_map(|argument| match argument {
            GenericArgument::Type(of) => Some(of_type(of)),
            _ => None,
        }),
        _ => None,
    };
    let wrapped = |name: &str| {
        let values = inner().unwrap_or_default();
        values.into_iter().map(|value| format!("{name}({value})")).collect::<Vec<_>>()
    };
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    match last.ident.to_string().as_str() {
        "bool" => texts(&["true", "false"]),
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => {
            texts(&["0", "1"])
        }
        "f32" | "f64" => texts(&["0.0", "1.0"]),
        "String" => texts(&["String::new()", "\"xyzzy\".to_owned()"]),
        "Vec" => {
            let filled = inner().unwrap_or_default().into_iter().map(|value| format!("vec![{value}]"));
            std::iter::once("Vec::new()".to_owned()).chain(filled).collect()
        }
        "Option" => std::iter::once("None".to_owned()).chain(wrapped("Some")).collect(),
        "Result" => wrapped("Ok").into_iter().map(|value| value.replace("Ok()", "Ok(())")).collect(),
        "Box" => wrapped("Box::new"),
        _ => texts(&["Default::default()"]),
    }
}
