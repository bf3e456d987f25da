//! What the roles of a server cannot do by SQL: read, write, or take over what is not theirs.

use crate::postgres::Postgres;
use crate::server::{EVIL, machine, server};
use crate::support::Sandbox;

/// `ann` writes for acme, `eve` reads there, `ben` writes for beta, `nix` is nobody.
const ROLES: &str = "CREATE ROLE ann LOGIN; GRANT glee_writer, acme TO ann; CREATE ROLE ben LOGIN; GRANT glee_writer, beta TO ben;
    CREATE ROLE eve LOGIN; GRANT glee_reader, acme TO eve; CREATE ROLE nix LOGIN";

const TABLES: [&str; 9] = [
    "event",
    "run",
    "dispute",
    "tally",
    "month",
    "repository",
    "name",
    "tenant",
    "version",
];

/// The newest event of the first repository, as `glee.append` takes it.
const NEWEST: &str = "(SELECT events FROM glee.repository WHERE id = 1), (SELECT hash FROM glee.repository WHERE id = 1)";

/// A server with a repository of acme (1) and one of beta (2), each with a run and a settled dispute.
fn scene() -> Option<Postgres> {
    let (postgres, address) = server()?;
    let made = Sandbox::new().glee(&["server", "init", &address, "--tenants", "acme,beta"]);
    assert_eq!(made.code, 0, "{made}");
    postgres.sql("glee", ROLES);
    for role in ["ann", "ben"] {
        let machine = machine(&postgres.address(role, "glee"));
        machine.write("app.py", EVIL);
        assert_eq!(machine.glee(&["review", "--no-input"]).code, 1);
        let dismissed = machine.glee(&["dismiss", "F1", "--by", role, "--reason", "a cache key"]);
        assert_eq!(dismissed.code, 0, "{dismissed}");
    }
    let owners = "SELECT string_agg(tenant || id, ',' ORDER BY id) FROM glee.repository";
    assert_eq!(postgres.sql("glee", owners), "acme1,beta2");
    postgres.sql("glee", "ANALYZE");
    Some(postgres)
}

/// All that the tables hold.
fn state(postgres: &Postgres) -> Vec<String> {
    let content = |table| {
        let sql =
            format!("SELECT md5(string_agg(t::text, ',' ORDER BY t::text)) FROM glee.{table} t");
        postgres.sql("glee", &sql)
    };
    TABLES.map(content).to_vec()
}

#[test]
fn no_role_does_what_is_not_its_own() {
    let Some(postgres) = scene() else {
        return;
    };
    let before = state(&postgres);
    let refused = |role: &str, sql: &str, why: &str| {
        let answer = postgres.sql_as(role, "glee", sql);
        let error = answer.expect_err(&format!("{role} may: {sql}"));
        assert!(error.contains(why), "{role}: {sql}: {error}");
    };
    for role in ["ann", "eve", "nix"] {
        for table in TABLES {
            let denied = match role {
                "nix" => "permission denied for schema glee",
                _ => "permission denied for table",
            };
            for sql in [
                format!("INSERT INTO glee.{table} DEFAULT VALUES"),
                format!("DELETE FROM glee.{table}"),
                format!("TRUNCATE glee.{table} CASCADE"),
                format!("COPY glee.{table} FROM '/dev/null'"),
                format!("BEGIN; LOCK TABLE glee.{table} IN ACCESS EXCLUSIVE MODE"),
            ] {
                let why = if sql.starts_with("COPY") { "" } else { denied };
                refused(role, &sql, why);
            }
            refused(
                role,
                &format!("ALTER TABLE glee.{table} DISABLE ROW LEVEL SECURITY"),
                if role == "nix" {
                    denied
                } else {
                    "must be owner"
                },
            );
        }
    }
    let append = |repository: u8, base: &str, runs: &str, seqs: &str| {
        format!(
            "SELECT glee.append({repository}, {base}, {runs}, {seqs}, '{{now}}', '{{\"{{}}\"}}', '{{h}}', NULL)"
        )
    };
    let of_beta = &append(2, "11, 'h'", "'{x}'", "'{1}'");
    let attacks = [
        // Changes of what is one's own.
        (
            "ann",
            "UPDATE glee.event SET body = '{}'",
            "permission denied for table",
        ),
        (
            "ann",
            "UPDATE glee.repository SET events = 0",
            "permission denied for table",
        ),
        (
            "ann",
            "UPDATE glee.dispute SET open = true",
            "permission denied for table",
        ),
        (
            "ann",
            &append(1, NEWEST, "'{x}'", "'{7}'"),
            "run x has no event 6",
        ),
        (
            "ann",
            &append(1, NEWEST, "(SELECT array_agg(id) FROM glee.run)", "'{1}'"),
            "duplicate key",
        ),
        (
            "ann",
            &append(1, NEWEST, "NULL", "NULL"),
            "violates not-null constraint",
        ),
        // Across tenants.
        ("ben", "SELECT glee.hold(1)", "there is no repository 1"),
        ("ann", "SELECT glee.hold(2)", "there is no repository 2"),
        ("ann", of_beta, "there is no repository 2"),
        ("ann", "SET ROLE beta", "permission denied to set role"),
        ("ann", "SET ROLE ben", "permission denied to set role"),
        ("ann", "GRANT acme TO ben", "must have admin option"),
        (
            "nix",
            "SELECT glee.open(NULL, '{x}', 'x', true)",
            "permission denied for schema glee",
        ),
        // A reader.
        (
            "eve",
            "SELECT glee.hold(1)",
            "permission denied for function hold",
        ),
        (
            "eve",
            &append(1, NEWEST, "'{x}'", "'{1}'"),
            "permission denied for function append",
        ),
        (
            "eve",
            "SELECT glee.open(NULL, '{x}', 'x', true)",
            "may not write",
        ),
        (
            "eve",
            "SET ROLE glee_writer",
            "permission denied to set role",
        ),
        ("eve", "GRANT glee_writer TO eve", "must have admin option"),
        (
            "eve",
            "SELECT * FROM glee.tenant",
            "permission denied for table tenant",
        ),
        (
            "eve",
            "COPY glee.tenant TO STDOUT",
            "permission denied for table tenant",
        ),
        // More than a role.
        ("ann", "SET ROLE postgres", "permission denied to set role"),
        (
            "ann",
            "SET SESSION AUTHORIZATION ben",
            "permission denied to set session authorization",
        ),
        ("ann", "ALTER ROLE ann SUPERUSER", "must be superuser"),
        (
            "ann",
            "CREATE ROLE mallory",
            "permission denied to create role",
        ),
        (
            "ann",
            "CREATE FUNCTION glee.sees(text) RETURNS bool LANGUAGE sql AS 'SELECT true'",
            "permission denied for schema glee",
        ),
        (
            "ann",
            "CREATE TABLE glee.mine ()",
            "permission denied for schema glee",
        ),
        (
            "ann",
            "CREATE TRIGGER t AFTER INSERT ON glee.event EXECUTE FUNCTION suppress_redundant_updates_trigger()",
            "permission denied for table",
        ),
        (
            "ann",
            "CREATE RULE r AS ON INSERT TO glee.event DO INSTEAD NOTHING",
            "must be owner",
        ),
        ("ann", "DROP SCHEMA glee CASCADE", "must be owner"),
        (
            "ann",
            "SET row_security = off; SELECT * FROM glee.event",
            "would be affected by row-level security",
        ),
        (
            "ann",
            "COPY glee.event TO PROGRAM 'cat'",
            "pg_execute_server_program",
        ),
        (
            "ann",
            "SELECT pg_read_file('PG_VERSION')",
            "permission denied for function",
        ),
        (
            "ann",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'postgres'",
            "must be a superuser",
        ),
    ];
    for (role, sql, why) in attacks {
        refused(role, sql, why);
    }
    // What does not follow the newest event, and what comes while another process holds the log, is not appended.
    for newest in ["0, ''", "11, 'h'"] {
        let behind = append(1, newest, "'{x}'", "'{1}'");
        assert_eq!(postgres.sql_as("ann", "glee", &behind), Ok("f".to_owned()));
    }
    let holds = "BEGIN; SELECT glee.hold(1); SELECT pg_sleep(60)";
    let mut holder = postgres.psql("ann", "glee").args(["-c", holds]).spawn();
    let sleeping = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    while postgres.sql("glee", sleeping) == "0" {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let held = append(1, NEWEST, "'{x}'", "'{1}'");
    assert_eq!(postgres.sql_as("ann", "glee", &held), Ok("f".to_owned()));
    holder
        .as_mut()
        .expect("psql starts")
        .kill()
        .expect("it runs");
    assert_eq!(state(&postgres), before);
}

#[test]
fn no_role_reads_what_is_not_its_own() {
    let Some(postgres) = scene() else {
        return;
    };
    // As in databases of version 14, where everybody creates functions in the schema `public`.
    postgres.sql("glee", "GRANT CREATE ON SCHEMA public TO PUBLIC");
    let tables = [
        "event",
        "run",
        "dispute",
        "tally",
        "month",
        "repository",
        "name",
    ];
    let repository = |table| {
        if table == "repository" {
            "id"
        } else {
            "repository"
        }
    };
    let tricks = [
        "",
        "SET search_path = pg_temp, glee, pg_catalog;",
        // A function in place of the one that says who is a member.
        "CREATE OR REPLACE FUNCTION public.pg_has_role(name, name, text) RETURNS bool LANGUAGE sql AS 'SELECT true';
         SET search_path = public, pg_catalog;",
        "SET ROLE acme; RESET ROLE;",
        "SET ROLE glee_reader;",
    ];
    for trick in tricks {
        for table in tables {
            let sql = format!(
                "{trick} SELECT DISTINCT {} FROM glee.{table}",
                repository(table)
            );
            assert_eq!(
                postgres.sql_as("ann", "glee", &sql),
                Ok("1".to_owned()),
                "{sql}"
            );
        }
    }
    // A function of a member that is asked before the policy would tell each row that it is asked about.
    let leak = "CREATE FUNCTION pg_temp.leak(int) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS
        $$ BEGIN RAISE EXCEPTION 'repository %', $1; END $$;
        SELECT count(*) FROM glee.event WHERE repository <> 1 AND pg_temp.leak(repository)";
    assert_eq!(postgres.sql_as("ann", "glee", leak), Ok("0".to_owned()));
    let samples = "SELECT count(*) FROM pg_stats WHERE schemaname = 'glee'
        AND tablename IN ('event', 'run', 'dispute', 'tally', 'month', 'repository', 'name')";
    assert_eq!(postgres.sql_as("ann", "glee", samples), Ok("0".to_owned()));
    // The names of a repository of another tenant find nothing.
    let names = postgres.sql(
        "glee",
        "SELECT array_agg(name) FROM glee.name WHERE repository = 1",
    );
    let find = format!("SELECT coalesce(glee.open(NULL, '{names}', 'x', false), 0)");
    assert_eq!(postgres.sql_as("ann", "glee", &find), Ok("1".to_owned()));
    postgres.sql("glee", "DELETE FROM glee.name WHERE repository = 2");
    assert_eq!(postgres.sql_as("ben", "glee", &find), Ok("0".to_owned()));
    assert_eq!(
        postgres
            .sql_as("nix", "glee", "SELECT count(*) FROM glee.event")
            .map_err(|error| error.contains("permission denied for schema glee")),
        Err(true)
    );
}

/// What one may do bears one's name, and stays with one's tenant.
#[test]
fn what_a_role_appends_bears_its_name() {
    let Some(postgres) = scene() else {
        return;
    };
    postgres.sql("glee", "GRANT CREATE ON SCHEMA public TO PUBLIC");
    let append = r#"CREATE TEMP TABLE event (LIKE glee.event);
         CREATE FUNCTION public.cardinality(text[]) RETURNS int LANGUAGE sql AS 'SELECT 0';
         SET search_path = pg_temp, public, pg_catalog; SET ROLE glee_writer;
         SELECT glee.append(1, NEWEST, '{x}', '{1}', '{now}', '{"{}"}', '{h}',
             '{"all": true, "repository": 2, "runs": [],
                "disputes": [{"repository": 2, "number": 9, "opened": "2026-01-01T00:00:00Z", "open": true, "raisers": [], "body": ""}],
                "tallies": [{"repository": 2, "kind": "all", "name": [""], "day": "2026-01-01", "counts": [1]}], "months": []}')"#;
    let others = "SELECT md5(string_agg(t::text, '' ORDER BY t::text)) FROM glee.tally t WHERE repository = 2";
    let before = postgres.sql("glee", others);
    let append = append.replace("NEWEST", NEWEST);
    assert_eq!(postgres.sql_as("ann", "glee", &append), Ok("t".to_owned()));
    let newest = "SELECT repository, by FROM glee.event WHERE run = 'x'";
    assert_eq!(postgres.sql("glee", newest), "1|ann");
    let disputes =
        "SELECT string_agg(repository || ':' || number, ' ' ORDER BY 1) FROM glee.dispute d";
    let disputes = disputes.replace("ORDER BY 1", "ORDER BY repository");
    assert_eq!(postgres.sql("glee", &disputes), "1:9 2:1");
    assert_eq!(postgres.sql("glee", others), before);
    // A row that no machine wrote is not shown, and stops nobody.
    let listed = machine(&postgres.address("eve", "glee")).glee(&["disputes", "--all"]);
    assert_eq!(
        (listed.code, listed.stdout.as_str()),
        (0, "No dispute matches.\n"),
        "{listed}"
    );
}
