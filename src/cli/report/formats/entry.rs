//! Data and texts about findings, which several machine-readable report formats share. All texts are escaped for
//! display.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::cli::report::options::RenderOptions;
use crate::cli::report::view::{self, ReportedState, StateNote, View, ruler};
use glee_model::domain::{
    Dispute, ExactFix, FindingState, Location, Outcome, RawFinding, RulingRecord, SettledFinding,
    Tag,
};
use glee_protocol::secrets;
use glee_protocol::text::printable::{self, Shown};

/// The alert level of a finding or of a gap in the review. Most report formats have these three levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AlertLevel {
    Error,
    Warning,
    Note,
}

/// A part of a file. The region includes its end line, but ends before its end column. Columns are counted in
/// UTF-16 code units, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Region {
    pub(crate) start_line: u32,
    pub(crate) start_column: u32,
    pub(crate) end_line: u32,
    pub(crate) end_column: u32,
}

impl Region {
    pub(crate) const FIRST_LINE: Self = Self {
        start_line: 1,
        start_column: 1,
        end_line: 2,
        end_column: 1,
    };
}

pub(crate) struct Entry<'a> {
    pub(crate) settled: &'a SettledFinding,
    /// Identifies the finding in later runs. The fingerprint is computed from the file, the category, the title,
    /// the anchored block and the line in the block. Each entry of a report has a fingerprint of its own.
    pub(crate) fingerprint: String,
}

/// Escapes a text as one line. Replaces the characters that XML forbids.
pub(crate) fn line(text: &(impl Shown + ?Sized)) -> String {
    without_noncharacters(printable::line(text))
}

/// Escapes a text and keeps its line breaks. Tabs become blanks.
pub(crate) fn block(text: &(impl Shown + ?Sized)) -> String {
    without_noncharacters(printable::block(text)).replace('\t', "    ")
}

fn without_noncharacters(text: String) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// Returns all findings, the most important first. The members of a group stand together.
pub(crate) fn all(outcome: &Outcome) -> Vec<Entry<'_>> {
    let mut groups: Vec<&[SettledFinding]> = outcome.groups().collect();
    groups.sort_by_key(|group| {
        let leading = SettledFinding::leading(group);
        // Findings of an unknown severity come before findings of the highest severity.
        (
            ReportedState::of(leading),
            leading.finding.raw.severity.tag,
            leading.finding.id,
        )
    });
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    groups
        .into_iter()
        .flatten()
        .map(|settled| {
            let identity = identity(settled);
            let before = seen
                .entry(identity.clone())
                .and_modify(|number| *number += 1)
                .or_insert(0);
            let fingerprint = if *before == 0 {
                identity
            } else {
                digest(&[&identity, &before.to_string()])
            };
            Entry {
                settled,
                fingerprint,
            }
        })
        .collect()
}

/// Returns the open findings that belong to a file, the most important first.
pub(crate) fn open_in_files(outcome: &Outcome) -> Vec<Entry<'_>> {
    let mut entries = all(outcome);
    entries.retain(|entry| entry.is_open() && entry.raw().file.is_some());
    entries
}

fn identity(settled: &SettledFinding) -> String {
    let raw = &settled.finding.raw;
    match &settled.finding.anchor {
        Some(anchor) => {
            let offset = anchor
                .offset
                .map(|offset| offset.to_string())
                .unwrap_or_default();
            digest(&[
                &anchor.file,
                &anchor.category,
                &anchor.block,
                &anchor.text,
                &offset,
            ])
        }
        None => {
            let words = printable::line(&raw.title).to_lowercase();
            let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
            digest(&[
                raw.file.as_deref().unwrap_or_default(),
                &category(raw),
                &words,
            ])
        }
    }
}

fn digest(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher
            .update(&part.len().to_le_bytes())
            .update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Returns the defect class of a finding as a short word, such as `sql-injection`.
fn category(raw: &RawFinding) -> String {
    const MOST: usize = 64;
    let named = raw
        .category
        .as_deref()
        .filter(|name| !name.trim().is_empty())
        .or(raw.rule.as_deref());
    let mut word = String::new();
    for c in named.unwrap_or("bug").to_lowercase().chars() {
        match c {
            'a'..='z' | '0'..='9' => word.push(c),
            _ if word.ends_with('-') || word.is_empty() => {}
            _ => word.push('-'),
        }
    }
    word.truncate(MOST);
    match word.trim_end_matches('-') {
        "" => "bug".to_owned(),
        word => word.to_owned(),
    }
}

impl Entry<'_> {
    pub(crate) fn raw(&self) -> &RawFinding {
        &self.settled.finding.raw
    }

    pub(crate) fn id(&self) -> String {
        self.settled.finding.id.to_string()
    }

    /// The id of the finding's group. `None` if the finding has no group.
    pub(crate) fn group(&self) -> Option<String> {
        let id = self.settled.finding.id;
        (id.member > 0).then(|| id.group().to_string())
    }

    pub(crate) fn reported_state(&self) -> ReportedState {
        ReportedState::of(self.settled)
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(
            self.reported_state(),
            ReportedState::Mandatory | ReportedState::Optional
        )
    }

    /// A finding of an unknown severity has the level `Error`.
    pub(crate) fn level(&self) -> AlertLevel {
        let finding = &self.settled.finding;
        match self.raw().severity.tag {
            // What does not block is no error of the change.
            _ if finding.older && !finding.mandatory => AlertLevel::Warning,
            Some(Tag::Critical | Tag::Must | Tag::High) | None => AlertLevel::Error,
            Some(Tag::Should | Tag::Medium) => AlertLevel::Warning,
            Some(Tag::Low) => AlertLevel::Note,
        }
    }

    pub(crate) fn severity(&self) -> String {
        match line(&self.raw().severity.to_string()) {
            word if word.trim().is_empty() => "UNRATED".to_owned(),
            word => word,
        }
    }

    pub(crate) fn category(&self) -> String {
        category(self.raw())
    }

    /// Returns the id of the rule: the category, the severity and the weakness of the finding, as in
    /// `sql-injection/high/cwe-89`. Findings with different titles can belong to the same rule.
    pub(crate) fn rule(&self) -> String {
        let severity = self
            .raw()
            .severity
            .tag
            .map_or("unrated", Tag::as_str)
            .to_lowercase();
        let weakness = match self.raw().cwe {
            Some(cwe) => format!("/{}", cwe.to_string().to_lowercase()),
            None => String::new(),
        };
        format!("{}/{severity}{weakness}", self.category())
    }

    pub(crate) fn title(&self) -> String {
        match line(&self.raw().title) {
            title if title.trim().is_empty() => "(no title)".to_owned(),
            title => title.trim().to_owned(),
        }
    }

    /// Returns the path of the file, escaped for display. The field `raw` contains the exact path.
    pub(crate) fn path(&self) -> Option<String> {
        self.raw().file.as_deref().map(line)
    }

    /// Returns the numbers of the first and the last line of the finding, or `None` for a finding without a line
    /// number.
    pub(crate) fn lines(&self) -> Option<(u32, u32)> {
        let first = self.raw().line?.max(1);
        Some((first, self.raw().end_line.unwrap_or(first).max(first)))
    }

    /// Returns the region of one of the finding's places, or `None` if the place has no line number.
    pub(crate) fn region_at(
        &self,
        place: &Location,
        options: &RenderOptions<'_>,
    ) -> Option<Region> {
        let first = place.line?.max(1);
        let last = place.end_line.unwrap_or(first).max(first);
        // If the text of the last line is unknown, the region ends at the first column of the next line.
        let (end_line, end_column) = match self.length_in(&place.file, last, options) {
            Some(length) => (last, length + 1),
            None => (last.saturating_add(1), 1),
        };
        Some(Region {
            start_line: first,
            start_column: 1,
            end_line,
            end_column,
        })
    }

    /// Returns the length of a line in UTF-16 code units, without the line end. Returns `None` if the text of the
    /// line is unknown.
    pub(crate) fn length(&self, line: u32, options: &RenderOptions<'_>) -> Option<u32> {
        self.length_in(self.raw().file.as_deref()?, line, options)
    }

    fn length_in(&self, file: &str, line: u32, options: &RenderOptions<'_>) -> Option<u32> {
        let source = (options.source)(file, self.settled.finding.round)?;
        let text = source
            .lines()
            .nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
        // If the line contained a secret, a placeholder of another length replaces the secret.
        let text = Some(text).filter(|text| !text.contains(secrets::PLACEHOLDER))?;
        u32::try_from(text.encode_utf16().count()).ok()
    }

    /// Returns the exact fix of an open finding.
    pub(crate) fn fix(&self) -> Option<&ExactFix> {
        self.settled
            .finding
            .exact_fix
            .as_ref()
            .filter(|_| self.is_open())
    }

    /// What the reviewers of the finding said in other words, the reasons of the reviewers that deny the problem, and what
    /// its tests show.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let finding = &self.settled.finding;
        let mut remarks = Vec::new();
        for said in &finding.restated {
            let by = line(&said.by.0);
            let title = line(&said.title);
            let body = block(&said.body);
            remarks.push(
                format!("{by} also says: {title}\n\n{body}")
                    .trim()
                    .to_owned(),
            );
        }
        for (by, why) in finding.denials() {
            let by = line(&by.0);
            let why = block(why);
            remarks.push(format!("{by} sees no problem: {}", why.trim()));
        }
        let shown = view::demonstrations(self.settled).into_iter();
        remarks.extend(shown.map(|(shown, _)| format!("Test {}", line(&shown))));
        remarks
    }

    /// Returns the title, the explanation, the further places, the evidence, the suggestion and the remarks, separated
    /// by empty lines.
    pub(crate) fn text(&self) -> String {
        let raw = self.raw();
        let mut parts = vec![self.title(), block(&raw.body).trim().to_owned()];
        parts.extend(self.further_places());
        parts.extend(
            raw.evidence
                .iter()
                .map(|evidence| format!("Evidence: {}", block(evidence).trim())),
        );
        parts.extend(
            raw.suggestion
                .iter()
                .map(|fix| format!("Suggestion: {}", block(fix).trim())),
        );
        parts.extend(self.remarks());
        parts.retain(|part| !part.is_empty());
        parts.join("\n\n")
    }

    /// States the further places of the finding in one line, or returns `None` if the finding has one place.
    pub(crate) fn further_places(&self) -> Option<String> {
        let places = self.settled.finding.further_places();
        let places: Vec<String> = places.iter().map(line).collect();
        (!places.is_empty()).then(|| format!("Also at: {}", places.join(", ")))
    }

    pub(crate) fn raised_by(&self) -> Vec<String> {
        self.settled
            .finding
            .raised_by
            .iter()
            .map(|name| line(&name.0))
            .collect()
    }

    /// Returns the last ruling on the finding, and the dispute that contains this ruling.
    pub(crate) fn ruling<'o>(
        &self,
        outcome: &'o Outcome,
    ) -> Option<(&'o Dispute, &'o RulingRecord)> {
        let dispute = outcome.dispute_of(self.settled)?;
        Some((dispute, dispute.rulings.last()?))
    }

    /// Explains the state of the finding. The explanation is a ruling, the coder's answer, or the opinion of the
    /// other reviewers, and is never empty.
    pub(crate) fn reason(&self, outcome: &Outcome) -> String {
        let settled = self.settled;
        let known = self.ruling(outcome);
        if let (FindingState::Enforced { .. } | FindingState::Dismissed { .. }, Some(known)) =
            (&settled.state, known)
        {
            return ruled(known.0, known.1);
        }
        let StateNote { word, note, .. } = View::of(outcome).state(settled);
        let why = match (&settled.state, known, &settled.finding.consensus) {
            (FindingState::AlreadyRuled { .. }, Some((_, record)), _) => {
                block(&record.ruling.rationale)
            }
            (FindingState::AlreadyRuled { dispute, .. }, None, _) => {
                let mut earlier = settled.earlier.iter();
                let known = earlier.find(|earlier| earlier.dispute == *dispute);
                known.map_or_else(String::new, |known| block(&known.rationale))
            }
            (_, _, Some(consensus)) if settled.finding.is_rejected() => line(&consensus.why),
            (FindingState::Discarded, ..) if !note.is_empty() => String::new(),
            _ => block(&view::answer(settled)),
        };
        let mut parts = vec![line(&note), why.trim().to_owned()];
        parts.retain(|part| !part.is_empty());
        if parts.is_empty() {
            return word.to_owned();
        }
        format!("{word}: {}", parts.join(": "))
    }
}

/// Describes a ruling, as in `DISMISS by referee in dispute 2: the rationale (tests/a.py:3)`.
pub(crate) fn ruled(dispute: &Dispute, record: &RulingRecord) -> String {
    let rationale = block(&record.ruling.rationale);
    let cited: Vec<String> = record.ruling.citations.iter().map(line).collect();
    let mut text = format!(
        "{} by {} in dispute {}",
        record.ruling.ruling,
        line(&ruler(&record.by)),
        dispute.number
    );
    if !rationale.trim().is_empty() {
        text = format!("{text}: {}", rationale.trim());
    }
    if !cited.is_empty() {
        text = format!("{text} ({})", cited.join(", "));
    }
    text
}
