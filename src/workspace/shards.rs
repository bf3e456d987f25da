//! Shards: the files of one call of a reviewer, by size and folder.

use crate::protocol::request::SourceFile;

/// Splits files, sorted by path, into shards of at most `limit` bytes of code each.
///
/// Files of one folder stay together where they fit; a file larger than the limit is a shard of its own. The same
/// files always give the same shards.
pub(super) fn split(files: &[SourceFile], limit: u64) -> Vec<Vec<usize>> {
    let mut shards: Vec<(u64, Vec<usize>)> = Vec::new();
    let mut numbers = 0..;
    for together in files.chunk_by(|one, other| folder(one) == folder(other)) {
        let whole: u64 = together.iter().map(size).sum();
        if shards.last().is_none_or(|(used, _)| used + whole > limit) {
            shards.push((0, Vec::new()));
        }
        for (file, number) in together.iter().zip(&mut numbers) {
            let size = size(file);
            match shards.last_mut() {
                Some((used, shard)) if shard.is_empty() || *used + size <= limit => {
                    *used += size;
                    shard.push(number);
                }
                _ => shards.push((size, vec![number])),
            }
        }
    }
    shards.into_iter().map(|(_, shard)| shard).collect()
}

fn folder(file: &SourceFile) -> &str {
    file.path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn size(file: &SourceFile) -> u64 {
    let deleted = file.diff.as_ref().filter(|_| file.text.is_empty());
    deleted.map_or(file.text.len(), String::len) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shards(files: &[(&str, usize)], limit: u64) -> Vec<Vec<usize>> {
        let file = |(path, size): &(&str, usize)| SourceFile {
            path: (*path).to_owned(),
            text: "x".repeat(*size),
            changed: Vec::new(),
            diff: None,
        };
        split(&files.iter().map(file).collect::<Vec<_>>(), limit)
    }

    #[test]
    fn folders_stay_together_where_they_fit() {
        let files = [("a/1", 40), ("a/2", 40), ("b/1", 30), ("b/2", 10), ("c/1", 60)];
        assert_eq!(shards(&files, 1000), [vec![0, 1, 2, 3, 4]]);
        assert_eq!(shards(&files, 100), [vec![0, 1], vec![2, 3, 4]]);
        assert_eq!(shards(&files, 80), [vec![0, 1], vec![2, 3], vec![4]]);
    }

    #[test]
    fn large_folders_and_files_are_split_off() {
        let files = [("a/1", 40), ("a/2", 200), ("a/3", 30), ("a/4", 30), ("b", 10)];
        assert_eq!(shards(&files, 70), [vec![0], vec![1], vec![2, 3, 4]]);
        assert_eq!(shards(&[], 70), Vec::<Vec<usize>>::new());
    }
}
