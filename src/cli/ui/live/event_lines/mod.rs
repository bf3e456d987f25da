//! A run told in lines: what each event is worth to a person who watches.
//!
//! Pure: events in, printable lines out. Whether an agent's work is also shown live is `progress`'s business.

use crate::cli::style::{self, Color, Glyph, Style};
use crate::cli::ui::screen::Verbosity;
use crate::domain::event::{
    CallAnswer, CallId, ConsensusEvent, DisputeEvent, Event, EventKind, Part, Plan, Purpose, ReviewEvent, RunEvent,
    Settlement, WatchEvent,
};
use crate::domain::{
    AdvisoryStatus, AgentName, AnswerStatus, DebateMessage, Dispute, DisputeNumber, FileChange, Finding, Objector,
    ReusedFrom, Role, Ruler, RulingRecord, RunId, Tag,
};
use crate::protocol::text::printable;

mod stages;
mod watches;

/// How an agent's work is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Starts {
    /// The start of a call is a line of its own.
    Told,
    /// The start is seen on a live line.
    Live,
}

#[derive(Debug)]
pub(crate) struct Narrator {
    starts: Starts,
    verbosity: Verbosity,
    /// The columns of the longest agent's name.
    names: usize,
    /// The shards of the round that is going on.
    shards: usize,
    coder: Option<AgentName>,
}

impl Narrator {
    pub(crate) fn new(starts: Starts, verbosity: Verbosity) -> Self {
        Self { starts, verbosity, names: 0, shards: 1, coder: None }
    }

    /// What an agent is doing, as it stands on its live line.
    pub(crate) fn doing(&self, call: &CallId) -> String {
        let doing = match &call.purpose {
            Purpose::Review { shard, .. } if self.shards > 1 => {
                format!("reviewing shard {}/{}", shard + 1, self.shards)
            }
            Purpose::Review { .. } => "reviewing".to_owned(),
            Purpose::Examine { .. } => "examining what others raised".to_owned(),
            Purpose::Defend { .. } => "defending its findings".to_owned(),
            Purpose::Respond { .. } => "answering the findings".to_owned(),
            Purpose::Enforce { .. } => "implementing the rulings".to_owned(),
            Purpose::Repair { .. } => "repairing what its edits broke".to_owned(),
            Purpose::Judge { dispute } => format!("ruling on dispute {dispute}"),
            Purpose::Recheck { .. } => "checking the changes".to_owned(),
            Purpose::Compare { .. } => "comparing findings with earlier disputes".to_owned(),
            Purpose::Stage { part } => match part {
                Part::Position => "answering".to_owned(),
                Part::Aggregate => "synthesising the answers".to_owned(),
                Part::Arbitrate => "deciding the conflicts".to_owned(),
                Part::Questions => "answering the questions".to_owned(),
                Part::Validate { question } => format!("validating question {}", printable::line(question)),
            },
            Purpose::Work => "working".to_owned(),
            Purpose::Peer { cycle } => format!("reviewing cycle {cycle}"),
        };
        if call.attempt > 1 { format!("{doing}, asked once more") } else { doing }
    }

    /// An agent's name, filled up to the length of the longest.
    pub(crate) fn name(&self, name: &AgentName) -> String {
        style::pad(&printable::line(&name.0), self.names)
    }

    /// The lines of an event; often none.
    pub(crate) fn tell(&mut self, look: Style, event: &Event) -> Vec<String> {
        self.note(&event.kind);
        match &event.kind {
            EventKind::Run(kind) => self.run_lines(look, &event.run, kind),
            EventKind::Review(event) => self.review_lines(look, event),
            EventKind::Dispute(event) => self.dispute_lines(look, event),
            EventKind::Consensus(event) => stages::lines(look, event),
            EventKind::Watch(event) => watches::lines(look, event),
        }
    }

    fn is_verbose(&self) -> bool {
        self.verbosity == Verbosity::Verbose
    }

    fn run_lines(&self, look: Style, run: &RunId, event: &RunEvent) -> Vec<String> {
        let verbose = self.is_verbose();
        let faint = |text: String| look.paint(Color::Faint, &text);
        match event {
            RunEvent::RunResumed => {
                vec![format!("Carrying on with run {}", printable::line(run.short()))]
            }
            RunEvent::CallStarted { call, prompt_bytes, .. } => match self.starts {
                Starts::Told => {
                    let size = if verbose {
                        format!(" ({} bytes of prompt)", style::thousands(*prompt_bytes))
                    } else {
                        String::new()
                    };
                    let name = look.paint(Color::Strong, &self.name(&call.agent));
                    vec![format!("  {name}  {}{size}", self.doing(call))]
                }
                Starts::Live => Vec::new(),
            },
            RunEvent::CallFinished { call, answer, millis, .. } => self.finish(look, call, answer, *millis),
            RunEvent::ReadOnlyViolated { call, changes } => {
                let agent = printable::line(&call.agent.0);
                let mark = look.paint(Color::Bad, look.glyph(Glyph::Failed));
                let line =
                    |change: &String| format!("{mark} while {agent} read, somebody {}", printable::line(change));
                changes.iter().map(line).collect()
            }
            RunEvent::Notice { text } => {
                vec![format!("{} {}", look.paint(Color::Warn, "note:"), printable::line(text))]
            }
            RunEvent::RunEnded { exit, millis } => {
                let ended = format!("Ended after {} with exit code {}", style::duration(*millis), exit.code());
                let mut lines = if verbose { vec![faint(ended)] } else { Vec::new() };
                // The report follows on the same terminal.
                lines.extend((self.starts == Starts::Live).then(String::new));
                lines
            }
            RunEvent::RunUndone { files } => {
                vec![format!("Took back the changes of {}", style::count(*files, "file"))]
            }
            RunEvent::RunRedone { files } => {
                vec![format!("Brought back the changes of {}", style::count(*files, "file"))]
            }
            RunEvent::RunPruned { bytes } => {
                vec![format!("Let go of what was kept, {}", style::size(*bytes))]
            }
        }
    }

    fn review_lines(&self, look: Style, event: &ReviewEvent) -> Vec<String> {
        let verbose = self.is_verbose();
        let faint = |text: String| look.paint(Color::Faint, &text);
        match event {
            ReviewEvent::RunStarted { plan } => self.start(look, plan, verbose),
            ReviewEvent::RoundStarted { round, shards, .. } => {
                let files = style::count(shards.iter().map(Vec::len).sum::<usize>(), "file");
                vec![look.paint(Color::Strong, &format!("Round {round}: {files} that changed"))]
            }
            ReviewEvent::AnswersReused { call, from, asked, .. } => {
                vec![self.reused(look, call, from, asked.len())]
            }
            ReviewEvent::FilesReviewed { .. } => Vec::new(),
            ReviewEvent::FindingsMerged { findings, .. } => vec![merged(look, findings)],
            ReviewEvent::DebateRound { message, .. } | ReviewEvent::DebateConcluded { report: message, .. } => {
                vec![debated(message)]
            }
            ReviewEvent::DebateShutdown { messages } => messages.iter().filter_map(unfinished).collect(),
            ReviewEvent::AlreadyRuled { finding, dispute, new_tag: Some(tag), .. } if verbose => {
                vec![faint(format!("  {finding} is [{tag}] now, by dispute {dispute}"))]
            }
            ReviewEvent::AlreadyRuled { finding, dispute, insisted: true, .. } => {
                vec![format!("  {finding}: insisted on dispute {dispute} without new evidence")]
            }
            ReviewEvent::RelatedDispute { finding, earlier } => {
                vec![format!("  {finding}: {}", printable::line(&earlier.sentence()))]
            }
            ReviewEvent::AlreadyRuled { finding, dispute, disposition, .. } if verbose => {
                vec![faint(format!("  {finding} already ruled in dispute {dispute}: {}", disposition.as_str()))]
            }
            ReviewEvent::BeforeImage { kept_as, .. } if verbose => {
                vec![faint(format!("  files kept as they were, as {}", printable::line(kept_as)))]
            }
            ReviewEvent::AdvisoriesAsked { answers } if verbose && !answers.is_empty() => {
                let confirmed =
                    answers.values().filter(|said| matches!(said, AdvisoryStatus::Confirmed { .. })).count();
                let findings = style::count(answers.len(), "finding");
                vec![faint(format!("  advisories asked about {findings}, {confirmed} confirmed"))]
            }
            ReviewEvent::AlreadyRuled { .. }
            | ReviewEvent::BeforeImage { .. }
            | ReviewEvent::AdvisoriesAsked { .. } => Vec::new(),
            ReviewEvent::StillDisputed { finding, dispute } => {
                vec![faint(format!("  {finding} waits for dispute {dispute}, which is still open"))]
            }
            ReviewEvent::TreeChanged { call, changes, .. } => self.changed(look, &call.agent, changes),
            ReviewEvent::Verified { command, passed, tail, .. } => verified(look, command, *passed, tail, verbose),
        }
    }

    fn dispute_lines(&self, look: Style, event: &DisputeEvent) -> Vec<String> {
        let verbose = self.is_verbose();
        let faint = |text: String| look.paint(Color::Faint, &text);
        match event {
            DisputeEvent::DisputesReopened { .. }
            | DisputeEvent::RulingRevoked { .. }
            | DisputeEvent::RulingEnded { .. } => Vec::new(),
            DisputeEvent::DisputeOpened { dispute } | DisputeEvent::DisputeCarriedOn { dispute, .. } => {
                vec![self.dispute(look, dispute)]
            }
            // Who chose it knows, and a default taken is said once by whoever takes it.
            DisputeEvent::RouteChosen { .. } if !verbose => Vec::new(),
            DisputeEvent::RouteChosen { dispute, route, by_person } => {
                let who = if *by_person { "chosen by you" } else { "the configured default" };
                vec![faint(format!("  dispute {dispute} {} {route} ({who})", look.glyph(Glyph::Arrow)))]
            }
            DisputeEvent::RulingGiven { dispute, ruling } => {
                vec![ruled(look, *dispute, ruling)]
            }
            DisputeEvent::DisputeSettled { dispute, settlement } => settled(look, *dispute, settlement, verbose),
        }
    }

    /// Keeps what later lines need.
    fn note(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Review(ReviewEvent::RunStarted { plan }) => {
                self.names = style::names_width(plan.agents.iter().map(|agent| &agent.name));
                self.shards = plan.shards.len();
                self.coder =
                    plan.agents.iter().find(|agent| agent.role == Role::Coder).map(|agent| agent.name.clone());
            }
            EventKind::Consensus(ConsensusEvent::StageStarted { plan }) => {
                self.names = style::names_width(plan.all().map(|agent| &agent.name));
            }
            EventKind::Watch(WatchEvent::WatchStarted { plan }) => {
                self.names = style::names_width(plan.reviewers.iter().map(|agent| &agent.name));
            }
            EventKind::Review(ReviewEvent::RoundStarted { shards, .. }) => self.shards = shards.len(),
            _ => {}
        }
    }

    fn start(&self, look: Style, plan: &Plan, verbose: bool) -> Vec<String> {
        let files: usize = plan.shards.iter().map(Vec::len).sum();
        let code: u64 = plan.shards.iter().flatten().map(|file| u64::from(file.lines)).sum();
        let target = look.paint(Color::Strong, &printable::line(&plan.target));
        let code = format!("{}, {} lines", style::count(files, "file"), style::thousands(code));
        let shards = if plan.shards.len() > 1 { style::count(plan.shards.len(), "shard") } else { String::new() };
        let mut facts = vec![format!("Reviewing {target}"), code, shards];
        for role in Role::ALL {
            let names: Vec<String> = plan
                .agents
                .iter()
                .filter(|agent| agent.role == role)
                .map(|agent| printable::line(&agent.name.0))
                .collect();
            match names.len() {
                0 => {}
                1..4 => facts.push(format!("{role} {}", names.join(", "))),
                many => facts.push(style::count(many, role.as_str())),
            }
        }
        let mut lines = vec![look.facts(&facts)];
        if !plan.skipped.is_empty() {
            lines.push(look.paint(Color::Warn, &format!("  {} skipped", style::count(plan.skipped.len(), "file"))));
        }
        if verbose {
            lines.push(look.paint(Color::Faint, &format!("  tree {}", printable::line(&plan.tree))));
        }
        lines
    }

    fn reused(&self, look: Style, call: &CallId, from: &[ReusedFrom], asked: usize) -> String {
        let files: usize = from.iter().map(|from| from.files.len() + from.in_part.len()).sum();
        let runs: Vec<String> = from.iter().map(|from| printable::line(from.run.short())).collect();
        let runs = match runs.as_slice() {
            [one] => format!("run {one}"),
            several => format!("{} runs", several.len()),
        };
        let shard = match &call.purpose {
            Purpose::Review { shard, .. } if self.shards > 1 => format!("shard {}/{}: ", shard + 1, self.shards),
            _ => String::new(),
        };
        let asked = if asked == 0 { String::new() } else { format!(", {} to ask", style::count(asked, "file")) };
        let name = look.paint(Color::Strong, &self.name(&call.agent));
        format!("  {name}  {shard}{} reused from {runs}{asked}", style::count(files, "file"))
    }

    fn finish(&self, look: Style, call: &CallId, answer: &CallAnswer, millis: u64) -> Vec<String> {
        let (glyph, tone, mut what) = told(answer);
        if let (Purpose::Review { shard, .. }, true) = (&call.purpose, self.shards > 1) {
            what = format!("shard {}/{}: {what}", shard + 1, self.shards);
        }
        match (&call.purpose, answer) {
            // The ruling itself is told when it counts.
            (Purpose::Judge { dispute }, CallAnswer::Judge { .. }) => what = format!("ruled on dispute {dispute}"),
            (Purpose::Judge { dispute }, _) => what = format!("dispute {dispute}: {what}"),
            _ => {}
        }
        let mut lines = vec![format!(
            "{} {}  {what}  {}",
            look.paint(tone, look.glyph(glyph)),
            look.paint(Color::Strong, &self.name(&call.agent)),
            look.paint(Color::Faint, &style::duration(millis))
        )];
        if let CallAnswer::Failed { hint: Some(hint), .. } = answer {
            lines.push(format!("  {} {}", look.paint(Color::Key, "hint:"), printable::line(hint)));
        }
        lines
    }

    fn changed(&self, look: Style, coder: &AgentName, changes: &[FileChange]) -> Vec<String> {
        let coder = printable::line(&coder.0);
        if changes.is_empty() {
            return vec![format!("  {coder} changed no file")];
        }
        let mut lines =
            vec![format!("  {coder} changed {}  {}", style::count(changes.len(), "file"), total(look, changes))];
        if self.verbosity == Verbosity::Verbose {
            lines.extend(changes.iter().map(|change| {
                let delta = look.delta(change.added.into(), change.removed.into());
                format!("    {}  {delta}", printable::line(&change.file))
            }));
        }
        lines
    }

    fn dispute(&self, look: Style, dispute: &Dispute) -> String {
        let finding = &dispute.finding;
        let coder = self.coder.as_ref().map_or_else(|| "the coder".to_owned(), |name| printable::line(&name.0));
        let severity = printable::line(&finding.raw.severity.to_string());
        let place = finding.raw.location().map(|place| format!("{} ", printable::line(&place.to_string())));
        let sides = match dispute.objector {
            Objector::Coder => format!("{coder} objects to"),
            Objector::Reviewers => "reviewers contradict each other about".to_owned(),
            Objector::Unconfirmed => "nobody else has confirmed".to_owned(),
            Objector::Earlier => "an earlier finding asked for the opposite of".to_owned(),
        };
        let line = format!(
            "{} {}: {sides} {} {} {}{}",
            look.paint(Color::Warn, look.glyph(Glyph::Attention)),
            look.paint(Color::Strong, &format!("Dispute {}", dispute.number)),
            finding.id,
            look.paint(Color::of(&finding.raw.severity), &format!("[{severity}]")),
            place.unwrap_or_default(),
            printable::line(&finding.raw.title)
        );
        look.cut(&line, look.width.max(60))
    }
}

/// What came of a call: its mark and the words.
fn told(answer: &CallAnswer) -> (Glyph, Color, String) {
    let done = |what: String| (Glyph::Done, Color::Good, what);
    match answer {
        CallAnswer::Review { status, findings, .. } => {
            let found = style::count(findings.len(), "finding");
            match status {
                AnswerStatus::Complete | AnswerStatus::Clean => done(found),
                AnswerStatus::Incomplete => {
                    (Glyph::Attention, Color::Warn, format!("{found}, but the answer is incomplete"))
                }
                AnswerStatus::NotReviewed => (Glyph::Failed, Color::Bad, "did not review".to_owned()),
            }
        }
        CallAnswer::Examine { examinations, observations } => {
            let words = style::count(examinations.len(), "answer");
            done(match observations.len() {
                0 => words,
                new => format!("{words}, {new} new"),
            })
        }
        CallAnswer::Defend { defences } => done(style::count(defences.len(), "answer")),
        CallAnswer::Respond { responses, complete } => {
            let answered = style::count(responses.len(), "answer");
            if *complete {
                done(answered)
            } else {
                (Glyph::Attention, Color::Warn, format!("{answered}, but not to everything"))
            }
        }
        CallAnswer::Judge { ruling } => done(ruling.ruling.to_string()),
        CallAnswer::Recheck { checks } => {
            let resolved = checks.iter().filter(|check| check.resolved).count();
            let what = format!("{resolved} of {} resolved", style::count(checks.len(), "finding"));
            if resolved == checks.len() { done(what) } else { (Glyph::Attention, Color::Warn, what) }
        }
        CallAnswer::Compare { comparisons } => {
            let same = comparisons.iter().filter(|comparison| comparison.same).count();
            let findings = style::count(comparisons.len(), "finding");
            done(format!("{same} of {findings} repeat earlier disputes"))
        }
        CallAnswer::Stage { said } => stages::said(said),
        CallAnswer::Work { said } => done(printable::line(said)),
        CallAnswer::Peer { review } => watches::said(review),
        CallAnswer::Invalid { error } => {
            (Glyph::Failed, Color::Bad, format!("no valid answer: {}", printable::line(error)))
        }
        CallAnswer::Failed { error, .. } => (Glyph::Failed, Color::Bad, printable::line(error)),
    }
}

/// A debate's message in one line: of a report as JSON only its summary.
fn debated(message: &DebateMessage) -> String {
    match message {
        DebateMessage::Message { content, summary, .. } if content.starts_with('{') => printable::line(summary),
        DebateMessage::Message { content, .. } => printable::line(content),
        DebateMessage::ShutdownRequest { .. } | DebateMessage::ShutdownResponse { .. } => String::new(),
    }
}

/// What a debate that was told to end says it still lacks.
fn unfinished(message: &DebateMessage) -> Option<String> {
    match message {
        DebateMessage::ShutdownResponse { content, .. } => content.as_deref().map(printable::line),
        DebateMessage::Message { .. } | DebateMessage::ShutdownRequest { .. } => None,
    }
}

/// The findings of a round, counted by tag.
fn merged(look: Style, findings: &[Finding]) -> String {
    let mut facts = vec![look.paint(Color::Strong, &style::count(findings.len(), "finding"))];
    for tag in Tag::ALL {
        let of_tag: Vec<_> = findings.iter().filter(|finding| finding.raw.severity.tag == Some(tag)).collect();
        if let Some(first) = of_tag.first() {
            facts.push(look.paint(Color::of(&first.raw.severity), &format!("{} {tag}", of_tag.len())));
        }
    }
    let unknown = findings.iter().filter(|finding| finding.raw.severity.tag.is_none()).count();
    if unknown > 0 {
        facts.push(look.paint(Color::Bad, &format!("{unknown} of unknown severity")));
    }
    format!("  {}", look.facts(&facts))
}

fn ruled(look: Style, dispute: DisputeNumber, record: &RulingRecord) -> String {
    let tone = Color::of_ruling(record.ruling.ruling);
    let by = printable::line(&record.by.to_string());
    let rationale = printable::line(&record.ruling.rationale.trimmed());
    let rationale = if rationale.is_empty() { rationale } else { format!(": {rationale}") };
    let word = look.paint(tone, record.ruling.ruling.as_str());
    look.cut(&format!("  dispute {dispute}  {word} by {by}{rationale}"), look.width.max(60))
}

fn settled(look: Style, dispute: DisputeNumber, settlement: &Settlement, verbose: bool) -> Vec<String> {
    // What a judge or a person ruled has just been told.
    if !verbose && settlement.by != Ruler::Policy {
        return Vec::new();
    }
    let disposition = settlement.disposition.as_str();
    vec![look.paint(Color::Faint, &format!("  dispute {dispute} settled: {disposition}"))]
}

/// A command that was run on the edits; the end of what it printed if it failed.
fn verified(look: Style, command: &str, passed: bool, tail: &str, verbose: bool) -> Vec<String> {
    let (glyph, tone, word) =
        if passed { (Glyph::Done, Color::Good, "passed") } else { (Glyph::Failed, Color::Bad, "failed") };
    let mut lines = vec![format!("{} `{}` {word}", look.paint(tone, look.glyph(glyph)), printable::line(command))];
    if verbose || !passed {
        let tail: Vec<&str> = tail.trim_end().lines().collect();
        let kept = if verbose { tail.len() } else { tail.len().min(10) };
        lines.extend(
            tail[tail.len() - kept..]
                .iter()
                .map(|line| format!("    {}", look.paint(Color::Faint, &printable::line(*line)))),
        );
    }
    lines
}

fn total(look: Style, changes: &[FileChange]) -> String {
    let sum = |lines: fn(&FileChange) -> u32| changes.iter().map(|change| u64::from(lines(change))).sum();
    look.delta(sum(|change| change.added), sum(|change| change.removed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::style::fixture::{call, dispute, event, finding, finished, response, ruling, started};
    use crate::domain::{Answer, Disposition, ExitReason, FindingId, Recheck, Route, RulingWord};

    /// A run in which everything happens that can.
    fn run() -> Vec<EventKind> {
        let weak = finding(1, Tag::High, "a.py:7", "MD5 is broken");
        let url = finding(2, Tag::Low, "b.js:2", "Rename `u`\x1b[2J");
        let review = |agent: &str, shard| call(agent, Purpose::Review { round: 1, shard });
        let answered = |status, findings: &[&Finding]| CallAnswer::Review {
            status,
            findings: findings.iter().map(|finding| finding.raw.clone()).collect(),
            notes: String::new(),
            problem: None,
        };
        let start = |call: CallId, role| {
            EventKind::Run(RunEvent::CallStarted { call, role, prompt_bytes: 12_345, nonce: String::new() })
        };
        let respond = call("fixer", Purpose::Respond { round: 1 });
        let judge = call("referee", Purpose::Judge { dispute: DisputeNumber(3) });
        let mut again = review("gemini", 1);
        again.attempt = 2;
        let change = FileChange { file: "a.py".to_owned(), added: 3, removed: 1, diff: None };
        let responses = vec![response(2, Answer::Implemented, "done")];
        let checks = vec![Recheck { finding: FindingId(2), resolved: true, reason: "".into() }];
        vec![
            started(),
            start(review("rules", 0), Role::Reviewer),
            start(review("gemini", 1), Role::Reviewer),
            finished(review("rules", 0), answered(AnswerStatus::Complete, &[&weak, &url])),
            finished(review("gemini", 1), answered(AnswerStatus::Incomplete, &[&weak])),
            start(again.clone(), Role::Reviewer),
            finished(
                again,
                CallAnswer::Failed {
                    error: "timed out after 30m".to_owned(),
                    hint: Some("raise `limits.call_timeout`".to_owned()),
                    cause: None,
                },
            ),
            EventKind::Review(ReviewEvent::FindingsMerged { round: 1, findings: vec![weak.clone(), url] }),
            EventKind::Review(ReviewEvent::AlreadyRuled {
                finding: FindingId(2),
                dispute: DisputeNumber(1).into(),
                disposition: Disposition::AcceptedRisk,
                new_tag: None,
                insisted: false,
            }),
            EventKind::Review(ReviewEvent::BeforeImage {
                kept_as: "refs/glee/run/x/before".to_owned(),
                tree: "4b".to_owned(),
            }),
            start(respond.clone(), Role::Coder),
            finished(respond.clone(), CallAnswer::Respond { responses, complete: true }),
            EventKind::Review(ReviewEvent::TreeChanged {
                call: respond,
                tree: "5c".to_owned(),
                changes: vec![change],
                touched: vec![FindingId(2)],
            }),
            EventKind::Dispute(DisputeEvent::DisputeOpened {
                dispute: Box::new(dispute(3, weak, "It is no secret.", &[])),
            }),
            EventKind::Dispute(DisputeEvent::RouteChosen {
                dispute: DisputeNumber(3),
                route: Route::Judge,
                by_person: false,
            }),
            start(judge.clone(), Role::Judge),
            finished(judge, CallAnswer::Judge { ruling: ruling(RulingWord::Enforce, "").ruling }),
            EventKind::Dispute(DisputeEvent::RulingGiven {
                dispute: DisputeNumber(3),
                ruling: ruling(RulingWord::Enforce, "The cited test\ndoes not exist."),
            }),
            EventKind::Dispute(DisputeEvent::DisputeSettled {
                dispute: DisputeNumber(3),
                settlement: Settlement {
                    disposition: Disposition::Enforced,
                    by: Ruler::Judge { name: "referee".into() },
                    reason: "".into(),
                    until: None,
                },
            }),
            finished(call("rules", Purpose::Recheck { round: 1 }), CallAnswer::Recheck { checks }),
            EventKind::Review(ReviewEvent::Verified {
                round: 1,
                command: "cargo test".to_owned(),
                passed: false,
                tail: "one\n\x1b[31mtwo\n".to_owned(),
            }),
            EventKind::Review(ReviewEvent::RoundStarted { round: 2, shards: vec![vec![]], skipped: Vec::new() }),
            EventKind::notice("something\nto know"),
            EventKind::Run(RunEvent::RunEnded { exit: ExitReason::FindingsOpen, millis: 65_000 }),
        ]
    }

    fn told(starts: Starts, verbosity: Verbosity, look: Style) -> String {
        let mut narrator = Narrator::new(starts, verbosity);
        let events = run().into_iter().zip(1..).map(|(kind, seq)| event(seq, kind));
        events.flat_map(|event| narrator.tell(look, &event)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn without_a_terminal() {
        let look = Style { color: false, unicode: false, width: 80 };
        insta::assert_snapshot!(told(Starts::Told, Verbosity::Normal, look));
    }

    #[test]
    fn everything_said() {
        let look = Style { color: false, unicode: true, width: 80 };
        insta::assert_snapshot!(told(Starts::Told, Verbosity::Verbose, look));
    }

    #[test]
    fn above_live_lines_in_colour() {
        let look = Style { color: true, unicode: true, width: 80 };
        insta::assert_snapshot!(told(Starts::Live, Verbosity::Normal, look).replace('\x1b', "␛"));
    }
}
