//! Tests the numbers of random histories: runs of several worktrees of one repository, in which files are renamed,
//! functions move and are edited, and reviewers find other words. A worktree can be under review as a pull request, too: each push is
//! reviewed in a new history that knows the earlier pushes by the comments.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde::Deserialize;

use super::KnownProblems;
use crate::review::code::coder_changes::Trees;
use crate::review::code::sources::Sources;
use crate::review::findings::earlier_records::Past;
use crate::review::findings::round::MergeSettings;
use crate::review::findings::round::RoundContext;
use crate::review::state::ReviewState;
use crate::run::redaction::Redaction;
use glee_agents::samples;
use glee_model::domain::event::{
    CallAnswer, CallId, EventKind, Plan, PullRequestPlan, Purpose, ReviewEvent, RunEvent,
};
use glee_model::domain::{
    Agent, AnswerStatus, CallMetadata, Coverage, Finding, FindingId, PostedProblem, ProblemKey,
    RawFinding, Role, RunId, Severity, Tag, Usage,
};
use glee_model::rules::consensus::Policy;
use glee_protocol::request::SourceFile;
use glee_store::config::choices::OlderFindings;
use glee_store::history::recover;
use glee_store::history::store::Journal;
use glee_workspace::root::Workspace;

/// The number of histories, unless the variable `HISTORIES` says more.
const HISTORIES: usize = 120;
const REVIEWERS: [&str; 3] = ["ada", "bob", "cyd"];
const WORKTREES: usize = 3;

/// The code and the wordings of `tests/recognition`.
#[derive(Deserialize)]
struct Table {
    code: BTreeMap<String, String>,
    group: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    pairs: Vec<(u32, String, u32, String)>,
}

/// A problem of a function, in two wordings. Each wording has the line within the function, counted from 0.
#[derive(Clone)]
struct Problem {
    function: usize,
    wordings: [(u32, String); 2],
}

struct Material {
    functions: Vec<String>,
    problems: Vec<Problem>,
}

fn material() -> Material {
    let table: Table = toml::from_str(include_str!(
        "../../../../../../tests/recognition/pairs.toml"
    ))
    .expect("the table is read");
    let code = table.code["before"].trim();
    let mut functions = Vec::new();
    let mut starts = Vec::new();
    let mut line = 1;
    for part in code.split("\n\n\n") {
        if part.starts_with("def ") {
            functions.push(part.to_owned());
            starts.push(line);
        }
        line += part.lines().count() + 2;
    }
    let problems = table.group[0].pairs.iter().enumerate();
    let problems = problems.filter(|(index, _)| *index != 2).map(|(_, pair)| {
        let (line, title, line_now, title_now) = pair.clone();
        let before = |start: &&usize| **start <= line as usize;
        let function = starts.iter().take_while(before).count() - 1;
        let start = u32::try_from(starts[function]).expect("few lines");
        Problem {
            function,
            wordings: [(line - start, title), (line_now - start, title_now)],
        }
    });
    Material {
        problems: problems.collect(),
        functions,
    }
}

/// A function of the world: the function of the material, and the module that it belongs to.
type Function = (usize, usize);

/// A problem of a module: two modules have the same problems in functions of other names.
type ProblemId = (usize, usize);

#[derive(Clone)]
struct Tree {
    files: BTreeMap<String, Vec<Function>>,
    /// Lines above the first function.
    head: usize,
    /// The number of lines that were inserted below the first line of each function.
    inserted: BTreeMap<Function, usize>,
}

impl Tree {
    fn text(&self, path: &str, material: &Material) -> String {
        let functions = self.files.get(path).into_iter().flatten();
        let functions: Vec<String> = functions.map(|at| self.function(*at, material)).collect();
        "import os\n".repeat(self.head + 1) + "\n\n" + &functions.join("\n\n\n") + "\n"
    }

    fn function(&self, at: Function, material: &Material) -> String {
        let (module, function) = at;
        let name = format!("{module}(");
        let text = material.functions[function].replacen('(', &name, 1);
        let (first, rest) = text.split_once('\n').expect("a function has a body");
        let inserted = "    assert True\n".repeat(self.inserted.get(&at).copied().unwrap_or(0));
        format!("{first}\n{inserted}{rest}")
    }

    fn raised(
        &self,
        (module, problem): ProblemId,
        wording: usize,
        material: &Material,
    ) -> RawFinding {
        let Problem { function, wordings } = &material.problems[problem];
        let (offset, title) = &wordings[wording];
        let is_there =
            |(_, functions): &(&String, &Vec<Function>)| functions.contains(&(module, *function));
        let (path, functions) = self
            .files
            .iter()
            .find(is_there)
            .expect("the function is there");
        let mut line = u32::try_from(self.head).expect("few lines") + 4;
        for (of, index) in functions {
            if (*of, *index) == (module, *function) {
                break;
            }
            let text = self.function((*of, *index), material);
            line += u32::try_from(text.lines().count()).expect("few") + 2;
        }
        let inserted = self
            .inserted
            .get(&(module, *function))
            .filter(|_| *offset > 0);
        line += u32::try_from(inserted.copied().unwrap_or(0)).expect("few");
        RawFinding {
            severity: Severity::known(Tag::Must),
            title: title.as_str().into(),
            file: Some(path.clone()),
            line: Some(line + offset),
            ..RawFinding::default()
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Rename {
        worktree: usize,
        file: usize,
    },
    Move {
        worktree: usize,
        file: usize,
    },
    Insert {
        worktree: usize,
    },
    Edit {
        worktree: usize,
        function: Function,
    },
    /// A run reviews the tree of a worktree. `race` is a run of another worktree that records its findings first.
    Run {
        run: Said,
        race: Option<Said>,
    },
    /// The tree of a worktree is pushed to its pull request and reviewed there.
    Push {
        run: Said,
    },
}

/// What the reviewers of a run say: the problem, who raises it, and in which of the wordings.
#[derive(Clone, Debug)]
struct Said {
    worktree: usize,
    problems: Vec<(ProblemId, usize, usize)>,
}

fn said(problems: usize) -> impl Strategy<Value = Said> {
    let problem = ((0..2_usize, 0..problems), 0..3_usize, 0..2_usize);
    (0..WORKTREES, proptest::collection::vec(problem, 1..8))
        .prop_map(|(worktree, problems)| Said { worktree, problems })
}

fn steps(problems: usize, functions: usize) -> impl Strategy<Value = Vec<Step>> {
    let worktree = 0..WORKTREES;
    let step = prop_oneof![
        1 => (worktree.clone(), 0..2_usize).prop_map(|(worktree, file)| Step::Rename { worktree, file }),
        1 => (worktree.clone(), 0..2_usize).prop_map(|(worktree, file)| Step::Move { worktree, file }),
        1 => worktree.clone().prop_map(|worktree| Step::Insert { worktree }),
        2 => (worktree, 0..2_usize, 0..functions).prop_map(|(worktree, module, function)| {
            Step::Edit { worktree, function: (module, function) }
        }),
        4 => (said(problems), proptest::option::of(said(problems))).prop_map(|(run, race)| Step::Run { run, race }),
        2 => said(problems).prop_map(|run| Step::Push { run }),
    ];
    proptest::collection::vec(step, 4..12)
}

struct World<'a> {
    material: &'a Material,
    workspace: &'a Workspace,
    journal: Journal,
    trees: Vec<Tree>,
    runs: usize,
    /// The problems of each wording that a run recorded under a number.
    numbers: BTreeMap<u32, BTreeSet<ProblemId>>,
    keys: BTreeMap<u32, BTreeSet<ProblemKey>>,
    /// For each worktree, what the comments in its pull request record.
    comments: Vec<Vec<(PostedProblem, ProblemId)>>,
}

impl World<'_> {
    fn apply(&mut self, step: &Step) {
        match step {
            Step::Rename { worktree, file } => {
                let tree = &mut self.trees[*worktree];
                let path = tree.files.keys().nth(*file).cloned().expect("two files");
                let functions = tree.files.remove(&path).expect("it is there");
                tree.files.insert(format!("moved_{path}"), functions);
            }
            Step::Move { worktree, file } => {
                let files = &mut self.trees[*worktree].files;
                let functions = files.values_mut().nth(*file).expect("two files");
                functions.rotate_left(1);
            }
            Step::Insert { worktree } => self.trees[*worktree].head += 1,
            Step::Edit { worktree, function } => {
                let inserted = &mut self.trees[*worktree].inserted;
                *inserted.entry(*function).or_default() += 1;
            }
            Step::Run { run, race } => self.run(run, race.as_ref()),
            Step::Push { run } => self.push(run),
        }
    }

    fn push(&mut self, said: &Said) {
        self.runs += 1;
        let run = RunId(format!("run-{}", self.runs));
        let journal = journal(self.workspace);
        let known = journal.known_problems().expect("the history is read");
        let merged = self.merged(&run, said, &known, &self.comments[said.worktree]);
        for (finding, about) in self.merged_findings(merged, said) {
            let posted = PostedProblem {
                key: finding.problem.expect("it has a key"),
                anchor: finding.anchor.expect("it has a place"),
            };
            self.comments[said.worktree].push((posted, about));
        }
    }

    fn run(&mut self, said: &Said, race: Option<&Said>) {
        self.runs += 1;
        let run = RunId(format!("run-{}", self.runs));
        let known = self.journal.known_problems().expect("the history is read");
        let mut merged = self.merged(&run, said, &known, &[]);
        let mut as_of = known.as_of;
        if let Some(race) = race {
            self.run(race, None);
        }
        loop {
            let appended = self.journal.append_merged(&run, merged, as_of);
            if let Some(events) = appended.expect("the findings are recorded") {
                let kinds = events.into_iter().map(|event| event.kind);
                self.record(&run, kinds.collect(), said);
                return;
            }
            let known = self.journal.known_problems().expect("the history is read");
            assert!(
                race.is_some() && known.as_of > as_of,
                "another run was first"
            );
            as_of = known.as_of;
            merged = self.merged(&run, said, &known, &[]);
        }
    }

    /// The events of the first round of a run.
    fn merged(
        &self,
        run: &RunId,
        said: &Said,
        known: &KnownProblems,
        comments: &[(PostedProblem, ProblemId)],
    ) -> Vec<EventKind> {
        let tree = &self.trees[said.worktree];
        let files = tree.files.keys().map(|path| SourceFile {
            path: path.clone(),
            text: tree.text(path, self.material),
            changed: Vec::new(),
            diff: None,
        });
        let files: Vec<SourceFile> = files.collect();
        let shard = files.iter().map(|file| Coverage {
            file: file.path.clone(),
            lines: 1,
            ranges: Vec::new(),
        });
        let mut state = ReviewState::default();
        let posted = comments.iter().map(|(posted, _)| posted.clone());
        state.apply(&started(vec![shard.collect()], posted.collect()));
        for (index, reviewer) in REVIEWERS.iter().enumerate() {
            let mut findings: Vec<RawFinding> = Vec::new();
            let mut raised = BTreeSet::new();
            for (problem, by, wording) in &said.problems {
                if *by == index && raised.insert(*problem) {
                    findings.push(tree.raised(*problem, *wording, self.material));
                }
            }
            state.apply(&answered(reviewer, findings));
        }
        let lists = MergeSettings {
            mandatory: vec!["MUST".to_owned()],
            optional: Vec::new(),
            policy: Policy::Panel,
            older: OlderFindings::Show,
        };
        let folder = self.journal.folder_of(run);
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut sources = Sources::new(&folder, Redaction::ON);
        sources.keep(1, files).expect("the code is kept");
        let context = RoundContext {
            state: &state,
            round: 1,
            lists,
            sources: &sources,
            workspace: self.workspace,
            past: Some(Past::of(
                &self.journal,
                Trees {
                    workspace: self.workspace,
                    state_dir: &self.journal.path,
                },
            )),
            run,
            known,
        };
        context.merge(&[])
    }

    fn record(&mut self, run: &RunId, kinds: Vec<EventKind>, said: &Said) {
        let mut ids = BTreeSet::new();
        for (Finding { id, problem, .. }, about) in self.merged_findings(kinds, said) {
            assert!(ids.insert(id), "{run} has two findings {id}");
            self.numbers.entry(id.number).or_default().insert(about);
            let key = problem.expect("a recorded finding has a key");
            self.keys.entry(id.number).or_default().insert(key);
        }
    }

    /// The findings of a run, and what they are about.
    fn merged_findings(&self, kinds: Vec<EventKind>, said: &Said) -> Vec<(Finding, ProblemId)> {
        let titles: HashMap<(String, &str), ProblemId> = self
            .material
            .problems
            .iter()
            .enumerate()
            .flat_map(|(index, problem)| {
                let of = [0, 1].into_iter().flat_map(move |module| {
                    let wordings = problem.wordings.iter();
                    wordings.map(move |(_, title)| ((module, index), title.as_str()))
                });
                of.map(|(id, title)| {
                    let tree = &self.trees[said.worktree];
                    let file = tree.raised(id, 0, self.material).file.expect("a file");
                    ((file, title), id)
                })
            })
            .collect();
        let merged = kinds.into_iter().flat_map(|kind| match kind {
            EventKind::Review(ReviewEvent::FindingsMerged { findings, .. }) => findings,
            _ => Vec::new(),
        });
        let about = |finding: Finding| {
            let file = finding.raw.file.clone().expect("a file");
            let about = titles[&(file, finding.raw.title.as_written())];
            (finding, about)
        };
        merged.map(about).collect()
    }
}

fn started(shards: Vec<Vec<Coverage>>, posted: Vec<PostedProblem>) -> EventKind {
    let agent = |name: &str| Agent {
        role: Role::Reviewer,
        ..samples::agent(name, "text", &[name])
    };
    let plan = Box::new(Plan {
        root: "/tree".to_owned(),
        target: "src/".to_owned(),
        tree: "blake3:0".to_owned(),
        agents: REVIEWERS.into_iter().map(agent).collect(),
        shards,
        pull_request: Some(PullRequestPlan {
            number: 1,
            link: String::new(),
            base: String::new(),
            from: String::new(),
            head: String::new(),
            rulings: Vec::new(),
            posted,
        }),
        ..Plan::default()
    });
    EventKind::Review(ReviewEvent::RunStarted { plan })
}

fn answered(reviewer: &str, findings: Vec<RawFinding>) -> EventKind {
    EventKind::Run(RunEvent::CallFinished {
        call: CallId {
            agent: reviewer.into(),
            purpose: Purpose::Review { round: 1, shard: 0 },
            attempt: 1,
        },
        answer: CallAnswer::Review {
            status: AnswerStatus::Complete,
            findings,
            notes: String::new(),
            problem: None,
            read: None,
            is_doubtful: false,
        },
        transcript: None,
        millis: 1,
        usage: Box::new(Usage::default()),
        told: Box::new(CallMetadata::default()),
    })
}

fn world<'a>(material: &'a Material, workspace: &'a Workspace) -> World<'a> {
    let module = |module: usize| {
        let functions = 0..material.functions.len();
        functions.map(move |function| (module, function)).collect()
    };
    let tree = Tree {
        files: BTreeMap::from([
            ("one.py".to_owned(), module(0)),
            ("two.py".to_owned(), module(1)),
        ]),
        head: 0,
        inserted: BTreeMap::new(),
    };
    World {
        material,
        workspace,
        journal: journal(workspace),
        trees: vec![tree; WORKTREES],
        runs: 0,
        numbers: BTreeMap::new(),
        keys: BTreeMap::new(),
        comments: vec![Vec::new(); WORKTREES],
    }
}

fn journal(workspace: &Workspace) -> Journal {
    Journal::of(
        recover::empty().expect("a database"),
        workspace.root().join("state").join("history.db"),
    )
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are a result")]
fn a_number_is_one_problem_and_a_problem_has_one_number() {
    let material = material();
    let folder = tempfile::tempdir().expect("a folder");
    let workspace = Workspace::discover(folder.path()).expect("a tree");
    let mut runner = TestRunner::deterministic();
    let steps = steps(material.problems.len(), material.functions.len());
    let mut problems = [0, 0];
    let mut doubled = [0, 0];
    let mut shared: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
    let titles = |about: &BTreeSet<ProblemId>| {
        let titles = about.iter();
        let titles = titles.map(|(_, problem)| material.problems[*problem].wordings[0].1.as_str());
        titles.collect::<Vec<_>>()
    };
    let histories = std::env::var("HISTORIES").ok();
    let histories = histories.map_or(HISTORIES, |text| text.parse().expect("a number"));
    for _ in 0..histories {
        let steps = steps.new_tree(&mut runner).expect("a history").current();
        let mut world = world(&material, &workspace);
        steps.iter().for_each(|step| world.apply(step));
        // The problems of each number, after its aliases have joined it.
        let mut joined: BTreeMap<FindingId, BTreeSet<ProblemId>> = BTreeMap::new();
        for (number, about) in &world.numbers {
            let named = world.journal.find_problem(&format!("F{number}"));
            let id = named.expect("the number is known").id;
            joined.entry(id).or_default().extend(about);
            assert_eq!(
                world.keys[number].len(),
                1,
                "F{number} has one key: {steps:#?}"
            );
        }
        let mut numbers: BTreeMap<ProblemId, usize> = BTreeMap::new();
        for about in joined.values() {
            if about.len() > 1 {
                *shared.entry(titles(about)).or_default() += 1;
            }
            for problem in about {
                *numbers.entry(*problem).or_default() += 1;
            }
        }
        problems[0] += numbers.len();
        doubled[0] += numbers.values().filter(|count| **count > 1).count();
        for comments in &world.comments {
            let mut about: BTreeMap<&ProblemKey, BTreeSet<ProblemId>> = BTreeMap::new();
            let mut keys: BTreeMap<ProblemId, BTreeSet<&ProblemKey>> = BTreeMap::new();
            for (posted, problem) in comments {
                about.entry(&posted.key).or_default().insert(*problem);
                keys.entry(*problem).or_default().insert(&posted.key);
            }
            for about in about.values().filter(|about| about.len() > 1) {
                *shared.entry(titles(about)).or_default() += 1;
            }
            problems[1] += keys.len();
            doubled[1] += keys.values().filter(|keys| keys.len() > 1).count();
        }
        assert_eq!(world.journal.verify().expect("it is read").fault, None);
    }
    assert!(
        shared.is_empty(),
        "numbers of several problems: {shared:#?}"
    );
    for (doubled, problems) in doubled.into_iter().zip(problems) {
        let said = format!("{doubled} of {problems} problems have two numbers or keys");
        println!("{said}");
        assert!(doubled as f64 <= 0.03 * problems as f64, "{said}");
    }
}
