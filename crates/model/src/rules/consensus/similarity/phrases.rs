//! Searches a text for many phrases in one pass, ignoring ASCII case.

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, Match};

pub(crate) struct Phrases(AhoCorasick);

impl Phrases {
    /// Parses a list of phrases that are separated by `, `.
    pub(crate) fn of(phrases: &str) -> Self {
        let built = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .build(phrases.split(", "));
        Self(built.expect("a few short phrases"))
    }

    pub(crate) fn are_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    pub(crate) fn are_words_of(&self, text: &str) -> bool {
        self.beginnings(text)
            .any(|found| !text[found.end()..].starts_with(|c: char| c.is_alphanumeric()))
    }

    pub(crate) fn begin_a_word(&self, text: &str) -> bool {
        self.beginnings(text).next().is_some()
    }

    fn beginnings<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Match> + 'a {
        self.0
            .find_overlapping_iter(text)
            .filter(move |found| !text[..found.start()].ends_with(|c: char| c.is_alphanumeric()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_list_that_begins_a_word() {
        let begins = |text| {
            ["secur", "injection", "test"].map(|phrase| Phrases::of(phrase).begin_a_word(text))
        };
        assert_eq!(begins("A Test of SECURITY"), [true, false, true]);
        assert_eq!(begins("insecure: latest injection"), [false, true, false]);
        let phrases = Phrases::of("secur, injection, test");
        assert!(!phrases.begin_a_word("latest"));
        assert!(phrases.are_in("latest"));
        assert!(phrases.are_words_of("a test.") && !phrases.are_words_of("tests, security"));
    }
}
