//! Reads arbitrary text as a configuration, a user's and a project's, and edits it. Nothing panics, and what an edit
//! wrote is read again.

#![no_main]

use glee_store::config::files::edit;
use glee_store::config::{ConfigSources, Owner, check_text};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let sources = ConfigSources::default();
    for owner in [Owner::User, Owner::Project] {
        drop(
            check_text(&sources, owner, Some("config.yml"), text)
                .map_err(|error| error.to_string()),
        );
    }
    if let Ok(edited) = edit::set(text, "review.rounds", &serde_json::json!(2)) {
        edit::set(&edited, "review.rounds", &serde_json::json!(3))
            .expect("what was written is read");
    }
});
