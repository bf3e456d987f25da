//! Makes arbitrary text safe to show, and takes the secrets out of it. Nothing is left that a terminal or a log obeys,
//! JSON keeps its value, and a placeholder is no secret.

#![no_main]

use glee_protocol::secrets;
use glee_protocol::text::printable;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let (line, block) = (printable::line(&text), printable::block(&text));
    assert!(!line.chars().any(printable::is_unsafe));
    assert!(
        !block
            .chars()
            .any(|c| printable::is_unsafe(c) && c != '\n' && c != '\t')
    );
    for mark in ["##vso[", "##[", "##teamcity["] {
        assert!(!line.contains(mark) && !block.contains(mark));
    }
    assert!(
        !block
            .lines()
            .any(|line| line.trim_start().starts_with("::error"))
    );
    let value = serde_json::json!({ "text": text });
    let json = printable::json(value.to_string());
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&json).expect("it was JSON"),
        value
    );
    let clean = secrets::redact(&text);
    assert_eq!(clean.lines().count(), text.lines().count());
});
