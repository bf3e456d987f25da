//! Reads arbitrary bytes as every kind of answer. Nothing panics, and what was read survives being written and read.

#![no_main]

use glee_model::domain::{DisputeNumber, FindingId};
use glee_protocol::replies::{recheck, response, review, ruling};

const NONCE: &str = "abc";

libfuzzer_sys::fuzz_target!(|answer: &[u8]| {
    for nonce in [Some(NONCE), None] {
        let read = review::parse(answer, nonce).expect("bytes can be read");
        if read
            .findings
            .iter()
            .all(|finding| !finding.title.is_empty())
        {
            let written = review::render(&read.findings, NONCE);
            let again = review::parse(written.as_bytes(), Some(NONCE)).expect("bytes can be read");
            assert_eq!(again.findings, read.findings);
            assert!(again.status.is_complete());
        }
        let asked = [FindingId::new(1), FindingId::new(2)];
        let answers = response::parse(answer, nonce, Some(&asked)).expect("bytes can be read");
        assert_eq!(answers.entries.len() + answers.missing.len(), asked.len());
        let checks = recheck::parse(answer, nonce, Some(&asked)).expect("bytes can be read");
        assert_eq!(checks.entries.len() + checks.missing.len(), asked.len());
        let ruled = ruling::parse(answer, nonce, DisputeNumber(1)).expect("bytes can be read");
        drop(ruled.map_err(|error| error.to_string()));
    }
});
