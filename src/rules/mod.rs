//! Decisions as pure functions over plain data, each with the table of its specification as its test.
