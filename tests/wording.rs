//! Lists every error and hint of the program in a snapshot, so that they are read in one sitting.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::Visit;

/// Functions whose arguments a user reads.
const SPEAKING: &[&str] = &["hint", "usage", "failed", "refused"];

#[derive(Default)]
struct Texts(Vec<String>);

/// The string literals of tokens, those inside macros and groups too.
fn literals(tokens: proc_macro2::TokenStream, found: &mut Vec<String>) {
    for token in tokens {
        match token {
            proc_macro2::TokenTree::Group(group) => literals(group.stream(), found),
            proc_macro2::TokenTree::Literal(literal) => {
                if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                    found.push(text.value());
                }
            }
            _ => {}
        }
    }
}

/// Collects the literals of an expression.
struct Literals<'a>(&'a mut Vec<String>);

impl<'ast> Visit<'ast> for Literals<'_> {
    fn visit_lit_str(&mut self, text: &'ast syn::LitStr) {
        self.0.push(text.value());
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        literals(call.tokens.clone(), self.0);
    }
}

impl Texts {
    fn take<'a>(&mut self, what: &str, arguments: impl Iterator<Item = &'a syn::Expr>) {
        let mut found = Vec::new();
        arguments.for_each(|argument| Literals(&mut found).visit_expr(argument));
        self.0.extend(
            found
                .into_iter()
                .filter(|text| text.contains(' '))
                .map(|text| format!("{what}: {text}")),
        );
    }
}

impl<'ast> Visit<'ast> for Texts {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            _ => return syn::visit::visit_item(self, item),
        };
        if !attributes
            .iter()
            .any(|attribute| attribute.path().is_ident("cfg"))
        {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if let (true, syn::Meta::List(list)) = (attribute.path().is_ident("error"), &attribute.meta)
        {
            let mut found = Vec::new();
            literals(list.tokens.clone(), &mut found);
            self.0
                .extend(found.into_iter().map(|text| format!("error: {text}")));
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if item.sig.ident == "hint" {
            let mut found = Vec::new();
            Literals(&mut found).visit_block(&item.block);
            self.0
                .extend(found.into_iter().map(|text| format!("hint: {text}")));
        }
        syn::visit::visit_impl_item_fn(self, item);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let name = call.method.to_string();
        syn::visit::visit_expr(self, &call.receiver);
        if SPEAKING.contains(&name.as_str()) {
            self.take(&name, call.args.iter());
        }
        call.args
            .iter()
            .for_each(|argument| self.visit_expr(argument));
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(path) = &*call.func {
            let name = path
                .path
                .segments
                .last()
                .map(|last| last.ident.to_string())
                .unwrap_or_default();
            if SPEAKING.contains(&name.as_str()) {
                self.take("error", call.args.iter());
            }
        }
        syn::visit::visit_expr_call(self, call);
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("src can be read") {
        let path = entry.expect("src can be read").path();
        match path.file_name().and_then(|name| name.to_str()) {
            Some("tests" | "tests.rs") => {}
            _ if path.is_dir() => sources(&path, found),
            Some(name) if name.ends_with(".rs") => found.push(path),
            _ => {}
        }
    }
}

#[test]
fn errors_and_hints() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let mut by_file = BTreeMap::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a source file is text");
        let mut texts = Texts::default();
        texts.visit_file(&syn::parse_file(&text).expect("a source file is Rust"));
        texts.0.retain(|text| {
            text.split_once(": ")
                .is_some_and(|(_, text)| text.contains(char::is_alphabetic))
        });
        if !texts.0.is_empty() {
            let name = file
                .strip_prefix(&src)
                .expect("a file of src")
                .to_string_lossy()
                .replace('\\', "/");
            by_file.insert(name, texts.0);
        }
    }
    assert!(
        by_file.values().map(Vec::len).sum::<usize>() > 300,
        "hardly any error was found"
    );
    let listed = by_file
        .iter()
        .map(|(file, texts)| format!("{file}\n  {}\n", texts.join("\n  ")));
    insta::assert_snapshot!(listed.collect::<String>());
}
