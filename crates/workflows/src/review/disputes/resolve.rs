//! Turns the answers of judges into the ruling that takes effect.
//!
//! If a DISMISS cites code that does not exist in the reviewed tree, or says nothing of a demonstration that fails, the
//! ruling becomes an ESCALATE. A dispute is
//! also escalated if two answers of the same judge contain no valid ruling, and if a DISMISS would close a security
//! finding of a pull request: the next job has another history, in which only a person's ruling closes such a finding.

use crate::review::demonstrations::requested;
use crate::review::disputes::references::Support;
use crate::review::findings::round::MergeSettings;
use crate::review::requests::RequestBuilder;
use glee_model::domain::event::{CallAnswer, Purpose};
use glee_model::domain::{
    AgentName, Dispute, DisputeNumber, Finding, PanelVote, Ruler, Ruling, RulingRecord, RulingWord,
    Severity, Untrusted,
};
use glee_model::rules::review::{demonstrations, objections, rulings};
use glee_model::rules::votes::panel;
use glee_protocol::text::references::{Reference, reference, references};
use glee_store::config::settings::ReviewSettings;

pub fn due(
    requests: &RequestBuilder<'_>,
    dispute: DisputeNumber,
    review: &ReviewSettings,
) -> Option<RulingRecord> {
    let state = requests.state;
    let purpose = match requested(state, dispute) {
        Some(_) => Purpose::JudgeAgain { dispute },
        None => Purpose::Judge { dispute },
    };
    let judges: Vec<JudgeAnswer<'_>> = state
        .judges()
        .map(|judge| {
            let last = state.last_call(&judge.name, &purpose);
            (judge.name.clone(), last.map(|(_, call)| &call.answer))
        })
        .collect();
    let disputed = state
        .disputes
        .get(&dispute)
        .expect("a dispute that is ruled on is open");
    let finding = &disputed.finding;
    let record = ruling(
        &judges,
        finding,
        &state.findings,
        review.judge.require_evidence,
        &|ruling, cited| requests.support(disputed, ruling, cited),
    );
    let is_request = state.plan().pull_request.is_some();
    record.map(|record| {
        let ruling = heard(requests, disputed, lowered(record.ruling.clone(), review));
        let disposition = objections::disposition(&ruling).filter(|_| is_request);
        let needs_person = disposition
            .is_some_and(|disposition| rulings::needs_person_for(&disposition, &finding.raw));
        let why = "on a pull request, a person answers for it that a security finding is closed";
        let ruling = if needs_person {
            escalated(&ruling, why)
        } else {
            ruling
        };
        let mut record = RulingRecord {
            by_rule: record.by_rule || ruling.ruling != record.ruling.ruling,
            ruling,
            ..record
        };
        record.cited = requests.cited_code(&record, disputed);
        record
    })
}

/// Converts a judge's answer to the ruling that a review would record. Fails if the answer has no valid ruling.
pub(crate) fn counted_by(
    requests: &RequestBuilder<'_>,
    dispute: &Dispute,
    answer: Option<&CallAnswer>,
    review: &ReviewSettings,
) -> Result<Ruling, String> {
    counted(answer, review.judge.require_evidence, &|ruling, cited| {
        requests.support(dispute, ruling, cited)
    })
    .map(|ruling| heard(requests, dispute, lowered(ruling, review)))
}

/// If a ruling dismisses a finding without a word about its failing demonstration, the ruling becomes an ESCALATE.
fn heard(requests: &RequestBuilder<'_>, dispute: &Dispute, ruling: Ruling) -> Ruling {
    let mut unheard = dispute.findings().filter_map(|finding| {
        let progress = requests.state.progress(finding.id);
        demonstrations::unheard(&ruling, &progress.demonstrations)
    });
    match unheard.next() {
        Some(why) => escalated(&ruling, &why),
        None => ruling,
    }
}

/// If a ruling dismisses a finding but gives the finding a mandatory tag, the ruling becomes an ESCALATE.
fn lowered(ruling: Ruling, review: &ReviewSettings) -> Ruling {
    let lists = MergeSettings::of(review);
    match ruling.new_tag {
        Some(tag) if ruling.duplicate_of.is_none() && lists.is_mandatory(&Severity::known(tag)) => {
            escalated(
                &ruling,
                &format!("the finding was dismissed as [{tag}], which is mandatory as well"),
            )
        }
        Some(_) | None => ruling,
    }
}

fn escalated(ruling: &Ruling, why: &str) -> Ruling {
    Ruling {
        rationale: format!("{} ({why})", ruling.rationale.as_written()).into(),
        citations: ruling.citations.clone(),
        ..Ruling::bare(RulingWord::Escalate)
    }
}

/// Tells what a citation of a ruling is worth.
pub(crate) type Supports<'a> = &'a dyn Fn(&Ruling, &Reference) -> Support;

type JudgeAnswer<'a> = (AgentName, Option<&'a CallAnswer>);

fn ruling(
    judges: &[JudgeAnswer<'_>],
    finding: &Finding,
    findings: &[Finding],
    require_evidence: bool,
    support: Supports<'_>,
) -> Option<RulingRecord> {
    let by_rule = |word: RulingWord, judges: &[JudgeAnswer<'_>]| {
        word == RulingWord::Escalate && !judges.iter().all(|(_, answer)| matches!(answer, Some(CallAnswer::Judge { ruling }) if doubt(ruling, require_evidence, support).is_none()))
    };
    match judges {
        [] => None,
        [a, b, c] => {
            let votes = [a, b, c].map(|(judge, answer)| {
                let counted = counted(*answer, require_evidence, support);
                PanelVote {
                    judge: judge.clone(),
                    error: counted.as_ref().err().cloned(),
                    ruling: counted.ok(),
                }
            });
            let ruling = panel::rule(finding, findings, &votes);
            Some(RulingRecord {
                by_rule: by_rule(ruling.ruling, judges),
                votes: votes.into(),
                ..RulingRecord::new(ruling, Ruler::Panel)
            })
        }
        [judge, ..] => {
            let ruling =
                counted(judge.1, require_evidence, support).unwrap_or_else(|error| Ruling {
                    rationale: error.into(),
                    ..Ruling::bare(RulingWord::Escalate)
                });
            let name = judge.0.clone();
            Some(RulingRecord {
                by_rule: by_rule(ruling.ruling, &judges[..1]),
                ..RulingRecord::new(ruling, Ruler::Judge { name })
            })
        }
    }
}

/// A judge's ruling, after the citations of the ruling were checked against the tree. Fails with a reason if the
/// judge gave no ruling.
pub fn counted(
    answer: Option<&CallAnswer>,
    require_evidence: bool,
    support: Supports<'_>,
) -> Result<Ruling, String> {
    match answer {
        Some(CallAnswer::Judge { ruling }) => Ok(match doubt(ruling, require_evidence, support) {
            None => ruling.clone(),
            Some(doubt) => escalated(ruling, &doubt),
        }),
        Some(CallAnswer::Invalid { error } | CallAnswer::Failed { error, .. }) => {
            Err(format!("the judge gave no ruling: {error}"))
        }
        Some(_) | None => Err("the judge gave no ruling".to_owned()),
    }
}

/// The reason why a ruling cannot be accepted. Returns `None` if the ruling can be accepted.
fn doubt(ruling: &Ruling, require_evidence: bool, support: Supports<'_>) -> Option<String> {
    if ruling.ruling != RulingWord::Dismiss || !require_evidence {
        return None;
    }
    let in_rationale = || references(ruling.rationale.as_written());
    let explained = ruling.coder_evidence.is_some();
    let cited: Vec<(String, Option<Reference>)> = if ruling.citations.is_empty() {
        in_rationale()
            .map(|found| (found.path.clone(), Some(found)))
            .collect()
    } else {
        let citations = ruling.citations.iter().map(Untrusted::as_written);
        citations
            .map(|citation| (citation.to_owned(), reference(citation)))
            .collect()
    };
    if cited.is_empty() {
        return Some("the judge dismissed it without citing any code".to_owned());
    }
    let missing = cited.iter().find(|(_, found)| {
        !found
            .as_ref()
            .is_some_and(|found| support(ruling, found) != Support::Missing)
    });
    if let Some((citation, _)) = missing {
        return Some(format!(
            "the judge dismissed it citing `{citation}`, which does not exist"
        ));
    }
    let is_elsewhere = cited.iter().all(|(_, found)| {
        found
            .as_ref()
            .is_some_and(|found| support(ruling, found) == Support::Elsewhere)
    });
    if is_elsewhere {
        return Some(format!(
            "the judge dismissed it citing `{}`, which is not near the finding and which neither side names, without \
             saying what it shows",
            cited[0].0
        ));
    }
    // The text of the rationale can cite further lines that the coder wrote, for example as `src/a.rs:7`. The
    // judge has to explain these lines, too.
    let of_rationale = in_rationale().filter(|found| found.lines.is_some());
    let written = cited
        .into_iter()
        .filter_map(|(_, found)| found)
        .chain(of_rationale)
        .find(|found| !explained && support(ruling, found) == Support::Written);
    written.map(|found| {
        let line = found.lines.map(|(first, _)| format!(":{first}")).unwrap_or_default();
        format!(
            "the judge dismissed it citing `{}{line}`, which the coder wrote in this run, without saying in \
             `coder_evidence` why it counts",
            found.path
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::disputes::references::exists;

    fn dismiss(citations: &[&str]) -> CallAnswer {
        CallAnswer::Judge {
            ruling: Ruling {
                ruling: RulingWord::Dismiss,
                rationale: "fine".into(),
                citations: citations
                    .iter()
                    .map(|citation| (*citation).into())
                    .collect(),
                ..Ruling::bare(RulingWord::Escalate)
            },
        }
    }

    #[test]
    fn a_dismissal_needs_evidence_that_exists() {
        let text_of = |path: &str| (path == "a.py").then(|| "one\ntwo\n".to_owned());
        let tree = |_: &Ruling, cited: &Reference| match exists(cited, &text_of) {
            true => Support::Exists,
            false => Support::Missing,
        };
        let word = |answer: &CallAnswer, require| {
            counted(Some(answer), require, &tree)
                .map(|ruling| ruling.ruling)
                .map_err(drop)
        };
        assert_eq!(word(&dismiss(&["a.py:2"]), true), Ok(RulingWord::Dismiss));
        assert_eq!(word(&dismiss(&["a.py:3"]), true), Ok(RulingWord::Escalate));
        assert_eq!(word(&dismiss(&["b.py:1"]), true), Ok(RulingWord::Escalate));
        assert_eq!(
            word(&dismiss(&["a.py:2", "b.py:1"]), true),
            Ok(RulingWord::Escalate)
        );
        assert_eq!(word(&dismiss(&[]), true), Ok(RulingWord::Escalate));
        assert_eq!(word(&dismiss(&[]), false), Ok(RulingWord::Dismiss));
        assert_eq!(
            word(
                &CallAnswer::Invalid {
                    error: "two rulings".into()
                },
                true
            ),
            Err(())
        );
    }
}
