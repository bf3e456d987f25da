//! Defines the data that Glee and a supervisor exchange. The supervisor receives [`Orders`] as an argument, and
//! sends a [`Report`] through a pipe.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use serde::{Deserialize, Serialize};

use crate::Confinement;
use crate::process::sandbox::confinement::Scarce;

/// The supervisor's ends of two pipes. EOF on the pipe `liveness` stops the agent, and the pipe `report` receives
/// the [`Report`].
#[derive(Debug)]
pub struct SupervisorPipes {
    pub(crate) liveness: PipeReader,
    pub report: PipeWriter,
}

/// Glee's instructions to the supervisor. Paths need not be valid UTF-8.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orders {
    pub(crate) starter: u32,
    pub(crate) liveness: RawFd,
    pub report: RawFd,
    pub grace: Duration,
    pub temporary: OsString,
    pub confinement: Confinement,
}

pub fn arguments(
    ends: &SupervisorPipes,
    grace: Duration,
    temporary: &Path,
    confinement: Option<&Confinement>,
) -> [OsString; 2] {
    let mut confinement = confinement.cloned();
    if let Some(confinement) = &mut confinement {
        confinement.writable.push(temporary.into());
        let temporary = temporary.canonicalize();
        confinement.open.extend(temporary.map(Into::into));
    }
    let orders = Orders {
        starter: std::process::id(),
        liveness: ends.liveness.as_raw_fd(),
        report: ends.report.as_raw_fd(),
        grace,
        temporary: temporary.into(),
        confinement: confinement.unwrap_or_default(),
    };
    [
        NAME.into(),
        serde_json::to_string(&orders)
            .expect("orders are representable in JSON")
            .into(),
    ]
}

pub fn parse(args: &[OsString]) -> Option<(Orders, &OsStr, &[OsString])> {
    let [orders, program, args @ ..] = args else {
        return None;
    };
    Some((serde_json::from_str(orders.to_str()?).ok()?, program, args))
}

/// Makes the supervisor's ends of the liveness pipe and the report pipe inheritable. After the start of the
/// supervisor, the caller closes its own copies of the pipe ends.
///
/// Until the caller closes these copies, a process that another thread starts also inherits the pipe ends. These
/// inherited pipe ends are harmless, because Glee never waits for EOF on these pipes. Each supervisor closes all
/// file descriptors that it does not need.
pub fn hand_over(ends: &SupervisorPipes) -> io::Result<()> {
    for end in [ends.liveness.as_fd(), ends.report.as_fd()] {
        fcntl(end, FcntlArg::F_SETFD(FdFlag::empty()))?;
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProcessEnd {
    Exit(i32),
    Signal(i32),
    /// The agent could not be started. The number is the system's error number.
    NotStarted(i32),
    /// The required sandbox is unavailable, so the agent was not started.
    NotConfined,
    /// The supervisor ended the program, because it took more than its allowance.
    TookTooMuch(Scarce),
    /// Killing the agent failed, or the exit of the agent was not observed.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub end: ProcessEnd,
    pub held: bool,
    /// The ids of the surviving processes, or `None` if the system confirms that no child process remains.
    pub left: Option<Vec<i32>>,
    /// The largest memory of one of the agent's processes, in bytes.
    pub peak_memory: Option<u64>,
}

/// Glee writes this byte to the liveness pipe to suspend the agent.
pub const SUSPEND: u8 = b's';
pub const RESUME: u8 = b'c';

pub const DESCRIPTORS: &str = if cfg!(target_os = "linux") {
    "/proc/self/fd"
} else {
    "/dev/fd"
};

/// Returns a path through which a process can open an inherited pipe again. The agent does not inherit the new
/// file descriptor.
pub fn descriptor(fd: RawFd) -> PathBuf {
    format!("{DESCRIPTORS}/{fd}").into()
}

/// The hidden first argument that makes Glee run as a supervisor.
pub const NAME: &str = "__supervise";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::sandbox::confinement::Hold;

    #[test]
    fn a_report_survives_the_pipe() {
        for report in [
            Report {
                end: ProcessEnd::Exit(3),
                held: false,
                left: None,
                peak_memory: Some(5 << 20),
            },
            Report {
                end: ProcessEnd::Signal(11),
                held: true,
                left: Some(vec![]),
                peak_memory: None,
            },
            Report {
                end: ProcessEnd::NotStarted(2),
                held: false,
                left: None,
                peak_memory: None,
            },
            Report {
                end: ProcessEnd::NotConfined,
                held: false,
                left: None,
                peak_memory: None,
            },
            Report {
                end: ProcessEnd::TookTooMuch(Scarce::Disk),
                held: true,
                left: None,
                peak_memory: None,
            },
            Report {
                end: ProcessEnd::Unknown,
                held: true,
                left: Some(vec![5, 6]),
                peak_memory: None,
            },
        ] {
            let line = serde_json::to_string(&report).expect("JSON");
            assert_eq!(
                serde_json::from_str::<Report>(&line).ok(),
                Some(report),
                "{line}"
            );
        }
        for line in [
            "",
            "{}",
            r#"{"end":"Stop","held":true,"left":null}"#,
            r#"{"end":{"Exit":"x"},"held":true}"#,
        ] {
            assert!(serde_json::from_str::<Report>(line).is_err(), "{line}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn orders_survive_the_command_line_whatever_bytes_their_paths_have() {
        use std::os::unix::ffi::OsStringExt as _;

        use Hold;
        let (liveness, _writer) = io::pipe().expect("a pipe");
        let (_reader, report) = io::pipe().expect("a pipe");
        let ends = SupervisorPipes { liveness, report };
        let strange = OsString::from_vec(b"/a\xff b".to_vec());
        let confinement = Confinement {
            hold: Hold::IfPossible,
            nests: true,
            namespaces: true,
            cache: Some("/c".into()),
            writable: vec![strange.clone()],
            closed: vec!["/home".into()],
            open: vec![strange.clone()],
            links: vec![],
            timed: vec![],
            over: Some((strange.clone(), "/tree".into())),
            is_offline: true,
            allowance: None,
        };
        let grace = Duration::from_millis(250);
        let [name, orders] = arguments(&ends, grace, Path::new("/nowhere/x"), Some(&confinement));
        let rest: Vec<OsString> = ["sh", "-c", "--"].map(OsString::from).into();
        let args = [vec![orders], rest.clone()].concat();
        let (orders, program, arguments) = parse(&args).expect("what was written");
        assert_eq!(
            (name.as_os_str(), program, arguments),
            (OsStr::new(NAME), OsStr::new("sh"), &rest[1..])
        );
        assert_eq!(
            (orders.starter, orders.liveness),
            (std::process::id(), ends.liveness.as_raw_fd())
        );
        assert_eq!(
            (orders.grace, orders.temporary.as_os_str()),
            (grace, OsStr::new("/nowhere/x"))
        );
        let writable = vec![strange, "/nowhere/x".into()];
        assert_eq!(
            orders.confinement,
            Confinement {
                writable,
                ..confinement
            }
        );
        assert_eq!(parse(&args[..1]), None, "no program");
        assert_eq!(parse(&["5", "sh"].map(OsString::from)), None, "no orders");
    }
}
