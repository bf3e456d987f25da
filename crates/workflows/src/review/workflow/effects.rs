//! Performs the effects of a review: merges findings, opens disputes, rules on disputes, starts later rounds, and
//! runs the commands of `review.verify`.

use std::collections::BTreeSet;

use crate::review::demonstrations;
use crate::review::demonstrations::running::{self, TestBench};
use crate::review::disputes::{resolve, rulings};
use crate::review::findings::earlier_records::Past;
use crate::review::findings::round::{MergeSettings, RoundContext};
use crate::review::findings::{debate, pairs, separation, unsure};
use crate::review::schedule;
use crate::review::state::ReviewState;
use crate::review::workflow::{ReviewInput, ReviewWorkflow};
use crate::run::error::RunError;
use crate::run::resources::RunResources;
use crate::run::workflow::{Pending, Workflow as _};
use glee_agents::CommandInput;
use glee_model::domain::event::{DisputeEvent, EventKind, ReviewEvent, Verified};
use glee_model::domain::{
    Agent, DisputeNumber, FindingId, PairAnswer, RaisedIn, RulingWord, TestedTree,
};
use glee_store::config::choices::Compare;
use glee_store::config::schema::values::ReuseMode;
use glee_store::history::JournalError;
use glee_store::history::queries::problems::KnownProblems;
use glee_store::history::queries::rows::{Binding, DisputeRecord};
use glee_workspace::Since;

impl ReviewWorkflow {
    fn known_rulings(&self) -> Result<Vec<Binding>, RunError> {
        let max_age = &self.resources.settings.rulings.max_age;
        Ok(rulings::known(
            Some(&self.resources.journal),
            &self.shared,
            max_age,
        )?)
    }

    pub(super) fn merge(&mut self, round: u32) -> Result<(), RunError> {
        self.bindings = self.known_rulings()?;
        let known = self.resources.journal.known_problems()?;
        if let Some(pairs) = self.unsure_pairs(round, RaisedIn::Review, &known)? {
            return self.append(pairs);
        }
        let context = self.context(round, &known);
        let advised = context.advise(context.unmerged(), &self.resources.settings.advisories);
        self.append_all(advised)?;
        self.append_merged(known, |workflow, known| {
            workflow.context(round, known).merge(&workflow.bindings)
        })?;
        if self.compares() {
            let known = pairs::reused(&self.state, round, |key| self.known_answer(key))?;
            self.append_all(known)?;
        }
        Ok(())
    }

    fn compares(&self) -> bool {
        self.resources.settings.review.compare == Compare::Auto
    }

    /// The answer of an earlier run to the question whether two findings are the same.
    fn known_answer(&self, key: &str) -> Result<Option<PairAnswer>, JournalError> {
        let RunResources {
            settings,
            journal,
            run,
            ..
        } = &self.resources;
        if settings.review.reuse != ReuseMode::Off {
            journal.pair_answer(key, run)
        } else {
            Ok(None)
        }
    }

    /// The pairs of a round that may name the same defect, if they are not recorded yet and somebody is asked or was
    /// asked about them.
    fn unsure_pairs(
        &self,
        round: u32,
        raised_in: RaisedIn,
        known: &KnownProblems,
    ) -> Result<Option<EventKind>, RunError> {
        if !self.compares() || self.state.pairs.contains_key(&(round, raised_in)) {
            return Ok(None);
        }
        let context = self.context(round, known);
        let RunResources { journal, run, .. } = &self.resources;
        let pairs = unsure::unsure(
            &context,
            raised_in,
            &self.bindings,
            |key| self.known_answer(key),
            |key| journal.pair_answer(key, run),
        );
        Ok(pairs?)
    }

    /// Returns a copy of the state in which all recorded answers are merged. Records no event. Returns `None` if
    /// the answers are already merged.
    pub(crate) fn merged_so_far(&self) -> Option<ReviewState> {
        self.state.unmerged().next()?;
        let known = self.resources.journal.known_problems().ok()?;
        let merged = self
            .context(self.state.round(), &known)
            .merge(&self.bindings);
        let mut state = self.state.clone();
        state.apply_all(&merged);
        Some(state)
    }

    pub(super) fn conclude(&mut self, round: u32) -> Result<(), RunError> {
        let known = self.resources.journal.known_problems()?;
        if let Some(pairs) = self.unsure_pairs(round, RaisedIn::Debate, &known)? {
            return self.append(pairs);
        }
        let context = self.context(round, &known);
        let advised = context.advise(
            debate::observations(&context),
            &self.resources.settings.advisories,
        );
        self.append_all(advised)?;
        self.append_merged(known, |workflow, known| {
            debate::conclude(&workflow.context(round, known), &workflow.bindings)
        })
    }

    /// Records the findings that were recognised as earlier disputed ones. The problem of such a finding keeps the number
    /// of the earlier one.
    pub(super) fn recognise(&mut self, round: u32) -> Result<(), RunError> {
        let mut events = schedule::recognised(&self.state, round);
        let recognised: Vec<(FindingId, DisputeNumber)> = events
            .iter()
            .filter_map(|event| match event {
                EventKind::Review(ReviewEvent::AlreadyRuled {
                    finding, dispute, ..
                }) => Some((*finding, dispute.number()?)),
                EventKind::Review(ReviewEvent::StillDisputed { finding, dispute }) => {
                    Some((*finding, *dispute))
                }
                _ => None,
            })
            .collect();
        let numbers: Vec<DisputeNumber> = recognised.iter().map(|(_, number)| *number).collect();
        let records = self.resources.journal.disputes_numbered(&numbers)?;
        for (finding, number) in recognised {
            let Some(record) = records.get(&number) else {
                continue;
            };
            let earlier = record.dispute.finding.id;
            if earlier.number != finding.number {
                events.push(EventKind::Review(ReviewEvent::ProblemsJoined {
                    newer: earlier.max(finding).group(),
                    older: earlier.min(finding).group(),
                }));
            }
        }
        self.append_all(events)
    }

    /// Records merged findings. If another run records findings after this run has read the known problems, the
    /// findings are merged again, so that both runs give a problem the same number, and no other problem gets it.
    fn append_merged(
        &mut self,
        mut known: KnownProblems,
        merge: impl Fn(&Self, &KnownProblems) -> Vec<EventKind>,
    ) -> Result<(), RunError> {
        loop {
            let events = merge(self, &known);
            let RunResources { journal, run, .. } = &mut self.resources;
            if let Some(events) = journal.append_merged(run, events, known.as_of)? {
                self.accept(&events);
                return Ok(());
            }
            known = journal.known_problems()?;
        }
    }

    fn context<'a>(&'a self, round: u32, known: &'a KnownProblems) -> RoundContext<'a> {
        RoundContext {
            state: &self.state,
            round,
            lists: MergeSettings::of(&self.resources.settings.review),
            sources: &self.sources,
            workspace: &self.resources.workspace,
            past: Some(Past::of(&self.resources.journal, self.trees())),
            run: &self.resources.run,
            known,
        }
    }

    pub(super) fn open_disputes(&mut self) -> Result<(), RunError> {
        let due = schedule::disputes::unopened(&self.state);
        let sides = due.iter().map(|members| self.state.sides(members));
        let events = self
            .resources
            .journal
            .open_disputes(&self.resources.run, sides)?;
        self.accept(&events);
        Ok(())
    }

    /// Records that open disputes are reopened. The agents in `judges` join the run only if the run has no judge.
    pub(crate) fn reopen(
        &mut self,
        disputes: Vec<DisputeNumber>,
        judges: Vec<Agent>,
    ) -> Result<(), RunError> {
        let has_judge = self.state.judges().next().is_some();
        let judges = if has_judge {
            Vec::new()
        } else {
            judges.into_iter().map(Agent::recorded).collect()
        };
        self.append(DisputeEvent::DisputesReopened { disputes, judges })
    }

    /// Continues the open disputes of earlier runs that findings of this run repeat. If a dispute is already settled,
    /// applies the ruling of the dispute to its findings.
    pub(super) fn carry_on(&mut self) -> Result<(), RunError> {
        let left = self.state.left_open();
        let numbers: Vec<DisputeNumber> = left.keys().copied().collect();
        let mut records = self.resources.journal.disputes_numbered(&numbers)?;
        let mut events = Vec::new();
        for (number, findings) in left {
            let record = records
                .remove(&number)
                .ok_or(JournalError::UnknownDispute(number))?;
            events.extend(self.carried_on(record, &findings));
        }
        self.append_all(events)
    }

    fn carried_on(&self, record: DisputeRecord, findings: &[FindingId]) -> Vec<EventKind> {
        let mut dispute = record.dispute;
        let new_tag = dispute.new_tag();
        if let Some(disposition) = dispute.disposition.take() {
            let ruled = findings.iter().map(|finding| ReviewEvent::AlreadyRuled {
                finding: *finding,
                dispute: dispute.number.into(),
                disposition: disposition.clone(),
                new_tag,
                insisted: false,
            });
            return ruled.map(EventKind::from).collect();
        }
        let mut here = findings.iter().filter_map(|id| self.state.finding(*id));
        dispute.finding = here.next().expect("a finding of the run").clone();
        dispute.members = here.cloned().collect();
        dispute.objection.finding = dispute.finding.id;
        dispute.discarded_by = None;
        // An escalated dispute keeps its route if the command line sets no other route.
        let is_named = self.state.plan().on_dispute.is_some();
        let last = dispute.rulings.last();
        let is_escalated = last.is_some_and(|last| last.ruling.ruling == RulingWord::Escalate);
        if is_named || !is_escalated {
            dispute.route = None;
        }
        let carried = DisputeEvent::DisputeCarriedOn {
            dispute: Box::new(dispute),
            from: record.run,
        };
        vec![carried.into()]
    }

    /// The files of `findings` whose current content differs from the reviewed content. The result is empty if
    /// the coder has already changed files in this run.
    pub(crate) fn changed_since(&self, findings: &[FindingId]) -> BTreeSet<String> {
        if self.state.before.is_some() {
            return BTreeSet::new();
        }
        let findings = findings.iter().filter_map(|id| self.state.finding(*id));
        let changed = findings.filter_map(|finding| {
            let file = finding.raw.file.as_ref()?;
            let reviewed = self.sources.file(finding.round, file)?;
            let now = self.resources.workspace.read(file);
            (now.as_ref() != Some(&reviewed.text)).then(|| file.clone())
        });
        changed.collect()
    }

    pub(super) fn rule(&mut self, dispute: DisputeNumber) -> Result<(), RunError> {
        let ruling = resolve::due(
            &self.requests(&[]),
            dispute,
            &self.resources.settings.review,
        );
        let Some(ruling) = ruling else { return Ok(()) };
        let left = separation::left(&self.state, dispute, &ruling);
        let given = DisputeEvent::RulingGiven {
            dispute,
            ruling: ruling.clone(),
        };
        if left.is_empty() {
            return self.append(given);
        }
        let known = self.resources.journal.known_problems()?;
        self.append_merged(known, |workflow, known| {
            let round = workflow
                .state
                .finding(left[0])
                .map_or(1, |finding| finding.round);
            let context = workflow.context(round, known);
            let ids = separation::new_ids(&context, &left);
            let separated = separation::separated(&context, dispute, &ruling, &ids);
            let given = EventKind::from(given.clone());
            std::iter::once(given).chain(separated).collect()
        })
    }

    pub(super) fn next_round(&mut self, round: u32) -> Result<(), RunError> {
        let rules = self.sources.rules();
        let Since { target, hidden } = self.trees().changed_target(
            &self.state,
            round - 1,
            &self.resources.settings,
            rules.as_ref(),
        )?;
        let mut events = Vec::new();
        if !hidden.is_empty() {
            let files = hidden
                .iter()
                .map(|file| format!("`{file}`"))
                .collect::<Vec<_>>()
                .join(", ");
            let text =
                format!("reviewed although new ignore files of this run exclude it: {files}");
            events.push(EventKind::notice(text));
        }
        let shards = target.coverage();
        self.bindings = self.known_rulings()?;
        self.keep(round, target.files)?;
        events.push(
            ReviewEvent::RoundStarted {
                round,
                shards,
                skipped: target.skipped,
            }
            .into(),
        );
        self.append_all(events)
    }

    pub(super) fn demonstrate(
        &mut self,
        tested: TestedTree,
    ) -> Result<Option<Pending<ReviewInput>>, RunError> {
        let Some(due) = demonstrations::next(&self.state, tested) else {
            return Ok(None);
        };
        let earlier = self.tested.take();
        let finding = self.state.finding(due.finding);
        let finding = finding.expect("a demonstration belongs to a finding of the run");
        let resources = &self.resources;
        let review = &resources.settings.review;
        let stem = match tested {
            TestedTree::Before => "before",
            TestedTree::After => "after",
        };
        let bench = TestBench {
            agents: resources.agents.clone(),
            guarded: resources.guarded(),
            limits: resources.settings.limits,
            redaction: resources.redaction(),
            files: resources.files(&format!("demonstration-{}-{stem}", due.finding))?,
            stop: resources.stop.clone(),
        };
        let is_changed = due.tree.is_none() && !self.changed_since(&[due.finding]).is_empty();
        let prepared = if is_changed {
            let why = "the code of the finding is not in the tree as it was reviewed";
            Err(Box::new(due.refused(why)))
        } else {
            running::prepare(due, finding, review, self.trees(), earlier)
        };
        match prepared {
            Ok(prepared) => Ok(Some(Box::pin(async move {
                ReviewInput::Demonstrated(bench.run(prepared).await)
            }))),
            Err(refused) => {
                self.append(ReviewEvent::DemonstrationRan(*refused))?;
                Ok(None)
            }
        }
    }

    pub(super) fn verify(&self, round: u32) -> Result<Pending<ReviewInput>, RunError> {
        let resources = &self.resources;
        let commands = resources
            .settings
            .review
            .verify
            .iter()
            .skip(self.state.verified.len())
            .cloned();
        let commands: Vec<Vec<String>> = commands.collect();
        let agents = resources.agents.clone();
        let limits = resources.settings.limits;
        let stop = resources.stop.clone();
        let sandbox = resources.settings.sandbox;
        let files = resources.files(&format!("verify-{round}"))?;
        let root = resources.workspace.root().to_owned();
        let redaction = resources.redaction();
        Ok(Box::pin(async move {
            let mut results = Vec::new();
            for command in commands {
                let input = CommandInput::of_reviewed_code(sandbox);
                let mut checked = agents
                    .run_command(&command, &root, &limits, &files, stop.clone(), input)
                    .await;
                if let Err(error) = redaction.transcripts(&files) {
                    checked.passed = false;
                    checked.tail = format!("failed to redact secrets in its output: {error}");
                }
                results.push(Verified {
                    round,
                    command: command.join(" "),
                    passed: checked.passed,
                    tail: checked.tail,
                });
            }
            ReviewInput::Verified(results)
        }))
    }
}
