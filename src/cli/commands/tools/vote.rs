//! `glee vote`: applies fixed rules to the votes of three voters, without calling agents.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::io::{self, BufRead, BufWriter, Write};
use std::path::PathBuf;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::cli::context::{CommandError, CommandResult, Globals, Input, Words, one_of, unreadable};
use glee_model::domain::ExitReason;
use glee_model::rules::votes::vote::{Version, Vote, VoteAction, VoteLists, Voter, decide};
use glee_protocol::text::printable;

/// Apply fixed rules to the votes of three voters
#[derive(clap::Args)]
#[command(after_help = "\
The input is `{\"actions_by_tuple\": {ID: {\"A\": VOTE, \"B\": VOTE, \"C\": VOTE}}, \"conflict_flags\": \
FLAGS}`. A VOTE is `{\"action_type\": \"KEEP|DROP|FLIP|FLAG|MERGE\", \"reason_code\": ..., \"new_value\": ...}`; \
a missing vote, null and {} count as KEEP. FLAGS are `[{\"tuple_ids\": [...], \"conflict_type\": ...}]` \
or `{ID: TYPE}`.

For each tuple, Glee prints the result as `final_action` and `action_type` (KEEP, DROP, FLIP or FLAG), and the \
number of the `rule` that decided. `flag_reason` and `reason_code` name the reason if the rules flag the tuple, \
else both are null. `deciding_code` is the reason code that decided a three-way split. `absent` lists the \
voters whose missing vote counted as KEEP. `new_value` is the new value of a FLIP.

Examples:
  glee vote votes.json
  glee vote --rules v1 < votes.json
  glee vote --batch votes.jsonl > decisions.jsonl
  glee vote votes.json --facet-priority REDUNDANT_UPPER_REF=C --facet-priority polarity_mismatch=A,B")]
pub(crate) struct Args {
    /// The file with the votes, or `-` for standard input [default: -]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The version of the rules
    #[arg(long, value_parser = one_of(RULES), value_name = "VERSION", default_value = "v2")]
    rules: Version,
    /// Read one input per line, and print one result per line
    #[arg(long)]
    batch: bool,
    /// The voters who cannot be outvoted in conflicts of this type (replaces the default voters)
    #[arg(long, value_name = "TYPE=VOTERS", value_parser = priority)]
    facet_priority: Vec<(String, BTreeSet<Voter>)>,
}

const RULES: Words<Version> = &[
    (
        "v1",
        Version::V1,
        "A majority decides, else a FLIP with a structural reason code",
    ),
    (
        "v2",
        Version::V2,
        "Like v1, but a majority against certain voters gives FLAG, and a justified DROP can win a split vote",
    ),
];

struct Ballot {
    version: Version,
    lists: VoteLists,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let mut lists = VoteLists::default();
    if !args.facet_priority.is_empty() {
        lists.facet_priority.clear();
        for (conflict, voters) in &args.facet_priority {
            lists
                .facet_priority
                .entry(conflict.clone())
                .or_default()
                .extend(voters);
        }
    }
    let ballot = Ballot {
        version: args.rules,
        lists,
    };
    let Input { name, reader } =
        Input::open(globals, args.file.as_deref()).map_err(|error| error.hint(HINT))?;
    ballot.count(reader, args.batch, &name)
}

const HINT: &str = "name a file with votes, or pipe one in: `glee vote < votes.json`";

fn malformed(place: &str, error: &serde_json::Error) -> CommandError {
    CommandError::usage(format!(
        "{place} has no valid votes: {}",
        printable::line(&error.to_string())
    ))
    .hint("`glee vote --help` describes the input; use `--batch` for several inputs in one stream")
}

fn priority(text: &str) -> Result<(String, BTreeSet<Voter>), String> {
    let (conflict, voters) = text
        .split_once('=')
        .ok_or("write TYPE=VOTERS, like REDUNDANT_UPPER_REF=C")?;
    let voters: Option<BTreeSet<Voter>> = voters
        .split(',')
        .map(|voter| Voter::parse(voter.trim()))
        .collect();
    Ok((
        conflict.to_owned(),
        voters.ok_or("name the voters A, B and C, separated by commas")?,
    ))
}

impl Ballot {
    fn count(&self, mut input: impl BufRead, batch: bool, name: &str) -> CommandResult {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        let written = if batch {
            self.lines(input, &mut out, name)?
        } else {
            let mut text = Vec::new();
            input
                .read_to_end(&mut text)
                .map_err(|error| unreadable(name, error).hint(HINT))?;
            let input: VoteInput =
                serde_json::from_slice(&text).map_err(|error| malformed(name, &error))?;
            let decided =
                serde_json::to_string_pretty(&self.decide(&input)).map_err(io::Error::from)?;
            writeln!(out, "{decided}")
        };
        match written.and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(ExitReason::Clean),
        }
    }

    /// Stops with an error at the first malformed line, after writing the results for the earlier lines.
    fn lines(
        &self,
        input: impl BufRead,
        out: &mut impl Write,
        name: &str,
    ) -> Result<io::Result<()>, CommandError> {
        for (number, line) in (1_u64..).zip(input.split(b'\n')) {
            let line = line.map_err(|error| unreadable(name, error).hint(HINT))?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let written = match serde_json::from_slice(&line) {
                Ok(input) => {
                    serde_json::to_writer(&mut *out, &self.decide(&input)).map_err(io::Error::from)
                }
                Err(error) => {
                    out.flush()?;
                    return Err(malformed(&format!("line {number} of {name}"), &error));
                }
            };
            if let Err(error) = written.and_then(|()| out.write_all(b"\n")) {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }

    fn decide<'a>(&self, input: &'a VoteInput) -> Vec<Decided<'a>> {
        let conflicts = input
            .conflict_flags
            .as_ref()
            .map(Flags::by_tuple)
            .unwrap_or_default();
        let decided = input.actions_by_tuple.0.iter().map(|(id, votes)| {
            let conflict = conflicts.get(id.as_str()).copied();
            let decision = decide(votes.each(), conflict, self.version, &self.lists);
            let flag_reason = decision.reason.map(|reason| reason.as_str());
            Decided {
                action_type: decision.action.as_str(),
                target_tuple_ids: [id],
                actor: "ARB",
                reason_code: flag_reason,
                final_action: decision.action.as_str(),
                flag_reason,
                deciding_code: decision.deciding_code,
                absent: Voter::ALL
                    .into_iter()
                    .zip(votes.each())
                    .filter(|(_, vote)| vote.is_none())
                    .map(|(voter, _)| voter)
                    .collect(),
                new_value: decision.new_value,
                rule: decision.rule,
            }
        });
        decided.collect()
    }
}

#[derive(Serialize)]
struct Decided<'a> {
    action_type: &'static str,
    target_tuple_ids: [&'a str; 1],
    actor: &'static str,
    reason_code: Option<&'static str>,
    final_action: &'static str,
    flag_reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deciding_code: Option<&'a str>,
    /// The voters without a vote on this tuple. A missing vote counts as KEEP.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    absent: Vec<Voter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_value: Option<&'a Value>,
    rule: u8,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with `actions_by_tuple`")]
struct VoteInput {
    actions_by_tuple: Tuples,
    conflict_flags: Option<Flags>,
}

/// The entries of `actions_by_tuple`, in the order of the input. Each entry contains the id of a tuple and the
/// votes on this tuple.
struct Tuples(Vec<(String, Votes)>);

impl<'de> Deserialize<'de> for Tuples {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Tuples;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from tuple to votes")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Tuples, M::Error> {
                let mut tuples = Vec::new();
                let mut seen = HashSet::new();
                while let Some((id, votes)) = map.next_entry::<String, Option<Votes>>()? {
                    if !seen.insert(id.clone()) {
                        return Err(M::Error::custom(format!("tuple `{id}` occurs twice")));
                    }
                    tuples.push((id, votes.unwrap_or_default()));
                }
                Ok(Tuples(tuples))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "UPPERCASE")]
struct Votes {
    a: MaybeVote,
    b: MaybeVote,
    c: MaybeVote,
}

impl Votes {
    fn each(&self) -> [Option<&Vote<'static, Value>>; 3] {
        [&self.a, &self.b, &self.c].map(|vote| vote.0.as_ref())
    }
}

/// An optional vote. Both `null` and `{}` mean that the voter did not vote.
#[derive(Default, Deserialize)]
#[serde(try_from = "Value")]
struct MaybeVote(Option<Vote<'static, Value>>);

impl TryFrom<Value> for MaybeVote {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Given {
            action_type: Option<String>,
            reason_code: Option<String>,
            new_value: Option<Value>,
        }
        match &value {
            Value::Null => return Ok(Self(None)),
            Value::Object(fields) if fields.is_empty() => return Ok(Self(None)),
            Value::Object(_) => {}
            _ => return Err("expected a vote: an object with `action_type`".to_owned()),
        }
        let given: Given = serde_json::from_value(value).map_err(|error| error.to_string())?;
        let action = given.action_type.map_or(Ok(VoteAction::Keep), |word| {
            let unknown =
                || format!("unknown action `{word}`, expected KEEP, DROP, FLIP, FLAG or MERGE");
            VoteAction::parse(word.trim()).ok_or_else(unknown)
        })?;
        Ok(Self(Some(Vote {
            action,
            reason: given.reason_code.map(Into::into),
            new_value: given.new_value,
        })))
    }
}

/// The tuples with conflicting votes, and the type of each conflict. If the list contains a tuple several times,
/// the last entry applies.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a list of flags, or a map from tuple to conflict type"
)]
enum Flags {
    List(Vec<Flag>),
    ByTuple(HashMap<String, Option<String>>),
}

#[derive(Deserialize)]
struct Flag {
    tuple_ids: Vec<String>,
    conflict_type: Option<String>,
}

impl Flags {
    fn by_tuple(&self) -> HashMap<&str, &str> {
        let mut types: HashMap<&str, Option<&str>> = HashMap::new();
        match self {
            Self::List(flags) => {
                for flag in flags {
                    for id in &flag.tuple_ids {
                        types.insert(id, flag.conflict_type.as_deref());
                    }
                }
            }
            Self::ByTuple(flags) => {
                for (id, conflict) in flags {
                    types.insert(id, conflict.as_deref());
                }
            }
        }
        types
            .into_iter()
            .filter_map(|(id, conflict)| Some((id, conflict?)))
            .collect()
    }
}
