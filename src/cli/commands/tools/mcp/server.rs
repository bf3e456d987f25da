//! The tools of `glee mcp`.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::handler::server::tool::{InputResponses, IntoCallToolResult as _, schema_for_output};
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::model::{
    CallToolResponse, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequiredResult, ProgressNotificationParam,
    ProtocolVersion,
};
use rmcp::service::{ElicitationMode, RequestContext, RoleServer};
use rmcp::transport::stdio;
use rmcp::{ServerHandler, ServiceExt as _, elicit_safe, tool, tool_handler, tool_router};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Mutex;

use super::commands::Commands;
use super::{
    AnswerArgs, DecisionWord, DisputeState, Disputes, DisputesArgs, Findings, FindingsArgs,
    GivenDecision, OpenFinding, RulingArgs, RunState, StartArgs, StartedRun, WaitArgs,
};
use crate::cli::context::{CommandError, CommandResult, Globals, execute, place};
use crate::cli::ui::terminal::Terminal;
use glee_model::domain::ExitReason;
use glee_protocol::text::printable;

elicit_safe!(GivenDecision);

/// The maximum number of runs that a client has at work or waiting.
const RUNS: usize = 4;
/// The maximum time that a tool waits, in seconds.
const LONGEST: u64 = 600;
/// How often a client that waits hears of it.
const PROGRESS: Duration = Duration::from_secs(1);
/// How often a dispute is looked at.
const STEP: Duration = Duration::from_millis(500);
/// The key of the question about a dispute in a result that asks for input.
const QUESTION: &str = "ruling";
/// The maximum length of the name of a client in a record, in characters.
const CLIENT_NAME: usize = 40;

pub(crate) fn run(globals: &Globals) -> CommandResult {
    let globals = &globals.silent_if(true);
    let person = place::workspace(globals)?.person().name;
    let server = GleeServer::new(globals, person);
    let terminal = Terminal::new(globals.screen());
    let (served, cause) = execute::drive(Duration::MAX, &terminal, None, |stop| async move {
        let served = tokio::select! {
            served = serve(server.clone()) => served,
            () = stop.stopped() => Ok(()),
        };
        server.stop_all().await;
        served
    })?;
    served?;
    Ok(cause.unwrap_or(ExitReason::Clean))
}

async fn serve(server: GleeServer) -> Result<(), CommandError> {
    let running = server.serve(stdio()).await.map_err(failed)?;
    running.waiting().await.map(drop).map_err(failed)
}

fn failed(error: impl ToString) -> CommandError {
    CommandError::usage(error.to_string()).hint("an agent starts `glee mcp` and speaks to it")
}

#[derive(Clone)]
struct GleeServer {
    commands: Commands,
    /// The name of the person in git's configuration.
    person: String,
    /// The runs that this client started and that may still work.
    started: Arc<Mutex<BTreeSet<String>>>,
    /// The disputes about which the client was asked by a result, and that it has not answered.
    asked: Arc<Mutex<BTreeSet<u64>>>,
}

/// What this file reads of a dispute's record.
#[derive(Deserialize)]
struct RecordedDispute {
    dispute: Value,
}

#[tool_router]
impl GleeServer {
    fn new(globals: &Globals, person: String) -> Self {
        Self {
            commands: Commands::new(globals),
            person,
            started: Arc::default(),
            asked: Arc::default(),
        }
    }

    /// Start a review of the uncommitted changes, or of what the arguments name, and return the id of its run at once
    #[tool(annotations(
        title = "Start a review",
        read_only_hint = false,
        destructive_hint = false,
        idempotent_hint = false,
        open_world_hint = true
    ))]
    async fn review_start(
        &self,
        Parameters(args): Parameters<StartArgs>,
        context: RequestContext<RoleServer>,
    ) -> Result<Json<StartedRun>, String> {
        let mut words = vec!["review".to_owned()];
        words.extend(args.base.map(|base| format!("--base={base}")));
        words.extend(args.commit.map(|commit| format!("--commit={commit}")));
        words.extend(args.staged.then(|| "--staged".to_owned()));
        words.extend(["--detach", "--json", "--"].map(str::to_owned));
        words.extend(args.paths);
        self.start(words, &context).await
    }

    /// Wait until a run has ended; returns the findings that are open. If `works` is true, call it again. Cancelling this
    /// call ends a run that you started
    #[tool(annotations(
        title = "Wait for a review",
        read_only_hint = true,
        destructive_hint = false,
        idempotent_hint = true,
        open_world_hint = false
    ))]
    async fn review_wait(
        &self,
        Parameters(args): Parameters<WaitArgs>,
        context: RequestContext<RoleServer>,
    ) -> Result<Json<RunState>, String> {
        let timeout = format!("--timeout={}s", args.timeout_seconds.clamp(1, LONGEST));
        let words = [
            "runs", "wait", "--json", "--open", &timeout, "--", &args.run,
        ];
        let waiting = self.commands.run(&words);
        let Some(ran) = told(waiting, "the run works", &context).await else {
            self.stop(&args.run).await;
            return Err("the call was cancelled".to_owned());
        };
        let ran = ran?;
        let notes = ran.stderr.trim().to_owned();
        let run = args.run;
        if ran.code == i32::from(ExitReason::StillRunning.code()) {
            return Ok(Json(RunState {
                run,
                works: true,
                exit_code: None,
                findings: Vec::new(),
                worktree: None,
                notes,
            }));
        }
        let Findings { findings, worktree } = ran.json()?;
        self.started.lock().await.remove(&run);
        Ok(Json(RunState {
            run,
            works: false,
            exit_code: Some(ran.code),
            findings,
            worktree,
            notes,
        }))
    }

    /// List the findings that are open in this tree, from all runs
    #[tool(annotations(
        title = "List open findings",
        read_only_hint = true,
        destructive_hint = false,
        idempotent_hint = true,
        open_world_hint = false
    ))]
    async fn findings(
        &self,
        Parameters(args): Parameters<FindingsArgs>,
    ) -> Result<Json<Findings>, String> {
        let mut words = vec!["findings".to_owned(), "--json".to_owned()];
        words.extend(args.paths.iter().map(|path| format!("--path={path}")));
        if !args.severities.is_empty() {
            words.push(format!("--severity={}", args.severities.join(",")));
        }
        Ok(Json(self.commands.run(&strs(&words)).await?.json()?))
    }

    /// Answer a finding as its coder, and return the id of the run that checks the answer (see `review_wait`)
    #[tool(annotations(
        title = "Answer a finding",
        read_only_hint = false,
        destructive_hint = false,
        idempotent_hint = false,
        open_world_hint = true
    ))]
    async fn answer(
        &self,
        Parameters(args): Parameters<AnswerArgs>,
        context: RequestContext<RoleServer>,
    ) -> Result<Json<StartedRun>, String> {
        let mut words = vec!["answer".to_owned()];
        words.extend(args.reason.map(|reason| format!("--reason={reason}")));
        let evidence = args.evidence.iter();
        words.extend(evidence.map(|place| format!("--evidence={place}")));
        words.extend(["--detach", "--json", "--"].map(str::to_owned));
        words.extend([args.finding, args.answer.as_str().to_owned()]);
        self.start(words, &context).await
    }

    /// List the disputes that wait for a ruling
    #[tool(annotations(
        title = "List open disputes",
        read_only_hint = true,
        destructive_hint = false,
        idempotent_hint = true,
        open_world_hint = false
    ))]
    async fn disputes(
        &self,
        Parameters(DisputesArgs {}): Parameters<DisputesArgs>,
    ) -> Result<Json<Disputes>, String> {
        let words = ["disputes", "--open", "--json"];
        Ok(Json(self.commands.run(&words).await?.json()?))
    }

    /// Ask the person for a ruling on a dispute if you can show the question, otherwise wait for a ruling. Only a person
    /// rules; the dispute may stay open
    #[tool(annotations(
        title = "Await a ruling",
        read_only_hint = false,
        destructive_hint = false,
        idempotent_hint = true,
        open_world_hint = false
    ), output_schema = schema_for_output::<DisputeState>())]
    async fn await_ruling(
        &self,
        Parameters(args): Parameters<RulingArgs>,
        InputResponses(answers): InputResponses,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, String> {
        if asks_by_result(&context) {
            let answer = answers.unwrap_or_default().remove(QUESTION);
            if let Some(question) = self.question(args.dispute, answer.is_some()).await? {
                return Ok(question.into());
            }
            let answer = answer.and_then(|answer| serde_json::from_value(answer).ok());
            let given = answer.and_then(
                |ElicitResult {
                     action, content, ..
                 }| {
                    let is_given = action == ElicitationAction::Accept;
                    serde_json::from_value(content.filter(|_| is_given)?).ok()
                },
            );
            return complete(self.decide(args.dispute, given, &context).await?);
        }
        let limit = Duration::from_secs(args.timeout_seconds.clamp(1, LONGEST));
        let ruling = self.ruling(args.dispute, limit, &context);
        match told(ruling, "the dispute waits for a ruling", &context).await {
            Some(state) => complete(state?),
            None => Err("the call was cancelled".to_owned()),
        }
    }
}

impl GleeServer {
    /// Starts a detached run. The client may have [`RUNS`] at a time.
    async fn start(
        &self,
        words: Vec<String>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Json<StartedRun>, String> {
        // Held until the run is recorded: a flood of calls starts one run after the other.
        let mut started = self.started.lock().await;
        if started.len() >= RUNS {
            let rows: Vec<Value> = self.commands.run(&["runs", "--json"]).await?.json()?;
            started.retain(|run| {
                rows.iter()
                    .any(|row| row["run"] == **run && row["works"] == true)
            });
        }
        if started.len() >= RUNS {
            return Err(format!(
                "{RUNS} runs of this client work or wait already; wait for one with `review_wait`"
            ));
        }
        let ran = self.commands.run(&strs(&words)).await?;
        let run: StartedRun = ran.json()?;
        started.insert(run.run.clone());
        drop(started);
        if context.ct.is_cancelled() {
            self.stop(&run.run).await;
        }
        Ok(Json(run))
    }

    /// Ends a run that this client started.
    async fn stop(&self, run: &str) {
        if self.started.lock().await.remove(run) {
            // It fails if the run has ended by itself.
            drop(self.commands.run(&["runs", "stop", "--", run]).await);
        }
    }

    /// Ends all runs that this client started.
    async fn stop_all(&self) {
        let started: Vec<String> = self.started.lock().await.iter().cloned().collect();
        for run in started {
            self.stop(&run).await;
        }
    }

    async fn ruling(
        &self,
        number: u64,
        limit: Duration,
        context: &RequestContext<RoleServer>,
    ) -> Result<DisputeState, String> {
        let began = Instant::now();
        let state = self.dispute(number).await?;
        if !state.open {
            return Ok(state);
        }
        let modes = context.peer.supported_elicitation_modes();
        if modes.contains(&ElicitationMode::Form) {
            let peer = &context.peer;
            let answer = peer.elicit_with_timeout::<GivenDecision>(words_of(&state), Some(limit));
            let given = answer.await.ok().flatten();
            return self.decide(number, given, context).await;
        }
        loop {
            let state = self.dispute(number).await?;
            if !state.open || began.elapsed() >= limit {
                return Ok(state);
            }
            tokio::time::sleep(STEP).await;
        }
    }

    /// The question about an open dispute, for a client that is asked by a result. `None` if the dispute is settled, or if
    /// the client answers a question that it was asked.
    async fn question(
        &self,
        number: u64,
        has_answer: bool,
    ) -> Result<Option<InputRequiredResult>, String> {
        let state = self.dispute(number).await?;
        let mut asked = self.asked.lock().await;
        // An answer counts once, so that a request that is sent again rules nothing.
        if !state.open || (asked.remove(&number) && has_answer) {
            return Ok(None);
        }
        asked.insert(number);
        let schema = ElicitationSchema::from_type::<GivenDecision>();
        let question = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: words_of(&state),
            requested_schema: schema.map_err(|error| error.to_string())?,
        };
        let question = InputRequest::Elicitation(ElicitRequest::new(question));
        let questions = [(QUESTION.to_owned(), question)].into();
        Ok(Some(InputRequiredResult::from_input_requests(questions)))
    }

    /// Whoever declines, cancels, answers nothing or nonsense, or is too late has not ruled.
    async fn decide(
        &self,
        number: u64,
        given: Option<GivenDecision>,
        context: &RequestContext<RoleServer>,
    ) -> Result<DisputeState, String> {
        let ruled = given.and_then(|GivenDecision { ruling, reason }| match ruling {
            DecisionWord::Enforce => Some(("enforce", reason)),
            DecisionWord::Dismiss => Some(("dismiss", reason)),
            DecisionWord::Later => None,
        });
        let Some((word, reason)) = ruled else {
            return self.dispute(number).await;
        };
        let client = context
            .client_info()
            .map_or_else(|| "a client".to_owned(), |client| client.name);
        let client: String = printable::line(&client).chars().take(CLIENT_NAME).collect();
        let by = format!("--by={} (asked by {client})", self.person);
        let reason = format!("--reason={reason}");
        let number_word = number.to_string();
        let words = [
            "disputes",
            "resolve",
            &by,
            &reason,
            "--",
            &number_word,
            word,
        ];
        let ran = self.commands.run_for_person(&words).await?;
        if ran.code > 1 && ran.code != 3 {
            return Err(ran.failure());
        }
        self.dispute(number).await
    }

    async fn dispute(&self, number: u64) -> Result<DisputeState, String> {
        let number_word = number.to_string();
        let words = ["disputes", "show", "--json", "--", &number_word];
        let RecordedDispute { dispute } = self.commands.run(&words).await?.json()?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let settled_as = text(&dispute["disposition"]["as"]);
        let last = dispute["rulings"]
            .as_array()
            .and_then(|rulings| rulings.last());
        let finding = OpenFinding::title_of(&dispute["finding"]);
        Ok(DisputeState {
            dispute: number,
            open: settled_as.is_none(),
            settled_as,
            finding,
            rationale: last.and_then(|ruling| text(&ruling["rationale"])),
        })
    }
}

impl OpenFinding {
    /// The number and the title of a recorded finding.
    fn title_of(finding: &Value) -> String {
        let word = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        printable::line(&format!("{} {}", word("id"), word("title"))).to_string()
    }
}

#[tool_handler(
    name = "glee",
    instructions = "Reviews of this project's changes by other coding agents. `review_start` and `answer` return the id of a run; \
                    `review_wait` waits for its end. Answer each mandatory finding: `implemented` after you changed its code, or \
                    `disagree` with a reason and evidence. A judge or a person rules; obey a ruling."
)]
impl ServerHandler for GleeServer {}

/// Whether a server asks this client for input by the result of a call. This applies since the protocol of 2026-07-28,
/// which has no requests of a server.
fn asks_by_result(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    let capabilities = context.client_capabilities();
    let elicits = capabilities.and_then(|capabilities| capabilities.elicitation);
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
        && elicits.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

fn words_of(state: &DisputeState) -> String {
    let DisputeState {
        dispute, finding, ..
    } = state;
    format!(
        "Dispute {dispute}: has {finding} to be implemented? `glee disputes show {dispute}` has the code and both sides."
    )
}

fn complete(state: DisputeState) -> Result<CallToolResponse, String> {
    Json(state)
        .into_call_tool_result()
        .map_err(|error| error.to_string())
}

/// Waits for `work`, and tells the client each second. `None` if the client cancels the call.
async fn told<T>(
    work: impl Future<Output = T>,
    what: &str,
    context: &RequestContext<RoleServer>,
) -> Option<T> {
    let began = Instant::now();
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return Some(done),
            () = context.ct.cancelled() => return None,
            () = tokio::time::sleep(PROGRESS) => {}
        }
        if let Some(token) = context.meta.get_progress_token() {
            let progress = ProgressNotificationParam::new(token, began.elapsed().as_secs_f64())
                .with_message(what);
            // A client that is gone is seen when its stream ends.
            drop(context.peer.notify_progress(progress).await);
        }
    }
}

fn strs(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}
