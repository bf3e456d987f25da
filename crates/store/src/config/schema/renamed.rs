//! Lists earlier names of keys, which Glee accepts in files, variables, flags and recorded runs.

/// Pairs of the earlier name and the present name of a key.
pub const KEYS: [(&str, &str); 12] = [
    ("limits.total", "limits.call_timeout"),
    ("limits.first_output", "limits.first_output_timeout"),
    ("limits.idle", "limits.idle_timeout"),
    ("limits.output", "limits.max_output_size"),
    ("limits.line", "limits.max_line_size"),
    ("limits.grace", "limits.kill_grace"),
    ("budget.wall", "budget.duration"),
    ("watch.settle", "watch.debounce"),
    ("watch.fallback", "watch.idle_review"),
    ("watch.clarify", "watch.clarify_timeout"),
    ("review.shard", "review.max_shard_size"),
    ("review.max_file", "review.max_file_size"),
];

pub fn today(name: &str) -> Option<&'static str> {
    KEYS.into_iter()
        .find(|(earlier, _)| *earlier == name)
        .map(|(_, today)| today)
}

pub fn earlier(name: &str) -> Option<&'static str> {
    KEYS.into_iter()
        .find(|(_, today)| *today == name)
        .map(|(earlier, _)| earlier)
}

pub fn notice(earlier: &str, today: &str) -> String {
    format!("`{earlier}` is now called `{today}`")
}
