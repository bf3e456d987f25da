//! Tests reviews whose words leave a doubt about a count of 0: the reviewer is asked about its answer, without the
//! code.

use super::*;
use glee_protocol::calls::close::CloseCall;

fn says(words: &'static str) -> impl Fn(&Request) -> Script + Send + Sync + 'static {
    move |request| {
        let closing = format!("GLEE-REVIEW-END nonce={}", request.nonce);
        Script::prints(words.replace("END", &closing) + "\n")
    }
}

const DOUBTFUL: &str = "No issues found, but the rest of the file was cut off.\n\nEND findings=0";

#[test]
fn a_doubtful_answer_is_asked_about_once_without_the_code() {
    for (review, close, exit, asked) in [
        (
            DOUBTFUL,
            "END findings=0 read=all",
            ExitReason::Clean,
            &["r review", "r close"][..],
        ),
        (
            DOUBTFUL,
            "Yes, I read all of it. There is nothing to report.\nEND findings=0 read=all",
            ExitReason::Clean,
            &["r review", "r close"],
        ),
        (
            DOUBTFUL,
            "END findings=0 read=part",
            ExitReason::AgentFailed,
            &["r review", "r close", "r review", "r close"],
        ),
        (
            DOUBTFUL,
            "END findings=0",
            ExitReason::AgentFailed,
            &["r review", "r close", "r review", "r close"],
        ),
        (
            DOUBTFUL,
            "END findings=1 read=all",
            ExitReason::AgentFailed,
            &["r review", "r close", "r review", "r close"],
        ),
        (
            DOUBTFUL,
            "I could not read the rest.\nEND findings=0 read=all",
            ExitReason::AgentFailed,
            &["r review", "r close", "r review", "r close"],
        ),
        (
            DOUBTFUL,
            "Yes.",
            ExitReason::AgentFailed,
            &["r review", "r close", "r review", "r close"],
        ),
        (
            DOUBTFUL,
            "",
            ExitReason::AgentFailed,
            &["r review", "r close", "r review", "r close"],
        ),
        (
            "I read all of it and found no issues.\nEND findings=0 read=all",
            "",
            ExitReason::Clean,
            &["r review"],
        ),
        (
            "END findings=0 read=part",
            "",
            ExitReason::AgentFailed,
            &["r review", "r review"],
        ),
        (
            "Decision: fail - the handle leaks.\nEND findings=0 read=all",
            "",
            ExitReason::AgentFailed,
            &["r review", "r review"],
        ),
        (
            "[SHOULD] app.py:2 Name the encoding\nEND findings=1 read=part",
            "",
            ExitReason::AgentFailed,
            &["r review", "r review"],
        ),
        (
            "[SHOULD] app.py:2 Name the encoding\nEND findings=1 read=all",
            "",
            ExitReason::Clean,
            &["r review"],
        ),
        // The closing line is missing or states another number.
        (
            "[SHOULD] app.py:2 Name the encoding",
            "END findings=1 read=all",
            ExitReason::Clean,
            &["r review", "r close"],
        ),
        (
            "[MUST] app.py:2 Name the encoding\nEND findings=2",
            "END findings=1",
            ExitReason::FindingsOpen,
            &["r review", "r close"],
        ),
        (
            "[MUST] app.py:2 Name the encoding\nEND findings=0",
            "```\nEND findings=3 read=all\n```",
            ExitReason::FindingsOpen,
            &["r review", "r close"],
        ),
        (
            "[MUST] app.py:2 Name the encoding",
            "",
            ExitReason::AgentFailed,
            &["r review", "r close", "r review", "r close"],
        ),
        (
            "[SHOULD] app.py:2 Name the encoding\nEND findings=2",
            "END findings=1 read=part",
            ExitReason::AgentFailed,
            &["r review", "r close", "r review", "r close"],
        ),
        (
            "I read all of it and found no issues.",
            "END findings=0 read=all",
            ExitReason::Clean,
            &["r review", "r close"],
        ),
        (
            "I read all of it and found no issues.",
            "END findings=1 read=all",
            ExitReason::AgentFailed,
            &["r review", "r close", "r review", "r close"],
        ),
        // More than the end is in doubt.
        (
            "[SHOULD] app.py:2 Name the encoding\n- x[MUST] app.py:3 Close it\nEND findings=2",
            "END findings=1 read=all",
            ExitReason::AgentFailed,
            &["r review", "r review"],
        ),
        (
            "```\n[SHOULD] app.py:2 Name the encoding\n```\nEND findings=1",
            "END findings=1 read=all",
            ExitReason::AgentFailed,
            &["r review", "r review"],
        ),
        (
            "END findings=1",
            "END findings=0 read=all",
            ExitReason::AgentFailed,
            &["r review", "r review"],
        ),
        // The program says that nobody is logged in: it is not asked again.
        (
            "Please run /login first.",
            "END findings=0 read=all",
            ExitReason::AgentFailed,
            &["r review"],
        ),
    ] {
        let bench = Bench::new();
        let left = bench.review(
            Mode::Review,
            ScriptedRunner::new()
                .on("r", "review", says(review))
                .on("r", "close", says(close)),
        );
        assert_eq!(left.ended.outcome.exit, exit, "{review}\n{close}");
        assert_eq!(left.asked(), asked, "{review}\n{close}");
    }
}

#[test]
fn the_question_holds_the_answer_and_no_code() {
    let bench = Bench::new();
    let left = bench.review(
        Mode::Review,
        ScriptedRunner::new()
            .on("r", "review", says(DOUBTFUL))
            .on("r", "close", |request| {
                let Task::Close(CloseCall { answer, .. }) = &request.task else {
                    panic!("a reviewer is asked about its answer")
                };
                assert!(answer.as_written().starts_with("No issues found, but"));
                let prompt = glee_protocol::prompts::render(request, None).unwrap();
                assert!(!prompt.contains("md5"), "{prompt}");
                assert!(prompt.len() <= 2_000, "{prompt}");
                says("END findings=0 read=all")(request)
            }),
    );
    let outcome = &left.ended.outcome;
    assert_eq!(outcome.exit, ExitReason::Clean);
    let reviewer = &outcome.proof.reviewers[0];
    assert_eq!(
        reviewer.said.as_written(),
        "No issues found, but the rest of the file was cut off.",
        "what the reviewer said stays in the report"
    );
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
}

/// The second answer is a new answer, and is asked about by itself.
#[test]
fn a_retry_that_is_clear_ends_the_questions() {
    let bench = Bench::new();
    let left = bench.review(
        Mode::Review,
        ScriptedRunner::new()
            .on("r", "review", |request| {
                let words = match &request.again {
                    None => DOUBTFUL,
                    Some(why) => {
                        assert!(why.contains("the rest of the file was cut off"), "{why}");
                        "END findings=0 read=all"
                    }
                };
                says(words)(request)
            })
            .on("r", "close", says("END findings=0 read=part")),
    );
    assert_eq!(left.asked(), ["r review", "r close", "r review"]);
    assert_eq!(left.ended.outcome.exit, ExitReason::Clean);
}
