//! The client of a PostgreSQL server that keeps the logs of repositories and the runs that wait for a worker. `schema.sql`
//! and `queue.sql` are what the server has; `pgmq.sql` keeps the messages of the queue.
//!
//! One connection serves one command. A run is held by a lock of the connection that appends its events, so a connection
//! that was lost appends nothing more, and a new one has to get the run first.

use std::error::Error as _;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, io, thread};

use postgres::config::{Host, SslMode};
use postgres::error::SqlState;
use postgres::types::{ToSql, Type};
use postgres::{Client, Config, Error, NoTls, Row};
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::history::columns::json;
use crate::history::shared_log::{
    Head, Log, LogRecord, RepositoryNames, SharedLogError, SharedViews,
};
use crate::history::submission::CarriedRun;
use glee_model::domain::RunId;

mod lists;
mod queue;
mod repositories;

const SCHEMA: [&str; 4] = [
    include_str!("schema.sql"),
    include_str!("pgmq.sql"),
    include_str!("queue.sql"),
    include_str!("requests.sql"),
];
const VERSION: i32 = 1;

/// The error of `queue.sql` for a worker whose run another worker carries.
const TAKEN: &str = "GL001";

const CONNECT: Duration = Duration::from_secs(10);
/// The time after which a connection counts as lost whose packets are not acknowledged.
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);
/// How long the end of this process's last connection may take on the server.
const ENDING: Duration = Duration::from_secs(2);

/// How each connection is set up. A process that is suspended while it holds a log loses the log.
const SESSION: &str = "SET application_name = 'glee'; SET lock_timeout = '30s';
    SET idle_in_transaction_session_timeout = '30s'; SET search_path = pg_catalog; SET client_min_messages = error";

#[derive(Clone)]
pub struct Server {
    config: Config,
    /// The hosts and the database, without the user and the password.
    name: String,
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Server {
    /// Reads the address of a database. Connects to nothing.
    pub fn at(address: &str) -> Result<Self, SharedLogError> {
        let invalid = || SharedLogError::Address(without_password(address));
        let mut config: Config = address.parse().map_err(|_| invalid())?;
        let hosts = config.get_hosts().iter().map(|host| match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(folder) => folder.display().to_string(),
        });
        let hosts: Vec<String> = hosts.collect();
        let is_here = config.get_hosts().iter().all(|host| match host {
            Host::Tcp(name) => {
                name == "localhost"
                    || name
                        .parse()
                        .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
            }
            #[cfg(unix)]
            Host::Unix(_) => true,
        });
        if hosts.is_empty() {
            return Err(invalid());
        }
        // By default, the library would send everything unencrypted to a server that offers no encryption.
        if config.get_ssl_mode() == SslMode::Prefer {
            config.ssl_mode(if is_here {
                SslMode::Disable
            } else {
                SslMode::Require
            });
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        config.tcp_user_timeout(UNACKNOWLEDGED);
        let database = config
            .get_dbname()
            .or(config.get_user())
            .unwrap_or_default();
        let name = format!("{}/{database}", hosts.join(","));
        Ok(Self { config, name })
    }

    /// Creates the tables and the roles, if the database has none of Glee's. Returns false if it has them. The roles in
    /// `tenants` are created where they are missing.
    pub fn set_up(&self, tenants: &[String]) -> Result<bool, SharedLogError> {
        apart(|| {
            let mut client = self.client()?;
            let is_new = match version(&mut client) {
                Ok(found) => {
                    self.check(found)?;
                    false
                }
                Err(error) if is_missing(&error) => true,
                Err(error) => return Err(self.failed(error)),
            };
            let mut script = if is_new {
                SCHEMA.concat()
            } else {
                String::new()
            };
            for tenant in tenants {
                // A tenant is an identifier in the first place and a text in the second one; the command admits no quotes.
                script += &format!(
                    "DO $$ BEGIN CREATE ROLE \"{tenant}\" NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
                     INSERT INTO glee.tenant VALUES ('{tenant}') ON CONFLICT DO NOTHING;"
                );
            }
            if !is_new {
                // The views may be those of an older version, or altered.
                script += "UPDATE glee.repository SET stale = true;";
            }
            let script = format!("BEGIN; {script} COMMIT");
            client
                .batch_execute(&script)
                .map_err(|error| self.failed(error))?;
            Ok(is_new)
        })
    }

    /// Opens the log of a repository. Creates it if `creates`; otherwise, returns `None` if the server does not have it.
    pub fn log(
        &self,
        names: &RepositoryNames,
        creates: bool,
    ) -> Result<Option<Box<dyn Log>>, SharedLogError> {
        if names.project.is_none() && names.proven.is_empty() {
            return Err(SharedLogError::Nameless);
        }
        apart(|| {
            let mut client = self.connect()?;
            let sql = "SELECT glee.open($1, $2, $3, $4)";
            let RepositoryNames {
                project,
                proven,
                title,
            } = names;
            let found = client.query_one(sql, &[project, proven, title, &creates]);
            let found = found.map_err(|error| self.failed(error))?;
            let repository: Option<i32> = found.get(0);
            Ok(repository.map(|repository| self.log_of(client, repository, None)))
        })
    }

    /// Opens the log of the repository whose run a worker carries. Also returns the number of the repository.
    pub fn carried_log(&self, carried: &CarriedRun) -> Result<(i32, Box<dyn Log>), SharedLogError> {
        apart(|| {
            let mut client = self.connect()?;
            let found = client.query_one(
                "SELECT repository FROM glee.claimed($1, $2)",
                &[&carried.run.0, &carried.fence],
            );
            let found = found.map_err(|error| self.failed(error))?;
            let repository = found.get(0);
            let log = self.log_of(client, repository, Some(carried.clone()));
            Ok((repository, log))
        })
    }

    fn log_of(&self, client: Client, repository: i32, carried: Option<CarriedRun>) -> Box<dyn Log> {
        Box::new(ServerLog {
            server: self.clone(),
            repository,
            carried,
            connection: Mutex::new(Connection {
                client: Some(client),
                held: Vec::new(),
            }),
        })
    }

    /// Connects to a database that is set up.
    fn connect(&self) -> Result<Client, SharedLogError> {
        let mut client = self.client()?;
        match version(&mut client) {
            Ok(found) => self.check(found)?,
            Err(error) if is_missing(&error) => {
                return Err(SharedLogError::NotSetUp(self.name.clone()));
            }
            Err(error) => return Err(self.failed(error)),
        }
        Ok(client)
    }

    fn client(&self) -> Result<Client, SharedLogError> {
        let client = match self.config.get_ssl_mode() {
            SslMode::Disable => self.config.connect(NoTls),
            _ => self.config.connect(tls()),
        };
        let mut client = client.map_err(|error| self.failed(error))?;
        client
            .batch_execute(SESSION)
            .map_err(|error| self.failed(error))?;
        Ok(client)
    }

    fn check(&self, found: i32) -> Result<(), SharedLogError> {
        match found > VERSION {
            true => Err(SharedLogError::Newer {
                server: self.name.clone(),
                found,
                known: VERSION,
            }),
            false => Ok(()),
        }
    }

    fn failed(&self, error: Error) -> SharedLogError {
        let server = self.name.clone();
        if error.code().is_some_and(|code| code.code() == TAKEN) {
            return SharedLogError::TakenOver;
        }
        if is_untrusted(&error) {
            let source = Box::new(error);
            return SharedLogError::Untrusted { server, source };
        }
        // The library has only these words for it.
        let cause = error.source().map(ToString::to_string);
        if cause.as_deref() == Some("server does not support TLS") {
            return SharedLogError::Unencrypted(server);
        }
        match is_passing(&error) {
            true => SharedLogError::Away {
                server,
                source: Box::new(error),
            },
            false => SharedLogError::Refused {
                server,
                source: Box::new(error),
            },
        }
    }
}

/// The log of one repository on a server.
struct ServerLog {
    server: Server,
    repository: i32,
    /// The run that this process carries as a worker. Its fence takes the place of a held run, and of the membership in a
    /// tenant.
    carried: Option<CarriedRun>,
    connection: Mutex<Connection>,
}

struct Connection {
    /// `None` after the connection was lost.
    client: Option<Client>,
    /// The runs that this process holds.
    held: Vec<RunId>,
}

impl fmt::Debug for ServerLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "repository {} of {}", self.repository, self.server)
    }
}

impl Drop for ServerLog {
    fn drop(&mut self) {
        // A client cannot be dropped in a thread that runs futures.
        let client = self.connection().client.take();
        apart(|| drop(client));
    }
}

impl ServerLog {
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends requests. Connects again if the connection was lost; what was held with it is held no more.
    fn ask<T: Send>(
        &self,
        requests: impl FnOnce(&mut Client) -> Result<T, Error> + Send,
    ) -> Result<T, SharedLogError> {
        let mut connection = self.connection();
        let connection = &mut *connection;
        apart(|| {
            if connection.client.as_ref().is_none_or(Client::is_closed) {
                connection.client = None;
                let mut client = self.server.connect()?;
                for run in &connection.held {
                    if !self.take(&mut client, run)? {
                        return Err(SharedLogError::Taken(run.clone()));
                    }
                }
                connection.client = Some(client);
            }
            let client = connection.client.as_mut().expect("it was just connected");
            let answer = requests(client).map_err(|error| self.server.failed(error));
            if matches!(&answer, Err(SharedLogError::Away { .. })) {
                connection.client = None;
            }
            answer
        })
    }

    /// Waits a moment, because the server may not know yet that an earlier connection of this process ended.
    fn take(&self, client: &mut Client, run: &RunId) -> Result<bool, SharedLogError> {
        let sql = "SELECT pg_try_advisory_lock($1, hashtext($2))";
        let begun = Instant::now();
        loop {
            let taken = client.query_one(sql, &[&self.repository, &run.0]);
            let taken = taken.map_err(|error| self.server.failed(error))?;
            if taken.get(0) || begun.elapsed() >= ENDING {
                return Ok(taken.get(0));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Log for ServerLog {
    fn begin(&self) -> Result<bool, SharedLogError> {
        self.ask(|client| {
            client.batch_execute("BEGIN")?;
            let held = match &self.carried {
                Some(CarriedRun { run, fence }) => client.query_typed_one(
                    "SELECT glee.claim_hold($1, $2)",
                    &[(&run.0, Type::TEXT), (fence, Type::INT4)],
                ),
                None => client
                    .query_typed_one("SELECT glee.hold($1)", &[(&self.repository, Type::INT4)]),
            };
            if held.is_err() {
                // Without it, the connection would stay in a failed transaction.
                drop(client.batch_execute("ROLLBACK"));
            }
            held?.try_get(0)
        })
    }

    fn append(
        &self,
        newest: &Head,
        records: &[LogRecord],
        views: &SharedViews,
    ) -> Result<bool, SharedLogError> {
        fn column<'a, T>(records: &'a [LogRecord], of: impl Fn(&'a LogRecord) -> T) -> Vec<T> {
            records.iter().map(of).collect()
        }
        let Head { events, hash } = newest;
        let runs = column(records, |record| &record.run);
        let seqs = column(records, |record| record.seq);
        let ats = column(records, |record| &record.at);
        let bodies = column(records, |record| &record.body);
        let hashes = column(records, |record| &record.hash);
        let views = (*views != SharedViews::default()).then(|| json(views));
        let (function, log) = match &self.carried {
            Some(CarriedRun { run, fence }) => (
                "claim_append($9, $10, ",
                vec![(&run.0 as _, Type::TEXT), (fence as _, Type::INT4)],
            ),
            None => ("append($9, ", vec![(&self.repository as _, Type::INT4)]),
        };
        let sql = format!("SELECT glee.{function}$1, $2, $3, $4, $5, $6, $7, $8::text::jsonb)");
        let mut values: Vec<(&(dyn ToSql + Sync), Type)> = vec![
            (events, Type::INT8),
            (hash, Type::TEXT),
            (&runs, Type::TEXT_ARRAY),
            (&seqs, Type::INT8_ARRAY),
            (&ats, Type::TEXT_ARRAY),
            (&bodies, Type::TEXT_ARRAY),
            (&hashes, Type::TEXT_ARRAY),
            (&views, Type::TEXT),
        ];
        values.extend(log);
        // One message there and one back.
        self.ask(|client| client.query_typed_one(&sql, &values)?.try_get(0))
    }

    fn commit(&self) -> Result<(), SharedLogError> {
        self.ask(|client| client.batch_execute("COMMIT"))
    }

    fn release(&self) {
        let mut connection = self.connection();
        let client = connection.client.as_mut();
        // A connection that cannot roll back is lost, and the server does it.
        apart(|| client.map(|client| client.batch_execute("ROLLBACK")));
    }

    fn records(&self, first: i64, most: u32) -> Result<Vec<LogRecord>, SharedLogError> {
        let most = i64::from(most);
        self.ask(|client| {
            let rows = match &self.carried {
                Some(CarriedRun { run, fence }) => client.query_typed(
                    "SELECT id, run, seq, at, body, prev, hash FROM glee.claim_records($1, $2, $3, $4)",
                    &[(&run.0, Type::TEXT), (fence, Type::INT4), (&first, Type::INT8), (&most, Type::INT8)],
                )?,
                None => client.query_typed(
                    "SELECT id, run, seq, at, body, prev, hash FROM glee.event
                        WHERE repository = $1 AND id >= $2 ORDER BY id LIMIT $3",
                    &[(&self.repository, Type::INT4), (&first, Type::INT8), (&most, Type::INT8)],
                )?,
            };
            rows.iter().map(record).collect()
        })
    }

    fn carries(&self, run: &RunId) -> bool {
        let carried = self.carried.as_ref();
        carried.is_some_and(|carried| carried.run == *run)
    }

    fn hold(&self, run: &RunId) -> Result<bool, SharedLogError> {
        self.ask(|_| Ok(()))?;
        if self.carried.is_some() {
            return Ok(self.carries(run));
        }
        let mut connection = self.connection();
        let connection = &mut *connection;
        if connection.held.contains(run) {
            return Ok(true);
        }
        let client = connection.client.as_mut().expect("it answered just now");
        let taken = apart(|| self.take(client, run))?;
        if taken {
            connection.held.push(run.clone());
        }
        Ok(taken)
    }

    fn is_held(&self, run: &RunId) -> Result<bool, SharedLogError> {
        if self.carried.is_some() {
            return Ok(self.carries(run));
        }
        self.ask(|client| {
            let works =
                client.query_one("SELECT glee.works($1, $2)", &[&self.repository, &run.0])?;
            works.try_get(0)
        })
    }
}

/// Runs the client in a thread of its own, because it waits in a way that a thread that runs futures must not.
fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        scope
            .spawn(work)
            .join()
            .unwrap_or_else(|panic| resume_unwind(panic))
    })
}

fn tls() -> MakeRustlsConnect {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has the default versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    MakeRustlsConnect::new(config)
}

fn version(client: &mut Client) -> Result<i32, Error> {
    client
        .query_one("SELECT schema FROM glee.version", &[])?
        .try_get(0)
}

fn is_missing(error: &Error) -> bool {
    matches!(
        error.code(),
        Some(&(SqlState::UNDEFINED_TABLE | SqlState::INVALID_SCHEMA_NAME))
    )
}

/// The errors that caused an error, the nearest first.
fn causes(error: &Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(error.source(), |cause: &&_| (*cause).source())
}

fn is_untrusted(error: &Error) -> bool {
    let mut causes = causes(error).filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| {
        let cause = cause.get_ref().and_then(|cause| cause.downcast_ref());
        matches!(cause, Some(rustls::Error::InvalidCertificate(_)))
    })
}

/// Whether the server or the way to it is away. A certificate that does not hold, or a wrong password, stays so.
fn is_passing(error: &Error) -> bool {
    match error.code() {
        Some(code) => {
            code.code().starts_with("08")
                || [
                    SqlState::ADMIN_SHUTDOWN,
                    SqlState::CRASH_SHUTDOWN,
                    SqlState::CANNOT_CONNECT_NOW,
                    SqlState::TOO_MANY_CONNECTIONS,
                    SqlState::LOCK_NOT_AVAILABLE,
                    SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
                    SqlState::T_R_DEADLOCK_DETECTED,
                ]
                .contains(code)
        }
        None => {
            let io = causes(error).find_map(|cause| cause.downcast_ref::<io::Error>());
            io.map_or_else(
                || error.is_closed(),
                |io| io.kind() != io::ErrorKind::InvalidData,
            )
        }
    }
}

fn record(row: &Row) -> Result<LogRecord, Error> {
    Ok(LogRecord {
        id: row.try_get(0)?,
        run: row.try_get(1)?,
        seq: row.try_get(2)?,
        at: row.try_get(3)?,
        body: row.try_get(4)?,
        prev: row.try_get(5)?,
        hash: row.try_get(6)?,
    })
}

/// The address without what can be a user and a password.
fn without_password(address: &str) -> String {
    let rest = address.rsplit('@').next().unwrap_or_default();
    match address.contains('@') {
        true => format!("...@{rest}"),
        false => address.to_owned(),
    }
}
