//! Tests of threads and answers.
