//! The lists and sums over all repositories on a server: those of the repositories, put together.

mod load;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::server::{machine, server};
use crate::support::Sandbox;

const DEFECTS: [&str; 4] = [
    "import hashlib\nkey = hashlib.md5(b'')\n",
    "import yaml\nsettings = yaml.load(open('a'))\n",
    "import requests\nrequests.get('https://a', verify=False)\n",
    "def run(text):\n    return eval(text)\n",
];

/// A machine with a clone of the repository `name`.
fn machine_with(address: &str, name: &str) -> Sandbox {
    let machine = machine(address);
    // Another first commit makes it another repository.
    machine.git(&["checkout", "-q", "--orphan", name]);
    machine.git(&["add", "-A"]);
    machine.git(&["commit", "-q", "-m", name]);
    let remote = format!("https://git.example.org/{name}.git");
    machine.git(&["remote", "add", "origin", &remote]);
    machine
}

/// Random numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % bound
    }
}

/// Something that a person or a review does, which may be refused.
fn act(machine: &Sandbox, dice: &mut Dice) {
    let number = (1 + dice.below(4)).to_string();
    let finding = format!("F{number}");
    let by = ["--by", "bob", "--reason", "it is so"];
    match dice.below(7) {
        0..=2 => {
            let defects: Vec<&str> = (0..=dice.below(3))
                .map(|_| DEFECTS[dice.below(4)])
                .collect();
            machine.write("app.py", defects.concat());
            machine.glee(&["review", "--no-input"]);
        }
        3 | 4 => {
            let kind = ["refuted", "accepted-risk", "not-mandatory"][dice.below(3)];
            machine.glee(&[&["dismiss", &finding, "--as", kind][..], &by].concat());
        }
        5 => {
            machine.glee(&["disputes", "reopen", &number, "--reason", "look again"]);
        }
        _ => {
            let word = ["enforce", "dismiss"][dice.below(2)];
            machine.glee(&[&["disputes", "resolve", &number, word][..], &by].concat());
        }
    };
}

fn asked(machine: &Sandbox, args: &[&str]) -> Value {
    let args = [args, &["--json"]].concat();
    let output = machine.command(&args).output().expect("the binary runs");
    assert!(output.status.success(), "{args:?}: {output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// All counts in a form, by their paths. Shares are not counts, but their parts are.
fn counts(form: &Value, path: &str, found: &mut BTreeMap<String, u64>) {
    match form {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(name, _)| *name != "schema");
            fields.for_each(|(name, value)| counts(value, &format!("{path}/{name}"), found));
        }
        Value::Array(items) => items.iter().for_each(|item| {
            let name = item
                .get("name")
                .or(item.get("between"))
                .unwrap_or(&Value::Null);
            counts(item, &format!("{path}/{name}"), found);
        }),
        form => {
            if let Some(count) = form.as_u64().filter(|count| *count > 0) {
                *found.entry(path.to_owned()).or_default() += count;
            }
        }
    }
}

/// The disputes of one repository on a machine, as the list of all repositories shows them.
fn disputes(machine: &Sandbox, name: &str, filter: &[&str]) -> Vec<Value> {
    let listed = asked(
        machine,
        &[&["disputes", "--recent", "1000"], filter].concat(),
    );
    let rows = listed["disputes"].as_array().expect("a list").iter();
    rows.map(|row| {
        let mut row = row.clone();
        row["repository"] = json!(format!("git.example.org/{name}"));
        row
    })
    .collect()
}

/// In the order of texts, because disputes that were opened at the same time are in any order.
fn sorted(mut rows: Vec<Value>) -> Vec<String> {
    let mut texts: Vec<String> = rows
        .iter_mut()
        .map(|row| {
            row.sort_all_objects();
            row.to_string()
        })
        .collect();
    texts.sort();
    texts
}

const STATISTICS: [&[&str]; 14] = [
    &[],
    &["--by", "reviewer"],
    &["--by", "judge"],
    &["--by", "model"],
    &["--by", "category"],
    &["--by", "cwe"],
    &["--by", "day"],
    &["--by", "week"],
    &["--by", "month"],
    &["--by", "agent"],
    &["--by", "role"],
    &["--by", "day", "--since", "1d"],
    &["--since", "3d"],
    &["--since", "2026-01-01"],
];

/// Compares the lists and sums of `viewer` with those of the repositories. Returns the number of disputes.
fn compare(viewer: &Sandbox, repositories: &[(&str, &Sandbox)]) -> usize {
    let filters: [&[&str]; 6] = [
        &[],
        &["--open"],
        &["--ruling", "refuted"],
        &["--ruling", "dismiss"],
        &["--reviewer", "rules"],
        &["--since", "1h"],
    ];
    let mut all = 0;
    for filter in filters {
        let single = repositories.iter();
        let single = single.flat_map(|(name, machine)| disputes(machine, name, filter));
        let single: Vec<Value> = single.collect();
        let listed = asked(
            viewer,
            &[&["disputes", "--all", "--recent", "1000"], filter].concat(),
        );
        let listed = listed["disputes"].as_array().expect("a list").clone();
        let opened: Vec<&str> = listed
            .iter()
            .map(|row| row["opened_at"].as_str().expect("a time"))
            .collect();
        assert!(opened.is_sorted_by(|one, next| one >= next), "{opened:?}");
        all = all.max(listed.len());
        assert_eq!(sorted(listed), sorted(single), "{filter:?}");
    }
    for options in STATISTICS {
        let mut single = BTreeMap::new();
        for (_, machine) in repositories {
            counts(
                &asked(machine, &[&["stats"], options].concat()),
                "",
                &mut single,
            );
        }
        let mut listed = BTreeMap::new();
        counts(
            &asked(viewer, &[&["stats", "--all"], options].concat()),
            "",
            &mut listed,
        );
        assert_eq!(listed, single, "{options:?}");
        assert!(
            options.is_empty() || options[1] == "judge" || !single.is_empty(),
            "{options:?}"
        );
    }
    all
}

#[test]
fn lists_of_all_repositories_are_those_of_each() {
    let Some((postgres, address)) = server() else {
        return;
    };
    let names = ["alpha", "beta", "gamma"];
    let machines = names.map(|name| [machine_with(&address, name), machine_with(&address, name)]);
    let mut dice = Dice(49);
    for _ in 0..40 {
        let repository = &machines[dice.below(3)];
        act(&repository[dice.below(2)], &mut dice);
    }
    let repositories: Vec<(&str, &Sandbox)> = names
        .into_iter()
        .zip(machines.iter().map(|machines| &machines[0]))
        .collect();
    // Outside of a repository, the lists are the same.
    let viewer = viewer(&postgres.address("postgres", "glee"));
    let disputes = compare(&viewer, &repositories);
    assert!(disputes >= 5, "only {disputes} disputes were opened");

    let table = viewer.glee(&["disputes", "--all", "--recent", "2"]);
    assert!(table.stdout.starts_with("REPOSITORY"), "{table}");
    assert_eq!(table.stdout.lines().count(), 3, "{table}");
    assert!(
        table.stderr.contains("glee disputes --all --recent 10"),
        "{table}"
    );

    // Rows that somebody altered are replaced, once the operator says so.
    postgres.sql(
        "glee",
        "UPDATE glee.tally SET counts = '{1000000}'; UPDATE glee.month SET counts = '{1000000}'; UPDATE glee.dispute SET open = NOT open",
    );
    let made = viewer.glee(&["server", "init"]);
    assert_eq!(made.code, 0, "{made}");
    for (_, machine) in &repositories {
        machine.write("app.py", DEFECTS.concat());
        assert_eq!(machine.glee(&["review", "--no-input"]).code, 1);
    }
    compare(&viewer, &repositories);
}

/// A machine without a repository.
fn viewer(address: &str) -> Sandbox {
    let mut viewer = Sandbox::new();
    viewer.env("GLEE_SERVER", address);
    viewer
}

#[test]
fn lists_of_all_repositories_need_a_server() {
    let machine = Sandbox::new();
    for command in ["disputes", "stats"] {
        let refused = machine.glee(&[command, "--all"]);
        if std::env::var_os("GLEE_TEST_SERVER").is_none() {
            assert_eq!(refused.code, 2, "{refused}");
            assert!(
                refused.stderr.contains("no server is configured"),
                "{refused}"
            );
        }
    }
}

/// What is empty is said.
#[test]
fn an_empty_server_has_empty_lists() {
    let Some((_postgres, address)) = server() else {
        return;
    };
    let viewer = viewer(&address);
    assert_eq!(
        viewer.glee(&["disputes", "--all"]).stdout,
        "No dispute matches.\n"
    );
    let statistics = viewer.glee(&["stats", "--all"]);
    assert_eq!(statistics.code, 0, "{statistics}");
    assert_eq!(
        asked(&viewer, &["disputes", "--all"]),
        json!({ "schema": 1, "disputes": [] })
    );
}

#[test]
fn a_removed_repository_begins_anew() {
    let Some((postgres, address)) = server() else {
        return;
    };
    let [old, kept] = ["old", "kept"].map(|name| machine_with(&address, name));
    for machine in [&old, &kept] {
        machine.write("app.py", DEFECTS[0]);
        assert_eq!(machine.glee(&["review", "--no-input"]).code, 1);
        let dismissed = machine.glee(&["dismiss", "F1", "--by", "bob", "--reason", "no"]);
        assert_eq!(dismissed.code, 0, "{dismissed}");
    }
    let delete = "DELETE FROM glee.repository WHERE title = 'git.example.org/old'";
    postgres.sql("glee", delete);
    assert_eq!(disputes(&old, "old", &[]), Vec::<Value>::new());
    let left = asked(&viewer(&address), &["disputes", "--all"]);
    assert_eq!(left["disputes"].as_array().map(Vec::len), Some(1), "{left}");
    assert_eq!(disputes(&kept, "kept", &[]).len(), 1);
    // The machine has an old copy, which it forgets.
    assert_eq!(old.glee(&["review", "--no-input"]).code, 1);
    let found = asked(&old, &["findings"]);
    assert_eq!(found["findings"][0]["id"], "F1", "{found}");
    compare(&viewer(&address), &[("old", &old), ("kept", &kept)]);
}
