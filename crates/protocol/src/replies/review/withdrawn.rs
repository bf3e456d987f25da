//! Recognises a finding that its reviewer takes back in the text of the finding, as in `On reflection, this is fine.`

use std::sync::LazyLock;

use regex::Regex;

use crate::text::pattern;
use glee_model::domain::{RawFinding, Severity, Tag};

/// The last sentence of a text that takes the finding back: it says so, or it begins anew and says that the code is
/// right.
static TAKES_BACK: LazyLock<Regex> = LazyLock::new(|| {
    let again = "(?:on (?:reflection|second thoughts?|closer (?:look|inspection)|re-?reading)|actually|looking (?:again|closer)|hmm|wait)";
    let right = "(?:is|are|was|looks|seems) (?:indeed |actually |perfectly |all )?(?:fine|ok(?:ay)?|correct|right|intended|intentional|safe|not (?:a|an) (?:issue|problem|bug|defect)|no (?:issue|problem|bug|defect))";
    let withdraws = "(?:i (?:hereby )?)?(?:withdraw|retract)(?:n|ed|ing)?\\b(?: (?:this|it|the) ?(?:finding|one)?)?";
    let ignores = "(?:please )?(?:disregard|ignore) (?:this|it)(?: finding)?";
    pattern(&format!(
        r"(?i)(?:^|[.!?;:)—–-]\s+|\n)\W*(?:{again}\b[^.!?\n]*\b{right}|never ?mind|scratch that|false alarm|{withdraws}|{ignores})\b[^.!?\n]{{0,60}}\W*$"
    ))
});

pub(super) fn is_withdrawn(finding: &RawFinding) -> bool {
    let body = finding.body.as_written().trim();
    let text = if body.is_empty() {
        finding.title.as_written()
    } else {
        body
    };
    TAKES_BACK.is_match(text)
}

/// The finding is shown, and does not block.
pub(super) fn lower(finding: &mut RawFinding) {
    finding.severity = Severity::known(Tag::Low);
    finding.title = format!(
        "{} (taken back in its own text)",
        finding.title.as_written()
    )
    .into();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_sentence_takes_back() {
        for (body, expected) in [
            ("The handle leaks. On reflection this is fine.", true),
            (
                "On second thought, the caller closes it, so it is not a problem.",
                true,
            ),
            ("It leaks.\n\nNever mind.", true),
            ("It leaks - actually, the guard above is correct.", true),
            ("I withdraw this finding.", true),
            ("False alarm, the lock is held.", true),
            ("Please ignore this finding.", true),
            (
                "On reflection this is fine. It still leaks in the error path.",
                false,
            ),
            ("The code ignores this error.", false),
            ("Callers disregard it.", false),
            ("Actually the hash is weak.", false),
            (
                "The comment says `never mind` and swallows the error.",
                false,
            ),
            ("The first branch is fine.", false),
            ("", false),
        ] {
            let finding = RawFinding {
                title: "Close it".into(),
                body: body.into(),
                ..RawFinding::default()
            };
            assert_eq!(is_withdrawn(&finding), expected, "{body}");
        }
    }
}
