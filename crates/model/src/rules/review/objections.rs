//! Determines how a coder's answer or a ruling affects a finding.

use crate::domain::{
    Disposition, Dispute, Grounds, Objector, Response, Ruling, RulingWord, Untrusted,
};
use crate::rules::consensus::similarity::vectors::names_code;

/// Returns the disposition of a dispute after a ruling. Returns `None` for the ruling ESCALATE, which leaves the
/// dispute open.
pub fn disposition(ruling: &Ruling) -> Option<Disposition> {
    match ruling.ruling {
        RulingWord::Enforce => Some(Disposition::Enforced),
        RulingWord::Escalate => None,
        RulingWord::Dismiss => Some(match (&ruling.duplicate_of, ruling.grounds) {
            (Some(of), _) => Disposition::Duplicate { of: of.to_string() },
            (None, Some(Grounds::NotMandatory)) => Disposition::NotMandatory,
            (None, _) if ruling.new_tag.is_some() => Disposition::NotMandatory,
            (None, Some(Grounds::Duplicate)) => Disposition::Duplicate { of: String::new() },
            // If the grounds are neither `NotMandatory` nor `Duplicate`, a DISMISS means that the finding is
            // wrong.
            (None, _) => Disposition::Refuted,
        }),
    }
}

/// Whether the objection of the coder, or of a person in a pull request, names nothing that can be looked up. Evidence
/// names code, a file, a number or an address; the text of the objection has to name a line of a file.
pub fn lacks_evidence(objector: Objector, objection: &Response) -> bool {
    let objects = matches!(objector, Objector::Coder | Objector::Participant);
    let mut evidence = objection.evidence.iter().map(Untrusted::as_written);
    let text = objection.text.as_written();
    objects && !evidence.any(names_something) && !text.split_whitespace().any(names_line)
}

/// Says who objects, and whether the objection lacks evidence.
pub fn heading(dispute: &Dispute) -> String {
    let heading = dispute.objector.heading();
    if lacks_evidence(dispute.objector, &dispute.objection) {
        format!("{heading} without evidence")
    } else {
        heading.to_owned()
    }
}

fn names_something(text: &str) -> bool {
    names_code(text)
        || text.contains(|c: char| c.is_ascii_digit())
        || text.contains("://")
        || text.split_whitespace().any(|word| {
            let mut parts = word.split('.').skip(1);
            parts.any(|part| part.starts_with(char::is_alphanumeric)) && !word.starts_with('.')
        })
}

fn names_line(word: &str) -> bool {
    word.split_once(':').is_some_and(|(path, line)| {
        path.contains('.') && line.starts_with(|c: char| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Answer, FindingId};

    fn response(answer: Answer) -> Response {
        Response {
            finding: FindingId::new(1),
            answer,
            text: "".into(),
            evidence: Vec::new(),
            demonstration: None,
        }
    }

    #[test]
    fn the_table_of_objections_without_evidence() {
        let rows: [(&str, &[&str], bool); 9] = [
            ("I think my way is better", &[], true),
            ("I think my way is better.", &["none"], true),
            ("It is fine", &["I have always done it so"], true),
            ("See the code, e.g. the rest of it", &["n/a"], true),
            ("it names a cache entry", &["app.py:2"], false),
            ("app.py:2 names a cache entry", &[], false),
            (
                "the readers rely on it",
                &["`load` is called by two"],
                false,
            ),
            (
                "it is asked for",
                &["requirement 4 of the specification"],
                false,
            ),
            ("it is asked for", &["README.md says so"], false),
        ];
        for (text, evidence, expected) in rows {
            let objection = Response {
                text: text.into(),
                evidence: evidence.iter().map(|text| (*text).into()).collect(),
                ..response(Answer::Disagree)
            };
            assert_eq!(
                lacks_evidence(Objector::Coder, &objection),
                expected,
                "{text} {evidence:?}"
            );
            assert!(
                !lacks_evidence(Objector::Reviewers, &objection),
                "reviewers contradict each other"
            );
        }
    }

    #[test]
    fn the_table_of_rulings() {
        let ruling = |word, grounds, new_tag, duplicate_of| Ruling {
            ruling: word,
            rationale: "".into(),
            grounds,
            citations: Vec::new(),
            new_tag,
            duplicate_of,
            coder_evidence: None,
            members: Vec::new(),
        };
        use RulingWord::{Dismiss, Enforce, Escalate};
        assert_eq!(
            disposition(&ruling(Enforce, None, None, None)),
            Some(Disposition::Enforced)
        );
        assert_eq!(disposition(&ruling(Escalate, None, None, None)), None);
        assert_eq!(
            disposition(&ruling(Dismiss, None, None, None)),
            Some(Disposition::Refuted)
        );
        assert_eq!(
            disposition(&ruling(Dismiss, Some(Grounds::NotMandatory), None, None)),
            Some(Disposition::NotMandatory)
        );
        assert_eq!(
            disposition(&ruling(Dismiss, None, Some(crate::domain::Tag::Low), None)),
            Some(Disposition::NotMandatory)
        );
        assert_eq!(
            disposition(&ruling(
                Dismiss,
                Some(Grounds::Duplicate),
                None,
                Some(FindingId::new(2))
            )),
            Some(Disposition::Duplicate { of: "F2".into() })
        );
    }
}
