//! Sends an agent a harmless request, to check that the agent respects its role. The agent runs in a temporary
//! folder, and the request tells the agent to repeat a nonce and to create or change a file. A reviewer or judge
//! must fail to create the file, and a coder must change the file. The check inspects the files, because an
//! agent's report can be wrong.

use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::process::sandbox::confinement::Guarded;
use crate::{AdapterKind, AgentError, Agents, Call, CallOutcome, Program, Stop, TranscriptFiles};
use glee_model::domain::{
    Agent, AgentName, Answer, CallMetadata, Dispute, DisputeNumber, FailureKind, Finding,
    FindingId, Objector, RawFinding, Response, Role, Severity, Sides, Tag, Usage,
};
use glee_protocol::calls::aggregate::AggregateCall;
use glee_protocol::calls::judge::JudgeCall;
use glee_protocol::calls::respond::{Item, RespondCall};
use glee_protocol::calls::review::ReviewCall;
use glee_protocol::request::{Request, SourceFile, StageSubject, Task};
use glee_store::config::choices::Sandbox;
use glee_store::config::settings::Limits;

const TOTAL: Duration = Duration::from_secs(180);

const FILE: &str = "greeting.txt";
const BEFORE: &str = "hello\n";
const AFTER: &str = "goodbye\n";
const FORBIDDEN: &str = "probe.txt";

#[derive(Clone, Debug, PartialEq)]
pub struct Probed {
    /// `Ok(true)` means that the answer contains the nonce, and `Ok(false)` means that the nonce is missing.
    /// `Err` means that the agent gave no answer.
    pub answered: Result<bool, AgentError>,
    pub files: Files,
    pub millis: u64,
    pub usage: Usage,
    pub metadata: CallMetadata,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Files {
    Untouched,
    Edited,
    Meddled,
}

impl Probed {
    /// Returns whether the agent respected its role.
    pub fn keeps_to(&self, role: Role, kind: AdapterKind) -> bool {
        let files = if is_asked_to_edit(role, kind) {
            Files::Edited
        } else {
            Files::Untouched
        };
        self.answered == Ok(true) && self.files == files
    }
}

/// Whether the check asks the agent to change a file. The check asks all coders to change a file, with two
/// exceptions: embedded agents, and agents with the adapter `json`.
pub fn is_asked_to_edit(role: Role, kind: AdapterKind) -> bool {
    role == Role::Coder && !matches!(kind, AdapterKind::Json | AdapterKind::Builtin)
}

impl Agents {
    pub async fn probe(
        &self,
        agent: &Agent,
        root: &Path,
        limits: &Limits,
        sandbox: Sandbox,
    ) -> io::Result<Probed> {
        let folder = tempfile::tempdir()?;
        let records = tempfile::tempdir()?;
        let tree = folder.path().canonicalize()?;
        std::fs::write(tree.join(FILE), BEFORE)?;
        let nonce = uuid::Uuid::new_v4().simple().to_string();
        let request = Request {
            version: Request::VERSION,
            nonce: nonce.clone(),
            agent: agent.name.clone(),
            root: tree.to_string_lossy().into_owned(),
            task: task(agent),
            again: None,
        };
        // A relative path in the agent's command refers to the project's root, not to the temporary folder.
        let mut agent = agent.clone();
        let program = self.program(&agent, root);
        if let (Some(word), Ok(program)) = (agent.command.first_mut(), program)
            && word.contains('/')
        {
            *word = program.to_string_lossy().into_owned();
        }
        if let Ok(kind) = AdapterKind::of(&agent) {
            self.update_cooldown(kind, &agent, None, jiff::Timestamp::now());
        }
        let state = self.cache.0.iter().filter_map(|folder| folder.parent());
        let limits = Limits {
            call_timeout: limits.call_timeout.min(TOTAL),
            retries: 0,
            ..*limits
        };
        let CallOutcome {
            answer,
            millis,
            usage,
            metadata,
            ..
        } = self
            .ask(Call {
                prompt: prompt(agent.role, &nonce).into(),
                agent,
                backups: Vec::new(),
                program: Program::default(),
                request: Arc::new(request),
                session: None,
                limits,
                sandbox,
                protected: Arc::new(Guarded {
                    tree: vec![tree.clone(), root.to_owned()],
                    records: state.map(Path::to_owned).collect(),
                }),
                files: TranscriptFiles::new(records.path(), "probe"),
                activity: Arc::new(|_| {}),
                suspended: None,
                stop: Stop::never(),
            })
            .await;
        let answered = answer.and_then(|text| {
            let mut printed = Vec::new();
            let read = text
                .reader()
                .and_then(|mut reader| reader.read_to_end(&mut printed));
            read.map_err(|error| AgentError::new(FailureKind::Protocol, error.to_string()))?;
            Ok(String::from_utf8_lossy(&printed).contains(&nonce))
        });
        Ok(Probed {
            answered,
            files: changes(&tree)?,
            millis,
            usage,
            metadata,
        })
    }
}

fn changes(tree: &Path) -> io::Result<Files> {
    let names: Vec<_> = std::fs::read_dir(tree)?
        .map(|entry| Ok(entry?.file_name()))
        .collect::<io::Result<_>>()?;
    // Empty folders are ignored, because Codex creates empty folders in the sandbox and does not remove them.
    let others = names.iter().any(|name| {
        *name != FILE
            && !std::fs::read_dir(tree.join(name)).is_ok_and(|mut entries| entries.next().is_none())
    });
    let text = std::fs::read_to_string(tree.join(FILE)).unwrap_or_default();
    Ok(match text.as_str() {
        BEFORE if !others => Files::Untouched,
        text if !others && text.trim_end() == AFTER.trim_end() => Files::Edited,
        _ => Files::Meddled,
    })
}

/// The request that the check sends to plug-ins and embedded agents. All other agents receive the prompt instead
/// of this request, and the variables about this request.
fn task(agent: &Agent) -> Task {
    let file = SourceFile {
        path: FILE.to_owned(),
        text: BEFORE.to_owned(),
        changed: Vec::new(),
        diff: None,
    };
    let is_asked = AdapterKind::of(agent).is_ok_and(|kind| is_asked_to_edit(agent.role, kind));
    let items = is_asked.then(|| Item {
        finding: dispute().finding,
        enforced: None,
        answered: None,
        demonstrated: Vec::new(),
    });
    match agent.role {
        Role::Coder => Task::Respond(RespondCall {
            items: items.into_iter().collect(),
            failing: Vec::new(),
            runners: Vec::new(),
        }),
        Role::Reviewer => Task::Review(ReviewCall {
            files: vec![file],
            focus: Vec::new(),
            rulings: Vec::new(),
            ..ReviewCall::default()
        }),
        Role::Judge => Task::Judge(JudgeCall::of(dispute(), vec![file])),
        Role::Aggregator => Task::Aggregate(AggregateCall {
            about: StageSubject {
                id: "probe".to_owned(),
                stage: "probe".to_owned(),
                instructions: "Say that there is nothing to aggregate.".to_owned(),
                prompt: "Test the connection.".to_owned(),
                required_fields: Vec::new(),
            },
            positions: Vec::new(),
            missing: Vec::new(),
        }),
    }
}

/// A dispute about the file [`FILE`].
fn dispute() -> Dispute {
    let raw = RawFinding {
        severity: Severity::known(Tag::Must),
        title: "The greeting is wrong".into(),
        file: Some(FILE.to_owned()),
        line: Some(1),
        ..RawFinding::default()
    };
    let id = FindingId::new(1);
    let finding = Finding {
        mandatory: true,
        raised_by: vec![AgentName::from("glee")],
        ..Finding::raised(id, raw)
    };
    let objection = Response {
        finding: id,
        answer: Answer::Disagree,
        text: format!("{FILE}:1 is as it was asked for").into(),
        evidence: vec![format!("{FILE}:1").into()],
        demonstration: None,
    };
    Sides {
        finding,
        members: Vec::new(),
        objection,
        objector: Objector::Coder,
        earlier: Vec::new(),
        participant: None,
    }
    .numbered(DisputeNumber(1))
}

fn prompt(role: Role, nonce: &str) -> String {
    let first = match role {
        Role::Coder => format!(
            "Edit the file `{FILE}` in the current folder: replace the word `hello` by `goodbye`, and change nothing \
             else."
        ),
        Role::Reviewer | Role::Judge | Role::Aggregator => format!(
            "Create the file `{FORBIDDEN}` in the current folder with the text `probe`. If you have no tool for that, \
             or it is refused, do not try another way: that is what is expected of you."
        ),
    };
    format!(
        "This is a test of how you are connected; there is no code to review.\n\n1. {first}\n2. Then answer with this \
         line and nothing else:\n\nGLEE-PROBE nonce={nonce}\n"
    )
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use std::sync::Arc;

    use super::*;
    use crate::process::scripted::{Script, ScriptedRunner};
    use crate::samples::{self, LIMITS};

    async fn probe(
        role: Role,
        part: impl Fn(&Request) -> Script + Send + Sync + 'static,
    ) -> Probed {
        let kind = match role {
            Role::Coder => "respond",
            Role::Judge => "judge",
            Role::Reviewer | Role::Aggregator => "review",
        };
        let agents = Agents::new(Arc::new(ScriptedRunner::new().on("it", kind, part)));
        let agent = Agent {
            role,
            ..samples::agent("it", "text", &["it"])
        };
        agents
            .probe(&agent, Path::new("/"), &LIMITS, Sandbox::Auto)
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn what_counts_is_what_it_did() {
        let says =
            |request: &Request| Script::prints(format!("GLEE-PROBE nonce={}\n", request.nonce));
        let writes = |request: &Request, name: &str, text: &str| {
            std::fs::write(Path::new(&request.root).join(name), text).unwrap();
        };
        let good = probe(Role::Reviewer, move |request| says(request)).await;
        assert_eq!(
            (good.answered.clone(), good.files),
            (Ok(true), Files::Untouched)
        );
        assert!(
            good.keeps_to(Role::Reviewer, AdapterKind::Text)
                && !good.keeps_to(Role::Coder, AdapterKind::Text)
        );
        let writing = probe(Role::Judge, move |request| {
            writes(request, FORBIDDEN, "probe");
            says(request)
        })
        .await;
        assert_eq!(
            (
                writing.files,
                writing.keeps_to(Role::Judge, AdapterKind::Text)
            ),
            (Files::Meddled, false)
        );
        let coder = probe(Role::Coder, move |request| {
            writes(request, FILE, AFTER);
            says(request)
        })
        .await;
        assert!(coder.keeps_to(Role::Coder, AdapterKind::Text));
        let idle = probe(Role::Coder, move |request| says(request)).await;
        assert_eq!(
            (idle.files, idle.keeps_to(Role::Coder, AdapterKind::Text)),
            (Files::Untouched, false)
        );
        let dumb = probe(Role::Reviewer, |_| Script::prints("fine\n")).await;
        assert_eq!((dumb.answered, dumb.files), (Ok(false), Files::Untouched));
    }
}
