//! Tests that the adapters parse recorded outputs of the known programs.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use crate::{AdapterKind, AnswerText, CallOutcome, Output};
use glee_model::domain::Usage;
use glee_model::domain::event::Transcript;

fn samples(kind: AdapterKind) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/recorded")
        .join(kind.as_str());
    let files = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    found.sort();
    found
}

fn reading(kind: AdapterKind, record: &Path) -> CallOutcome {
    let about: Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
    let stdout = record.with_extension("stdout");
    let bytes = std::fs::read(&stdout).unwrap();
    let stderr = std::fs::read_to_string(record.with_extension("stderr")).unwrap();
    let tail = stderr
        .char_indices()
        .rev()
        .nth(4095)
        .map_or(0, |(at, _)| at);
    let mut transcript: Transcript = serde_json::from_value(serde_json::json!({
        "stdout_bytes": bytes.len(), "stdout_hash": "", "stderr_bytes": stderr.len(), "exit_code": null,
        "signal": null,
    }))
    .unwrap();
    (transcript.exit_code, transcript.signal) =
        (number(&about, "exit_code"), number(&about, "signal"));
    let output = Output {
        stdout,
        stderr_tail: stderr[tail..].to_owned(),
        ended: Timestamp::UNIX_EPOCH,
        failed_requests: 0,
        transcript,
    };
    kind.adapter().reading(&output)
}

fn number(about: &Value, name: &str) -> Option<i32> {
    about[name]
        .as_i64()
        .and_then(|number| i32::try_from(number).ok())
}

fn told(reading: &CallOutcome) -> String {
    let mut line = match &reading.answer {
        Ok(AnswerText::Text(text)) => format!("{:?}", text.chars().take(90).collect::<String>()),
        Ok(AnswerText::File(_)) => "all of stdout".to_owned(),
        Err(error) => {
            let reset = error
                .kind
                .reset()
                .map_or_else(String::new, |at| format!(" until {at}"));
            format!(
                "{}{reset}: {}",
                error.kind.as_str().to_uppercase(),
                error.message
            )
        }
    };
    if let Some(partial) = &reading.partial {
        let _ = write!(
            line,
            "\n    partial {:?}",
            partial.chars().take(60).collect::<String>()
        );
    }
    let Usage {
        input_tokens,
        output_tokens,
        usd,
        cached_tokens,
        reasoning_tokens,
        turns,
        ..
    } = reading.usage;
    let numbers = [
        ("in", input_tokens),
        ("cached", cached_tokens),
        ("out", output_tokens),
        ("reasoning", reasoning_tokens),
        ("turns", turns),
    ];
    line.push_str("\n   ");
    for (name, number) in numbers {
        line.push_str(&number.map_or_else(String::new, |number| format!(" {name} {number}")));
    }
    line.push_str(&usd.map_or_else(String::new, |usd| format!(" ${usd:.6}")));
    line.push_str(
        &reading
            .metadata
            .model
            .as_ref()
            .map_or_else(String::new, |model| format!(" {model}")),
    );
    line.push_str(if reading.metadata.session.is_some() {
        " session"
    } else {
        ""
    });
    if !reading.metadata.denied.is_empty() {
        let _ = write!(line, " denied {}", reading.metadata.denied.join(","));
    }
    for read in reading.metadata.reads.iter().flatten() {
        let _ = write!(line, "\n    read {}", serde_json::to_string(read).unwrap());
    }
    line
}

#[test]
fn every_sample_is_read_as_what_it_is() {
    let mut text = String::new();
    for kind in AdapterKind::PROGRAMS {
        for record in samples(kind) {
            let name = record.file_stem().unwrap().to_string_lossy().into_owned();
            let _ = writeln!(text, "{kind} {name}: {}", told(&reading(kind, &record)));
        }
    }
    insta::assert_snapshot!(text);
}
