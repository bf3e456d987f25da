//! Answers of hosts.

use ureq::http::{HeaderMap, StatusCode};

pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// The reason why a request has no complete answer.
pub(super) struct Lost {
    pub(super) why: String,
    pub(super) is_temporary: bool,
    /// Whether the host possibly received the request.
    pub(super) is_sent: bool,
}
