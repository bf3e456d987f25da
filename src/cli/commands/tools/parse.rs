//! `glee parse`: shows authors of adapters how Glee parses an agent's answer.

use std::fmt::Write as _;
use std::io::{self, BufRead};
use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;
use serde_json::json;

use crate::cli::context::{
    CommandError, CommandResult, Globals, Input, number, pretty, print, unreadable,
};
use crate::cli::style::{self, Color, Style};
use glee_model::domain::{
    AnswerStatus, DisputeNumber, FindingId, Recheck, Response, Ruling, Untrusted,
};
use glee_protocol::replies::response::{self, AnswersByFinding};
use glee_protocol::replies::review::{answer::ReviewAnswer, reader};
use glee_protocol::replies::{recheck, ruling};
use glee_protocol::text::printable;

/// Print an agent's answer as Glee parses it
#[derive(clap::Args)]
#[command(after_help = "\
An answer is complete if the last line contains the nonce of the request and the correct number of items. \
Without --nonce, Glee accepts any nonce.

Examples:
  codex exec - < prompt.md | glee parse --nonce 4f2a...
  glee parse answer.txt --format text
  echo '[F1] IMPLEMENTED: done' | glee parse --kind response
  glee parse ruling.json --kind ruling --dispute 7")]
pub(crate) struct Args {
    /// The file with the answer, or `-` for standard input [default: -]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The kind of request that the agent answered
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Kind::Review)]
    kind: Kind,
    /// The nonce of the request, which the answer must repeat
    #[arg(long, value_name = "NONCE")]
    nonce: Option<String>,
    /// The number of the dispute that the judge ruled on (with `--kind ruling`)
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = number::<u64>(1, u64::MAX))]
    dispute: Option<u64>,
    /// The format in which the answer is printed
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ParsedFormat::Json)]
    format: ParsedFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A reviewer's findings
    Review,
    /// A coder's answers to findings
    Response,
    /// A judge's ruling
    Ruling,
    /// A reviewer's answer on whether changes resolve its findings
    Recheck,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ParsedFormat {
    /// The answer as one JSON object
    Json,
    /// The answer as lines of text for people
    Text,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    if args.dispute.is_some() && args.kind != Kind::Ruling {
        return Err(
            CommandError::usage("`--dispute` applies only to rulings").hint("add `--kind ruling`")
        );
    }
    let text = Input::open(globals, args.file.as_deref()).and_then(|Input { name, reader }| {
        read(reader, args, globals.style_of(80)).map_err(|error| unreadable(&name, error))
    });
    let hint = "name a file with an agent's answer, or pipe one in: `glee parse < answer.txt`";
    print(text.map_err(|error| error.hint(hint))?)
}

fn read(input: impl BufRead, args: &Args, look: Style) -> io::Result<String> {
    let nonce = args.nonce.as_deref();
    let json = args.format == ParsedFormat::Json;
    Ok(match args.kind {
        Kind::Review => {
            let answer = reader::parse(input, nonce)?;
            if json {
                pretty(&answer)
            } else {
                review_text(&answer, look)
            }
        }
        Kind::Response => answers(
            &response::parse(input, nonce, None)?,
            "responses",
            response_row,
            json,
            look,
        ),
        Kind::Recheck => answers(
            &recheck::parse(input, nonce, None)?,
            "checks",
            recheck_row,
            json,
            look,
        ),
        Kind::Ruling => match ruling::parse(input, nonce, args.dispute.map(DisputeNumber))? {
            Ok(ruling) if json => pretty(&ruling),
            Ok(ruling) => ruling_text(&ruling, look),
            Err(error) if json => pretty(&json!({ "error": error.to_string() })),
            Err(error) => {
                format!(
                    "{}: {}\n",
                    look.paint(Color::Bad, "no ruling"),
                    printable::line(&error.to_string())
                )
            }
        },
    })
}

fn review_text(answer: &ReviewAnswer, look: Style) -> String {
    let (status, tone) = match answer.status {
        AnswerStatus::Complete => ("complete", Color::Good),
        AnswerStatus::Clean => ("clean", Color::Good),
        AnswerStatus::Incomplete => ("incomplete", Color::Warn),
        AnswerStatus::NotReviewed => ("not reviewed", Color::Bad),
    };
    let mut text = format!(
        "{}: {}",
        look.paint(tone, status),
        style::count(answer.findings.len(), "finding")
    );
    if answer.truncated {
        text.push_str(", truncated");
    }
    text.push('\n');
    for finding in &answer.findings {
        let tag = printable::line(&finding.severity.to_string());
        let _ = write!(
            text,
            "  {}",
            look.paint(Color::of(&finding.severity), &format!("[{tag}]"))
        );
        let places: Vec<String> = finding
            .locations()
            .iter()
            .map(|place| look.paint(Color::Strong, &printable::line(&place.to_string())))
            .collect();
        if !places.is_empty() {
            let _ = write!(text, " {}", places.join(", "));
        }
        let _ = writeln!(text, " {}", printable::line(&finding.title));
        indented(&mut text, "      ", &finding.body);
    }
    for (name, words) in [("verdict", &answer.verdict), ("summary", &answer.summary)] {
        if let Some(words) = words {
            let _ = writeln!(text, "{name}: {}", printable::line(words));
        }
    }
    if !answer.notes.is_empty() {
        text.push_str("notes:\n");
        indented(&mut text, "  ", &answer.notes);
    }
    text
}

/// One entry of an agent's answer: the finding's id, the keyword, the colour of the keyword, the text, and the
/// evidence.
type Row<'a> = (
    FindingId,
    &'static str,
    Color,
    &'a Untrusted,
    &'a [Untrusted],
);

fn response_row(response: &Response) -> Row<'_> {
    let Response {
        finding,
        answer,
        text,
        evidence,
        demonstration: _,
    } = response;
    (*finding, answer.as_str(), Color::Strong, text, evidence)
}

fn recheck_row(check: &Recheck) -> Row<'_> {
    let (word, tone) = if check.resolved {
        ("RESOLVED", Color::Good)
    } else {
        ("UNRESOLVED", Color::Bad)
    };
    (check.finding, word, tone, &check.reason, &[])
}

/// The parameter `name` is the JSON key under which the agent's answer lists its entries.
fn answers<T: Serialize>(
    read: &AnswersByFinding<T>,
    name: &str,
    row: fn(&T) -> Row<'_>,
    json: bool,
    look: Style,
) -> String {
    let AnswersByFinding {
        entries,
        complete,
        missing,
        problems,
    } = read;
    if json {
        return pretty(
            &json!({ name: entries, "complete": complete, "missing": missing, "problems": problems }),
        );
    }
    let (status, tone) = if *complete {
        ("complete", Color::Good)
    } else {
        ("incomplete", Color::Warn)
    };
    let mut text = format!(
        "{}: {}\n",
        look.paint(tone, status),
        style::count(entries.len(), "answer")
    );
    for (finding, word, tone, answer, evidence) in entries.iter().map(row) {
        let _ = writeln!(text, "  [{finding}] {}", look.paint(tone, word));
        indented(&mut text, "      ", answer);
        for line in evidence {
            indented(&mut text, "      ", &line.labelled("Evidence: "));
        }
    }
    for problem in problems {
        let _ = writeln!(
            text,
            "{}: {}",
            look.paint(Color::Warn, "problem"),
            printable::line(problem)
        );
    }
    text
}

fn ruling_text(ruling: &Ruling, look: Style) -> String {
    let mut text = look.paint(Color::Strong, ruling.ruling.as_str()) + "\n";
    indented(&mut text, "  ", &ruling.rationale);
    for citation in &ruling.citations {
        let _ = writeln!(text, "  see {}", printable::line(citation));
    }
    text
}

fn indented(text: &mut String, indent: &str, lines: &(impl printable::Shown + ?Sized)) {
    for line in printable::block(lines).lines() {
        let _ = writeln!(text, "{}", format!("{indent}{line}").trim_end());
    }
}
