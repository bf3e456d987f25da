//! `glee hook agent`: reviews what an agent changed when it ends its turn, and hands back what is mandatory and open.
//!
//! A host takes some failures of a hook for "go on", so whatever goes wrong here is a line in the log, `{}` and exit 0.

use std::fs::{self, File, TryLockError};
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::host::{AgentHost, HOSTS, HostSession};
use super::options::{HookMode, MODES};
use crate::cli::context::{
    CommandError, CommandResult, Globals, duration, one_of, place, pretty, print, settings, stream,
};
use crate::cli::report::options::{Detail, FixCommand, RenderOptions, TextOptions};
use crate::cli::report::{self, Format};
use crate::cli::style::count;
use glee_model::domain::{ExitReason, FindingState, Outcome};
use glee_protocol::text::printable;
use glee_store::config::schema::units;
use glee_system::private;

/// Review what an agent changed when it ends its turn (a hook of the agent runs this command)
#[derive(clap::Args)]
#[command(after_help = "\
The hook reads the JSON of the agent from standard input and reviews what changed since the last review of its session, \
with `glee review --quick`. In the mode `block`, it hands back the mandatory findings that are open, so that the agent \
fixes or answers them. In the mode `warn`, it only tells the person. If nothing changed, if the rounds, the time or the \
money of the session are used up, or if Glee itself fails, it prints `{}`: the exit code is always 0, and \
`agent-hooks/log` in the state folder has the reason.

Examples:
  glee hook print claude --mode block      print the settings that run the hook
  echo '{\"session_id\": \"1\"}' | glee hook agent claude")]
pub(crate) struct Args {
    /// The agent that runs the hook
    #[arg(value_name = "AGENT", value_parser = one_of(HOSTS))]
    host: AgentHost,
    /// Whether the agent has to go on after a review with findings
    #[arg(long, value_parser = one_of(MODES), value_name = "MODE", default_value = "warn")]
    mode: HookMode,
    /// The maximum duration; it must be shorter than the limit of the agent
    #[arg(long, value_parser = duration, value_name = "TIME", default_value = "50s")]
    timeout: Duration,
    /// How often the hook may hand findings back in a session
    #[arg(long, value_name = "N", default_value_t = 2)]
    rounds: u32,
    /// The maximum cost of the reviews of a session in US dollars, as far as costs are known
    #[arg(long, value_name = "USD", default_value_t = 1.0)]
    usd: f64,
}

/// Print the settings with which an agent runs the hook
#[derive(clap::Args)]
#[command(after_help = "\
Glee edits no settings of an agent. Codex skips a hook without a word until you trust it: open `/hooks` in Codex.

Examples:
  glee hook print claude
  glee hook print codex --mode block")]
pub(crate) struct PrintArgs {
    /// The agent that runs the hook
    #[arg(value_name = "AGENT", value_parser = one_of(HOSTS))]
    host: AgentHost,
    /// Whether the agent has to go on after a review with findings
    #[arg(long, value_parser = one_of(MODES), value_name = "MODE", default_value = "warn")]
    mode: HookMode,
}

pub(crate) fn print_settings(args: &PrintArgs, globals: &Globals) -> CommandResult {
    let options = match args.mode {
        HookMode::Warn => "",
        HookMode::Block => " --mode block",
    };
    globals.say(format!("add this to `{}`:", args.host.settings_file()));
    print(pretty(&args.host.snippet(options)))
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let answer = answer(args, globals).unwrap_or_else(|error| {
        // Where the log cannot be written, nobody can be told.
        drop(note(&format!("{}: {}", args.host.name(), error.message())));
        json!({})
    });
    // The host may have closed the pipe already.
    drop(stream::out(format!("{answer}\n")));
    Ok(ExitReason::Clean)
}

/// The maximum size of what a host writes to a hook.
const INPUT_CAP: u64 = 4 << 20;
/// The maximum size of the text that is handed back.
const REASON_CAP: usize = 8_000;
/// The maximum size of the log. A longer log begins again.
const LOG_CAP: u64 = 256 << 10;
/// The time that a review gets to end its agents.
const GRACE: Duration = Duration::from_secs(2);

const INSTRUCTION: &str = "Glee reviewed your changes, and mandatory findings are open. Fix each and run its answer \
    `implemented`, or object with `disagree`, a reason and evidence.\n";

fn answer(args: &Args, globals: &Globals) -> Result<Value, CommandError> {
    let deadline = Instant::now() + args.timeout;
    // An agent of a run of Glee can have this hook, too. Its work is reviewed by the run.
    if std::env::var_os("GLEE_AGENT").is_some_and(|name| !name.is_empty()) {
        return Ok(json!({}));
    }
    let session = session(args.host)?;
    let globals = &Globals {
        directory: session
            .folder
            .clone()
            .map(PathBuf::from)
            .or(globals.directory.clone()),
        no_input: true,
        no_pager: true,
        quiet: true,
        ..globals.clone()
    };
    let workspace = place::workspace(globals)?;
    let state_dir = place::state_dir()?;
    place::refuse_inside(&workspace, &state_dir)?;
    let record = SessionFile::new(&state_dir, &session, workspace.root())?;
    let Some(_lock) = record.lock()? else {
        return Ok(json!({}));
    };
    let mut known = record.read();
    let tree = workspace.snapshot(&state_dir)?.0;
    let left = args.usd - known.usd;
    if known.tree == tree || known.rounds >= args.rounds || left <= 0.0 {
        return Ok(json!({}));
    }
    let head = workspace.head().map(str::to_owned);
    let mut target = Vec::new();
    if let Some(base) = known.head.take().filter(|base| Some(base) != head.as_ref()) {
        target = vec!["--base".to_owned(), base];
    }
    known.tree = tree;
    known.head = head;
    // Recorded before the review: a review that fails or hangs is not repeated for the same code.
    record.write(&known)?;
    let reviewed = review(globals, &target, left, deadline)?;
    known.usd += reviewed.proof.usage.usd.unwrap_or_default();
    let mut open = reviewed.clone();
    open.findings.retain(|settled| {
        settled.blocks() && !matches!(settled.state, FindingState::Disputed { .. })
    });
    let findings = open.groups().count();
    known.rounds += u32::from(args.mode == HookMode::Block && findings > 0);
    record.write(&known)?;
    Ok(match args.mode {
        _ if findings == 0 => json!({}),
        HookMode::Warn => args.host.warn(&format!(
            "Glee: {} open; `glee runs show {}` shows them",
            count(findings, "mandatory finding"),
            reviewed.run.short()
        )),
        HookMode::Block => {
            let mut reason = INSTRUCTION.to_owned();
            reason.push_str(&form(&open, &reviewed, workspace.root()));
            reason.truncate(reason.floor_char_boundary(REASON_CAP));
            args.host.block(&reason)
        }
    })
}

/// The findings as in `glee review --format agent`.
fn form(open: &Outcome, whole: &Outcome, root: &Path) -> String {
    let options = RenderOptions {
        style: crate::cli::style::Style {
            color: false,
            unicode: true,
            width: 100,
        },
        detail: Detail::Short,
        source: &|path, _| fs::read_to_string(root.join(path)).ok(),
        events: &[],
        fix: &FixCommand::default(),
        only: &[],
        whole,
        text: TextOptions::default(),
    };
    report::render(Format::Agent, open, &options)
}

fn session(host: AgentHost) -> Result<HostSession, CommandError> {
    if io::stdin().is_terminal() {
        return Err(CommandError::usage(
            "the hook reads the JSON of an agent from standard input",
        ));
    }
    let mut text = String::new();
    io::stdin()
        .lock()
        .take(INPUT_CAP)
        .read_to_string(&mut text)?;
    let input: Value = serde_json::from_str(&text)
        .map_err(|error| CommandError::usage(format!("standard input is not JSON: {error}")))?;
    host.session(&input)
        .ok_or_else(|| CommandError::usage("standard input names no session"))
}

/// Runs `glee review` as a process of its own: whatever happens to it, this process answers in time.
fn review(
    globals: &Globals,
    target: &[String],
    usd: f64,
    deadline: Instant,
) -> Result<Outcome, CommandError> {
    let budget = settings::load(globals)?.settings.budget;
    let left = deadline.saturating_duration_since(Instant::now());
    let left = left.saturating_sub(2 * GRACE);
    let usd = budget.usd.map_or(usd, |own| own.min(usd));
    let mut stdout = tempfile::tempfile()?;
    let mut stderr = tempfile::tempfile()?;
    let mut child = Command::new(std::env::current_exe()?)
        .arg("-C")
        .arg(globals.directory())
        .args(["review", "--no-input", "--quick", "--format", "json"])
        .args(target)
        .env("GLEE_BUDGET_USD", usd.to_string())
        .env(
            "GLEE_BUDGET_DURATION",
            units::duration_text(Duration::from_secs(
                budget.duration.min(left).as_secs().max(1),
            )),
        )
        .stdin(Stdio::null())
        .stdout(stdout.try_clone()?)
        .stderr(stderr.try_clone()?)
        .spawn()?;
    let status = ended(&mut child, left)?;
    let printed = text_of(&mut stdout)?;
    match (
        status.and_then(|status| status.code()),
        serde_json::from_str::<Outcome>(&printed),
    ) {
        (Some(0 | 1 | 3), Ok(outcome)) => Ok(outcome),
        (code, _) => {
            let said = text_of(&mut stderr)?;
            let code = code.map_or("no exit code in time".to_owned(), |code| {
                format!("exit code {code}")
            });
            let line = said
                .lines()
                .find(|line| line.contains("error"))
                .unwrap_or_default();
            Err(CommandError::usage(format!(
                "the review ended with {code}: {line}"
            )))
        }
    }
}

/// Waits until the review has ended. Ends it after `left`, and then returns `None`.
fn ended(child: &mut std::process::Child, left: Duration) -> io::Result<Option<ExitStatus>> {
    const STEP: Duration = Duration::from_millis(20);
    let began = Instant::now();
    let mut is_told = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((!is_told).then_some(status));
        }
        if began.elapsed() > left + GRACE {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        if began.elapsed() > left && !is_told {
            // The review ends its agents by itself.
            let process = i32::try_from(child.id()).map_err(io::Error::other)?;
            kill(Pid::from_raw(process), Signal::SIGTERM)?;
            is_told = true;
        }
        std::thread::sleep(STEP);
    }
}

fn text_of(file: &mut File) -> io::Result<String> {
    use std::io::Seek as _;
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What the hook remembers of a session.
#[derive(Clone, Default, Serialize, Deserialize)]
struct KnownSession {
    /// How often findings were handed back.
    rounds: u32,
    /// The known cost of its reviews in US dollars.
    usd: f64,
    /// The tree of the last review.
    tree: String,
    /// The commit that was checked out at the last review.
    #[serde(default)]
    head: Option<String>,
}

struct SessionFile {
    path: PathBuf,
}

fn folder(state_dir: &Path) -> PathBuf {
    state_dir.join("agent-hooks")
}

impl SessionFile {
    fn new(state_dir: &Path, session: &HostSession, root: &Path) -> io::Result<Self> {
        private::folder(&folder(state_dir))?;
        // The id comes from outside, so it is no name of a file.
        let key = blake3::hash(format!("{}\0{}", session.id, root.display()).as_bytes());
        let path = folder(state_dir).join(&key.to_hex()[..32]);
        Ok(Self { path })
    }

    /// Returns `None` while another hook of the same session runs.
    fn lock(&self) -> io::Result<Option<File>> {
        let file = private::options()
            .create(true)
            .write(true)
            .open(self.path.with_extension("lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn read(&self) -> KnownSession {
        let bytes = fs::read(&self.path).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    fn write(&self, known: &KnownSession) -> io::Result<()> {
        private::write(&self.path, &serde_json::to_vec(known)?)
    }
}

/// Adds a line to the log of the hooks.
fn note(text: &str) -> Result<(), CommandError> {
    let folder = folder(&place::state_dir()?);
    private::folder(&folder)?;
    let path = folder.join("log");
    let is_long = fs::metadata(&path).is_ok_and(|meta| meta.len() > LOG_CAP);
    let mut log = private::options()
        .create(true)
        .append(!is_long)
        .write(true)
        .truncate(is_long)
        .open(path)?;
    let now = jiff::Timestamp::now();
    Ok(writeln!(log, "{now} {}", printable::line(text))?)
}
