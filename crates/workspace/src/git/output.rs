//! Parses what git prints.

use crate::git::path_bytes;

/// Parses the output of `ls-tree -z` or `ls-files -z --stage`. For `ls-tree`, yields the git mode, the object
/// type, the object id and the path. For `ls-files`, yields the git mode, the object id, the stage number and
/// the path.
pub fn records(listed: &[u8]) -> impl Iterator<Item = (u32, &str, &str, &[u8])> {
    path_bytes::items(listed, 0).filter_map(|record| {
        let (head, path) = record.split_at(memchr::memchr(b'\t', record)?);
        let mut words = std::str::from_utf8(head).ok()?.split(' ');
        let mode = u32::from_str_radix(words.next()?, 8).ok()?;
        Some((mode, words.next()?, words.next()?, &path[1..]))
    })
}

pub fn object_id(line: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?;
    (matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_ids_are_ids() {
        let id = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
        assert_eq!(object_id(id.as_bytes()).as_deref(), Some(id));
        assert_eq!(object_id(b"HEAD"), None);
        assert_eq!(object_id(&id.as_bytes()[1..]), None);
    }
}
