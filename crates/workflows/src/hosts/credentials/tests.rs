//! Tests of the search for a token: which host a variable belongs to, and what the hosts' programs state.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::unix::fs::PermissionsExt as _;

use rstest::rstest;

use super::*;
use crate::hosts::address;

impl Credential {
    pub(crate) fn for_tests(token: &str) -> Self {
        Self::new(
            HostKind::GitHub,
            token.to_owned(),
            CredentialSource::Variable("GH_TOKEN"),
        )
    }

    pub fn source(&self) -> CredentialSource {
        self.source
    }
}

fn address(link: &str, api: Option<&str>, env: Variables<'_>) -> RequestAddress {
    let found = address::find(link, None, env).unwrap();
    RequestAddress {
        api: api.map_or(found.api, str::to_owned),
        ..found
    }
}

fn source(link: &str, api: Option<&str>, env: &[(&str, &str)]) -> Option<CredentialSource> {
    let variable = |name: &str| {
        env.iter()
            .find(|(other, _)| *other == name)
            .map(|(_, value)| (*value).to_owned())
    };
    let found = find(
        &address(link, api, &variable),
        Path::new("/nowhere"),
        &variable,
    )?;
    assert!(!format!("{found:?}").contains("secret"), "{found:?}");
    Some(found.source())
}

const HUB: &str = "https://github.com/o/r/pull/7";
const ENTERPRISE: &str = "https://hub.example/o/r/pull/7";
const LAB: &str = "https://lab.example/o/r/-/merge_requests/7";
const FORGE: &str = "https://forge.example/o/r/pulls/7";

#[rstest]
#[case(HUB, &[("GITHUB_TOKEN", "secret")], Some("GITHUB_TOKEN"))]
#[case(HUB, &[("GITHUB_TOKEN", "secret"), ("GH_TOKEN", "secret")], Some("GH_TOKEN"))]
#[case(HUB, &[("GITHUB_TOKEN", "secret\nx")], None)]
#[case(HUB, &[("GITHUB_TOKEN", "")], None)]
#[case("https://acme.ghe.com/o/r/pull/7", &[("GITHUB_TOKEN", "secret")], Some("GITHUB_TOKEN"))]
#[case(ENTERPRISE, &[("GITHUB_TOKEN", "secret")], None)]
#[case(ENTERPRISE, &[("GITHUB_TOKEN", "secret"), ("GITHUB_SERVER_URL", "https://hub.example/")], Some("GITHUB_TOKEN"))]
#[case(HUB, &[("GITHUB_TOKEN", "secret"), ("GITHUB_SERVER_URL", "https://hub.example")], None)]
#[case(ENTERPRISE, &[("GH_ENTERPRISE_TOKEN", "secret"), ("GH_HOST", "hub.example")], Some("GH_ENTERPRISE_TOKEN"))]
#[case(ENTERPRISE, &[("GH_ENTERPRISE_TOKEN", "secret"), ("GH_HOST", "other.example")], None)]
#[case("https://gitlab.com/o/r/-/merge_requests/7", &[("GITLAB_TOKEN", "secret")], Some("GITLAB_TOKEN"))]
#[case(LAB, &[("GITLAB_TOKEN", "secret")], None)]
#[case(LAB, &[("GITLAB_TOKEN", "secret"), ("GITLAB_HOST", "https://lab.example")], Some("GITLAB_TOKEN"))]
#[case(LAB, &[("CI_JOB_TOKEN", "secret"), ("CI_SERVER_URL", "https://lab.example")], Some("CI_JOB_TOKEN"))]
#[case(LAB, &[("CI_JOB_TOKEN", "secret"), ("CI_SERVER_URL", "https://other.example")], None)]
#[case("https://codeberg.org/o/r/pulls/7", &[("GITEA_TOKEN", "secret"), ("FORGEJO_TOKEN", "secret")], Some("FORGEJO_TOKEN"))]
#[case(FORGE, &[("FORGEJO_TOKEN", "secret")], None)]
#[case(FORGE, &[("GITEA_TOKEN", "secret"), ("GITEA_SERVER_URL", "https://forge.example")], Some("GITEA_TOKEN"))]
#[case(
    FORGE,
    &[("GITHUB_TOKEN", "secret"), ("FORGEJO_ACTIONS", "true"), ("GITHUB_SERVER_URL", "https://forge.example")],
    Some("GITHUB_TOKEN")
)]
fn a_variable_is_used_only_for_its_host(
    #[case] link: &str,
    #[case] env: &[(&str, &str)],
    #[case] expected: Option<&'static str>,
) {
    assert_eq!(
        source(link, None, env),
        expected.map(CredentialSource::Variable)
    );
}

#[test]
fn no_token_is_sent_to_an_api_on_another_host() {
    let token = ("GITHUB_TOKEN", "secret");
    assert_eq!(
        source(HUB, Some("https://evil.example/api/v3"), &[token]),
        None
    );
    assert_eq!(
        source(HUB, Some("https://github.com.evil.example/api"), &[token]),
        None
    );
    let job = [
        token,
        ("GITHUB_SERVER_URL", "https://hub.example"),
        ("GITHUB_API_URL", "https://rest.example"),
    ];
    assert_eq!(
        source(ENTERPRISE, None, &job),
        Some(CredentialSource::Variable("GITHUB_TOKEN"))
    );
    assert_eq!(
        source(ENTERPRISE, Some("https://other.example"), &job),
        None
    );
}

fn program(folder: &Path, name: &str, script: &str) {
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_program_of_the_host_states_a_token_for_exactly_this_host() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    let bin = folder.path().join("bin");
    std::fs::create_dir_all(&tree).unwrap();
    std::fs::create_dir_all(&bin).unwrap();
    program(
        &bin,
        "gh",
        r#"[ "$*" = "auth token --hostname hub.example" ] && echo secret-gh"#,
    );
    program(
        &bin,
        "glab",
        r#"[ "$*" = "config get token --host lab.example" ] && echo secret-glab"#,
    );
    program(
        &bin,
        "tea",
        "cat >/dev/null; echo host=forge.example; echo password=secret-tea",
    );
    let path = bin.to_str().unwrap().to_owned();
    let env = |name: &str| (name == "PATH").then(|| path.clone());
    for (link, name) in [(ENTERPRISE, "gh"), (LAB, "glab"), (FORGE, "tea")] {
        let found = find(&address(link, None, &env), &tree, &env).unwrap();
        assert_eq!(found.source(), CredentialSource::Program(name));
        assert!(found.header_value().ends_with(&format!("secret-{name}")));
        // The tree contains the programs, so it controls them.
        assert_eq!(find(&address(link, None, &env), folder.path(), &env), None);
    }
    for link in [
        HUB,
        "https://gitlab.com/o/r/-/merge_requests/7",
        "https://codeberg.org/o/r/pulls/7",
    ] {
        assert_eq!(
            find(&address(link, None, &env), &tree, &env),
            None,
            "{link}"
        );
    }
}

#[test]
fn a_credential_helper_of_git_is_asked_last_and_in_ci_only() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    std::fs::create_dir(&tree).unwrap();
    let asked = folder.path().join("asked");
    let script = format!(
        "cat > '{}'; [ \"$*\" = '-c core.askPass= credential fill' ] && printf 'host=hub.example\\npassword=secret\\n'",
        asked.display()
    );
    program(folder.path(), "git", &script);
    let path = folder.path().to_str().unwrap().to_owned();
    for (ci, expected) in [
        (None, None),
        (Some("false"), None),
        (Some("true"), Some(CredentialSource::Program("git"))),
    ] {
        let env = |name: &str| match name {
            "PATH" => Some(path.clone()),
            "CI" => ci.map(str::to_owned),
            _ => None,
        };
        let found = find(&address(ENTERPRISE, None, &env), &tree, &env);
        assert_eq!(found.map(|found| found.source()), expected, "{ci:?}");
        // The answer is for another host.
        assert_eq!(find(&address(HUB, None, &env), &tree, &env), None);
    }
    assert_eq!(
        std::fs::read_to_string(asked).unwrap(),
        "protocol=https\nhost=github.com\npath=o/r.git\n\n"
    );
}
