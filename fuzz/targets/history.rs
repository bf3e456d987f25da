//! Reads arbitrary bytes as a history: as its database, and as the events of a run. Nothing panics, and an event that
//! was read is written as it was. Reading changes nothing, except that an older form of the database is brought up to date.

#![no_main]

use std::fs;
use std::sync::OnceLock;

use glee_model::domain::event::Event;
use glee_store::history::Journal;

/// What every database begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Where the form stands in a database (`user_version`).
const FORM: std::ops::Range<usize> = 60..64;

/// The newest form.
fn newest() -> &'static [u8] {
    static NEWEST: OnceLock<Vec<u8>> = OnceLock::new();
    NEWEST.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("history.db");
        drop(Journal::open(&path).expect("a new history"));
        fs::read(&path).expect("it is there")[FORM].to_vec()
    })
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if !bytes.starts_with(MAGIC) {
        for event in bytes
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice::<Event>(line).ok())
        {
            let written = serde_json::to_vec(&event).expect("an event is JSON");
            assert_eq!(
                serde_json::from_slice::<Event>(&written).expect("it was an event"),
                event
            );
        }
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("history.db");
    fs::write(&path, bytes).expect("a written file");
    for opened in [
        Journal::open_read(&path),
        Journal::open_damaged(&path).map(Some),
    ] {
        let Ok(Some(journal)) = opened else { continue };
        drop(journal.verify());
        for row in journal.runs(None).unwrap_or_default() {
            drop(journal.events(&row.run));
        }
    }
    let is_older = bytes
        .get(FORM)
        .is_some_and(|form| form > [0; 4].as_slice() && form < newest());
    assert!(
        is_older || fs::read(&path).expect("it is there") == bytes,
        "reading changed it"
    );
});
