//! Highlights source code as HTML in which each token has a CSS class. The style sheet defines the colours of the
//! CSS classes for light and for dark pages.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use minijinja::HtmlEscape;
use syntect::parsing::{ParseState, Scope, ScopeStack, ScopeStackOp, SyntaxReference, SyntaxSet};

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// Prefixes of scope names, each with a CSS class. A token of source code can be in several nested scopes. The CSS
/// class of a token comes from the innermost scope that has an entry here. If the class of the matching entry is
/// empty, the token gets no class.
const CLASSES: [(&str, &str); 22] = [
    ("comment", "c"),
    ("punctuation.definition.comment", "c"),
    ("punctuation.definition.string", "s"),
    ("constant.character.escape", "n"),
    ("constant", "n"),
    ("string", "s"),
    ("keyword.operator.word", "k"),
    ("keyword.operator.logical.python", "k"),
    ("keyword.operator", ""),
    ("keyword", "k"),
    ("storage", "k"),
    ("entity.name.function", "f"),
    ("variable.function", "f"),
    ("support.function", "f"),
    ("support.macro", "f"),
    ("entity.name.tag", "k"),
    ("entity.other.attribute-name", "f"),
    ("entity.name", "t"),
    ("support.type", "t"),
    ("support.class", "t"),
    ("meta.interpolation", ""),
    ("markup.heading", "k"),
];

static SCOPES: LazyLock<Vec<(Scope, &'static str)>> = LazyLock::new(|| {
    let scope = |name| Scope::new(name).expect("the name of a scope is well-formed");
    CLASSES
        .iter()
        .map(|(name, class)| (scope(name), *class))
        .collect()
});

/// The number of lines that are parsed before a wanted line, because a comment or a string can begin in an earlier
/// line.
const BEFORE: u32 = 120;

/// The maximum length of a parsed line in bytes. A longer line is usually generated, and parsing the line takes
/// a long time.
const LONGEST: usize = 600;

/// Highlights lines of files. Parsing takes a long time, so the number of parsed lines is limited. After the
/// limit, lines are escaped for HTML, but not highlighted.
#[derive(Debug)]
pub(crate) struct Highlighter {
    left: u32,
}

impl Highlighter {
    pub(crate) fn new(most: u32) -> Self {
        Self { left: most }
    }

    /// Returns the wanted lines of a file as HTML. The keys of the map are line numbers, counted from 1. The
    /// ranges in `wanted` are sorted by their first lines. `text` is already escaped for display, but not for
    /// HTML.
    pub(crate) fn lines(
        &mut self,
        path: &str,
        text: &str,
        wanted: &[RangeInclusive<u32>],
    ) -> BTreeMap<u32, String> {
        let mut html = BTreeMap::new();
        let syntax = syntax(path, text);
        let mut parser: Option<Parser> = None;
        let mut ranges = merged(wanted).into_iter().peekable();
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            while ranges.next_if(|range| *range.end() < number).is_some() {}
            let Some(range) = ranges.peek() else { break };
            if range.start().saturating_sub(BEFORE) > number {
                parser = None;
                continue;
            }
            let is_wanted = range.contains(&number);
            let is_parsed = self.left > 0 && line.len() <= LONGEST;
            let shown = match syntax.filter(|_| is_parsed) {
                Some(syntax) => {
                    self.left -= 1;
                    parser
                        .get_or_insert_with(|| Parser::new(syntax))
                        .line(line, is_wanted)
                }
                None if is_wanted => HtmlEscape(line.trim_end_matches('\n')).to_string(),
                None => String::new(),
            };
            if is_wanted {
                html.insert(number, shown);
            }
        }
        html
    }
}

/// Joins ranges that overlap or touch.
fn merged(sorted: &[RangeInclusive<u32>]) -> Vec<RangeInclusive<u32>> {
    let mut merged: Vec<RangeInclusive<u32>> = Vec::new();
    for range in sorted {
        match merged.last_mut() {
            Some(last) if *range.start() <= last.end().saturating_add(1) => {
                *last = *last.start()..=*last.end().max(range.end());
            }
            _ => merged.push(range.clone()),
        }
    }
    merged
}

fn syntax(path: &str, text: &str) -> Option<&'static SyntaxReference> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit('.').next().unwrap_or(name);
    let found = SYNTAXES
        .find_syntax_by_extension(name)
        .or_else(|| SYNTAXES.find_syntax_by_extension(ending));
    found
        .or_else(|| SYNTAXES.find_syntax_by_first_line(text.lines().next()?))
        .filter(|found| found.name != "Plain Text")
}

struct Parser {
    state: ParseState,
    stack: ScopeStack,
}

impl Parser {
    fn new(syntax: &SyntaxReference) -> Self {
        Self {
            state: ParseState::new(syntax),
            stack: ScopeStack::new(),
        }
    }

    fn line(&mut self, line: &str, is_wanted: bool) -> String {
        let mut html = String::new();
        let operations = self.state.parse_line(line, &SYNTAXES).unwrap_or_default();
        let text = line.trim_end_matches('\n');
        let mut from = 0;
        let mut pending = Span::default();
        for (at, operation) in &operations {
            let to = (*at).min(text.len());
            if is_wanted {
                pending.push(&mut html, class(&self.stack), &text[from..to]);
            }
            from = to;
            self.apply(operation);
        }
        if is_wanted {
            pending.push(&mut html, class(&self.stack), &text[from..]);
            pending.close(&mut html);
        }
        html
    }

    fn apply(&mut self, operation: &ScopeStackOp) {
        // `apply` can fail if a syntax definition is faulty. The error is ignored, because it affects only
        // colours.
        drop(self.stack.apply(operation));
    }
}

/// The CSS class of the `span` element that is currently open. Adjacent texts with the same CSS class share one
/// element.
#[derive(Default)]
struct Span(&'static str);

impl Span {
    fn push(&mut self, html: &mut String, class: &'static str, text: &str) {
        if text.is_empty() {
            return;
        }
        // A text that consists of blanks opens no `span` element of its own, because blanks show no colour.
        if class != self.0 && !text.trim().is_empty() {
            self.close(html);
            if !class.is_empty() {
                let _ = write!(html, "<span class=\"{class}\">");
            }
            self.0 = class;
        }
        let _ = write!(html, "{}", HtmlEscape(text));
    }

    fn close(&mut self, html: &mut String) {
        if !std::mem::take(&mut self.0).is_empty() {
            html.push_str("</span>");
        }
    }
}

fn class(stack: &ScopeStack) -> &'static str {
    stack
        .as_slice()
        .iter()
        .rev()
        .find_map(|scope| {
            SCOPES
                .iter()
                .find(|(known, _)| known.is_prefix_of(*scope))
                .map(|(_, class)| *class)
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    fn highlighted(path: &str, text: &str) -> String {
        let last = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        let lines = Highlighter::new(1000).lines(path, text, &[1..=last]);
        lines.into_values().collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn words_get_classes_and_the_text_stays_the_same() {
        assert_eq!(
            highlighted("a.py", "def f(a):  # <b>\n    return \"x\" + 1\n"),
            "<span class=\"k\">def </span><span class=\"f\">f</span>(a):  <span class=\"c\"># &lt;b&gt;</span>\n    \
             <span class=\"k\">return </span><span class=\"s\">&quot;x&quot; </span>+ <span class=\"n\">1</span>"
        );
        assert_eq!(
            highlighted("notes.unknown", "a <b> & c"),
            "a &lt;b&gt; &amp; c"
        );
    }

    #[test]
    fn languages_of_the_rules_are_known() {
        for path in [
            "a.rs",
            "a.py",
            "a.js",
            "a.ts",
            "a.tsx",
            "a.go",
            "a.java",
            "Dockerfile",
            "a.toml",
            "Makefile",
        ] {
            assert!(syntax(path, "").is_some(), "{path}");
        }
        assert!(syntax("run", "#!/bin/sh\n").is_some());
    }

    #[test]
    fn a_string_that_began_before_the_wanted_line_is_seen() {
        let text = "x = '''\na < b\n'''\n";
        let lines = Highlighter::new(1000).lines("a.py", text, &[2..=2]);
        assert_eq!(
            lines,
            BTreeMap::from([(2, "<span class=\"s\">a &lt; b</span>".to_owned())])
        );
    }

    #[test]
    fn beyond_the_limit_lines_are_plain() {
        let lines = Highlighter::new(1).lines("a.py", "return 1\nreturn 2\n", &[1..=2]);
        assert_eq!(lines[&2], "return 2");
        assert_eq!(
            Highlighter::new(9).lines("a.py", "x", &[4..=9]),
            BTreeMap::new()
        );
        assert_eq!(merged(&[1..=4, 2..=3, 5..=6, 8..=9]), [1..=6, 8..=9]);
    }
}
