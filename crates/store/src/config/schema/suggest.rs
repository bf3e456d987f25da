//! Suggests a valid word in place of a mistyped word.

/// Returns the word that is most similar to `typed`. At most a third of the characters are allowed to differ.
pub fn closest<'a>(typed: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let length = typed.chars().count();
    words
        .into_iter()
        .map(|word| (strsim::osa_distance(&typed, &word.to_lowercase()), word))
        .filter(|(distance, word)| *distance <= length.max(word.chars().count()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

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
