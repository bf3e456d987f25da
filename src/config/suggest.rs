//! "Did you mean": the word of a list that is closest to a mistyped one.

/// The word of `words` that `typed` most likely stands for, if one is close enough to be worth naming.
pub fn closest<'a>(typed: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let length = typed.chars().count();
    words
        .into_iter()
        .map(|word| (distance(&typed, &word.to_lowercase()), word))
        .filter(|(distance, word)| *distance <= length.max(word.chars().count()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_edits() {
        for (a, b, edits) in
            [("", "", 0), ("", "abc", 3), ("judge", "judg", 1), ("judge", "jugde", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!(distance(a, b), edits, "{a} {b}");
            assert_eq!(distance(b, a), edits, "{b} {a}");
        }
    }

    #[test]
    fn names_the_closest_word_or_none() {
        let words = ["judge", "human", "discard"];
        assert_eq!(closest("judg", words), Some("judge"));
        assert_eq!(closest("HUMAN", words), Some("human"));
        assert_eq!(closest("dicsard", words), Some("discard"));
        assert_eq!(closest("coin", words), None);
        assert_eq!(closest("", words), None);
    }
}
