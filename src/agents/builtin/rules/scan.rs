//! Matches a catalog's rules against one file.
//!
//! A comment that disables a rule in ast-grep has no effect in Glee. To object to a rule, the author of the code
//! can add a comment `glee-allow: <rule> -- <reason>`. Glee records the objection.

use std::ops::Range;
use std::path::Path;

use ast_grep_config::RuleConfig;
use ast_grep_core::matcher::MatcherExt as _;
use ast_grep_core::tree_sitter::{LanguageExt as _, StrDoc};
use ast_grep_core::{AstGrep, Matcher as _, NodeMatch};
use ast_grep_language::SupportLang;

use super::catalog::Catalog;
use crate::agents::builtin::code::language;
use crate::domain::Tag;
use crate::workspace::code::comments;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) rule: String,
    pub(crate) tag: Tag,
    /// The rule's defect class, or the rule's id if the rule has no class.
    pub(crate) category: String,
    /// The rule's message. The variables in the message are replaced by the matched text.
    pub(crate) message: String,
    /// The first and last line, counted from 1.
    pub(crate) lines: (u32, u32),
    pub(crate) range: Range<usize>,
    pub(crate) edit: Option<RuleEdit>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleEdit {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

pub(crate) type SyntaxTree = AstGrep<StrDoc<SupportLang>>;

/// Parses a file, or returns `None` for an unknown language. The syntax tree of invalid code contains error nodes.
pub(crate) fn tree(path: &str, text: &str) -> Option<SyntaxTree> {
    language::of_path(path).map(|language| language.ast_grep(comments::shortened(path, text)))
}

impl Catalog {
    /// Returns the matches of `rule`, or of all rules if `rule` is `None`. The matches are in the order of the
    /// text. The list is empty if the language is not supported.
    pub(crate) fn scan(&self, path: &str, text: &str, rule: Option<&str>) -> Vec<Hit> {
        let Some(tree) = tree(path, text) else {
            return Vec::new();
        };
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
            for rule in by_kind
                .get(usize::from(node.kind_id()))
                .into_iter()
                .flatten()
            {
                if let Some(matched) = rule.matcher.match_node(node.clone()) {
                    hits.push(self.hit(rule, &matched));
                }
            }
        }
        hits.sort_by(|a, b| {
            (a.range.start, a.range.end, &a.rule).cmp(&(b.range.start, b.range.end, &b.rule))
        });
        hits
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
pub(crate) fn folded(hits: Vec<Hit>) -> Vec<Hit> {
    let mut kept: Vec<Hit> = Vec::new();
    for hit in hits {
        let same = |other: &&mut Hit| {
            other.category == hit.category
                && (other.lines.0 == hit.lines.0
                    || (other.range.start < hit.range.end && hit.range.start < other.range.end))
        };
        match kept.iter_mut().find(same) {
            Some(other) if (hit.tag, hit.edit.is_none()) < (other.tag, other.edit.is_none()) => {
                *other = hit
            }
            Some(_) => {}
            None => kept.push(hit),
        }
    }
    kept
}

pub(crate) fn line(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1)
}

/// Returns the last line of a match. A line break at the end of the match does not begin a new line.
fn last_line(matched: &NodeMatch<'_, StrDoc<SupportLang>>) -> u32 {
    let (start, end) = (matched.start_pos(), matched.end_pos());
    let index = if end.byte_point().1 == 0 && end.line() > start.line() {
        end.line() - 1
    } else {
        end.line()
    };
    line(index)
}
