//! Answers of hosts.

use ureq::http::{HeaderMap, StatusCode};

pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// The reason why a request has no complete answer.
pub(crate) struct Lost {
    pub(crate) why: String,
    pub(crate) is_temporary: bool,
    /// Whether the host possibly received the request.
    pub(crate) is_sent: bool,
}
