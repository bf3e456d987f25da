//! Tests complete merges: the groups, the conflicts and the statistics.

use super::*;
use crate::domain::{Confidence, Location, RawFinding, Severity, Untrusted};

mod properties;
mod specified;

/// A flat form of a member, for the tables of the tests.
#[derive(Clone, Debug, Default)]
struct Claim {
    id: String,
    model: String,
    file: Option<String>,
    line: Option<u32>,
    block: Option<(u32, u32)>,
    severity: Option<Level>,
    confidence: Option<u8>,
    category: Option<String>,
    title: String,
    description: String,
    suggestion: String,
    denies: bool,
    checked: CheckedEvidence,
}

fn members(claims: &[Claim]) -> Vec<Member> {
    claims
        .iter()
        .cloned()
        .map(|claim| Member {
            id: claim.id,
            model: claim.model,
            block: claim.block,
            denies: claim.denies,
            checked: claim.checked,
            raw: RawFinding {
                severity: Severity::known(claim.severity.unwrap_or(Level::Medium).tag()),
                title: claim.title.into(),
                body: claim.description.into(),
                file: claim.file,
                line: claim.line,
                category: claim.category,
                suggestion: Some(claim.suggestion)
                    .filter(|text| !text.is_empty())
                    .map(Untrusted::from),
                confidence: claim
                    .confidence
                    .map(|sure| Confidence::clamped(sure.into())),
                ..RawFinding::default()
            },
            ..Member::default()
        })
        .collect()
}

fn merge(claims: &[Claim], debate: &Debate, tree: &[String], policy: Policy) -> Consensus {
    super::merge(&members(claims), debate, tree, policy, &Answers::default())
}

fn claim(model: &str, line: u32, severity: Level, confidence: u8, title: &str) -> Claim {
    Claim {
        id: format!("{model}-{line}-{title}"),
        model: model.to_owned(),
        file: Some("src/db.py".to_owned()),
        line: Some(line),
        severity: Some(severity),
        confidence: Some(confidence),
        category: Some("bug".to_owned()),
        title: title.to_owned(),
        description: format!("When the pool is empty, `acquire` fails: {title}"),
        suggestion: "check `pool.len()` first".to_owned(),
        ..Claim::default()
    }
}

fn merged(claims: &[Claim], policy: Policy) -> Consensus {
    merge(claims, &Debate::default(), &[], policy)
}

/// Returns the class, agreement, severity and confidence of each group.
fn rows(consensus: &Consensus) -> Vec<(Class, Option<Agreement>, Level, u8)> {
    consensus
        .groups
        .iter()
        .map(|d| {
            (
                d.class,
                d.agreement,
                d.severity,
                d.confidence.expect("stated"),
            )
        })
        .collect()
}

const TITLE: &str = "Empty pool breaks acquire";

#[test]
fn the_table_of_agreement() {
    use Agreement::{Majority, Unanimous};
    let three = |severities: [Level; 3]| {
        let [a, b, c] = severities;
        [
            claim("a", 10, a, 70, TITLE),
            claim("b", 10, b, 80, TITLE),
            claim("c", 12, c, 60, TITLE),
        ]
    };
    let same = three([Level::High; 3]);
    for policy in Policy::ALL {
        assert_eq!(
            rows(&merged(&same, policy)),
            [(Class::Accepted, Some(Unanimous), Level::High, 95)],
            "{policy:?}"
        );
    }
    let other = [
        same[0].clone(),
        same[1].clone(),
        claim("c", 400, Level::Low, 90, "Unused import of json"),
    ];
    let found = rows(&merged(&other, Policy::Specification));
    assert_eq!(
        found[0],
        (Class::Accepted, Some(Majority), Level::High, 90),
        "2 of 3: +10"
    );
    let split = three([Level::High, Level::Medium, Level::Medium]);
    assert_eq!(
        rows(&merged(&split, Policy::Specification))[0].2,
        Level::Medium,
        "the median"
    );
    let two = [
        claim("a", 10, Level::High, 70, TITLE),
        claim("b", 10, Level::Medium, 80, TITLE),
    ];
    assert_eq!(
        rows(&merged(&two, Policy::Specification))[0].2,
        Level::High,
        "the higher of two adjacent ones"
    );
}

#[test]
fn the_three_match_rules_of_the_specification() {
    let base = claim("a", 10, Level::High, 80, TITLE);
    let at = |line, category: &str, block| Claim {
        category: Some(category.to_owned()),
        block,
        ..claim("b", line, Level::High, 80, "Something else entirely")
    };
    let rows = [
        (at(10, "bug", None), true, "the same line"),
        (
            at(10, "security", None),
            true,
            "the same line, a similar category",
        ),
        (at(15, "bug", None), true, "within five lines"),
        (
            at(15, "security", None),
            false,
            "within five lines, another category",
        ),
        (at(16, "bug", None), false, "six lines apart"),
        (at(60, "bug", Some((1, 90))), true, "the same function"),
        (
            at(60, "performance", Some((1, 90))),
            false,
            "the same function, another category",
        ),
    ];
    for (other, together, why) in rows {
        let first = Claim {
            block: Some((1, 90)),
            ..base.clone()
        };
        let found = merged(&[first, other], Policy::Specification);
        assert_eq!(found.groups.len() == 1, together, "{why}");
    }
}

#[test]
fn a_place_alone_never_groups_under_panel() {
    let claims = [
        claim("a", 10, Level::High, 80, TITLE),
        Claim {
            description: "Spelling".into(),
            suggestion: String::new(),
            ..claim("b", 10, Level::Low, 80, "Typo in comment")
        },
    ];
    assert_eq!(merged(&claims, Policy::Panel).groups.len(), 2);
}

#[test]
fn conflicts_by_type() {
    let weak = |model: &str, severity| Claim {
        description: "bad".into(),
        suggestion: String::new(),
        ..claim(model, 10, severity, 60, "Empty pool")
    };
    let strong = claim("a", 10, Level::High, 90, TITLE);
    let far = merged(
        &[strong.clone(), weak("b", Level::Low)],
        Policy::Specification,
    );
    assert_eq!(
        far.groups[0].state,
        GroupState::Conflicted(ConflictKind::Severity)
    );
    assert_eq!(
        rows(&far),
        [(
            Class::Accepted,
            Some(Agreement::ConflictResolved),
            Level::High,
            80
        )],
        "winner - 10"
    );

    let balanced = merged(
        &[strong.clone(), claim("b", 10, Level::Low, 70, TITLE)],
        Policy::Specification,
    );
    assert_eq!(
        rows(&balanced),
        [(Class::Disputed, None, Level::High, 70)],
        "the minimum"
    );
    assert!(
        balanced.groups[0].escalate,
        "grave, unresolved, and nothing else decides"
    );
    let question = &balanced.groups[0].notes[0];
    for part in [
        "a claims",
        "src/db.py:10",
        "severity high",
        "but b claims",
        "Evidence from a",
        "Resolution criteria",
    ] {
        assert!(question.contains(part), "{part} in {question}");
    }
    assert!(!question.contains(": ."), "{question}");

    let denial = Claim {
        denies: true,
        ..claim("b", 10, Level::High, 70, TITLE)
    };
    for policy in Policy::ALL {
        let denied = merged(&[strong.clone(), denial.clone()], policy);
        assert_eq!(
            denied.groups[0].state,
            GroupState::Conflicted(ConflictKind::Validity)
        );
        assert_eq!(
            rows(&denied),
            [(Class::Disputed, None, Level::High, 70)],
            "{policy:?}"
        );
    }

    let cause = Claim {
        description: "Timeouts are shorter than retries, so when `retry` runs the call fails"
            .into(),
        ..claim("b", 10, Level::High, 75, "Retry storm")
    };
    let causes = merged(&[strong, cause], Policy::Specification);
    assert_eq!(
        causes.groups[0].state,
        GroupState::Conflicted(ConflictKind::Cause)
    );
    assert_eq!(
        rows(&causes),
        [(
            Class::Accepted,
            Some(Agreement::ConflictResolved),
            Level::High,
            83
        )],
        "the average"
    );
}

#[test]
fn one_reviewer_alone() {
    let critical = |confidence| {
        merged(
            &[claim("a", 10, Level::Critical, confidence, TITLE)],
            Policy::Specification,
        )
    };
    assert_eq!(
        rows(&critical(85)),
        [(
            Class::Accepted,
            Some(Agreement::SingleSourceValidated),
            Level::Critical,
            80
        )]
    );
    assert_eq!(critical(84).groups[0].class, Class::Disputed, "rule 9");
    let low = critical(65);
    assert!(
        low.groups[0]
            .notes
            .iter()
            .any(|note| note.contains("extraordinary claim"))
    );
    let vague = Claim {
        title: "Could be nicer".into(),
        description: "Meh".into(),
        suggestion: String::new(),
        line: None,
        ..claim("a", 1, Level::Low, 45, "")
    };
    let rejected = merged(std::slice::from_ref(&vague), Policy::Specification);
    assert_eq!(rejected.groups[0].class, Class::Rejected);
    assert!(!rejected.groups[0].reversal.is_empty() && !rejected.groups[0].why.is_empty());
    let kept = merged(&[vague], Policy::Panel);
    assert_eq!(
        rows(&kept),
        [(Class::Uncorroborated, None, Level::Low, 45)],
        "a panel deletes nothing"
    );
}

#[test]
fn reviewers_of_one_vendor_count_less() {
    let of = |a, b| {
        merged(
            &[
                claim(a, 10, Level::High, 70, TITLE),
                claim(b, 10, Level::High, 70, TITLE),
            ],
            Policy::Panel,
        )
    };
    assert_eq!(of("opus", "gpt-5").groups[0].confidence, Some(80));
    assert_eq!(of("opus", "sonnet").groups[0].confidence, Some(77));
    let vendors = |a, b| (of(a, b).groups[0].vendors, of(a, b).groups[0].agreement);
    assert_eq!(vendors("opus", "gpt-5"), (None, Some(Agreement::Unanimous)));
    assert_eq!(
        vendors("opus", "sonnet"),
        (Some(1), Some(Agreement::SingleSourceValidated)),
        "the reviewers of one vendor are one voice"
    );
}

#[test]
fn no_findings_is_agreement_that_the_code_passed() {
    let debate = Debate {
        reviewers: vec!["a".into(), "b".into()],
        ..Debate::default()
    };
    let consensus = merge(&[], &debate, &[], Policy::Specification);
    assert!(consensus.groups.is_empty());
    assert_eq!(
        consensus.summary,
        "All 2 reviewers agree that the code passed review: no findings."
    );
}

#[test]
fn the_same_cause_elsewhere_is_one_finding_of_the_specification() {
    let claims = [
        claim("a", 10, Level::High, 90, TITLE),
        claim("a", 300, Level::High, 90, TITLE),
    ];
    let consensus = merged(&claims, Policy::Specification);
    assert_eq!(consensus.groups.len(), 1);
    assert!(
        consensus.groups[0]
            .notes
            .iter()
            .any(|note| note == &format!("also at src/db.py:300: {TITLE}"))
    );
}

#[test]
fn the_specification_keeps_the_members_of_a_joined_finding() {
    let mut claims = [
        claim("a", 10, Level::High, 90, TITLE),
        claim("a", 10, Level::High, 90, TITLE),
    ];
    claims[1].file = Some("src/other.py".into());
    claims[1].id = "elsewhere".into();
    let consensus = merged(&claims, Policy::Specification);
    let members = members(&claims);
    let debate = Debate::default();
    let answer = consensus.answer(&members, &debate, Policy::Specification, None);
    let answer = serde_json::to_value(answer).expect("JSON");
    let members = &answer["findings"][0]["members"];
    assert_eq!(members[0]["file"], "src/db.py");
    assert_eq!(members[1]["file"], "src/other.py");
}

fn at(id: &str, model: &str, line: u32, cwe: Option<u16>, text: [&str; 2]) -> Member {
    Member {
        id: id.to_owned(),
        model: model.to_owned(),
        raw: RawFinding {
            title: text[0].into(),
            body: text[1].into(),
            file: Some("a.py".to_owned()),
            line: Some(line),
            cwe: cwe.map(crate::domain::Cwe),
            ..RawFinding::default()
        },
        ..Member::default()
    }
}

#[test]
fn an_answer_joins_or_keeps_apart_whatever_the_words_and_is_not_asked_again() {
    let members = [
        at(
            "x",
            "a",
            5,
            Some(89),
            ["SQL injection", "The name is formatted into the query."],
        ),
        at(
            "y",
            "b",
            5,
            Some(89),
            ["Query built from input", "The name is formatted into SQL."],
        ),
        at(
            "z",
            "c",
            6,
            None,
            ["Bind the parameter", "Formatting lets anybody change it."],
        ),
        at("far", "c", 90, None, ["Nothing alike", "At all."]),
    ];
    let merged = |said: &[(&str, &str, bool)]| {
        let mut answers = Answers::default();
        for (a, b, same) in said {
            answers.add(a, b, *same);
        }
        let debate = Debate::default();
        let consensus = super::merge(&members, &debate, &[], Policy::Panel, &answers);
        let mut groups: Vec<Vec<usize>> = consensus
            .groups
            .into_iter()
            .map(|group| group.members)
            .collect();
        for group in &mut groups {
            group.sort_unstable();
        }
        groups.sort();
        (groups, consensus.unsure)
    };
    assert_eq!(
        merged(&[]).0,
        [vec![0, 1], vec![2], vec![3]],
        "the same weakness on one line"
    );
    let apart = merged(&[("y", "x", false)]);
    assert_eq!(apart.0, [vec![0], vec![1], vec![2], vec![3]]);
    assert!(!apart.1.contains(&(0, 1)) && !apart.1.contains(&(1, 0)));
    assert_eq!(merged(&[("x", "far", true)]).0, [vec![0, 1, 3], vec![2]]);
    assert_eq!(
        merged(&[("x", "z", true), ("y", "z", false)]).0.len(),
        3,
        "a group holds no two findings that are different"
    );
}

#[test]
fn the_table_of_advisories() {
    let id = "RUSTSEC-2020-0071".to_owned();
    let version = "time 0.1.43".to_owned();
    let confirmed = AdvisoryStatus::Confirmed {
        id: id.clone(),
        version: version.clone(),
    };
    let patched = AdvisoryStatus::Patched {
        id,
        version,
        fixed: "0.1.40".into(),
    };
    let rows = [
        (AdvisoryStatus::Unasked, Level::High, 80, 0, None),
        (AdvisoryStatus::Nothing, Level::High, 80, 1, None),
        (
            confirmed,
            Level::High,
            90,
            1,
            Some("confirmed by RUSTSEC-2020-0071: time 0.1.43 is affected"),
        ),
        (
            patched,
            Level::Medium,
            80,
            1,
            Some(
                "RUSTSEC-2020-0071 is patched since 0.1.40, and time 0.1.43 is locked: one severity lower",
            ),
        ),
    ];
    for (advisory, severity, confidence, checked, note) in rows {
        let mut claim = claim("a", 10, Level::High, 80, TITLE);
        claim.checked.advisory = advisory.clone();
        let consensus = merged(&[claim], Policy::Panel);
        let decision = &consensus.groups[0];
        assert_eq!(
            (decision.severity, decision.confidence),
            (severity, Some(confidence)),
            "{advisory:?}"
        );
        assert_eq!(
            consensus.statistics.security_advisories_checked, checked,
            "{advisory:?}"
        );
        assert_eq!(
            decision
                .notes
                .iter()
                .find(|said| said.contains("RUSTSEC"))
                .map(String::as_str),
            note
        );
    }
}

#[test]
fn findings_with_several_places_are_compared_by_their_nearest_places() {
    let at = |file: &str, line| (file.to_owned(), line);
    let groups = |places: &[&[(String, u32)]]| {
        let claims = ["a", "b"].map(|model| claim(model, 10, Level::High, 80, TITLE));
        let mut members = members(&claims);
        for (member, places) in members.iter_mut().zip(places) {
            member.raw.file = Some(places[0].0.clone());
            member.raw.line = Some(places[0].1);
            let further = places[1..].iter();
            member.raw.places = further
                .map(|(file, line)| Location::line(file, *line))
                .collect();
        }
        let answers = Answers::default();
        super::merge(&members, &Debate::default(), &[], Policy::Panel, &answers)
            .groups
            .len()
    };
    let db = at("db.py", 10);
    let web = at("web.py", 400);
    for (one, other, expected) in [
        (
            vec![db.clone(), web.clone()],
            vec![web.clone(), db.clone()],
            1,
        ),
        (vec![db.clone(), web.clone()], vec![web.clone()], 1),
        (vec![web.clone()], vec![at("a.py", 1), at("web.py", 401)], 1),
        (
            vec![db.clone(), web.clone()],
            vec![at("a.py", 10), at("web.py", 9)],
            2,
        ),
    ] {
        assert_eq!(groups(&[&one, &other]), expected, "{one:?} {other:?}");
    }
}
