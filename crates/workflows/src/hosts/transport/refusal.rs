//! Reads the error message from the host's answer to a refused request.

use serde_json::Value;

use super::reply::Reply;

/// Returns the message of the host, or the status if the answer has no message. The text is not escaped.
pub(super) fn reason(reply: &Reply) -> String {
    let status = format!("status {}", reply.status);
    let Ok(body) = serde_json::from_slice::<Value>(&reply.body) else {
        return status;
    };
    let mut parts = Vec::new();
    for key in ["message", "error", "error_description"] {
        match &body[key] {
            Value::Null => {}
            Value::String(text) if text.is_empty() => {}
            Value::String(text) => parts.push(text.clone()),
            other => parts.push(other.to_string()),
        }
    }
    for error in body["errors"].as_array().into_iter().flatten() {
        match error {
            Value::String(text) => parts.push(text.clone()),
            error => {
                let texts = ["resource", "field", "code", "message"]
                    .map(|key| error[key].as_str().unwrap_or(""));
                parts.push(
                    texts
                        .into_iter()
                        .filter(|text| !text.is_empty())
                        .collect::<Vec<_>>()
                        .join(" "),
                );
            }
        }
    }
    parts.retain(|part| !part.is_empty());
    if parts.is_empty() {
        status
    } else {
        parts.join(": ")
    }
}

/// Returns the text after the word `the`. For example, `read the pull request` becomes `pull request`.
pub(super) fn object(what: &str) -> &str {
    what.split_once(" the ").map_or(what, |(_, object)| object)
}
