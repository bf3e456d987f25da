//! The HTTP requests to Gitea for one pull request.

use serde::de::IgnoredAny;
use serde_json::json;

use crate::hosts::address::RequestAddress;
use crate::hosts::model::HostError;
use crate::hosts::transport::Transport;
use glee_system::uri;

/// The maximum number of files that Glee reads. The maximum number of reviews is the same.
pub(super) const MOST: usize = 10_000;

pub(crate) struct GiteaApi {
    pub transport: Transport,
    pub address: RequestAddress,
}

impl GiteaApi {
    /// Returns the path of the repository in the API.
    pub(super) fn repository(&self) -> String {
        format!(
            "/repos/{}/{}",
            uri::segment(&self.address.owner),
            uri::segment(&self.address.repository)
        )
    }

    /// Returns the path of the pull request in the API.
    pub(super) fn pull(&self) -> String {
        format!("{}/pulls/{}", self.repository(), self.address.number)
    }

    /// Creates a comment that belongs to no line.
    pub(crate) fn create_comment(&self, body: &str, what: &str) -> Result<(), HostError> {
        let path = format!(
            "{}/issues/{}/comments",
            self.repository(),
            self.address.number
        );
        self.transport
            .create::<IgnoredAny>(&path, &json!({ "body": body }), what)
            .map(drop)
    }
}
