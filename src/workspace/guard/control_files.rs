//! Files that steer other programs: what a coder does to them reaches further than the code under review.

/// Files and folders at the top of a tree that steer agents, editors, shells and Glee, and are often ignored by git.
pub(crate) const PLACES: [&str; 16] = [
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
pub enum Steers {
    /// Agents, editors or shells that open the tree.
    Tools,
    Ci,
    Glee,
    Git,
}

pub fn steers(path: &str) -> Option<Steers> {
    const AGENTS: [&str; 4] = ["AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md"];
    const CI_FOLDERS: [&str; 5] = [".github/", ".circleci/", ".buildkite/", ".gitlab/", ".forgejo/"];
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
    if path == ".glee" || path.starts_with(".glee/") || name == ".gleeignore" {
        Some(Steers::Glee)
    } else if [".gitattributes", ".gitmodules", ".gitignore"].contains(&name) {
        Some(Steers::Git)
    } else if CI_FILES.contains(&name) || CI_FOLDERS.iter().any(|folder| path.starts_with(folder)) {
        Some(Steers::Ci)
    } else if AGENTS.contains(&name)
        || PLACES.iter().any(|place| path == *place || path.strip_prefix(place).is_some_and(|r| r.starts_with('/')))
    {
        Some(Steers::Tools)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_files_that_steer() {
        let rows = [
            ("src/a.rs", None),
            (".environment", None),
            (".glee/config.yml", Some(Steers::Glee)),
            ("src/.gleeignore", Some(Steers::Glee)),
            ("vendor/.gitattributes", Some(Steers::Git)),
            (".github/workflows/ci.yml", Some(Steers::Ci)),
            ("tools/Jenkinsfile", Some(Steers::Ci)),
            (".claude/settings.json", Some(Steers::Tools)),
            ("web/CLAUDE.md", Some(Steers::Tools)),
            (".env", Some(Steers::Tools)),
        ];
        for (path, expected) in rows {
            assert_eq!(steers(path), expected, "{path}");
        }
    }
}
