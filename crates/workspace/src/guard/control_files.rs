//! Recognises files that control agents, editors, CI systems, git or Glee.

/// At the root of a tree, these files and folders configure agents, editors, shells or Glee.
pub const PLACES: [&str; 16] = [
    ".glee",
    ".claude",
    ".codex",
    ".agents",
    ".gemini",
    ".opencode",
    ".qwen",
    ".copilot",
    ".cursor",
    ".vscode",
    ".idea",
    ".husky",
    ".mcp.json",
    "opencode.json",
    ".envrc",
    ".env",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlKind {
    /// The file changes how agents, editors or shells behave in the tree.
    Tools,
    Ci,
    Glee,
    Git,
}

pub fn control_kind(path: &str) -> Option<ControlKind> {
    const AGENTS: [&str; 4] = ["AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md"];
    const CI_FOLDERS: [&str; 5] = [
        ".github/",
        ".circleci/",
        ".buildkite/",
        ".gitlab/",
        ".forgejo/",
    ];
    const CI_FILES: [&str; 7] = [
        ".gitlab-ci.yml",
        ".travis.yml",
        "Jenkinsfile",
        "azure-pipelines.yml",
        "bitbucket-pipelines.yml",
        ".drone.yml",
        ".woodpecker.yml",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    let rows = [
        (
            ControlKind::Glee,
            is_at(path, ".glee") || name == ".gleeignore",
        ),
        (
            ControlKind::Git,
            [".gitattributes", ".gitmodules", ".gitignore"].contains(&name),
        ),
        (
            ControlKind::Ci,
            CI_FILES.contains(&name) || CI_FOLDERS.iter().any(|folder| path.starts_with(folder)),
        ),
        (
            ControlKind::Tools,
            AGENTS.contains(&name) || PLACES.iter().any(|place| is_at(path, place)),
        ),
    ];
    rows.into_iter()
        .find_map(|(kind, is_match)| is_match.then_some(kind))
}

fn is_at(path: &str, place: &str) -> bool {
    path.strip_prefix(place)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_control_files() {
        let rows = [
            ("src/a.rs", None),
            (".environment", None),
            (".glee/config.yml", Some(ControlKind::Glee)),
            ("src/.gleeignore", Some(ControlKind::Glee)),
            ("vendor/.gitattributes", Some(ControlKind::Git)),
            (".github/workflows/ci.yml", Some(ControlKind::Ci)),
            ("tools/Jenkinsfile", Some(ControlKind::Ci)),
            (".claude/settings.json", Some(ControlKind::Tools)),
            ("web/CLAUDE.md", Some(ControlKind::Tools)),
            (".env", Some(ControlKind::Tools)),
        ];
        for (path, expected) in rows {
            assert_eq!(control_kind(path), expected, "{path}");
        }
    }
}
