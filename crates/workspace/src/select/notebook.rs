//! Reads Jupyter notebooks: the lines of their cells are code, and everything else is what programs write.

pub(crate) fn is_notebook(path: &str) -> bool {
    path.ends_with(".ipynb")
}

/// Returns a notebook with all lines empty that have no line of a cell, so that the cells keep their line numbers.
/// Returns `None` if the text is no notebook of which each line has code or an output, as all programs write it.
pub(crate) fn cells(text: &str) -> Option<String> {
    let mut scan = Scan::default();
    let mut cells = String::new();
    for line in text.split_inclusive('\n') {
        let content = scan.line(line)?;
        if content.has_source && content.has_output {
            return None;
        }
        cells.push_str(if content.has_source { line } else { "\n" });
    }
    (scan.has_cells && scan.open.is_empty()).then_some(cells)
}

/// Whether a text is what [`cells`] returns. A notebook begins with a bracket.
pub(crate) fn is_cells(path: &str, text: &str) -> bool {
    is_notebook(path) && text.starts_with('\n')
}

#[derive(Default)]
struct LineContent {
    has_source: bool,
    has_output: bool,
}

/// An open object or list.
struct Level {
    is_list: bool,
    /// The last key of an object.
    key: String,
}

/// Follows the keys of a JSON text, line by line. A string never spans lines.
#[derive(Default)]
struct Scan {
    open: Vec<Level>,
    has_cells: bool,
    /// Whether the next string of an object is a value.
    is_value: bool,
}

impl Scan {
    /// Returns `None` if the text is no JSON.
    fn line(&mut self, line: &str) -> Option<LineContent> {
        let mut content = LineContent::default();
        let mut rest = line.trim();
        while let Some(first) = rest.chars().next() {
            let length = if first == '"' {
                string_length(rest)?
            } else {
                first.len_utf8()
            };
            let (token, behind) = rest.split_at(length);
            rest = behind.trim_start();
            match first {
                '{' | '[' => {
                    self.open.push(Level {
                        is_list: first == '[',
                        key: String::new(),
                    });
                    self.is_value = first == '[';
                }
                '}' | ']' => {
                    self.open.pop()?;
                    self.is_value = false;
                }
                ',' => self.is_value = self.open.last().is_some_and(|level| level.is_list),
                ':' => self.is_value = true,
                // An escaped key could be spelled as another one.
                '"' if !self.is_value && token.contains('\\') => return None,
                '"' if !self.is_value => {
                    token[1..length - 1].clone_into(&mut self.open.last_mut()?.key);
                }
                _ => {}
            }
            let keys: Vec<&str> = self.open.iter().map(|level| level.key.as_str()).collect();
            self.has_cells |= keys.first() == Some(&"cells");
            let is_in = |key: &str| keys.len() > 2 && keys[0] == "cells" && keys[2] == key;
            content.has_source |= first == '"' && self.is_value && is_in("source");
            content.has_output |= is_in("outputs") && (first == '"' && self.is_value);
        }
        Some(content)
    }
}

/// The length of the string literal at the start of a text, with its quotes.
fn string_length(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    let mut chars = text.char_indices().skip(1);
    let end = chars.find(|(_, c)| {
        let ends = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends
    });
    end.map(|(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTEBOOK: &str = "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 3,\n   \"metadata\": {\"source\": \"x\"},\n   \
        \"outputs\": [\n    {\n     \"data\": {\n      \"image/png\": \"iVBORw0\",\n      \"text/plain\": [\n       \"\\\"source\\\": [\"\n      ]\n     }\n    }\n   ],\n   \
        \"source\": [\n    \"import os\\n\",\n    \"x = \\\"]}\\\"\"\n   ]\n  },\n  {\n   \"cell_type\": \"markdown\",\n   \"source\": \"# A title\"\n  }\n ],\n \"metadata\": {},\n \"nbformat\": 4\n}\n";

    #[test]
    fn only_the_lines_of_cells_stay() {
        let found = cells(NOTEBOOK).expect("a notebook");
        let kept: Vec<&str> = found.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(
            kept,
            [
                "    \"import os\\n\",",
                "    \"x = \\\"]}\\\"\"",
                "   \"source\": \"# A title\""
            ]
        );
        assert_eq!(found.lines().count(), NOTEBOOK.lines().count());
        assert!(is_cells("a.ipynb", &found) && !is_cells("a.ipynb", NOTEBOOK));
    }

    #[test]
    fn a_notebook_in_one_line_or_no_notebook_is_none() {
        let one_line = r#"{"cells":[{"outputs":["x"],"source":["y"]}],"nbformat":4}"#;
        let escaped = NOTEBOOK.replace("\"source\": [", "\"sourc\\u0065\": [");
        for text in [
            one_line,
            &escaped,
            "",
            "{}",
            "[]",
            "x = 1\n",
            "{\n\"cells\": [\n",
            "}\n",
        ] {
            assert_eq!(cells(text), None, "{text}");
        }
        let empty = cells("{\n \"cells\": []\n}\n").expect("a notebook without cells");
        assert_eq!(empty.trim(), "");
    }
}
