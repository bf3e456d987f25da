//! Blocks of code: what a finding is anchored to, so that it is known again until that code changes.
//!
//! A block is the innermost function or method around a line; outside of functions, the member of a class or the
//! item of the file; in a language without a grammar, the paragraph. Its hash folds white space, and nothing outside
//! of it takes part: edits elsewhere in the file leave it as it is.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use crate::domain::{Anchor, RawFinding};

/// The category of a finding that names none.
const NO_CATEGORY: &str = "bug";

/// A block that a grammar knows.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    /// Its lines.
    lines: RangeInclusive<u32>,
    /// The lines that belong to it: its own, and those of the comments and attributes right before it.
    reach: RangeInclusive<u32>,
}

/// Lines without an empty one between them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Paragraph {
    lines: RangeInclusive<u32>,
    /// How far its first line is indented, in bytes.
    first: usize,
    /// How far its outermost line is.
    outermost: usize,
}

/// The blocks of one file; parses it once for any number of questions.
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    path: &'a str,
    lines: Vec<&'a str>,
    /// The innermost first.
    known: Vec<Known>,
    paragraphs: Vec<Paragraph>,
}

impl<'a> Blocks<'a> {
    /// Reads a file's blocks; the language is told by the path.
    pub fn of(path: &'a str, text: &'a str) -> Self {
        let mut known = grammar::blocks(path, text);
        known.sort_by_key(|block| (block.reach.end() - block.reach.start(), *block.reach.start()));
        let lines: Vec<&str> = text.lines().collect();
        let paragraphs = paragraphs(&lines);
        Self { path, lines, known, paragraphs }
    }

    /// The lines, counted from 1, of the block around a line, or right below it if the line is a comment or an
    /// attribute; the nearest line of the file counts.
    pub fn enclosing(&self, line: u32) -> RangeInclusive<u32> {
        let line = line.clamp(1, self.last());
        if let Some(block) = self.known.iter().find(|block| block.reach.contains(&line)) {
            return block.lines.clone();
        }
        let found = self.paragraphs.partition_point(|paragraph| *paragraph.lines.end() < line);
        match self.paragraphs.get(found) {
            Some(paragraph) if paragraph.lines.contains(&line) => self.around(found),
            _ => line..=line,
        }
    }

    /// Where a finding is anchored: at the block around its line, or at the whole file without one.
    pub fn anchor(&self, finding: &RawFinding) -> Anchor {
        let block = match finding.line {
            Some(line) => self.hash(&self.enclosing(line)),
            None => self.hash(&(1..=self.last())),
        };
        let category = finding.rule.as_deref().or(finding.category.as_deref()).unwrap_or(NO_CATEGORY);
        Anchor { file: self.path.to_owned(), block, category: category.to_lowercase(), text: words(&finding.title) }
    }

    /// Whether the block that an anchor names still stands in this text, wherever it has moved to.
    pub fn holds(&self, anchor: &Anchor) -> bool {
        let whole = std::iter::once(1..=self.last());
        let known = self.known.iter().map(|block| block.lines.clone());
        let rest = (0..self.paragraphs.len()).map(|index| self.around(index));
        whole.chain(known).chain(rest).any(|block| self.hash(&block) == anchor.block)
    }

    fn last(&self) -> u32 {
        u32::try_from(self.lines.len()).unwrap_or(u32::MAX).max(1)
    }

    /// The BLAKE3 hash (hex) of some lines, white space folded.
    fn hash(&self, block: &RangeInclusive<u32>) -> String {
        let (first, last) = (*block.start() as usize - 1, *block.end() as usize);
        let lines = self.lines.get(first..last.min(self.lines.len())).unwrap_or_default();
        let mut hasher = blake3::Hasher::new();
        for word in lines.iter().flat_map(|line| line.split_whitespace()) {
            hasher.update(word.as_bytes()).update(b" ");
        }
        hasher.finalize().to_hex().to_string()
    }

    /// A paragraph with the one it was opened in, if it closes more than it opens, and the deeper ones below.
    fn around(&self, index: usize) -> RangeInclusive<u32> {
        let outermost = self.paragraphs[index].outermost;
        let top = (0..=index).rev().find(|above| self.paragraphs[*above].first <= outermost).unwrap_or(index);
        let depth = self.paragraphs[top].first;
        let deeper = self.paragraphs[index + 1..].iter().take_while(|below| below.first > depth).count();
        *self.paragraphs[top].lines.start()..=*self.paragraphs[index + deeper].lines.end()
    }
}

fn paragraphs(lines: &[&str]) -> Vec<Paragraph> {
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    for (number, line) in (1_u32..).zip(lines) {
        let text = line.trim_start();
        if text.is_empty() {
            continue;
        }
        let depth = line.len() - text.len();
        match paragraphs.last_mut() {
            Some(last) if *last.lines.end() + 1 == number => {
                last.lines = *last.lines.start()..=number;
                last.outermost = last.outermost.min(depth);
            }
            _ => paragraphs.push(Paragraph { lines: number..=number, first: depth, outermost: depth }),
        }
    }
    paragraphs
}

/// The lines, counted from 1, of the block of code around a line.
pub fn enclosing(path: &str, text: &str, line: u32) -> RangeInclusive<u32> {
    Blocks::of(path, text).enclosing(line)
}

/// Where a finding is anchored in a file.
pub fn anchor(finding: &RawFinding, path: &str, text: &str) -> Anchor {
    Blocks::of(path, text).anchor(finding)
}

/// Whether two anchors mean the same: the same block of the same file, and the same named category or at least half
/// of the titles' words in common.
pub fn matches(a: &Anchor, b: &Anchor) -> bool {
    let same_category = a.category == b.category && a.category != NO_CATEGORY;
    a.file == b.file && a.block == b.block && (same_category || are_similar(&a.text, &b.text))
}

/// Some lines of a file around a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The number of the first line of `text`, counted from 1.
    pub first_line: u32,
    /// Whole lines, each with its line end.
    pub text: String,
    /// The lines of the place itself, both included; within the excerpt.
    pub lines: (u32, u32),
}

/// The lines of a place with `around` lines before and after it; `None` if the file ends before it.
pub fn excerpt(text: &str, line: u32, end_line: Option<u32>, around: u32) -> Option<Lines> {
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    let last = u32::try_from(all.len()).unwrap_or(u32::MAX);
    if line == 0 || line > last {
        return None;
    }
    let end = end_line.unwrap_or(line).clamp(line, last);
    let (from, to) = (line.saturating_sub(around).max(1), end.saturating_add(around).min(last));
    let text = all.get(from as usize - 1..to as usize)?.concat();
    Some(Lines { first_line: from, text, lines: (line, end) })
}

/// A title as lower-case words and single blanks.
fn words(title: &str) -> String {
    let words = title.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// Whether the words of two titles overlap by half or more (Jaccard).
fn are_similar(a: &str, b: &str) -> bool {
    let (a, b): (HashSet<&str>, HashSet<&str>) = (a.split(' ').collect(), b.split(' ').collect());
    2 * a.intersection(&b).count() >= a.union(&b).count()
}

/// Blocks by ast-grep's grammars.
#[cfg(feature = "astgrep")]
mod grammar {
    use ast_grep_core::Language as _;
    use ast_grep_core::Node;
    use ast_grep_core::source::Doc;
    use ast_grep_core::tree_sitter::LanguageExt as _;
    use ast_grep_language::SupportLang;

    use super::Known;

    /// Nodes that are a block wherever they stand.
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
    /// Functions without a name of their own, which are a block if they are of some size.
    const ANONYMOUS: [&str; 4] = ["arrow_function", "function_expression", "generator_function", "func_literal"];
    /// From this many lines on.
    const SOME_SIZE: u32 = 4;
    /// Nodes whose children are members.
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

    /// All blocks of a file; none for a language without a grammar.
    pub(super) fn blocks(path: &str, text: &str) -> Vec<Known> {
        let Some(language) = SupportLang::from_path(path) else { return Vec::new() };
        let tree = language.ast_grep(text);
        let mut blocks = Vec::new();
        // A stack, not recursion: how deep code is nested is up to its author.
        let mut waiting = vec![(tree.root(), true)];
        while let Some((node, has_members)) = waiting.pop() {
            let is_class = node.kind() == "class_definition";
            // Where the comments and attributes right before the next child begin, and where they end.
            let mut leading: Option<(u32, u32)> = None;
            for child in node.children() {
                let kind = child.kind();
                let (first, last) = (line(&child, End::First), line(&child, End::Last));
                if kind.contains("comment") || kind == "attribute_item" {
                    let start = leading.filter(|(_, end)| end + 1 >= first).map_or(first, |(start, _)| start);
                    leading = Some((start, last));
                    continue;
                }
                let is_function = FUNCTIONS.contains(&&*kind);
                let is_large = ANONYMOUS.contains(&&*kind) && last - first + 1 >= SOME_SIZE;
                if is_function || is_large || (has_members && child.is_named()) {
                    let before = leading.filter(|(_, end)| end + 1 >= first).map_or(first, |(start, _)| start);
                    blocks.push(Known { lines: first..=last, reach: before..=last });
                }
                leading = None;
                let has_members = BODIES.contains(&&*kind) || (is_class && kind == "block");
                waiting.push((child.clone(), has_members));
            }
        }
        blocks
    }

    /// An end of a node.
    enum End {
        First,
        Last,
    }

    /// The line, counted from 1, on which a node begins or ends.
    fn line<D: Doc>(node: &Node<'_, D>, end: End) -> u32 {
        let row = match end {
            End::First => node.start_pos().line(),
            End::Last => {
                let end = node.end_pos();
                // A node that ends with its line break ends on that line.
                let at_start = end.byte_point().1 == 0 && end.line() > node.start_pos().line();
                if at_start { end.line() - 1 } else { end.line() }
            }
        };
        u32::try_from(row).unwrap_or(u32::MAX).saturating_add(1)
    }
}

/// Without grammars every language is read by its paragraphs.
#[cfg(not(feature = "astgrep"))]
mod grammar {
    pub(super) fn blocks(_path: &str, _text: &str) -> Vec<super::Known> {
        Vec::new()
    }
}
