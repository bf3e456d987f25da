//! The shell script that git starts as a hook. The script runs an earlier hook and then `glee hook run`. The
//! script contains no part of the review, so an installed script stays valid when Glee is updated.

use super::options::{Hook, HookOptions};
use glee_store::config::schema::units;

/// The file name extension of an earlier hook. Glee's hook runs the earlier hook first.
pub(crate) const EARLIER: &str = "before-glee";

/// The second line of the script. Glee recognises its own hooks by this line.
fn mark(hook: Hook) -> String {
    let name = hook.name();
    format!(
        "# `glee hook install {name}` wrote this file, and `glee hook uninstall {name}` removes it."
    )
}

pub(crate) fn is_own(hook: Hook, text: &[u8]) -> bool {
    let mark = mark(hook);
    text.split(|byte| *byte == b'\n')
        .take(3)
        .any(|line| line == mark.as_bytes())
}

/// Finds the command `glee hook run` in the text of an installed script, and returns the options of this command,
/// such as `--mode warn`.
pub(crate) fn options(hook: Hook, text: &str) -> Option<&str> {
    let call = format!("glee hook run {} ", hook.name());
    let (_, words) = text.lines().rev().find_map(|line| line.split_once(&call))?;
    let end = [" </dev/null", " -- "]
        .iter()
        .filter_map(|end| words.find(end))
        .min();
    Some(&words[..end.unwrap_or(words.len())])
}

/// Returns the script. The script passes its arguments and its standard input to the earlier hook. If the earlier
/// hook fails, the script ends. The script for `pre-push` stores the standard input in a variable, because the
/// earlier hook and Glee both read the input. The script appends a dot to the variable. Without the dot, the shell
/// would remove line breaks at the end of the input.
pub(crate) fn text(hook: Hook, options: &HookOptions) -> String {
    let name = hook.name();
    let skip = hook.skip();
    let mark = mark(hook);
    let mode = options.mode.word();
    let timeout = units::duration_text(options.timeout(hook));
    let (read, feed, call) = match hook {
        Hook::PreCommit | Hook::PostCommit => (
            "",
            "",
            format!("exec glee hook run {name} --mode {mode} --timeout {timeout} </dev/null"),
        ),
        Hook::PrePush => (
            "input=$(cat && echo .)\n",
            "printf %s \"${input%.}\" | ",
            format!(
                "printf %s \"${{input%.}}\" | glee hook run {name} --mode {mode} --timeout {timeout} -- \"$@\""
            ),
        ),
    };
    format!(
        "#!/bin/sh\n{mark}\n\
         # Skip it once: {skip}. Change the options by installing it again.\n\
         # An earlier hook is kept as `{name}.{EARLIER}` and runs first.\n\
         {read}earlier=$(dirname -- \"$0\")/{name}.{EARLIER}\n\
         if [ -x \"$earlier\" ]; then\n  {feed}\"$earlier\" \"$@\" || exit\nfi\n\
         if ! command -v glee >/dev/null 2>&1; then\n  \
         echo 'glee: the program `glee` is not on the PATH, so the hook {name} reviews nothing' >&2\n  exit 0\nfi\n\
         {call}\n"
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::options::{HOOKS, HookMode};
    use super::*;

    #[test]
    fn a_script_is_recognised_with_its_options() {
        for (_, hook, _) in HOOKS {
            let text = text(
                *hook,
                &HookOptions::of(HookMode::Block, Duration::from_secs(90)),
            );
            assert!(is_own(*hook, text.as_bytes()), "{text}");
            assert_eq!(
                options(*hook, &text),
                Some("--mode block --timeout 1m30s"),
                "{text}"
            );
        }
        assert!(!is_own(
            Hook::PrePush,
            b"#!/bin/sh\nglee hook run pre-push\n"
        ));
    }
}
