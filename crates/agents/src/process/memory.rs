//! Reads how much memory the system can give to new processes.

use std::fs;
use std::path::Path;

/// The memory in bytes that new processes can use without swapping, within the limits of the control groups of this
/// process; `None` if the system does not say it (outside Linux).
pub fn available() -> Option<u64> {
    let system = of_system(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = own.lines().find_map(|line| line.strip_prefix("0::/"));
    let group = Path::new("/sys/fs/cgroup").join(group.unwrap_or_default());
    // A limit of a group also holds for the groups below it.
    let groups = group.ancestors().filter_map(of_group);
    groups.chain([system]).min()
}

/// Reads `/proc/meminfo`, whose numbers are in KiB.
fn of_system(text: &str) -> Option<u64> {
    Some(field(text, "MemAvailable:")? << 10)
}

/// What is left below the limit of a control group; `None` if the group has no limit.
fn of_group(folder: &Path) -> Option<u64> {
    let read = |name| fs::read_to_string(folder.join(name)).ok();
    let number = |name| read(name)?.trim().parse::<u64>().ok();
    let limit = number("memory.max")?;
    // The kernel takes pages of files back before it refuses memory.
    let reclaimable = field(&read("memory.stat")?, "inactive_file").unwrap_or(0);
    let used = number("memory.current")?.saturating_sub(reclaimable);
    Some(limit.saturating_sub(used))
}

fn field(text: &str, name: &str) -> Option<u64> {
    let mut rows = text.lines().map(str::split_whitespace);
    let mut row = rows.find_map(|mut row| (row.next() == Some(name)).then_some(row))?;
    row.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn memory_is_what_the_system_and_the_group_leave() {
        let text = "MemTotal:  8000 kB\nMemFree: 1 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(of_system(text), Some(2 << 20));
        assert_eq!(of_system("MemTotal: 1 kB\n"), None);

        let group = tempfile::tempdir().unwrap();
        let write = |name, text| fs::write(group.path().join(name), text).unwrap();
        assert_eq!(of_group(group.path()), None, "the root has no limit");
        write("memory.max", "max\n");
        write("memory.current", "700\n");
        write("memory.stat", "anon 400\ninactive_file 200\n");
        assert_eq!(of_group(group.path()), None);
        write("memory.max", "1000\n");
        assert_eq!(of_group(group.path()), Some(500));
        write("memory.current", "1300\n");
        assert_eq!(of_group(group.path()), Some(0));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_tells_it() {
        assert!(available().unwrap() > 0);
    }
}
