//! What Glee and a supervisor tell each other: arguments and two pipes one way, a report the other.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};

use super::NAME;
use crate::agents::sandbox::{Confinement, Hold};

/// The supervisor's ends of the two pipes: one that ends when the agent is to, and one for the [`Report`].
#[derive(Debug)]
pub(in crate::agents) struct Ends {
    pub(in crate::agents) liveness: PipeReader,
    pub(in crate::agents) report: PipeWriter,
}

/// The arguments up to the agent's own command line: the process that starts the supervisor, the numbers of the two
/// pipes, the grace period in milliseconds, the temporary folder to remove at the end (empty for none), how the agent is
/// held, whether namespaces may be made for it, the folder of caches to cover and one to hide (empty for none), and where
/// it may write.
pub(in crate::agents) fn arguments(
    ends: &Ends,
    grace: Duration,
    temporary: Option<&Path>,
    confinement: Option<&Confinement>,
) -> Vec<OsString> {
    let number = |fd: RawFd| fd.to_string().into();
    let held = confinement.map_or(Hold::Free, |confinement| confinement.hold);
    let grace = grace.as_millis().to_string().into();
    let temporary_argument = temporary.map(OsString::from).unwrap_or_default();
    let mut arguments: Vec<OsString> = vec![
        NAME.into(),
        std::process::id().to_string().into(),
        number(ends.liveness.as_raw_fd()),
        number(ends.report.as_raw_fd()),
        grace,
        temporary_argument,
        held.word().into(),
        if confinement.is_some_and(|confinement| confinement.namespaces) { YES.into() } else { OsString::new() },
        confinement.and_then(|confinement| confinement.cache.clone()).unwrap_or_default().into(),
        confinement.and_then(|confinement| confinement.hidden.clone()).unwrap_or_default().into(),
    ];
    if let Some(confinement) = confinement {
        arguments
            .extend(confinement.writable.iter().map(|path| path.as_path()).chain(temporary).map(OsString::from));
    }
    arguments.push("--".into());
    arguments
}

/// Namespaces may be made.
const YES: &str = "namespaces";

/// Lets the supervisor inherit its ends of the two pipes, by their numbers. To be dropped here once it is started.
///
/// Another process that is started at the same moment inherits them too, and can do nothing with them: it may keep
/// neither the writing end of one nor the reading end of the other open, and a supervisor closes what is not its own.
pub(in crate::agents) fn hand_over(ends: &Ends) -> io::Result<()> {
    for end in [ends.liveness.as_fd(), ends.report.as_fd()] {
        fcntl(end, FcntlArg::F_SETFD(FdFlag::empty()))?;
    }
    Ok(())
}

/// How an agent's process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::agents) enum End {
    /// By itself.
    Exit(i32),
    /// By a signal.
    Signal(i32),
    /// It never began; the system's error number.
    NotStarted(i32),
    /// It was not started, because it could not be held.
    NotHeld,
    /// It would not die, or its end was not seen.
    Unknown,
}

/// What the supervisor tells Glee at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::agents) struct Report {
    /// How the agent ended.
    pub(in crate::agents) end: End,
    /// Whether the sandbox held it.
    pub(in crate::agents) held: bool,
    /// The processes that could not be ended; `None` is the proof that there are none.
    pub(in crate::agents) left: Option<Vec<i32>>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.end {
            End::Exit(code) => write!(f, "exit {code}")?,
            End::Signal(signal) => write!(f, "signal {signal}")?,
            End::NotStarted(errno) => write!(f, "errno {errno}")?,
            End::NotHeld => f.write_str("refused 0")?,
            End::Unknown => f.write_str("unknown 0")?,
        }
        f.write_str(if self.held { " held" } else { " free" })?;
        if let Some(left) = &self.left {
            f.write_str(" left")?;
            // More would not fit into one write to a pipe.
            left.iter().take(200).try_for_each(|pid| write!(f, " {pid}"))?;
        }
        Ok(())
    }
}

impl FromStr for Report {
    type Err = ();

    fn from_str(line: &str) -> Result<Self, ()> {
        let mut words = line.split_whitespace();
        let (kind, number) = words.next().zip(words.next()).ok_or(())?;
        let number = number.parse().map_err(drop)?;
        let end = match kind {
            "exit" => End::Exit(number),
            "signal" => End::Signal(number),
            "errno" => End::NotStarted(number),
            "refused" => End::NotHeld,
            "unknown" => End::Unknown,
            _ => return Err(()),
        };
        let held = match words.next() {
            Some("held") => true,
            Some("free") => false,
            _ => return Err(()),
        };
        let left = match words.next() {
            None => None,
            Some("left") => Some(words.map(str::parse).collect::<Result<_, _>>().map_err(drop)?),
            Some(_) => return Err(()),
        };
        Ok(Self { end, held, left })
    }
}

/// Written to the liveness pipe to have the agent stand still.
pub(in crate::agents) const STAND: u8 = b's';
/// Written to the liveness pipe to have it begin, and later on go on.
pub(in crate::agents) const GO_ON: u8 = b'c';

/// What the arguments say.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Orders<'a> {
    pub(super) starter: u32,
    pub(super) liveness: RawFd,
    pub(super) report: RawFd,
    pub(super) grace: Duration,
    pub(super) temporary: Option<&'a Path>,
    pub(super) confinement: Confinement,
    pub(super) program: &'a OsStr,
    pub(super) args: &'a [OsString],
}

pub(super) fn parse(args: &[OsString]) -> Option<Orders<'_>> {
    let dashes = args.iter().position(|word| word == "--")?;
    let [starter, liveness, report, grace, temporary, held, namespaces, cache, hidden, writable @ ..] =
        &args[..dashes]
    else {
        return None;
    };
    let absolute = |path: &OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let (program, args) = args[dashes + 1..].split_first()?;
    Some(Orders {
        starter: starter.to_str()?.parse().ok()?,
        liveness: liveness.to_str()?.parse().ok()?,
        report: report.to_str()?.parse().ok()?,
        grace: Duration::from_millis(grace.to_str()?.parse().ok()?),
        temporary: Some(Path::new(temporary)).filter(|path| path.is_absolute()),
        confinement: Confinement {
            hold: Hold::parse(held.to_str()?)?,
            namespaces: namespaces == YES,
            cache: absolute(cache),
            hidden: absolute(hidden),
            writable: writable.iter().map(PathBuf::from).collect(),
        },
        program,
        args,
    })
}

/// The folder of the own open descriptors.
#[cfg(target_os = "linux")]
pub(in crate::agents) const DESCRIPTORS: &str = "/proc/self/fd";
/// The folder of the own open descriptors.
#[cfg(not(target_os = "linux"))]
pub(in crate::agents) const DESCRIPTORS: &str = "/dev/fd";

/// Where an inherited pipe is opened anew: what Rust opens is closed on exec, so the agent cannot inherit it.
pub(super) fn descriptor(fd: RawFd) -> PathBuf {
    format!("{DESCRIPTORS}/{fd}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_survives_the_pipe() {
        let reports = [
            ("exit 3 free", Report { end: End::Exit(3), held: false, left: None }),
            ("signal 11 held left", Report { end: End::Signal(11), held: true, left: Some(vec![]) }),
            ("errno 2 free", Report { end: End::NotStarted(2), held: false, left: None }),
            ("refused 0 free", Report { end: End::NotHeld, held: false, left: None }),
            ("unknown 0 held left 5 6", Report { end: End::Unknown, held: true, left: Some(vec![5, 6]) }),
        ];
        for (line, report) in reports {
            assert_eq!(report.to_string(), line);
            assert_eq!(line.parse(), Ok(report));
        }
        for line in ["", "exit", "exit 1", "exit x free", "stop 1 free", "exit 1 held left x", "exit 1 free more"] {
            assert_eq!(line.parse::<Report>(), Err(()), "{line}");
        }
    }

    #[test]
    fn arguments_are_read_strictly() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let args = words("5 7 9 250 /tmp/x auto namespaces /c  /a /b -- sh -c --");
        let rest = words("-c --");
        let orders = Orders {
            starter: 5,
            liveness: 7,
            report: 9,
            grace: Duration::from_millis(250),
            temporary: Some(Path::new("/tmp/x")),
            confinement: Confinement {
                hold: Hold::IfPossible,
                namespaces: true,
                cache: Some("/c".into()),
                hidden: None,
                writable: vec!["/a".into(), "/b".into()],
            },
            program: OsStr::new("sh"),
            args: &rest,
        };
        assert_eq!(parse(&args), Some(orders));
        assert_eq!(parse(&words("5 7 9 250  free    -- sh")).map(|orders| orders.temporary), Some(None));
        for line in [
            "",
            "5 7 9 250  free    --",
            "5 7 9 250  free    sh x",
            "5 a 9 250  free    -- sh",
            "x 7 9 250  free    -- sh",
            "5 7 9 1.5  free    -- sh",
            "5 7 9 1  x    -- sh",
        ] {
            assert_eq!(parse(&words(line)), None, "{line}");
        }
    }
}
