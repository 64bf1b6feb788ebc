//! Functions fit on a page, and take values that have names.

use crate::repo::{SHIPPED, production};
use syn::visit::Visit;

/// The most lines of a function.
const LINES: usize = 60;

/// The most members of a tuple that a function takes.
const MEMBERS: usize = 2;

/// Functions that take tuples of more, by name.
#[derive(Default)]
struct Tuples(Vec<String>);

impl Tuples {
    fn see(&mut self, signature: &syn::Signature) {
        let wide = signature.inputs.iter().any(|input| match input {
            syn::FnArg::Typed(typed) => matches!(&*typed.ty, syn::Type::Tuple(tuple) if tuple.elems.len() > MEMBERS),
            syn::FnArg::Receiver(_) => false,
        });
        if wide {
            self.0.push(signature.ident.to_string());
        }
    }
}

impl<'a> Visit<'a> for Tuples {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.see(&item.sig);
        syn::visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.see(&item.sig);
        syn::visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        self.see(&item.sig);
        syn::visit::visit_trait_item_fn(self, item);
    }
}

/// The functions of a formatted text that are longer, by their first lines.
fn long(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let begins = |line: &str| {
        let line = line
            .trim_start()
            .trim_start_matches("pub ")
            .trim_start_matches("pub(crate) ")
            .trim_start_matches("pub(super) ");
        ["fn ", "const fn ", "async fn ", concat!("un", "safe fn "), "extern \"C\" fn "]
            .iter()
            .any(|word| line.starts_with(word))
    };
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| begins(line)) {
        let indent = line.len() - line.trim_start().len();
        let end = format!("{}}}", " ".repeat(indent));
        let head = lines[at..].iter().position(|line| line.ends_with(['{', ';']));
        if head.is_some_and(|head| lines[at + head].ends_with(';')) {
            continue;
        }
        let length = 1 + lines[at..].iter().position(|line| *line == end).unwrap_or(0);
        if length > LINES {
            found.push(format!("{} ({length} lines)", line.trim()));
        }
    }
    found
}

#[test]
fn functions_fit_on_a_page_and_take_what_has_a_name() {
    let mut found = Vec::new();
    for (path, text) in production(&[&SHIPPED[..], &["tests/kit"]].concat()) {
        found.extend(long(&text).into_iter().map(|function| format!("{path}: {function}")));
        let mut tuples = Tuples::default();
        tuples.visit_file(&syn::parse_file(&text).unwrap_or_else(|error| panic!("{path}: {error}")));
        found.extend(
            tuples.0.into_iter().map(|function| format!("{path}: `{function}` takes a tuple of more than {MEMBERS}")),
        );
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn what_is_too_long_is_found() {
    let body = "    x();\n".repeat(LINES - 1);
    assert_eq!(long(&format!("pub(crate) fn f() {{\n{body}}}\n")), ["pub(crate) fn f() { (61 lines)"]);
    assert!(long(&format!("fn f() {{\n{}}}\n", &body[9..])).is_empty());
    let mut tuples = Tuples::default();
    tuples.visit_file(&syn::parse_file("fn f((a, b, c): (u8, u8, u8)) {} fn g(x: (u8, u8)) {}").unwrap());
    assert_eq!(tuples.0, ["f"]);
}
