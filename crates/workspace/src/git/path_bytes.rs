//! Converts paths between three forms: the bytes that git uses, `Path` values, and text.
//!
//! In git, a path is a sequence of bytes without NUL, with `/` between its components. On Unix, the conversion of a
//! git path to a `Path` and back loses nothing.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

pub fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

pub fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

pub fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn items(list: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    list.split(move |byte| *byte == separator)
        .filter(|item| !item.is_empty())
}

/// Whether a path begins with a drive letter (`C:`) or is a UNC path.
pub fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
        || path.starts_with("\\\\")
}

pub fn name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// The parent folder of a path, without a trailing slash. Empty for a path at the top of the tree.
pub fn folder(path: &[u8]) -> &[u8] {
    path.iter()
        .rposition(|byte| *byte == b'/')
        .map_or(&[], |slash| &path[..slash])
}

pub fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() {
        name.to_vec()
    } else {
        [folder, b"/", name].concat()
    }
}

/// The inverse of [`joined`]. A path outside the folder stays as it is.
pub fn inside(folder: &[u8], path: &[u8]) -> Vec<u8> {
    let inside = path.strip_prefix(folder);
    let inside = inside.map(|rest| rest.strip_prefix(b"/").unwrap_or(rest));
    inside.unwrap_or(path).to_vec()
}

/// Whether `path` is the folder or below it.
pub fn is_within(folder: &[u8], path: &[u8]) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// Returns all parent folders of a path, except the root of the tree. The outermost folder comes first.
pub fn above(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    memchr::memchr_iter(b'/', path).map(|end| &path[..end])
}

/// Puts a path in double quotes, with git's escapes. A path without special characters is returned unchanged.
pub fn quoted(path: &[u8]) -> Vec<u8> {
    if path
        .iter()
        .all(|byte| *byte >= 0x20 && *byte != 0x7f && !matches!(byte, b'"' | b'\\'))
        && std::str::from_utf8(path).is_ok()
    {
        return path.to_vec();
    }
    let mut text = vec![b'"'];
    for byte in path {
        match byte {
            b'"' | b'\\' => text.extend([b'\\', *byte]),
            b'\n' => text.extend(b"\\n"),
            b'\t' => text.extend(b"\\t"),
            b'\r' => text.extend(b"\\r"),
            0x20..=0x7e => text.push(*byte),
            other => text.extend(format!("\\{other:03o}").bytes()),
        }
    }
    text.push(b'"');
    text
}

pub(crate) fn word_and_path(line: &[u8]) -> Option<(String, Vec<u8>)> {
    let (word, path) = line.split_at(memchr::memchr(b' ', line)?);
    Some((shown(word), unquoted(&path[1..])?))
}

/// Removes the quotes and all escapes of git from a path. Returns `None` if the quoting is malformed.
pub fn unquoted(text: &[u8]) -> Option<Vec<u8>> {
    let Some(inner) = text.strip_prefix(b"\"") else {
        return Some(text.to_vec());
    };
    let inner = inner.strip_suffix(b"\"")?;
    let mut path = Vec::with_capacity(inner.len());
    let mut rest = inner.iter().copied();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            path.push(byte);
            continue;
        }
        path.push(match rest.next()? {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            first @ b'0'..=b'3' => {
                let digit = |byte: u8| byte.checked_sub(b'0').filter(|digit| *digit < 8);
                let second = digit(rest.next()?)?;
                let third = digit(rest.next()?)?;
                (first - b'0') * 64 + second * 8 + third
            }
            other @ (b'"' | b'\\') => other,
            _ => return None,
        });
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_round_trips_every_byte() {
        let every: Vec<u8> = (1..=255).collect();
        let text = quoted(&every);
        assert!(!text.contains(&b'\n'));
        assert_eq!(unquoted(&text), Some(every));
        assert_eq!(
            quoted("src/größe 1.rs".as_bytes()),
            "src/größe 1.rs".as_bytes()
        );
        assert_eq!(unquoted(b"\"a\\"), None);
        assert_eq!(unquoted(b"\"a\\q\""), None);
    }

    #[test]
    fn knows_drives_and_folders() {
        assert!(has_drive("C:\\a") && has_drive("\\\\host\\share") && !has_drive("src/c:x"));
        assert_eq!(folder(b"a/b/c"), b"a/b");
        assert_eq!(folder(b"c"), b"");
    }
}
