//! The processes below a process. Only Linux lists them; elsewhere the lists are empty, and Glee reaches only the process
//! group. The parameter `process` is a process id or the word `self`.

use nix::unistd::Pid;

/// Returns all descendants of a process, with each parent before its children.
pub(crate) fn descendants(process: &str) -> Vec<Pid> {
    let mut found = children(process);
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        let deeper = children(&pid.to_string());
        found.extend(deeper);
        next += 1;
    }
    found
}

pub(crate) fn children(process: &str) -> Vec<Pid> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else {
        return Vec::new();
    };
    threads
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|list| {
            list.split_whitespace()
                .filter_map(|pid| pid.parse().ok())
                .collect::<Vec<_>>()
        })
        .map(Pid::from_raw)
        .collect()
}
