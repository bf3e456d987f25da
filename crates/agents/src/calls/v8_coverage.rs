//! Reads the executed lines from the coverage of V8, which Node.js writes to the folder `NODE_V8_COVERAGE`.

use std::path::Path;

use serde::Deserialize;

#[derive(Deserialize)]
struct Report {
    result: Vec<Script>,
}

#[derive(Deserialize)]
struct Script {
    url: String,
    functions: Vec<Function>,
}

#[derive(Deserialize)]
struct Function {
    /// The first range is the whole function, and the others are blocks in it.
    ranges: Vec<Range>,
}

/// The offsets count UTF-16 code units.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Range {
    start_offset: usize,
    end_offset: usize,
    count: u64,
}

impl Range {
    fn contains(self, offset: usize) -> bool {
        (self.start_offset..self.end_offset).contains(&offset)
    }
}

/// The executed lines of the files in the folder `root`, each with the path of its file relative to `root`. The text of a
/// file comes from `read`. A line on which a function begins is left out: it is executed when its module is loaded.
/// Returns `None` if the report cannot be read.
pub(super) fn lines(
    report: &str,
    root: &Path,
    read: impl Fn(&str) -> String,
) -> Option<Vec<(String, u32)>> {
    let report: Report = serde_json::from_str(report).ok()?;
    let mut found = Vec::new();
    for script in report.result {
        let path = script.url.strip_prefix("file://").map(Path::new);
        let path = path.and_then(|path| path.strip_prefix(root).ok()?.to_str());
        let Some(path) = path else { continue };
        let text = read(path);
        for (number, (first, end)) in (1..).zip(offsets(&text)) {
            if is_executed(&script.functions, first, end) {
                found.push((path.to_owned(), number));
            }
        }
    }
    Some(found)
}

/// The innermost range around the first character of a line decides.
fn is_executed(functions: &[Function], first: usize, end: usize) -> bool {
    let whole = functions
        .iter()
        .filter_map(|function| function.ranges.first());
    let mut begins = whole.filter(|range| range.start_offset > 0);
    if begins.any(|range| (first..end).contains(&range.start_offset)) {
        return false;
    }
    let ranges = functions.iter().flat_map(|function| &function.ranges);
    let around = ranges.filter(|range| range.contains(first));
    let innermost = around.min_by_key(|range| range.end_offset - range.start_offset);
    innermost.is_some_and(|range| range.count > 0)
}

/// For each line, the offsets of its first character that is not blank, and of its end. They are equal for a blank line,
/// which no range contains as a line of code.
fn offsets(text: &str) -> Vec<(usize, usize)> {
    let mut start = 0;
    let mut all = Vec::new();
    for line in text.split_inclusive('\n') {
        let length = line.encode_utf16().count();
        let blank = line.len() - line.trim_start().len();
        let blank = line[..blank].encode_utf16().count();
        let is_blank = line.trim().is_empty();
        let first = if is_blank { usize::MAX } else { start + blank };
        all.push((first, start + length));
        start += length;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_called_functions_are_executed() {
        let text = "export function a(x) {\n  if (x) {\n    return 1;\n  }\n  return 2;\n}\nfunction b() {\n  return 3;\n}\n\nconst é = 1;\n";
        let at = |part: &str| text.find(part).expect("a part of the text");
        let report = serde_json::json!({"result": [
            {"url": "file:///copy/a.mjs", "functions": [
                {"ranges": [{"startOffset": 0, "endOffset": text.encode_utf16().count(), "count": 1}]},
                {"ranges": [
                    {"startOffset": 7, "endOffset": at("function b") - 1, "count": 2},
                    {"startOffset": at("{\n    return 1"), "endOffset": at("return 2"), "count": 0}
                ]},
                {"ranges": [{"startOffset": at("function b"), "endOffset": at("const") - 2, "count": 0}]}
            ]},
            {"url": "node:internal", "functions": []},
            {"url": "file:///elsewhere/b.mjs", "functions": [{"ranges": [{"startOffset": 0, "endOffset": 9, "count": 1}]}]}
        ]});
        let read = |path: &str| {
            assert_eq!(path, "a.mjs");
            text.to_owned()
        };
        let found = lines(&report.to_string(), Path::new("/copy"), read).expect("a report");
        let found: Vec<u32> = found.into_iter().map(|(_, line)| line).collect();
        assert_eq!(found, [2, 5, 6, 11]);
        assert_eq!(lines("{", Path::new("/copy"), read), None);
    }
}
