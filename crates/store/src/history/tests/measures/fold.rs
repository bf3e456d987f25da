//! A simple fold over events that computes the same measures as the database.

use super::*;

/// The run and the id of a finding.
type Key = (usize, FindingId);

/// For each reviewer with an opinion: its model, and whether it raised (2), confirmed (1) or kept silent (0).
type Opinions = BTreeMap<usize, (String, u8)>;

#[derive(Default)]
pub(super) struct Fold {
    answered: BTreeSet<(usize, usize)>,
    findings: BTreeMap<Key, Known>,
    /// The first finding of each number.
    first: BTreeMap<i64, Key>,
    aliases: BTreeMap<i64, i64>,
    /// The opinions about each problem.
    said: BTreeMap<i64, Opinions>,
    opened: u64,
    judgements: BTreeMap<u64, BTreeMap<usize, (String, Option<bool>)>>,
    audits: BTreeMap<u64, BTreeMap<usize, Option<bool>>>,
    models: BTreeMap<(usize, String), String>,
    sums: BTreeMap<(TallyKind, String), FindingTally>,
}

#[derive(Clone, Default)]
struct Known {
    problem: i64,
    day: i64,
    category: String,
    dispute: Option<u64>,
    side: Option<bool>,
    judged: Option<bool>,
    person: Option<bool>,
    implemented: bool,
    changed: bool,
    objected: bool,
    undone: bool,
}

impl Known {
    fn is_fixed(&self) -> bool {
        self.implemented && self.changed && !self.objected
    }
}

fn as_side(word: RulingWord) -> Option<bool> {
    match word {
        RulingWord::Enforce => Some(true),
        RulingWord::Dismiss => Some(false),
        RulingWord::Escalate => None,
    }
}

fn strengthen(said: &mut Opinions, reviewer: usize, opinion: (String, u8)) {
    let known = said.entry(reviewer).or_insert_with(|| opinion.clone());
    if known.1 < opinion.1 {
        *known = opinion;
    }
}

impl Fold {
    fn model(&self, run: usize, name: &str, standard: &str) -> String {
        self.models
            .get(&(run, name.to_owned()))
            .cloned()
            .unwrap_or_else(|| standard.to_owned())
    }

    fn of_dispute(&mut self, dispute: u64) -> Option<&mut Known> {
        self.findings
            .values_mut()
            .find(|known| known.dispute == Some(dispute))
    }

    fn older(&self, number: i64) -> i64 {
        self.aliases.get(&number).copied().unwrap_or(number)
    }

    /// `group` has the ids of the findings, and who raised and who confirmed each.
    fn raise(
        &mut self,
        run: usize,
        number: i64,
        group: &[(FindingId, u8, u8)],
        category: &str,
        day: i64,
    ) {
        let problem = self.older(number);
        self.first.entry(number).or_insert((run, group[0].0));
        for (id, ..) in group {
            let new = Known {
                problem,
                day,
                ..Known::default()
            };
            self.findings.entry((run, *id)).or_insert(new).category = category.to_owned();
        }
        let mut said = self.said.remove(&problem).unwrap_or_default();
        let of_problem = self.findings.values();
        if of_problem.filter(|known| known.problem == problem).count() == group.len() {
            said.clear();
        }
        for (_, raisers, confirmed) in group {
            for reviewer in 0..3 {
                let has = |mask: u8| mask & (1 << reviewer) != 0;
                let word = match (has(*raisers), has(*confirmed)) {
                    (true, _) => 2,
                    (false, true) => 1,
                    (false, false) if self.answered.contains(&(run, reviewer)) => 0,
                    (false, false) => continue,
                };
                let model = self.model(run, REVIEWERS[reviewer], MODELS[reviewer]);
                strengthen(&mut said, reviewer, (model, word));
            }
        }
        self.said.insert(problem, said);
    }

    fn join(&mut self, newer: i64, older: i64) {
        self.aliases.insert(newer, older);
        for alias in self.aliases.values_mut().filter(|of| **of == newer) {
            *alias = older;
        }
        for known in self.findings.values_mut() {
            if known.problem == newer {
                known.problem = older;
            }
        }
        let moved = self.said.remove(&newer).unwrap_or_default();
        let said = self.said.entry(older).or_default();
        for (reviewer, opinion) in moved {
            strengthen(said, reviewer, opinion);
        }
    }

    fn problems(&self) -> BTreeMap<i64, Vec<(&Key, &Known)>> {
        let mut problems: BTreeMap<i64, Vec<(&Key, &Known)>> = BTreeMap::new();
        for (key, known) in &self.findings {
            problems
                .entry(known.problem)
                .or_default()
                .push((key, known));
        }
        problems
    }

    /// Applies an operation, and returns the event that records it, with the run to which it belongs.
    pub(super) fn apply(&mut self, op: &Op, day: i64) -> Option<(usize, EventKind)> {
        match op.clone() {
            Op::Answer { run, reviewer } => {
                self.answered.insert((run, reviewer));
                let from = Vec::new();
                let call = CallId {
                    agent: AgentName::from(REVIEWERS[reviewer]),
                    purpose: Purpose::Review { round: 1, shard: 0 },
                    attempt: 1,
                };
                Some((
                    run,
                    ReviewEvent::AnswersReused {
                        call,
                        reuse: Box::new(Reuse {
                            from,
                            ..Reuse::default()
                        }),
                    }
                    .into(),
                ))
            }
            Op::Merge {
                run,
                finding,
                raisers,
                confirmed,
                category,
                debated,
                member,
            } => {
                let named = if category { "sql-injection" } else { "bug" };
                let id = FindingId::new(finding);
                let mut group = vec![(id, raisers, confirmed)];
                group.extend(member.then_some((id.member(2), 8 - raisers, confirmed)));
                self.raise(run, i64::from(finding), &group, named, day);
                let findings = group.into_iter().map(|(id, raisers, confirmed)| Finding {
                    id,
                    ..merged(finding, raisers, confirmed, category)
                });
                let findings = findings.collect();
                let event = if debated {
                    let report = DebateMessage::ShutdownRequest {
                        request_id: String::new(),
                    };
                    ReviewEvent::DebateConcluded {
                        restated: Vec::new(),
                        round: 1,
                        findings,
                        silent: Vec::new(),
                        report,
                    }
                } else {
                    ReviewEvent::FindingsMerged {
                        restated: Vec::new(),
                        round: 1,
                        findings,
                    }
                };
                Some((run, event.into()))
            }
            Op::Join { newer, older } => {
                let numbers = [newer, older].map(i64::from);
                let [newest, oldest] = numbers.map(|number| self.older(number));
                let is_known = |number| self.first.contains_key(&number);
                if newest <= oldest || !is_known(newest) || !is_known(oldest) {
                    return None;
                }
                self.join(newest, oldest);
                let [newer, older] = [newer, older].map(FindingId::new);
                Some((0, ReviewEvent::ProblemsJoined { newer, older }.into()))
            }
            Op::Open { run, finding } => {
                self.opened += 1;
                // Only a dispute names the issues of a watch.
                let known = self.findings.contains_key(&(run, FindingId::new(finding)));
                let finding = if known { finding } else { finding + 10 };
                let id = FindingId::new(finding);
                if !self.findings.contains_key(&(run, id)) {
                    let number = -i64::try_from(self.opened).unwrap();
                    self.raise(run, number, &[(id, 1, 0)], "bug", day);
                }
                let known = self.findings.get_mut(&(run, id)).unwrap();
                (known.dispute, known.side, known.judged, known.person) =
                    (Some(self.opened), None, None, None);
                let sides = Sides {
                    finding: merged(finding, 1, 0, false),
                    members: Vec::new(),
                    objection: objection(finding),
                    objector: Objector::Coder,
                    earlier: Vec::new(),
                    participant: None,
                };
                let dispute: Box<Dispute> = Box::new(sides.numbered(DisputeNumber(self.opened)));
                Some((run, DisputeEvent::DisputeOpened { dispute }.into()))
            }
            Op::Rule {
                dispute,
                run,
                judge,
                word,
            } => {
                let model = self.model(run, JUDGES[judge], MODELS[3 + judge]);
                if let Some(known) = self.of_dispute(dispute) {
                    known.judged = as_side(word);
                    self.judgements
                        .entry(dispute)
                        .or_default()
                        .insert(judge, (model, as_side(word)));
                }
                Some((
                    run,
                    ruled(
                        dispute,
                        word,
                        Ruler::Judge {
                            name: AgentName::from(JUDGES[judge]),
                        },
                    ),
                ))
            }
            Op::Panel {
                dispute,
                words,
                word,
            } => {
                let models: Vec<String> = (0..3)
                    .map(|judge| self.model(0, JUDGES[judge], MODELS[3 + judge]))
                    .collect();
                if let Some(known) = self.of_dispute(dispute) {
                    known.judged = as_side(word);
                    for (judge, word) in words.iter().enumerate() {
                        let vote = (models[judge].clone(), word.and_then(as_side));
                        self.judgements
                            .entry(dispute)
                            .or_default()
                            .insert(judge, vote);
                    }
                }
                let votes = JUDGES
                    .into_iter()
                    .zip(&words)
                    .map(|(judge, word)| PanelVote {
                        judge: AgentName::from(judge),
                        ruling: word.map(Ruling::bare),
                        error: None,
                    })
                    .collect();
                let ruling = RulingRecord {
                    votes,
                    ..RulingRecord::new(Ruling::bare(word), Ruler::Panel)
                };
                Some((
                    0,
                    DisputeEvent::RulingGiven {
                        dispute: DisputeNumber(dispute),
                        ruling,
                    }
                    .into(),
                ))
            }
            Op::Settle {
                dispute,
                disposition,
                by,
            } => {
                let by = [
                    judge(),
                    Ruler::Panel,
                    Ruler::Human(Person::default()),
                    Ruler::Policy,
                ][by]
                    .clone();
                let side = match &disposition {
                    _ if by == Ruler::Policy => None,
                    Disposition::Discarded => None,
                    Disposition::Enforced
                    | Disposition::AcceptedRisk
                    | Disposition::Deferred { .. } => Some(true),
                    Disposition::Refuted
                    | Disposition::Duplicate { .. }
                    | Disposition::NotMandatory => Some(false),
                };
                if let Some(known) = self.of_dispute(dispute) {
                    known.side = side;
                    known.person = side.filter(|_| by.is_person());
                }
                Some((0, settled(dispute, disposition, by)))
            }
            Op::Revoke { dispute } => {
                if let Some(known) = self.of_dispute(dispute) {
                    (known.side, known.person) = (None, None);
                }
                let dispute = DisputeNumber(dispute);
                let reason = "".into();
                Some((1, DisputeEvent::RulingRevoked { dispute, reason }.into()))
            }
            Op::End { dispute } => Some((
                1,
                DisputeEvent::RulingEnded {
                    dispute: DisputeNumber(dispute),
                }
                .into(),
            )),
            Op::Audit {
                dispute,
                judge,
                word,
            } => {
                if self.of_dispute(dispute).is_some() {
                    self.audits
                        .entry(dispute)
                        .or_default()
                        .insert(judge, word.and_then(as_side));
                }
                let judge = AgentName::from(JUDGES[judge]);
                let ruling = word.map(Ruling::bare);
                let audit = RulingAudit {
                    dispute: DisputeNumber(dispute),
                    judge,
                    ruling,
                    error: None,
                };
                Some((
                    1,
                    DisputeEvent::RulingAudited {
                        audit: Box::new(audit),
                    }
                    .into(),
                ))
            }
            Op::Respond {
                run,
                finding,
                implemented,
                repair,
            } => {
                if let Some(known) = self.findings.get_mut(&(run, FindingId::new(finding))) {
                    known.implemented = implemented;
                    known.changed &= repair;
                    known.objected = false;
                }
                let answer = if implemented {
                    Answer::Implemented
                } else {
                    Answer::Disagree
                };
                let responses = vec![Response {
                    answer,
                    ..objection(finding)
                }];
                let purpose = if repair {
                    Purpose::Repair { round: 1 }
                } else {
                    Purpose::Respond { round: 1 }
                };
                self.count_unpriced();
                let answer = CallAnswer::Respond {
                    responses,
                    complete: true,
                };
                Some((
                    run,
                    finished("coder", purpose, answer, Usage::default(), None),
                ))
            }
            Op::Touch { run, finding } => {
                if let Some(known) = self.findings.get_mut(&(run, FindingId::new(finding))) {
                    known.changed = true;
                }
                let call = CallId {
                    agent: AgentName::from("coder"),
                    purpose: Purpose::Respond { round: 1 },
                    attempt: 1,
                };
                Some((
                    run,
                    ReviewEvent::TreeChanged(TreeChange {
                        call,
                        tree: String::new(),
                        changes: Vec::new(),
                        put_back: Vec::new(),
                        touched: [FindingId::new(finding)].into(),
                        partly: Vec::new(),
                    })
                    .into(),
                ))
            }
            Op::Recheck {
                run,
                finding,
                resolved,
            } => {
                if let Some(known) = self.findings.get_mut(&(run, FindingId::new(finding))) {
                    known.objected |= !resolved;
                }
                let check = Recheck {
                    finding: FindingId::new(finding),
                    resolved,
                    reason: "".into(),
                };
                let answer = CallAnswer::Recheck {
                    checks: vec![check],
                };
                // Only the sum of all calls contains calls of agents that are not in the plan.
                self.count_unpriced();
                Some((
                    run,
                    finished(
                        "dan",
                        Purpose::Recheck { round: 1 },
                        answer,
                        Usage::default(),
                        None,
                    ),
                ))
            }
            Op::Fix { run, finding } => {
                if let Some(known) = self.findings.get_mut(&(run, FindingId::new(finding))) {
                    (known.implemented, known.changed, known.objected) = (false, false, false);
                }
                let request = FixRequest {
                    findings: vec![FindingId::new(finding)],
                    coders: Vec::new(),
                    backups: Vec::new(),
                };
                Some((run, ReviewEvent::FixRequested { request }.into()))
            }
            Op::Undo { run, redo, only } => {
                let is_meant = |id: &FindingId| only.is_none_or(|number| id.number == number);
                let findings = self.findings.iter_mut();
                let meant = findings.filter(|((of, id), _)| *of == run && is_meant(id));
                let mut files = BTreeSet::new();
                for ((_, id), known) in meant {
                    known.undone = !redo;
                    files.insert(file(id.number));
                }
                let files = files.into_iter().collect();
                let event = if redo {
                    RunEvent::RunRedone { files }
                } else {
                    let left = u64::from(only.is_some());
                    RunEvent::RunUndone { files, left }
                };
                Some((run, event.into()))
            }
            Op::Call {
                run,
                judge,
                who,
                usd,
                model,
            } => {
                let (name, standard) = if judge {
                    (JUDGES[who], MODELS[3 + who])
                } else {
                    (REVIEWERS[who], MODELS[who])
                };
                if model {
                    self.models
                        .insert((run, name.to_owned()), "told".to_owned());
                }
                let model_name = self.model(run, name, standard);
                let kinds = if judge {
                    vec![
                        (TallyKind::All, ""),
                        (TallyKind::Judge, name),
                        (TallyKind::JudgeModel, &model_name),
                        (TallyKind::Comparison, name),
                    ]
                } else {
                    vec![
                        (TallyKind::All, ""),
                        (TallyKind::Reviewer, name),
                        (TallyKind::Model, &model_name),
                    ]
                };
                for (kind, name) in kinds {
                    let sum = self.sums.entry((kind, name.to_owned())).or_default();
                    sum.calls += 1;
                    sum.unpriced += u64::from(usd.is_none());
                    sum.millis += 1500;
                    sum.input_tokens += 100;
                    sum.micros += u64::from(usd.unwrap_or(0));
                }
                let usage = Usage {
                    input_tokens: Some(100),
                    usd: usd.map(|micros| f64::from(micros) / 1e6),
                    ..Usage::default()
                };
                let error = "no".to_owned();
                let purpose = if judge {
                    Purpose::Compare { round: 1 }
                } else {
                    Purpose::Review { round: 1, shard: 0 }
                };
                Some((
                    run,
                    finished(
                        name,
                        purpose,
                        CallAnswer::Invalid { error },
                        usage,
                        model.then_some("told"),
                    ),
                ))
            }
        }
    }

    /// Counts a call of the coder, or of an agent that is not in the plan.
    fn count_unpriced(&mut self) {
        let sum = self
            .sums
            .entry((TallyKind::All, String::new()))
            .or_default();
        sum.calls += 1;
        sum.unpriced += 1;
        sum.millis += 1500;
    }

    pub(super) fn tallies(&self) -> BTreeMap<(TallyKind, String), FindingTally> {
        let mut sums = self.sums.clone();
        for (problem, members) in self.problems() {
            let said = &self.said[&problem];
            let shared = said.len() > 1;
            // The last change that fixed the problem counts, and the last dispute with a decision.
            let fixed = members
                .iter()
                .filter(|(_, known)| known.is_fixed())
                .max_by_key(|(key, known)| (known.day, **key));
            let disputed = || {
                members
                    .iter()
                    .filter(|(_, known)| known.dispute.is_some())
                    .map(|(_, known)| *known)
            };
            let last = disputed().max_by_key(|known| (known.side.is_some(), known.dispute));
            let none = Known::default();
            let mut add = |kind, name: &str, known: &Known, own: Option<(usize, Option<bool>)>| {
                let sum = sums.entry((kind, name.to_owned())).or_default();
                let (side, judged) =
                    own.map_or((known.side, known.judged), |(_, side)| (side, side));
                sum.raised += 1;
                sum.shared += u64::from(shared);
                sum.alone +=
                    u64::from(shared && said.values().filter(|(_, word)| *word > 0).count() == 1);
                sum.disputed += u64::from(known.dispute.is_some());
                sum.upheld += u64::from(side == Some(true));
                sum.dismissed += u64::from(side == Some(false));
                sum.judged += u64::from(judged.is_some());
                sum.checked += u64::from(judged.is_some() && known.person.is_some());
                sum.overturned +=
                    u64::from(judged.is_some() && known.person.is_some() && judged != known.person);
                sum.fixed += u64::from(fixed.is_some());
                sum.reverted += u64::from(fixed.is_some_and(|((run, id), known)| {
                    known.undone
                        || (self
                            .findings
                            .get(&(*run, FindingId::new(2)))
                            .is_some_and(Known::is_fixed)
                            && *id == FindingId::new(1))
                }));
                let audits = known
                    .dispute
                    .and_then(|number| self.audits.get(&number))
                    .into_iter()
                    .flatten();
                for (_, side) in
                    audits.filter(|(auditor, _)| own.is_none_or(|(judge, _)| **auditor != judge))
                {
                    sum.audited += u64::from(judged.is_some() && side.is_some());
                    sum.confirmed += u64::from(judged.is_some() && *side == judged);
                }
            };
            let known = last.unwrap_or(&none);
            add(TallyKind::All, "", known, None);
            add(
                TallyKind::Category,
                &self.findings[&self.first[&problem]].category,
                known,
                None,
            );
            if self.findings[&self.first[&problem]].category == "sql-injection" {
                add(TallyKind::Cwe, "CWE-89", known, None);
            }
            let raisers = said.iter().filter(|(_, (_, word))| *word == 2);
            let models: BTreeSet<&String> = raisers.clone().map(|(_, (model, _))| model).collect();
            raisers.for_each(|(reviewer, _)| {
                add(TallyKind::Reviewer, REVIEWERS[*reviewer], known, None)
            });
            models
                .into_iter()
                .for_each(|model| add(TallyKind::Model, model, known, None));
            for known in disputed() {
                let judgements = known
                    .dispute
                    .and_then(|number| self.judgements.get(&number));
                for (judge, (model, side)) in judgements.into_iter().flatten() {
                    add(
                        TallyKind::Judge,
                        JUDGES[*judge],
                        known,
                        Some((*judge, *side)),
                    );
                    add(TallyKind::JudgeModel, model, known, Some((*judge, *side)));
                }
            }
        }
        sums
    }

    pub(super) fn pairs(&self, kind: TallyKind) -> Vec<AgreementCount> {
        let mut pairs: BTreeMap<[String; 2], (u64, u64)> = BTreeMap::new();
        let mut compare = |one: &str, other: &str, agreed: bool| {
            let mut between = [one.to_owned(), other.to_owned()];
            between.sort();
            let (compared, equal) = pairs.entry(between).or_default();
            *compared += 1;
            *equal += u64::from(agreed);
        };
        if kind == TallyKind::Reviewer {
            for said in self.said.values() {
                for (one, (_, word)) in said {
                    for (other, (_, other_word)) in said.range(one + 1..) {
                        if *word > 0 || *other_word > 0 {
                            compare(
                                REVIEWERS[*one],
                                REVIEWERS[*other],
                                *word > 0 && *other_word > 0,
                            );
                        }
                    }
                }
            }
        }
        for known in self.findings.values().filter(|_| kind == TallyKind::Judge) {
            let judgements = known
                .dispute
                .and_then(|number| self.judgements.get(&number))
                .into_iter()
                .flatten();
            for (one, (_, side)) in judgements {
                let Some(side) = side else { continue };
                let number = known.dispute.unwrap();
                for (other, (_, other_side)) in self.judgements[&number].range(one + 1..) {
                    if let Some(other_side) = other_side {
                        compare(JUDGES[*one], JUDGES[*other], side == other_side);
                    }
                }
                for (auditor, audited) in self.audits.get(&number).into_iter().flatten() {
                    if let (Some(audited), true) = (audited, auditor != one) {
                        compare(JUDGES[*one], JUDGES[*auditor], side == audited);
                    }
                }
            }
        }
        let pairs = pairs.into_iter();
        pairs
            .map(|(between, (compared, agreed))| AgreementCount {
                between,
                compared,
                agreed,
            })
            .collect()
    }
}
