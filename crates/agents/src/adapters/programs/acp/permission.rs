//! Answers an agent's requests for permission according to the agent's role. Glee grants each permission for one
//! tool call only. In every role, Glee refuses commands, access to paths outside the tree, and edits without a
//! known path.

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, SelectedPermissionOutcome,
    ToolCallContent, ToolCallUpdateFields, ToolKind,
};
use serde_json::Value;

use super::tree;
use glee_model::domain::Role;

const PLACES: [&str; 7] = [
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "abs_path",
    "notebook_path",
    "dir_path",
];

pub(super) fn answer(
    role: Role,
    root: &Path,
    tool: &ToolCallUpdateFields,
    options: &[PermissionOption],
) -> RequestPermissionOutcome {
    let wanted: &[PermissionOptionKind] = if may(role, root, tool) {
        &[PermissionOptionKind::AllowOnce]
    } else {
        &[
            PermissionOptionKind::RejectOnce,
            PermissionOptionKind::RejectAlways,
        ]
    };
    let option = wanted
        .iter()
        .find_map(|kind| options.iter().find(|option| option.kind == *kind));
    option.map_or(RequestPermissionOutcome::Cancelled, |option| {
        RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone()))
    })
}

fn may(role: Role, root: &Path, tool: &ToolCallUpdateFields) -> bool {
    let places = places(tool);
    match (role, tool.kind.unwrap_or_default()) {
        (Role::Reviewer | Role::Coder, ToolKind::Read | ToolKind::Search | ToolKind::Think) => {
            places
                .iter()
                .all(|path| tree::readable(root, path).is_some())
        }
        (Role::Coder, ToolKind::Edit | ToolKind::Delete | ToolKind::Move) => {
            !places.is_empty()
                && places
                    .iter()
                    .all(|path| tree::writable(root, path).is_some())
        }
        _ => false,
    }
}

fn places(tool: &ToolCallUpdateFields) -> Vec<PathBuf> {
    let located = tool
        .locations
        .iter()
        .flatten()
        .map(|location| location.path.clone());
    let changed = tool
        .content
        .iter()
        .flatten()
        .filter_map(|content| match content {
            ToolCallContent::Diff(diff) => Some(diff.path.clone()),
            _ => None,
        });
    let given = PLACES
        .iter()
        .filter_map(|name| tool.raw_input.as_ref()?.get(name)?.as_str())
        .map(PathBuf::from);
    let changes = tool
        .raw_input
        .as_ref()
        .and_then(|input| input.get("changes"))
        .and_then(Value::as_object);
    let listed = changes
        .into_iter()
        .flat_map(|changes| changes.keys().map(PathBuf::from));
    located.chain(changed).chain(given).chain(listed).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use agent_client_protocol::v1::schema::{Diff, ToolCallLocation};

    use super::*;

    const OPTIONS: [(&str, PermissionOptionKind); 4] = [
        ("always", PermissionOptionKind::AllowAlways),
        ("never", PermissionOptionKind::RejectAlways),
        ("once", PermissionOptionKind::AllowOnce),
        ("no", PermissionOptionKind::RejectOnce),
    ];

    fn chosen(role: Role, root: &Path, tool: &ToolCallUpdateFields, offered: &[&str]) -> String {
        let options: Vec<PermissionOption> = OPTIONS
            .iter()
            .filter(|(id, _)| offered.contains(id))
            .map(|(id, kind)| PermissionOption::new(*id, *id, *kind))
            .collect();
        match answer(role, root, tool, &options) {
            RequestPermissionOutcome::Selected(selected) => selected.option_id.0.to_string(),
            _ => "cancelled".to_owned(),
        }
    }

    fn tool(kind: ToolKind, place: Option<&Path>) -> ToolCallUpdateFields {
        let locations: Vec<ToolCallLocation> =
            place.into_iter().map(ToolCallLocation::new).collect();
        ToolCallUpdateFields::new().kind(kind).locations(locations)
    }

    #[test]
    fn a_role_may_do_this_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let inside = root.join("a.py");
        let outside = Path::new("/etc/passwd");
        let all = OPTIONS.map(|(id, _)| id);
        let coder = Role::Coder;
        let reviewer = Role::Reviewer;
        let judge = Role::Judge;
        let cases = [
            (coder, ToolKind::Edit, Some(inside.as_path()), "once"),
            (coder, ToolKind::Edit, Some(outside), "no"),
            (coder, ToolKind::Edit, None, "no"),
            (coder, ToolKind::Delete, Some(&inside), "once"),
            (coder, ToolKind::Execute, Some(&inside), "no"),
            (coder, ToolKind::Fetch, None, "no"),
            (coder, ToolKind::SwitchMode, None, "no"),
            (coder, ToolKind::Other, Some(&inside), "no"),
            (coder, ToolKind::Read, Some(&inside), "once"),
            (reviewer, ToolKind::Read, Some(&inside), "once"),
            (reviewer, ToolKind::Read, Some(outside), "no"),
            (reviewer, ToolKind::Search, None, "once"),
            (reviewer, ToolKind::Edit, Some(&inside), "no"),
            (judge, ToolKind::Read, Some(&inside), "no"),
        ];
        for (role, kind, place, expected) in cases {
            assert_eq!(
                chosen(role, &root, &tool(kind, place), &all),
                expected,
                "{role} {kind:?} {place:?}"
            );
        }
        let edit = tool(ToolKind::Edit, Some(&inside));
        assert_eq!(chosen(coder, &root, &edit, &["always", "no"]), "cancelled");
        assert_eq!(
            chosen(reviewer, &root, &edit, &["always", "never"]),
            "never"
        );
        assert_eq!(chosen(reviewer, &root, &edit, &["always"]), "cancelled");
    }

    #[test]
    fn every_place_that_is_named_counts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let edit = tool(ToolKind::Edit, Some(&root.join("a.py")));
        let allowed = |tool: &ToolCallUpdateFields| may(Role::Coder, &root, tool);
        assert!(allowed(&edit));
        assert!(!allowed(
            &edit
                .clone()
                .raw_input(serde_json::json!({"file_path": "/etc/passwd"}))
        ));
        assert!(!allowed(
            &edit
                .clone()
                .raw_input(serde_json::json!({"changes": {"/etc/passwd": {}}}))
        ));
        assert!(!allowed(&edit.content(vec![ToolCallContent::Diff(
            Diff::new("/etc/passwd", "x")
        )])));
    }
}
