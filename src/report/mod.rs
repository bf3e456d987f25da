//! Outcome to bytes: one file a format.
