//! Finds the blocks of code by its syntax. Without the feature `astgrep`, Glee has no grammars, and every block is a
//! paragraph.

use std::ops::RangeInclusive;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxBlock {
    pub(crate) lines: RangeInclusive<u32>,
    /// The lines of the block, including the other comments directly above the block.
    pub(crate) reach: RangeInclusive<u32>,
}

#[cfg(any(test, feature = "testing"))]
thread_local! {
    pub static PARSED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(feature = "astgrep")]
pub(crate) use syntax::blocks;
#[cfg(feature = "astgrep")]
pub use syntax::{BUILT_IN, language_of};

#[cfg(not(feature = "astgrep"))]
pub(crate) fn blocks(_path: &str, _text: &str) -> Vec<SyntaxBlock> {
    Vec::new()
}

#[cfg(feature = "astgrep")]
mod syntax {
    use super::SyntaxBlock;
    use crate::code::comments;
    use ast_grep_core::Language as _;
    use ast_grep_core::Node;
    use ast_grep_core::source::Doc;
    use ast_grep_core::tree_sitter::LanguageExt as _;
    use ast_grep_language::SupportLang;

    /// The languages with a built-in grammar. ast-grep panics for a language without a grammar.
    pub const BUILT_IN: [SupportLang; 7] = [
        SupportLang::Rust,
        SupportLang::Python,
        SupportLang::JavaScript,
        SupportLang::TypeScript,
        SupportLang::Tsx,
        SupportLang::Go,
        SupportLang::Java,
    ];
    /// The kinds of syntax nodes that always form a block.
    const FUNCTIONS: [&str; 13] = [
        "function_item",
        "function_signature_item",
        "function_definition",
        "function_declaration",
        "generator_function_declaration",
        "method_definition",
        "method_declaration",
        "constructor_declaration",
        "compact_constructor_declaration",
        "static_initializer",
        "class_static_block",
        "abstract_method_signature",
        "method_signature",
    ];
    /// The syntax nodes of anonymous functions, which are blocks if they have at least [`LARGE`] lines.
    const ANONYMOUS: [&str; 4] = [
        "arrow_function",
        "function_expression",
        "generator_function",
        "func_literal",
    ];
    const LARGE: u32 = 4;
    /// The syntax nodes that precede an item and belong to the item.
    const ATTRIBUTES: [&str; 2] = ["attribute_item", "decorator"];
    /// The syntax nodes whose children are members of a class or a similar item.
    const BODIES: [&str; 8] = [
        "declaration_list",
        "class_body",
        "interface_body",
        "enum_body",
        "enum_body_declarations",
        "object_type",
        "annotation_type_body",
        "field_declaration_list",
    ];

    pub fn language_of(path: &str) -> Option<SupportLang> {
        SupportLang::from_path(path).filter(|language| BUILT_IN.contains(language))
    }

    /// The comments, decorators and attributes that precede a node.
    struct Leading {
        first: u32,
        last: u32,
        /// The first line that belongs to the node itself: a decorator, an attribute or a doc comment.
        own: Option<u32>,
        /// Whether a decorator or an attribute precedes the node. Blank lines do not separate these from the node.
        has_attribute: bool,
    }

    /// A node whose children are searched for blocks.
    struct Waiting<'t, D: Doc> {
        node: Node<'t, D>,
        has_members: bool,
        /// The first line of the arguments of the calls directly around the node.
        arguments: Option<u32>,
        /// What precedes the node, if the node only wraps its last child.
        leading: Option<Leading>,
    }

    pub(crate) fn blocks(path: &str, text: &str) -> Vec<SyntaxBlock> {
        let Some(language) = language_of(path) else {
            return Vec::new();
        };
        #[cfg(any(test, feature = "testing"))]
        super::PARSED.set(super::PARSED.get() + 1);
        let tree = language.ast_grep(comments::shortened(path, text));
        let mut blocks = Vec::new();
        // The loop uses a stack instead of recursion, because code can be nested without limit.
        let mut waiting = vec![Waiting {
            node: tree.root(),
            has_members: true,
            arguments: None,
            leading: None,
        }];
        while let Some(parent) = waiting.pop() {
            let node = parent.node;
            let is_class = node.kind() == "class_definition";
            let mut leading = parent.leading;
            // The last line of the previous child that is no comment.
            let mut end = 0;
            for child in node.children().filter(Node::is_named) {
                let kind = child.kind();
                let (first, last) = lines(&child);
                let is_comment = kind.contains("comment");
                if is_comment && first == end {
                    // The comment belongs to the code before it.
                    leading = None;
                    continue;
                }
                let before = leading
                    .take()
                    .filter(|leading| leading.has_attribute || leading.last + 1 >= first);
                let is_attribute = ATTRIBUTES.contains(&&*kind);
                if is_attribute || is_comment {
                    let is_own = is_attribute || is_doc(language, &child.text());
                    let own = before.as_ref().and_then(|before| before.own);
                    leading = Some(Leading {
                        first: before.as_ref().map_or(first, |before| before.first),
                        last,
                        own: own.or(is_own.then_some(first)),
                        has_attribute: is_attribute
                            || before.is_some_and(|before| before.has_attribute),
                    });
                    continue;
                }
                end = last;
                let is_function = FUNCTIONS.contains(&&*kind);
                let is_large = ANONYMOUS.contains(&&*kind) && last - first + 1 >= LARGE;
                if is_function || is_large || parent.has_members {
                    let passed = parent.arguments.filter(|_| is_large);
                    let own = before.as_ref().and_then(|before| before.own);
                    let start = own.or(passed).unwrap_or(first);
                    let above = before.as_ref().map_or(start, |before| before.first);
                    blocks.push(SyntaxBlock {
                        lines: start..=last,
                        reach: above.min(start)..=last,
                    });
                }
                let arguments = match &*kind {
                    "arguments" | "argument_list" => parent.arguments.or(Some(first)),
                    "call_expression" | "method_invocation" => parent.arguments,
                    _ => None,
                };
                waiting.push(Waiting {
                    has_members: BODIES.contains(&&*kind) || (is_class && kind == "block"),
                    leading: before.filter(|_| kind == "export_statement"),
                    node: child.clone(),
                    arguments,
                });
            }
        }
        blocks
    }

    /// Whether a comment above an item documents the item.
    fn is_doc(language: SupportLang, comment: &str) -> bool {
        match language {
            SupportLang::Rust => {
                comment.starts_with("/**")
                    || comment.starts_with("///") && !comment.starts_with("////")
            }
            // In Go, each comment directly above a declaration documents the declaration.
            SupportLang::Go => true,
            SupportLang::Python => false,
            _ => comment.starts_with("/**"),
        }
    }

    fn lines<D: Doc>(node: &Node<'_, D>) -> (u32, u32) {
        let start = node.start_pos().line();
        let end = node.end_pos();
        // If a node ends with a line break, its end position is in the next line, which is not part of the node.
        let at_start = end.byte_point().1 == 0 && end.line() > start;
        let number = |row: usize| u32::try_from(row).unwrap_or(u32::MAX).saturating_add(1);
        (number(start), number(end.line() - usize::from(at_start)))
    }
}
