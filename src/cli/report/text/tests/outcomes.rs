//! Outcomes of the example: reviewed, arbitrated, and with a reviewer that failed.

use crate::cli::style::fixture::{clean, dispute, finding, reviewer, ruling, settled};
use glee_model::domain::{
    AgentName, Answer, AnswerStatus, Class, Confidence, Corroboration, Disposition, DisputeNumber,
    ExitReason, Failure, FileChange, FindingState, Outcome, Position, Role, RulingWord, Severity,
    Skip, SkipReason, Tag, Usage,
};

pub(super) fn reviewed() -> Outcome {
    let mut sql = finding(1, Tag::High, "shop/orders.py:4", "SQL is built from `user`");
    sql.raw.body = "Whoever controls `user` controls the query: it is concatenated into the statement, and the database runs whatever comes out.".into();
    sql.raw.suggestion = Some("Bind the value: execute(\"... u = ?\", (user,))".into());
    sql.raw.rule = Some("python-sql-concat".to_owned());
    sql.raw.confidence = Some(Confidence::clamped(90));
    sql.raised_by.push("codex".into());
    let mut range = finding(2, Tag::Must, "shop/open.js:1", "Do not evaluate a URL");
    range.raw.end_line = Some(3);
    let mut unknown = finding(
        3,
        Tag::High,
        "shop/gone.java:7",
        "The stream is never closed",
    );
    unknown.raw.severity = Severity {
        tag: None,
        raw: "blocker?".to_owned(),
    };
    let mut outcome = clean();
    outcome.exit = ExitReason::FindingsOpen;
    outcome.findings = vec![
        settled(sql, FindingState::Open, None),
        settled(range, FindingState::Open, None),
        settled(unknown, FindingState::Open, None),
        settled(
            finding(
                4,
                Tag::Low,
                "shop/orders.py:6",
                "`x` could have a more descriptive name",
            ),
            FindingState::Open,
            None,
        ),
        settled(
            finding(5, Tag::Medium, "shop/orders.py", "The module has no tests"),
            FindingState::Open,
            None,
        ),
        settled(
            finding(6, Tag::Should, "", "Add a changelog"),
            FindingState::Open,
            None,
        ),
        settled(
            finding(7, Tag::High, "shop/min.js:1", "Remove `eval`"),
            FindingState::Open,
            None,
        ),
    ];
    outcome.proof.reviewers = vec![
        reviewer("rules", AnswerStatus::Complete, 6),
        reviewer("codex", AnswerStatus::Complete, 2),
    ];
    outcome.proof.usage = Usage {
        input_tokens: Some(45_210),
        usd: Some(0.125),
        ..Usage::default()
    };
    outcome.proof.skipped = vec![
        Skip {
            file: "shop/logo.png".to_owned(),
            reason: SkipReason::Binary,
        },
        Skip {
            file: "Cargo.lock".to_owned(),
            reason: SkipReason::Generated,
        },
    ];
    outcome
}

/// The outcome of a run in which the coder fixed, claimed and discarded findings, and in which three disputes ended
/// differently.
pub(super) fn arbitrated() -> Outcome {
    let weak = finding(
        1,
        Tag::High,
        "shop/orders.py:7",
        "MD5 is broken: `hashlib.md5`",
    );
    let eval = finding(2, Tag::Must, "shop/open.js:2", "Do not evaluate a URL");
    let sql = finding(
        3,
        Tag::Critical,
        "shop/orders.py:4",
        "SQL is built from `user`",
    );
    let mut enforced = dispute(
        1,
        weak.clone(),
        "The tag is no secret, and old clients compare it.",
        &["tests/tag.py:3"],
    );
    enforced.rulings = vec![ruling(
        RulingWord::Enforce,
        "The cited test does not exist.",
    )];
    enforced.disposition = Some(Disposition::Enforced);
    let mut dismissed = dispute(
        2,
        eval.clone(),
        "`url` is a constant of this file.",
        &["shop/open.js:9", "README.md:4"],
    );
    dismissed.rulings = vec![ruling(
        RulingWord::Dismiss,
        "The only caller passes a constant.",
    )];
    dismissed.rulings[0].ruling.citations = vec!["shop/open.js:9".into()];
    dismissed.disposition = Some(Disposition::Refuted);
    let mut open = dispute(3, sql.clone(), "The caller checks `user`.", &[]);
    open.rulings = vec![ruling(
        RulingWord::Escalate,
        "The caller is outside the reviewed tree.",
    )];
    let said = |text| Some((Answer::Disagree, text));
    let mut outcome = clean();
    outcome.exit = ExitReason::DisputeOpen;
    outcome.findings = vec![
        settled(
            weak,
            FindingState::Enforced {
                dispute: DisputeNumber(1),
            },
            said("no"),
        ),
        settled(
            eval,
            FindingState::Dismissed {
                dispute: DisputeNumber(2),
            },
            said("no"),
        ),
        settled(
            sql,
            FindingState::Disputed {
                dispute: DisputeNumber(3),
            },
            said("no"),
        ),
        settled(
            finding(4, Tag::Must, "shop/open.js:1", "Rename `open`"),
            FindingState::Resolved,
            Some((Answer::Implemented, "Renamed it to `openUrl`.")),
        ),
        settled(
            finding(5, Tag::Must, "shop/open.js:3", "Return the value"),
            FindingState::Claimed,
            Some((Answer::Implemented, "Done.")),
        ),
        settled(
            finding(6, Tag::Low, "shop/open.js:1", "Document the function"),
            FindingState::Discarded,
            Some((Answer::Discarded, "The name says it.")),
        ),
        settled(
            finding(7, Tag::High, "shop/orders.py:1", "hashlib is slow"),
            FindingState::AlreadyRuled {
                dispute: DisputeNumber(1).into(),
                disposition: Disposition::AcceptedRisk,
            },
            None,
        ),
    ];
    outcome.disputes = vec![enforced, dismissed, open];
    outcome.changes = vec![FileChange {
        file: "shop/open.js".to_owned(),
        added: 1,
        removed: 1,
        diff: Some(
            "diff --git a/shop/open.js b/shop/open.js\n--- a/shop/open.js\n+++ b/shop/open.js\n@@ -1,3 +1,3 @@\n-export function open(url) {\n+export function openUrl(url) {\n   eval(url);\n }\n"
                .to_owned(),
        ),
    }];
    outcome.undoable = true;
    outcome.rounds = 2;
    outcome.proof.reviewers = vec![reviewer("rules", AnswerStatus::Complete, 7)];
    outcome.notices = vec!["no prompt: the default `judge` applies".to_owned()];
    outcome
}

/// The outcome of a run with failed and incomplete reviewers.
pub(super) fn failed() -> Outcome {
    let mut outcome = clean();
    outcome.exit = ExitReason::AgentFailed;
    outcome.proof.reviewers = vec![
        reviewer("rules", AnswerStatus::Clean, 0),
        reviewer("gemini", AnswerStatus::Incomplete, 2),
        reviewer("codex", AnswerStatus::NotReviewed, 0),
        reviewer("claude", AnswerStatus::NotReviewed, 0),
    ];
    outcome.proof.reviewers[2].failure = Some("timed out after 30m".to_owned());
    outcome.proof.reviewers[2].millis = 1_800_000;
    outcome.failures = vec![Failure {
        agent: "codex".into(),
        role: Role::Reviewer,
        error: "timed out after 30m".to_owned(),
        hint: Some("raise the time limit: `glee config set agents.codex.timeout 1h`".to_owned()),
        cause: None,
        call: Some("review.codex.1.1".to_owned()),
    }];
    outcome
}

pub(super) fn consensus(why: String) -> Corroboration {
    let position = |name: &str, sure| Position {
        denial: "".into(),
        reviewer: AgentName::from(name),
        said: String::new(),
        severity: Severity::known(Tag::High),
        confidence: Some(Confidence::clamped(sure)),
        denies: false,
        observed: false,
    };
    Corroboration {
        class: Class::Disputed,
        reviewers: 3,
        vendors: None,
        positions: vec![position("claude", 90), position("codex", 60)],
        confirmed_by: Vec::new(),
        assessments: Vec::new(),
        confidence: Some(Confidence::clamped(95)),
        formula: String::new(),
        score: None,
        why,
        would_decide: "a third reviewer".to_owned(),
        notes: Vec::new(),
        escalate: false,
        doubted: false,
        withdrawn: false,
    }
}
