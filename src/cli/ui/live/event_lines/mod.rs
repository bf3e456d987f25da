//! Converts the events of a run to printable lines, without side effects.

use std::collections::{BTreeMap, BTreeSet};

use crate::cli::style::{self, Color, Glyph, Style, calls, count};
use crate::cli::ui::screen::{Screen, Verbosity};
use glee_model::domain::event::{
    CallAnswer, CallId, ConsensusEvent, Event, EventKind, Plan, Purpose, ReviewEvent, RunEvent,
    TreeChange, WatchEvent,
};
use glee_model::domain::{
    AdvisoryStatus, Agent, AgentName, DebateMessage, Finding, FindingId, Role, RunId, Tag,
};
use glee_model::rules::review::demonstrations;
use glee_protocol::text::printable;

mod call_ends;
mod disputes;
mod stages;
mod watches;

#[derive(Debug)]
pub(crate) struct EventLines {
    screen: Screen,
    /// The style with which the last event was drawn. The style is determined again for each event, because the
    /// width of the terminal can change.
    style: Style,
    name_width: usize,
    shards: usize,
    /// The coder of a run with one coder.
    only_coder: Option<AgentName>,
    /// The coder, or its backup, that answered a finding.
    answered_by: BTreeMap<FindingId, AgentName>,
    reviewers: usize,
    /// The reviewers that have reached a limit.
    limited: BTreeSet<AgentName>,
}

impl EventLines {
    pub(crate) fn new(screen: Screen) -> Self {
        Self {
            screen,
            style: screen.style(),
            name_width: 0,
            shards: 1,
            only_coder: None,
            answered_by: BTreeMap::new(),
            reviewers: 0,
            limited: BTreeSet::new(),
        }
    }

    pub(crate) fn activity(&self, call: &CallId) -> String {
        let part = self.shard(call).map(|shard| format!(" {shard}"));
        calls::activity(call, &part.unwrap_or_default())
    }

    /// Text such as `shard 2/3`; `None` if the round has only one shard.
    fn shard(&self, call: &CallId) -> Option<String> {
        match call.purpose {
            Purpose::Review { shard, .. } if self.shards > 1 => {
                Some(format!("shard {}/{}", shard + 1, self.shards))
            }
            _ => None,
        }
    }

    pub(crate) fn name(&self, name: &AgentName) -> String {
        style::pad(&printable::line(&name.0), self.name_width)
    }

    pub(crate) fn lines(&mut self, event: &Event) -> Vec<String> {
        self.style = self.screen.style();
        match &event.kind {
            EventKind::Review(ReviewEvent::RunStarted { plan }) => {
                let agents = plan.agents.iter().chain(&plan.comparers);
                self.name_width = style::names_width(agents.map(|agent| &agent.name));
                self.shards = plan.shards.len();
                self.only_coder = only_coder(&plan.agents);
                let is_reviewer = |agent: &&Agent| agent.role == Role::Reviewer;
                self.reviewers = plan.agents.iter().filter(is_reviewer).count();
            }
            EventKind::Run(RunEvent::CallFinished {
                call:
                    CallId {
                        agent,
                        purpose: Purpose::Review { .. },
                        ..
                    },
                answer:
                    CallAnswer::Failed {
                        cause: Some(cause), ..
                    },
                ..
            }) if cause.is_exhausted() => {
                self.limited.insert(agent.clone());
            }
            EventKind::Review(ReviewEvent::FixRequested { request })
                if !request.coders.is_empty() =>
            {
                self.only_coder = only_coder(&request.coders);
            }
            EventKind::Consensus(ConsensusEvent::StageStarted { plan }) => {
                self.name_width = style::names_width(plan.all().map(|agent| &agent.name));
            }
            EventKind::Watch(WatchEvent::WatchStarted { plan }) => {
                self.name_width =
                    style::names_width(plan.reviewers.iter().map(|agent| &agent.name));
            }
            EventKind::Review(ReviewEvent::RoundStarted { shards, .. }) => {
                self.shards = shards.len()
            }
            EventKind::Run(RunEvent::CallFinished {
                call,
                answer: CallAnswer::Respond { responses, .. },
                told,
                ..
            }) => {
                let by = told.by.as_ref().unwrap_or(&call.agent);
                let answers = responses.iter().map(|said| (said.finding, by.clone()));
                self.answered_by.extend(answers);
            }
            _ => {}
        }
        let lines = match &event.kind {
            EventKind::Run(kind) => self.run_lines(&event.run, kind),
            EventKind::Review(event) => self.review_lines(event),
            EventKind::Dispute(event) => self.dispute_lines(event),
            EventKind::Consensus(event) => vec![stages::line(self.style, event)],
            EventKind::Watch(event) => watches::lines(self.style, event),
        };
        // Without a terminal, lines are not wrapped, so that programs can search the lines.
        match self.screen.terminal {
            true => lines
                .into_iter()
                .flat_map(|line| self.wrapped(line))
                .collect(),
            false => lines,
        }
    }

    fn wrapped(&self, line: String) -> Vec<String> {
        let width = self.style.width;
        if style::columns(&line) <= width {
            return vec![line];
        }
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let parts = style::wrap(text, width.saturating_sub(indent + 2))
            .into_iter()
            .enumerate();
        parts
            .map(|(index, part)| format!("{:1$}{part}", "", indent + 2 * usize::from(index > 0)))
            .collect()
    }

    fn is_verbose(&self) -> bool {
        self.screen.verbosity == Verbosity::Verbose
    }

    fn detail(&self, text: String) -> Vec<String> {
        if self.is_verbose() {
            vec![self.style.faint(text)]
        } else {
            Vec::new()
        }
    }

    fn run_lines(&self, run: &RunId, event: &RunEvent) -> Vec<String> {
        let style = self.style;
        match event {
            RunEvent::RunResumed => vec![format!("Resuming run {}", printable::line(run.short()))],
            // On a terminal, the live line of the agent already shows the start of the call.
            RunEvent::CallStarted { .. } if self.screen.terminal => Vec::new(),
            RunEvent::CallStarted {
                call, prompt_bytes, ..
            } => {
                let bytes = style::thousands(*prompt_bytes);
                let size = if self.is_verbose() {
                    format!(" (prompt: {bytes} bytes)")
                } else {
                    String::new()
                };
                vec![format!(
                    "  {}  {}{size}",
                    style.strong(self.name(&call.agent)),
                    self.activity(call)
                )]
            }
            RunEvent::CallFinished {
                call,
                answer,
                millis,
                ..
            } => self.finished(call, answer, *millis),
            RunEvent::ReadOnlyViolated { call, changes } => {
                let mark = style.mark(Glyph::Failed);
                let agent = printable::line(&call.agent.0);
                changes
                    .iter()
                    .map(|change| {
                        format!(
                            "{mark} write during a read-only call of {agent}: {}",
                            printable::line(change)
                        )
                    })
                    .collect()
            }
            RunEvent::Notice { text } => {
                vec![format!(
                    "{} {}",
                    style.paint(Color::Warn, "note:"),
                    printable::line(text)
                )]
            }
            RunEvent::RunEnded { exit, millis } => {
                let ended = format!(
                    "Ended after {} with exit code {}",
                    style::duration(*millis),
                    exit.code()
                );
                let mut lines = self.detail(ended);
                // On a terminal, an empty line separates the event lines from the report that follows.
                lines.extend(self.screen.terminal.then(String::new));
                lines
            }
            RunEvent::RunUndone { files, .. } => {
                vec![format!(
                    "Undid the changes to {}",
                    count(files.len(), "file")
                )]
            }
            RunEvent::RunRedone { files } => {
                vec![format!(
                    "Redid the changes to {}",
                    count(files.len(), "file")
                )]
            }
            RunEvent::RunApplied { files, left } => {
                let rest = match left {
                    0 => String::new(),
                    left => format!("; {} left in the worktree", count(*left, "file")),
                };
                let files = count(*files, "file");
                vec![format!("Applied the changes to {files}{rest}")]
            }
            RunEvent::RunDropped => vec!["Dropped the changes in the worktree".to_owned()],
            RunEvent::RunPruned { bytes } => {
                vec![format!("Deleted {} of stored data", style::size(*bytes))]
            }
        }
    }

    fn review_lines(&self, event: &ReviewEvent) -> Vec<String> {
        let style = self.style;
        match event {
            ReviewEvent::RunStarted { plan } => self.started(plan),
            ReviewEvent::RoundStarted { round, shards, .. } => {
                let files = count(shards.iter().map(Vec::len).sum::<usize>(), "changed file");
                vec![style.strong(format!("Round {round}: {files}"))]
            }
            ReviewEvent::AnswersReused { call, reuse } => {
                vec![self.reused(call, &reuse.from, reuse.asked.len())]
            }
            ReviewEvent::FilesReviewed { .. }
            | ReviewEvent::FindingsCompared { .. }
            | ReviewEvent::ComparisonsReused { .. } => Vec::new(),
            ReviewEvent::PairsUnsure { pairs, .. } => {
                let pairs = count(pairs.len(), "pair");
                self.detail(format!("  {pairs} of findings may name the same defect"))
            }
            ReviewEvent::FindingsMerged { findings, .. } => vec![merged(style, findings)],
            // If the content of a debate message is a JSON object, the summary of the message is printed instead
            // of the content.
            ReviewEvent::DebateRound { message, .. }
            | ReviewEvent::DebateConcluded {
                report: message, ..
            } => match message {
                DebateMessage::Message {
                    content, summary, ..
                } if content.starts_with('{') => {
                    vec![printable::line(summary)]
                }
                DebateMessage::Message { content, .. } => vec![printable::line(content)],
                DebateMessage::ShutdownRequest { .. } | DebateMessage::ShutdownResponse { .. } => {
                    Vec::new()
                }
            },
            ReviewEvent::DebateShutdown { messages } => messages
                .iter()
                .filter_map(|message| match message {
                    DebateMessage::ShutdownResponse { content, .. } => {
                        content.as_deref().map(printable::line)
                    }
                    DebateMessage::Message { .. } | DebateMessage::ShutdownRequest { .. } => None,
                })
                .collect(),
            ReviewEvent::AlreadyRuled {
                finding,
                dispute,
                new_tag: Some(tag),
                ..
            } if self.is_verbose() => self.detail(format!(
                "  {tag}[{finding}]: the tag is by dispute {dispute}"
            )),
            ReviewEvent::AlreadyRuled {
                finding,
                dispute,
                insisted: true,
                ..
            } => {
                vec![format!(
                    "  {finding}: raised again after dispute {dispute} without new evidence"
                )]
            }
            ReviewEvent::AlreadyRuled {
                finding,
                dispute,
                disposition,
                ..
            } => self.detail(format!(
                "  {finding} already ruled in dispute {dispute}: {}",
                disposition.as_str()
            )),
            ReviewEvent::RelatedDispute { finding, earlier } => {
                vec![format!(
                    "  {finding}: {}",
                    printable::line(&earlier.sentence())
                )]
            }
            ReviewEvent::BeforeImage { kept_as, .. } => self.detail(format!(
                "  snapshot before the edits: {}",
                printable::line(kept_as)
            )),
            ReviewEvent::AdvisoriesAsked { answers } if answers.is_empty() => Vec::new(),
            ReviewEvent::AdvisoriesAsked { answers } => {
                let is_confirmed =
                    |status: &&AdvisoryStatus| matches!(status, AdvisoryStatus::Confirmed { .. });
                let confirmed = answers.values().filter(is_confirmed).count();
                let findings = count(answers.len(), "finding");
                self.detail(format!(
                    "  {findings} checked against advisories, {confirmed} confirmed"
                ))
            }
            ReviewEvent::MembersSeparated { findings, .. } => {
                let left = findings.iter().filter_map(|finding| {
                    let id = finding.id;
                    let was = finding.was?;
                    Some(style.faint(format!("  {id} is another defect (was {was})")))
                });
                left.collect()
            }
            ReviewEvent::ProblemsJoined { newer, older } => {
                vec![style.faint(format!("  {newer} is the same problem as {older}"))]
            }
            ReviewEvent::StillDisputed { finding, dispute } => {
                vec![style.faint(format!(
                    "  {finding} waits for dispute {dispute}, which is still open"
                ))]
            }
            ReviewEvent::FixRequested { request } => {
                let findings: Vec<String> =
                    request.findings.iter().map(ToString::to_string).collect();
                vec![format!("The coder receives {}", findings.join(", "))]
            }
            ReviewEvent::TreeChanged(change) => self.changed(change),
            ReviewEvent::Verified(checked) => {
                self.verified(&checked.command, checked.passed, &checked.tail)
            }
            ReviewEvent::DemonstrationRan(run) => {
                let path = printable::line(&run.demonstration.path);
                let shown = demonstrations::alone(run);
                let shown = style.faint(format!("{} `{path}` {shown}", run.finding));
                vec![format!("  {shown}")]
            }
            ReviewEvent::Undemonstrated { findings } => {
                let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
                let text = format!("  no test shows {}", findings.join(", "));
                vec![style.faint(text)]
            }
        }
    }

    fn started(&self, plan: &Plan) -> Vec<String> {
        // The report says that there is nothing to review.
        if plan.shards.is_empty() {
            return Vec::new();
        }
        let style = self.style;
        let files: usize = plan.shards.iter().map(Vec::len).sum();
        let code: u64 = plan
            .shards
            .iter()
            .flatten()
            .map(|file| u64::from(file.lines))
            .sum();
        let target = style.strong(printable::line(&plan.target));
        let code = format!("{}, {}", count(files, "file"), count(code, "line"));
        let shards = if plan.shards.len() > 1 {
            count(plan.shards.len(), "shard")
        } else {
            String::new()
        };
        let mut facts = vec![format!("Reviewing {target}"), code, shards];
        for role in Role::ALL {
            let agents = plan.agents.iter().filter(|agent| agent.role == role);
            let names: Vec<&AgentName> = agents.map(|agent| &agent.name).collect();
            match names.len() {
                0 => {}
                1..4 => facts.push(format!("{role} {}", style::names(names))),
                many => facts.push(count(many, role.as_str())),
            }
        }
        let mut lines = vec![style.facts(&facts)];
        if !plan.skipped.is_empty() {
            let most = if self.is_verbose() { usize::MAX } else { 3 };
            let skipped = style::skipped(&plan.skipped, most);
            lines.push(style.paint(Color::Warn, &format!("  skipped {skipped}")));
        }
        lines.extend(self.detail(format!("  tree {}", printable::line(&plan.tree))));
        lines
    }

    fn changed(&self, change: &TreeChange) -> Vec<String> {
        let coder = printable::line(&change.call.agent.0);
        let changes = &change.changes;
        let mut lines = Vec::new();
        if !change.put_back.is_empty() {
            let list = printable::line(&change.put_back.join(", "));
            lines.push(format!("  put back, because no finding names it: {list}"));
        }
        if changes.is_empty() {
            lines.push(format!("  {coder} changed no file"));
            return lines;
        }
        let files = count(changes.len(), "file");
        lines.push(format!(
            "  {coder} changed {files}  {}",
            self.style.delta(changes)
        ));
        if self.is_verbose() {
            lines.extend(changes.iter().map(|change| {
                format!(
                    "    {}  {}",
                    printable::line(&change.file),
                    self.style.delta([change])
                )
            }));
        }
        lines
    }

    fn verified(&self, command: &str, passed: bool, tail: &str) -> Vec<String> {
        let (glyph, word) = if passed {
            (Glyph::Done, "passed")
        } else {
            (Glyph::Failed, "failed")
        };
        let mut lines = vec![format!(
            "{} `{}` {word}",
            self.style.mark(glyph),
            printable::line(command)
        )];
        if self.is_verbose() || !passed {
            let tail: Vec<&str> = tail.trim_end().lines().collect();
            let hidden = if self.is_verbose() {
                0
            } else {
                tail.len().saturating_sub(10)
            };
            lines.extend(
                tail[hidden..]
                    .iter()
                    .map(|line| format!("    {}", self.style.faint(printable::line(*line)))),
            );
        }
        lines
    }
}

fn only_coder(agents: &[Agent]) -> Option<AgentName> {
    let mut coders = agents.iter().filter(|agent| agent.role == Role::Coder);
    let first = coders.next()?;
    coders.next().is_none().then(|| first.name.clone())
}

fn merged(style: Style, findings: &[Finding]) -> String {
    let groups: BTreeSet<u32> = findings.iter().map(|finding| finding.id.number).collect();
    let mut facts = vec![style.strong(count(groups.len(), "finding"))];
    if groups.len() < findings.len() {
        facts.push(count(findings.len(), "member"));
    }
    for tag in Tag::ALL.map(Some).into_iter().chain([None]) {
        let of_tag: Vec<_> = findings
            .iter()
            .filter(|finding| finding.raw.severity.tag == tag)
            .collect();
        if let Some(first) = of_tag.first() {
            let name = tag.map_or_else(|| "of unknown severity".to_owned(), |tag| tag.to_string());
            facts.push(style.paint(
                Color::of(&first.raw.severity),
                &format!("{} {name}", of_tag.len()),
            ));
        }
    }
    format!("  {}", style.facts(&facts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::style::fixture::{
        call, dispute, event, finding, finished, response, ruling, started,
    };
    use glee_model::domain::event::{DisputeEvent, Settlement, Verified};
    use glee_model::domain::{
        Answer, AnswerStatus, Disposition, DisputeNumber, ExitReason, FileChange, FindingId,
        Recheck, Route, Ruler, RulingWord,
    };

    fn run() -> Vec<EventKind> {
        let weak = finding(1, Tag::High, "a.py:7", "MD5 is broken");
        let url = finding(2, Tag::Low, "b.js:2", "Rename `u`\x1b[2J");
        let review = |agent: &str, shard| call(agent, Purpose::Review { round: 1, shard });
        let answered = |status, findings: &[&Finding]| CallAnswer::Review {
            status,
            findings: findings.iter().map(|finding| finding.raw.clone()).collect(),
            notes: String::new(),
            problem: None,
            read: None,
            is_doubtful: false,
        };
        let start = |call: CallId, role| {
            EventKind::Run(RunEvent::CallStarted {
                call,
                role,
                prompt_bytes: 12_345,
                nonce: String::new(),
            })
        };
        let respond = call("fixer", Purpose::Respond { round: 1 });
        let judge = call(
            "referee",
            Purpose::Judge {
                dispute: DisputeNumber(3),
            },
        );
        let mut again = review("gemini", 1);
        again.attempt = 2;
        let change = FileChange {
            file: "a.py".to_owned(),
            added: 3,
            removed: 1,
            diff: None,
        };
        let responses = vec![response(2, Answer::Implemented, "done")];
        let checks = vec![Recheck {
            finding: FindingId::new(2),
            resolved: true,
            reason: "".into(),
        }];
        vec![
            started(),
            start(review("rules", 0), Role::Reviewer),
            start(review("gemini", 1), Role::Reviewer),
            finished(
                review("rules", 0),
                answered(AnswerStatus::Complete, &[&weak, &url]),
            ),
            finished(
                review("gemini", 1),
                answered(AnswerStatus::Incomplete, &[&weak]),
            ),
            start(again.clone(), Role::Reviewer),
            finished(
                again,
                CallAnswer::Failed {
                    error: "timed out after 30m".to_owned(),
                    hint: Some("raise `limits.call_timeout`".to_owned()),
                    cause: None,
                },
            ),
            EventKind::Review(ReviewEvent::FindingsMerged {
                restated: Vec::new(),
                round: 1,
                findings: vec![weak.clone(), url],
            }),
            EventKind::Review(ReviewEvent::AlreadyRuled {
                finding: FindingId::new(2),
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
            finished(
                respond.clone(),
                CallAnswer::Respond {
                    responses,
                    complete: true,
                },
            ),
            EventKind::Review(ReviewEvent::TreeChanged(TreeChange {
                call: respond,
                tree: "5c".to_owned(),
                changes: vec![change],
                put_back: Vec::new(),
                touched: [FindingId::new(2)].into(),
                partly: Vec::new(),
            })),
            EventKind::Dispute(DisputeEvent::DisputeOpened {
                dispute: Box::new(dispute(3, weak, "It is no secret.", &[])),
            }),
            EventKind::Dispute(DisputeEvent::RouteChosen {
                dispute: DisputeNumber(3),
                route: Route::Judge,
                person: None,
            }),
            start(judge.clone(), Role::Judge),
            finished(
                judge,
                CallAnswer::Judge {
                    ruling: ruling(RulingWord::Enforce, "").ruling,
                },
            ),
            EventKind::Dispute(DisputeEvent::RulingGiven {
                dispute: DisputeNumber(3),
                ruling: ruling(RulingWord::Enforce, "The cited test\ndoes not exist."),
            }),
            EventKind::Dispute(DisputeEvent::DisputeSettled {
                dispute: DisputeNumber(3),
                settlement: Settlement {
                    disposition: Disposition::Enforced,
                    by: Ruler::Judge {
                        name: "referee".into(),
                    },
                    reason: "".into(),
                    until: None,
                },
            }),
            finished(
                call("rules", Purpose::Recheck { round: 1 }),
                CallAnswer::Recheck { checks },
            ),
            EventKind::Review(ReviewEvent::Verified(Verified {
                round: 1,
                command: "cargo test".to_owned(),
                passed: false,
                tail: "one\n\x1b[31mtwo\n".to_owned(),
            })),
            EventKind::Review(ReviewEvent::RoundStarted {
                round: 2,
                shards: vec![vec![]],
                skipped: Vec::new(),
            }),
            EventKind::notice("something\nto know"),
            EventKind::Run(RunEvent::RunEnded {
                exit: ExitReason::FindingsOpen,
                millis: 65_000,
            }),
        ]
    }

    const PLAIN: Screen = Screen {
        terminal: false,
        color: false,
        unicode: true,
        columns: Some(80),
        verbosity: Verbosity::Normal,
    };

    fn lines(screen: Screen) -> String {
        let mut lines = EventLines::new(screen);
        let events = run()
            .into_iter()
            .zip(1..)
            .map(|(kind, seq)| event(seq, kind));
        events
            .flat_map(|event| lines.lines(&event))
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn without_a_terminal() {
        insta::assert_snapshot!(lines(Screen {
            unicode: false,
            ..PLAIN
        }));
    }

    #[test]
    fn verbose() {
        insta::assert_snapshot!(lines(Screen {
            verbosity: Verbosity::Verbose,
            ..PLAIN
        }));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for columns in 40..=120 {
            let shown = lines(Screen {
                terminal: true,
                columns: Some(columns),
                ..PLAIN
            });
            let widest = style::widest(shown.lines());
            assert!(widest <= columns, "{widest} of {columns}:\n{shown}");
        }
        insta::assert_snapshot!(lines(Screen {
            terminal: true,
            columns: Some(50),
            ..PLAIN
        }));
    }

    #[test]
    fn above_live_lines_in_colour() {
        insta::assert_snapshot!(
            lines(Screen {
                terminal: true,
                color: true,
                ..PLAIN
            })
            .replace('\x1b', "␛")
        );
    }
}
