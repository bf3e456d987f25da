//! The history store: append, queries, hash chain.
