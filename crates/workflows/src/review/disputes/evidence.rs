//! Determines which code counts as evidence in a dispute: code that existed before the coder's first change.
//!
//! Code that the coder wrote in this run is not sufficient evidence, because the coder is a party to the dispute.
//! A judge receives a list of the lines that the coder wrote. If a dismissal cites such lines, the judge has to
//! explain in the field `coder_evidence` why the lines are valid evidence. If the explanation is missing, the
//! dismissal becomes an ESCALATE.

use std::collections::BTreeSet;

use crate::review::disputes::references::{self, Support};
use crate::review::{code::coder_changes, requests::RequestBuilder};
use glee_model::domain::{CitedCode, Dispute, Ruling, RulingRecord};
use glee_protocol::calls::judge::CoderWritten;
use glee_protocol::request::SourceFile;
use glee_protocol::text::references::Reference;
use glee_workspace::code::{citation::inserted, cited};

impl RequestBuilder<'_> {
    /// Whether the cited code exists, whether the coder wrote the code in this run, and whether the code is about the
    /// dispute.
    ///
    /// A judge can read two versions of a changed file: the version in the judge's request, and the current
    /// version. If the coder wrote the cited lines in at least one of these versions, the result is
    /// `Support::Written`.
    pub fn support(&self, dispute: &Dispute, ruling: &Ruling, cited: &Reference) -> Support {
        let path = cited.path.as_str();
        let finding = &dispute.finding;
        // The judge was shown the tests that ran.
        let shown = dispute
            .findings()
            .flat_map(|finding| self.demonstrated(finding.id));
        let mut shown = shown.filter(|one| one.output().is_some());
        if shown.any(|one| one.demonstration.path == path) {
            return Support::Exists;
        }
        let versions = self.versions(finding.round, path);
        let Some(before) = self.original_text(path) else {
            return if versions.is_empty() {
                Support::Missing
            } else {
                Support::Written
            };
        };
        if !cited.is_in(&before) && !versions.iter().any(|text| cited.is_in(text)) {
            return Support::Missing;
        }
        let base = self.text_before(path).unwrap_or(before);
        let is_written = versions.iter().any(|text| {
            let is_changed = match cited.lines {
                None => *text != base,
                Some((first, last)) => inserted(&base, text)
                    .iter()
                    .any(|(from, to)| *from <= last && first <= *to),
            };
            is_changed || !cited.is_in(&base) && cited.is_in(text)
        });
        if is_written {
            return Support::Written;
        }
        let touches = references::touches(dispute, ruling, cited, &|path| {
            Some(self.shown(finding.round, path)?.text)
        });
        if touches {
            Support::Exists
        } else {
            Support::Elsewhere
        }
    }

    pub(crate) fn shown_text(&self, round: u32, path: &str) -> Option<String> {
        if round <= 1 || !self.is_changed(path) {
            return self.original_text(path);
        }
        let reviewed = self
            .sources
            .file(round, path)
            .map(|source| source.text.clone());
        reviewed
            .or_else(|| self.text_at(coder_changes::tree_before_round(self.state, round)?, path))
    }

    /// The code on which a ruling relies. The judge's line numbers are those of the code that the judge received. If
    /// the coder moved the lines before the ruling, the result has their present place.
    pub fn cited_code(&self, record: &RulingRecord, disputed: &Dispute) -> Vec<CitedCode> {
        let finding = &disputed.finding;
        let references = cited::relied_on(record, &disputed.objection.evidence);
        let from = finding.raw.file.as_deref().unwrap_or_default();
        let shown = |path: &str| Some(self.shown(finding.round, path)?.text);
        let found = cited::record(references, from, &shown).into_iter();
        let now = |path: &str| self.text_at(coder_changes::last_tree(self.state)?, path);
        found
            .map(|code| match (shown(&code.file), now(&code.file)) {
                (Some(then), Some(now)) => cited::follow(code, &then, &now),
                _ => code,
            })
            .collect()
    }

    /// Lists the code that the coder wrote in this run. A file that is not in `shown` is listed without line
    /// numbers.
    pub fn written(&self, shown: &[SourceFile]) -> Vec<CoderWritten> {
        let changed = self.state.file_changes();
        let paths: BTreeSet<&str> = changed.map(|change| change.file.as_str()).collect();
        paths
            .into_iter()
            .filter_map(|path| {
                let path = path.to_owned();
                let file = shown.iter().find(|file| file.path == path);
                let Some((file, base)) =
                    file.and_then(|file| Some((file, self.text_before(&path)?)))
                else {
                    return Some(CoderWritten {
                        path,
                        lines: Vec::new(),
                    });
                };
                let lines = inserted(&base, &file.text);
                (!lines.is_empty()).then_some(CoderWritten { path, lines })
            })
            .collect()
    }

    fn is_changed(&self, path: &str) -> bool {
        self.state.file_changes().any(|change| change.file == path)
    }

    /// The versions of a file that the coder changed.
    fn versions(&self, round: u32, path: &str) -> Vec<String> {
        let mut versions = Vec::new();
        if self.is_changed(path) {
            if round > 1 {
                versions.extend(self.shown_text(round, path));
            }
            let last = coder_changes::last_tree(self.state);
            versions.extend(last.and_then(|tree| self.text_at(tree, path)));
        }
        versions
    }

    fn text_before(&self, path: &str) -> Option<String> {
        let (_, tree) = self.state.before.as_ref()?;
        self.text_at(tree, path)
    }

    pub(crate) fn text_at(&self, tree: &str, path: &str) -> Option<String> {
        let bytes = self.trees.read_at(tree, path)?;
        (!bytes.contains(&0)).then(|| String::from_utf8_lossy(&bytes).into_owned())
    }
}
