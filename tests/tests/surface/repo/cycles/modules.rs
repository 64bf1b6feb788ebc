//! The files of a crate and what each imports.

use crate::repo::root;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, ItemMod, ItemUse, Macro, UseTree};

/// The names of a path or of a module, outermost first.
pub(super) type Names = Vec<String>;

/// The files of a crate by the modules they hold. Files of tests are left out.
#[derive(Default)]
pub(super) struct Crate {
    pub(super) modules: BTreeMap<Names, Module>,
}

/// The imports of a file.
#[derive(Default)]
pub(super) struct Module {
    /// The paths that stand in it.
    pub(super) paths: BTreeSet<Names>,
    /// The names that `use` brings, with the paths they stand for.
    pub(super) names: BTreeMap<String, Names>,
    /// The paths of `pub use path::*`.
    pub(super) globs: Vec<Names>,
    /// The number of inline modules around the reader.
    depth: usize,
}

impl Crate {
    pub(super) fn read(folder: &str) -> Self {
        let mut whole = Self::default();
        let source = root().join(folder).join("src");
        whole.add(Vec::new(), &source.join("lib.rs"), &source);
        whole
    }

    /// Adds a file and those of the modules it declares, which lie in `children`.
    fn add(&mut self, module: Names, path: &Path, children: &Path) {
        let text = std::fs::read_to_string(path).unwrap();
        let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut read = Module::default();
        read.visit_file(&file);
        for name in file.items.iter().filter_map(declared) {
            let (beside, below) = (children.join(format!("{name}.rs")), children.join(&name).join("mod.rs"));
            let child = module.iter().cloned().chain([name.clone()]).collect();
            self.add(child, if beside.exists() { &beside } else { &below }, &children.join(name));
        }
        self.modules.insert(module, read);
    }
}

/// The module in a file of its own that an item declares.
fn declared(item: &Item) -> Option<String> {
    match item {
        Item::Mod(module) if module.content.is_none() && !is_for_tests(&module.attrs) => Some(module.ident.to_string()),
        _ => None,
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    let is_test = |attribute: &Attribute| attribute.parse_args::<syn::Ident>().is_ok_and(|name| name == "test");
    attributes.iter().any(|attribute| attribute.path().is_ident("cfg") && is_test(attribute))
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

impl Module {
    /// Adds a path that stands in the file, seen from the module of the file.
    fn path(&mut self, path: Names) {
        let above = path.iter().take_while(|name| *name == "super").count();
        let path: Names = path.into_iter().skip(above.min(self.depth)).collect();
        if !path.is_empty() {
            self.paths.insert(path);
        }
    }

    fn import(&mut self, tree: &UseTree, before: &Names, is_public: bool) {
        let with = |name: &syn::Ident| before.iter().cloned().chain([name.to_string()]).collect::<Names>();
        match tree {
            UseTree::Path(path) => self.import(&path.tree, &with(&path.ident), is_public),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, before, is_public)),
            UseTree::Name(name) if name.ident == "self" => self.bind(before.last().cloned(), before.clone()),
            UseTree::Name(name) => self.bind(Some(name.ident.to_string()), with(&name.ident)),
            UseTree::Rename(name) => self.bind(Some(name.rename.to_string()), with(&name.ident)),
            UseTree::Glob(_) => {
                if is_public {
                    self.globs.push(before.clone());
                }
                self.path(before.clone());
            }
        }
    }

    fn bind(&mut self, name: Option<String>, path: Names) {
        if self.depth == 0 {
            self.names.extend(name.map(|name| (name, path.clone())));
        }
        self.path(path);
    }
}

impl Visit<'_> for Module {
    fn visit_item(&mut self, item: &Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &ImplItem) {
        if !matches!(item, ImplItem::Fn(function) if is_for_tests(&function.attrs)) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &ItemMod) {
        self.depth += 1;
        visit::visit_item_mod(self, item);
        self.depth -= 1;
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        let is_public = !matches!(item.vis, syn::Visibility::Inherited);
        self.import(&item.tree, &Vec::new(), is_public);
    }

    fn visit_path(&mut self, path: &syn::Path) {
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            self.path(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &Macro) {
        let text = call.tokens.to_string().replace(" :: ", "::");
        let paths =
            text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').filter(|path| path.contains("::"));
        paths.for_each(|path| self.path(path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect()));
    }
}
