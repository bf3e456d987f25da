//! Writes the check as an external commit status.
//!
//! GitLab shows commit statuses as jobs of a pipeline. If a commit status names no pipeline, GitLab creates an
//! external pipeline, which replaces the merge request's pipeline. If the external pipeline succeeded, GitLab
//! would permit a merge while the real pipeline still runs. Therefore, Glee adds the status to the newest pipeline
//! of the head commit. If the head commit or the merged result of the merge request has a pipeline, Glee creates
//! no external pipeline.

use std::time::Duration;

use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::GitLab;
use super::answers::PipelineAnswer;
use crate::hosts::model::{Check, CheckState, HostError, PullRequest};
use glee_model::domain::Untrusted;
use glee_system::uri;

/// The name of the commit status.
const CHECK: &str = "glee";

/// The maximum length of three texts in characters: the description of a status, its URL, and the name of a ref.
const LONGEST: usize = 255;

/// GitLab can refuse to write a commit status while it writes another status of the commit. Glee then repeats the
/// HTTP request after these waiting times, in seconds.
const UNTIL_FREE: [u64; 3] = [1, 2, 4];

/// The pipeline to which a commit status belongs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StatusPlace {
    /// The id of the pipeline's project. `None` means the project of the merge request.
    pub(super) project: Option<u64>,
    pub(super) pipeline: Option<u64>,
    /// The ref of the pipeline.
    pub(super) reference: Untrusted,
}

impl GitLab {
    /// Writes the status. Statuses have no neutral state. Therefore, Glee writes a neutral check as a success, and
    /// the description states the result. No commit status is written in these cases:
    /// - The project has no pipelines.
    /// - The head commit is in a fork and has no pipeline that the token is allowed to change.
    /// - The merged result has a pipeline, but the head commit has none.
    pub(super) fn write_status(
        &self,
        request: &PullRequest,
        check: &Check,
    ) -> Result<(), HostError> {
        let listed = format!("{}/pipelines", self.merge_request());
        let pipelines: Vec<PipelineAnswer> = match self.transport.get(&listed, "read the pipelines")
        {
            Ok(pipelines) => pipelines,
            // A project without pipelines has no commit statuses.
            Err(HostError::Forbidden { .. } | HostError::NotFound { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        let Some(place) = place(request, &pipelines) else {
            return Ok(());
        };
        let project = place
            .project
            .map_or_else(|| self.project(), |id| format!("/projects/{id}"));
        let path = format!("{project}/statuses/{}", uri::segment(&request.head.id));
        let body = form(request, check, &place);
        for seconds in UNTIL_FREE {
            match self.send_status(&path, &body) {
                Err(HostError::Refused { why, .. })
                    if why.contains("in progress")
                        && self.transport.wait(Duration::from_secs(seconds)) => {}
                Err(HostError::Forbidden { .. } | HostError::NotFound { .. })
                    if request.is_fork =>
                {
                    return Ok(());
                }
                done => return done,
            }
        }
        self.send_status(&path, &body)
    }

    /// A commit status with the same name replaces the earlier one, so the HTTP request can be repeated.
    fn send_status(&self, path: &str, body: &Value) -> Result<(), HostError> {
        self.transport
            .query::<IgnoredAny>(path, body, "write the commit status")
            .map(drop)
    }
}

/// `pipelines` lists the newest pipeline first.
pub(super) fn place(request: &PullRequest, pipelines: &[PipelineAnswer]) -> Option<StatusPlace> {
    if let Some(found) = pipelines
        .iter()
        .find(|pipeline| pipeline.sha == request.head.id)
    {
        return Some(StatusPlace {
            project: found.project_id,
            pipeline: Some(found.id),
            reference: found.name.clone(),
        });
    }
    let merged =
        ["/merge", "/train"].map(|end| format!("refs/merge-requests/{}{end}", request.number));
    let is_merged = pipelines
        .iter()
        .any(|pipeline| merged.iter().any(|name| pipeline.name == **name));
    if request.is_fork || is_merged {
        return None;
    }
    Some(StatusPlace {
        project: None,
        pipeline: None,
        reference: request.head.branch.clone(),
    })
}

pub(super) fn form(request: &PullRequest, check: &Check, place: &StatusPlace) -> Value {
    let state = if check.state == CheckState::Failure {
        "failed"
    } else {
        "success"
    };
    let description: String = check.title.chars().take(LONGEST).collect();
    let mut form = json!({ "state": state, "name": CHECK, "ref": place.reference, "description": description });
    if let Some(pipeline) = place.pipeline {
        form["pipeline_id"] = json!(pipeline);
    }
    if request.link.chars().count() <= LONGEST {
        form["target_url"] = json!(request.link);
    }
    form
}
