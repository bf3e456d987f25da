//! Converts a request into the values of a prompt template and encloses text from files and agents in fences.
//!
//! The first line and the last line of a fence contain a mark. The mark is the first half of every nonce of the
//! run (see `nonce`). Text that contains the mark could end a fence early, so Glee removes the mark from a text
//! before enclosing the text in a fence. Every line inside a fence begins with a line number or a colon. Parsers
//! recognise tags, closing lines, JSON and code fences only at the beginning of a line. If an agent repeats the
//! prompt, fenced text is therefore not parsed as an answer.

use serde_json::{Value, json};

use crate::request::{
    Challenged, Change, CoderWritten, ComparedFinding, FailedCheck, FindingPair, Request,
    RulingInForce, SourceFile, StagePosition, StageSubject, Task, UncertainPair,
};
use crate::text::{nonce, printable};
use glee_model::domain::{
    AgentName, Dispute, EarlierDispute, Finding, FindingId, Location, Opinion, PairId, Question,
    RawFinding, RulingRecord, Untrusted,
};
use glee_model::rules::{review::objections, stages::stage};

/// Returns the text that proves that an answer belongs to the request. In prose, this text is the closing line;
/// in JSON, this text is the field `nonce`.
pub(super) fn closing(request: &Request) -> String {
    let nonce = &request.nonce;
    match &request.task {
        Task::Review { .. } | Task::Close { .. } => {
            format!("{} read=all|part", closing_without_extent(nonce))
        }
        Task::Respond { .. } => format!("GLEE-RESPONSE-END nonce={nonce} answers=<n>"),
        Task::Judge { dispute, .. } => {
            format!(
                "GLEE-RULING nonce={nonce} dispute={} ruling=<WORD>",
                dispute.number
            )
        }
        Task::Aggregate { .. }
        | Task::Arbitrate { .. }
        | Task::Questions { .. }
        | Task::Validate { .. }
        | Task::Peer { .. } => format!("\"nonce\": \"{nonce}\""),
        task => format!(
            "GLEE-{}-END nonce={nonce} answers=<n>",
            task.kind().to_uppercase()
        ),
    }
}

/// The closing line of a review without the word `read`, which a project's own template can leave out.
pub(crate) fn closing_without_extent(nonce: &str) -> String {
    format!("GLEE-REVIEW-END nonce={nonce} findings=<n>")
}

pub(super) fn context(request: &Request) -> Value {
    let fence = Fence {
        mark: nonce::mark(&request.nonce),
    };
    let mut values = match &request.task {
        Task::Review { files, focus, rulings, recheck } => json!({
            "focus": fence.lines("focus", focus.iter().map(printable::line)),
            "rulings": fence.rulings("rulings", rulings),
            "recheck": fence.lines("earlier findings", raised(recheck).into_iter()),
            "files": fence.files(files),
        }),
        Task::Close { problem, findings, answer } => json!({
            "problem": printable::line(problem.as_written()),
            "count": findings.len(),
            "findings": fence.lines("your findings", raised(findings).into_iter()),
            "answer": fence.lines("your words", answer.as_written().lines().map(str::to_owned)),
        }),
        Task::Same { pairs, findings, files } => json!({
            "pairs": list(pairs, |FindingPair { id, one, other }| json!({ "id": id, "one": one, "other": other })),
            "findings": list(findings, |finding| fence.compared(finding)),
            "files": fence.files(files),
        }),
        Task::Examine {
            files,
            findings,
            own,
        } => json!({
            "files": fence.files(files),
            "findings": list(findings, |finding| fence.finding(finding, None)),
            "own": list(own, |finding| fence.finding(finding, None)),
        }),
        Task::Defend { files, challenged } => json!({
            "files": fence.files(files),
            "findings": list(challenged, |item| fence.challenged(item)),
        }),
        Task::Respond { items, failing } => json!({
            "failing": list(failing, |FailedCheck { command, output }| json!({
                "command": fence.line(command),
                "output": fence.around("output of a command", output.as_written()),
            })),
            "items": list(items, |item| fence.finding(&item.finding, item.enforced.as_ref())),
            "groups": items.iter().any(|item| item.finding.id.member > 0),
        }),
        Task::Judge { dispute, files, written, precedents } => json!({
            "dispute": dispute.number,
            "finding": fence.finding(&dispute.finding, None),
            "members": list(&dispute.members, |member| fence.finding(member, None)),
            "objection": fence.objection(dispute),
            "is_opinion": objections::lacks_evidence(dispute.objector, &dispute.objection),
            "earlier": fence.lines("rulings", dispute.rulings.iter().map(|RulingRecord { ruling, .. }| {
                format!("{}: {}", ruling.ruling, ruling.rationale.as_written())
            })),
            "related": fence.related(&dispute.earlier),
            "written": fence.written(written),
            "precedents": fence.rulings("precedents", precedents),
            "files": fence.files(files),
        }),
        Task::Recheck { changes, files } => json!({
            "changes": list(changes, |change| fence.change(change)),
            "files": fence.files(files),
        }),
        Task::Compare { pairs, files } => json!({
            "pairs": list(pairs, |pair| fence.pair(pair)),
            "files": fence.files(files),
        }),
        Task::Stage { about, input, resolved } => fence.stage(
            about,
            json!({
                "input": fence.maybe("synthesis of the stage before", input.as_ref()),
                "resolved": fence.maybe("resolved questions", resolved.as_ref()),
            }),
        ),
        Task::Aggregate { about, positions, missing } => fence.stage(
            about,
            json!({
                "positions": fence.positions(positions),
                "missing": fence.names(missing),
            }),
        ),
        Task::Arbitrate { about, positions, aggregator, summary, conflicts } => fence.stage(
            about,
            json!({
                "positions": fence.positions(positions),
                "aggregator": fence.line(&aggregator.0),
                "summary": fence.around("summary", summary.as_written()),
                "conflicts": fence.around("conflicts", Untrusted::joined(conflicts, "\n").as_written()),
            }),
        ),
        Task::Questions { id, checkpoint, questions } => json!({
            "id": fence.line(id),
            "checkpoint": fence.line(checkpoint),
            "questions": list(questions, |question| fence.question(question)),
        }),
        Task::Validate { id, checkpoint, question, majority, minority } => json!({
            "id": fence.line(id),
            "checkpoint": fence.line(checkpoint),
            "question": fence.question(question),
            "majority": fence.opinion("majority", majority),
            "minority": list(minority, |one| fence.opinion("minority", one).into()),
        }),
        Task::Work { task } => json!({ "task": fence.around("task", task) }),
        Task::Peer { request, changes, closed } => {
            let changes = (!changes.is_blank()).then_some(changes);
            let closed = (!closed.is_empty()).then(|| Untrusted::joined(closed, "\n"));
            json!({
                "request": fence.around("review request", &serde_json::to_string_pretty(request).unwrap_or_default()),
                "targets": fence.names(&request.targets),
                "areas": list(&request.focus_areas, |area| fence.line(area).into()),
                "max_words": request.max_words,
                "concerns": !request.open_concerns.is_empty(),
                "changes": fence.maybe("changes", changes),
                "closed": fence.maybe("closed issues", closed.as_ref()),
            })
        }
    };
    values["again"] = json!(
        request
            .again
            .as_deref()
            .map(|why| fence.line(why))
            .unwrap_or_default()
    );
    values["agent"] = json!(fence.line(&request.agent.0));
    values["root"] = json!(fence.line(&request.root));
    values["nonce"] = json!(request.nonce);
    values["closing"] = json!(closing(request));
    values["secrets"] =
        json!(serde_json::to_string(&request.task).is_ok_and(|text| text.contains("[secret:")));
    values["ids"] = json!(match &request.task {
        Task::Same { .. } => joined(&request.task.pairs(), PairId::to_string),
        task => joined(&task.findings(), FindingId::to_string),
    });
    values
}

/// Returns one line for each file, followed by one line for each finding in this file.
fn raised(findings: &[RawFinding]) -> Vec<String> {
    let mut text = Vec::new();
    for of_file in findings.chunk_by(|a, b| a.file == b.file) {
        text.push(printable::line(
            of_file[0].file.as_deref().unwrap_or_default(),
        ));
        text.extend(of_file.iter().map(|finding| {
            let place = finding
                .line
                .map(|line| lines((line, finding.end_line.unwrap_or(line))))
                .unwrap_or_default();
            let tag = finding
                .severity
                .tag
                .map(|tag| format!("[{tag}] "))
                .unwrap_or_default();
            printable::line(&format!("{place} {tag}{}", finding.title.as_written()))
        }));
    }
    text
}

fn list<T>(items: &[T], value: impl Fn(&T) -> Value) -> Value {
    items.iter().map(value).collect()
}

fn joined<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// The maximum number of consecutive empty lines that a prompt contains. A longer sequence of empty lines is
/// replaced by one line with the range of line numbers.
const LONG_GAP: usize = 2;

struct Fence<'a> {
    mark: &'a str,
}

impl Fence<'_> {
    /// Renders a text as one line for use outside a fence. Removes the mark from the text, so that the text cannot
    /// end a fence, and escapes control characters.
    fn line(&self, text: &str) -> String {
        self.without_mark(&printable::line(text))
    }

    fn names(&self, names: &[AgentName]) -> String {
        joined(names, |name| self.line(&name.0))
    }

    fn around(&self, what: &str, text: &str) -> String {
        self.between(
            what,
            text.trim_end_matches('\n')
                .lines()
                .map(|line| format!(": {line}\n"))
                .collect(),
        )
    }

    fn file(&self, path: &str, text: &str) -> String {
        let width = text.lines().count().to_string().len();
        let mut numbered = String::new();
        let mut lines = text.lines().zip(1_usize..).peekable();
        while let Some((line, number)) = lines.next() {
            let mut last = number;
            while let Some((_, next)) =
                lines.next_if(|(next, _)| line.is_empty() && next.is_empty())
            {
                last = next;
            }
            if last - number < LONG_GAP {
                numbered
                    .extend((number..=last).map(|number| format!("{number:>width$} | {line}\n")));
            } else {
                numbered.push_str(&format!("{:width$} | ({number}-{last})\n", ""));
            }
        }
        self.between(&format!("path={path}{}", line_ends(text)), numbered)
    }

    fn between(&self, what: &str, lines: String) -> String {
        let Self { mark } = self;
        let what = self.line(what);
        let lines = self.without_mark(&lines);
        format!("<<<GLEE-DATA mark={mark} {what}\n{lines}>>>GLEE-DATA-END mark={mark}")
    }

    fn without_mark(&self, text: &str) -> String {
        if self.mark.is_empty() {
            text.to_owned()
        } else {
            text.replace(self.mark, "[mark]")
        }
    }

    fn files(&self, files: &[SourceFile]) -> Value {
        list(files, |file| {
            json!({
                "ranges": joined(&file.changed, |range| lines(*range)),
                "deleted": file.is_deleted(),
                "text": self.file(&file.path, &file.text),
                "diff": file.diff.as_ref().map(|diff| self.around(&format!("diff={}", file.path), diff)),
            })
        })
    }

    fn lines(&self, what: &str, lines: impl Iterator<Item = String>) -> String {
        let lines: Vec<String> = lines.collect();
        if lines.is_empty() {
            String::new()
        } else {
            self.around(what, &lines.join("\n"))
        }
    }

    fn rulings(&self, what: &str, rulings: &[RulingInForce]) -> String {
        self.lines(
            what,
            rulings.iter().map(|ruling| {
                let place = ruling
                    .location
                    .as_ref()
                    .map(|place| format!("{place} "))
                    .unwrap_or_default();
                let why = if ruling.rationale.is_empty() {
                    "no reason given"
                } else {
                    ruling.rationale.as_written()
                };
                let title = ruling.title.as_written();
                let word = ruling.disposition.as_str();
                printable::line(&format!(
                    "{}: {place}{title}: {word}: {why}",
                    ruling.dispute.mark()
                ))
            }),
        )
    }

    fn written(&self, written: &[CoderWritten]) -> String {
        self.lines(
            "written by the coder",
            written.iter().map(|file| {
                let ranges = joined(&file.lines, |range| lines(*range));
                let what = if ranges.is_empty() {
                    "the whole file"
                } else {
                    "lines "
                };
                printable::line(&format!("{}: {what}{ranges}", file.path))
            }),
        )
    }

    fn challenged(&self, item: &Challenged) -> Value {
        let said = item.challenges.iter().map(|challenge| {
            let by = &challenge.by;
            let action = challenge.said.action.as_str();
            format!("{by} {action}: {}", challenge.said.reasoning.as_written())
        });
        let id = item.finding.id;
        let mut value = self.finding(&item.finding, None);
        value["challenges"] = json!(self.around(
            &format!("challenges={id}"),
            &said.collect::<Vec<_>>().join("\n")
        ));
        value
    }

    fn change(&self, change: &Change) -> Value {
        let id = change.finding.id;
        let mut value = self.finding(&change.finding, None);
        value["response"] =
            json!(self.around(&format!("response={id}"), change.response.as_written()));
        value["diff"] = json!(self.around(&format!("diff={id}"), &change.diff));
        value
    }

    fn finding(&self, finding: &Finding, enforced: Option<&Untrusted>) -> Value {
        let raw = &finding.raw;
        let tag = raw.severity.tag.map_or_else(
            || "of an unknown severity".to_owned(),
            |tag| tag.to_string(),
        );
        let mut text: String = joined(&raw.locations(), Location::to_string);
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(raw.title.as_written());
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
            "raised_by": self.names(&finding.raised_by),
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

    /// The instructions are not enclosed in a fence, because the user wrote the instructions, and fences are for
    /// text from files and agents.
    fn stage(&self, about: &StageSubject, mut values: Value) -> Value {
        values["id"] = json!(self.line(&about.id));
        values["stage"] = json!(self.line(&about.stage));
        values["instructions"] = json!(self.without_mark(&about.instructions));
        values["prompt"] = json!(self.around("request", &about.prompt));
        values["fields"] = about
            .required_fields
            .iter()
            .map(|field| self.line(field))
            .collect();
        values
    }

    fn maybe(&self, what: &str, text: Option<&Untrusted>) -> String {
        text.map(|text| self.around(what, text.as_written()))
            .unwrap_or_default()
    }

    fn positions(&self, positions: &[StagePosition]) -> Value {
        positions
            .iter()
            .enumerate()
            .map(|(index, position)| {
                let approach = format!("approach_{}", stage::label(index));
                let text =
                    self.around(&format!("answer={approach}"), position.content.as_written());
                json!({ "approach": approach, "agent": self.line(&position.agent.0), "text": text })
            })
            .collect()
    }

    fn question(&self, question: &Question) -> Value {
        let text = self.around(&format!("question={}", question.id), &question.question);
        let options = list(&question.options, |option| self.line(option).into());
        json!({ "id": self.line(&question.id), "text": text, "options": options })
    }

    fn opinion(&self, what: &str, opinion: &Opinion) -> String {
        let mut text = opinion.answer.as_written().to_owned();
        for (name, reason) in opinion.by.iter().zip(&opinion.reasons) {
            add(&mut text, &format!("{name}: "), reason);
        }
        self.around(what, &text)
    }

    fn compared(&self, ComparedFinding { number, raw }: &ComparedFinding) -> Value {
        let place = raw
            .location()
            .map(|place| format!("{place} "))
            .unwrap_or_default();
        let mut text = format!("{place}{}", raw.title.as_written());
        if let Some(cwe) = raw.cwe {
            text.push_str(&format!(" ({cwe})"));
        }
        add(&mut text, "", &raw.body);
        json!({ "number": number, "text": self.around(&format!("finding {number}"), &text) })
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
        if text.is_empty() {
            text
        } else {
            self.around("earlier disputes", text.trim_start())
        }
    }
}

/// Names the line ends of a text, because the numbered lines do not show them. Returns an empty text if no line ends in
/// CRLF.
fn line_ends(text: &str) -> String {
    let ends = || text.split_inclusive('\n').filter(|line| *line != "\n");
    let crlf = ends().filter(|line| line.ends_with("\r\n")).count();
    let all = ends().count();
    match crlf {
        0 => String::new(),
        _ if crlf == all => " line-ends=CRLF".to_owned(),
        _ => format!(" line-ends=CRLF in {crlf} of {all} lines"),
    }
}

fn lines((from, to): (u32, u32)) -> String {
    if from == to {
        from.to_string()
    } else {
        format!("{from}-{to}")
    }
}

fn add(text: &mut String, label: &str, more: &Untrusted) {
    let more = more.as_written();
    if !more.trim().is_empty() {
        text.push('\n');
        text.push_str(label);
        text.push_str(more.trim_end());
    }
}
