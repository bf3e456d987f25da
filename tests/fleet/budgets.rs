//! Budgets of tenants: what the runs of a month cost, and which run begins no more.

use std::fs;

use crate::fleet::DATABASE;
use crate::postgres::Postgres;
use crate::queue::{SUBMIT, id, machine, submitter};
use crate::support::Sandbox;

/// Finds nothing for 0.25 USD.
const ADA: &str = r#"#!/bin/sh
case "$*" in
*--version*) echo '9.9.9'; exit ;;
*--help*) echo '--setting-sources --strict-mcp-config --tools --permission-mode --model --effort'; exit ;;
esac
cat > /dev/null
end="GLEE-REVIEW-END nonce=$GLEE_NONCE findings=0"
echo '{"type":"system","subtype":"init","session_id":"s","model":"opus"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"'"$end"'","total_cost_usd":0.25,"usage":{"input_tokens":9,"output_tokens":9}}'
"#;

fn worker(postgres: &Postgres) -> Sandbox {
    let worker = machine(postgres, "wim");
    worker.program("claude", ADA);
    let config = worker.user_config();
    fs::create_dir_all(config.parent().expect("a folder")).expect("a folder");
    let agents = "agents:\n  - {name: ada, command: claude, role: reviewer}\n";
    fs::write(config, format!("version: 1\n{agents}")).expect("a file");
    worker
}

#[test]
fn no_run_begins_after_the_budget_of_the_month() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    postgres.sql("postgres", "CREATE DATABASE glee");
    let owner = machine(&postgres, "postgres");
    let address = postgres.address("postgres", DATABASE);
    let made = owner.glee(&["server", "init", &address, "--tenants", "acme,beta"]);
    assert_eq!(made.code, 0, "{made}");
    postgres.sql(
        DATABASE,
        "CREATE ROLE wim LOGIN IN ROLE glee_worker; CREATE ROLE sue LOGIN IN ROLE glee_submitter, acme;
         CREATE ROLE bea LOGIN IN ROLE glee_submitter, beta",
    );
    let wrong = owner.glee(&["server", "budget", "acne", "1"]);
    assert_eq!(wrong.code, 2, "{wrong}");
    assert!(
        wrong.stderr.contains("there is no tenant `acne`"),
        "{wrong}"
    );
    let set = |usd: &str| {
        let set = owner.glee(&["server", "budget", "acme", usd]);
        assert_eq!(set.code, 0, "{set}");
    };
    set("0.4");
    let sue = submitter(postgres.address("sue", DATABASE));
    let bea = submitter(postgres.address("bea", DATABASE));
    let worker = worker(&postgres);
    let work = || assert_eq!(worker.glee(&["worker", "--once"]).code, 0);
    let exits = || {
        let sql = "SELECT coalesce(exit, -1) FROM glee.submission ORDER BY n";
        postgres.sql(DATABASE, sql).replace('\n', " ")
    };

    // Two runs are within the budget, and the third one, which was in the queue with them, is not.
    let runs = [0; 3].map(|_| id(&sue.glee(&SUBMIT)));
    for _ in 0..3 {
        work();
    }
    let ends = exits();
    assert!(ends.ends_with(" 75") && !ends[..3].contains("75"), "{ends}");
    let month = jiff::Timestamp::now().strftime("%Y-%m").to_string();
    let why =
        format!("the tenant acme has spent 0.50 USD in {month}, and may spend 0.4 USD a month");
    let waited = sue.glee(&["runs", "wait", &runs[2]]);
    assert_eq!(waited.code, 75, "{waited}");
    assert!(waited.stderr.contains(&why), "{waited}");
    // One that is submitted now ends at once. The other tenant is not concerned.
    let late = sue.glee(&[&SUBMIT[..], &["--wait"]].concat());
    assert_eq!(late.code, 75, "{late}");
    let listed = sue.glee(&["runs", "--all"]).stdout;
    let flat = listed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        flat.matches("over budget: the tenant").count(),
        2,
        "{listed}"
    );
    bea.glee(&SUBMIT);
    work();
    assert!(!exits().ends_with("75"), "{}", exits());

    // A higher budget, and a month that is over, let runs begin.
    set("0.6");
    sue.glee(&SUBMIT);
    work();
    assert!(!exits().ends_with("75"), "{}", exits());
    sue.glee(&SUBMIT);
    assert!(exits().ends_with("75"), "{}", exits());
    let back =
        "UPDATE glee.tally SET day = date_trunc('month', now() AT TIME ZONE 'UTC')::date - 1";
    postgres.sql(DATABASE, back);
    sue.glee(&SUBMIT);
    work();
    assert!(!exits().ends_with("75"), "{}", exits());
    let refused = machine(&postgres, "sue").glee(&["server", "budget", "acme", "off"]);
    assert_eq!(refused.code, 7, "{refused}");
}
