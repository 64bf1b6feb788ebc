//! The public surface: every `pub` item of every crate, held to the committed list `tests/public-api.txt`.
//!
//! Items that cannot be reached from outside do not count as `pub` here (the lint `unreachable_pub` refuses them), so that
//! the list is the surface. What macros of ours make is not seen. After a change that is meant,
//! `HALITE_BLESS=1 cargo test -p halite-tests --test public_api` writes the list anew.

use quote::ToTokens;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use syn::{Attribute, Fields, ImplItem, Item, Signature, TraitItem, Visibility};

/// The crates that others build on.
const CRATES: [&str; 12] = [
    "compiler/support",
    "compiler/tensor",
    "compiler/spec",
    "compiler/hlo",
    "compiler/target",
    "compiler/neuron",
    "compiler/ir",
    "compiler/lang",
    "passes",
    "runtime",
    "models",
    "compiler/driver",
];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[test]
fn the_public_surface_is_the_committed_one() {
    let found: String = CRATES.iter().map(|name| of_crate(name)).collect();
    let path = root().join("tests/public-api.txt");
    if std::env::var_os("HALITE_BLESS").is_some() {
        std::fs::write(&path, &found).expect("the list can be written");
        return;
    }
    let expected = std::fs::read_to_string(&path).expect("the list is there");
    let diff = similar::TextDiff::from_lines(&expected, &found);
    let diff = diff.unified_diff().context_radius(1).header("committed", "found").to_string();
    assert!(diff.is_empty(), "{diff}\nHALITE_BLESS=1 cargo test -p halite-tests --test public_api accepts it");
}

/// The items of a crate, file by file in the order of their paths.
fn of_crate(name: &str) -> String {
    let source = root().join(name).join("src");
    let mut files = Vec::new();
    rust_files(&source, &mut files);
    files.sort();
    let parsed: Vec<(String, Vec<Item>)> = files.iter().filter_map(|file| parse(&source, file)).collect();
    let mut types = Vec::new();
    parsed.iter().for_each(|(_, items)| public_types(items, &mut types));
    let mut list = format!("# {name}\n");
    for (file, items) in parsed {
        let mut lines = Vec::new();
        items.iter().for_each(|item| add(item, &types, &mut lines));
        if !lines.is_empty() {
            writeln!(list, "\n## {file}\n{}", lines.join("\n")).expect("a string");
        }
    }
    list + "\n"
}

/// The items of a file of a library; `None` for those of the command line.
fn parse(source: &Path, file: &Path) -> Option<(String, Vec<Item>)> {
    let relative = file.strip_prefix(source).expect("it is below").display().to_string();
    if ["main.rs", "cli.rs"].contains(&relative.as_str()) || relative.starts_with("cli/") {
        return None;
    }
    let text = std::fs::read_to_string(file).expect("a text");
    let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    Some((relative.trim_end_matches(".rs").to_owned(), parsed.items))
}

/// The names of public structs and enums.
fn public_types(items: &[Item], types: &mut Vec<String>) {
    for item in items {
        match item {
            Item::Struct(item) if is_pub(&item.vis) => types.push(item.ident.to_string()),
            Item::Enum(item) if is_pub(&item.vis) => types.push(item.ident.to_string()),
            Item::Mod(item) if is_pub(&item.vis) => {
                item.content.iter().for_each(|(_, items)| public_types(items, types));
            }
            _ => {}
        }
    }
}

/// Whether a type is one of these, whatever its parameters.
fn is_one_of(ty: &syn::Type, types: &[String]) -> bool {
    let syn::Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|segment| types.contains(&segment.ident.to_string()))
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn is_pub(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// `#[non_exhaustive]` in front of what has it.
fn growing(attributes: &[Attribute]) -> &'static str {
    let grows = attributes.iter().any(|attribute| attribute.path().is_ident("non_exhaustive"));
    if grows { "#[non_exhaustive] " } else { "" }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("cfg") && text(attribute).contains("test"))
}

/// Tokens on one line.
fn text(tokens: &impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    let tight = [
        (" :: ", "::"),
        (" < ", "<"),
        (" >", ">"),
        ("& ", "&"),
        (" ,", ","),
        (" :", ":"),
        (" (", "("),
        (" ;", ";"),
        ("< ", "<"),
    ];
    tight.iter().fold(text, |text, (loose, tight)| text.replace(loose, tight))
}

fn signature(signature: &Signature) -> String {
    text(signature)
}

fn add(item: &Item, types: &[String], lines: &mut Vec<String>) {
    match item {
        Item::Fn(item) if is_pub(&item.vis) => lines.push(signature(&item.sig)),
        Item::Const(item) if is_pub(&item.vis) => lines.push(format!("const {}: {}", item.ident, text(&item.ty))),
        Item::Static(item) if is_pub(&item.vis) => lines.push(format!("static {}: {}", item.ident, text(&item.ty))),
        Item::Type(item) if is_pub(&item.vis) => lines.push(format!("type {} = {}", item.ident, text(&item.ty))),
        Item::Use(item) if is_pub(&item.vis) => lines.push(format!("use {}", text(&item.tree))),
        Item::Struct(item) if is_pub(&item.vis) => {
            lines.push(format!("{}struct {}{}", growing(&item.attrs), item.ident, text(&item.generics)));
            add_fields(&item.fields, lines);
        }
        Item::Enum(item) if is_pub(&item.vis) => {
            lines.push(format!("{}enum {}{}", growing(&item.attrs), item.ident, text(&item.generics)));
            lines.extend(item.variants.iter().map(|variant| {
                format!(
                    "  {}{}",
                    variant.ident,
                    if variant.fields.is_empty() { String::new() } else { text(&bare(&variant.fields)) }
                )
            }));
        }
        Item::Trait(item) if is_pub(&item.vis) => {
            lines.push(format!("trait {}{}: {}", item.ident, text(&item.generics), text(&item.supertraits)));
            lines.extend(item.items.iter().filter_map(|item| match item {
                TraitItem::Fn(method) => Some(format!("  {}", signature(&method.sig))),
                _ => None,
            }));
        }
        Item::Impl(item) if !is_test(&item.attrs) => match &item.trait_ {
            Some((_, path, _)) if is_one_of(&item.self_ty, types) => {
                lines.push(format!("impl {} for {}", text(path), text(&item.self_ty)));
            }
            Some(_) => {}
            None => {
                let methods = item.items.iter().filter_map(|item| match item {
                    ImplItem::Fn(method) if is_pub(&method.vis) => Some(format!("  {}", signature(&method.sig))),
                    ImplItem::Const(item) if is_pub(&item.vis) => {
                        Some(format!("  const {}: {}", item.ident, text(&item.ty)))
                    }
                    _ => None,
                });
                let methods: Vec<_> = methods.collect();
                if !methods.is_empty() {
                    lines.push(format!("impl {}", text(&item.self_ty)));
                    lines.extend(methods);
                }
            }
        },
        Item::Mod(item) if !is_test(&item.attrs) => match &item.content {
            Some((_, items)) if is_pub(&item.vis) => {
                lines.push(format!("mod {}", item.ident));
                items.iter().for_each(|item| add(item, types, lines));
            }
            None if is_pub(&item.vis) => lines.push(format!("mod {}", item.ident)),
            _ => {}
        },
        _ => {}
    }
}

fn add_fields(fields: &Fields, lines: &mut Vec<String>) {
    for (index, field) in fields.iter().enumerate().filter(|(_, field)| is_pub(&field.vis)) {
        let name = field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
        lines.push(format!("  {name}: {}", text(&field.ty)));
    }
}

/// The fields of a variant without their documentation.
fn bare(fields: &Fields) -> Fields {
    let mut fields = fields.clone();
    fields.iter_mut().for_each(|field| field.attrs.clear());
    fields
}
