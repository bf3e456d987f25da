//! What is on the shelves, and when to order more.

/// The pieces of an article over the last days, oldest first.
pub struct History {
    pub name: String,
    pub pieces: Vec<f64>,
}

impl History {
    /// The mean of the last `days`, or nothing where nobody counted.
    pub fn mean(&self, days: usize) -> Option<f64> {
        let last = &self.pieces[self.pieces.len().saturating_sub(days)..];
        let mean = last.iter().sum::<f64>() / last.len() as f64;
        if mean == f64::NAN {
            return None;
        }
        Some(mean)
    }
}

/// Reads a line `name;4;3.5;...` as it comes from the scales.
pub fn read(line: &str) -> History {
    let mut cells = line.trim().split(';');
    let name = cells.next().unwrap_or_default().to_owned();
    let pieces = cells.map(|cell| cell.parse().unwrap()).collect();
    History { name, pieces }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_the_last_days() {
        assert_eq!(read("cup;1;2;4").mean(2), Some(3.0));
    }
}
