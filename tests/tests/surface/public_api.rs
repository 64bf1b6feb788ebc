//! The public surface: every `pub` item of the crates that embedders build on, held to the committed list `tests/public-api.txt`.
//!
//! Items that cannot be reached from outside do not count as `pub` here (the lint `unreachable_pub` refuses them), so that
//! the list is the surface. Of what our macros make, it holds what they are given, e.g. `Value` below `entity!`. After a change
//! that is meant, `HALITE_BLESS=1 cargo test -p halite-tests --test surface public_api` writes the list anew.

use quote::ToTokens;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Fields, ImplItem, Item, ItemMacro, Signature, TraitItem, Visibility, braced, token};

/// The crates that embedders build on: the compiler, update rules, training, verifying, and what a target is. What stands behind them
/// may move.
const CRATES: [&str; 6] = ["driver", "optim", "train", "verify", "targets/estimate", "targets/interface"];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[test]
fn the_public_surface_is_the_committed_one() {
    let crates: Vec<Crate> = CRATES.iter().map(|name| Crate::read(name)).collect();
    let makers: Vec<String> = crates.iter().flat_map(Crate::makers).collect();
    let found: String = crates.iter().map(|of| of.list(&makers)).collect();
    let path = root().join("tests/public-api.txt");
    if std::env::var_os("HALITE_BLESS").is_some() {
        std::fs::write(&path, &found).expect("the list can be written");
        return;
    }
    let expected = std::fs::read_to_string(&path).expect("the list is there");
    let diff = similar::TextDiff::from_lines(&expected, &found);
    let diff = diff.unified_diff().context_radius(1).header("committed", "found").to_string();
    assert!(diff.is_empty(), "{diff}\nHALITE_BLESS=1 cargo test -p halite-tests --test surface public_api accepts it");
}

/// The files of a crate's library in the order of their paths.
struct Crate {
    name: &'static str,
    files: Vec<(String, Vec<Item>)>,
}

impl Crate {
    fn read(name: &'static str) -> Self {
        let source = root().join(name).join("src");
        let mut files = Vec::new();
        rust_files(&source, &mut files);
        files.sort();
        Self { name, files: files.iter().filter_map(|file| parse(&source, file)).collect() }
    }

    /// The macros that make something public, or implementations.
    fn makers(&self) -> impl Iterator<Item = String> {
        let items = self.files.iter().flat_map(|(_, items)| items);
        items.filter_map(|item| {
            let Item::Macro(ItemMacro { ident: Some(name), mac, .. }) = item else { return None };
            let body = text(&mac.tokens);
            let public = body.contains("pub ") || (body.contains("impl ") && !body.contains("pub("));
            public.then(|| name.to_string())
        })
    }

    fn list(&self, makers: &[String]) -> String {
        let (mut types, mut hidden) = (Vec::new(), Vec::new());
        self.files.iter().for_each(|(_, items)| public_types(items, &mut types));
        self.files.iter().for_each(|(_, items)| hidden_traits(items, true, &mut hidden));
        let names = Names { types, hidden, makers };
        let mut list = format!("# {}\n", self.name);
        for (file, items) in &self.files {
            let mut lines = Vec::new();
            items.iter().for_each(|item| add(item, &names, &mut lines));
            if !lines.is_empty() {
                writeln!(list, "\n## {file}\n{}", lines.join("\n")).expect("a string");
            }
        }
        list + "\n"
    }
}

/// The items of a file of a library; `None` for those of programs.
fn parse(source: &Path, file: &Path) -> Option<(String, Vec<Item>)> {
    let relative = file.strip_prefix(source).expect("it is below").display().to_string();
    if relative == "main.rs" || relative.starts_with("bin/") {
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

/// The names of traits that cannot be reached from outside.
fn hidden_traits(items: &[Item], reached: bool, traits: &mut Vec<String>) {
    for item in items {
        match item {
            Item::Trait(item) if !(reached && is_pub(&item.vis)) => traits.push(item.ident.to_string()),
            Item::Mod(item) => {
                let reached = reached && is_pub(&item.vis);
                item.content.iter().for_each(|(_, items)| hidden_traits(items, reached, traits));
            }
            _ => {}
        }
    }
}

/// Facts that listing the items of a crate needs.
struct Names<'a> {
    /// Public structs and enums.
    types: Vec<String>,
    /// Traits that cannot be reached from outside.
    hidden: Vec<String>,
    /// Macros that make something public, or implementations.
    makers: &'a [String],
}

impl Names<'_> {
    /// Whether a type is public, whatever its parameters.
    fn show(&self, ty: &syn::Type) -> bool {
        matches!(ty, syn::Type::Path(path) if ends_in(&path.path, &self.types))
    }

    fn hide(&self, of: &syn::Path) -> bool {
        ends_in(of, &self.hidden)
    }
}

fn ends_in(path: &syn::Path, names: &[String]) -> bool {
    path.segments.last().is_some_and(|segment| names.contains(&segment.ident.to_string()))
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

/// Those attributes of a type that its users build on: `#[non_exhaustive]` and `#[derive(..)]`.
fn promises(attributes: &[Attribute]) -> String {
    let is_promise =
        |attribute: &&Attribute| ["non_exhaustive", "derive"].iter().any(|name| attribute.path().is_ident(name));
    attributes.iter().filter(is_promise).map(|attribute| text(attribute) + " ").collect()
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("cfg") && text(attribute).contains("test"))
}

/// Tokens on one line.
fn text(tokens: &impl ToTokens) -> String {
    tight(&tokens.to_token_stream().to_string())
}

/// The text of tokens as people write it.
fn tight(text: &str) -> String {
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
    tight.iter().fold(text.to_owned(), |text, (loose, tight)| text.replace(loose, tight))
}

fn signature(signature: &Signature) -> String {
    text(signature)
}

fn add(item: &Item, names: &Names<'_>, lines: &mut Vec<String>) {
    match item {
        Item::Fn(item) if is_pub(&item.vis) => lines.push(signature(&item.sig)),
        Item::Const(item) if is_pub(&item.vis) => lines.push(format!("const {}: {}", item.ident, text(&item.ty))),
        Item::Static(item) if is_pub(&item.vis) => lines.push(format!("static {}: {}", item.ident, text(&item.ty))),
        Item::Type(item) if is_pub(&item.vis) => lines.push(format!("type {} = {}", item.ident, text(&item.ty))),
        Item::Use(item) if is_pub(&item.vis) => lines.push(format!("use {}", text(&item.tree))),
        Item::Struct(item) if is_pub(&item.vis) => {
            lines.push(format!("{}struct {}{}", promises(&item.attrs), item.ident, text(&item.generics)));
            add_fields(&item.fields, lines);
        }
        Item::Enum(item) if is_pub(&item.vis) => {
            lines.push(format!("{}enum {}{}", promises(&item.attrs), item.ident, text(&item.generics)));
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
                TraitItem::Const(item) => Some(format!("  const {}: {}", item.ident, text(&item.ty))),
                TraitItem::Type(item) => Some(format!("  type {}: {}", item.ident, text(&item.bounds))),
                _ => None,
            }));
        }
        Item::Impl(item) if !is_test(&item.attrs) => match &item.trait_ {
            Some((_, path, _)) if names.show(&item.self_ty) && !names.hide(path) => {
                let of = format!("{} for {}", text(path), text(&item.self_ty));
                lines.push(
                    format!("impl{} {of} {}", text(&item.generics), text(&item.generics.where_clause))
                        .trim()
                        .to_owned(),
                );
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
                items.iter().for_each(|item| add(item, names, lines));
            }
            None if is_pub(&item.vis) => lines.push(format!("mod {}", item.ident)),
            _ => {}
        },
        Item::Macro(item) => match &item.ident {
            Some(name) if item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export")) => {
                lines.push(format!("macro {name}"));
            }
            None if item.mac.path.get_ident().is_some_and(|name| names.makers.contains(&name.to_string())) => {
                lines.push(format!("{}!", text(&item.mac.path)));
                let given = |input: ParseStream<'_>| add_given(input, 2, lines);
                given.parse2(item.mac.tokens.clone()).expect("tokens of entries");
            }
            _ => {}
        },
        _ => {}
    }
}

/// Adds the input of a macro, entry by entry without documentation; an entry ends where a text for people begins.
fn add_given(input: ParseStream<'_>, indent: usize, lines: &mut Vec<String>) -> syn::Result<()> {
    let separator = if tokens(&input.fork())?.iter().any(|token| token == ";") { ";" } else { "," };
    let mut entry = Vec::new();
    while !input.is_empty() {
        input.call(Attribute::parse_outer)?;
        if input.peek(token::Brace) {
            end_entry(&mut entry, indent, lines);
            let inner;
            braced!(inner in input);
            add_given(&inner, indent + 2, lines)?;
        } else if !input.is_empty() {
            match next(input)? {
                token if token == separator => end_entry(&mut entry, indent, lines),
                token => entry.push(token),
            }
        }
    }
    end_entry(&mut entry, indent, lines);
    Ok(())
}

fn end_entry(tokens: &mut Vec<String>, indent: usize, lines: &mut Vec<String>) {
    let shown: Vec<String> = tokens.drain(..).take_while(|token| !token.contains(' ')).collect();
    let shown = tight(&shown.join(" "));
    let shown = shown.trim_end_matches([':', ',', ' ']);
    if !shown.is_empty() {
        lines.push(format!("{:indent$}{shown}", ""));
    }
}

/// The next token or group as text.
fn next(input: ParseStream<'_>) -> syn::Result<String> {
    input.step(|cursor| {
        let (token, rest) = cursor.token_tree().ok_or_else(|| cursor.error("expected a token"))?;
        Ok((token.to_string(), rest))
    })
}

fn tokens(input: ParseStream<'_>) -> syn::Result<Vec<String>> {
    std::iter::from_fn(|| (!input.is_empty()).then(|| next(input))).collect()
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
