//! Relates the findings of a round to earlier disputes.
//!
//! A finding that refers to a ruling is bound by this ruling if the finding cites no new evidence. If the code of
//! a dispute or the code that its ruling cites has changed, a finding about the code remains open and refers to the
//! dispute. The same applies if the code moved to another ground, for example from a test to the product. If it is
//! uncertain whether a finding repeats a dispute, the finding remains open and refers to the dispute.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::rc::Rc;

use crate::review::disputes::references::exists;
use crate::review::findings::edited::{self, Raised};
use crate::review::findings::round::{Round, TextOf};
use crate::run::redaction::Redaction;
use glee_model::domain::event::{EventKind, ReviewEvent};
use glee_model::domain::{
    Anchor, CitedChange, Disposition, Dispute, EarlierDispute, Finding, FindingId, Location,
    RawFinding, Relation, RulingRef, Untrusted, number_of,
};
use glee_model::rules::consensus::similarity::identity;
use glee_model::rules::review::rulings;
use glee_protocol::text::references::{self, Reference};
use glee_store::history::queries::rows::Binding;
use glee_workspace::code::anchors::Blocks;
use glee_workspace::code::cited;
use glee_workspace::diff::unified;

/// In each round, at most this number of findings are reported as possible repetitions of an earlier dispute.
const UNSURE: usize = 20;

/// The maximum size in bytes of the diff between the disputed code and the current code.
const LARGEST: usize = 8 << 10;

pub(crate) fn subject(event: &EventKind) -> Option<FindingId> {
    match event {
        EventKind::Review(
            ReviewEvent::AlreadyRuled { finding, .. } | ReviewEvent::RelatedDispute { finding, .. },
        ) => Some(*finding),
        _ => None,
    }
}

pub(crate) fn related(finding: FindingId, binding: &Binding, relation: Relation) -> EventKind {
    let earlier = EarlierDispute {
        dispute: binding.dispute.clone(),
        relation,
        title: binding.title.clone(),
        disposition: binding.disposition.clone(),
        new_tag: binding.new_tag,
        rationale: binding.rationale.clone(),
    };
    EventKind::Review(ReviewEvent::RelatedDispute {
        finding,
        earlier: Box::new(earlier),
    })
}

/// The reason why a ruling no longer binds a finding of the same problem: the code moved to another ground, or code
/// that the ruling cites does not stand. `places` has the anchors of the ruled places, each with the finding's anchor
/// there. An open dispute has no ruling.
pub(crate) fn fallen(
    binding: &Binding,
    places: &[(&Anchor, &Anchor)],
    text_of: TextOf<'_>,
) -> Option<Relation> {
    binding.disposition.as_ref()?;
    let mut grounds = places.iter().map(|(was, now)| (was.ground, now.ground));
    if let Some((was, now)) = grounds.find(|(was, now)| was != now) {
        return Some(Relation::OtherGround { was, now });
    }
    let here: Vec<&str> = places.iter().map(|(_, now)| now.file.as_str()).collect();
    let (cited, change) = lost(binding, &here, text_of)?;
    Some(Relation::EvidenceGone { cited, change })
}

/// The first code that a ruling cites and that does not stand. `here` has the files of the ruled code now.
pub(crate) fn lost(
    binding: &Binding,
    here: &[&str],
    text_of: TextOf<'_>,
) -> Option<(Location, CitedChange)> {
    binding.cited.iter().find_map(|code| {
        let changes = here.iter().map(|here| {
            cited::change(code, here, &|path| {
                Some(text_of(path)).filter(|text| !text.is_empty())
            })
        });
        let changes: Option<Vec<CitedChange>> = changes.collect();
        Some((code.location(), *changes?.first()?))
    })
}

/// Processes findings that refer to a ruling in force. The first finding with new evidence reopens the dispute.
/// The ruling binds every other finding that refers to the ruling.
pub(crate) fn named(
    findings: &[&Finding],
    bindings: &[&Binding],
    round: &Round<'_>,
) -> Vec<EventKind> {
    let mut reopened: BTreeSet<RulingRef> = round
        .state
        .progress
        .values()
        .flat_map(|progress| &progress.related)
        .filter(|earlier| matches!(earlier.relation, Relation::Reopens { .. }))
        .map(|earlier| earlier.dispute.clone())
        .collect();
    let mut events = Vec::new();
    for finding in findings {
        let Some(ruling) = &finding.raw.insists_on else {
            continue;
        };
        let mut named = bindings
            .iter()
            .filter(|binding| binding.dispute == *ruling && binding.new_tag.is_none());
        let named =
            named.find_map(|binding| Some((*binding, ruled_places(finding, binding, round)?)));
        let Some((binding, places)) =
            named.filter(|(binding, _)| binding.ended.is_none() && may_close(finding, binding))
        else {
            continue;
        };
        let Some(disposition) = binding.disposition.clone().filter(Disposition::closes) else {
            continue;
        };
        if let Some(relation) = fallen(binding, &places, round.text_of) {
            events.push(related(finding.id, binding, relation));
            continue;
        }
        let evidence = match round.past {
            Some(past) if !reopened.contains(&binding.dispute) => binding
                .number()
                .and_then(|number| past.dispute(number))
                .map(|dispute| {
                    new_evidence(
                        finding,
                        &dispute,
                        &|path| past.reviewed(&binding.run, path),
                        round,
                    )
                }),
            _ => None,
        };
        match evidence.filter(|evidence| !evidence.is_empty()) {
            Some(evidence) => {
                reopened.insert(binding.dispute.clone());
                events.push(related(finding.id, binding, Relation::Reopens { evidence }));
            }
            None => events.push(EventKind::Review(ReviewEvent::AlreadyRuled {
                finding: finding.id,
                dispute: binding.dispute.clone(),
                disposition,
                new_tag: None,
                insisted: true,
            })),
        }
    }
    events
}

/// For each place of a finding, the place of the dispute whose block it is in. The block can have moved to the file from
/// another file. Returns `None` if a place of the finding is in no such block, or states another weakness.
fn ruled_places<'a>(
    finding: &'a Finding,
    binding: &'a Binding,
    round: &Round<'_>,
) -> Option<Vec<(&'a Anchor, &'a Anchor)>> {
    let places = finding.anchored().map(|(place, now)| {
        let mut ruled = binding.anchors();
        let ruled = ruled.find(|ruled| {
            let is_other = matches!((ruled.cwe, now.cwe), (Some(a), Some(b)) if a != b);
            !is_other
                && block(ruled, &now.file, round).is_some_and(|block| match place.line {
                    Some(line) => block.contains(&line),
                    None => ruled.block == now.block,
                })
                && (ruled.file == now.file || block(ruled, &ruled.file, round).is_none())
        });
        Some((ruled?, now))
    });
    let places: Option<Vec<_>> = places.collect();
    places.filter(|places| !places.is_empty())
}

fn block(anchor: &Anchor, path: &str, round: &Round<'_>) -> Option<RangeInclusive<u32>> {
    let text = (round.text_of)(path);
    Blocks::of(path, &text).place(anchor)
}

/// The locations and tests that a text mentions. The test `path::Outer::name` is shortened to `path::name`.
fn cited(text: &str) -> impl Iterator<Item = Reference> {
    references::references(text).map(|mut cited| {
        cited.names.drain(..cited.names.len().saturating_sub(1));
        cited
    })
}

/// Returns the evidence that a finding adds to an earlier dispute: cited lines and tests that exist, and cited
/// commands that fail. Evidence that the dispute already contained is left out. Cited lines are also compared by
/// their text, because edits change line numbers.
fn new_evidence(
    finding: &Finding,
    dispute: &Dispute,
    reviewed: &dyn Fn(&str) -> Vec<Rc<str>>,
    round: &Round<'_>,
) -> Vec<Untrusted> {
    let then: Vec<&str> = texts(dispute)
        .into_iter()
        .map(Untrusted::as_written)
        .collect();
    let known: Vec<Reference> = then.iter().flat_map(|text| cited(text)).collect();
    let own = [&finding.raw, &dispute.finding.raw].map(place_of);
    let text_of = |path: &str| Some((round.text_of)(path)).filter(|text| !text.is_empty());
    let is_same_file =
        |a: &str, b: &str| a == b || a.ends_with(&format!("/{b}")) || b.ends_with(&format!("/{a}"));
    let raw = &finding.raw;
    let now: Vec<&str> = [&raw.title, &raw.body]
        .into_iter()
        .chain(&raw.evidence)
        .map(Untrusted::as_written)
        .collect();
    let mut evidence: Vec<Untrusted> = Vec::new();
    for one in now.iter().flat_map(|text| cited(text)) {
        let path = one.path.as_str();
        let Some(text) = text_of(path).filter(|_| exists(&one, &text_of)) else {
            continue;
        };
        let is_new = if let [test] = one.names.as_slice() {
            !known.iter().any(|known| known.names == one.names)
                && identity::identifiers(&text).any(|word| word == test)
        } else if let Some(lines) = one.lines {
            let places: Vec<(u32, u32)> = known
                .iter()
                .chain(own.iter().flatten())
                .filter(|other| is_same_file(&other.path, path))
                .filter_map(|place| place.lines)
                .collect();
            if places
                .iter()
                .any(|(first, last)| *first <= lines.1 && lines.0 <= *last)
            {
                continue;
            }
            let before: BTreeSet<String> = reviewed(path)
                .iter()
                .flat_map(|text| places.iter().flat_map(|lines| lines_of(text, *lines)))
                .collect();
            lines_of(&text, lines)
                .iter()
                .any(|line| !line.is_empty() && !before.contains(line))
        } else {
            false
        };
        let shown = Untrusted::from(one.to_string());
        if is_new && !evidence.contains(&shown) {
            evidence.push(shown);
        }
    }
    let names = |texts: &[&str], command: &str| texts.iter().any(|text| text.contains(command));
    let failing = round
        .state
        .failing()
        .filter(|failed| names(&now, &failed.command) && !names(&then, &failed.command));
    evidence.extend(failing.map(|failed| format!("`{}`", failed.command).into()));
    evidence
}

fn lines_of(text: &str, (first, last): (u32, u32)) -> Vec<String> {
    text.lines()
        .skip(first.saturating_sub(1) as usize)
        .take((last - first) as usize + 1)
        .map(|line| line.trim().to_owned())
        .collect()
}

/// Returns the location of a finding. A citation of the finding's own location is not evidence for the finding.
fn place_of(raw: &RawFinding) -> Option<Reference> {
    let lines = raw
        .line
        .map(|line| (line, raw.end_line.unwrap_or(line).max(line)));
    Some(Reference {
        path: raw.file.clone()?,
        lines,
        names: Vec::new(),
    })
}

fn texts(dispute: &Dispute) -> Vec<&Untrusted> {
    let raw = &dispute.finding.raw;
    let mut texts = vec![&raw.title, &raw.body, &dispute.objection.text];
    texts.extend(
        raw.evidence
            .iter()
            .chain(&raw.suggestion)
            .chain(&dispute.objection.evidence),
    );
    for record in &dispute.rulings {
        let votes = record.votes.iter().filter_map(|vote| vote.ruling.as_ref());
        for ruling in votes.chain([&record.ruling]) {
            texts.push(&ruling.rationale);
            texts.extend(ruling.citations.iter().chain(&ruling.coder_evidence));
        }
    }
    texts.extend(
        dispute
            .earlier
            .iter()
            .flat_map(|earlier| match &earlier.relation {
                Relation::Reopens { evidence } => evidence.as_slice(),
                _ => &[],
            }),
    );
    texts
}

/// Relates findings to the newest disputes that say the same about code that was edited since.
pub(crate) fn changed<'a>(
    findings: impl Iterator<Item = &'a Finding>,
    bindings: &[&Binding],
    round: &Round<'_>,
) -> Vec<EventKind> {
    let settled = bindings
        .iter()
        .filter(|binding| binding.ended.is_none() && binding.disposition.is_some());
    let places = settled.flat_map(|binding| binding.places().map(move |place| (*binding, place)));
    let (settled, earlier): (Vec<&Binding>, Vec<Raised<'_>>) = places
        .map(|(binding, (place, anchor))| {
            let line = place.and_then(|place| place.line);
            (binding, Raised { anchor, line })
        })
        .unzip();
    let places = findings.flat_map(|finding| finding.anchored().map(move |place| (finding, place)));
    let (findings, found): (Vec<&Finding>, Vec<Raised<'_>>) = places
        .map(|(finding, (place, anchor))| {
            let line = place.line;
            (finding, Raised { anchor, line })
        })
        .unzip();
    let text_then = |at: usize| round.past?.text(&settled[at].run, earlier[at].anchor);
    let pairs = edited::pairs(&earlier, &found, round.text_of, text_then);
    // The last dispute is the newest.
    let mut newest: BTreeMap<FindingId, (usize, usize)> = BTreeMap::new();
    for (_, known, at) in pairs {
        let last = newest.entry(findings[at].id).or_insert((known, at));
        *last = (known, at).max(*last);
    }
    let events = newest.into_iter().map(|(finding, (known, at))| {
        let diff = text_then(known).and_then(|then| {
            let path = &found[at].anchor.file;
            let text = (round.text_of)(path);
            let blocks = Blocks::of(path, &text);
            let here = blocks.enclosing(found[at].line?);
            diff(earlier[known].anchor, &then, blocks.text(&here))
        });
        related(finding, settled[known], Relation::CodeChanged { diff })
    });
    events.collect()
}

/// The redacted diff from the disputed code to the current code. Only the first `LARGEST` bytes are kept.
fn diff(anchor: &Anchor, text_then: &str, now: String) -> Option<Untrusted> {
    let blocks = Blocks::of(&anchor.file, text_then);
    let then = blocks.text(&blocks.place(anchor)?);
    let mut diff = Redaction::ON.text(&unified::hunks(&then, &now));
    if diff.len() > LARGEST {
        diff.truncate(diff.floor_char_boundary(LARGEST));
        diff.push_str("\n[... cut]\n");
    }
    (!diff.is_empty()).then(|| diff.into())
}

pub(crate) struct Unsure<'a> {
    pub likeness: f32,
    pub binding: &'a Binding,
    pub finding: &'a Finding,
}

/// Relates findings to disputes that the findings possibly repeat, beginning with the most similar pair. Each
/// finding is related to at most one dispute, and each dispute to at most one finding. Findings in
/// `related_already` are left out.
pub(crate) fn may_repeat(
    mut unsure: Vec<Unsure<'_>>,
    related_already: &BTreeSet<FindingId>,
) -> Vec<EventKind> {
    unsure.sort_by(|a, b| {
        let newest = b.binding.dispute.cmp(&a.binding.dispute);
        b.likeness
            .total_cmp(&a.likeness)
            .then(newest)
            .then(a.finding.id.cmp(&b.finding.id))
    });
    let mut findings = related_already.clone();
    let mut disputes = BTreeSet::new();
    unsure.retain(|pair| {
        let is_free =
            !findings.contains(&pair.finding.id) && !disputes.contains(&pair.binding.dispute);
        if is_free {
            findings.insert(pair.finding.id);
            disputes.insert(&pair.binding.dispute);
        }
        is_free
    });
    let left_out = unsure.len().saturating_sub(UNSURE);
    unsure.truncate(UNSURE);
    let mut events: Vec<EventKind> = unsure
        .iter()
        .map(|pair| related(pair.finding.id, pair.binding, Relation::MayRepeat))
        .collect();
    if left_out > 0 {
        let text = format!(
            "{} may repeat an earlier dispute; the {UNSURE} likeliest ones are reported",
            number_of(left_out, "more finding")
        );
        events.push(EventKind::notice(text));
    }
    events
}

/// Whether a ruling is allowed to close a finding. A security finding can be closed by a shared ruling only if a
/// person is responsible for the ruling.
pub(crate) fn may_close(found: &Finding, binding: &Binding) -> bool {
    let disposition = binding.disposition.as_ref();
    binding.is_vouched
        || !disposition
            .is_some_and(|disposition| rulings::needs_person_for(disposition, &found.raw))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glee_model::domain::event::RunEvent;
    use glee_model::domain::{DisputeNumber, RunId, Severity, Tag};

    fn binding(number: u64) -> Binding {
        Binding {
            dispute: DisputeNumber(number).into(),
            run: RunId("r".into()),
            finding: FindingId::new(1),
            anchor: Anchor::default(),
            title: "earlier".into(),
            location: None,
            also: Vec::new(),
            disposition: Some(Disposition::Refuted),
            new_tag: None,
            rationale: "".into(),
            settled_at: None,
            until: None,
            ended: None,
            is_vouched: true,
            problem: None,
            cited: Vec::new(),
            reopens: None,
        }
    }

    fn finding(id: u32) -> Finding {
        Finding {
            mandatory: true,
            raised_by: vec!["rev".into()],
            ..Finding::raised(
                FindingId::new(id),
                RawFinding {
                    severity: Severity::known(Tag::Must),
                    ..RawFinding::default()
                },
            )
        }
    }

    #[test]
    fn each_finding_may_repeat_one_dispute_and_the_likeliest_pairs_are_told() {
        let bindings: Vec<Binding> = (1..=30).map(binding).collect();
        let findings: Vec<Finding> = (1..=30).map(finding).collect();
        let all = |findings: &'static [(usize, usize, f32)]| findings.iter();
        let pairs = |list: std::slice::Iter<'static, (usize, usize, f32)>| -> Vec<(u32, u64)> {
            let unsure = list.map(|(finding, binding, likeness)| Unsure {
                likeness: *likeness,
                binding: &bindings[*binding],
                finding: &findings[*finding],
            });
            let events = may_repeat(unsure.collect(), &BTreeSet::from([FindingId::new(3)]));
            let told = events.iter().map(|event| match event {
                EventKind::Review(ReviewEvent::RelatedDispute { finding, earlier }) => (
                    finding.number,
                    earlier.dispute.number().expect("a number").0,
                ),
                other => panic!("{other:?}"),
            });
            told.collect()
        };
        assert_eq!(
            pairs(all(&[
                (0, 0, 0.1),
                (0, 1, 0.2),
                (1, 1, 0.15),
                (1, 0, 0.12),
                (2, 4, 0.2)
            ])),
            [(1, 2), (2, 1)]
        );
        assert_eq!(
            pairs(all(&[(0, 0, 0.1), (0, 1, 0.1)])),
            [(1, 2)],
            "of equals the newest"
        );
        let many: Vec<Unsure<'_>> = bindings
            .iter()
            .zip(&findings)
            .map(|(binding, finding)| Unsure {
                likeness: 0.1,
                binding,
                finding,
            })
            .collect();
        let events = may_repeat(many, &BTreeSet::new());
        assert_eq!(events.len(), UNSURE + 1);
        assert!(
            matches!(events.last(), Some(EventKind::Run(RunEvent::Notice { text })) if text.starts_with("10 more findings"))
        );
    }

    #[test]
    fn what_a_text_cites() {
        let read = |text: &str| -> Vec<String> { cited(text).map(|one| one.to_string()).collect() };
        assert_eq!(
            read("See `src/a.py:3-4`, tests/t.py::Case::test_x[1] and e.g. b.rs."),
            ["src/a.py:3-4", "tests/t.py::test_x", "b.rs"]
        );
        let raw = RawFinding {
            file: Some("a.py".into()),
            line: Some(3),
            ..finding(1).raw
        };
        assert_eq!(
            place_of(&raw),
            Some(Reference {
                path: "a.py".into(),
                lines: Some((3, 3)),
                names: Vec::new()
            })
        );
    }
}
