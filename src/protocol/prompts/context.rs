//! What a prompt's template can say: the request as values, every word of others inside a fence.
//!
//! A fence carries the mark of the run, which nobody outside of it knew when the words were written; an agent of the same
//! run that knows it gains nothing, since the mark is removed from all words of others. So nothing inside can end its
//! fence, and a template cannot show data without one.
//! Every line inside begins with its number or a colon: an agent that repeats its whole prompt has not said any of it,
//! because tags, closing lines, JSON and code fences count only where a line begins with them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::domain::{
    Dispute, EarlierDispute, Finding, FindingId, Opinion, Question, RawFinding, RulingRecord, Untrusted,
};
use crate::protocol::request::{
    Challenged, Change, CoderWritten, FailedCheck, Request, RulingInForce, SourceFile, StagePosition, StageSubject,
    Task, UncertainPair,
};
use crate::protocol::text::{nonce, printable};
use crate::rules::stages::stage;

/// The names a template may use.
pub(crate) type Context = BTreeMap<&'static str, Value>;

/// The line that ends an answer, its open places in angle brackets.
pub(crate) fn closing(request: &Request) -> String {
    let nonce = &request.nonce;
    match &request.task {
        Task::Review { .. } => format!("GLEE-REVIEW-END nonce={nonce} findings=<n>"),
        Task::Examine { .. } => format!("GLEE-EXAMINE-END nonce={nonce} answers=<n>"),
        Task::Defend { .. } => format!("GLEE-DEFEND-END nonce={nonce} answers=<n>"),
        Task::Respond { .. } => format!("GLEE-RESPONSE-END nonce={nonce} answers=<n>"),
        Task::Judge { dispute, .. } => {
            format!("GLEE-RULING nonce={nonce} dispute={} ruling=<WORD>", dispute.number)
        }
        Task::Recheck { .. } => format!("GLEE-RECHECK-END nonce={nonce} answers=<n>"),
        Task::Compare { .. } => format!("GLEE-COMPARE-END nonce={nonce} answers=<n>"),
        Task::Work { .. } => format!("GLEE-WORK-END nonce={nonce} answers=<n>"),
        Task::Stage { .. } => format!("GLEE-STAGE-END nonce={nonce} answers=<n>"),
        // What is only answered as an object is told from others by this member.
        Task::Aggregate { .. }
        | Task::Arbitrate { .. }
        | Task::Questions { .. }
        | Task::Validate { .. }
        | Task::Peer { .. } => {
            format!("\"nonce\": \"{nonce}\"")
        }
    }
}

pub(crate) fn context(request: &Request) -> Context {
    let fence = Fence { mark: nonce::mark(&request.nonce) };
    let mut values = Context::from([
        ("again", json!(request.again.as_deref().map(|why| fence.line(why)).unwrap_or_default())),
        ("agent", json!(fence.line(&request.agent.0))),
        ("root", json!(fence.line(&request.root))),
        ("nonce", json!(request.nonce)),
        ("closing", json!(closing(request))),
        ("secrets", json!(holds_placeholders(&request.task))),
    ]);
    match &request.task {
        Task::Review { files, focus, rulings, recheck } => {
            values.insert("focus", json!(fence.lines("focus", focus.iter().map(printable::line))));
            values.insert("rulings", json!(fence.rulings("rulings", rulings)));
            values.insert("recheck", json!(fence.lines("earlier findings", raised(recheck).into_iter())));
            values.insert("files", fence.files(files));
        }
        Task::Examine { files, findings } => {
            values.insert("files", fence.files(files));
            values.insert("findings", findings.iter().map(|finding| fence.finding(finding, None)).collect());
            values.insert("ids", json!(ids(findings.iter().map(|finding| finding.id))));
        }
        Task::Defend { files, challenged } => {
            values.insert("files", fence.files(files));
            values.insert("findings", challenged.iter().map(|item| fence.challenged(item)).collect());
            values.insert("ids", json!(ids(challenged.iter().map(|item| item.finding.id))));
        }
        Task::Respond { items, failing } => {
            let shown = |check: &FailedCheck| {
                json!({
                    "command": fence.line(&check.command),
                    "output": fence.around("output of a command", check.output.as_written()),
                })
            };
            values.insert("failing", failing.iter().map(shown).collect());
            values.insert(
                "items",
                items.iter().map(|item| fence.finding(&item.finding, item.enforced.as_ref())).collect(),
            );
            values.insert("ids", json!(ids(items.iter().map(|item| item.finding.id))));
        }
        Task::Judge { dispute, files, written, precedents } => {
            values.insert("dispute", json!(dispute.number.0));
            values.insert("finding", fence.finding(&dispute.finding, None));
            values.insert("objection", json!(fence.objection(dispute)));
            values.insert("earlier", json!(fence.earlier(&dispute.rulings)));
            values.insert("related", json!(fence.related(&dispute.earlier)));
            values.insert("written", json!(fence.written(written)));
            values.insert("precedents", json!(fence.rulings("precedents", precedents)));
            values.insert("files", fence.files(files));
        }
        Task::Recheck { changes, files } => {
            values.insert("changes", changes.iter().map(|change| fence.change(change)).collect());
            values.insert("ids", json!(ids(changes.iter().map(|change| change.finding.id))));
            values.insert("files", fence.files(files));
        }
        Task::Compare { pairs, files } => {
            values.insert("pairs", pairs.iter().map(|pair| fence.pair(pair)).collect());
            values.insert("ids", json!(ids(pairs.iter().map(|pair| pair.finding.id))));
            values.insert("files", fence.files(files));
        }
        Task::Stage { about, input, resolved } => {
            values.extend(fence.stage(about));
            values.insert("input", json!(fence.maybe("synthesis of the stage before", input.as_ref())));
            values.insert("resolved", json!(fence.maybe("resolved questions", resolved.as_ref())));
        }
        Task::Aggregate { about, positions, missing } => {
            values.extend(fence.stage(about));
            values.insert("positions", fence.positions(positions));
            let missing: Vec<String> = missing.iter().map(|name| fence.line(&name.0)).collect();
            values.insert("missing", json!(missing.join(", ")));
        }
        Task::Arbitrate { about, positions, aggregator, summary, conflicts } => {
            values.extend(fence.stage(about));
            values.insert("positions", fence.positions(positions));
            values.insert("aggregator", json!(fence.line(&aggregator.0)));
            values.insert("summary", json!(fence.around("summary", summary.as_written())));
            let list = Untrusted::joined(conflicts, "\n");
            values.insert("conflicts", json!(fence.around("conflicts", list.as_written())));
        }
        Task::Questions { id, checkpoint, questions } => {
            values.insert("id", json!(fence.line(id)));
            values.insert("checkpoint", json!(fence.line(checkpoint)));
            values.insert("questions", questions.iter().map(|question| fence.question(question)).collect());
        }
        Task::Validate { id, checkpoint, question, majority, minority } => {
            values.insert("id", json!(fence.line(id)));
            values.insert("checkpoint", json!(fence.line(checkpoint)));
            values.insert("question", fence.question(question));
            values.insert("majority", json!(fence.opinion("majority", majority)));
            values.insert("minority", minority.iter().map(|one| fence.opinion("minority", one)).collect());
        }
        Task::Work { task } => {
            values.insert("task", json!(fence.around("task", task)));
        }
        Task::Peer { request, changes, closed } => {
            let shown = serde_json::to_string_pretty(request).unwrap_or_default();
            values.insert("request", json!(fence.around("review request", &shown)));
            let targets: Vec<String> = request.targets.iter().map(|name| fence.line(&name.0)).collect();
            values.insert("targets", json!(targets.join(", ")));
            values.insert(
                "areas",
                json!(request.focus_areas.iter().map(|area| fence.line(area)).collect::<Vec<_>>()),
            );
            values.insert("max_words", json!(request.max_words));
            values.insert("concerns", json!(!request.open_concerns.is_empty()));
            let changes = (!changes.is_blank()).then_some(changes);
            values.insert("changes", json!(fence.maybe("changes", changes)));
            let closed = (!closed.is_empty()).then(|| Untrusted::joined(closed, "\n"));
            values.insert("closed", json!(fence.maybe("closed issues", closed.as_ref())));
        }
    }
    values
}

/// Whether a secret was taken out of what the agent is shown.
fn holds_placeholders(task: &Task) -> bool {
    serde_json::to_string(task).is_ok_and(|text| text.contains("[secret:"))
}

/// Findings by file, one a line: its lines, tag and title.
fn raised(findings: &[RawFinding]) -> Vec<String> {
    let mut text = Vec::new();
    for of_file in findings.chunk_by(|a, b| a.file == b.file) {
        text.push(printable::line(of_file[0].file.as_deref().unwrap_or_default()));
        text.extend(of_file.iter().map(|finding| {
            let place =
                finding.line.map(|line| lines((line, finding.end_line.unwrap_or(line)))).unwrap_or_default();
            let tag = finding.severity.tag.map(|tag| format!("[{tag}] ")).unwrap_or_default();
            printable::line(&format!("{place} {tag}{}", finding.title.as_written()))
        }));
    }
    text
}

fn ids(ids: impl Iterator<Item = FindingId>) -> String {
    ids.map(|id| id.to_string()).collect::<Vec<_>>().join(", ")
}

/// As many empty lines are shown as one: of a large file the lines far from a change are left empty.
const LONG_GAP: usize = 2;

/// Puts the words of others between markers.
struct Fence<'a> {
    mark: &'a str,
}

impl Fence<'_> {
    /// One line of others' words for use outside of a fence: control characters escaped, the mark removed.
    fn line(&self, text: &str) -> String {
        self.without_mark(&printable::line(text))
    }

    /// Words of others, each line behind a colon.
    fn around(&self, what: &str, text: &str) -> String {
        self.between(what, text.trim_end_matches('\n').lines().map(|line| format!(": {line}\n")).collect())
    }

    /// A file's lines behind their numbers.
    fn file(&self, path: &str, text: &str) -> String {
        let width = text.lines().count().to_string().len();
        let mut numbered = String::new();
        let mut lines = text.lines().zip(1_usize..).peekable();
        while let Some((line, number)) = lines.next() {
            let mut last = number;
            while let Some((_, next)) = lines.next_if(|(next, _)| line.is_empty() && next.is_empty()) {
                last = next;
            }
            numbered.push_str(&match last - number {
                0..LONG_GAP => {
                    (number..=last).map(|number| format!("{number:>width$} | {line}\n")).collect::<String>()
                }
                _ => format!("{:width$} | ({number}-{last})\n", ""),
            });
        }
        self.between(&format!("path={path}"), numbered)
    }

    fn between(&self, what: &str, lines: String) -> String {
        let Self { mark } = self;
        let (what, lines) = (self.line(what), self.without_mark(&lines));
        format!("<<<GLEE-DATA mark={mark} {what}\n{lines}>>>GLEE-DATA-END mark={mark}")
    }

    fn without_mark(&self, text: &str) -> String {
        if self.mark.is_empty() { text.to_owned() } else { text.replace(self.mark, "[mark]") }
    }

    fn files(&self, files: &[SourceFile]) -> Value {
        let file = |file: &SourceFile| {
            let ranges: Vec<_> = file.changed.iter().map(|range| lines(*range)).collect();
            json!({
                "ranges": ranges.join(", "),
                "deleted": file.is_deleted(),
                "text": self.file(&file.path, &file.text),
                "diff": file.diff.as_ref().map(|diff| self.around(&format!("diff={}", file.path), diff)),
            })
        };
        files.iter().map(file).collect()
    }

    /// Lines of others' words; nothing where there are none.
    fn lines(&self, what: &str, lines: impl Iterator<Item = String>) -> String {
        let lines: Vec<String> = lines.collect();
        if lines.is_empty() { String::new() } else { self.around(what, &lines.join("\n")) }
    }

    fn rulings(&self, what: &str, rulings: &[RulingInForce]) -> String {
        let line = |ruling: &RulingInForce| {
            let place = ruling.location.as_ref().map(|place| format!("{place} ")).unwrap_or_default();
            let why = if ruling.rationale.is_empty() { "no reason given" } else { ruling.rationale.as_written() };
            let (title, word) = (ruling.title.as_written(), ruling.disposition.as_str());
            printable::line(&format!("{}: {place}{title}: {word}: {why}", ruling.dispute.mark()))
        };
        self.lines(what, rulings.iter().map(line))
    }

    /// What the coder wrote in this run, one file a line.
    fn written(&self, written: &[CoderWritten]) -> String {
        let line = |file: &CoderWritten| {
            let ranges: Vec<_> = file.lines.iter().map(|range| lines(*range)).collect();
            let what = if ranges.is_empty() {
                "the whole file".to_owned()
            } else {
                format!("lines {}", ranges.join(", "))
            };
            printable::line(&format!("{}: {what}", file.path))
        };
        self.lines("written by the coder", written.iter().map(line))
    }

    fn challenged(&self, item: &Challenged) -> Value {
        let said = item.challenges.iter().map(|challenge| {
            let (by, action) = (&challenge.by, challenge.said.action.as_str());
            format!("{by} {action}: {}", challenge.said.reasoning.as_written())
        });
        let id = item.finding.id;
        let mut value = self.finding(&item.finding, None);
        value["challenges"] = json!(self.around(&format!("challenges={id}"), &said.collect::<Vec<_>>().join("\n")));
        value
    }

    fn change(&self, change: &Change) -> Value {
        let id = change.finding.id;
        let mut value = self.finding(&change.finding, None);
        value["response"] = json!(self.around(&format!("response={id}"), change.response.as_written()));
        value["diff"] = json!(self.around(&format!("diff={id}"), &change.diff));
        value
    }

    fn finding(&self, finding: &Finding, enforced: Option<&Untrusted>) -> Value {
        let raw = &finding.raw;
        let tag = raw.severity.tag.map_or_else(|| "of an unknown severity".to_owned(), |tag| tag.to_string());
        let raised_by: Vec<_> = finding.raised_by.iter().map(|name| self.line(&name.0)).collect();
        let place = raw.location().map(|place| format!("{place} ")).unwrap_or_default();
        let mut text = format!("{place}{}", raw.title.as_written());
        add(&mut text, "", &raw.body);
        if let Some(suggestion) = &raw.suggestion {
            add(&mut text, "Suggestion: ", suggestion);
        }
        for evidence in &raw.evidence {
            add(&mut text, "Evidence: ", evidence);
        }
        if let Some(rationale) = enforced {
            add(&mut text, "The ruling: ", rationale);
        }
        json!({
            "id": finding.id,
            "tag": tag,
            "mandatory": finding.mandatory,
            "enforced": enforced.is_some(),
            "raised_by": raised_by.join(", "),
            "text": self.around(&format!("finding={}", finding.id), &text),
        })
    }

    fn objection(&self, dispute: &Dispute) -> String {
        let mut text = dispute.objection.text.as_written().to_owned();
        for evidence in &dispute.objection.evidence {
            add(&mut text, "Evidence: ", evidence);
        }
        self.around(&format!("objection={}", dispute.finding.id), &text)
    }

    /// What a stage is about. Its instructions and the question are the user's own words, and no data.
    fn stage(&self, about: &StageSubject) -> Context {
        let fields: Vec<String> = about.required_fields.iter().map(|field| self.line(field)).collect();
        Context::from([
            ("id", json!(self.line(&about.id))),
            ("stage", json!(self.line(&about.stage))),
            ("instructions", json!(self.without_mark(&about.instructions))),
            ("prompt", json!(self.around("request", &about.prompt))),
            ("fields", json!(fields)),
        ])
    }

    fn maybe(&self, what: &str, text: Option<&Untrusted>) -> String {
        text.map(|text| self.around(what, text.as_written())).unwrap_or_default()
    }

    fn positions(&self, positions: &[StagePosition]) -> Value {
        let position = |(index, position): (usize, &StagePosition)| {
            let approach = format!("approach_{}", stage::label(index));
            let text = self.around(&format!("answer={approach}"), position.content.as_written());
            json!({ "approach": approach, "agent": self.line(&position.agent.0), "text": text })
        };
        positions.iter().enumerate().map(position).collect()
    }

    fn question(&self, question: &Question) -> Value {
        let text = self.around(&format!("question={}", question.id), &question.question);
        let options: Vec<String> = question.options.iter().map(|option| self.line(option)).collect();
        json!({ "id": self.line(&question.id), "text": text, "options": options })
    }

    fn opinion(&self, what: &str, opinion: &Opinion) -> String {
        let mut text = opinion.answer.as_written().to_owned();
        for (name, reason) in opinion.by.iter().zip(&opinion.reasons) {
            add(&mut text, &format!("{name}: "), reason);
        }
        self.around(what, &text)
    }

    fn pair(&self, UncertainPair { finding, earlier }: &UncertainPair) -> Value {
        let mut text = earlier.title.as_written().to_owned();
        add(&mut text, "Decided: ", &earlier.decided());
        let mut value = self.finding(finding, None);
        value["dispute"] = json!(earlier.dispute);
        value["earlier"] = json!(self.around(&format!("dispute={}", earlier.dispute), &text));
        value
    }

    fn related(&self, disputes: &[EarlierDispute]) -> String {
        let mut text = String::new();
        for earlier in disputes {
            add(&mut text, "", &earlier.sentence());
            add(&mut text, "Decided then: ", &earlier.decided());
            if let Some(diff) = earlier.diff() {
                add(&mut text, "", diff);
            }
        }
        if text.is_empty() { text } else { self.around("earlier disputes", text.trim_start()) }
    }

    fn earlier(&self, rulings: &[RulingRecord]) -> String {
        let line =
            |record: &RulingRecord| format!("{}: {}", record.ruling.ruling, record.ruling.rationale.as_written());
        self.lines("rulings", rulings.iter().map(line))
    }
}

fn lines((from, to): (u32, u32)) -> String {
    if from == to { from.to_string() } else { format!("{from}-{to}") }
}

fn add(text: &mut String, label: &str, more: &Untrusted) {
    let more = more.as_written();
    if !more.trim().is_empty() {
        text.push('\n');
        text.push_str(label);
        text.push_str(more.trim_end());
    }
}
