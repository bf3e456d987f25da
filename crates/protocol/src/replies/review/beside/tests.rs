//! Measures the reading of prose beside a count of 0 on labelled closings.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints its figures"
)]

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::{Bearing, bearing};
use crate::replies::review::reader;
use glee_model::domain::AnswerStatus;

struct Closing {
    label: String,
    text: String,
}

fn closings() -> Vec<Closing> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/closings");
    let mut all = Vec::new();
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    for file in files {
        let text = fs::read_to_string(file).unwrap();
        for block in text.split("### ").skip(1) {
            let (label, text) = block.split_once('\n').unwrap();
            all.push(Closing {
                label: label.to_owned(),
                text: text.trim().to_owned(),
            });
        }
    }
    all
}

#[test]
fn no_closing_is_green_by_mistake_and_few_clean_ones_are_asked() {
    let closings = closings();
    let mut clean = 0;
    let mut asked = 0;
    let mut green = 0;
    let mut unclear = 0;
    let mut in_words = 0;
    let mut asked_of_drawn = 0;
    for Closing { label, text } in &closings {
        let bearing = bearing(text);
        let is_green = bearing == Bearing::Agrees;
        match label.as_str() {
            "clean" => {
                clean += 1;
                if !is_green {
                    asked += 1;
                    println!("ASKED {bearing:?}\n  {text}");
                }
            }
            "ask" | "incomplete" => {
                if is_green {
                    green += 1;
                    println!("GREEN {text}");
                }
                if label == "incomplete" && !matches!(bearing, Bearing::Contradicts(_)) {
                    unclear += 1;
                    println!("NOT BY FORM {text}");
                }
            }
            // A defect that only a reader of the sentence understands. The report shows the sentence.
            "words" => in_words += usize::from(is_green),
            // A clean closing of the set that was drawn blind. Its share misses the bound, and is only printed.
            "drawn" => asked_of_drawn += usize::from(!is_green),
            other => panic!("{other}"),
        }
    }
    println!(
        "{} closings, {clean} clean: {asked} asked; {green} green by mistake, and {in_words} with a defect in words; of the blind set {asked_of_drawn} clean ones asked",
        closings.len()
    );
    assert_eq!(green, 0);
    assert_eq!(unclear, 0);
    assert!(asked * 10 <= clean);
}

#[test]
fn an_answer_assembled_from_closings_is_clean_only_if_each_of_them_is() {
    // A closing that only says nothing of a count, such as `Thinking about the change.`, is no part that speaks against
    // one. Beside `No findings.` it would be clean.
    let mut closings = closings();
    closings.retain(|closing| {
        let beside = format!("{}\n\nNo findings.", closing.text);
        closing.label == "clean"
            || matches!(closing.label.as_str(), "ask" | "incomplete")
                && bearing(&beside) != Bearing::Agrees
    });
    let indexes = prop::collection::vec(any::<prop::sample::Index>(), 1..5);
    let json = any::<bool>();
    proptest!(ProptestConfig::with_cases(600), |(indexes in indexes, json in json)| {
        let chosen: Vec<&Closing> = indexes.iter().map(|index| index.get(&closings)).collect();
        let words: Vec<&str> = chosen.iter().map(|closing| closing.text.as_str()).collect();
        let words = words.join("\n\n");
        let answer = if json {
            serde_json::json!({"nonce": "n", "findings": [], "summary": words, "read": "all"}).to_string()
        } else {
            format!("{words}\n\nGLEE-REVIEW-END nonce=n findings=0 read=all\n")
        };
        let read = reader::parse(answer.as_bytes(), Some("n")).unwrap();
        let is_clean = chosen.iter().all(|closing| closing.label == "clean");
        prop_assert!(is_clean || read.status != AnswerStatus::Clean, "{answer}");
        // A part that was not read is never clean, whatever the words are.
        let part = answer.replace("read=all", "read=part").replace("\"all\"", "\"part\"");
        let read = reader::parse(part.as_bytes(), Some("n")).unwrap();
        prop_assert!(!read.status.is_complete(), "{part}");
    });
}
