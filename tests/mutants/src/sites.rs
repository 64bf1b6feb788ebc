//! Every place of production code that can be changed, with every change of it.

use crate::files;
use crate::mutant::{Mutant, Result};
use crate::values;
use proc_macro2::Span;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Block, Expr, Pat, Signature, Stmt, UnOp};

/// A mutant and how it is planted: texts before and after the bytes of a range, where `{on}` asks the switch.
pub struct Site {
    pub mutant: Mutant,
    pub range: Range<usize>,
    pub head: String,
    pub tail: &'static str,
}

/// The places of a tree, and the texts that they are of.
pub struct Found {
    pub sites: Vec<Site>,
    pub texts: BTreeMap<String, String>,
}

/// The places of all files of production code that a test may have been built with.
pub fn of_tree(tree: &Path) -> Result<Found> {
    let known = files::known(tree)?;
    let (mut sites, mut texts, mut left_out) = (Vec::new(), BTreeMap::new(), Vec::new());
    for file in files::production(&known) {
        let text = std::fs::read_to_string(tree.join(file))?;
        let parsed = syn::parse_file(&text).map_err(|error| format!("{file}: {error}"))?;
        let mut finder = Finder { file, text: &text, sites: Vec::new(), left_out: Vec::new() };
        finder.visit_file(&parsed);
        sites.extend(finder.sites);
        left_out.extend(finder.left_out);
        texts.insert(file.to_owned(), text);
    }
    let is_out = |file: &str| {
        left_out
            .iter()
            .any(|module| file.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/')))
    };
    sites.retain(|site: &Site| !is_out(&site.mutant.file));
    texts.retain(|file, _| !is_out(file));
    let mut counts = BTreeMap::new();
    for Site { mutant, .. } in &mut sites {
        let Mutant { file, kind, before, after, text, .. } = mutant.clone();
        let count = counts.entry((file, kind, before, after, text)).or_insert(0);
        mutant.nth = *count;
        *count += 1;
    }
    Ok(Found { sites, texts })
}

struct Finder<'t> {
    file: &'t str,
    text: &'t str,
    sites: Vec<Site>,
    /// Modules that are not built, as paths without `.rs`.
    left_out: Vec<String>,
}

impl Finder<'_> {
    fn source(&self, span: Span) -> &str {
        &self.text[span.byte_range()]
    }

    fn add(&mut self, kind: &str, at: Span, range: Range<usize>, after: String, head: String, tail: &'static str) {
        let line = at.start().line;
        let text = self.text.lines().nth(line - 1).unwrap_or_default().trim().to_owned();
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let before = flat(&self.text[range.clone()]);
        let mutant = Mutant {
            number: 0,
            file: self.file.to_owned(),
            line,
            kind: kind.to_owned(),
            before,
            after: flat(&after),
            text,
            nth: 0,
        };
        self.sites.push(Site { mutant, range, head, tail });
    }

    /// Another expression in the place of one.
    fn swap(&mut self, kind: &str, at: Span, whole: Span, after: String) {
        let head = format!("(if {{on}} {{ {after} }} else {{ ");
        self.add(kind, at, whole.byte_range(), after, head, " })");
    }

    /// A condition that always or never holds.
    fn condition(&mut self, kind: &str, condition: &Expr, values: &[bool]) {
        let span = condition.span();
        let binds = binds(condition);
        for &value in values {
            let (head, tail) = match value {
                true if binds => continue,
                true => ("({on} || (", "))"),
                false if binds => ("!{on} && ", ""),
                false => ("(!{on} && (", "))"),
            };
            self.add(kind, span, span.byte_range(), value.to_string(), head.to_owned(), tail);
        }
    }

    fn function(&mut self, signature: &Signature, block: &Block) {
        if block.stmts.is_empty() {
            return;
        }
        let start = block.brace_token.span.open().byte_range().end;
        for value in values::of_return(&signature.output) {
            let after = format!("return {value};").replace(" ;", ";");
            self.add(
                "body",
                signature.ident.span(),
                start..start,
                after.clone(),
                format!(" if {{on}} {{ {after} }} "),
                "",
            );
        }
    }

    fn binary(&mut self, binary: &syn::ExprBinary) {
        let others: &[&str] = match binary.op {
            BinOp::Eq(_) => &["!="],
            BinOp::Ne(_) => &["=="],
            BinOp::Lt(_) => &["<=", ">", "=="],
            BinOp::Le(_) => &["<", ">"],
            BinOp::Gt(_) => &[">=", "<", "=="],
            BinOp::Ge(_) => &[">", "<"],
            BinOp::And(_) => &["||"],
            BinOp::Or(_) => &["&&"],
            BinOp::Add(_) => &["-", "*"],
            BinOp::Sub(_) => &["+", "/"],
            BinOp::Mul(_) => &["+", "/"],
            BinOp::Div(_) => &["*", "%"],
            BinOp::Rem(_) => &["/", "+"],
            BinOp::BitAnd(_) => &["|", "^"],
            BinOp::BitOr(_) => &["&", "^"],
            BinOp::BitXor(_) => &["&", "|"],
            BinOp::Shl(_) => &[">>"],
            BinOp::Shr(_) => &["<<"],
            BinOp::AddAssign(_) => &["-=", "*="],
            BinOp::SubAssign(_) => &["+=", "/="],
            BinOp::MulAssign(_) => &["+=", "/="],
            BinOp::DivAssign(_) => &["*=", "%="],
            BinOp::RemAssign(_) => &["/=", "+="],
            BinOp::BitAndAssign(_) => &["|=", "^="],
            BinOp::BitOrAssign(_) => &["&=", "^="],
            BinOp::BitXorAssign(_) => &["&=", "|="],
            BinOp::ShlAssign(_) => &[">>="],
            BinOp::ShrAssign(_) => &["<<="],
            _ => &[],
        };
        if binds(&binary.left) || binds(&binary.right) {
            return;
        }
        let (left, right) = (self.source(binary.left.span()).to_owned(), self.source(binary.right.span()).to_owned());
        for other in others {
            // What is changed in place cannot stand in parentheses everywhere; what is compared or computed may have to.
            let after = if other.ends_with('=') && !matches!(*other, "==" | "!=" | "<=" | ">=") {
                format!("{left} {other} {right}")
            } else {
                format!("({left}) {other} ({right})")
            };
            self.swap("operator", binary.op.span(), binary.span(), after);
        }
    }
}

/// Whether a condition has a `let`, so that it is none alone.
fn binds(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(binary) => binds(&binary.left) || binds(&binary.right),
        _ => false,
    }
}

/// Whether code with these attributes is a test, or of a build that tests are not run on.
fn is_left_out(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let Ok(list) = attribute.meta.require_list() else { return attribute.path().is_ident("test") };
        let condition = list.tokens.to_string();
        let other_build = condition.contains("xla-rs") && !condition.starts_with("any");
        attribute.path().is_ident("cfg") && (condition.contains("test") || condition.starts_with("not") || other_build)
    })
}

/// Whether a statement is a call for what it does: `a.f();`, `f()?;`.
fn is_call(expr: &Expr) -> bool {
    match expr {
        Expr::Try(inner) => is_call(&inner.expr),
        Expr::MethodCall(_) | Expr::Call(_) => true,
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        use syn::Item;
        let attributes = match item {
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Mod(item) => &item.attrs,
            Item::Trait(item) => &item.attrs,
            // Constants, and what has no code.
            _ => return,
        };
        if !is_left_out(attributes) {
            return visit::visit_item(self, item);
        }
        if let Item::Mod(module) = item {
            let stem = self.file.trim_end_matches(".rs");
            let root = ["/lib", "/main", "/mod"].iter().find_map(|name| stem.strip_suffix(name));
            self.left_out.push(format!("{}/{}", root.unwrap_or(stem), module.ident));
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if item.sig.constness.is_none() {
            self.function(&item.sig, &item.block);
            self.visit_block(&item.block);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        if let syn::ImplItem::Fn(item) = item
            && !is_left_out(&item.attrs)
            && item.sig.constness.is_none()
        {
            self.function(&item.sig, &item.block);
            self.visit_block(&item.block);
        }
    }

    fn visit_trait_item(&mut self, item: &'ast syn::TraitItem) {
        if let syn::TraitItem::Fn(item) = item
            && let Some(block) = &item.default
        {
            self.function(&item.sig, block);
            self.visit_block(block);
        }
    }

    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        if self.source(stmt.span()).starts_with("#[cfg(") {
            return;
        }
        if let Stmt::Expr(expr, Some(_)) = stmt
            && is_call(expr)
        {
            self.add("call", expr.span(), stmt.span().byte_range(), String::new(), "if !{on} { ".to_owned(), " }");
        }
        visit::visit_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Binary(binary) => self.binary(binary),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_) | UnOp::Neg(_)) => {
                let after = self.source(unary.expr.span()).to_owned();
                self.swap("sign", unary.span(), unary.span(), after);
            }
            Expr::If(condition) => self.condition("condition", &condition.cond, &[true, false]),
            Expr::While(condition) => self.condition("condition", &condition.cond, &[false]),
            Expr::Match(of) => {
                let last_takes_all =
                    of.arms.last().is_some_and(|arm| matches!(arm.pat, Pat::Wild(_)) && arm.guard.is_none());
                for (index, arm) in of.arms.iter().enumerate() {
                    if let Some((_, guard)) = &arm.guard {
                        self.condition("guard", guard, &[true, false]);
                    } else if last_takes_all && index + 1 < of.arms.len() && !is_left_out(&arm.attrs) {
                        let end = arm.pat.span().byte_range().end;
                        self.add("arm", arm.pat.span(), end..end, "never taken".to_owned(), " if !{on}".to_owned(), "");
                    }
                }
            }
            Expr::Lit(literal) => {
                if let syn::Lit::Int(int) = &literal.lit
                    && let Ok(value) = int.base10_parse::<u128>()
                {
                    let after = format!("{}{}", value.saturating_add(1), int.suffix());
                    self.swap("literal", int.span(), int.span(), after);
                }
            }
            // The length is a constant.
            Expr::Repeat(repeat) => return self.visit_expr(&repeat.expr),
            Expr::Const(_) => return,
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if !is_left_out(&arm.attrs) {
            visit::visit_arm(self, arm);
        }
    }

    // Patterns, types, arguments of types and attributes have no code that runs.
    fn visit_pat(&mut self, _: &'ast Pat) {}

    fn visit_type(&mut self, _: &'ast syn::Type) {}

    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}

    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}
