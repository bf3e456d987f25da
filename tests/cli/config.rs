//! `config`, `init`, `connect`, `disconnect`, `trust` and the settings they share.

use crate::support::Sandbox;

#[test]
fn an_unknown_command_is_a_usage_error() {
    let output = Sandbox::new().glee(&["conect"]);
    assert_eq!(output.code, 2);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.contains("'conect'") && output.stderr.contains("'connect'"), "{output}");
}
