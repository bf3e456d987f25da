//! Matches a catalog's rules against one file.
//!
//! A comment that disables a rule in ast-grep has no effect in Glee. To object to a rule, the author of the code
//! can add a comment `glee-allow: <rule> -- <reason>`. Glee records the objection.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use ast_grep_config::RuleConfig;
use ast_grep_core::matcher::MatcherExt as _;
use ast_grep_core::tree_sitter::{LanguageExt as _, StrDoc};
use ast_grep_core::{AstGrep, Matcher as _, Node, NodeMatch};
use ast_grep_language::SupportLang;

use super::catalog::Catalog;
use crate::code::language;
use glee_model::domain::{Ground, Tag};
use glee_workspace::code::{anchors, comments};

/// A rule looks at all that is inside a node and around it, and some rules do so recursively. The time of a search
/// therefore grows with the square of the depth, and a deep tree exhausts the stack.
const DEEPEST: usize = 256;

/// The time that the rules may take for one file.
const LONGEST: Duration = Duration::from_secs(10);

/// The matches in a file.
#[derive(Debug)]
pub struct RuleScan {
    /// The matches in the order of the text.
    pub hits: Vec<Hit>,
    /// Why a part of the file was not searched, as the end of a sentence about the file.
    pub unread: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    pub rule: String,
    pub tag: Tag,
    /// The rule's defect class, or the rule's id if the rule has no class.
    pub category: String,
    /// The rule's message. The variables in the message are replaced by the matched text.
    pub message: String,
    /// The first and last line, counted from 1.
    pub lines: (u32, u32),
    pub range: Range<usize>,
    pub edit: Option<RuleEdit>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleEdit {
    pub range: Range<usize>,
    pub text: String,
}

pub(crate) type SyntaxTree = AstGrep<StrDoc<SupportLang>>;

/// Parses a file, or returns `None` for an unknown language. The syntax tree of invalid code contains error nodes.
/// Code that is nested too deeply is missing in the tree.
pub fn tree(path: &str, text: &str) -> Option<SyntaxTree> {
    shallow(path, text).map(|(tree, _)| tree)
}

/// Parses a file without the top-level items that are nested too deeply, and tells whether there are any. Blanks
/// replace such an item, so that no other code moves.
fn shallow(path: &str, text: &str) -> Option<(SyntaxTree, bool)> {
    let language = language::of_path(path)?;
    let parse = |text: &str| language.ast_grep(comments::shortened(path, text));
    let tree = parse(text);
    let deep = deep_items(&tree);
    if deep.is_empty() {
        return Some((tree, false));
    }
    let mut shown = Cow::Borrowed(text);
    for item in deep {
        let blanks: String = text[item.clone()]
            .bytes()
            .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
            .collect();
        shown.to_mut().replace_range(item, &blanks);
    }
    Some((parse(&shown), true))
}

fn deep_items(tree: &SyntaxTree) -> Vec<Range<usize>> {
    tree.root()
        .children()
        .filter(is_deep)
        .map(|item| item.range())
        .collect()
}

fn is_deep(item: &Node<'_, StrDoc<SupportLang>>) -> bool {
    let mut cursor = item.get_inner_node().walk();
    loop {
        if cursor.goto_first_child() {
            if cursor.depth() as usize > DEEPEST {
                return true;
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
        }
    }
}

/// Where the tests of a Rust file begin, in bytes: at its test module, which is the last item by convention.
fn rust_tests(path: &str, text: &str) -> usize {
    Some(text)
        .filter(|_| path.ends_with(".rs"))
        .and_then(|text| text.find("\n#[cfg(test)]\nmod "))
        .unwrap_or(text.len())
}

impl Catalog {
    /// Returns the matches of `rule`, or of all rules if `rule` is `None`. There are none if the language is not
    /// supported.
    pub fn scan(&self, path: &str, text: &str, rule: Option<&str>) -> RuleScan {
        self.scan_within(LONGEST, path, text, rule)
    }

    fn scan_within(
        &self,
        longest: Duration,
        path: &str,
        text: &str,
        rule: Option<&str>,
    ) -> RuleScan {
        let start = Instant::now();
        let Some((tree, has_deep_items)) = shallow(path, text) else {
            return RuleScan {
                hits: Vec::new(),
                unread: None,
            };
        };
        let mut unread = has_deep_items.then_some("is nested more than 256 levels deep");
        let mut rules = self.rules.get_rule_from_lang(Path::new(path), *tree.lang());
        rules.retain(|candidate| rule.is_none_or(|id| candidate.id == id));
        let mut by_kind: Vec<Vec<&RuleConfig<SupportLang>>> = Vec::new();
        for rule in rules {
            for kind in rule.matcher.potential_kinds().iter().flatten() {
                if by_kind.len() <= kind {
                    by_kind.resize(kind + 1, Vec::new());
                }
                by_kind[kind].push(rule);
            }
        }
        let mut hits = Vec::new();
        for node in tree.root().dfs() {
            let rules = by_kind.get(usize::from(node.kind_id()));
            if rules.is_none_or(Vec::is_empty) {
                continue;
            }
            if start.elapsed() > longest {
                unread = Some("takes the rules more than 10 s");
                break;
            }
            for rule in rules.into_iter().flatten() {
                if let Some(matched) = rule.matcher.match_node(node.clone()) {
                    hits.push(self.hit(rule, &matched));
                }
            }
        }
        let ground = anchors::ground_of(path, text);
        let tests = rust_tests(path, text);
        hits.retain(|hit| {
            let ground = if hit.range.start > tests {
                Ground::Test
            } else {
                ground
            };
            self.info(&hit.rule)
                .is_some_and(|info| info.applies_to.contains(&ground))
        });
        hits.sort_by(|a, b| {
            (a.range.start, a.range.end, &a.rule).cmp(&(b.range.start, b.range.end, &b.rule))
        });
        RuleScan { hits, unread }
    }

    fn hit(
        &self,
        rule: &RuleConfig<SupportLang>,
        matched: &NodeMatch<'_, StrDoc<SupportLang>>,
    ) -> Hit {
        let info = self.info(&rule.id);
        let range = matched.range();
        let edit = rule.fixer.first().map(|fixer| {
            let edit = matched.make_edit(&rule.matcher, fixer);
            RuleEdit {
                range: edit.position..edit.position + edit.deleted_length,
                text: String::from_utf8_lossy(&edit.inserted_text).into_owned(),
            }
        });
        Hit {
            rule: rule.id.clone(),
            tag: info.map_or(Tag::Low, |info| info.tag),
            category: info
                .and_then(|info| info.category.clone())
                .unwrap_or_else(|| rule.id.clone()),
            message: rule.get_message(matched).trim().to_owned(),
            lines: (line(matched.start_pos().line()), last_line(matched)),
            range,
            edit,
        }
    }
}

/// Merges hits of the same category if the hits overlap or start on the same line. The most severe hit is kept.
/// Among equally severe hits, the first hit with a fix is kept. If no hit has a fix, the first hit is kept.
pub fn folded(hits: Vec<Hit>) -> Vec<Hit> {
    let mut kept: Vec<Hit> = Vec::new();
    for hit in hits {
        let same = kept.iter_mut().find(|other| {
            other.category == hit.category
                && (other.lines.0 == hit.lines.0
                    || (other.range.start < hit.range.end && hit.range.start < other.range.end))
        });
        match same {
            Some(other) if (hit.tag, hit.edit.is_none()) < (other.tag, other.edit.is_none()) => {
                *other = hit
            }
            Some(_) => {}
            None => kept.push(hit),
        }
    }
    kept
}

pub fn line(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1)
}

/// Returns the last line of a match. A line break at the end of the match does not begin a new line.
fn last_line(matched: &NodeMatch<'_, StrDoc<SupportLang>>) -> u32 {
    let start = matched.start_pos();
    let end = matched.end_pos();
    let index = if end.byte_point().1 == 0 && end.line() > start.line() {
        end.line() - 1
    } else {
        end.line()
    };
    line(index)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn code_that_is_nested_too_deeply_is_left_out_and_said() {
        let catalog = Catalog::packaged().unwrap();
        let calls = |count: usize| format!("{}{}", "f(".repeat(count), ")".repeat(count));
        let flaw = "eval(text)";
        let rows = [
            ("a.py", format!("{}\n{flaw}\n", calls(20_000))),
            (
                "a.py",
                format!("é = {}\n{flaw}\n", "[".repeat(400) + &"]".repeat(400)),
            ),
            (
                "a.py",
                format!("x = 1{}\n{flaw}\n", "\\\n + 1".repeat(2_000)),
            ),
            ("a.js", format!("{};\n{flaw};\n", calls(5_000))),
            ("a.ts", format!("x{};\n{flaw};\n", ".then(f)".repeat(1_000))),
            ("a.go", format!("package a\nvar x = {}\n", calls(5_000))),
            ("a.rs", format!("fn f() {{ {} }}\n", calls(5_000))),
            (
                "a.java",
                format!("class A {{ int x = {}; }}\n", calls(5_000)),
            ),
        ];
        for (path, text) in rows {
            let scan = catalog.scan(path, &text, None);
            assert_eq!(
                scan.unread,
                Some("is nested more than 256 levels deep"),
                "{path}"
            );
            let lines: Vec<u32> = scan.hits.iter().map(|hit| hit.lines.0).collect();
            let flawed = text
                .lines()
                .zip(1..)
                .filter(|(line, _)| line.starts_with(flaw));
            assert_eq!(
                lines,
                flawed.map(|(_, line)| line).collect::<Vec<u32>>(),
                "{path}"
            );
        }
        let ordinary = format!("x = {}\neval(text)\n", calls(60));
        let scan = catalog.scan("a.py", &ordinary, None);
        assert_eq!((scan.hits.len(), scan.unread), (1, None));
    }

    #[test]
    fn a_file_that_takes_too_long_is_left_and_said() {
        let catalog = Catalog::packaged().unwrap();
        let scan = catalog.scan_within(Duration::ZERO, "a.py", "eval(text)\n", None);
        assert_eq!(scan.unread, Some("takes the rules more than 10 s"));
        assert_eq!(scan.hits, []);
    }
}
