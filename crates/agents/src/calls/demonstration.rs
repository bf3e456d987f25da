//! Runs a test that an agent wrote, in the sandbox, with a trace of the executed lines.
//!
//! Python reads `sitecustomize.py` from a folder of Glee, and Ruby `glee_trace.rb`, which record each line of the tree that
//! is executed, and Node.js writes the coverage of V8. Another runner writes a coverage report if its command names one; of
//! Rust and PHP, a probe in the code tells it. A test runs in the same process and could write the trace itself. It gains
//! nothing: what it can forge is a failing test, and a wrong expectation fails as well. The crude ways are seen all the
//! same: a test that ends its process, or replaces functions of the runner, is broken.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::calls::project_commands::end_of;
use crate::calls::v8_coverage;
use crate::process::environment;
use crate::process::sandbox;
use crate::process::sandbox::confinement::Guarded;
use crate::{Agents, Invocation, ProcessError, ProcessJob, Stop, TranscriptFiles};
use glee_model::domain::TestEnd;
use glee_protocol::replies::{coverage_report, test_report};
use glee_store::config::settings::{Limits, Runner};
use glee_system::files;

/// The files of the folder that is named to the programs.
const TRACERS: [(&str, &str); 3] = [
    ("sitecustomize.py", include_str!("sitecustomize.py")),
    ("glee_trace.rb", include_str!("glee_trace.rb")),
    ("prepend.php", include_str!("prepend.php")),
];

/// The maximum time of one run of a test. `limits.call_timeout` can make it shorter.
const TIME: Duration = Duration::from_secs(60);

const OUTPUT: u64 = 4 << 20;

/// A test in a copy of the tree.
pub struct TestJob<'a> {
    pub runner: &'a Runner,
    /// The path of the test, relative to the copy.
    pub path: &'a str,
    pub copy: &'a Path,
    /// An empty folder for the report and the trace.
    pub scratch: &'a Path,
    /// The cache of the runner, which its runs share: Go compiles nothing without one.
    pub cache: &'a Path,
    pub guarded: &'a Guarded,
    pub limits: Limits,
    pub files: &'a TranscriptFiles,
    pub stop: Stop,
}

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedTest {
    pub end: TestEnd,
    /// The lines of `path:line` that were executed; `None` if the program gives no trace.
    pub executed: Option<Vec<(String, u32)>>,
    pub millis: u64,
    pub output: String,
}

/// Why a test did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotRun {
    /// The user stopped the run.
    Stopped,
    Refused(String),
}

impl Agents {
    /// The program of a runner. Fails with the reason why nothing runs here.
    pub fn test_program(&self, command: &[String], root: &Path) -> Result<PathBuf, String> {
        if !self.runner.mounts() {
            let why = "this system cannot keep a test from the network and from other files";
            return Err(why.to_owned());
        }
        let found = self.runner.find(command, root);
        found.map_err(|error| error.to_string())
    }

    pub async fn run_test(&self, job: TestJob<'_>) -> Result<EndedTest, NotRun> {
        let out = out(job.scratch);
        let tracer = job.scratch.join("tracer");
        let trace = out.join("trace");
        let reports = Reports {
            junit: out.join("junit.xml"),
            coverage: out.join("coverage"),
        };
        prepare(&out, &tracer)
            .and_then(|()| fs::create_dir_all(job.cache))
            .map_err(|error| NotRun::Refused(format!("failed to prepare the test: {error}")))?;
        let command = command(job.runner, job.path, &reports);
        let program = self.test_program(&command, job.copy);
        let program = program.map_err(NotRun::Refused)?;
        let mut env = environment::allowed(&[], std::env::vars_os());
        env.insert("PYTHONPATH".into(), tracer.clone().into());
        env.insert("RUBYLIB".into(), tracer.clone().into());
        env.insert("RUBYOPT".into(), "-rglee_trace".into());
        let probed = probe_file(job.scratch);
        env.insert("GLEE_PROBE".into(), probed.clone().into());
        // The settings of the machine come first.
        let mut settings = OsString::from(":");
        settings.push(&tracer);
        env.insert("PHP_INI_SCAN_DIR".into(), settings);
        let coverage = out.join("v8");
        env.insert("NODE_V8_COVERAGE".into(), coverage.clone().into());
        env.insert("XDG_CACHE_HOME".into(), job.cache.into());
        env.insert("GLEE_TRACE".into(), trace.clone().into());
        env.insert("GLEE_TRACE_ROOT".into(), job.copy.into());
        let invocation = Invocation::plain(program, command.iter().skip(1), env, job.copy);
        let writable = [job.copy.to_owned(), out, job.cache.to_owned()];
        let mut guarded = job.guarded.clone();
        guarded.tree.push(job.scratch.to_owned());
        let confinement = sandbox::of_test(&command, &invocation, &guarded, &writable);
        let limits = Limits {
            call_timeout: job.limits.call_timeout.min(TIME),
            // A test has nothing to save, and the first process of a namespace ignores SIGTERM.
            kill_grace: Duration::ZERO,
            max_output_size: job.limits.max_output_size.min(OUTPUT),
            ..job.limits
        };
        let started = Instant::now();
        let ran = self
            .runner
            .run(ProcessJob {
                confinement: Some(confinement),
                ..ProcessJob::plain(&invocation, limits, job.files, job.stop)
            })
            .await;
        let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (code, ended_by_glee, output) = match ran {
            Ok(output) => (Some(0), None, Some(output)),
            Err(ended) => match ended.error {
                ProcessError::Stopped(_) => return Err(NotRun::Stopped),
                ProcessError::TimedOut { .. } => (None, Some(TestEnd::TimedOut), ended.output),
                ProcessError::TookTooMuch { .. } => {
                    (None, Some(TestEnd::TookTooMuch), ended.output)
                }
                ProcessError::ExitCode { code, .. } => (Some(code), None, ended.output),
                ProcessError::Killed { .. } => (None, None, ended.output),
                error => return Err(NotRun::Refused(error.to_string())),
            },
        };
        let stdout = end_of(&job.files.stdout);
        let stderr = output.map(|output| output.stderr_tail).unwrap_or_default();
        let reads_report = job
            .runner
            .command
            .iter()
            .any(|word| word.contains(Runner::REPORT));
        let traced = trace.exists().then(|| read(&trace));
        let end = if let Some(end) = ended_by_glee {
            end
        } else if traced.as_deref().is_some_and(|traced| !ends(traced)) {
            TestEnd::Broken
        } else if reads_report {
            test_report::of_junit(code, &read(&reports.junit))
        } else {
            test_report::of_output(code, &stdout, &stderr)
        };
        let printed = [stdout.trim_end(), stderr.trim_end()];
        let printed: Vec<&str> = printed
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect();
        Ok(EndedTest {
            end,
            executed: match traced {
                Some(traced) => Some(executed(&traced)),
                None if probed.exists() => Some(executed(&read(&probed))),
                None => executed_by_node(&coverage, job.copy)
                    .or_else(|| reported(&reports.coverage, job.copy)),
            },
            millis,
            output: printed.join("\n"),
        })
    }
}

fn prepare(out: &Path, tracer: &Path) -> io::Result<()> {
    fs::create_dir_all(out)?;
    fs::create_dir_all(tracer)?;
    let prepend = tracer.join("prepend.php");
    let settings = format!("auto_prepend_file={:?}\n", prepend.display().to_string());
    fs::write(tracer.join("glee.ini"), settings)?;
    let mut files = TRACERS.into_iter();
    files.try_for_each(|(name, text)| fs::write(tracer.join(name), text))
}

/// The folder in which a test writes its reports.
fn out(scratch: &Path) -> PathBuf {
    scratch.join("out")
}

/// The file in which a probe writes the executed lines.
pub fn probe_file(scratch: &Path) -> PathBuf {
    out(scratch).join("probe")
}

/// The files that a runner writes.
pub struct Reports {
    pub junit: PathBuf,
    pub coverage: PathBuf,
}

/// The command of a runner, as it is run for a test. The words are not split again, so a path is one word.
pub fn command(runner: &Runner, path: &str, reports: &Reports) -> Vec<String> {
    let file = Path::new(path);
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let around = file.parent().unwrap_or(file).to_string_lossy();
    let [whole, stem, folder] = Runner::FILE;
    let words = runner.command.iter().map(|word| {
        word.replace(whole, path)
            .replace(stem, &name)
            .replace(folder, &around)
            .replace(Runner::REPORT, &reports.junit.to_string_lossy())
            .replace(Runner::COVERAGE, &reports.coverage.to_string_lossy())
    });
    words.collect()
}

/// What a runner reports. A report names a file by its path, or, as Go does, below the name of its module.
fn reported(coverage: &Path, copy: &Path) -> Option<Vec<(String, u32)>> {
    if !coverage.exists() {
        return None;
    }
    let report = read(coverage);
    let mut lines = Vec::new();
    for (path, executed) in coverage_report::executed(&report) {
        let path = Path::new(path);
        let mut rest = path.strip_prefix(copy).unwrap_or(path).components();
        while !rest.as_path().as_os_str().is_empty() && !copy.join(rest.as_path()).is_file() {
            rest.next();
        }
        if let Some(path) = rest.as_path().to_str().filter(|path| !path.is_empty()) {
            lines.extend(executed.map(|line| (path.to_owned(), line)));
        }
    }
    Some(lines)
}

/// Reads the beginning of a file that a test wrote; empty if there is none.
fn read(path: &Path) -> String {
    let mut bytes = Vec::new();
    if path.symlink_metadata().is_ok_and(|found| found.is_file())
        && let Ok(file) = files::regular(path)
    {
        drop(file.take(OUTPUT).read_to_end(&mut bytes));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Each process of Node.js writes a report when it ends.
fn executed_by_node(coverage: &Path, copy: &Path) -> Option<Vec<(String, u32)>> {
    let reports = fs::read_dir(coverage).ok()?.flatten();
    let mut lines = Vec::new();
    for report in reports {
        let path = |path: &str| read(&copy.join(path));
        lines.extend(v8_coverage::lines(&read(&report.path()), copy, path)?);
    }
    Some(lines)
}

/// Whether the first process of Python, which reports the result, came to its end, and with a runner that the test did
/// not replace.
fn ends(trace: &str) -> bool {
    let began = trace.lines().find_map(|line| line.strip_prefix("began:"));
    let mut ended = trace.lines().filter_map(|line| line.strip_prefix("ended:"));
    began.is_some_and(|process| ended.any(|ended| ended == process))
}

fn executed(trace: &str) -> Vec<(String, u32)> {
    let lines = trace.lines().filter_map(|line| {
        let (number, path) = line.split_once(':')?;
        Some((path.to_owned(), number.parse().ok()?))
    });
    lines.collect()
}
