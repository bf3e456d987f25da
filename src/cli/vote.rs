//! `glee vote`: decide tuples by the votes of three, offline.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::io::{self, BufRead, BufReader, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use foldhash::fast::RandomState;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::Globals;
use super::error::{CommandError, CommandResult};
use crate::domain::ExitReason;
use crate::files;
use crate::protocol::printable;
use crate::rules::side_by_side;
use crate::rules::vote::{Action, Lists, Version, Vote, Voter, decide};

/// Arguments of `glee vote`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The input is `{\"actions_by_tuple\": {ID: {\"A\": VOTE, \"B\": VOTE, \"C\": VOTE}}, \"conflict_flags\": FLAGS}`. A VOTE is
`{\"action_type\": \"KEEP|DROP|FLIP|FLAG|MERGE\", \"reason_code\": ..., \"new_value\": ...}`; null, {} or nothing is a
missing vote and counts as KEEP. FLAGS are `[{\"tuple_ids\": [...], \"conflict_type\": ...}]` or `{ID: TYPE}`.

Of each tuple is printed: `final_action` and `action_type` (KEEP, DROP, FLIP or FLAG), `flag_reason` and `reason_code`
(why it is flagged by the rules, else null), `deciding_code` (the voter's code that decided a three-way split),
`absent` (the voters whose missing vote counted as KEEP), `new_value` of a FLIP, and the number of the `rule`.

Examples:
  glee vote votes.json
  glee vote --rules v1 < votes.json
  glee vote --batch votes.jsonl > decisions.jsonl
  glee vote votes.json --facet-priority REDUNDANT_UPPER_REF=C --facet-priority polarity_mismatch=A,B")]
pub(crate) struct Args {
    /// The votes; `-` or nothing: standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The version of the rules
    #[arg(long, value_enum, value_name = "VERSION", default_value_t = Rules::V2)]
    rules: Rules,
    /// Read one input a line, print one answer a line
    #[arg(long)]
    batch: bool,
    /// Voters whose lone voice is not outvoted in a type of conflict; replaces the default
    #[arg(long, value_name = "TYPE=VOTERS", value_parser = priority)]
    facet_priority: Vec<(String, BTreeSet<Voter>)>,
}

/// `--rules`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rules {
    /// Majority and structural flips only
    V1,
    /// With protected minorities, justified drops and telling reasons
    V2,
}

/// The bytes of a stream that are decided at a time.
const BLOCK: u64 = 1 << 20;

/// Fewer bytes than this are not worth a second thread.
const WORTH_A_THREAD: usize = 1 << 16;

/// How votes are decided here.
struct Ballot {
    version: Version,
    lists: Lists,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let mut lists = Lists::default();
    if !args.facet_priority.is_empty() {
        lists.facet_priority = BTreeMap::new();
        for (conflict, voters) in &args.facet_priority {
            lists.facet_priority.entry(conflict.clone()).or_default().extend(voters);
        }
    }
    let version = if args.rules == Rules::V1 { Version::V1 } else { Version::V2 };
    let ballot = Ballot { version, lists };
    match args.file.as_deref().filter(|file| *file != Path::new("-")) {
        Some(file) => {
            let name = format!("`{}`", file.display());
            let opened = files::input(&globals.directory().join(file)).map_err(|error| unreadable(&name, error))?;
            ballot.count(BufReader::new(opened), args.batch, &name)
        }
        None => ballot.count(io::stdin().lock(), args.batch, "standard input"),
    }
}

fn unreadable(what: &str, error: io::Error) -> CommandError {
    CommandError::new(ExitReason::Usage, anyhow::Error::new(error).context(format!("failed to read {what}")))
        .hint("name a file with votes, or pipe one in: `glee vote < votes.json`")
}

fn malformed(place: &str, error: &serde_json::Error) -> CommandError {
    CommandError::usage(format!("{place} holds no votes: {}", printable::line(&error.to_string())))
        .hint("see `glee vote --help` for the form of the input; a stream of inputs needs `--batch`")
}

/// Reads `TYPE=A,B`.
fn priority(text: &str) -> Result<(String, BTreeSet<Voter>), String> {
    let (conflict, voters) =
        text.split_once('=').ok_or("not of the form TYPE=VOTERS, like REDUNDANT_UPPER_REF=C")?;
    let voters: Option<BTreeSet<Voter>> = voters.split(',').map(Voter::parse).collect();
    Ok((conflict.to_owned(), voters.ok_or("the voters are A, B and C, separated by commas")?))
}

impl Ballot {
    fn count(&self, mut input: impl BufRead, batch: bool, name: &str) -> CommandResult {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        let written = if batch {
            self.lines(&mut input, &mut out, name)?
        } else {
            let mut text = Vec::new();
            input.read_to_end(&mut text).map_err(|error| unreadable(name, error))?;
            let input: Input<'_> = parse(&text).map_err(|error| malformed(name, &error))?;
            let decided = serde_json::to_string_pretty(&self.decide(&input)).map_err(io::Error::from)?;
            writeln!(out, "{decided}")
        };
        match written.and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(ExitReason::Clean),
        }
    }

    /// Decides line by line; what stands before a malformed line is written out whole.
    fn lines(
        &self,
        input: &mut impl BufRead,
        out: &mut impl Write,
        name: &str,
    ) -> Result<io::Result<()>, CommandError> {
        let (mut block, mut before) = (Vec::new(), 0);
        loop {
            block.clear();
            let read = input.by_ref().take(BLOCK).read_to_end(&mut block);
            // The last line of a block is read to its end.
            let read = read.and_then(|_| input.read_until(b'\n', &mut block));
            read.map_err(|error| unreadable(name, error))?;
            if block.is_empty() {
                return Ok(Ok(()));
            }
            let lines: Vec<(u64, &[u8])> =
                (before + 1..).zip(block.split_inclusive(|byte| *byte == b'\n')).collect();
            before += lines.len() as u64;
            let worth = if block.len() > WORTH_A_THREAD { 1 } else { lines.len() };
            for (answers, end) in side_by_side::parts_of(&lines, worth, |part| self.part(part)) {
                if let Err(error) = out.write_all(&answers) {
                    return Ok(Err(error));
                }
                if let Err((number, error)) = end {
                    out.flush()?;
                    return Err(malformed(&format!("line {number} of {name}"), &error));
                }
            }
        }
    }

    /// The answers to some lines, up to the first that is malformed.
    fn part(&self, lines: &[(u64, &[u8])]) -> (Vec<u8>, Result<(), (u64, serde_json::Error)>) {
        let mut answers = Vec::new();
        for (number, line) in lines.iter().filter(|(_, line)| !line.trim_ascii().is_empty()) {
            let written = parse(line).and_then(|input| serde_json::to_writer(&mut answers, &self.decide(&input)));
            if let Err(error) = written {
                return (answers, Err((*number, error)));
            }
            answers.push(b'\n');
        }
        (answers, Ok(()))
    }

    fn decide<'a>(&self, input: &'a Input<'_>) -> Vec<Decided<'a>> {
        let conflicts = input.conflict_flags.as_ref().map(Flags::by_tuple).unwrap_or_default();
        let decided = input.actions_by_tuple.0.iter().map(|(Text(id), votes)| {
            let conflict = conflicts.get(&**id).copied();
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

/// One decision, as it is printed.
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
    /// The voters whose missing vote counted as KEEP.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    absent: Vec<Voter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_value: Option<&'a Value>,
    rule: u8,
}

#[derive(Deserialize)]
struct Input<'a> {
    #[serde(borrow)]
    actions_by_tuple: Tuples<'a>,
    #[serde(borrow, default)]
    conflict_flags: Option<Flags<'a>>,
}

/// Reads an input. What is known to be UTF-8 as a whole is not looked through again string by string.
fn parse(bytes: &[u8]) -> Result<Input<'_>, serde_json::Error> {
    match str::from_utf8(bytes) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(bytes),
    }
}

/// A string of the input, copied only where it holds an escape.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// The votes on each tuple, in the order of the input.
struct Tuples<'a>(Vec<(Text<'a>, Votes<'a>)>);

impl<'de: 'a, 'a> Deserialize<'de> for Tuples<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Tuples<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from tuple to votes")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Tuples<'de>, M::Error> {
                let mut tuples: Vec<(Text<'de>, Votes<'de>)> = Vec::new();
                while let Some(id) = map.next_key()? {
                    let votes: Option<Votes<'de>> = map.next_value()?;
                    tuples.push((id, votes.unwrap_or_default()));
                }
                let mut seen = HashSet::with_capacity_and_hasher(tuples.len(), RandomState::default());
                match tuples.iter().find(|(id, _)| !seen.insert(&*id.0)) {
                    Some((Text(id), _)) => Err(M::Error::custom(format!("tuple `{id}` stands there twice"))),
                    None => Ok(Tuples(tuples)),
                }
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Votes<'a> {
    #[serde(borrow, default, rename = "A")]
    a: MaybeVote<'a>,
    #[serde(borrow, default, rename = "B")]
    b: MaybeVote<'a>,
    #[serde(borrow, default, rename = "C")]
    c: MaybeVote<'a>,
}

impl<'a> Votes<'a> {
    fn each(&self) -> [Option<&Vote<'a, Value>>; 3] {
        [self.a.0.as_ref(), self.b.0.as_ref(), self.c.0.as_ref()]
    }
}

/// A vote; null and `{}` are none.
#[derive(Default)]
struct MaybeVote<'a>(Option<Vote<'a, Value>>);

impl<'de: 'a, 'a> Deserialize<'de> for MaybeVote<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Cast;
        impl<'de> Visitor<'de> for Cast {
            type Value = MaybeVote<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a vote: an object with `action_type`")
            }

            fn visit_unit<E>(self) -> Result<MaybeVote<'de>, E> {
                Ok(MaybeVote(None))
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<MaybeVote<'de>, M::Error> {
                let mut vote = Vote { action: Action::Keep, reason: None, new_value: None };
                let mut empty = true;
                while let Some(key) = map.next_key_seed(Field)? {
                    empty = false;
                    match key {
                        Key::Action => {
                            if let Some(word) = map.next_value::<Option<Word>>()? {
                                vote.action = word.0;
                            }
                        }
                        Key::Reason => vote.reason = map.next_value::<Option<Text<'de>>>()?.map(|text| text.0),
                        Key::NewValue => {
                            vote.new_value = map.next_value::<Option<Value>>()?;
                        }
                        Key::Other => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(MaybeVote((!empty).then_some(vote)))
            }
        }
        deserializer.deserialize_any(Cast)
    }
}

/// The word of an action.
struct Word(Action);

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(word) = Text::deserialize(deserializer)?;
        Action::parse(&word).map(Word).ok_or_else(|| {
            D::Error::custom(format!("unknown action `{word}`, expected KEEP, DROP, FLIP, FLAG or MERGE"))
        })
    }
}

/// The fields of a vote.
enum Key {
    Action,
    Reason,
    NewValue,
    Other,
}

/// Reads a field's name without keeping it.
struct Field;

impl<'de> DeserializeSeed<'de> for Field {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Field {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Key, E> {
        Ok(match name {
            "action_type" => Key::Action,
            "reason_code" => Key::Reason,
            "new_value" => Key::NewValue,
            _ => Key::Other,
        })
    }
}

/// Conflict types by tuple; the last one that names a tuple holds.
struct Flags<'a>(Vec<(Vec<Text<'a>>, Option<Text<'a>>)>);

impl Flags<'_> {
    fn by_tuple(&self) -> HashMap<&str, &str, RandomState> {
        let mut types = HashMap::default();
        for (ids, conflict) in &self.0 {
            for Text(id) in ids {
                match conflict {
                    Some(Text(conflict)) => drop(types.insert(&**id, &**conflict)),
                    None => drop(types.remove(&**id)),
                }
            }
        }
        types
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Flags<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Flag<'a> {
            #[serde(borrow)]
            tuple_ids: Vec<Text<'a>>,
            #[serde(borrow, default)]
            conflict_type: Option<Text<'a>>,
        }
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Flags<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of flags, or a map from tuple to conflict type")
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Flags<'de>, S::Error> {
                let mut flags = Vec::new();
                while let Some(Flag { tuple_ids, conflict_type }) = list.next_element()? {
                    flags.push((tuple_ids, conflict_type));
                }
                Ok(Flags(flags))
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Flags<'de>, M::Error> {
                let mut flags = Vec::new();
                while let Some((id, conflict)) = map.next_entry()? {
                    flags.push((vec![id], conflict));
                }
                Ok(Flags(flags))
            }
        }
        deserializer.deserialize_any(Either)
    }
}
