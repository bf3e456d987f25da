//! Reads and decodes text files. The functions of this module do not follow links, and do not wait for the
//! writer of a FIFO.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use nix::fcntl::OFlag;

/// Opens a regular file for reading. Fails for a link, a FIFO or a device.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    if !std::fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    // A link or a FIFO can have replaced the file since the call of `symlink_metadata`.
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits())
        .open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("not a regular file"))
    }
}

/// Reads a regular file. Returns `None` if the file has more than `cap` bytes.
pub(crate) fn read_capped(path: &Path, cap: u64) -> io::Result<Option<Vec<u8>>> {
    let file = open_regular(path)?;
    let size = file.metadata()?.len();
    if size > cap {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(cap.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= cap).then_some(bytes))
}

/// Decodes UTF-8, UTF-16 and UTF-32. Invalid UTF-8 becomes U+FFFD, and NUL becomes `\x00`.
pub(crate) fn lossy(bytes: Vec<u8>) -> String {
    let text = wide(&bytes).unwrap_or_else(|| {
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    });
    if text.contains('\0') {
        text.replace('\0', "\\x00")
    } else {
        text
    }
}

/// Decodes UTF-16 and UTF-32 with a byte order mark. Without a byte order mark, decodes UTF-16 if at least half of
/// the text is ASCII. Returns `None` if the bytes are neither UTF-16 nor UTF-32.
pub(crate) fn wide(bytes: &[u8]) -> Option<String> {
    let (units, rest) = bytes.as_chunks::<2>();
    let little = || units.iter().map(|unit| u16::from_le_bytes(*unit));
    let big = || units.iter().map(|unit| u16::from_be_bytes(*unit));
    match bytes {
        [0xff, 0xfe, 0, 0, rest @ ..] => utf32(rest, u32::from_le_bytes),
        [0, 0, 0xfe, 0xff, rest @ ..] => utf32(rest, u32::from_be_bytes),
        [0xff, 0xfe, ..] => utf16(little().skip(1)),
        [0xfe, 0xff, ..] => utf16(big().skip(1)),
        _ if units.len() < 2 || rest.len() > 1 || memchr::memchr(0, bytes).is_none() => None,
        _ if is_mostly_ascii(little()) => utf16(little()),
        _ if is_mostly_ascii(big()) => utf16(big()),
        _ => None,
    }
}

/// Decodes UTF-16. Returns `None` if more than a tenth of the input is invalid.
fn utf16(units: impl Iterator<Item = u16>) -> Option<String> {
    decoded(char::decode_utf16(units).map(Result::ok))
}

fn utf32(bytes: &[u8], unit: fn([u8; 4]) -> u32) -> Option<String> {
    decoded(
        bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|bytes| char::from_u32(unit(*bytes))),
    )
}

fn decoded(chars: impl Iterator<Item = Option<char>>) -> Option<String> {
    let mut text = String::new();
    let mut all = 0_usize;
    let mut invalid = 0_usize;
    for char in chars {
        all += 1;
        invalid += usize::from(char.is_none());
        text.push(char.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    (invalid * 10 <= all).then_some(text)
}

/// Whether the first 4,096 code units contain no NUL, and at least half of these units are printable ASCII.
fn is_mostly_ascii(units: impl Iterator<Item = u16>) -> bool {
    let mut all = 0_usize;
    let mut ascii = 0_usize;
    for unit in units.take(4096) {
        match unit {
            0 => return false,
            0x20..=0x7e | 0x9 | 0xa | 0xd => ascii += 1,
            _ => {}
        }
        all += 1;
    }
    ascii * 2 >= all
}

pub(crate) fn lines(text: &str) -> u32 {
    u32::try_from(text.lines().count()).unwrap_or(u32::MAX)
}

/// Whether `places` are all lines of a text, as those of an added file are.
pub(crate) fn is_all(text: &str, places: &[(u32, u32)]) -> bool {
    matches!(places, [(1, last)] if *last == lines(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16_of(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn text_in_other_encodings_is_decoded_and_a_nul_is_shown() {
        let text = "def f():\n    return 'größe'\n";
        assert_eq!(lossy(utf16_of(text, u16::to_le_bytes)), text);
        assert_eq!(lossy(utf16_of(text, u16::to_be_bytes)), text);
        assert_eq!(
            lossy([b"\xff\xfe", utf16_of(text, u16::to_le_bytes).as_slice()].concat()),
            text
        );
        assert_eq!(
            lossy([b"\xfe\xff", utf16_of(text, u16::to_be_bytes).as_slice()].concat()),
            text
        );
        let wide: Vec<u8> = text
            .chars()
            .flat_map(|char| u32::from(char).to_le_bytes())
            .collect();
        assert_eq!(lossy([b"\xff\xfe\0\0", wide.as_slice()].concat()), text);
        assert_eq!(lossy(b"# \0\nevil()\n".to_vec()), "# \\x00\nevil()\n");
        assert_eq!(lossy(text.as_bytes().to_vec()), text);
        assert_eq!(lossy(b"a\0b\0c\0".to_vec()), "abc");
    }
}
