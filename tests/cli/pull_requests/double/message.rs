//! Requests to a double, and its answers.

use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path with the query, as sent.
    pub(crate) target: String,
    /// The path without the query. Escapes such as `%2F` remain.
    pub(crate) path: String,
    /// The parameters of the query, decoded.
    pub(crate) query: Vec<(String, String)>,
    head: String,
    /// The body, as sent.
    pub(crate) sent: String,
    /// The body as JSON, or null.
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn parse(head: &str, sent: String) -> Option<Self> {
        let mut words = head.split_whitespace();
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let query = query.split('&').filter(|part| !part.is_empty());
        let query = query.map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (decoded(name), decoded(value))
        });
        Some(Self {
            path: path.to_owned(),
            query: query.collect(),
            body: serde_json::from_str(&sent).unwrap_or_default(),
            head: head.to_owned(),
            method,
            target,
            sent,
        })
    }

    pub(crate) fn header_of<'a>(head: &'a str, name: &str) -> Option<&'a str> {
        let mut lines = head.lines().filter_map(|line| line.split_once(':'));
        lines
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        Self::header_of(&self.head, name)
    }

    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// The text of a field of the body, or nothing.
    pub(crate) fn text(&self, field: &str) -> String {
        self.body[field].as_str().unwrap_or_default().to_owned()
    }

    /// A page of a list: its number is the parameter `page`, its size the parameter `size`, which is `standard` if the
    /// request has none and at most `most`. `address` is that of the server, for the link to the next page.
    pub(crate) fn page(
        &self,
        all: &[Value],
        size: &str,
        standard: usize,
        most: usize,
        address: &str,
    ) -> Answer {
        let number = |name: &str| {
            self.parameter(name)
                .and_then(|text| text.parse::<usize>().ok())
        };
        let (page, length) = (
            number("page").unwrap_or(1).max(1),
            number(size).unwrap_or(standard).clamp(1, most),
        );
        let shown: Vec<Value> = all
            .iter()
            .skip((page - 1) * length)
            .take(length)
            .cloned()
            .collect();
        let answer = Answer::new(200, Value::Array(shown));
        if page * length >= all.len() {
            return answer;
        }
        let other = self.query.iter().filter(|(name, _)| name != "page");
        let query: String = other
            .map(|(name, value)| format!("{name}={value}&"))
            .collect();
        let next = format!("{address}{}?{query}page={}", self.path, page + 1);
        answer.with("link", &format!("<{next}>; rel=\"next\""))
    }
}

/// Replaces escapes such as `%2F` by bytes, and `+` by a space.
pub(crate) fn decoded(text: &str) -> String {
    let (bytes, mut found, mut at) = (text.as_bytes(), Vec::new(), 0);
    while let Some(byte) = bytes.get(at) {
        let code = text
            .get(at + 1..at + 3)
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        match (byte, code) {
            (b'%', Some(code)) => {
                found.push(code);
                at += 2;
            }
            (b'+', _) => found.push(b' '),
            _ => found.push(*byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&found).into_owned()
}

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// Null sends no body, and a string is sent as plain text.
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn new(status: u16, body: Value) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body,
        }
    }

    /// An answer of the form that all hosts use for errors.
    pub(crate) fn message(status: u16, message: &str) -> Self {
        Self::new(status, json!({ "message": message }))
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn to_http(&self) -> String {
        let (kind, body) = match &self.body {
            Value::Null => ("application/json", String::new()),
            Value::String(text) => ("text/plain", text.clone()),
            body => ("application/json", body.to_string()),
        };
        let headers: String = self
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        format!(
            "HTTP/1.1 {} X\r\ncontent-type: {kind}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
            self.status,
            body.len()
        )
    }
}
