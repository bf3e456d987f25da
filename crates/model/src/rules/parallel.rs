//! Processes items in parallel, and returns the results in the order of the items.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

const ITEMS_PER_THREAD: usize = 2048;

/// Splits the items into at most one part for each processor, and applies `work` to the parts in parallel.
pub fn parts<T: Sync, R: Send>(items: &[T], work: impl Fn(&[T]) -> R + Sync) -> Vec<R> {
    parts_of(items, ITEMS_PER_THREAD, work)
}

/// Splits the items into parts of at least `per_thread` items, and applies `work` to the parts in parallel.
pub(crate) fn parts_of<T: Sync, R: Send>(
    items: &[T],
    per_thread: usize,
    work: impl Fn(&[T]) -> R + Sync,
) -> Vec<R> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = processors.min(items.len() / per_thread).max(1);
    let mut chunks = items.chunks(items.len().div_ceil(threads).max(1));
    let first = chunks.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> = chunks.map(|chunk| scope.spawn(|| work(chunk))).collect();
        let mut results = vec![work(first)];
        results.extend(
            others
                .into_iter()
                .map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic))),
        );
        results
    })
}

pub fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    parts(items, |part| part.iter().map(&work).collect::<Vec<R>>())
        .into_iter()
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_stays_whatever_the_number_of_items() {
        for count in [0, 1, ITEMS_PER_THREAD - 1, 10 * ITEMS_PER_THREAD + 1] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(
                each(&items, |item| item * 2),
                items.iter().map(|item| item * 2).collect::<Vec<_>>()
            );
        }
    }
}
