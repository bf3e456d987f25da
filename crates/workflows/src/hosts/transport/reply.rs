//! Answers of hosts.

use ureq::http::{HeaderMap, StatusCode};

pub(super) struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// The reason why a request has no complete answer.
pub(crate) struct Lost {
    pub why: String,
    pub(crate) is_temporary: bool,
    /// Whether the host possibly received the request.
    pub is_sent: bool,
}
