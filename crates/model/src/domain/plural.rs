//! Formats a number together with a noun.

/// Formats a number with its noun, as in `1 finding` or `2 findings`.
pub fn number_of(number: impl TryInto<u64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        assert_eq!(
            [0_usize, 1, 2].map(|number| number_of(number, "line")),
            ["0 lines", "1 line", "2 lines"]
        );
    }
}
