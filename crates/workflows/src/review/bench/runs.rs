//! What only the tests of this crate need of a test run: other ways to run it, and the answers of scripted agents.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::review::recorded::view;
use glee_model::domain::FindingState;

impl Left {
    pub fn states(&self) -> Vec<(String, FindingState)> {
        let findings = &self.ended.outcome.findings;
        findings
            .iter()
            .map(|finding| (finding.finding.id.to_string(), finding.state.clone()))
            .collect()
    }

    pub fn asked(&self) -> Vec<String> {
        self.runner
            .seen()
            .iter()
            .map(|seen| format!("{} {}", seen.request.agent, seen.request.task.kind()))
            .collect()
    }
}

impl Bench {
    pub fn review(&self, mode: Mode, runner: ScriptedRunner) -> Left {
        let left = self.begin(mode, runner);
        self.decide_again(&left.ended);
        left
    }

    pub fn resume(&self, run: &RunId, runner: ScriptedRunner) -> Left {
        let runner = Arc::new(runner);
        let heard = Arc::new(Mutex::new(Heard::default()));
        let ended = block_on(resume(
            self.setup(&runner, &heard),
            self.decider(&heard),
            run.clone(),
            None,
            Vec::new(),
        ))
        .unwrap();
        if ended.rest == Rest::Ended {
            self.decide_again(&ended);
        }
        let heard = std::mem::take(&mut *heard.lock().unwrap());
        Left {
            ended,
            heard,
            runner,
        }
    }

    /// Checks that a replay of the run makes the same decisions as the run.
    pub(crate) fn decide_again(&self, ended: &EndedReview) {
        let replayed = self.replay(&ended.outcome.run, &self.settings);
        assert_eq!(replayed.differences, [""; 0]);
        let setup = self.setup(&Arc::default(), &Arc::default());
        let recorded = view::recorded(
            &setup.workspace,
            &setup.state_dir,
            &setup.journal,
            &ended.outcome.run,
        )
        .unwrap();
        // A test can raise the budget after the run was planned.
        let mut decided = replayed.outcome;
        decided.proof.caps = recorded.outcome.proof.caps;
        assert_eq!(decided, recorded.outcome);
    }

    pub fn replay(&self, run: &RunId, settings: &Settings) -> Replayed {
        let setup = self.setup(&Arc::default(), &Arc::default());
        super::replay(
            &setup.workspace,
            &setup.state_dir,
            &setup.journal,
            run,
            settings,
        )
        .unwrap()
    }
}

pub fn review(body: &str, findings: u32) -> impl Fn(&Request) -> Script + Send + Sync + 'static {
    let body = body.to_owned();
    move |request| {
        Script::prints(format!(
            "{body}\nGLEE-REVIEW-END nonce={} findings={findings}\n",
            request.nonce
        ))
    }
}

pub fn respond(text: &str, answers: u32) -> impl Fn(&Request) -> Script + Send + Sync + 'static {
    let text = text.to_owned();
    move |request| {
        Script::prints(format!(
            "{text}\nGLEE-RESPONSE-END nonce={} answers={answers}\n",
            request.nonce
        ))
    }
}

pub const TWO: &str = "[MUST] app.py:2 Replace the weak hash\n[LOW] app.py:5 Rename `load`";

pub fn edit(
    bench: &Bench,
    from: &'static str,
    to: &'static str,
) -> impl Fn() + Send + Sync + 'static {
    let file = bench.file();
    move || {
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace(from, to)).unwrap();
    }
}

/// FixedAnswers with a review as JSON, because a review in prose cannot contain all fields.
pub fn json_review(findings: &str) -> impl Fn(&Request) -> Script + Send + Sync + 'static {
    let findings = findings.to_owned();
    move |request| {
        Script::prints(format!(
            "{{\"nonce\": \"{}\", \"findings\": [{findings}]}}",
            request.nonce
        ))
    }
}

pub fn debates(
    body: &str,
    closing: &'static str,
) -> impl Fn(&Request) -> Script + Send + Sync + 'static {
    let body = body.to_owned();
    move |request| {
        Script::prints(format!(
            "{body}\n{closing} nonce={} answers=1\n",
            request.nonce
        ))
    }
}

pub const WEAK: &str = r#"{"severity": "high", "confidence": 80, "category": "security", "file": "app.py", "line": 2,
    "title": "Weak hash", "description": "When two inputs collide, `md5` returns the same key."}"#;
pub const EVAL: &str = r#"{"severity": "medium", "confidence": 60, "category": "bug", "file": "app.py", "line": 6,
    "title": "Runs what it reads", "description": "If the file is hostile, `eval` executes its content."}"#;
