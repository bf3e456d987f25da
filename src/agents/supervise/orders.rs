//! What Glee and a supervisor tell each other, as JSON: [`Orders`] and two pipes one way, a [`Report`] the other.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use serde::{Deserialize, Serialize};

use super::NAME;
use crate::agents::sandbox::Confinement;

/// The supervisor's ends of the two pipes: one that ends when the agent is to, and one for the [`Report`].
#[derive(Debug)]
pub(in crate::agents) struct Ends {
    pub(in crate::agents) liveness: PipeReader,
    pub(in crate::agents) report: PipeWriter,
}

/// The supervisor's instructions. Paths need not be UTF-8.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Orders {
    /// The process that starts the supervisor.
    pub(super) starter: u32,
    pub(super) liveness: RawFd,
    pub(super) report: RawFd,
    pub(super) grace: Duration,
    /// The folder to remove at the end.
    pub(super) temporary: OsString,
    pub(super) confinement: Confinement,
}

pub(in crate::agents) fn arguments(
    ends: &Ends,
    grace: Duration,
    temporary: &Path,
    confinement: Option<&Confinement>,
) -> [OsString; 2] {
    let mut confinement = confinement.cloned();
    if let Some(confinement) = &mut confinement {
        confinement.writable.push(temporary.into());
    }
    let orders = Orders {
        starter: std::process::id(),
        liveness: ends.liveness.as_raw_fd(),
        report: ends.report.as_raw_fd(),
        grace,
        temporary: temporary.into(),
        confinement: confinement.unwrap_or_default(),
    };
    [NAME.into(), serde_json::to_string(&orders).expect("orders are representable in JSON").into()]
}

pub(super) fn parse(args: &[OsString]) -> Option<(Orders, &OsStr, &[OsString])> {
    let [orders, program, args @ ..] = args else { return None };
    Some((serde_json::from_str(orders.to_str()?).ok()?, program, args))
}

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::agents) enum End {
    Exit(i32),
    Signal(i32),
    /// It never began; the system's error number.
    NotStarted(i32),
    /// It was not started, because it could not be held.
    NotHeld,
    /// It would not die, or its end was not seen.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::agents) struct Report {
    pub(in crate::agents) end: End,
    pub(in crate::agents) held: bool,
    /// The processes that could not be ended; `None` is the proof that there are none.
    pub(in crate::agents) left: Option<Vec<i32>>,
}

/// Written to the liveness pipe to suspend the agent.
pub(in crate::agents) const STAND: u8 = b's';
/// Written to the liveness pipe to resume it.
pub(in crate::agents) const GO_ON: u8 = b'c';

/// The folder of the own open descriptors.
pub(in crate::agents) const DESCRIPTORS: &str = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };

/// Where an inherited pipe is opened anew: what Rust opens is closed on exec, so the agent cannot inherit it.
pub(super) fn descriptor(fd: RawFd) -> PathBuf {
    format!("{DESCRIPTORS}/{fd}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_survives_the_pipe() {
        for report in [
            Report { end: End::Exit(3), held: false, left: None },
            Report { end: End::Signal(11), held: true, left: Some(vec![]) },
            Report { end: End::NotStarted(2), held: false, left: None },
            Report { end: End::NotHeld, held: false, left: None },
            Report { end: End::Unknown, held: true, left: Some(vec![5, 6]) },
        ] {
            let line = serde_json::to_string(&report).expect("JSON");
            assert_eq!(serde_json::from_str::<Report>(&line).ok(), Some(report), "{line}");
        }
        for line in ["", "{}", r#"{"end":"Stop","held":true,"left":null}"#, r#"{"end":{"Exit":"x"},"held":true}"#] {
            assert!(serde_json::from_str::<Report>(line).is_err(), "{line}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn orders_survive_the_command_line_whatever_bytes_their_paths_have() {
        use std::os::unix::ffi::OsStringExt as _;

        use crate::agents::sandbox::Hold;
        let (liveness, _writer) = io::pipe().expect("a pipe");
        let (_reader, report) = io::pipe().expect("a pipe");
        let ends = Ends { liveness, report };
        let strange = OsString::from_vec(b"/a\xff b".to_vec());
        let confinement = Confinement {
            hold: Hold::IfPossible,
            namespaces: true,
            cache: Some("/c".into()),
            hidden: None,
            writable: vec![strange.clone()],
        };
        let grace = Duration::from_millis(250);
        let [name, orders] = arguments(&ends, grace, Path::new("/tmp/x"), Some(&confinement));
        let rest: Vec<OsString> = ["sh", "-c", "--"].map(OsString::from).into();
        let args = [vec![orders], rest.clone()].concat();
        let (orders, program, arguments) = parse(&args).expect("what was written");
        assert_eq!((name.as_os_str(), program, arguments), (OsStr::new(NAME), OsStr::new("sh"), &rest[1..]));
        assert_eq!((orders.starter, orders.liveness), (std::process::id(), ends.liveness.as_raw_fd()));
        assert_eq!((orders.grace, orders.temporary.as_os_str()), (grace, OsStr::new("/tmp/x")));
        let writable = vec![strange, "/tmp/x".into()];
        assert_eq!(orders.confinement, Confinement { writable, ..confinement });
        assert_eq!(parse(&args[..1]), None, "no program");
        assert_eq!(parse(&["5", "sh"].map(OsString::from)), None, "no orders");
    }
}
