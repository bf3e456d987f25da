//! Splits the files of a review by path into shards of bounded size. A reviewer receives one shard per call.

use crate::protocol::request::SourceFile;

/// Splits files into shards of at most `limit` bytes of code. The files have to be sorted by path.
///
/// The hashes of paths determine where a shard ends. Therefore, a changed, added or removed file affects only a
/// few shards. Files of one folder stay together if they fit into one shard. A file that is larger than the limit
/// is a separate shard. Equal input always results in equal shards.
pub(crate) fn split(files: &[SourceFile], limit: u64) -> Vec<Vec<usize>> {
    let sizes: Vec<u64> = files.iter().map(size).collect();
    let mut shards = Vec::new();
    let mut start = 0;
    while start < files.len() {
        let end = end_of_shard(files, &sizes, start, limit);
        shards.push((start..end).collect());
        start = end;
    }
    shards
}

/// Returns the exclusive end of the shard that begins at `start`.
fn end_of_shard(files: &[SourceFile], sizes: &[u64], start: usize, limit: u64) -> usize {
    let mut used = 0;
    let mut fitting = start;
    // The indexes at which the shard can end (exclusive), with the resulting size of the shard in bytes.
    let mut cuts: Vec<(usize, u64)> = Vec::new();
    while let Some(size) = sizes.get(fitting)
        && (fitting == start || used + size <= limit)
    {
        used += size;
        fitting += 1;
        cuts.push((fitting, used));
    }
    if fitting == files.len() {
        return fitting;
    }
    let is_large = |(_, used): &(usize, u64)| *used >= limit / 4;
    let between_folders = |(at, _): &(usize, u64)| folder(&files[at - 1]) != folder(&files[*at]);
    let strongest = |cuts: &mut dyn Iterator<Item = (usize, u64)>| {
        // Of the possible ends, chooses the end that is directly before the path with the highest hash.
        cuts.max_by_key(|(at, _)| *blake3::hash(files[*at].path.as_bytes()).as_bytes())
            .map(|(at, _)| at)
    };
    if let Some(at) = strongest(
        &mut cuts
            .iter()
            .copied()
            .filter(|cut| is_large(cut) && between_folders(cut)),
    ) {
        return at;
    }
    // The shard ends before a folder that fits into the next shard, so that the folder is not split.
    if let Some((at, _)) = cuts.iter().rev().find(|cut| between_folders(cut)) {
        let next = folder(&files[*at]);
        let together = files[*at..]
            .iter()
            .zip(&sizes[*at..])
            .take_while(|(file, _)| folder(file) == next);
        if together.map(|(_, size)| size).sum::<u64>() <= limit {
            return *at;
        }
    }
    strongest(&mut cuts.iter().copied().filter(is_large)).unwrap_or(fitting)
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
        let files = [
            ("a/1", 40),
            ("a/2", 40),
            ("b/1", 30),
            ("b/2", 10),
            ("c/1", 60),
        ];
        assert_eq!(shards(&files, 1000), [vec![0, 1, 2, 3, 4]]);
        assert_eq!(shards(&files, 100), [vec![0, 1], vec![2, 3, 4]]);
        assert_eq!(shards(&files, 80), [vec![0, 1], vec![2, 3], vec![4]]);
    }

    #[test]
    fn large_folders_and_files_are_split_off() {
        let files = [
            ("a/1", 40),
            ("a/2", 200),
            ("a/3", 30),
            ("a/4", 30),
            ("b", 10),
        ];
        assert_eq!(shards(&files, 70), [vec![0], vec![1], vec![2, 3, 4]]);
        assert_eq!(shards(&[], 70), Vec::<Vec<usize>>::new());
    }

    fn tree(count: usize) -> Vec<(String, usize)> {
        let name = |at: usize| format!("src/{:02}/file_{at:04}.rs", at / 12);
        (0..count)
            .map(|at| (name(at), 500 + (at * 7919) % 4000))
            .collect()
    }

    fn paths_by_shard(files: &[(String, usize)], limit: u64) -> Vec<Vec<String>> {
        let named: Vec<(&str, usize)> = files
            .iter()
            .map(|(path, size)| (path.as_str(), *size))
            .collect();
        let names = |shard: &Vec<usize>| shard.iter().map(|at| files[*at].0.clone()).collect();
        shards(&named, limit).iter().map(names).collect()
    }

    #[test]
    fn a_file_more_or_less_leaves_other_shards_as_they_were() {
        const LIMIT: u64 = 40_000;
        let files = tree(400);
        let before = paths_by_shard(&files, LIMIT);
        assert!(before.len() > 20, "{} shards", before.len());
        let mut new = 0;
        let mut all = 0;
        for at in (0..files.len()).step_by(9) {
            let mut fewer = files.clone();
            fewer.remove(at);
            let mut larger = files.clone();
            larger[at].1 += 700;
            for changed in [fewer, larger] {
                let after = paths_by_shard(&changed, LIMIT);
                new += after.iter().filter(|shard| !before.contains(shard)).count();
                all += 1;
            }
        }
        // On average, a change affects at most one shard besides the one that contains the changed file.
        assert!(new <= all * 2, "{new} new shards in {all} changes");
    }

    proptest::proptest! {
        #[test]
        fn every_file_is_in_one_shard_within_the_bound(
            sizes in proptest::collection::vec((0_usize..6, 0_usize..300), 0..60),
            limit in 1_u64..500,
        ) {
            let mut files: Vec<(String, usize)> =
                sizes.iter().enumerate().map(|(at, (folder, size))| (format!("{folder}/{at:03}"), *size)).collect();
            files.sort();
            let named: Vec<(&str, usize)> = files.iter().map(|(path, size)| (path.as_str(), *size)).collect();
            let shards = shards(&named, limit);
            proptest::prop_assert_eq!(shards.concat(), (0..files.len()).collect::<Vec<_>>());
            for shard in &shards {
                let size: u64 = shard.iter().map(|at| files[*at].1 as u64).sum();
                proptest::prop_assert!(shard.len() == 1 || size <= limit);
            }
        }
    }
}
