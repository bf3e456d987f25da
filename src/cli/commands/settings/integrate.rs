//! `glee integrate`: installs the skill, the commands and the MCP server of `integrations/` into an agent, by the agent's own command.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cli::context::{
    CommandError, CommandResult, Globals, Words, one_of, place, print, stream,
};
use glee_model::domain::ExitReason;
use glee_protocol::text::printable;
use glee_system::private;

/// Install Glee's skill, commands and MCP server into an agent
#[derive(clap::Args)]
#[command(after_help = "\
Glee writes a plug-in into its state folder and has the agent's own command install it; the agent then starts `glee mcp` \
itself. For opencode, and for other agents \
that read `.agents/skills`, Glee writes the skill into this project. It never changes a file that it did not write. The \
plug-in has no hook; `glee hook print` prints one.

Examples:
  glee integrate claude --print      print what would be done
  glee integrate claude
  glee integrate claude --remove")]
pub(crate) struct Args {
    /// The agent that gets the skill
    #[arg(value_name = "AGENT", value_parser = one_of(TARGETS))]
    target: IntegrationTarget,
    /// Print the files and commands, and do nothing
    #[arg(long)]
    print: bool,
    /// Undo the installation
    #[arg(long)]
    remove: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IntegrationTarget {
    Claude,
    Codex,
    Gemini,
    Copilot,
    Opencode,
}

const TARGETS: Words<IntegrationTarget> = &[
    (
        "claude",
        IntegrationTarget::Claude,
        "Claude Code, a plug-in",
    ),
    ("codex", IntegrationTarget::Codex, "Codex, a plug-in"),
    (
        "gemini",
        IntegrationTarget::Gemini,
        "Gemini CLI, an extension",
    ),
    (
        "copilot",
        IntegrationTarget::Copilot,
        "Copilot CLI, a plug-in",
    ),
    (
        "opencode",
        IntegrationTarget::Opencode,
        "opencode and others, a skill in `.agents/skills` of the project",
    ),
];

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../../../integrations/", $path)))),*]
    };
}

/// The files of the plug-in, by their paths.
const PLUGIN: &[(&str, &str)] = files![
    ".claude-plugin/marketplace.json",
    ".claude-plugin/plugin.json",
    ".codex-plugin/plugin.json",
    ".mcp.json",
    "gemini-extension.json",
    "skills/glee-review/SKILL.md",
    "commands/answer.md",
    "commands/review.md",
    "commands/status.md",
    "commands/glee/answer.toml",
    "commands/glee/review.toml",
    "commands/glee/status.toml",
];

const SKILL: &[(&str, &str)] = &[(
    ".agents/skills/glee-review/SKILL.md",
    include_str!("../../../../integrations/skills/glee-review/SKILL.md"),
)];

impl IntegrationTarget {
    fn name(self) -> &'static str {
        let known = TARGETS.iter().find(|(_, target, _)| *target == self);
        known.map_or("", |(name, ..)| name)
    }

    fn files(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Opencode => SKILL,
            Self::Claude | Self::Codex | Self::Gemini | Self::Copilot => PLUGIN,
        }
    }

    /// The arguments of the agent's program that install the plug-in in `folder`.
    fn install(self, folder: &str) -> Vec<Vec<&str>> {
        let marketplace = vec!["plugin", "marketplace", "add", folder];
        match self {
            Self::Claude | Self::Copilot => {
                vec![marketplace, vec!["plugin", "install", "glee@glee"]]
            }
            Self::Codex => vec![marketplace, vec!["plugin", "add", "glee@glee"]],
            Self::Gemini => vec![vec!["extensions", "link", folder, "--consent"]],
            Self::Opencode => Vec::new(),
        }
    }

    fn remove(self) -> Vec<Vec<&'static str>> {
        let marketplace = vec!["plugin", "marketplace", "remove", "glee"];
        match self {
            Self::Claude | Self::Copilot => {
                vec![vec!["plugin", "uninstall", "glee@glee"], marketplace]
            }
            Self::Codex => vec![vec!["plugin", "remove", "glee@glee"], marketplace],
            Self::Gemini => vec![vec!["extensions", "uninstall", "glee"]],
            Self::Opencode => Vec::new(),
        }
    }
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let target = args.target;
    let state = place::state_dir()?.join("integrations");
    let folder = match target {
        IntegrationTarget::Opencode => place::workspace(globals)?.root().to_owned(),
        _ => state.join(target.name()),
    };
    let shown = folder.display().to_string();
    let commands = if args.remove {
        target.remove()
    } else {
        target.install(&shown)
    };
    let files: Vec<PathBuf> = target
        .files()
        .iter()
        .map(|(path, _)| folder.join(path))
        .collect();
    let plan = plan(args, &files, &commands);
    if args.print {
        return print(&plan);
    }
    globals.say(plan.trim_end());
    let mut written = WrittenFiles::read(&state.join("written.json"));
    if args.remove {
        for command in &commands {
            execute(target, command, "not ")?;
        }
        for file in &files {
            written.remove(file)?;
        }
        // Only empty folders are removed.
        for file in &files {
            let below = file
                .ancestors()
                .skip(1)
                .take_while(|above| above.starts_with(&folder));
            for above in
                below.filter(|above| target != IntegrationTarget::Opencode || *above != folder)
            {
                drop(fs::remove_dir(above));
            }
        }
        return Ok(ExitReason::Clean);
    }
    for file in &files {
        written.check(file)?;
    }
    for (file, (_, text)) in files.iter().zip(target.files()) {
        written.write(file, text)?;
    }
    for command in &commands {
        execute(target, command, "already")?;
    }
    Ok(ExitReason::Clean)
}

fn plan(args: &Args, files: &[PathBuf], commands: &[Vec<&str>]) -> String {
    let mut plan = String::new();
    let verb = if args.remove { "removes" } else { "writes" };
    let files = files
        .iter()
        .map(|file| format!("{verb} {}\n", printable::line(&file.display().to_string())));
    let program = args.target.name();
    let commands = commands
        .iter()
        .map(|words| format!("runs {program} {}\n", printable::line(&words.join(" "))));
    if args.remove {
        plan.extend(commands.chain(files))
    } else {
        plan.extend(files.chain(commands))
    }
    plan
}

/// Runs a command of the agent. A failure whose message has the word `done` means that there was nothing to do.
fn execute(target: IntegrationTarget, words: &[&str], done: &str) -> Result<(), CommandError> {
    let program = target.name();
    let command = format!("{program} {}", words.join(" "));
    let output = Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .output();
    let output = output.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            CommandError::usage(format!("the program `{program}` is not on the PATH"))
                .hint("install the program, or print what to do by hand with `--print`")
        }
        _ => CommandError::caused(format!("`{program}` cannot be started"), error),
    })?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    if output.status.success() || said.to_lowercase().contains(done) {
        return Ok(());
    }
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    let message = format!(
        "`{command}` failed: {}",
        printable::line(last.unwrap_or("it printed nothing"))
    );
    Err(CommandError::ending(ExitReason::AgentFailed, message)
        .hint("run the command by hand to see more"))
}

/// What Glee wrote, so that it changes no other file.
struct WrittenFiles {
    path: PathBuf,
    /// The BLAKE3 hash of the text of each file.
    hashes: BTreeMap<PathBuf, String>,
}

impl WrittenFiles {
    fn read(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap_or_default();
        Self {
            path: path.to_owned(),
            hashes: serde_json::from_slice(&bytes).unwrap_or_default(),
        }
    }

    fn is_own(&self, file: &Path) -> io::Result<bool> {
        if !fs::symlink_metadata(file)?.is_file() {
            return Ok(false);
        }
        let hash = blake3::hash(&fs::read(file)?).to_hex().to_string();
        Ok(self.hashes.get(file) == Some(&hash))
    }

    /// Fails if somebody else wrote the file, or a link leads elsewhere.
    fn check(&self, file: &Path) -> Result<(), CommandError> {
        match self.is_own(file) {
            Ok(true) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Ok(false) => Err(CommandError::usage(format!(
                "`{}` exists, and Glee did not write it",
                printable::line(&file.display().to_string())
            ))
            .hint("move the file away, or keep it and leave the integration out")),
            Err(error) => Err(CommandError::caused(
                format!("cannot read `{}`", file.display()),
                error,
            )),
        }
    }

    fn write(&mut self, file: &Path, text: &str) -> Result<(), CommandError> {
        let failed =
            |error| CommandError::caused(format!("cannot write `{}`", file.display()), error);
        fs::create_dir_all(file.parent().unwrap_or(file)).map_err(failed)?;
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        self.hashes.insert(file.to_owned(), hash);
        // Recorded first: a file that was written but not recorded could never be removed.
        self.keep()?;
        fs::write(file, text).map_err(failed)
    }

    fn remove(&mut self, file: &Path) -> Result<(), CommandError> {
        if self.is_own(file).unwrap_or(false) {
            fs::remove_file(file).map_err(|error| {
                CommandError::caused(format!("cannot remove `{}`", file.display()), error)
            })?;
        } else if fs::symlink_metadata(file).is_ok() {
            stream::err(format!(
                "note: `{}` was changed by somebody else, and stays\n",
                printable::line(&file.display().to_string())
            ));
        }
        self.hashes.remove(file);
        self.keep()
    }

    fn keep(&self) -> Result<(), CommandError> {
        let bytes = serde_json::to_vec(&self.hashes).map_err(io::Error::other)?;
        Ok(private::write(&self.path, &bytes)?)
    }
}
