//! Takes something out of a file, to see whether a test depends on it: a coder's lines in a block, or a guard.

use std::ops::RangeInclusive;

use similar::{DiffTag, TextDiff};

/// The text `after` with the lines of `before` in place of each change that touches the lines `block` of `before`. Returns
/// `None` if no change touches them.
pub fn without_changes(before: &str, after: &str, block: &RangeInclusive<u32>) -> Option<String> {
    let diff = TextDiff::from_lines(before, after);
    let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    let mut text = String::new();
    let mut is_other = false;
    for change in diff.ops() {
        let old = change.old_range();
        let new = change.new_range();
        // Lines that are added behind the last line of the block are outside.
        let touches = match change.tag() {
            DiffTag::Equal => false,
            DiffTag::Insert => (*block.start()..*block.end()).contains(&number(old.start)),
            DiffTag::Delete | DiffTag::Replace => {
                number(old.start) < *block.end() && number(old.end) >= *block.start()
            }
        };
        is_other |= touches;
        if touches {
            text.extend(old.filter_map(|line| diff.old_slice(line)));
        } else {
            text.extend(new.filter_map(|line| diff.new_slice(line)));
        }
    }
    is_other.then_some(text)
}

#[cfg(not(feature = "astgrep"))]
pub fn without_guard(_path: &str, _text: &str, _line: u32) -> Option<String> {
    None
}

/// The text without the guard that begins in a line: an assertion, or a condition without another branch that ends with a
/// jump, such as `if not prices: return 0`. Without it, the code behind is reached. Returns `None` if none begins there.
#[cfg(feature = "astgrep")]
pub fn without_guard(path: &str, text: &str, line: u32) -> Option<String> {
    use ast_grep_core::tree_sitter::LanguageExt as _;

    let tree = super::grammar::language_of(path)?.ast_grep(text);
    let root = tree.root();
    let row = usize::try_from(line).ok()?.checked_sub(1)?;
    let guard = root.dfs().find(|node| {
        let is_guard = match &*node.kind() {
            "assert_statement" => true,
            "if_statement" | "if_expression" => {
                node.field("alternative").is_none()
                    && node
                        .field("consequence")
                        .is_some_and(|body| leaves(&body.text()))
            }
            _ => false,
        };
        is_guard && node.start_pos().line() == row
    })?;
    let range = guard.range();
    let nothing = if path.ends_with(".py") { "pass" } else { "" };
    Some(format!(
        "{}{nothing}{}",
        &text[..range.start],
        &text[range.end..]
    ))
}

/// Whether the last statement of a body is a jump.
#[cfg(feature = "astgrep")]
fn leaves(body: &str) -> bool {
    let body = body.trim().trim_start_matches('{').trim_end_matches('}');
    let mut lines = body.trim().trim_end_matches(';').rsplit(['\n', ';']);
    let last = lines.next().unwrap_or_default().trim();
    let word = last
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .next();
    let jumps = [
        "return", "raise", "throw", "continue", "break", "panic", "bail",
    ];
    word.is_some_and(|word| jumps.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_in_the_block_are_taken_back() {
        let before = "a\nb\nc\n\nd\ne\n";
        let rows: [(&str, RangeInclusive<u32>, Option<&str>); 8] = [
            ("a\nX\nc\n\nd\ne\n", 1..=3, Some("a\nb\nc\n\nd\ne\n")),
            ("a\nX\nc\n\nd\nY\n", 1..=3, Some("a\nb\nc\n\nd\nY\n")),
            ("a\nc\n\nd\nY\n", 1..=3, Some("a\nb\nc\n\nd\nY\n")),
            ("a\nX\nb\nc\n\nd\nY\n", 1..=3, Some("a\nb\nc\n\nd\nY\n")),
            (
                "import x\na\nX\nc\n\nd\ne\n",
                1..=3,
                Some("import x\na\nb\nc\n\nd\ne\n"),
            ),
            ("a\nb\nc\n\nd\nY\n", 1..=3, None),
            ("a\nb\nc\nX\n\nd\ne\n", 1..=3, None),
            (before, 1..=3, None),
        ];
        for (after, block, expected) in rows {
            let found = without_changes(before, after, &block);
            assert_eq!(found.as_deref(), expected, "{after}");
        }
    }

    #[cfg(feature = "astgrep")]
    #[test]
    fn a_guard_is_a_condition_that_leaves() {
        let rows = [
            (
                "a.py",
                "def f(x):\n    if not x:\n        return 0\n    return x[0]\n",
                2,
                Some("def f(x):\n    pass\n    return x[0]\n"),
            ),
            ("a.py", "def f(x):\n    if x:\n        g(x)\n", 2, None),
            (
                "a.py",
                "def f(x):\n    if x:\n        return 1\n    else:\n        return 2\n",
                2,
                None,
            ),
            ("a.py", "def f(x):\n    return x[0]\n", 2, None),
            ("a.py", "assert x\ny\n", 1, Some("pass\ny\n")),
            (
                "a.rs",
                "fn f() {\n    if a {\n        return;\n    }\n    b();\n}\n",
                2,
                Some("fn f() {\n    \n    b();\n}\n"),
            ),
            (
                "a.js",
                "function f() { if (a) return 1;\n b(); }",
                1,
                Some("function f() { \n b(); }"),
            ),
            ("a.txt", "if a: return", 1, None),
        ];
        for (path, text, line, expected) in rows {
            let found = without_guard(path, text, line);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
