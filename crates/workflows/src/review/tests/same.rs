//! Tests that the aggregator is asked once about findings that may be the same, and that a run does not depend on it.

use super::*;
use glee_model::domain::FindingId;
use glee_protocol::calls::same::SameCall;
use glee_store::config::choices::{Compare, DebateRounds};

const A: &str = "[MUST] app.py:2 Replace the weak md5 hash";
const B: &str = "[MUST] app.py:2 Two inputs can share one cache entry, since digests collide";

fn bench() -> Bench {
    let mut bench = Bench::new();
    panel(&mut bench, &["a", "b"]);
    bench.settings.agents.push(agent("g", Role::Aggregator));
    bench
}

fn reviews() -> ScriptedRunner {
    ScriptedRunner::new()
        .on("a", "review", review(A, 1))
        .on("b", "review", review(B, 1))
}

/// Gives `word` as the answer to every pair.
fn says(word: &'static str) -> impl Fn(&Request) -> Script + Send + Sync + 'static {
    move |request| {
        let pairs = request.task.pairs();
        let lines: Vec<String> = pairs
            .iter()
            .map(|pair| format!("[{pair}] {word}: so it seems\n"))
            .collect();
        let lines = lines.concat();
        let nonce = &request.nonce;
        Script::prints(format!(
            "{lines}GLEE-SAME-END nonce={nonce} answers={}\n",
            pairs.len()
        ))
    }
}

fn raisers(left: &Left) -> Vec<Vec<String>> {
    let findings = left.ended.outcome.findings.iter();
    findings
        .map(|settled| {
            let names = settled.finding.consensus.iter().flat_map(|c| &c.positions);
            names.map(|position| position.reviewer.0.clone()).collect()
        })
        .collect()
}

fn undecided(left: &Left) -> Vec<Vec<FindingId>> {
    let findings = left.ended.outcome.findings.iter();
    findings
        .map(|settled| settled.finding.may_be.clone())
        .collect()
}

fn ids(left: &Left) -> Vec<String> {
    let findings = left.ended.outcome.findings.iter();
    findings
        .map(|settled| settled.finding.id.to_string())
        .collect()
}

#[test]
fn the_aggregator_is_asked_before_the_merge_and_its_answer_joins_or_keeps_apart() {
    let bench = bench();
    let left = bench.review(Mode::Review, reviews().on("g", "same", says("SAME")));
    assert_eq!(
        left.heard.events,
        [
            "run_started",
            "ask review-1-0.a.1",
            "ask review-1-0.b.1",
            "files_reviewed",
            "files_reviewed",
            "pairs_unsure",
            "ask same-1.g.1",
            "findings_compared",
            "findings_merged",
            "run_ended"
        ]
    );
    let groups = raisers(&left);
    assert!(
        groups.iter().all(|names| *names == ["a", "b"]),
        "{groups:?}"
    );
    let consensus = left.ended.outcome.findings[0].finding.consensus.as_ref();
    let notes = &consensus.unwrap().notes;
    assert!(
        notes.contains(&"a and b name the same defect, says g: so it seems".to_owned()),
        "{notes:?}"
    );
    let Task::Same(SameCall {
        pairs,
        findings,
        files,
    }) = &left.runner.seen()[2].request.task
    else {
        panic!("the aggregator compares")
    };
    assert_eq!((pairs.len(), findings.len(), files.len()), (1, 2, 1));
    assert_eq!(
        files[0].text, "def key(data):\n    return md5(data)\n\n\n\n\n",
        "only the block of the findings is shown, once"
    );

    let other = self::bench();
    let left = other.review(Mode::Review, reviews().on("g", "same", says("DIFFERENT")));
    assert_eq!(raisers(&left), [["a"], ["b"]]);
    assert_eq!(undecided(&left), [[], []], "they were told apart");
}

#[test]
fn an_answer_is_reused_by_a_later_run_until_a_text_or_the_code_changes() {
    let bench = bench();
    bench.review(Mode::Review, reviews().on("g", "same", says("SAME")));
    let again = bench.review(Mode::Review, ScriptedRunner::new());
    assert_eq!(again.asked(), [""; 0], "nothing is asked or paid twice");
    assert!(raisers(&again).iter().all(|names| *names == ["a", "b"]));

    bench.write(&CODE.replace("md5(data)", "md5(data + salt)"));
    let changed = bench.review(Mode::Review, reviews().on("g", "same", says("DIFFERENT")));
    assert_eq!(changed.asked(), ["a review", "b review", "g same"]);
    assert_eq!(raisers(&changed), [["a"], ["b"]]);
}

#[test]
fn without_an_answer_both_stay_side_by_side_and_the_exit_code_is_the_same() {
    let limited = |_: &Request| Script::fails(1, "429 Too Many Requests: rate limit exceeded");
    let silent = |_: &Request| Script::prints("no idea");
    let both = [[FindingId::new(2)], [FindingId::new(1)]];
    for (case, runner, calls) in [
        ("rate limited", reviews().on("g", "same", limited), 3),
        ("unreadable, twice", reviews().on("g", "same", silent), 4),
    ] {
        let left = bench().review(Mode::Review, runner);
        let outcome = &left.ended.outcome;
        assert_eq!(left.asked().len(), calls, "{case}");
        assert_eq!(undecided(&left), both, "{case}");
        assert_eq!(
            (outcome.exit, outcome.failures.len(), left.ended.rest),
            (ExitReason::FindingsOpen, 0, Rest::Ended),
            "{case}"
        );
        assert!(
            outcome.notices[0].starts_with("`g` did not compare findings that may be the same: "),
            "{case}: {:?}",
            outcome.notices
        );
    }

    let mut spent = bench();
    spent.settings.budget.calls = Some(2);
    let left = spent.review(Mode::Review, reviews());
    assert_eq!(left.ended.outcome.exit, ExitReason::FindingsOpen);
    assert_eq!(undecided(&left), both);

    let mut off = bench();
    off.settings.review.compare = Compare::Off;
    let left = off.review(Mode::Review, reviews());
    assert_eq!(
        (left.asked().len(), undecided(&left)),
        (2, both.map(Vec::from).into())
    );

    let mut nobody = bench();
    nobody
        .settings
        .agents
        .retain(|agent| agent.role != Role::Aggregator);
    let left = nobody.review(Mode::Review, reviews());
    assert_eq!(
        (left.asked().len(), undecided(&left)),
        (2, both.map(Vec::from).into())
    );
    assert_eq!(left.ended.outcome.notices, [""; 0]);
}

#[test]
fn what_a_reviewer_raises_in_the_debate_is_compared_before_the_debate_is_concluded() {
    let debated = || {
        let mut bench = bench();
        bench.settings.review.debate = DebateRounds::Two;
        bench
    };
    let new = B.replacen("[MUST]", "[NEW MUST]", 1);
    let examined = || {
        let answer = format!("[F1] AGREE +5: line 2 calls it\n{new}");
        ScriptedRunner::new()
            .on("a", "review", review(A, 1))
            .on("b", "review", review("", 0))
            .on("b", "examine", move |request| {
                debates(&answer, "GLEE-EXAMINE-END")(request)
            })
    };
    let bench = debated();
    let left = bench.review(Mode::Review, examined().on("g", "same", says("SAME")));
    assert_eq!(
        left.heard.events[5..],
        [
            "findings_merged",
            "ask examine-1.b.1",
            "debate_round",
            "pairs_unsure",
            "ask same-1-debate.g.1",
            "findings_compared",
            "debate_concluded",
            "debate_shutdown",
            "run_ended"
        ]
    );
    assert_eq!(ids(&left), ["F1", "F1b"], "one group of two");
    let again = bench.review(Mode::Review, examined());
    assert!(
        !again.asked().contains(&"g same".to_owned()),
        "{:?}",
        again.asked()
    );
    assert_eq!(ids(&again), ["F1", "F1b"]);

    let told_apart = debated().review(Mode::Review, examined().on("g", "same", says("DIFFERENT")));
    assert_eq!(ids(&told_apart), ["F1", "F2"]);
    assert_eq!(undecided(&told_apart), [[], []]);

    let fails = |_: &Request| Script::fails(1, "gone");
    let failed = debated().review(Mode::Review, examined().on("g", "same", fails));
    let both = [[FindingId::new(2)], [FindingId::new(1)]];
    assert_eq!(undecided(&failed), both);
    let outcome = &failed.ended.outcome;
    assert_eq!(
        (outcome.exit, outcome.failures.len()),
        (ExitReason::FindingsOpen, 0)
    );

    // A debate in which nobody raises anything makes no second call.
    let agreed = debated().review(
        Mode::Review,
        reviews()
            .on("g", "same", says("DIFFERENT"))
            .on(
                "a",
                "examine",
                debates("[F2] AGREE +5: yes", "GLEE-EXAMINE-END"),
            )
            .on(
                "b",
                "examine",
                debates("[F1] AGREE +5: yes", "GLEE-EXAMINE-END"),
            ),
    );
    let asked = agreed.asked();
    let calls = asked.iter().filter(|asked| *asked == "g same").count();
    assert_eq!(calls, 1, "{asked:?}");
}

/// Another reviewer's words for [`A`].
const A_AGAIN: &str = "[MUST] app.py:2 With md5, whoever chooses the input can forge an entry";

#[test]
fn an_earlier_finding_without_a_dispute_is_compared_in_the_same_call_and_keeps_its_number() {
    let again = |word| {
        let mut bench = bench();
        panel(&mut bench, &["a"]);
        bench.settings.agents.push(agent("g", Role::Aggregator));
        let first = bench.review(
            Mode::Review,
            ScriptedRunner::new().on("a", "review", review(A, 1)),
        );
        assert_eq!(ids(&first), ["F1"]);
        panel(&mut bench, &["b", "c"]);
        let runner = || {
            ScriptedRunner::new()
                .on("b", "review", review(A_AGAIN, 1))
                .on("c", "review", review(B, 1))
        };
        let left = bench.review(Mode::Review, runner().on("g", "same", says(word)));
        assert_eq!(left.asked(), ["b review", "c review", "g same"]);
        let Task::Same(SameCall {
            pairs,
            findings,
            files,
        }) = &left.runner.seen()[2].request.task
        else {
            panic!("the aggregator compares")
        };
        assert_eq!((pairs.len(), findings.len(), files.len()), (2, 3, 1));
        let earlier = findings.last().map(|finding| &finding.raw);
        assert_eq!(
            earlier.map(|raw| (raw.title.as_written(), raw.line)),
            Some(("Replace the weak md5 hash", Some(2)))
        );
        let settled = bench.review(Mode::Review, ScriptedRunner::new());
        assert_eq!(ids(&settled), ids(&left), "nothing is asked twice");
        left
    };
    assert_eq!(ids(&again("SAME")), ["F1a", "F1b"]);
    assert_eq!(ids(&again("DIFFERENT")), ["F2", "F3"]);
}

#[test]
fn answers_to_pairs_that_were_not_asked_and_contradictory_answers_join_nothing() {
    for answer in [
        "[P9] SAME: x\n[F1] SAME: x\n",
        "[P1] SAME: x\n[P1] DIFFERENT: y\n",
        "[P1] DIFFERENT: y\n[P1] SAME: x\n",
        "[P1] SAME: a nonce that was not given\nGLEE-SAME-END nonce=0123456789abcdef0123456789abcdef answers=1\n",
    ] {
        let runner = reviews().on("g", "same", move |request| {
            let nonce = &request.nonce;
            let closing = match answer.contains("END") {
                true => String::new(),
                false => format!("GLEE-SAME-END nonce={nonce} answers=1\n"),
            };
            Script::prints(format!("{answer}{closing}"))
        });
        let left = bench().review(Mode::Review, runner);
        assert_eq!(raisers(&left), [["a"], ["b"]], "{answer}");
    }
}

#[test]
fn at_most_forty_pairs_and_32_kilobytes_are_asked_and_the_rest_stays_undecided() {
    let mut bench = bench();
    panel(&mut bench, &["a", "b"]);
    let many = |words: &str| -> String {
        let lines: Vec<String> = (0..12)
            .map(|n| {
                format!(
                    "[MUST] app.py:2 {words} number {n} of its own kind\n  {}",
                    "y ".repeat(700)
                )
            })
            .collect();
        lines.join("\n")
    };
    let runner = ScriptedRunner::new()
        .on("a", "review", review(&many("A weak digest for keys"), 12))
        .on(
            "b",
            "review",
            review(&many("Collisions corrupt the cache"), 12),
        )
        .on("g", "same", says("DIFFERENT"));
    let left = bench.review(Mode::Review, runner);
    let seen = left.runner.seen();
    let compared = seen.iter().find(|seen| seen.request.task.kind() == "same");
    let Task::Same(SameCall {
        pairs, findings, ..
    }) = &compared.unwrap().request.task
    else {
        panic!("the aggregator compares")
    };
    assert!(!pairs.is_empty() && pairs.len() <= 40, "{}", pairs.len());
    let bytes: usize = findings
        .iter()
        .map(|finding| finding.raw.body.as_written().len())
        .sum();
    assert!(bytes <= 32 << 10, "{bytes}");
    let calls = left
        .asked()
        .iter()
        .filter(|asked| *asked == "g same")
        .count();
    assert_eq!(calls, 1);
    assert!(undecided(&left).iter().any(|others| !others.is_empty()));
}
