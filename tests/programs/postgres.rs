//! A PostgreSQL server of Debian's package, started as an unprivileged user on a free port of the loopback interface.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::missing;

/// The user `nobody`, because PostgreSQL refuses to run as root.
const NOBODY: u32 = 65_534;

pub(crate) struct Postgres {
    programs: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
}

#[allow(dead_code, reason = "every target uses some of it")]
impl Postgres {
    /// Returns nothing where the programs are missing.
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            missing("PostgreSQL is missing; install the Debian package postgresql");
            return None;
        };
        let server = Self {
            programs,
            folder: tempfile::tempdir().expect("a temporary folder"),
            port: free_port(),
        };
        if nix::unistd::geteuid().is_root() {
            chown(server.folder.path(), Some(NOBODY), Some(NOBODY)).expect("a changed owner");
        }
        server.run("initdb", &["-A", "trust", "-U", "postgres", "--no-sync"]);
        server.up();
        Some(server)
    }

    pub(crate) fn up(&self) {
        self.up_with("off");
    }

    /// Starts the server. `fsync` is `on` or `off`.
    pub(crate) fn up_with(&self, fsync: &str) {
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync={fsync} -c max_connections=200",
            self.port
        );
        let log = self.folder.path().join("log").display().to_string();
        self.run("pg_ctl", &["-w", "-o", &options, "-l", &log, "start"]);
    }

    /// Ends the server at once, as a crash does.
    pub(crate) fn crash(&self) {
        self.run("pg_ctl", &["-m", "immediate", "stop"]);
    }

    /// The address of a database, for a role.
    pub(crate) fn address(&self, role: &str, database: &str) -> String {
        format!("postgres://{role}@127.0.0.1:{}/{database}", self.port)
    }

    /// Runs SQL as the administrator. Returns the rows, with `|` between the columns.
    pub(crate) fn sql(&self, database: &str, sql: &str) -> String {
        self.sql_as("postgres", database, sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    pub(crate) fn sql_as(&self, role: &str, database: &str, sql: &str) -> Result<String, String> {
        let output = self.psql(role, database).args(["-c", sql]).output();
        let output = output.expect("psql starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        match output.status.success() {
            true => Ok(text(&output.stdout)),
            false => Err(text(&output.stderr)),
        }
    }

    pub(crate) fn psql(&self, role: &str, database: &str) -> Command {
        let mut psql = Command::new(self.program("psql"));
        let address = self.address(role, database);
        psql.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-d", &address]);
        psql
    }

    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// The id of the server's first process.
    pub(crate) fn id(&self) -> i32 {
        let file = fs::read_to_string(self.folder.path().join("data/postmaster.pid"));
        let file = file.expect("the server runs");
        file.lines()
            .next()
            .and_then(|id| id.parse().ok())
            .expect("an id")
    }

    fn run(&self, program: &str, args: &[&str]) {
        let mut command = Command::new(self.programs.join(program));
        command
            .arg("-D")
            .arg(self.folder.path().join("data"))
            .args(args)
            .current_dir(self.folder.path())
            .env("LC_ALL", "C.UTF-8")
            // The server inherits what is open, and would keep the test's output open.
            .stdout(fs::File::create("/dev/null").expect("a file"))
            .stderr(fs::File::create("/dev/null").expect("a file"));
        if nix::unistd::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        let status = command.status().expect("a program of PostgreSQL starts");
        assert!(status.success(), "{program} {args:?}: {}", self.log());
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.folder.path().join("data/postmaster.pid").exists() {
            self.crash();
        }
    }
}

/// The folder with the programs of the newest version.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let folders = versions.flatten().map(|version| version.path().join("bin"));
    folders.filter(|folder| is_whole(folder)).max()
}

fn is_whole(folder: &Path) -> bool {
    ["initdb", "pg_ctl", "psql"]
        .iter()
        .all(|program| folder.join(program).exists())
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("an address").port()
}
