//! What a user may set: the schema, its layers with their origin, comment-preserving edits, and trust.

pub mod settings;
