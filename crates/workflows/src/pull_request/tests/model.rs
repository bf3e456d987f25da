//! A host in memory, with a repository of a few files.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::hosts::{
    Account, ChangedFile, Comment, CommentId, Commit, Conversation, HostKind, Permission,
    PullRequest, RequestState, Thread, ThreadId,
};
use crate::pull_request::{
    Publication, Replies, RequestDispute, RequestReview, ThreadChange, plan, replies,
};
use glee_model::domain::{
    Answer, AnswerStatus, Caps, Coverage, Demonstrated, Disposition, Dispute, DisputeId,
    DisputeNumber, ExactFix, ExitReason, Finding, FindingId, FindingState, Objector, Outcome,
    Proof, RawFinding, Response, ReviewerReport, RuledBy, RuledFinding, RuledPlace, Ruler, Ruling,
    RulingRecord, RulingWord, RunId, SettledFinding, Severity, SharedAnchor, SharedRuling, Tag,
    Untrusted, Usage,
};
use glee_store::config::settings::PrSettings;
use glee_workspace::code::anchors::Blocks;

pub(super) const AUTHOR: &str = "author";
pub(super) const MEMBER: &str = "member";
pub(crate) const MAINTAINER: &str = "maintainer";
pub(crate) const OUTSIDER: &str = "outsider";

pub(super) struct Model {
    pub host: HostKind,
    pub request: PullRequest,
    pub texts: BTreeMap<String, String>,
    pub files: Vec<ChangedFile>,
    pub conversation: Conversation,
    /// What the reviewers raise. The anchors are computed from the texts.
    pub findings: Vec<Finding>,
    /// What is shown of each finding.
    pub demonstrations: Vec<Demonstrated>,
    pub settings: PrSettings,
    pub(crate) outcome_exit: Option<ExitReason>,
    /// The new disputes by the title of their finding.
    rulings: BTreeMap<String, (RulingWord, bool)>,
    run: u32,
    next: u64,
}

/// One request to the host.
#[derive(Clone, Debug)]
enum Write {
    Delete(usize),
    Comment(usize),
    Change(usize),
    Summary,
}

impl Model {
    pub(super) fn text(name: &str) -> String {
        format!("first {name}\nsecond {name}\nthird {name}\n\nother {name}\nlast {name}\n")
    }

    pub(super) fn new() -> Self {
        let commit = |id: &str| Commit {
            id: id.to_owned(),
            branch: "a branch".into(),
        };
        let request = PullRequest {
            number: 7,
            link: "https://host.example/o/r/pull/7".to_owned(),
            title: "A change".into(),
            body: "".into(),
            author: account(AUTHOR),
            state: RequestState::Open,
            is_draft: false,
            is_fork: false,
            base: commit(&"b".repeat(40)),
            head: commit(&"1".repeat(40)),
            merge_base: None,
            repository: "https://host.example/o/r.git".to_owned(),
            head_ref: "refs/pull/7/head".to_owned(),
        };
        let mut model = Self {
            host: HostKind::GitHub,
            request,
            texts: BTreeMap::new(),
            files: Vec::new(),
            conversation: Conversation::default(),
            demonstrations: Vec::new(),
            findings: Vec::new(),
            settings: PrSettings::default(),
            outcome_exit: None,
            rulings: BTreeMap::new(),
            run: 1,
            next: 0,
        };
        for name in ["a", "b"] {
            model.push(&format!("{name}.txt"), &Self::text(name));
        }
        for (title, file, line, tag) in [
            (
                "Unchecked alpha name reaches the shell command",
                "a.txt",
                2,
                Tag::Must,
            ),
            (
                "The beta counter overflows after many requests",
                "a.txt",
                5,
                Tag::High,
            ),
            (
                "Password gamma is written to the log",
                "b.txt",
                1,
                Tag::Must,
            ),
            (
                "The delta loop could be simpler to read",
                "b.txt",
                6,
                Tag::Low,
            ),
        ] {
            model.raise(title, file, line, tag);
        }
        model
    }

    pub(super) fn raise(&mut self, title: &str, file: &str, line: u32, tag: Tag) {
        let raw = RawFinding {
            severity: Severity::known(tag),
            title: title.into(),
            file: Some(file.to_owned()),
            line: Some(line),
            ..RawFinding::default()
        };
        self.add(raw);
    }

    /// Raises another member of the group of the finding whose title contains `word`.
    pub(super) fn join(&mut self, word: &str, title: &str, line: u32, tag: Tag) {
        let head = self.finding(word).unwrap();
        let id = head.id;
        let file = head.raw.file.clone().unwrap();
        self.raise(title, &file, line, tag);
        let member = self.findings.last_mut().unwrap();
        member.id = id;
        member.raised_by = vec!["other".into()];
    }

    pub(super) fn finding(&self, word: &str) -> Option<&Finding> {
        let mut findings = self.findings.iter();
        findings.find(|finding| finding.raw.title.as_written().contains(word))
    }

    pub(super) fn add(&mut self, raw: RawFinding) {
        let last = self.findings.iter().map(|finding| finding.id.number).max();
        self.findings.push(Finding {
            mandatory: matches!(
                raw.severity.tag,
                Some(Tag::Must | Tag::High | Tag::Critical) | None
            ),
            raised_by: vec!["rules".into()],
            ..Finding::raised(FindingId::new(last.unwrap_or_default() + 1), raw)
        });
    }

    /// Adds a finding about lines of a new file, with a replacement of these lines.
    pub(crate) fn add_fix(
        &mut self,
        path: &str,
        text: &str,
        (line, end_line): (u32, u32),
        fix: &str,
    ) {
        self.push(path, text);
        self.raise("MD5 is a weak hash", path, line, Tag::Must);
        let finding = self.findings.last_mut().unwrap();
        finding.raw.end_line = Some(end_line).filter(|end| *end > line);
        finding.raw.suggestion = Some(Untrusted::from(fix).trimmed());
        finding.exact_fix = Some(ExactFix {
            line,
            end_line,
            text: fix.into(),
        });
    }

    /// Pushes a commit that replaces or adds a file.
    pub(super) fn push(&mut self, path: &str, text: &str) {
        self.next_run();
        self.texts.insert(path.to_owned(), text.to_owned());
        let lines: BTreeSet<u32> = (1..=u32::try_from(text.lines().count()).unwrap()).collect();
        let previous = self
            .files
            .iter()
            .find(|file| file.path == path)
            .and_then(|file| file.previous.clone());
        self.files.retain(|file| file.path != path);
        self.files.push(ChangedFile {
            path: path.to_owned(),
            previous,
            added: lines.clone(),
            lines,
        });
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) {
        let Some(text) = self.texts.remove(from) else {
            return;
        };
        let file = self
            .files
            .iter()
            .find(|file| file.path == from)
            .cloned()
            .unwrap();
        self.files.retain(|file| file.path != from);
        self.push(to, &text);
        let renamed = self.files.last_mut().unwrap();
        renamed.previous = Some(file.previous.unwrap_or(from.to_owned()));
        for finding in &mut self.findings {
            if finding.raw.file.as_deref() == Some(from) {
                finding.raw.file = Some(to.to_owned());
            }
        }
    }

    /// A force-push: no thread has a line any more.
    pub(crate) fn force_push(&mut self) {
        self.next_run();
        self.conversation
            .threads
            .iter_mut()
            .for_each(|thread| thread.line = None);
    }

    pub(crate) fn next_run(&mut self) {
        self.run += 1;
        self.request.head.id = format!("{:040x}", self.run);
        // Rulings of earlier runs are no longer new.
        self.rulings
            .values_mut()
            .for_each(|(_, is_new)| *is_new = false);
    }

    pub(super) fn with<T>(&self, act: impl FnOnce(&RequestReview<'_>) -> T) -> T {
        let outcome = self.outcome();
        let disputes: Vec<RequestDispute> = outcome
            .findings
            .iter()
            .filter_map(|settled| self.dispute_in(&outcome, settled))
            .collect();
        let text_of = |path: &str| self.texts.get(path).cloned();
        act(&RequestReview {
            host: self.host,
            request: &self.request,
            files: &self.files,
            conversation: &self.conversation,
            outcome: &outcome,
            disputes: &disputes,
            settings: &self.settings,
            text_of: &text_of,
        })
    }

    pub(super) fn plan(&self) -> Publication {
        self.with(plan)
    }

    pub(super) fn replies(&self) -> Replies {
        self.with(replies)
    }

    fn run_id(&self) -> RunId {
        RunId(format!("00000000-0000-7000-8000-{:012}", self.run))
    }

    fn settled(&self, id: FindingId, finding: &Finding) -> SettledFinding {
        let file = finding.raw.file.as_deref().unwrap();
        let text = self.texts.get(file);
        SettledFinding {
            finding: Finding {
                id,
                anchor: text.map(|text| Blocks::of(file, text).anchor(&finding.raw)),
                ..finding.clone()
            },
            state: FindingState::Open,
            response: None,
            coder: None,
            unchanged: Vec::new(),
            lowered: None,
            insisted: false,
            earlier: Vec::new(),
            demonstrations: self.demonstrations.clone(),
            undemonstrated: false,
        }
    }

    fn outcome(&self) -> Outcome {
        // A run numbers its groups from 1. Findings with the same number are a group.
        let mut groups: BTreeMap<u32, Vec<&Finding>> = BTreeMap::new();
        for finding in &self.findings {
            groups.entry(finding.id.number).or_default().push(finding);
        }
        let mut findings = Vec::new();
        for (number, group) in (1..).zip(groups.values()) {
            let is_alone = group.len() == 1;
            for (member, finding) in (1..).zip(group) {
                let id = FindingId::new(number).member(if is_alone { 0 } else { member });
                findings.push(self.settled(id, finding));
            }
        }
        let blocks = findings.iter().any(SettledFinding::blocks);
        let exit = if blocks {
            ExitReason::FindingsOpen
        } else {
            ExitReason::Clean
        };
        let exit = self.outcome_exit.unwrap_or(exit);
        let is_complete = exit != ExitReason::AgentFailed;
        Outcome {
            schema: Outcome::SCHEMA,
            run: self.run_id(),
            exit,
            proof: Proof {
                commit: Some(self.request.head.id.clone()),
                tree: "tree".to_owned(),
                target: "main..HEAD".to_owned(),
                covered: self
                    .files
                    .iter()
                    .map(|file| Coverage {
                        file: file.path.clone(),
                        lines: 1,
                        ranges: Vec::new(),
                    })
                    .collect(),
                skipped: Vec::new(),
                unread: Vec::new(),
                reviewers: vec![ReviewerReport {
                    name: "rules".into(),
                    status: if is_complete {
                        AnswerStatus::Complete
                    } else {
                        AnswerStatus::Incomplete
                    },
                    findings: 0,
                    millis: 1,
                    failure: None,
                    problems: Vec::new(),
                    said: "".into(),

                    unread: Vec::new(),
                }],
                reused: Vec::new(),
                millis: 1,
                usage: Usage::default(),
                calls: 1,
                caps: Caps::default(),
            },
            findings,
            hidden_older: 0,
            loosened: Vec::new(),
            disputes: Vec::new(),
            no_longer_raised: Vec::new(),
            changes: Vec::new(),
            undoable: false,
            worktree: None,
            failures: Vec::new(),
            rounds: 1,
            notices: Vec::new(),
        }
    }

    /// Settles a dispute about the finding whose title contains `word`.
    pub(super) fn rule(&mut self, word: &str, ruling: RulingWord) {
        self.rulings.insert(word.to_owned(), (ruling, true));
    }

    pub(super) fn is_ruled(&self, word: &str) -> bool {
        self.rulings.contains_key(word)
    }

    /// A dispute about the head of a group is about its members, too, if it was opened for all titles.
    fn dispute_in(&self, outcome: &Outcome, settled: &SettledFinding) -> Option<RequestDispute> {
        let own = self.dispute(&outcome.run, &settled.finding)?;
        let mut group = outcome.addressed(settled.finding.id.group());
        let of_head = self.dispute(&outcome.run, &group.next()?.finding);
        let of_head = of_head.filter(|_| self.rulings.contains_key(""));
        Some(RequestDispute {
            finding: settled.finding.id,
            ..of_head.unwrap_or(own)
        })
    }

    fn dispute(&self, run: &RunId, finding: &Finding) -> Option<RequestDispute> {
        let title = finding.raw.title.as_written();
        let (_, (word, is_new)) = self
            .rulings
            .iter()
            .find(|(word, _)| title.contains(word.as_str()))?;
        let by = Ruler::Judge {
            name: "referee".into(),
        };
        let mut ruling = Ruling::bare(*word);
        ruling.rationale = "because of @somebody and the check".into();
        ruling.citations = vec!["a.txt:3".into()];
        let disposition = match word {
            RulingWord::Enforce => Some(Disposition::Enforced),
            RulingWord::Dismiss => Some(Disposition::Refuted),
            RulingWord::Escalate => None,
        };
        let anchor = finding.anchor.clone()?;
        let shared = disposition.clone().map(|disposition| SharedRuling {
            version: SharedRuling::VERSION,
            id: DisputeId::of(run, finding.id),
            run: run.clone(),
            problem: None,
            head: RuledFinding {
                finding: finding.id,
                place: RuledPlace {
                    file: anchor.file.clone(),
                    line: finding.raw.line,
                    end_line: None,
                    anchor: SharedAnchor {
                        block: anchor.block,
                        offset: anchor.offset,
                        names: anchor.names,
                        ground: anchor.ground,
                    },
                },
                places: Vec::new(),
                tag: finding.raw.severity.to_string(),
                title: finding.raw.title.clone(),
                category: None,
                cwe: None,
                rule: None,
            },
            members: Vec::new(),
            ruling: Some(*word),
            disposition,
            new_tag: None,
            rationale: ruling.rationale.clone(),
            citations: Vec::new(),
            evidence: Vec::new(),
            cited: Vec::new(),
            by: RuledBy {
                judge: Some("referee".into()),
                ..RuledBy::default()
            },
            date: Timestamp::UNIX_EPOCH,
            until: None,
        });
        Some(RequestDispute {
            finding: finding.id,
            dispute: Dispute {
                left: Vec::new(),
                members: Vec::new(),
                number: DisputeNumber(1),
                finding: finding.clone(),
                objection: Response {
                    finding: finding.id,
                    answer: Answer::Disagree,
                    text: "no".into(),
                    evidence: Vec::new(),
                    demonstration: None,
                },
                objector: Objector::Coder,
                route: None,
                rulings: vec![RulingRecord::new(ruling, by)],
                disposition,
                discarded_by: None,
                earlier: Vec::new(),
                answered: Vec::new(),
                opened_by: None,
                participant: None,
            },
            shared,
            is_new: *is_new,
        })
    }

    fn id(&mut self) -> CommentId {
        self.next += 1;
        CommentId(self.next.to_string())
    }

    fn by_glee(&mut self, body: &str) -> Comment {
        assert!(body.chars().count() <= 65_000);
        let id = self.id();
        comment(id, "glee[bot]", Permission::Member, body, true)
    }

    pub(super) fn say(&mut self, word: &str, login: &str, permission: Permission, body: &str) {
        let id = self.id();
        let said = comment(id, login, permission, body, false);
        self.thread_mut(word).comments.push(said);
    }

    pub(crate) fn edit_last(&mut self, word: &str) {
        self.thread_mut(word).comments.last_mut().unwrap().is_edited = true;
    }

    pub(super) fn thread(&self, word: &str) -> &Thread {
        let mut threads = self.conversation.threads.iter();
        threads.find(|thread| tells(thread, word)).unwrap()
    }

    fn thread_mut(&mut self, word: &str) -> &mut Thread {
        let mut threads = self.conversation.threads.iter_mut();
        threads.find(|thread| tells(thread, word)).unwrap()
    }

    pub(super) fn resolve(&mut self, word: &str) {
        self.thread_mut(word).is_resolved = true;
    }

    pub(super) fn reopen(&mut self, word: &str) {
        self.thread_mut(word).is_resolved = false;
    }

    pub(super) fn publish(&mut self) -> Publication {
        let plan = self.plan();
        self.apply(&plan, usize::MAX);
        plan
    }

    /// Carries out the first `most` requests of the plan.
    pub(super) fn apply(&mut self, plan: &Publication, most: usize) {
        let doubled = (0..plan.doubled.len()).map(Write::Delete);
        let comments = (0..plan.comments.len()).map(Write::Comment);
        let changes = (0..plan.threads.len()).map(Write::Change);
        let summary = plan.summary.iter().map(|_| Write::Summary);
        let writes = doubled.chain(comments).chain(changes).chain(summary);
        for write in writes.take(most) {
            match write {
                Write::Delete(at) => {
                    let id = &plan.doubled[at].id;
                    for thread in &mut self.conversation.threads {
                        thread.comments.retain(|comment| comment.id != *id);
                    }
                    self.conversation
                        .threads
                        .retain(|thread| !thread.comments.is_empty());
                    self.conversation
                        .comments
                        .retain(|comment| comment.id != *id);
                }
                Write::Comment(at) => {
                    let new = &plan.comments[at];
                    let file = self
                        .files
                        .iter()
                        .find(|file| file.path == new.path)
                        .expect("a file of the diff");
                    assert!(
                        new.line.is_none_or(|line| file.lines.contains(&line)),
                        "the host refuses the line"
                    );
                    assert!(
                        new.start_line.is_none_or(
                            |start| Some(start) < new.line && file.lines.contains(&start)
                        )
                    );
                    let first = self.by_glee(&new.body);
                    self.conversation.threads.push(Thread {
                        id: ThreadId(first.id.0.clone()),
                        path: Some(new.path.clone()),
                        line: new.line,
                        is_resolved: false,
                        comments: vec![first],
                    });
                }
                Write::Change(at) => match &plan.threads[at] {
                    ThreadChange::Reply { thread, body } => {
                        let reply = self.by_glee(body);
                        self.on_host(&thread.id).comments.push(reply);
                    }
                    ThreadChange::Resolve {
                        thread,
                        is_resolved,
                    } => {
                        self.on_host(&thread.id).is_resolved = *is_resolved;
                    }
                },
                Write::Summary => {
                    let change = plan.summary.as_ref().unwrap();
                    let new = self.by_glee(&change.body);
                    match &change.existing {
                        Some(id) => {
                            let old = self
                                .conversation
                                .comments
                                .iter_mut()
                                .find(|old| old.id == *id)
                                .unwrap();
                            old.body = new.body;
                            old.is_edited = true;
                        }
                        None => self.conversation.comments.push(new),
                    }
                }
            }
        }
    }

    fn on_host(&mut self, id: &ThreadId) -> &mut Thread {
        self.conversation
            .threads
            .iter_mut()
            .find(|thread| thread.id == *id)
            .unwrap()
    }
}

/// Whether a comment of Glee in the thread contains `word`.
pub(super) fn tells(thread: &Thread, word: &str) -> bool {
    let mut own = thread.comments.iter().filter(|comment| comment.is_own);
    own.any(|comment| comment.body.as_written().contains(word))
}

fn account(login: &str) -> Account {
    Account {
        login: login.to_owned(),
        is_bot: login.ends_with("[bot]"),
    }
}

pub(super) fn comment(
    id: CommentId,
    login: &str,
    permission: Permission,
    body: &str,
    is_own: bool,
) -> Comment {
    Comment {
        id,
        author: account(login),
        permission,
        body: body.into(),
        created: Timestamp::UNIX_EPOCH,
        is_edited: false,
        is_own,
    }
}
