//! Tables of text: columns as wide as their widest cell, on lines that fit the screen.

use super::{Style, columns, widest, wrap};

/// Formats the rows of a table. Each column is as wide as its widest cell. `right` contains the indices of the
/// right-aligned columns.
pub fn table<const N: usize>(rows: &[[String; N]], right: &[usize]) -> Vec<String> {
    let widths: [usize; N] =
        std::array::from_fn(|column| widest(rows.iter().map(|row| &row[column])));
    rows.iter()
        .map(|row| {
            let cells = row
                .iter()
                .zip(widths)
                .enumerate()
                .map(|(column, (cell, width))| {
                    let blanks = " ".repeat(width - columns(cell));
                    if right.contains(&column) {
                        blanks + cell
                    } else {
                        cell.clone() + &blanks
                    }
                });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        })
        .collect()
}

fn first_columns<const N: usize>(rows: &[[String; N]], count: usize) -> Vec<[String; N]> {
    let mut rows = rows.to_vec();
    for row in &mut rows {
        row[count..].fill(String::new());
    }
    rows
}

/// The indentation of columns that stand below their row.
const INDENT: usize = 4;

impl Style {
    /// Formats the [`rows`](Self::rows) of a table below its heads.
    pub fn listing<const N: usize>(
        self,
        heads: [impl Into<String>; N],
        rows: impl IntoIterator<Item = [String; N]>,
        right: &[usize],
    ) -> String {
        let heads = std::iter::once(heads.map(Into::into));
        let rows: Vec<_> = heads.chain(rows).collect();
        self.rows(&rows, right).concat()
    }

    /// Formats the rows of a [`table`] for this width, each as lines that end with a line break. If the rows do not fit, the
    /// last column is wrapped, and columns without room for their longest word stand below their row.
    pub fn rows<const N: usize>(self, rows: &[[String; N]], right: &[usize]) -> Vec<String> {
        let lines = table(rows, right);
        if widest(&lines) <= self.width {
            return lines.into_iter().map(|line| line + "\n").collect();
        }
        let first = |count| table(&first_columns(rows, count), right);
        let words = rows.iter().flat_map(|row| row[N - 1].split_whitespace());
        let indent = widest(first(N - 1)) + 2;
        let is_beside = indent + widest(words) <= self.width;
        let fits = |count: &usize| widest(first(*count)) <= self.width;
        let (beside, indent) = if is_beside {
            (N - 1, indent)
        } else {
            ((1..N).rev().find(fits).unwrap_or(1), INDENT)
        };
        let mut formatted = Vec::new();
        for (mut head, row) in first(beside).into_iter().zip(rows) {
            let mut lines = Vec::new();
            if !is_beside {
                lines.push(self.cut(&std::mem::take(&mut head), self.width));
            }
            for line in wrap(&row[beside..].join("  "), self.width.saturating_sub(indent)) {
                let blanks = " ".repeat(indent - columns(&head));
                lines.push(std::mem::take(&mut head) + &blanks + &line);
            }
            formatted.push(lines.join("\n") + "\n");
        }
        formatted
    }
}
