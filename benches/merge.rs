//! How well and how fast findings of several reviewers are merged.
//!
//! Well: on reviews with ground truth (`benches/data`, or another file of that form named by `GLEE_MERGE_DATA`), panels of
//! three reviewers, one setting for all of them; the figures are printed and must not fall below what is asserted here.
//! Fast: up to 100,000 findings, beside the bare reading and writing of the same JSON.

use std::collections::{BTreeSet, HashMap};
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

use criterion::{Criterion, criterion_group, criterion_main};
use glee_model::domain::Class;
use glee_model::rules::consensus::{Answers, Consensus, Debate, Member, Policy, merge};
use glee_protocol::merge_input;
use serde_json::{Value, json};

const GLEE: &str = env!("CARGO_BIN_EXE_glee");

/// The pull requests, one a line.
fn data() -> String {
    let own = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/benches/data/merge_train.jsonl"
    );
    fs::read_to_string(env::var("GLEE_MERGE_DATA").unwrap_or_else(|_| own.to_owned()))
        .expect("a file of reviews")
}

/// One version of each vendor's tool that reviewed all pull requests.
const VENDORS: &str = "augment baz bugbot claude-code codeant coderabbit copilot cubic-v2 devin entelligence gemini \
                       graphite greptile-v4 kg kodus-v2 macroscope mesa mra-a propel qodo-v22 sourcery";

/// A run: its findings, and for each the golden ids it matches and whether experts call it valid.
struct Run {
    members: Vec<Member>,
    truth: Vec<(BTreeSet<String>, bool)>,
}

impl Run {
    /// The findings of some tools; `#` ends the name of the model in one of the data sets.
    fn of(record: &Value, tools: &[&str]) -> Self {
        let (mut findings, mut truth) = (Vec::new(), Vec::new());
        for tool in tools {
            for finding in record["tools"][*tool].as_array().into_iter().flatten() {
                findings.push(json!({
                    "model": tool.split('#').next(), "file": finding["file"], "line": finding["line"],
                    "end_line": finding["end_line"], "severity": finding["severity"],
                    "confidence": finding["confidence"], "category": finding["category"], "title": finding["title"],
                    "description": finding["text"],
                }));
                let golden = finding["matched_goldens"].as_array().into_iter().flatten();
                let golden = golden
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect();
                truth.push((golden, finding["label"] == "tp"));
            }
        }
        let text = json!({ "findings": findings }).to_string();
        Self {
            members: merge_input::read(&text)
                .expect("the data has the form")
                .members,
            truth,
        }
    }

    fn merged(&self) -> Consensus {
        merge(
            &self.members,
            &Debate::default(),
            &[],
            Policy::Panel,
            &Answers::default(),
        )
    }
}

/// The groups of an answer, by the indices of their members.
fn groups(consensus: &Consensus) -> impl Iterator<Item = (Class, Vec<usize>)> {
    consensus.groups.iter().map(|group| {
        (
            group.class,
            group
                .members
                .iter()
                .chain(&group.repeats)
                .copied()
                .collect(),
        )
    })
}

fn records(dataset: &str) -> Vec<Value> {
    let data = data();
    let all = data
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a record a line"));
    all.filter(|record| record["dataset"] == dataset).collect()
}

fn tools(record: &Value) -> Vec<&str> {
    record["tools"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect()
}

/// Panels of three out of `count`, spread evenly.
fn panels(count: usize) -> Vec<[usize; 3]> {
    let steps = [(1, 3), (2, 7), (4, 9), (5, 11)];
    let all = (0..count)
        .flat_map(|first| steps.map(|(a, b)| [first, (first + a) % count, (first + b) % count]));
    all.filter(|panel| panel.iter().collect::<BTreeSet<_>>().len() == 3)
        .collect()
}

fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").expect("a standard error");
}

/// The average of the vendors, and the one with the best F1.
fn alone() -> [Row; 2] {
    let records = records("martian40");
    let total: usize = records
        .iter()
        .map(|record| record["golden"].as_array().map_or(0, Vec::len))
        .sum();
    let row = |vendor: &str| {
        let (mut items, mut right, mut found) = (0_usize, 0_usize, 0_usize);
        for record in &records {
            let mut seen = BTreeSet::new();
            for (goldens, _) in Run::of(record, &[vendor]).truth {
                let before = seen.len();
                seen.extend(goldens);
                items += 1;
                right += usize::from(seen.len() > before);
            }
            found += seen.len();
        }
        let (precision, recall) = (right as f64 / items as f64, found as f64 / total as f64);
        [
            precision,
            recall,
            2.0 * precision * recall / (precision + recall),
        ]
    };
    let rows: Vec<[f64; 3]> = VENDORS.split_whitespace().map(row).collect();
    let average =
        |figure: usize| rows.iter().map(|row| row[figure]).sum::<f64>() / rows.len() as f64;
    let best = rows
        .iter()
        .copied()
        .max_by(|a, b| a[2].total_cmp(&b[2]))
        .expect("a vendor");
    [
        ("one alone", average(0), average(1), average(2)),
        ("the best alone", best[0], best[1], best[2]),
    ]
}

/// A way to keep groups, and its precision, recall and F1 against the golden comments.
type Row = (&'static str, f64, f64, f64);

/// What is kept of all panels of three vendors: what is accepted, everything that is not rejected, and what judges of
/// three accuracies would leave of that. Duplicates count against a row; the figures are averages over the panels.
fn kept() -> Vec<Row> {
    let records = records("martian40");
    let vendors: Vec<&str> = VENDORS.split_whitespace().collect();
    let total: usize = records
        .iter()
        .map(|record| record["golden"].as_array().map_or(0, Vec::len))
        .sum();
    let names = [
        "accepted",
        "everything kept",
        "judge 1.0",
        "judge 0.9",
        "judge 0.8",
    ];
    let mut sums = [[0.0; 3]; 5];
    let (mut panels, mut coin) = (0, Chance(11));
    for first in 0..vendors.len() {
        for second in first + 1..vendors.len() {
            for third in second + 1..vendors.len() {
                panels += 1;
                let panel = [first, second, third].map(|index| vendors[index]);
                // Items, those that bring something new, and what they bring.
                let mut counts = [[0_usize; 3]; 5];
                for record in &records {
                    let run = Run::of(record, &panel);
                    let mut seen: [BTreeSet<&String>; 5] = Default::default();
                    for (class, members) in
                        groups(&run.merged()).filter(|(class, _)| *class != Class::Rejected)
                    {
                        let goldens: BTreeSet<&String> = members
                            .iter()
                            .flat_map(|member| &run.truth[*member].0)
                            .collect();
                        let mut believes = |share| goldens.is_empty() != (coin.next() < share);
                        let keeps = [
                            class == Class::Accepted,
                            true,
                            believes(1.0),
                            believes(0.9),
                            believes(0.8),
                        ];
                        for (row, _) in keeps.into_iter().enumerate().filter(|(_, keeps)| *keeps) {
                            let before = seen[row].len();
                            seen[row].extend(&goldens);
                            counts[row][0] += 1;
                            counts[row][1] += usize::from(seen[row].len() > before);
                        }
                    }
                    for (row, seen) in seen.iter().enumerate() {
                        counts[row][2] += seen.len();
                    }
                }
                for (sum, [items, right, found]) in sums.iter_mut().zip(counts) {
                    let (precision, recall) = (
                        right as f64 / items.max(1) as f64,
                        found as f64 / total as f64,
                    );
                    let f1 = 2.0 * precision * recall / (precision + recall).max(f64::MIN_POSITIVE);
                    *sum = [sum[0] + precision, sum[1] + recall, sum[2] + f1];
                }
            }
        }
    }
    let row = |(name, [precision, recall, f1]): (&'static str, [f64; 3])| {
        let panels = f64::from(panels);
        (name, precision / panels, recall / panels, f1 / panels)
    };
    names.into_iter().zip(sums).map(row).collect()
}

/// Numbers that look drawn and are the same in every run, each in 0 to 1.
struct Chance(u32);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(self.0 >> 8) / f64::from(1 << 24)
    }
}

/// Precision and recall of pairs of reviewers' findings that are the same bug.
fn pairs() -> (f64, f64) {
    let (mut together_same, mut together, mut same) = (0_u32, 0_u32, 0_u32);
    for record in records("llmrb") {
        let tools = tools(&record);
        for panel in panels(tools.len()) {
            let names = panel.map(|index| tools[index]);
            if names
                .map(|name| name.split('#').next())
                .iter()
                .collect::<BTreeSet<_>>()
                .len()
                < 3
            {
                continue;
            }
            let run = Run::of(&record, &names);
            let mut group_of: HashMap<usize, usize> = HashMap::new();
            for (number, (_, members)) in groups(&run.merged()).enumerate() {
                group_of.extend(members.into_iter().map(|member| (member, number)));
            }
            let known: Vec<usize> = (0..run.members.len())
                .filter(|index| !run.truth[*index].0.is_empty())
                .collect();
            for (at, a) in known.iter().enumerate() {
                for b in known[at + 1..]
                    .iter()
                    .filter(|b| run.members[*a].model != run.members[**b].model)
                {
                    let is_same = !run.truth[*a].0.is_disjoint(&run.truth[*b].0);
                    let is_together = group_of[a] == group_of[b];
                    same += u32::from(is_same);
                    together += u32::from(is_together);
                    together_same += u32::from(is_same && is_together);
                }
            }
        }
    }
    (
        f64::from(together_same) / f64::from(together),
        f64::from(together_same) / f64::from(same),
    )
}

fn quality(_: &mut Criterion) {
    let (rows, (precision, recall)) = (kept(), pairs());
    for (name, precision, recall, f1) in alone().iter().chain(&rows) {
        say(&format!(
            "{name:16} P {precision:.3}  R {recall:.3}  F1 {f1:.3}"
        ));
    }
    say(&format!("pairs P {precision:.3} R {recall:.3}"));
    let f1 = |row: usize| rows[row].3;
    assert!(
        f1(0) >= 0.49 && rows[1].2 >= 0.68 && f1(2) >= 0.77 && f1(3) >= 0.645 && f1(4) >= 0.54,
        "worse than it was"
    );
    assert!(precision >= 0.99 && recall >= 0.98, "worse than it was");
}

/// Findings of five reviewers, some of which say the same in other words.
fn made_up(count: u32, files: u32) -> String {
    let mut seed = 7_u32;
    let mut next = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % below
    };
    let mut findings: Vec<Value> = Vec::new();
    for number in 0..count {
        let near = findings
            .get(findings.len().saturating_sub(next(50) as usize + 1))
            .filter(|_| next(10) < 4)
            .cloned();
        let mut finding = near.unwrap_or_else(|| {
            let mut words = |count| (0..count).map(|_| format!("word{} ", next(5000))).collect::<String>();
            let (title, description) = (words(5), format!("When {}the call fails", words(25)));
            json!({
                "file": format!("src/f{}.py", next(files)), "line": 1 + next(2000), "title": title,
                "description": description, "severity": "high", "confidence": 80, "suggestion": "check it first",
            })
        });
        finding["id"] = json!(format!("f{number}"));
        finding["model"] = json!(format!("m{}", next(5)));
        findings.push(finding);
    }
    json!({ "findings": findings }).to_string()
}

/// How long the program takes over a file, and the most memory it held, in MiB (0 where that cannot be told).
fn merged_by_program(input: &str) -> (Duration, u64) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("in.json"), input).expect("a written file");
    let started = Instant::now();
    let mut child = Command::new(GLEE)
        .args(["merge", "--batch", "in.json"])
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .stdout(Stdio::from(
            fs::File::create(folder.path().join("out.json")).expect("a new file"),
        ))
        .spawn()
        .expect("the program starts");
    let mut peak = 0;
    loop {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let held = status.lines().find_map(|line| {
            line.strip_prefix("VmHWM:")?
                .trim()
                .strip_suffix(" kB")?
                .parse()
                .ok()
        });
        peak = peak.max(held.unwrap_or(0));
        if let Some(ended) = child.try_wait().expect("a child") {
            assert!(ended.success(), "the merge fails");
            return (started.elapsed(), peak / 1024);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn speed(c: &mut Criterion) {
    let sizes = [
        ("10000 in 5000 files", 10_000, 5000),
        ("100000 in 5000 files", 100_000, 5000),
        ("100000 in one", 100_000, 1),
    ];
    let mut before = None;
    for (name, count, files) in sizes {
        let input = made_up(count, files);
        let bare = Instant::now();
        let value: Value = serde_json::from_str(&input).expect("JSON");
        drop(serde_json::to_string(&value));
        let bare = bare.elapsed();
        let (time, memory) = merged_by_program(&input);
        let growth = before.map(|before: Duration| time.as_secs_f64() / before.as_secs_f64());
        let growth = growth
            .map(|times| format!(" · {times:.1} times the one before"))
            .unwrap_or_default();
        let ratio = time.as_secs_f64() / bare.as_secs_f64();
        say(&format!(
            "{name}: {time:.2?} and {memory} MiB, {ratio:.1} times the bare JSON{growth}"
        ));
        before = Some(time);
    }
    let members = merge_input::read(&made_up(10_000, 5000))
        .expect("findings")
        .members;
    let mut group = c.benchmark_group("merge");
    group.sample_size(10);
    group.bench_function("10000 in 5000 files, without JSON", |b| {
        b.iter(|| {
            merge(
                &members,
                &Debate::default(),
                &[],
                Policy::Panel,
                &Answers::default(),
            )
        });
    });
    group.finish();
}

criterion_group!(benches, quality, speed);
criterion_main!(benches);
