//! Builds the requests of a review from its state.

use std::collections::{BTreeMap, BTreeSet};

use crate::review::code::coder_changes::{Trees, last_tree};
use crate::review::code::context::{self, can_read, cut};
use crate::review::code::sources::Sources;
use crate::review::demonstrations as side_tests;
use crate::review::findings::recognition::{self, ClosingRulings};
use crate::review::findings::round::MergeSettings;
use crate::review::findings::round::RoundContext;
use crate::review::findings::unsure;
use crate::review::state::ReviewState;
use glee_model::domain::event::{CallAnswer, CallId, Purpose};
use glee_model::domain::{
    Agent, AnswerStatus, AskedFile, CodeContext, Demonstrated, Disposition, Dispute, DisputeNumber,
    Finding, FindingId, RaisedIn, RawFinding, RunId, meanings, number_of,
};
use glee_model::rules::review::demonstrations;
use glee_protocol::calls::close::CloseCall;
use glee_protocol::calls::compare::{CompareCall, UncertainPair};
use glee_protocol::calls::defend::{Challenged, DefendCall};
use glee_protocol::calls::demonstrate::DemonstrateCall;
use glee_protocol::calls::examine::ExamineCall;
use glee_protocol::calls::judge::{DisputeCase, JudgeCall};
use glee_protocol::calls::parts::OfferedRunner;
use glee_protocol::calls::recheck::{Change, RecheckCall};
use glee_protocol::calls::respond::{FailedCheck, Item, RespondCall};
use glee_protocol::calls::review::ReviewCall;
use glee_protocol::replies::close;
use glee_protocol::request::{SourceFile, Task};
use glee_protocol::text::references;
use glee_store::history::queries::problems::KnownProblems;
use glee_store::history::queries::rows::Binding;
use glee_workspace::diff::{blocks, delta};

pub struct RequestBuilder<'a> {
    pub state: &'a ReviewState,
    pub sources: &'a Sources,
    pub trees: Trees<'a>,
    pub bindings: &'a [Binding],
}

impl RequestBuilder<'_> {
    /// The task of a call, with as much of the code as the agent needs. An embedded agent gets whole files.
    pub fn task(&self, call: &CallId) -> Task {
        let agent = self.state.agent(&call.agent);
        let task = self.whole_task(call);
        if agent.is_some_and(Agent::is_embedded) {
            return task;
        }
        let context = self.state.settings.review.context;
        // Whoever gave no answer to the first question may have missed code.
        let is_cut = context != CodeContext::Files && call.attempt == 1;
        match task {
            Task::Review(review) => {
                let reads = agent.is_some_and(can_read);
                Task::Review(self.with_blocks(review, call, context, reads))
            }
            Task::Judge(judge) if is_cut => Task::Judge(cut::judge(judge)),
            Task::Examine(examine) if is_cut => Task::Examine(cut::examine(examine)),
            Task::Defend(defend) if is_cut => Task::Defend(cut::defend(defend)),
            task => task,
        }
    }

    fn with_blocks(
        &self,
        review: ReviewCall,
        call: &CallId,
        context: CodeContext,
        reads: bool,
    ) -> ReviewCall {
        let Purpose::Review { round, .. } = call.purpose else {
            unreachable!("only the purpose of a review has this task")
        };
        let paths: Vec<&str> = review.files.iter().map(|file| file.path.as_str()).collect();
        let guidelines = self.sources.guidelines.of_call(&paths).sent;
        let plan = self.state.plan();
        let mut review = ReviewCall {
            instructions: plan.instructions.clone().unwrap_or_default(),
            language: self.state.settings.review.language.clone(),
            context,
            reads,
            guidelines,
            intent: plan.intent.clone(),
            ..review
        };
        if context == CodeContext::Files {
            return review;
        }
        let reused = self.state.reuse(call);
        let mut shown = BTreeMap::new();
        for file in &mut review.files {
            let whole = self.sources.file(round, &file.path);
            let Some(whole) = whole.filter(|whole| whole.diff.is_some()) else {
                continue;
            };
            let ask =
                reused.and_then(|reused| reused.asked.iter().find(|ask| ask.file == file.path));
            let lines = match ask {
                Some(ask) if !ask.ranges.is_empty() => ask.shown.clone(),
                _ if context == CodeContext::Diff => blocks::near(&whole.text, &file.changed),
                _ => blocks::shown(&file.path, &whole.text, &file.changed),
            };
            if let Some(diff) = blocks::widened(whole, &lines) {
                *file = SourceFile {
                    diff: Some(diff),
                    ..delta::part(whole, &file.changed, &lines)
                };
                shown.insert(file.path.clone(), lines);
            }
        }
        if context == CodeContext::Diff {
            return review;
        }
        let places = self.sources.places(round, self.trees.workspace);
        let elsewhere =
            context::Elsewhere::of(&review.files, &shown, &places, self.trees.workspace);
        review.places = elsewhere.lines();
        if !reads {
            review.elsewhere = elsewhere.code(self.trees.workspace);
        }
        review
    }

    fn whole_task(&self, call: &CallId) -> Task {
        match &call.purpose {
            Purpose::Review { round, shard } => self.review(call, *round, *shard),
            Purpose::Close { .. } => self.close(call),
            Purpose::Same { round, raised_in } => self.same(*round, *raised_in),
            Purpose::Examine { round } => self.examine(call, *round),
            Purpose::Defend { round } => self.defend(call, *round),
            Purpose::Respond { .. } => {
                let asked = self.state.items(&call.agent, &call.purpose);
                self.respond(
                    asked
                        .into_iter()
                        .filter(|id| {
                            self.state.is_first_attempt(call)
                                || self.state.progress(*id).response.is_none()
                        })
                        .collect(),
                )
            }
            Purpose::Enforce { .. } | Purpose::Reply { .. } | Purpose::Repair { .. } => {
                self.respond(self.state.items(&call.agent, &call.purpose))
            }
            Purpose::Judge { .. } | Purpose::JudgeFile { .. } | Purpose::JudgeAgain { .. } => {
                let disputes = call.purpose.judged().iter();
                let disputes: Vec<&Dispute> = disputes.map(|it| self.dispute(*it)).collect();
                let mut judge = self.judge(&disputes);
                let is_last = matches!(call.purpose, Purpose::JudgeAgain { .. });
                for case in std::iter::once(&mut judge.case).chain(&mut judge.others) {
                    if is_last {
                        case.requested = side_tests::request(self.state, case.dispute.number);
                    } else {
                        case.may_ask = side_tests::may_ask(self.state, &case.dispute);
                    }
                }
                Task::Judge(judge)
            }
            Purpose::Demonstrate { dispute } => self.demonstrate(self.dispute(*dispute)),
            Purpose::Recheck { .. } => self.recheck(call),
            Purpose::Compare { round } => self.compare(*round),
            _ => {
                unreachable!("nothing of another run is due in a review")
            }
        }
    }

    pub fn again(&self, call: &CallId) -> Option<String> {
        if call.purpose.is_coder() && self.state.is_first_attempt(call) {
            return None;
        }
        let before = CallId {
            attempt: call.attempt.checked_sub(1).filter(|attempt| *attempt > 0)?,
            ..call.clone()
        };
        Some(match &self.state.calls.get(&before)?.answer {
            CallAnswer::Invalid { error } => error.clone(),
            CallAnswer::Review {
                problem: Some(problem),
                ..
            } => format!("of your last answer: {problem}"),
            CallAnswer::Review {
                status: AnswerStatus::NotReviewed,
                ..
            } => "your last answer held neither a finding nor the closing line".to_owned(),
            CallAnswer::Review { findings, .. } => format!(
                "your last answer was incomplete: {} {} read, and the closing line was missing or named another \
                 number",
                number_of(findings.len(), "finding"),
                if findings.len() == 1 { "was" } else { "were" }
            ),
            CallAnswer::Respond { .. }
            | CallAnswer::Recheck { .. }
            | CallAnswer::Compare { .. }
            | CallAnswer::Same { .. }
            | CallAnswer::Examine { .. }
            | CallAnswer::Defend { .. } => "your last answer left these findings out".to_owned(),
            CallAnswer::Failed { error, .. } => format!("there was no answer: {error}"),
            _ => return None,
        })
    }

    fn review(&self, call: &CallId, round: u32, shard: u32) -> Task {
        let shards = self.state.shards(round);
        let covered = usize::try_from(shard).ok().and_then(|at| shards.get(at));
        let reused = self.state.reuse(call);
        let ask =
            |path: &str| reused.map(|reused| reused.asked.iter().find(|ask| ask.file == path));
        let covered = covered
            .map(|covered| self.sources.shard(round, covered))
            .unwrap_or_default();
        let asked: Vec<SourceFile> = covered
            .into_iter()
            .filter(|file| ask(&file.path).is_none_or(|ask| ask.is_some()))
            .collect();
        let text_of = |path: &str| self.sources.text(round, path, self.trees.workspace);
        let rulings = ClosingRulings::of(self.bindings, &text_of).in_force(&asked);
        let files = asked
            .into_iter()
            .map(|file| match ask(&file.path).flatten() {
                Some(AskedFile { ranges, shown, .. }) if !ranges.is_empty() => {
                    delta::part(&file, ranges, shown)
                }
                _ => file,
            })
            .collect();
        let reviewer = self.state.agent(&call.agent);
        let focus = reviewer
            .map(|agent| agent.focus.clone())
            .unwrap_or_default();
        let recheck = reused
            .map(|reused| reused.superseded.clone())
            .unwrap_or_default();
        Task::Review(ReviewCall {
            files,
            focus,
            rulings,
            recheck,
            runners: self.runners(),
            ..ReviewCall::default()
        })
    }

    /// The reviewer receives its own answer, without the code.
    fn close(&self, call: &CallId) -> Task {
        let asked = call
            .asked_about()
            .and_then(|asked| self.state.calls.get(&asked));
        let Some(CallAnswer::Review {
            findings,
            notes,
            problem,
            is_doubtful: true,
            ..
        }) = asked.map(|asked| &asked.answer)
        else {
            unreachable!("a reviewer is asked about an answer that leaves a question")
        };
        Task::Close(CloseCall {
            problem: problem.clone().unwrap_or_default().into(),
            misplaced: self.misplaced(call, findings),
            findings: findings.clone(),
            answer: close::shortened(notes),
        })
    }

    fn examine(&self, call: &CallId, round: u32) -> Task {
        let ids = self.state.unexamined(&call.agent, round);
        let findings: Vec<Finding> = ids
            .iter()
            .filter_map(|id| self.state.finding(*id))
            .map(Finding::without_consensus)
            .collect();
        Task::Examine(ExamineCall {
            files: self.files_of(round, findings.iter()),
            own: self.state.near(&call.agent, round, &findings),
            findings,
        })
    }

    fn defend(&self, call: &CallId, round: u32) -> Task {
        let mut challenged = Vec::new();
        for (id, challenges) in self.state.undefended(&call.agent, round) {
            challenged.extend(self.state.finding(id).map(|finding| Challenged {
                finding: finding.without_consensus(),
                challenges,
            }));
        }
        Task::Defend(DefendCall {
            files: self.files_of(round, challenged.iter().map(|item| &item.finding)),
            challenged,
        })
    }

    fn files_of<'f>(
        &self,
        round: u32,
        findings: impl Iterator<Item = &'f Finding>,
    ) -> Vec<SourceFile> {
        let paths: BTreeSet<&str> = findings.flat_map(|finding| finding.raw.files()).collect();
        paths
            .into_iter()
            .filter_map(|path| self.sources.file(round, path))
            .cloned()
            .collect()
    }

    fn respond(&self, ids: Vec<FindingId>) -> Task {
        let items = ids
            .into_iter()
            .filter_map(|id| self.state.finding(id))
            .map(|finding| self.item(finding));
        let failing = self.state.failing().map(|verified| FailedCheck {
            command: verified.command.clone(),
            output: verified.tail.as_str().into(),
        });
        Task::Respond(RespondCall {
            items: items.collect(),
            failing: failing.collect(),
            runners: self.runners(),
        })
    }

    fn runners(&self) -> Vec<OfferedRunner> {
        let offered = self.state.settings.review.offered_runners();
        let offered = offered.map(|(name, runner)| OfferedRunner {
            name: name.clone(),
            folder: runner.folder.clone(),
        });
        offered.collect()
    }

    pub(crate) fn demonstrated(&self, finding: FindingId) -> Vec<Demonstrated> {
        demonstrations::demonstrated(&self.state.progress(finding).demonstrations)
    }

    fn item(&self, finding: &Finding) -> Item {
        let dispute = self.state.dispute_of(finding.id);
        let here = dispute.filter(|dispute| dispute.disposition == Some(Disposition::Enforced));
        let earlier = self.state.progress(finding.id).enforced_by();
        let rationale = match here {
            Some(dispute) => dispute.rulings.last().map(|last| &last.ruling.rationale),
            None => {
                let mut bindings = self.bindings.iter();
                let binding = bindings.find(|binding| Some(&binding.dispute) == earlier);
                binding.map(|binding| &binding.rationale)
            }
        };
        let is_enforced = here.is_some() || earlier.is_some();
        let enforced = is_enforced.then(|| rationale.cloned().unwrap_or_default());
        let answered = dispute.and_then(Dispute::unreplied);
        Item {
            finding: finding.clone(),
            answered: answered.map(|answered| answered.answer.clone()),
            demonstrated: self.demonstrated(finding.id),
            enforced,
        }
    }

    fn dispute(&self, number: DisputeNumber) -> &Dispute {
        let dispute = self.state.disputes.get(&number);
        dispute.expect("a judge is asked about a dispute of the run")
    }

    fn demonstrate(&self, dispute: &Dispute) -> Task {
        let request = side_tests::requested(self.state, dispute.number);
        let request = request.expect("a side is asked for what a judge asks for");
        Task::Demonstrate(DemonstrateCall {
            request: request.clone(),
            runners: self.runners(),
            files: self.files_of_dispute(dispute),
            dispute: Box::new(dispute.clone()),
        })
    }

    /// A call about disputes in one file. There is at least one.
    pub fn judge(&self, disputes: &[&Dispute]) -> JudgeCall {
        let mut files: Vec<SourceFile> = Vec::new();
        for file in disputes
            .iter()
            .flat_map(|dispute| self.files_of_dispute(dispute))
        {
            if files.iter().all(|known| known.path != file.path) {
                files.push(file);
            }
        }
        let mut cases = disputes.iter().map(|dispute| self.case(dispute));
        JudgeCall {
            case: cases.next().expect("a judge is asked about a dispute"),
            others: cases.collect(),
            written: self.written(&files),
            files,
        }
    }

    /// The files that the finding and the two sides name.
    fn files_of_dispute(&self, dispute: &Dispute) -> Vec<SourceFile> {
        let flagged = dispute.finding.raw.file.as_deref().unwrap_or_default();
        let round = dispute.finding.round;
        let named: BTreeSet<&str> = dispute.finding.raw.files().skip(1).collect();
        let others = named.into_iter().filter(|path| *path != flagged);
        let mut files: Vec<SourceFile> = std::iter::once(flagged)
            .chain(others)
            .filter_map(|path| self.shown(round, path))
            .collect();
        let said = std::iter::once(&dispute.objection.text).chain(&dispute.objection.evidence);
        for reference in said.flat_map(|text| references::references(text.as_written())) {
            let cited =
                meanings(&reference.path, flagged).find_map(|path| self.shown(round, &path));
            files.extend(cited.filter(|cited| files.iter().all(|file| file.path != cited.path)));
        }
        files
    }

    fn case(&self, dispute: &Dispute) -> DisputeCase {
        let others = self
            .bindings
            .iter()
            .filter(|binding| binding.dispute != dispute.number.into());
        let precedents = recognition::precedents(&dispute.finding, others);
        let disputed = std::iter::once(&dispute.finding).chain(&dispute.members);
        let cited: BTreeSet<&str> = disputed
            .filter_map(|finding| finding.raw.guideline.as_deref())
            .collect();
        let guidelines = cited
            .into_iter()
            .filter_map(|id| self.sources.guidelines.with_id(id))
            .cloned()
            .collect();
        DisputeCase {
            precedents,
            guidelines,
            demonstrated: dispute
                .findings()
                .flat_map(|finding| self.demonstrated(finding.id))
                .collect(),
            ..DisputeCase::of(dispute.clone())
        }
    }

    /// Returns the version of a file that a judge receives. This version is from the start of the round in which
    /// the finding was raised. If the file did not exist at the start of this round, the judge receives the
    /// current version of the file.
    pub fn shown(&self, round: u32, path: &str) -> Option<SourceFile> {
        let text = self
            .shown_text(round, path)
            .or_else(|| self.text_at(last_tree(self.state)?, path))?;
        Some(SourceFile::whole(path, text))
    }

    pub(crate) fn original_text(&self, path: &str) -> Option<String> {
        // The code of round 1 was read before the coder's first edit.
        if let Some(source) = self.sources.file(1, path) {
            return Some(source.text.clone());
        }
        match &self.state.before {
            Some((_, tree)) => self.text_at(tree, path),
            None => self.trees.workspace.read(path),
        }
    }

    /// The numbers of the mandatory findings in a reviewer's answer whose places do not exist, counted from 1.
    pub(crate) fn misplaced(&self, call: &CallId, findings: &[RawFinding]) -> Vec<u32> {
        let run = RunId::default();
        let known = KnownProblems::default();
        let round = call.purpose.round().unwrap_or(1);
        let context = self.context(round, &run, &known);
        let raised = findings.iter().map(|raw| (String::new(), &call.agent, raw));
        let members = context.members(raised).into_iter().zip(1..);
        let misplaced = members.filter(|(member, _)| context.is_misplaced(member));
        misplaced.map(|(_, number)| number).collect()
    }

    /// The findings get no numbers here, so neither the run nor the known problems matter.
    fn context<'a>(
        &'a self,
        round: u32,
        run: &'a RunId,
        known: &'a KnownProblems,
    ) -> RoundContext<'a> {
        RoundContext {
            state: self.state,
            round,
            lists: MergeSettings::of(&self.state.settings.review),
            sources: self.sources,
            workspace: self.trees.workspace,
            past: None,
            run,
            known,
        }
    }

    fn same(&self, round: u32, raised_in: RaisedIn) -> Task {
        let run = RunId::default();
        let known = KnownProblems::default();
        unsure::task(&self.context(round, &run, &known), raised_in)
    }

    fn compare(&self, round: u32) -> Task {
        let uncertain = self.state.uncompared(round);
        let pairs: Vec<UncertainPair> = uncertain
            .map(|(finding, earlier)| UncertainPair {
                finding: finding.without_consensus(),
                earlier: earlier.clone(),
            })
            .collect();
        Task::Compare(CompareCall {
            files: self.files_of(round, pairs.iter().map(|pair| &pair.finding)),
            pairs,
        })
    }

    fn recheck(&self, call: &CallId) -> Task {
        let ids = self.state.recheck_items(&call.agent);
        let findings: Vec<&Finding> = ids
            .iter()
            .filter_map(|id| self.state.finding(*id))
            .collect();
        let mut paths: Vec<&str> = Vec::new();
        let changes = findings
            .iter()
            .map(|finding| {
                for file in finding.raw.files() {
                    if !paths.contains(&file) {
                        paths.push(file);
                    }
                }
                let response = self.state.progress(finding.id).response.as_ref();
                let done = response.map(|response| response.text.clone());
                Change {
                    finding: (*finding).clone(),
                    response: done.unwrap_or_default(),
                    diff: self.diff_for(finding),
                }
            })
            .collect();
        let files = paths
            .into_iter()
            .filter_map(|path| Some(SourceFile::whole(path, self.trees.workspace.read(path)?)))
            .collect();
        Task::Recheck(RecheckCall { changes, files })
    }

    /// The diffs of the coder's calls that changed the code of a finding. If the finding has a file, only the diffs of
    /// the files of its places are included.
    fn diff_for(&self, finding: &Finding) -> String {
        let touching = self.state.tree_changes.iter().filter(|change| {
            change.touched.contains(&finding.id) || change.unchanged_of(finding.id).is_some()
        });
        let files = touching.flat_map(|change| &change.changes);
        let of_file = files.filter(|change| {
            finding.raw.file.is_none() || finding.raw.files().any(|file| file == change.file)
        });
        of_file
            .filter_map(|change| change.diff.as_deref())
            .collect::<Vec<_>>()
            .join("\n")
    }
}
