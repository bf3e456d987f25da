//! Reads arbitrary bytes as a history: as its database, and as the events of a run. Nothing panics, and an event that
//! was read is written as it was.

#![no_main]

use std::fs;

use glee::event::Event;
use glee::journal::Journal;

/// What every database begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if !bytes.starts_with(MAGIC) {
        for event in bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Event>(line).ok()) {
            let written = serde_json::to_vec(&event).expect("an event is JSON");
            assert_eq!(serde_json::from_slice::<Event>(&written).expect("it was an event"), event);
        }
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("history.db");
    fs::write(&path, bytes).expect("a written file");
    for opened in [Journal::open_read(&path), Journal::open_damaged(&path).map(Some)] {
        let Ok(Some(journal)) = opened else { continue };
        drop(journal.verify());
        for row in journal.runs(None).unwrap_or_default() {
            drop(journal.events(&row.run));
        }
    }
    assert_eq!(fs::read(&path).expect("it is there"), bytes, "reading changed it");
});
