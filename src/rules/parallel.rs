//! The same work on many items, spread over the processors; the results stand in the order of the items.

use std::num::NonZero;
use std::thread;

/// Fewer items than this are not worth a thread.
const WORTH_A_THREAD: usize = 2048;

/// Does `work` on each part of the items; parts are in order, and as many as the processors can take side by side.
pub(crate) fn parts<T: Sync, R: Send>(items: &[T], work: impl Fn(&[T]) -> R + Sync) -> Vec<R> {
    parts_of(items, WORTH_A_THREAD, work)
}

/// The same, with a thread for every so many items.
pub(crate) fn parts_of<T: Sync, R: Send>(items: &[T], worth: usize, work: impl Fn(&[T]) -> R + Sync) -> Vec<R> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = processors.min(items.len() / worth).max(1);
    let mut chunks = items.chunks(items.len().div_ceil(threads).max(1));
    let first = chunks.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> = chunks.map(|chunk| scope.spawn(|| work(chunk))).collect();
        let mut results = vec![work(first)];
        for other in others {
            results.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    })
}

pub(crate) fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    parts(items, |part| part.iter().map(&work).collect::<Vec<R>>()).into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_stays_whatever_the_number_of_items() {
        for count in [0, 1, WORTH_A_THREAD - 1, 10 * WORTH_A_THREAD + 1] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(each(&items, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
        }
    }
}
