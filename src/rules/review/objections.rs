//! Determines how a coder's answer or a ruling affects a finding.

use crate::domain::{Answer, Disposition, Grounds, Response, Ruling, RulingWord};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stance {
    Implemented,
    Discarded,
    Dispute,
    Unanswered,
}

/// Interprets a coder's answer (specification, "Coder Can Discard?"). The answers `DISCARDED` and `DISAGREE` open a
/// dispute about a mandatory finding, and discard an optional finding.
pub fn stance(mandatory: bool, response: Option<&Response>) -> Stance {
    match (mandatory, response.map(|response| response.answer)) {
        (_, None) => Stance::Unanswered,
        (_, Some(Answer::Implemented)) => Stance::Implemented,
        (true, Some(Answer::Discarded | Answer::Disagree)) => Stance::Dispute,
        (false, Some(Answer::Discarded | Answer::Disagree)) => Stance::Discarded,
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::FindingId;

    fn response(answer: Answer) -> Response {
        Response {
            finding: FindingId::new(1),
            answer,
            text: "".into(),
            evidence: Vec::new(),
        }
    }

    #[test]
    fn the_table_of_answers() {
        let rows = [
            (true, None, Stance::Unanswered),
            (true, Some(Answer::Implemented), Stance::Implemented),
            (true, Some(Answer::Discarded), Stance::Dispute),
            (true, Some(Answer::Disagree), Stance::Dispute),
            (false, None, Stance::Unanswered),
            (false, Some(Answer::Implemented), Stance::Implemented),
            (false, Some(Answer::Discarded), Stance::Discarded),
            (false, Some(Answer::Disagree), Stance::Discarded),
        ];
        for (mandatory, answer, expected) in rows {
            assert_eq!(
                stance(mandatory, answer.map(response).as_ref()),
                expected,
                "{mandatory} {answer:?}"
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
