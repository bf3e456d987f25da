//! Reads which lines were executed, from the coverage report of a runner: LCOV, or the profile of `go test`.

use std::ops::RangeInclusive;

/// The lines of a file that were executed.
pub type Executed<'a> = (&'a str, RangeInclusive<u32>);

/// The executed lines, with the paths as the report has them.
pub fn executed(report: &str) -> Vec<Executed<'_>> {
    let mut found = Vec::new();
    let mut file = "";
    for line in report.lines() {
        if let Some(path) = line.strip_prefix("SF:") {
            file = path;
        } else if let Some(counted) = line.strip_prefix("DA:") {
            let mut fields = counted.split(',').map(str::parse::<u32>);
            if let (Some(Ok(number)), Some(Ok(1..))) = (fields.next(), fields.next()) {
                found.push((file, number..=number));
            }
        } else {
            found.extend(of_go(line));
        }
    }
    found
}

/// A line of Go's profile: `example.com/shop/total.go:3.28,5.2 1 4`, with the first and the last line and column, the
/// number of statements and how often they were executed.
fn of_go(line: &str) -> Option<Executed<'_>> {
    let (path, rest) = line.rsplit_once(':')?;
    let mut fields = rest.split(' ');
    let (first, last) = fields.next()?.split_once(',')?;
    let number = |place: &str| place.split_once('.')?.0.parse::<u32>().ok();
    let count: u32 = fields.nth(1)?.parse().ok()?;
    (count > 0).then_some((path, number(first)?..=number(last)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_both_formats() {
        let rows: [(&str, &[Executed<'_>]); 6] = [
            (
                "TN:\nSF:src/total.js\nFN:1,total\nDA:1,1\nDA:2,0\nDA:3,12\nend_of_record\nSF:b.js\nDA:7,2,abc\n",
                &[
                    ("src/total.js", 1..=1),
                    ("src/total.js", 3..=3),
                    ("b.js", 7..=7),
                ],
            ),
            (
                "mode: set\nexample.com/shop/total.go:3.28,5.2 1 1\nexample.com/shop/total.go:7.2,9.3 2 0\n",
                &[("example.com/shop/total.go", 3..=5)],
            ),
            ("mode: count\na.go:3.28,5.2 1 400\n", &[("a.go", 3..=5)]),
            ("DA:x,1\nDA:\nSF:\n", &[]),
            ("a.go:3,5 1 1\na.go:3.1,5.1\n", &[]),
            ("", &[]),
        ];
        for (report, expected) in rows {
            assert_eq!(executed(report), expected, "{report}");
        }
    }
}
