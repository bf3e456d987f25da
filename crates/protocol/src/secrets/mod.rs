//! Replaces secrets by placeholders before a text is sent or stored.
//!
//! Secrets are found by the rules of gitleaks (`secrets/gitleaks.toml`, MIT, see `secrets/LICENSE`) and by two
//! additional rules (`own.toml`). A placeholder contains the id of the rule and four digits of the secret's hash,
//! so that equal secrets have equal placeholders. The line breaks of a secret are kept, so that line numbers do not
//! change. A placeholder is never redacted again.

use std::borrow::Cow;
use std::io::{self, BufRead, Write};
use std::ops::Range;

use memchr::memmem;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use rules::know;
use rules::{FoundSecret, find, find_by};

mod rules;

const PIECE: usize = 256 << 10;

/// The maximum size of a private key, in bytes.
const KEY: usize = 32 << 10;

const PRIVATE_KEY: &str = "private-key";

/// The beginning of the placeholder that replaces a secret.
pub const PLACEHOLDER: &str = "[secret:";

pub fn redact(text: &str) -> Cow<'_, str> {
    match redact_bytes(text.as_bytes()) {
        Some(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
        None => Cow::Borrowed(text),
    }
}

/// The secrets in a text, as they are written.
pub fn found(text: &str) -> impl Iterator<Item = &[u8]> {
    find(text.as_bytes())
        .into_iter()
        .map(|secret| &text.as_bytes()[secret.at])
}

/// Redacts all strings of a value. Panics if the value cannot be deserialised from its own JSON, which never
/// happens for the types that Glee records.
pub fn redact_value<T: serde::Serialize + DeserializeOwned>(value: T) -> T {
    let mut json = serde_json::to_value(&value).expect("recorded types are representable in JSON");
    if clean(&mut json) {
        serde_json::from_value(json).expect("replacing text keeps a value's form")
    } else {
        value
    }
}

/// Returns the 1-based number of the line in which the first private key of a text begins.
pub fn private_key(text: &str) -> Option<u32> {
    let found = find_by(text.as_bytes(), |rule| rule == PRIVATE_KEY)
        .into_iter()
        .next()?;
    let before = text.as_bytes()[..found.at.start]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count();
    u32::try_from(before + 1).ok()
}

/// Copies a stream and redacts its secrets. Returns whether the stream contained a secret. The memory use is
/// bounded for streams and lines of any length.
pub fn copy(input: &mut impl BufRead, output: &mut impl Write) -> io::Result<bool> {
    let mut found = false;
    let mut piece = Vec::new();
    loop {
        let open_key = begins_key(&piece).filter(|start| piece.len() - start < KEY);
        let kept = open_key
            .map(|start| piece.split_off(start))
            .unwrap_or_default();
        found |= write_clean(&piece, output)?;
        piece = kept;
        let before = piece.len();
        while piece.len() - before < PIECE {
            let room = u64::try_from(PIECE - (piece.len() - before)).unwrap_or(u64::MAX);
            if io::Read::take(&mut *input, room).read_until(b'\n', &mut piece)? == 0 {
                break;
            }
        }
        if piece.len() == before {
            return Ok(write_clean(&piece, output)? | found);
        }
    }
}

fn write_clean(piece: &[u8], output: &mut impl Write) -> io::Result<bool> {
    let clean = redact_bytes(piece);
    output.write_all(clean.as_deref().unwrap_or(piece))?;
    Ok(clean.is_some())
}

/// Returns the position in `piece` at which a private key begins, if the key's end is missing in `piece`.
fn begins_key(piece: &[u8]) -> Option<usize> {
    let start = memmem::rfind(piece, b"-----BEGIN")?;
    memmem::rfind(&piece[start + 10..], b"-----END")
        .is_none()
        .then_some(start)
}

fn clean(value: &mut Value) -> bool {
    match value {
        Value::String(text) => {
            let clean = redact_bytes(text.as_bytes());
            clean
                .inspect(|clean| *text = String::from_utf8_lossy(clean).into_owned())
                .is_some()
        }
        Value::Array(items) => items
            .iter_mut()
            .fold(false, |found, item| clean(item) | found),
        Value::Object(fields) => fields
            .values_mut()
            .fold(false, |found, field| clean(field) | found),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn redact_bytes(text: &[u8]) -> Option<Vec<u8>> {
    let found = find(text);
    if found.is_empty() {
        return None;
    }
    let mut clean = Vec::with_capacity(text.len());
    let mut from = 0;
    for FoundSecret { at, rule } in found {
        let at = outside_escapes(text, at);
        let secret = &text[at.clone()];
        clean.extend_from_slice(&text[from..at.start]);
        let hash = blake3::hash(secret).to_hex();
        clean.extend_from_slice(format!("{PLACEHOLDER}{rule}:{}]", &hash[..4]).as_bytes());
        clean.extend(secret.iter().filter(|byte| **byte == b'\n'));
        from = at.end;
    }
    clean.extend_from_slice(&text[from..]);
    Some(clean)
}

/// Shortens a match that begins or ends inside an escape sequence such as `\"`, so that JSON remains valid.
fn outside_escapes(text: &[u8], Range { start, end }: Range<usize>) -> Range<usize> {
    let start = start + usize::from(ends_in_escape(&text[..start]));
    let end = end - usize::from(end > start && ends_in_escape(&text[start..end]));
    start..end.max(start)
}

fn ends_in_escape(text: &[u8]) -> bool {
    text.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
