//! Folds white space.

/// The words of a text, with one space between them.
pub fn fold(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut folded = words.next().unwrap_or_default().to_owned();
    words.for_each(|word| folded.extend([" ", word]));
    folded
}
