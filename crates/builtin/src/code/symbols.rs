//! Finds definitions and names in a syntax tree.

use std::ops::Range;

use ast_grep_core::Node;
use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_language::SupportLang;

use crate::rules::scan::{self, SyntaxTree};

pub(crate) type Syntax<'a> = Node<'a, StrDoc<SupportLang>>;

const TEST_CALLS: [&str; 5] = ["test", "it", "describe", "suite", "specify"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Function,
    Type,
    Value,
}

/// Returns the names of the definitions around a line. If the line is inside a function, the result contains the
/// enclosing functions, innermost first. If the innermost function is a constructor, the result also contains
/// the enclosing types. If the line is outside all functions, the result contains the enclosing values and
/// types.
pub(crate) fn owners(tree: &SyntaxTree, line: u32) -> Vec<String> {
    let around: Vec<(Named, String)> = chain(tree, line).iter().filter_map(named).collect();
    let kinds = [Named::Function, Named::Value, Named::Type];
    let [mut names, values, types] = kinds.map(|wanted| {
        let named = around.iter().filter(|(kind, _)| *kind == wanted);
        named.map(|(_, name)| name.clone()).collect::<Vec<_>>()
    });
    match names.first().map(String::as_str) {
        None => names.extend(values.into_iter().chain(types)),
        Some("__init__" | "constructor" | "new") => names.extend(types),
        Some(name) if types.iter().any(|of| of == name) => names.extend(types),
        Some(_) => {}
    }
    names
}

pub(crate) fn block(tree: &SyntaxTree, line: u32) -> Option<(u32, u32)> {
    chain(tree, line)
        .iter()
        .find(|node| named(node).is_some())
        .map(lines)
}

/// Finds a definition by a list of names, for example by `["TestCart", "test_total"]`. The last name belongs to
/// the definition, and the other names belong to the enclosing definitions.
pub(crate) fn definition<'a>(tree: &'a SyntaxTree, path: &[String]) -> Option<Syntax<'a>> {
    let (name, outer) = path.split_last()?;
    tree.root().dfs().find(|node| {
        defines(node, name)
            && outer
                .iter()
                .all(|outer| node.ancestors().any(|around| defines(&around, outer)))
    })
}

fn defines(node: &Syntax<'_>, name: &String) -> bool {
    named(node).is_some_and(|(_, defined)| defined == *name)
        || test_title(node).as_ref() == Some(name)
}

pub(crate) fn mentions(tree: &SyntaxTree, range: &Range<usize>, names: &[String]) -> bool {
    tree.root().dfs().any(|node| {
        let at = node.range();
        range.start <= at.start
            && at.end <= range.end
            && node.is_named_leaf()
            && node.kind().contains("identifier")
            && names.iter().any(|name| node.text() == name.as_str())
    })
}

/// Returns the first and last line of a node, counted from 1.
pub(crate) fn lines(node: &Syntax<'_>) -> (u32, u32) {
    (
        scan::line(node.start_pos().line()),
        scan::line(node.end_pos().line()),
    )
}

pub(crate) fn covering<'a>(tree: &'a SyntaxTree, range: &Range<usize>) -> Syntax<'a> {
    let mut node = tree.root();
    loop {
        let Some(inner) = node.children().find(|child| {
            let at = child.range();
            at.start <= range.start && range.end <= at.end && !at.is_empty()
        }) else {
            return node;
        };
        node = inner;
    }
}

fn chain(tree: &SyntaxTree, line: u32) -> Vec<Syntax<'_>> {
    let text = tree.source();
    let index = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
    let Some(content) = text.split_inclusive('\n').nth(index) else {
        return Vec::new();
    };
    let before: usize = text.split_inclusive('\n').take(index).map(str::len).sum();
    let start = before + content.len() - content.trim_start().len();
    if content.trim().is_empty() {
        return Vec::new();
    }
    let node = covering(tree, &(start..start + 1));
    let mut nodes: Vec<_> = std::iter::once(node.clone())
        .chain(node.ancestors())
        .collect();
    // The lines of a decorator belong to the decorated definition.
    if let Some(decorated) = nodes.iter().find_map(|node| node.field("definition"))
        && !nodes.iter().any(|node| node.range() == decorated.range())
    {
        nodes.insert(0, decorated);
    }
    nodes
}

/// Maps kinds of definitions to kinds of syntax nodes. Each entry has three items: the kind of the definition, the
/// tree-sitter field with the definition's name, and the kinds of tree-sitter nodes. Spaces separate the kinds of
/// nodes.
const DEFINITIONS: &[(Named, &str, &str)] = &[
    (
        Named::Function,
        "name",
        "function_item function_definition function_declaration generator_function_declaration method_definition \
         method_declaration constructor_declaration macro_definition",
    ),
    (
        Named::Type,
        "name",
        "class_definition class_declaration abstract_class_declaration interface_declaration enum_declaration \
         record_declaration struct_item enum_item trait_item type_spec mod_item",
    ),
    (Named::Type, "type", "impl_item"),
    (
        Named::Value,
        "name",
        "variable_declarator const_item static_item const_spec var_spec public_field_definition",
    ),
    (Named::Value, "property", "field_definition"),
    (Named::Value, "pattern", "let_declaration"),
    (Named::Value, "key", "pair"),
    (
        Named::Value,
        "left",
        "assignment assignment_expression short_var_declaration",
    ),
];

const FUNCTION_VALUES: &str = "arrow_function function_expression function generator_function";

fn named(node: &Syntax<'_>) -> Option<(Named, String)> {
    let is_one_of = |kinds: &str, kind: &str| kinds.split(' ').any(|known| known == kind);
    let kind = node.kind();
    let (named, field, _) = DEFINITIONS
        .iter()
        .find(|(.., kinds)| is_one_of(kinds, &kind))?;
    let value = match &*kind {
        "variable_declarator" | "public_field_definition" | "field_definition" | "pair" => {
            node.field("value")
        }
        "assignment_expression" => node.field("right"),
        _ => None,
    };
    let is_function = value.is_some_and(|value| is_one_of(FUNCTION_VALUES, &value.kind()));
    let name = node
        .field(field)
        .map(|name| last_name(&name))
        .filter(|name| !name.is_empty())?;
    Some((if is_function { Named::Function } else { *named }, name))
}

fn test_title(node: &Syntax<'_>) -> Option<String> {
    if node.kind() != "call_expression" {
        return None;
    }
    let function = node.field("function")?.text();
    if !TEST_CALLS.contains(&function.split('.').next().unwrap_or_default()) {
        return None;
    }
    let title = node.field("arguments")?.child(1)?;
    matches!(&*title.kind(), "string" | "template_string")
        .then(|| title.text().trim_matches(['"', '\'', '`']).to_owned())
}

/// Returns the last identifier of a qualified name, for example `total` for `exports.total` and `Vec` for `Vec<T>`.
fn last_name(node: &Syntax<'_>) -> String {
    let text = node.text();
    let path = text.split(['<', '[', '(']).next().unwrap_or_default();
    let word = path.rsplit(['.', ':']).next().unwrap_or_default();
    word.trim().trim_matches(['"', '\'', '#']).to_owned()
}
