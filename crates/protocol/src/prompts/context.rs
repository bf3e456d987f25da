//! Converts a request into the values of a prompt template.

use serde_json::{Value, json};

use crate::prompts::fence::{DataFence, joined};
use crate::request::Request;
use crate::text::nonce;
use glee_model::domain::{FindingId, PairId};

pub(super) fn fence(request: &Request) -> DataFence<'_> {
    DataFence {
        mark: nonce::mark(&request.nonce),
    }
}

pub(super) fn context(request: &Request) -> Value {
    let fence = fence(request);
    let task = &request.task;
    let mut values = task.context(&fence);
    values["again"] = json!(
        request
            .again
            .as_deref()
            .map(|why| fence.line(why))
            .unwrap_or_default()
    );
    values["agent"] = json!(fence.line(&request.agent.0));
    values["root"] = json!(fence.line(&request.root));
    values["nonce"] = json!(request.nonce);
    values["closing"] = json!(task.closing(&request.nonce));
    values["secrets"] =
        json!(serde_json::to_string(task).is_ok_and(|text| text.contains("[secret:")));
    let pairs = task.pairs();
    values["ids"] = json!(if pairs.is_empty() {
        joined(&task.findings(), FindingId::to_string)
    } else {
        joined(&pairs, PairId::to_string)
    });
    values
}
