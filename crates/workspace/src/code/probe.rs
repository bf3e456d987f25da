//! Rewrites a file so that its execution tells which lines of a block are executed, where the program that runs it tells
//! nothing. A probe adds no line.

use std::ops::RangeInclusive;
use std::path::Path;

/// The text of a file with a probe in its block, which writes lines `LINE:PATH` to the file `out`. Returns `None` if no
/// probe fits. A probe possibly does not compile.
pub fn probed(path: &str, text: &str, block: &RangeInclusive<u32>, out: &Path) -> Option<String> {
    match Path::new(path).extension()?.to_str()? {
        "rs" => in_rust(path, text, block, out),
        // A function of Glee that is called at each tick writes the line.
        "php" => {
            let open = "<?php";
            text.contains(open)
                .then(|| text.replacen(open, "<?php declare(ticks=1);", 1))
        }
        _ => None,
    }
}

#[cfg(not(feature = "astgrep"))]
fn in_rust(_path: &str, _text: &str, _block: &RangeInclusive<u32>, _out: &Path) -> Option<String> {
    None
}

/// Adds a statement at the beginning of each function that begins in the block.
#[cfg(feature = "astgrep")]
fn in_rust(path: &str, text: &str, block: &RangeInclusive<u32>, out: &Path) -> Option<String> {
    use ast_grep_core::tree_sitter::LanguageExt as _;

    let tree = super::grammar::language_of(path)?.ast_grep(text);
    let root = tree.root();
    let mut places = Vec::new();
    for function in root.dfs().filter(|node| node.kind() == "function_item") {
        let Some(body) = function.field("body") else {
            continue;
        };
        let line = u32::try_from(body.start_pos().line())
            .ok()?
            .saturating_add(1);
        let start = function.range().start;
        // Nothing is written while a constant is computed.
        let is_const = text[start..body.range().start]
            .split_whitespace()
            .any(|word| word == "const");
        if block.contains(&line) && !is_const {
            places.push((body.range().start + 1, line));
        }
    }
    places.sort_unstable();
    let mut probed = text.to_owned();
    for (place, line) in places.iter().rev() {
        let record = format!("{line}:{path}\n");
        let probe = format!(" let _ = ::std::fs::write({out:?}, {record:?});");
        probed.insert_str(*place, &probe);
    }
    (!places.is_empty()).then_some(probed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_probes() {
        let probe =
            |line: u32| format!(" let _ = ::std::fs::write(\"/out\", \"{line}:src/a.rs\\n\");");
        let rows: [(&str, &str, RangeInclusive<u32>, Option<String>); 8] = [
            (
                "src/a.rs",
                "fn a() -> u8 {\n    1\n}\nfn b() {}\n",
                1..=3,
                Some(format!(
                    "fn a() -> u8 {{{}\n    1\n}}\nfn b() {{}}\n",
                    probe(1)
                )),
            ),
            (
                "src/a.rs",
                "impl A {\n    fn a(&self) {}\n    fn b(&self) {}\n}\n",
                1..=4,
                Some(format!(
                    "impl A {{\n    fn a(&self) {{{}}}\n    fn b(&self) {{{}}}\n}}\n",
                    probe(2),
                    probe(3)
                )),
            ),
            ("src/a.rs", "const fn a() {}\n", 1..=1, None),
            ("src/a.rs", "const A: u8 = 1;\n", 1..=1, None),
            ("src/a.rs", "trait A { fn a(); }\n", 1..=1, None),
            (
                "src/a.php",
                "<?php\ndeclare(strict_types=1);\n<?php\n",
                1..=2,
                Some("<?php declare(ticks=1);\ndeclare(strict_types=1);\n<?php\n".to_owned()),
            ),
            ("src/a.php", "text\n", 1..=1, None),
            ("src/a.c", "int a() {}\n", 1..=1, None),
        ];
        for (path, text, block, expected) in rows {
            let found = probed(path, text, &block, Path::new("/out"));
            assert_eq!(found, expected, "{text}");
        }
    }
}
