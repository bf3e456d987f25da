//! Writes findings as the text of a review.

use std::fmt::Write as _;

use crate::replies::review::reader::parse;
use glee_model::domain::{Location, RawFinding};

/// Renders findings as tagged prose if no information is lost, and as JSON with the nonce otherwise.
///
/// If the findings are in normal form, [`parse`] reads the same findings from the rendered text. Findings in
/// normal form have titles of one line, line numbers from 1, ascending ranges, and no blank texts.
pub fn render(findings: &[RawFinding], nonce: &str) -> String {
    let prose = prose(findings, nonce);
    let read = parse(prose.as_bytes(), Some(nonce));
    if read.is_ok_and(|answer| answer.status.is_complete() && answer.findings == findings) {
        return prose;
    }
    let object = serde_json::json!({ "findings": findings, "nonce": nonce });
    format!("{object:#}\n")
}

fn prose(findings: &[RawFinding], nonce: &str) -> String {
    let mut text = String::new();
    for finding in findings {
        let _ = write!(text, "[{}] ", finding.severity.raw);
        let places: Vec<String> = finding
            .locations()
            .iter()
            .map(Location::to_string)
            .collect();
        if !places.is_empty() {
            let _ = write!(text, "{} ", places.join(", "));
        }
        text.push_str(finding.title.as_written());
        text.push('\n');
        for line in finding.body.as_written().lines() {
            let indent = if line.is_empty() { "" } else { "  " };
            let _ = writeln!(text, "{indent}{line}");
        }
        text.push('\n');
    }
    let _ = writeln!(
        text,
        "GLEE-REVIEW-END nonce={nonce} findings={}",
        findings.len()
    );
    text
}
