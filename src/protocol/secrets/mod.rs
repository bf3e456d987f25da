//! Secrets: values that a rule set recognises are replaced by stable placeholders before a text leaves the machine or
//! is kept.
//!
//! The rules are those of gitleaks (`secrets/gitleaks.toml`, MIT, see `secrets/LICENSE`) and two more (`own.toml`). A
//! placeholder names the rule and four digits of the value's hash: enough to see that two are the same, too little to
//! guess the value by. It keeps the value's line ends, so that line numbers stay what they are, and is not itself taken
//! for a secret.

use std::borrow::Cow;
use std::io::{self, BufRead, Write};
use std::ops::Range;

use serde::de::DeserializeOwned;
use serde_json::Value;

use rules::{FoundSecret, find, find_by};

mod expression;
mod rules;

/// How much of a stream is searched at once, in bytes.
const PIECE: usize = 256 << 10;

/// How much more is read where a private key has begun and not ended, in bytes.
const KEY: usize = 32 << 10;

/// The rule that recognises private keys.
const PRIVATE_KEY: &str = "private-key";

pub fn redact(text: &str) -> Cow<'_, str> {
    match redact_bytes(text.as_bytes()) {
        Some(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
        None => Cow::Borrowed(text),
    }
}

/// Replaces the secrets in every string of a value; what has none comes back as it is.
///
/// # Panics
/// Where a value does not read back what it wrote, which the types that are recorded rule out.
pub fn redact_value<T: serde::Serialize + DeserializeOwned>(value: T) -> T {
    let mut json = serde_json::to_value(&value).expect("recorded types are representable in JSON");
    if clean(&mut json) {
        serde_json::from_value(json).expect("replacing text keeps a value's form")
    } else {
        value
    }
}

/// The line of the first private key in a text, counted from 1.
pub fn private_key(text: &str) -> Option<u32> {
    let found = find_by(text.as_bytes(), |rule| rule == PRIVATE_KEY).into_iter().next()?;
    let before = text.as_bytes()[..found.at.start].iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(before + 1).ok()
}

/// Copies a stream without its secrets. Returns whether there were any.
///
/// Memory stays within a few pieces, however long the stream and its lines are. Fails where the reader or the writer
/// does.
pub fn copy(input: &mut impl BufRead, output: &mut impl Write) -> io::Result<bool> {
    let mut found = false;
    let mut piece = Vec::new();
    loop {
        let open_key = begins_key(&piece).filter(|start| piece.len() - start < KEY);
        let kept = open_key.map(|start| piece.split_off(start)).unwrap_or_default();
        let clean = redact_bytes(&piece);
        found |= clean.is_some();
        output.write_all(clean.as_deref().unwrap_or(&piece))?;
        piece = kept;
        let before = piece.len();
        while piece.len() - before < PIECE {
            let room = u64::try_from(PIECE - (piece.len() - before)).unwrap_or(u64::MAX);
            if io::Read::take(&mut *input, room).read_until(b'\n', &mut piece)? == 0 {
                break;
            }
        }
        if piece.len() == before {
            let clean = redact_bytes(&piece);
            found |= clean.is_some();
            output.write_all(clean.as_deref().unwrap_or(&piece))?;
            return Ok(found);
        }
    }
}

/// Where a private key begins that does not end in this piece.
fn begins_key(piece: &[u8]) -> Option<usize> {
    let start = memrchr(piece, b"-----BEGIN")?;
    let rest = &piece[start + 10..];
    (memrchr(rest, b"-----END").is_none()).then_some(start)
}

fn memrchr(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).rposition(|window| window == needle)
}

fn clean(value: &mut Value) -> bool {
    match value {
        Value::String(text) => match redact(text) {
            Cow::Borrowed(_) => false,
            Cow::Owned(clean) => {
                *text = clean;
                true
            }
        },
        Value::Array(items) => items.iter_mut().fold(false, |found, item| clean(item) | found),
        Value::Object(fields) => fields.values_mut().fold(false, |found, field| clean(field) | found),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The text without its secrets, if it has any.
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
        clean.extend_from_slice(format!("[secret:{rule}:{}]", &hash[..4]).as_bytes());
        clean.extend(secret.iter().filter(|byte| **byte == b'\n'));
        from = at.end;
    }
    clean.extend_from_slice(&text[from..]);
    Some(clean)
}

/// A match without the half of an escape sequence such as `\"` that it begins or ends with: JSON stays JSON.
fn outside_escapes(text: &[u8], Range { start, end }: Range<usize>) -> Range<usize> {
    let ends_in_escape = |text: &[u8]| text.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
    let start = start + usize::from(ends_in_escape(&text[..start]));
    let end = end - usize::from(end > start && ends_in_escape(&text[start..end]));
    start..end.max(start)
}

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
